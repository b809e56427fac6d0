"""What the SQL of a diff changes, what it guards against, and what it leaves."""

import random
import struct

import numpy as np
import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.engine.executor import ThisProcess
from applier.jobs.guarded_sql.table_statements import six_digits_around
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.diffs import snapshot_of

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, p INT)"
SHOWN = ("CREATE TABLE d.t (`id` int NOT NULL, `n` int NOT NULL DEFAULT '0', `p` int DEFAULT NULL, PRIMARY KEY (`id`))"
         " ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4")


def sides(tmp_path, before, after, name="d.t"):
    return [snapshot_of(tmp_path / f"side{number}", *side, name) for number, side in enumerate((before, after))]


def lines(statements):
    others = "--", "/*", "SET ", "PREPARE", "EXECUTE", "DEALLOCATE"
    return [line for line in b"".join(statements).decode().splitlines() if not line.startswith(others)]


@pytest.mark.parametrize("before, after", [(SHOWN, TABLE), (TABLE, SHOWN)])
def test_a_table_as_a_dump_and_as_a_log_have_it(tmp_path, before, after):
    """DIFF-SAME: nothing differs, nothing is done."""
    found = applier.diff(*sides(tmp_path, (before, [(1, 2, None)]), (after, [(1, 2, None)])))
    assert lines(found.sql(definitions=True)) == ["START TRANSACTION;"]
    assert not found.repair().rows and not found.repair().not_repaired


@pytest.mark.parametrize("after, why, written", [
    (TABLE.replace("p INT", "p INT, KEY (p)"),
     "its definition differs, and only rows are repaired: key p was added", True),
    (TABLE.replace("DEFAULT 0", "DEFAULT 1"),
     "its definition differs, and only rows are repaired: n was altered (default)", True),
    (TABLE.replace("p INT", "p BIGINT"),
     "its columns differ, and no row is repaired (--definitions makes the table anew): p is bigint, and was int",
     False)])
def test_definitions_that_differ(tmp_path, capsys, after, why, written):
    """DIFF-DDL: rows are written where that needs no DDL; what stays different is named, in the file as well."""
    before, now = sides(tmp_path, (TABLE, [(1, 2, None)]), (after, [(1, 3, None)]))
    found = applier.diff(before, now)
    assert found.repair().not_repaired == (f"d.t: {why}",) and found.repair().destroyed == ()
    text = b"".join(found.sql()).decode()
    assert not any(word in text for word in ("DROP TABLE", "CREATE", "ALTER")) and ("UPDATE `d`" in text) == written
    assert f"-- Not repaired: d.t: {why}\n" in text
    assert cli.main(["diff", before.uri, now.uri, "--format", "sql", "--output", str(tmp_path / "repair.sql")]) == 1
    assert f"not repaired: d.t: {why}\n" in capsys.readouterr().out
    assert cli.main(["diff", before.uri, now.uri, "--format", "sql"]) == 1
    shown = capsys.readouterr()
    assert shown.out == text and f"not repaired: d.t: {why}\n" in shown.err


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_rows_as_events(tmp_path, flavour):
    """DIFF-EVENT: the events make the rows before those after; unique keys that change places are no obstacle."""
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, u INT UNIQUE, s VARCHAR(9), j JSON)"
    rows = [[(1, 1, "a", '{"a": 1}'), (2, 2, "b", None), (3, 3, None, None)],
            [(1, 2, "a", '{"a": 1}'), (2, 1, "x", None), (4, 3, "n", "[]")]]
    before, now = (snapshot_of(tmp_path / str(number), table, side, flavour=flavour)
                   for number, side in enumerate(rows))
    applier.diff(before, now).repair().write_events(tmp_path / "events.000001")
    options = ReplayOptions((str(tmp_path / "events.000001"),), str(tmp_path / "after"), base=before.uri,
                            start_position=("events.000001", 4), witness="stop")
    replay_with(ThisProcess(1), options)
    assert applier.diff(tmp_path / "after", now).same
    with pytest.raises(applier.UsageError, match="events change no definitions"):
        applier.diff(before, now).repair(definitions=True).write_events(tmp_path / "other")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_probes_of_invalid_dates(tmp_path, flavour):
    """DIFF-EVENT: the sql_mode of probes has neither NO_ZERO_DATE nor NO_ZERO_IN_DATE, in which a server compares no
    column with such dates (1525), and ALLOW_INVALID_DATES."""
    table = "CREATE TABLE d.t (k TIMESTAMP PRIMARY KEY, d DATETIME(3), n INT)"
    before, now = (snapshot_of(tmp_path / str(n), table, [("0000-00-00", "2024-02-31", n)], flavour=flavour)
                   for n in range(2))
    applier.diff(before, now).repair().write_events(tmp_path / "events.000001")
    modes = {event.content.context["sql_mode"] for event in applier.binlog.open(str(tmp_path / "events.000001"))
             if event.name == "QUERY" and b"0000-00-00" in event.content.sql}
    assert modes == {0x0248_0000}, "STRICT_ALL_TABLES, NO_AUTO_VALUE_ON_ZERO, ALLOW_INVALID_DATES"


