"""Whose dump it is, what a snapshot keeps of that, and what is done with a log of the other kind of server."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import SchemaError, SnapshotError, UsageError
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.importing.dump_flavour import flavour_of_text, flavour_of_version
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ImportOptions, ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.shell_dump import make_shell_dump

TABLE = "CREATE DATABASE d;\nUSE d;\nCREATE TABLE `t` (\n  `id` int PRIMARY KEY,\n  `v` varchar(9)\n) ENGINE=InnoDB;\n"
ROWS = "INSERT INTO `t` VALUES (1,'x');\n"


def imported(folder, text, name="base", **options):
    (folder / f"{name}.sql").write_text(text)
    import_dump(ImportOptions(str(folder / f"{name}.sql"), str(folder / name), **options))
    return manifest.load(str(folder / name)).position.flavour


@pytest.mark.parametrize("head, flavour", [
    ("-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n-- Server version\t8.0.36\n", "mysql"),
    ("-- MySQL dump 10.13\n-- Server version\t5.7.44-log\n", "mysql"),
    ("-- MySQL dump 10.13\n-- Server version\t9.7.0\n", "mysql"),
    ("-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB\n-- Server version\t10.11.6-MariaDB-log\n", "mariadb"),
    ("-- MySQL dump 10.19  Distrib 10.3.39-MariaDB\n-- Server version\t10.3.39-MariaDB\n", "mariadb"),
    ("-- MySQL dump 10.13  Distrib 8.0.36\n-- Server version\t5.5.5-10.11.6-MariaDB\n", "mariadb"),
    # by the other's program
    ("/*M!999999\\- enable the sandbox mode */\n-- MariaDB dump 10.19\n-- Server version\t8.0.36\n", "mysql"),
    ("-- Server version MySQL\n", "mysql"), ("-- Server version MariaDB\n", "mariadb"),
    ("-- Server version\t11.4.2\n", "mariadb"),
    ("-- MySQL dump 10.13  Distrib 8.0.36\n", "mysql"), ("-- MariaDB dump 10.19\n", "mariadb"),
    ("/*M!999999\\- enable the sandbox mode */\n", "mariadb"),
    ("SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5';\n", "mysql"),
    ("-- CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='b.000001', SOURCE_LOG_POS=4;\n", "mysql"),
    ("SET GLOBAL gtid_slave_pos='0-1-7';\n", "mariadb"),
    ("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `x` /*!80016 DEFAULT ENCRYPTION='N' */;\n", "mysql"),
    ("CREATE TABLE e (\n  `a` int\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;\n", "mysql"),
    ("CREATE TABLE e (\n  `a` int\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci;\n",
     "mariadb"),
    ("CREATE TABLE e (\n  `a` int\n) ENGINE=Aria;\n", "mariadb"),
    ("CREATE TABLE e (\n  `a` blob /*!100301 COMPRESSED*/\n) ENGINE=InnoDB;\n", "mariadb"),
    ("", "unknown"), ("-- Host: localhost\n", "unknown"),
])
def test_a_dump_says_whose_it_is(head, flavour, tmp_path, monkeypatch):
    """mysqldump and mariadb-dump, with and without comments; by the server before the program."""
    head = head.replace("CREATE TABLE e", "CREATE TABLE d.e")
    assert imported(tmp_path, head.partition("CREATE TABLE")[0] + TABLE + "".join(head.partition("CREATE TABLE")[1:])
                    + ROWS) == flavour


def test_rows_do_not_say_it(tmp_path):
    row = "INSERT INTO `t` VALUES (1,'_uca1400_'),(2,'/*!100301'),(3,'/*M!\\n'),(4,'0900');\n"
    assert imported(tmp_path, TABLE + row) == "unknown"


def test_what_contradicts_itself():
    with pytest.raises(UsageError, match="marks of both"):
        flavour_of_text(b") ENGINE=Aria;\nSET @@GLOBAL.GTID_PURGED='';\n", "d.sql")
    assert flavour_of_version("") is flavour_of_version("x") is None


def test_the_option_and_gtids(tmp_path):
    assert imported(tmp_path, TABLE, "a", flavour="mariadb") == "mariadb"
    assert imported(tmp_path, TABLE, "b", gtid_set="0-1-7") == "mariadb"
    assert imported(tmp_path, TABLE, "c", gtid_set="3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5") == "mysql"
    with pytest.raises(UsageError, match="only the GTIDs"):
        imported(tmp_path,
                 TABLE + ROWS + "x" * 0 + "-- " + "y" * (5 << 20) + "\n-- SET GLOBAL gtid_slave_pos='0-1-7';\n", "d")


@pytest.mark.parametrize("table", ["CREATE TABLE d.u (a INET6);", "CREATE TABLE d.u (a UUID);",
                                   "CREATE TABLE d.u (a INT) ENGINE=aria;",
                                   "CREATE TABLE d.u (a INT) WITH SYSTEM VERSIONING;",
                                   "CREATE TABLE d.u (a TEXT COMPRESSED);",
                                   "CREATE TABLE d.u (a TEXT COLLATE utf8mb4_general_nopad_ci);"])
def test_a_table_that_only_mariadb_makes(table, tmp_path):
    with pytest.raises(UsageError, match="only MariaDB"):
        imported(tmp_path, TABLE + table)
    assert imported(tmp_path, TABLE + table, "again", flavour="mariadb") == "mariadb"


@pytest.mark.parametrize("text, flavour", [
    ("SHOW MASTER STATUS:\n\tLog: b.000001\n\tPos: 4\n\tGTID:0-1-5\n", "mariadb"),
    ("SHOW MASTER STATUS:\n\tLog: b.000001\n\tPos: 4\n\tGTID:3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5\n", "mysql"),
    ("SHOW MASTER STATUS:\n\tLog: b.000001\n\tPos: 4\n\tGTID:\n", "unknown"),
])
@pytest.mark.parametrize("options, said", [("", None), (" COLLATE=utf8mb4_0900_ai_ci", "mysql"),
                                           (" COLLATE=utf8mb4_uca1400_ai_ci", "mariadb")])
def test_mydumper(text, flavour, options, said, tmp_path):
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "metadata").write_text(text)
    (tmp_path / "dump" / "d-schema-create.sql").write_text("CREATE DATABASE `d`;\n")
    (
        tmp_path / "dump" / "d.t-schema.sql").write_text(
            f"CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4{options};\n")
    import_dump(ImportOptions(str(tmp_path / "dump"), str(tmp_path / "out")))
    expected = said if flavour == "unknown" and said else flavour
    assert manifest.load(str(tmp_path / "out")).position.flavour == expected


@pytest.mark.parametrize("version, flavour", [("8.0.36", "mysql"), ("5.5.5-10.11.6-MariaDB", "mariadb"), (None,
                                                                                                          "unknown")])
def test_mysql_shell(version, flavour, tmp_path):
    imported(tmp_path, TABLE + ROWS, "first")
    make_shell_dump(tmp_path / "first", tmp_path / "shell")
    about = json.loads((tmp_path / "shell" / "@.json").read_text())
    about.pop("serverVersion", None)
    about["source"] = {key: value for key, value in about.get("source", {}).items() if key != "sysvars"}
    (tmp_path / "shell" / "@.json").write_text(json.dumps(about | ({"serverVersion": version} if version else {})))
    import_dump(ImportOptions(str(tmp_path / "shell"), str(tmp_path / "out")))
    assert manifest.load(str(tmp_path / "out")).position.flavour == flavour


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_an_export_says_it(flavour, tmp_path):
    imported(tmp_path, TABLE + ROWS, flavour=flavour)
    export_snapshot(ExportOptions(str(tmp_path / "base"), str(tmp_path / "export")))
    import_dump(ImportOptions(str(tmp_path / "export"), str(tmp_path / "again")))
    assert manifest.load(str(tmp_path / "again")).position.flavour == flavour


def test_parquet_files_with_a_schema(tmp_path):
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "v": ["x"]}), tmp_path / "rows" / "d.t.parquet")
    for head, flavour in (("", "unknown"), ("-- Server version\t10.11.6-MariaDB\n", "mariadb")):
        (tmp_path / "schema.sql").write_text(head + TABLE)
        import_dump(ImportOptions(str(tmp_path / "rows"), str(tmp_path / flavour), schema=str(tmp_path / "schema.sql")))
        assert manifest.load(str(tmp_path / flavour)).position.flavour == flavour


# ---- a log on top


def log_of(folder, flavour):
    """A log that inserts a row into the table, and alters it."""
    [made] = parse_statement("CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY, v VARCHAR(9))", flavour=flavour)
    with BinlogWriter(folder / "binlog.000001", flavour=flavour, gtids="none" if flavour == "mysql" else "on") as log:
        with log.transaction():
            log.rows(RowChanges(made.definition, after={"id": pa.array([2], pa.int32()), "v": pa.array(["y"])}))
        log.query("ALTER TABLE d.t ADD w TEXT CHARACTER SET utf8mb4 DEFAULT NULL")
    return str(folder / "binlog.000001")


def replayed(folder, flavour, output="out"):
    replay_with(ThisProcess(), ReplayOptions((log_of(folder, flavour),), str(folder / output),
                                             base=str(folder / "base")))
    return manifest.load(str(folder / output))


@pytest.mark.parametrize("log, base", [("mariadb", "mysql"), ("mysql", "mariadb")])
def test_a_log_of_the_other_kind_of_server(log, base, tmp_path, capsys):
    """An error that names the remedy, for replay and explain."""
    imported(tmp_path, TABLE + ROWS, flavour=base)
    with pytest.raises(SnapshotError, match=f"--flavour {log}"):
        replayed(tmp_path, log)
    assert not (tmp_path / "out").exists()
    assert cli.main(["explain", "--base", str(tmp_path / "base"), "--binlogs", log_of(tmp_path, log)]) == 2
    assert f"--flavour {log}" in capsys.readouterr().err


@pytest.mark.parametrize("log", ["mysql", "mariadb"])
@pytest.mark.parametrize("known", [True, False])
def test_the_log_decides(log, known, tmp_path):
    """A dump that does not say it becomes the same as one that says it."""
    imported(tmp_path, TABLE + ROWS, flavour=log if known else None)
    made = replayed(tmp_path, log)
    [table] = made.tables
    assert made.position.flavour == log == table.definition.flavour and table.rows == 2
    collation = {"mysql": "utf8mb4_0900_ai_ci", "mariadb": "utf8mb4_general_ci"}[log]
    assert [column.type.collation for column in table.definition.columns] == [None, collation, collation]
    assert [(entry.charset, entry.collation) for entry in made.databases] == [("utf8mb4", collation)]


def test_json_that_was_read_as_mysqls(tmp_path):
    imported(tmp_path, TABLE.replace("varchar(9)", "json"))
    with pytest.raises(SchemaError, match="--flavour mariadb"):
        replayed(tmp_path, "mariadb")


def test_a_manifest_of_before(tmp_path):
    """It says mysql or mariadb, and continues."""
    imported(tmp_path, TABLE + ROWS, flavour="mysql")
    document = json.loads((tmp_path / "base" / "_snapshot.json").read_text())
    assert document["position"]["flavour"] == "mysql" and document["format_version"] == 3
    assert replayed(tmp_path, "mysql").tables[0].rows == 2
