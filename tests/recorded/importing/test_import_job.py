"""Dumps and plain SQL files become snapshots that a replay continues from."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.jobs.importing.sql import dump_text
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.writer.writer import BinlogWriter
from tests.support.real_server import CASES, Case, differences
from tests.support.small_logs import CREATE, commit, insert, update


def imported(text, output, *options):
    """Import SQL text, or a file; the exit code."""
    dump = text
    if not isinstance(text, Path):
        dump = output.parent / "dump.sql"
        dump.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cli.main(["import", str(dump), "--output", str(output), *options])


def rows_of(snapshot, database, table):
    """Rows of a table of a snapshot, in the order of its files."""
    entry = manifest.load(str(snapshot)).table(database, table)
    tables = [pq.read_table(snapshot / file.path, partitioning=None) for file in entry.files]
    return list(zip(*pa.concat_tables(tables).to_pydict().values(), strict=True))


BEGIN = "CREATE DATABASE d; USE d;\n"


def test_plain_sql(tmp_path):
    """CREATE DATABASE, USE, CREATE TABLE, INSERT … VALUES: rows by key, whatever the order."""
    sql = BEGIN + """CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20) DEFAULT 'none', n DECIMAL(5,2));
        INSERT INTO t VALUES (3, 'it''s', 1.5), (1, NULL, -0.01); -- a comment; with a semicolon
        insert into `d`.t (n, id) values (7, 2);"""
    assert imported(sql, tmp_path / "out") == 0
    assert [(id, v, str(n)) for id, v, n in rows_of(tmp_path / "out", "d", "t")] == \
        [(1, None, "-0.01"), (2, "none", "7.00"), (3, "it's", "1.50")]
    position = manifest.load(str(tmp_path / "out")).position
    assert (position.file, position.offset, position.gtid_set) == ("", 0, "")


@pytest.mark.parametrize("suffix, pack", [
    (".gz", gzip.compress), (".zst", lambda data: pa.compress(data, "zstd", asbytes=True))])
def test_compressed(suffix, pack, tmp_path):
    """What the file's name says of its compression."""
    dump = tmp_path / f"dump.sql{suffix}"
    dump.write_bytes(pack((BEGIN + "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1),(2);").encode()))
    assert imported(dump, tmp_path / "out") == 0
    assert rows_of(tmp_path / "out", "d", "t") == [(1,), (2,)]


def replay(base, binlogs, output, **options):
    """Replay on top of a snapshot, in this process."""
    replay_with(ThisProcess(), ReplayOptions(tuple(map(str, binlogs)), str(output), base=str(base), **options))


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", ["base-dump-mysql", "base-dump-mariadb"])
def test_a_replay_goes_on_from_a_dump(name, route, tmp_path):
    """AP-SNAP, GRP-5: what the dump has is not applied again, what comes after it is."""
    case = Case(name)
    assert imported(case.folder / "base.sql", tmp_path / "base") == 0
    for mark in [*case.marks, None]:
        output = tmp_path / (mark.name if mark else "end")
        stop = (mark.file, mark.offset) if mark else None
        replay(tmp_path / "base", case.binlogs, output, route=route, stop_position=stop)
        assert differences(output, case.expected(mark)) == []


@pytest.mark.parametrize("name", ["base-dump-mysql", "base-dump-mariadb"])
def test_a_dump_that_names_gtids_only(name, tmp_path):
    """GRP-5, GRP-7: groups that the base has are skipped, in whatever file of whatever server they are."""
    case = Case(name)
    text = (case.folder / "base.sql").read_bytes()
    for word in (b"MASTER_LOG_FILE", b"SOURCE_LOG_FILE"):
        text = text.replace(word, b"NO_FILE")
    assert imported(text, tmp_path / "base") == 0
    assert manifest.load(str(tmp_path / "base")).position.file == ""
    with pytest.raises(ArchiveError, match=r"precede .*the base snapshot.*1236"):
        replay(tmp_path / "base", case.binlogs[1:], tmp_path / "out")
    replay(tmp_path / "base", case.binlogs, tmp_path / "out")
    assert differences(tmp_path / "out", case.expected()) == []


def test_transactions_that_the_logs_do_not_have(tmp_path):
    """GRP-5: a base that is newer than the logs."""
    case = Case("base-dump-mariadb")
    sql = BEGIN + "CREATE TABLE t (id INT PRIMARY KEY);"
    assert imported(sql, tmp_path / "base", "--gtid-set", "0-25306-99999", "--flavour", "mariadb") == 0
    with pytest.raises(ArchiveError, match=r"these logs do not contain.*1236"):
        replay(tmp_path / "base", case.binlogs, tmp_path / "out")


