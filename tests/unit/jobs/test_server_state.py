"""Undo and history of an archive that begins in the middle, with the server that wrote it (UNDO-LATE): definitions that
no statement of the log changed, and values that no change of the log assigned."""

import numpy as np
import pytest

import applier
import applier.binlog
from applier import cli
from applier.errors import SchemaError, ServerAnswerError, UnsupportedEvent, UsageError
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.whole.first_images import Unknown
from applier.jobs.verify import live
from applier.options import ChangesOptions
from tests.support.binlog_server import PASSWORD, BinlogServer, answer

TABLE = "CREATE TABLE `t` (id INT PRIMARY KEY, a VARCHAR(9), b INT NOT NULL, d DECIMAL(9,2), u INT UNIQUE, j JSON)"
MARIADB_TABLE = TABLE.replace("JSON", "LONGTEXT")
DATABASE = "CREATE DATABASE `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 */"
ROW = {"id": [6], "a": ["n"], "b": [1], "d": [None], "u": [3], "j": ["{}"]}


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)


@pytest.fixture(params=["mysql", "mariadb"])
def flavour(request):
    return request.param


def update(key, **values):
    return "update", {"id": [key]}, {name: [value] for name, value in values.items()}


class Late:
    """A log of one table without its CREATE TABLE, a transaction or statement for each change, and a server that stands
    where it ends, and has one row."""

    def __init__(self, folder, flavour, *changes, row=(b"1", b"second", b"5", b"1.25", b"7", b'{"k": 1}'),
                 behind=0, table=None):
        self.folder, self.log, self.places = folder, folder / "binlog.000001", []
        created = (TABLE if flavour == "mysql" else MARIADB_TABLE) if table is None else table
        known = "" if created in changes else created.replace("BIGINT", "INT") + ";"
        (folder / "schema.sql").write_text(f"{DATABASE}; USE d; {known}")
        with applier.binlog.Writer(self.log, flavour=flavour, schema=folder / "schema.sql") as log:
            for change in changes:
                self.places.append(log.position)
                if isinstance(change, str):
                    log.query(change, "d")
                    continue
                verb, *images = change
                with log.transaction():
                    getattr(log, verb)("d.t", *images)
            self.places.append(log.position)
        end = self.places[-1][1]
        rows = [] if row is None else [[row[0].hex().encode(), *row]]
        position = [self.log.name.encode(), str(end + behind).encode()]
        self.server = BinlogServer(folder, flavour, answers={
            "gtid_executed": answer(1, [b""]), "LOG STATUS": answer(2, position), "GTID_POS": answer(1, [b""]),
            "binlog_snapshot": answer(2, [b"Binlog_snapshot_file", position[0]],
                                      [b"Binlog_snapshot_position", position[1]]),
            "information_schema.tables": answer(2, [b"d", b"t"]), "key_column_usage": answer(4),
            "SHOW CREATE DATABASE": answer(2, [b"d", DATABASE.encode()]), "SELECT 1 FROM": answer(1, [b"1"]),
            "SHOW CREATE TABLE": answer(2, [b"t", created.encode()]), "CONCAT_WS": answer(7, *rows)})

    def undo(self, number, **options):
        """Take a transaction back, with what the server tells; the result and the text."""
        path = self.folder / "undo"
        with self.server as server:
            undone = applier.undo(self.log, path, start=self.places[number], stop=self.places[number + 1],
                                  server=server.url, **options)
        return undone, path.read_text(errors="replace")


TWICE = update(1, a="first"), update(1, a="second")


def test_guards_name_every_column_that_the_server_has_unchanged(flavour, tmp_path):
    undone, text = Late(tmp_path, flavour, *TWICE).undo(1)
    assert [(one.name, one.updated) for one in undone.tables] == [("d.t", 1)]
    assert "UPDATE `d`.`t` SET `a` = 'first' WHERE `id` = 1 AND " in text
    assert "`b` <=> 5 AND `d` <=> 1.25 AND `u` <=> 7 AND " in text
    assert not any("without comparing" in note for note in undone.notes)
    assert "in all columns" in undone.proof[0] and "that the log has" not in undone.proof[0]