def test_tables_that_one_side_has(tmp_path):
    before = snapshot_of(tmp_path / "before", TABLE, [(1, 2, None)])
    after = snapshot_of(tmp_path / "after", TABLE.replace("d.t", "d.u"), [(1, 2, None)], "d.u")
    found = applier.diff(before, after)
    assert lines(found.sql()) == ["START TRANSACTION;"]
    assert found.repair().not_repaired == (
        "d.t: only the snapshot before has this table (--definitions drops it)",
        "d.u: only the snapshot after has this table (--definitions makes it)")


def test_ddl_that_is_asked_for(tmp_path, capsys):
    """DIFF-DDL: what is destroyed is said before it is written, and done after rows, if no guard has failed."""
    before, now = sides(tmp_path, (TABLE, [(1, 2, None), (2, 2, None)]),
                        (TABLE.replace("p INT", "p BIGINT"), [(1, 3, None)]))
    text = b"".join(applier.diff(before, now).sql(definitions=True)).decode()
    said = text.index("-- It destroys: DROP TABLE d.t, with 2 rows, and with its triggers")
    guard = text.index("(SELECT COUNT(*) FROM `d`.`t`) <> 2) - ~0;")
    triggers = text.index("information_schema.TRIGGERS WHERE (EVENT_OBJECT_SCHEMA = 'd' AND EVENT_OBJECT_TABLE = 't')")
    dropped = text.index("SET @next = IF(@rows = 0, 'DROP TABLE `d`.`t`', 'SELECT 1 FROM")
    made, filled = text.index("CREATE TABLE `d`.`t`"), text.index("INSERT INTO `d`.`t`")
    counted = text.index("SET @rows = @rows + (~0 + ((SELECT COUNT(*) FROM `d`.`t`) <> 1) = ~0);")
    rows, end = text.index("'COMMIT'"), text.rindex("'COMMIT'")
    assert said < guard < triggers < rows < dropped < made < filled < counted < end
    assert cli.main(["diff", before.uri, now.uri, "--format", "sql", "--definitions", "--output",
                     str(tmp_path / "repair.sql")]) == 0
    assert "the statements destroy: DROP TABLE d.t, with 2 rows" in capsys.readouterr().out
    assert (tmp_path / "repair.sql").read_text() == text
    assert cli.main(["diff", before.uri, now.uri, "--definitions"]) == 2
    assert "--definitions is for --format sql" in capsys.readouterr().err