def test_a_replay_on_a_dump_without_a_position_begins_at_the_first_binlog(tmp_path):
    """The rows of the dump are those before the log."""
    sql = f"CREATE DATABASE shop; USE shop; {CREATE}; INSERT INTO item VALUES (1, 10, 'one'), (2, 20, 'two');"
    assert imported(sql, tmp_path / "base") == 0
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        commit(log, update([(1, 10, "one")], [(1, 11, "uno")]), insert([(3, 30, "three")]))
    replay(tmp_path / "base", [tmp_path / "binlog.000001"], tmp_path / "out")
    assert rows_of(tmp_path / "out", "shop", "item") == [(1, 11, "uno"), (2, 20, "two"), (3, 30, "three")]


@pytest.mark.parametrize("name, position, gtid_set", [
    ("base-dump-mysql", "binlog.000001:4824", "7f19961a-e517-11f1-8d67-02fc00000001:1-14"),
    ("base-dump-mariadb", "binlog.000001:5169", "0-25306-14")])
def test_dumps_of_real_servers(name, position, gtid_set, tmp_path):
    """AP-SNAP: the position that mysqldump's and mariadb-dump's files name."""
    assert imported(CASES / name / "base.sql", tmp_path / "out") == 0
    stands = manifest.load(str(tmp_path / "out")).position
    assert (str(stands), stands.gtid_set) == (position, gtid_set)


def test_what_dumps_have_beside_rows(tmp_path):
    """Triggers and routines between DELIMITERs, views and their placeholders, keys switched off, several databases."""
    sql = """/*!50503 SET NAMES utf8mb4 */;
        CREATE DATABASE /*!32312 IF NOT EXISTS*/ `a` /*!40100 DEFAULT CHARACTER SET latin1 */;
        USE `a`;
        DROP TABLE IF EXISTS `t`;
        CREATE TABLE `t` (`id` int NOT NULL, `s` varchar(9), PRIMARY KEY (`id`));
        LOCK TABLES `t` WRITE; /*!40000 ALTER TABLE `t` DISABLE KEYS */;
        INSERT INTO `t` VALUES (1,'é');
        /*!40000 ALTER TABLE `t` ENABLE KEYS */; UNLOCK TABLES;
DELIMITER ;;
        /*!50003 CREATE*/ /*!50003 TRIGGER tr BEFORE INSERT ON t FOR EACH ROW BEGIN SET @x = ';'; END */;;
DELIMITER ;
        /*!50001 CREATE TABLE `v` (`id` tinyint NOT NULL) ENGINE=MyISAM */;
        CREATE DATABASE b; USE b; CREATE TABLE t (id INT PRIMARY KEY); INSERT t VALUES (7);
        /*!50001 DROP TABLE IF EXISTS a.v */; USE a; /*!50001 CREATE VIEW `v` AS SELECT 1 AS id */;
        INSERT INTO b.t VALUES (5)"""
    assert imported(sql, tmp_path / "out") == 0
    snapshot = manifest.load(str(tmp_path / "out"))
    assert [table.full_name for table in snapshot.tables] == ["a.t", "b.t"]
    assert [(database.name, database.charset) for database in snapshot.databases] == [("a", "latin1"), ("b", "utf8mb4")]
    assert rows_of(tmp_path / "out", "a", "t") == [(1, "é")]
    assert rows_of(tmp_path / "out", "b", "t") == [(5,), (7,)]


def test_windows_smaller_than_a_row(tmp_path, monkeypatch):
    """The window grows for a long row, and wherever it ends, rows are whole."""
    monkeypatch.setattr(dump_text.DumpText.__init__, "__defaults__", (64,))
    long = "x" * 1000
    sql = BEGIN + "CREATE TABLE t (id INT PRIMARY KEY, v TEXT);" + "".join(
        f"INSERT INTO t VALUES ({n},'a\\'b'),\n({n + 1},'{long}');\n-- a comment ; '\n" for n in range(0, 40, 2))
    assert imported(sql, tmp_path / "out") == 0
    assert rows_of(tmp_path / "out", "d", "t") == [(n, long if n % 2 else "a'b") for n in range(40)]