def test_events_have_whole_rows(flavour, tmp_path):
    undone, _ = Late(tmp_path, flavour, *TWICE).undo(1, format="binlog")
    assert undone.format == "binlog" and undone.tables[0].updated == 1


def test_an_old_value_that_neither_has_is_refused_by_row_and_column(flavour, tmp_path):
    with pytest.raises(UnsupportedEvent, match="what column a of row id=1 was before"):
        Late(tmp_path, flavour, TWICE[0]).undo(0)


def test_a_row_that_the_server_has_no_more_stays_partly_unknown(flavour, tmp_path):
    undone, text = Late(tmp_path, flavour, *TWICE, row=None).undo(1)
    assert "`b` <=>" not in text and any("without comparing b, d, u, j" in note for note in undone.notes)


def test_the_server_is_asked_by_the_keys_and_in_one_state(flavour, tmp_path):
    late = Late(tmp_path, flavour, *TWICE)
    late.undo(1)
    said = late.server.statements
    [asked, *_] = [sql for sql in said if "CONCAT_WS" in sql]
    assert asked.endswith("FROM `d`.`t` WHERE (`id`) IN ((1))")
    begun = said.index("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    assert begun < said.index("SHOW CREATE TABLE `d`.`t`") < said.index(asked)


def test_a_history_begins_with_the_server_s_values(flavour, tmp_path, capsys):
    """Where no change assigned a column that a before-image lacks; else it is refused."""
    before = {name: values for name, values in (ROW | {"id": [1]}).items() if name != "j"}
    late = Late(tmp_path, flavour, ("update", before, {"a": ["x"]}), row=(b"1", b"x", b"1", None, b"3", b'{"k": 1}'))
    with late.server as server:
        rows = applier.history(late.log, "d.t", server=server.url).to_arrow().to_pylist()
        assert [(row["a"], row["j"], row["_change_type"]) for row in rows] == [
            ("n", '{"k": 1}', "base"), ("x", '{"k": 1}', "update")]
        assert cli.main(["-q", "history", "--binlogs", str(late.log), "--tables", "d.t", "--key", "1", "--server",
                         server.url]) == 0
    assert '{"k": 1}' in capsys.readouterr().out


@pytest.mark.parametrize("assigned, wanted", [("a", ["b", "g", "h"]), ("b", ["a"])])
def test_a_generated_column_is_assigned_with_what_it_is_computed_from(assigned, wanted, tmp_path):
    created = ("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, v INT AS (`B` + 1) VIRTUAL, "
               "g INT AS (h * 2) STORED, h INT AS (v + 1) STORED)")
    late, at_end = Late(tmp_path, "mysql", update(1, **{assigned: 1}), table=created), AtEnd()
    log = ChangeLog(ChangesOptions((str(late.log),), complete=True))
    log.known_by_server(lambda span: (tmp_path / "schema.sql").read_text(), at_end).from_first_images(
        [("d", "t")], Unknown.NULL)
    assert at_end.wanted == {1: wanted}


class AtEnd:
    """Has no rows, and keeps what it was asked for, by id."""

    wanted = None

    def filled(self, definition, rows, wanted):
        names = [column.name for column in definition.stored_columns]
        self.wanted = {id: [name for name, one in zip(names, places, strict=True) if one]
                       for id, places in zip(rows.column("id").to_pylist(), wanted, strict=True)}
        return rows, np.zeros_like(wanted)


@pytest.mark.parametrize("changes, wanted", [
    ([update(1, a="x")], {1: ["b", "d", "u", "j"]}),
    ([update(1, a="x"), update(2, d=1), update(1, b=2), update(1, a="y")],
     {1: ["d", "u", "j"], 2: ["a", "b", "u", "j"]}),
    ([update(1, a="x"), update(1, id=2)], {1: []}),
    ([update(1, a="x"), ("delete", {"id": [1]})], {1: []}),
    ([("delete", {"id": [6]}), ("insert", ROW), update(6, a="x")], {6: []}),
    ([update(1, a="x"), update(1, id=2), update(2, id=1)], {1: []}),
    ([update(1, a="x"), "TRUNCATE TABLE t", ("insert", ROW)], None),
], ids=["one", "several", "key", "deleted", "again", "back", "truncated"])
def test_values_of_now_are_those_that_no_change_assigned(changes, wanted, flavour, tmp_path):
    """By key: a row that was deleted, inserted, or got another key is not the one that the server has."""
    late, at_end = Late(tmp_path, flavour, *changes), AtEnd()
    log = ChangeLog(ChangesOptions((str(late.log),), complete=True))
    log = log.known_by_server(lambda span: (tmp_path / "schema.sql").read_text(), at_end)
    log.from_first_images([("d", "t")], Unknown.NULL)
    assert at_end.wanted == wanted


@pytest.mark.parametrize("statement", [
    "ALTER TABLE t ADD COLUMN z INT", "ALTER TABLE d.T COMMENT 'x'", "RENAME TABLE other TO t",
    "CREATE INDEX i ON t (b)"])
def test_definitions_that_the_log_changed_are_refused(statement, flavour, tmp_path):
    with pytest.raises(SchemaError, match="the log's beginning, since this statement changed it") as told:
        Late(tmp_path, flavour, *TWICE, statement).undo(1)
    assert (told.value.table, told.value.position is not None) == ("d.t", True) and "--schema" in told.value.hint


@pytest.mark.parametrize("statement", [
    TABLE.replace("TABLE", "TABLE IF NOT EXISTS"), "ALTER TABLE x.t ADD COLUMN z INT", "CREATE TABLE other (id INT)",
    "CREATE DATABASE IF NOT EXISTS d"])
def test_other_statements_change_no_definition(statement, flavour, tmp_path):
    assert Late(tmp_path, flavour, statement, *TWICE).undo(2)[0].tables[0].updated == 1


def test_a_table_that_the_log_made_is_defined_there(flavour, tmp_path):
    created = TABLE if flavour == "mysql" else MARIADB_TABLE
    late = Late(tmp_path, flavour, created, "ALTER TABLE t ADD COLUMN z INT", ("insert", ROW | {"z": [1]}))
    assert late.undo(2)[0].tables[0].deleted == 1
    assert not [sql for sql in late.server.statements if sql.startswith("SHOW CREATE")]


def test_a_definition_that_is_not_the_log_s_is_refused(flavour, tmp_path):
    with pytest.raises(SchemaError, match=r"is not the log's: column 2, b, cannot be converted from type 'int"):
        Late(tmp_path, flavour, *TWICE, table=TABLE.replace("b INT", "b BIGINT")).undo(1)


@pytest.mark.parametrize("shown", ["CREATE VIEW v AS SELECT 1", "\x1b[2J"])
def test_an_answer_that_is_no_definition_is_refused(shown, tmp_path):
    late = Late(tmp_path, "mysql", *TWICE)
    late.server.answers["SHOW CREATE TABLE"] = answer(2, [b"t", shown.encode()])
    with pytest.raises(ServerAnswerError, match="definition"):
        late.undo(1)


def test_the_log_has_to_reach_the_server_s_position(flavour, tmp_path, monkeypatch):
    monkeypatch.setattr(live, "SECONDS_BETWEEN", 0)
    with pytest.raises(UsageError, match=r"does not reach .*, the server's position: .* is past the end of"):
        Late(tmp_path, flavour, *TWICE, behind=100).undo(1)


def test_a_server_of_another_kind_is_refused(tmp_path):
    late = Late(tmp_path, "mariadb", *TWICE)
    late.server.flavour = "mysql"
    with pytest.raises(UsageError, match="the log is of mariadb, the server is of mysql"):
        late.undo(1)


def test_what_contradicts_a_server_is_refused(tmp_path):
    late = Late(tmp_path, "mysql", *TWICE)
    with pytest.raises(UsageError, match="and so does --schema"):
        late.undo(1, schema=tmp_path / "schema.sql")
    with pytest.raises(UsageError, match="ends at the server's position"):
        late.undo(1, until=late.places[-1])
    with pytest.raises(UsageError, match=r"defaults.file.? is of a server"):
        applier.history(late.log, "d.t", defaults_file=tmp_path / "my.cnf")
