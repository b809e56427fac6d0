"""`applier.rewrite` with filters: which statements stay, what they say then, and what is refused."""

from datetime import UTC, datetime

import pytest

import applier
import applier.binlog
from applier import cli
from applier.errors import ApplierError, UsageError
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import Ignored
from applier.schema.table_filter import TableFilter, parse_table_list
from tests.support.planning import table
from tests.support.rewritten import plain_events, wrong_places
from tests.unit.jobs.replay.test_prepared_transactions import XaLog

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
FLAVOURS = pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
TABLES = ["CREATE DATABASE keep", "CREATE DATABASE gone", *(
    f"CREATE TABLE {database}.{name} (id INT PRIMARY KEY)" for database in ("keep", "gone") for name in "ab")]


def log_of(folder, statements, flavour="mysql", database="", **options):
    folder.mkdir(exist_ok=True)
    path = folder / "binlog.000001"
    with applier.binlog.Writer(path, flavour=flavour, time=NOON, **options) as log:
        for statement in statements:
            if isinstance(statement, str):
                log.query(statement, database)
            else:
                with log.transaction():
                    for table, rows in statement.items():
                        log.insert(table, {"id": rows})
    return path


def statements(path):
    """Default database and text of all statements but BEGIN and COMMIT."""
    return [(event.content.database, event.content.sql.decode()) for event in plain_events(path)
            if event.name == "QUERY" and event.content.sql not in (b"BEGIN", b"COMMIT")]


def rewritten(tmp_path, texts, *, setup=TABLES, flavour="mysql", database="", **options):
    """What is left of statements after those that make tables."""
    path = log_of(tmp_path / "log", [*setup, *texts], flavour, database)
    applier.rewrite(path, tmp_path / "out", **({"ignore_tables": "gone"} | options))
    assert wrong_places(tmp_path / "out" / path.name) == []
    made = [text for _, text in statements(tmp_path / "out" / path.name)]
    return made[made.index([text for text in made if "keep" in text or "new" in text][2]) + 1:] if setup else made


@FLAVOURS
@pytest.mark.parametrize(("text", "left"), [
    ("DROP TABLE gone.a", None),
    ("DROP TABLE keep.a, keep.b", "DROP TABLE keep.a, keep.b"),
    ("DROP TABLE keep.a, gone.a", "DROP TABLE IF EXISTS `keep`.`a`"),
    ("RENAME TABLE gone.a TO gone.c", None),
    ("RENAME TABLE keep.a TO keep.c, gone.a TO gone.c", "RENAME TABLE `keep`.`a` TO `keep`.`c`"),
    ("RENAME TABLE keep.a TO gone.c, keep.b TO gone.d", "DROP TABLE `keep`.`a`, `keep`.`b`"),
    ("ALTER TABLE keep.a RENAME TO gone.c", "DROP TABLE `keep`.`a`"),
    ("ALTER TABLE gone.a ADD x INT", None),
    ("CREATE INDEX i ON gone.a (id)", None),
    ("TRUNCATE gone.a", None),
    ("CREATE TABLE gone.c LIKE keep.a", None),
    ("CREATE VIEW gone.v AS SELECT * FROM keep.a", None),
    ("CREATE VIEW keep.v AS SELECT * FROM gone.a", "CREATE VIEW keep.v AS SELECT * FROM gone.a"),
    ("CREATE DEFINER=`view`@`%` TRIGGER t AFTER INSERT ON gone.a FOR EACH ROW SET @a = 1", None),
    ("DROP PROCEDURE gone.p", None),
    ("GRANT SELECT (id), INSERT ON gone.a TO x", None),
    ("GRANT ALL ON gone.* TO x", None),
    ("GRANT ALL ON *.* TO x", "GRANT ALL ON *.* TO x"),
    ("CREATE USER x", "CREATE USER x"),
    ("OPTIMIZE TABLE keep.a, gone.a", None),
    ("ALTER DATABASE gone CHARACTER SET latin1", None),
    ("DROP DATABASE gone", None),
    ("FLUSH TABLES", "FLUSH TABLES")])
def test_statements_across_the_filter(text, left, flavour, tmp_path):
    """RW-FILT: a statement goes with its tables; of several tables those stay that are kept."""
    assert rewritten(tmp_path, [text], flavour=flavour) == ([left] if left else [])


@FLAVOURS
@pytest.mark.parametrize(("text", "left"), [
    ("CREATE TABLE old.c (id INT)", "CREATE TABLE `new`.c (id INT)"),
    ("CREATE TABLE `old` . `c` (id INT) COMMENT 'old.c'", "CREATE TABLE `new` . `c` (id INT) COMMENT 'old.c'"),
    ("CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES old.a (id))",
     "CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES `new`.a (id))"),
    ("ALTER TABLE old.a RENAME TO old.c", "ALTER TABLE `new`.a RENAME TO `new`.c"),
    ("RENAME TABLE a TO old.c, old.b TO keep.c", "RENAME TABLE a TO `new`.c, `new`.b TO keep.c"),
    ("DROP TABLE IF EXISTS a, old.b /* old.x */", "DROP TABLE IF EXISTS a, `new`.b /* old.x */"),
    ("ALTER DATABASE old CHARACTER SET latin1", "ALTER DATABASE `new` CHARACTER SET latin1"),
    ("GRANT SELECT ON old.* TO x", "GRANT SELECT ON `new`.* TO x")])