def test_tables_that_are_left_out(tmp_path):
    """AP-FILT, AP-SNAP: --tables, --ignore-tables; a server's own databases are left out."""
    sql = BEGIN + """CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE u (id INT);
        INSERT INTO u VALUES (NOW(), 1), (2); CREATE DATABASE mysql; USE mysql; CREATE TABLE user (a INT);
        INSERT INTO user VALUES (1);"""
    assert imported(sql, tmp_path / "out", "--ignore-tables", "d.u") == 0
    assert [table.full_name for table in manifest.load(str(tmp_path / "out")).tables] == ["d.t"]


def test_stored_generated_columns(tmp_path):
    """mysqldump leaves generated columns out of its INSERTs; mariadb-dump does not."""
    sql = BEGIN + """CREATE TABLE t (v INT AS (id * 3) VIRTUAL, id INT PRIMARY KEY, twice INT AS (id * 2) STORED,
        name VARCHAR(20) AS (CONCAT(UPPER(s), '-', twice)) STORED, s VARCHAR(9));
        INSERT INTO t (id, s) VALUES (1, 'a'), (2, NULL); INSERT INTO t VALUES (9, 3, 6, 'C-6', 'c');"""
    assert imported(sql, tmp_path / "out") == 0
    assert rows_of(tmp_path / "out", "d", "t") == [(1, 2, "A-2", "a"), (2, 4, None, None), (3, 6, "C-6", "c")]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_columns_that_an_insert_leaves_out_and_that_are_made_of_others(flavour, tmp_path):
    """DEF-R1b: of the row's own values, which both servers took; NULL is nothing where the column may not be NULL."""
    sql = BEGIN + """SET time_zone = '+00:00'; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9), a INT DEFAULT (id + 1),
        b VARCHAR(20) DEFAULT (CONCAT(v, '-', id)), c VARCHAR(20) NOT NULL DEFAULT (b), s TIMESTAMP NULL,
        d DATE DEFAULT (DATE(s)), g INT AS (a * 2) STORED,
        h VARCHAR(9) AS (JSON_UNQUOTE(JSON_EXTRACT(v, '$.k'))) STORED);
        INSERT INTO t (id, v, s) VALUES (1, '"x"', '2020-01-01 23:30:00'), (2, NULL, NULL), (3, '{"k":7}', NULL);"""
    assert imported(sql, tmp_path / "out", "--flavour", flavour) == 0
    found = [(*row[:5], row[6] and str(row[6]), *row[7:]) for row in rows_of(tmp_path / "out", "d", "t")]
    assert found == [(1, '"x"', 2, '"x"-1', '"x"-1', "2020-01-01", 4, None), (2, None, 3, None, "", None, 6, None),
                     (3, '{"k":7}', 4, '{"k":7}-3', '{"k":7}-3', None, 8, "7")]


def test_keys_that_come_after_the_rows(tmp_path):
    """Dumps of phpMyAdmin make a table, insert its rows, and alter it in the end; others drop and make it again."""
    sql = BEGIN + """CREATE TABLE t (id INT NOT NULL, v INT); INSERT INTO t VALUES (3, 1), (1, 2);
        CREATE TABLE u (id INT PRIMARY KEY); INSERT INTO u VALUES (1); DROP TABLE u;
        CREATE TABLE u (id INT PRIMARY KEY); INSERT INTO u VALUES (2);
        ALTER TABLE t ADD PRIMARY KEY (id); ALTER TABLE t MODIFY id INT NOT NULL AUTO_INCREMENT;
        INSERT INTO t VALUES (2, 3);"""
    assert imported(sql, tmp_path / "out") == 0
    assert rows_of(tmp_path / "out", "d", "t") == [(1, 2), (2, 3), (3, 1)]
    assert rows_of(tmp_path / "out", "d", "u") == [(2,)]
    assert manifest.load(str(tmp_path / "out")).table("d", "t").key == ("id",)