def test_rows_without_a_key(tmp_path):
    """UNDO-GUARD: a DELETE that finds nothing stops the file; a FLOAT is found by the digits that a dump has."""
    create = "CREATE TABLE d.t (a INT, x FLOAT)"
    before, now = sides(tmp_path, (create, [(1, 0.333333), (2, None)]), (create, [(1, 0.3333333432674408)]))
    text = b"".join(applier.diff(before, now).sql()).decode()
    assert lines([text.encode()])[1:3] == [
        "DELETE FROM `d`.`t` WHERE `a` <=> 1 AND (`x` <=> '0.33333298563957214' OR `x` BETWEEN 0.3333325 AND 0.3333335)"
        " ORDER BY (`x` <=> '0.33333298563957214') LIMIT 1;",
        "DELETE FROM `d`.`t` WHERE `a` <=> 2 AND (`x` <=> NULL OR `x` BETWEEN NULL AND NULL) ORDER BY (`x` <=> NULL) "
        "LIMIT 1;"]
    assert text.count("SET @rows = @rows + (~0 + (ROW_COUNT() <> 1) = ~0);") == 3


def test_an_update_that_may_change_nothing(tmp_path):
    """A server that has the further digits of a FLOAT already counts no changed row."""
    create = "CREATE TABLE d.t (id INT PRIMARY KEY, x FLOAT, y INT)"
    before, now = sides(tmp_path, (create, [(1, 0.333333, 1), (2, 1.5, 1)]),
                        (create, [(1, 0.3333333432674408, 1), (2, 1.6, 2)]))
    assert [line.partition(" ")[0] for line in lines(applier.diff(before, now).sql())[1:]] == [
        "DELETE", "INSERT", "(1,'0.33333334',1);", "UPDATE"]


def test_numbers_that_print_alike():
    """Whatever a server prints as it prints a FLOAT of six digits is between the bounds."""
    chosen = random.Random(6)
    values = [chosen.choice((1, -1)) * chosen.uniform(1, 10) * 10.0**chosen.randrange(-37, 38) for _ in range(2000)]
    stored = np.array(values, np.float32).astype(np.float64)
    printed = np.array([float(f"{value:.6g}") for value in stored.tolist()], np.float32)
    low, high = (bound.to_numpy() for bound in six_digits_around(pa.array(printed)))
    assert ((low <= stored) & (stored <= high)).all() and ((high - low) <= np.abs(stored) * 1.1e-5).all()
    exact = pa.array([struct.unpack("<f", b"\xab\xaa\xaa\x3e")[0], 0.0, None], pa.float32())
    assert [bound.to_pylist() for bound in six_digits_around(exact)] == [[0.3333333432674408, 0.0, None],
                                                                         [0.3333333432674408, 0.0, None]]


def test_foreign_keys_of_tables_that_are_not_repaired(tmp_path):
    """UNDO-GUARD: they stop the file where nobody checks them, or where they would change rows."""
    for number, (rule, wanted) in enumerate((("", " AND (DELETE_RULE IN"), (" ON DELETE CASCADE", " AND NOT"))):
        dump = ("CREATE DATABASE d;\nCREATE TABLE d.p (id INT PRIMARY KEY);\nCREATE TABLE d.c (id INT, p INT,"
                f" FOREIGN KEY (p) REFERENCES d.p (id){rule});\nINSERT INTO d.p VALUES (1){{}};\n")
        places = []
        for name, more in (("before", ", (2)"), ("after", "")):
            (tmp_path / f"{number}{name}.sql").write_text(dump.format(more))
            places.append(applier.import_dump(tmp_path / f"{number}{name}.sql", tmp_path / f"{number}{name}",
                                              flavour="mysql").snapshot)
        text = b"".join(applier.diff(*places).sql()).decode()
        condition = "((UNIQUE_CONSTRAINT_SCHEMA = 'd' AND REFERENCED_TABLE_NAME = 'p'))" + wanted
        assert condition in text and "AND NOT ((CONSTRAINT_SCHEMA = 'd' AND TABLE_NAME = 'c'))) - ~0;" in text
        assert " - ~0 + @guard0;" in text and f"foreign_key_checks = {int(not rule)}" in text