def test_databases_by_new_names(text, left, flavour, tmp_path):
    """AP-FILT, RW-FILT: in statements, as a replay of the archive has them; names in comments and texts stay."""
    setup = ["CREATE DATABASE keep", "CREATE DATABASE old", "CREATE TABLE old.a (id INT PRIMARY KEY)",
             "CREATE TABLE old.b (id INT PRIMARY KEY)"]
    path = log_of(tmp_path / "log", [*setup, text, {"old.a": [1]}] if "a TO" not in text and "a RENAME" not in text
                  and "EXISTS a" not in text else [*setup, text], flavour, "old")
    done = applier.rewrite(path, tmp_path / "out", rewrite_db={"old": "new"})
    made = statements(tmp_path / "out" / path.name)
    assert made[-1] == ("new", left) and ("new", "CREATE DATABASE `new`") in made
    assert done.notes == ()


def test_names_that_stay_are_told(tmp_path):
    """RW-FILT: of a view's or a routine's text a replica changes no name, either."""
    path = log_of(tmp_path / "log", ["CREATE DATABASE old", "CREATE TABLE old.a (id INT)",
                                     "CREATE VIEW old.v AS SELECT * FROM old.a"])
    done = applier.rewrite(path, tmp_path / "out", rewrite_db={"old": "new"})
    assert statements(tmp_path / "out" / path.name)[-1][1] == "CREATE VIEW `new`.v AS SELECT * FROM old.a"
    assert any("CREATE VIEW, 1 time: the text has a database's old name" in note for note in done.notes)


def test_no_default_database_that_is_not_there(tmp_path):
    """RW-FILT: `USE gone` would fail on a server that has only what the archive has."""
    path = log_of(tmp_path / "log", ["CREATE DATABASE keep", "CREATE TABLE keep.a (id INT)", {"keep.a": [1]}],
                  database="gone")
    applier.rewrite(path, tmp_path / "out", tables="keep")
    assert {event.content.database for event in plain_events(tmp_path / "out" / path.name)
            if event.name == "QUERY"} <= {"", "keep"}


@FLAVOURS
@pytest.mark.parametrize(("text", "what"), [
    ("CREATE TABLE keep.c LIKE gone.a", "gone.a, which the output does not have"),
    ("RENAME TABLE keep.a TO gone.c, keep.b TO keep.c", "tables that stay in the output and tables that leave it"),
    ("RENAME TABLE gone.a TO keep.c", "a table that the filters exclude is renamed to one that they include")])
def test_what_cannot_be_divided_is_refused(text, what, flavour, tmp_path):
    """RW-FILT: with the place of the statement, and nothing is written."""
    with pytest.raises(ApplierError, match=what) as caught:
        rewritten(tmp_path, [text], flavour=flavour)
    assert caught.value.position and not (tmp_path / "out").exists()


@pytest.mark.parametrize("gtids", ["on", "anonymous", "none"])
def test_empty_transactions(gtids, tmp_path):
    """RW-FILT: they keep their GTIDs; without any, nothing is left of them, nor of the position before."""
    path = log_of(tmp_path / "log", [*TABLES, {"gone.a": [1]}, {"gone.a": [2], "keep.a": [2]}, {"gone.b": [3]},
                                     "DROP TABLE gone.b", {"keep.b": [4]}], gtids=gtids)
    done = applier.rewrite(path, tmp_path / "out", ignore_tables="gone.*,gone")
    out = tmp_path / "out" / path.name
    assert wrong_places(out) == [] and done.emptied == 6 and done.dropped == 3
    names = [event.name for event in applier.binlog.open(str(out))]
    assert names.count("TABLE_MAP") == names.count("WRITE_ROWS") == names.count("XID") == 2
    n_groups = {"on": 11, "anonymous": 5, "none": 0}[gtids]
    assert sum(name in ("GTID", "ANONYMOUS_GTID") for name in names) == n_groups
    assert [event.content.flags & 1 for event in plain_events(out) if event.name == "WRITE_ROWS"] == [1, 1]


@pytest.mark.parametrize("decision", [None, "COMMIT", "ROLLBACK"])
def test_prepared_transactions_without_rows(decision, tmp_path):
    """RW-FILT: what is prepared at the end and has lost its rows is not prepared in the output."""
    (tmp_path / "log").mkdir()
    with XaLog(tmp_path / "log" / "binlog.000001") as log:
        log.create(table())
        log.prepare("x", 1)
        log.prepare("z", 2)
        if decision:
            log.decide(decision, "x")
    applier.rewrite(tmp_path / "log", tmp_path / "out", ignore_tables="d.t")
    names = [event.name for event in applier.binlog.open(str(tmp_path / "out"))]
    assert "TABLE_MAP" not in names and "XA_PREPARE" not in names