@pytest.mark.parametrize("statement, code, says", [
    ("INSERT INTO t VALUES (1, 'a'),\n(2, NOW());", 1, ["line 4", "d.t", "column v", "NOW()"]),
    ("INSERT INTO t VALUES (1, 'a'),\n(2);", 1, ["line 4", "d.t", "1136"]),
    ("INSERT INTO t VALUES (1, 'a') ON DUPLICATE KEY UPDATE v = 'b';", 1, ["line 3", "ON DUPLICATE KEY"]),
    ("INSERT INTO t SELECT 1, 'a';", 1, ["line 3", "INSERT INTO t SELECT", "d.t"]),
    ("UPDATE t SET v = 'x';", 1, ["line 3", "UPDATE t", "d.t"]),
    ("INSERT INTO nowhere VALUES (1);", 1, ["line 3", "d.nowhere", "1146"]),
    ("INSERT INTO t (id, w) VALUES (1, 2);", 1, ["line 3", "d.t", "'w'"]),
    ("INSERT INTO t VALUES (1, 'a');\nINSERT INTO t VALUES (1, 'b');", 1, ["1062", "PRIMARY (id) = (1)", "d.t"]),
    ("INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD w INT;", 1, ["line 3", "d.t", "columns"]),
    ("INSERT INTO t VALUES (1, 'a'); RENAME TABLE t TO u;", 1, ["line 3", "d.t", "name"]),
    ("INSERT INTO t VALUES (NULL, 'a');", 1, ["line 3", "column id", "NOT NULL"]),
    ("CREATE TABLE z (d DATE, n INT, PRIMARY KEY (n, d)); INSERT INTO z VALUES ('0000-00-00', 2), (0, 2);", 1,
     ["1062", "d.z", "PRIMARY (n, d) = (2, 0000-00-00)"]),
    ("INSERT INTO t VALUES (1, 'a", 2, ["line 3", "ends within"]),
    ("CREATE TABLE z (\n  id INT,\n  d NOTYPE\n);", 1, ["line 3", "NOTYPE", "hint: leave the table out with --ignore"]),
    ("CREATE TABLE h (a INT) WITH SYSTEM VERSIONING; INSERT INTO h VALUES (1);", 1,
     ["line 3", "d.h", "system-versioned", "--dump-history"]),
    ("SET NAMES gbk; INSERT INTO t VALUES (1, 'a');", 2, ["line 3", "gbk", "--default-character-set"]),
])
def test_what_cannot_be_imported(statement, code, says, tmp_path, capsys):
    """It stops at its line, and nothing is published."""
    sql = BEGIN + "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9));\n" + statement
    assert imported(sql, tmp_path / "out") == code
    error = capsys.readouterr().err
    assert [part for part in says if part not in error] == []
    assert [path.name for path in tmp_path.iterdir()] == ["dump.sql"]


def test_what_is_no_dump(tmp_path, capsys):
    for name, data, says in (("binlog.000001", b"\xfebin" + bytes(40), "this is a binlog, not a dump"),
                             ("nowhere.sql", None, "the dump cannot be read: no such file or directory (at ")):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        assert cli.main(["import", str(tmp_path / name), "--output", str(tmp_path / "out")]) == 2
        assert says in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_position_that_is_given(tmp_path):
    """--position and --gtid-set win over what the dump says."""
    sql = BEGIN + "CREATE TABLE t (id INT PRIMARY KEY);"
    assert imported(sql, tmp_path / "out", "--position", "binlog.000009:157", "--gtid-set", "0-1-7",
                    "--flavour", "mariadb") == 0
    stands = manifest.load(str(tmp_path / "out")).position
    assert (str(stands), stands.gtid_set, stands.flavour) == ("binlog.000009:157", "0-1-7", "mariadb")


def test_labels_as_bytes(tmp_path):
    """--hex-blob writes ENUM and SET of the character set `binary` so, and each client may."""
    sql = BEGIN + """CREATE TABLE t (e ENUM("a","é") CHARACTER SET latin1, b ENUM("a") CHARACTER SET binary,
        s SET("p","q"));
        INSERT INTO t VALUES (0xE9, 0x61, 0x702C71), ('a', 'a', 'q'), (NULL, NULL, NULL);"""
    assert imported(sql, tmp_path / "out") == 0
    assert rows_of(tmp_path / "out", "d", "t") == [("é", "a", "p,q"), ("a", "a", "q"), (None, None, None)]


@pytest.mark.parametrize("zone", ["Europe", "no/where", "+99:00", "+x", "", "a" * 5000])
def test_a_time_zone_that_is_none(zone, tmp_path, capsys):
    """An error that names it, whatever it is."""
    sql = f"SET time_zone = '{zone}'; CREATE TABLE t (id INT PRIMARY KEY, v TIMESTAMP NULL DEFAULT '2024-01-01');"
    assert imported(BEGIN + sql + "INSERT INTO t VALUES (1, '2024-01-01 00:00:00');", tmp_path / "out") == 1
    assert f"an unknown time zone: {zone[:80]}" in "".join(capsys.readouterr().err.split("\n"))
