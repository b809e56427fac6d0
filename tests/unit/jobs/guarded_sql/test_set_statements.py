"""SQL for many rows (UNDO-SET): they are loaded into temporary tables, and one statement changes all of a kind."""

import re

import pytest

import applier
import applier.binlog
from applier.jobs.guarded_sql.set_statements import AT_ONCE, can_be_set
from applier.schema.ddl.ddl import parse_statement

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, u INT UNIQUE, s VARCHAR(9), j JSON, b BLOB) ENGINE=InnoDB"


def undone(tmp_path, n, create=TABLE, flavour="mysql"):
    """The file that undoes: a third of the rows were deleted, one inserted, and of the others a column was changed."""
    log, ids = tmp_path / "binlog.000001", list(range(n))
    rows = {"id": ids, "u": ids, "s": ["it's"] * n, "j": ['{"a": 1}'] * n, "b": [b"\0"] * n}
    with applier.binlog.Writer(log, flavour=flavour) as writer:
        writer.query("CREATE DATABASE d")
        writer.query(create)
        with writer.transaction():
            writer.insert("d.t", rows)
        with writer.transaction():
            part = {name: values[: n // 3] for name, values in rows.items()}
            writer.delete("d.t", part)
            some = {name: values[n // 3: n - 2] for name, values in rows.items()}
            writer.update("d.t", some, some | {"s": ["new"] * len(some["id"])})
            last = {name: values[n - 2:] for name, values in rows.items()}
            writer.update("d.t", last, last | {"u": [5 * n, 6 * n], "s": ["x", "y"]})
            writer.insert("d.t", {"id": [n], "u": [n], "s": [None], "j": [None], "b": [None]})
    gtid = applier.summary(log).gtids
    last_one = f"{gtid.rpartition(':')[0]}:4" if flavour == "mysql" else "0-1-4"
    applier.undo(log, tmp_path / "undo.sql", gtids=last_one)
    return (tmp_path / "undo.sql").read_text()


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_many_rows_are_changed_by_one_statement_of_each_kind(tmp_path, flavour):
    """Each is counted, and shows the rows that are not as expected before it."""
    n = 3 * AT_ONCE
    text = undone(tmp_path, n, flavour=flavour)
    lines = text.splitlines()
    deleted, inserted, updated = 3, n // 3 + 2, n - n // 3 - 2  # rows whose unique key changes are made again
    assert [line[:30] for line in lines if line.startswith(("DELETE", "INSERT INTO `d`.`t`", "UPDATE"))] == [
        "DELETE `d`.`t` FROM `d`.`appli", "INSERT INTO `d`.`t` (`id`, `u`", "UPDATE `d`.`applier updated 0`"]
    for rows in (deleted, inserted, updated):
        assert f"SET @rows = @rows + {rows} * (~0 + (ROW_COUNT() <> {rows}) = ~0);" in lines
    assert f"SET @end = IF(@rows = {deleted + inserted + updated}, 'COMMIT', " in text
    loaded = max(at for at, line in enumerate(lines) if line.startswith("INSERT INTO `d`.`applier"))
    assert loaded < lines.index("START TRANSACTION;")
    assert sum(line.startswith("SELECT 'not as expected: d.t'") for line in lines) == 2
    [update] = [line for line in lines if line.startswith("UPDATE")]
    assert update.endswith("SET `d`.`t`.`s` = c.`n2` WHERE c.p = 0;")
    assert "`d`.`t`.`id` = c.`o0`" in update and "HEX(`d`.`t`.`s`) <=> HEX(c.`o2`)" in update
    assert re.search(r"HEX\(CONVERT\(`d`.`t`.`j` USING utf8mb4\)\) <=> HEX\(c.`o3`\)" if flavour == "mysql"
                     else r"HEX\(.*`d`.`t`.`j`.*\) <=> HEX\(c.`o3`\)", update)


def test_few_rows_are_a_statement_each(tmp_path):
    text = undone(tmp_path, 60)
    assert "TEMPORARY" not in text and text.count("ROW_COUNT() <> 1") == 60 + 1 + 2


@pytest.mark.parametrize("create, key, as_printed, expected", [
    (TABLE, ("id",), False, True), (TABLE, (), False, False), (TABLE, ("id",), True, False),
    (TABLE.replace("InnoDB", "MyISAM"), ("id",), False, False),
    ("CREATE TABLE d.t (id INT PRIMARY KEY, f FLOAT)", ("id",), True, False),
    ("CREATE TABLE d.t (id INT PRIMARY KEY, f FLOAT)", ("id",), False, True)])
def test_what_is_changed_as_a_set(create, key, as_printed, expected):
    """Rows that a key finds, in tables with transactions, by exact values."""
    [change] = parse_statement(create, server_charset="utf8mb4")
    assert can_be_set(change.definition, key, AT_ONCE, as_printed=as_printed) == expected
    assert not can_be_set(change.definition, key, AT_ONCE - 1, as_printed=as_printed)