@FLAVOURS
def test_heads_of_files(flavour, tmp_path):
    """RW-FILT: a MariaDB file's list has the last GTIDs that there are before it; MySQL's sets stay."""
    path = tmp_path / "log" / "binlog.000001"
    path.parent.mkdir()
    with applier.binlog.Writer(path, flavour=flavour, time=NOON) as log:
        for statement in TABLES:
            log.query(statement)
        for number in (2, 3, 4):
            for table in ("keep.a", "gone.a") if number < 4 else ("gone.a", "gone.b"):
                with log.transaction():
                    log.insert(table, {"id": [number]})
            log.rotate(path.with_name(f"binlog.00000{number}"))
    done = applier.rewrite(path.parent, tmp_path / "out", ignore_tables="gone")
    if flavour == "mariadb":
        heads = [event.content for event in applier.binlog.open(str(tmp_path / "out")) if event.name == "GTID_LIST"]
        assert [str(head) for head in heads] == ["", "0-1-7", "0-1-9", "0-1-9"]
    assert done.proof.gtid_set == ("0-1-9" if flavour == "mariadb" else done.proof.gtid_set)
    assert (tmp_path / "out" / "binlog.000004").exists()


@pytest.mark.by_turns("compress")
@FLAVOURS
@pytest.mark.parametrize("compress", [False, True])
def test_all_rows_of_large_transactions(compress, flavour, tmp_path):
    """RW-FILT: more than is written at a time; also of compressed ones."""
    n = list(range(300_000))
    path = log_of(tmp_path / "log", [*TABLES, {"gone.a": n, "keep.a": n}, {"gone.b": n}, {"keep.b": n}], flavour,
                  compress=compress)
    done = applier.rewrite(path, tmp_path / "out", ignore_tables="gone")
    assert wrong_places(tmp_path / "out" / path.name) == [] and done.proof.changes == 600_000


def test_names_of_objects():
    """Filters of replication go by them."""
    def names(sql):
        [change] = parse_statement(sql, default_database="d")
        assert isinstance(change, Ignored)
        return change.names

    assert names("CREATE OR REPLACE ALGORITHM=MERGE DEFINER=a@b SQL SECURITY INVOKER VIEW v AS SELECT 1") == (
        ("d", "v"),)
    assert names("DROP VIEW IF EXISTS x.v, w") == (("x", "v"), ("d", "w"))
    assert names("CREATE TRIGGER IF NOT EXISTS x.t BEFORE INSERT ON x.y FOR EACH ROW SET @a = 1") == (("x", "y"),)
    assert names("ALTER EVENT x.e DISABLE") == (("x", None),)
    assert names("GRANT SELECT (a, b), UPDATE ON TABLE t TO u") == (("d", "t"),)
    assert names("GRANT EXECUTE ON PROCEDURE x.p TO u") == (("x", None),)
    assert names("GRANT r TO u") == names("GRANT ALL ON *.* TO u") == names("FLUSH TABLES") == ()


@pytest.mark.parametrize(("tables", "ignored", "database", "keeps"), [
    ("", "gone", "gone", False), ("", "gone.t", "gone", True), ("", "gone.*", "gone", False),
    ("keep.t", "", "gone", False), ("keep.t", "", "keep", True), ("k*", "keep.%", "keep", False),
    ("", "", "mysql", True)])
def test_databases_of_a_filter(tables, ignored, database, keeps):
    """AP-FILT: statements about a database go with all of its tables."""
    filter = TableFilter(parse_table_list([tables]) if tables else (), parse_table_list([ignored]) if ignored else ())
    assert filter.keeps(database, None) is keeps


def test_system_tables_stay_in_a_log():
    """RW-FILT: a replay leaves them out, and a log has them unless they are named."""
    assert TableFilter().keeps("mysql", "user") and not TableFilter().wanted("mysql", "user")
    assert not TableFilter(ignored=parse_table_list(["mysql"])).keeps("mysql", "user")
    assert not TableFilter(parse_table_list(["shop"])).keeps("mysql", "user")


def test_the_command(tmp_path, capsys):
    """What filters did is said."""
    path = log_of(tmp_path / "log", [*TABLES, {"gone.a": [1]}, {"keep.a": [1]}])
    words = ["rewrite", "--binlogs", str(path), "--output", str(tmp_path / "out")]
    assert cli.main([*words, "--ignore-tables", "gone"]) == 0
    assert "filtered: 4 transactions have no changes left; 1 rows events are dropped" in capsys.readouterr().out
    assert cli.main([*words[:-1], str(tmp_path / "other"), "--ignore-server-ids", "77"]) == 2
    assert "no transaction of these binlogs is of --ignore-server-ids 77" in capsys.readouterr().err


def test_options_that_contradict_each_other(tmp_path):
    for options in ({"full_json": True, "partial_json": True}, {"full_json": True, "image": "minimal"}):
        with pytest.raises(UsageError, match="larger"):
            applier.rewrite("log", tmp_path / "out", **options)
