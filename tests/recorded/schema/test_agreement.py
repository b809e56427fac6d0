"""Definitions against TABLE_MAP events, those of recorded logs among them."""

import json
from types import SimpleNamespace

import pytest

from applier.binlog.events.events import parse_query, read_events
from applier.binlog.events.table_map import parse_table_map
from applier.columns.agreement import definition_check
from applier.columns.type_conversions import Step, TypeConversions, step_between, type_in_log
from applier.io.mapping import map_file
from applier.mysql.wire_types import WireType
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.history import SchemaHistory
from tests.support.folders import CASES

QUERY, TABLE_MAP = 2, 19


@pytest.mark.parametrize("case", [
    "mysql-types-number-time", "mysql-types-text", "mysql-types-json", "mysql-charsets", "mariadb-types",
    "mariadb-types-text", "mariadb-old-temporal", "wide-tables-mysql", "key-moves-full",
])
def test_logs_of_real_servers_agree_with_their_own_ddl(case):
    """Every table map of these logs is about the definition that the statements before it made."""
    folder = CASES / case
    history = SchemaHistory(json.loads((folder / "case.json").read_text())["server"])
    checked = set()
    for number, path in enumerate(sorted(folder.glob("binlog.0*"))):
        for event in read_events(map_file(str(path))):
            if event.type == QUERY:
                query = parse_query(event.body)
                if query.sql not in (b"BEGIN", b"COMMIT"):
                    end = (number, event.position + event.size)
                    statement = SimpleNamespace(sql=query.sql.decode(), database=query.database,
                                                context=query.context, timestamp=0, gtid=None, sequences=())
                    history.apply(statement, (number, event.position), end)
            elif event.type == TABLE_MAP:
                table_map = parse_table_map(bytes(event.body[6:]))
                version = history.at(table_map.database, table_map.table, (number, event.position))
                assert definition_check(table_map, version.definition) is None
                checked.add(version.id)
    assert checked


def table_map(*columns):
    types, metadata, unsigned = zip(*columns)
    return SimpleNamespace(types=types, metadata=metadata, unsigned=unsigned, dimensions=(None,) * len(types),
                           collations=lambda flavour: (None,) * len(types))


@pytest.mark.parametrize(("column_type", "collation", "differs"), [
    ("TEXT", 8, True), ("TEXT CHARACTER SET latin1", 8, False), ("TEXT CHARACTER SET latin1", 47, False),
    ("TEXT", 46, False), ("BLOB", 63, False), ("TEXT", 9999, False),
])
def test_text_in_another_character_set(column_type, collation, differs):
    """A database's default character set that the log does not tell: text would be read wrongly, and nothing say so."""
    columns = table_map((WireType.BLOB, 2, None))
    columns.collations = lambda flavour: (collation,)
    error = definition_check(columns, definition(column_type))
    assert (error is not None) == differs
    if differs:
        assert error.mysql_errno == 1677 and "latin1 in the log and utf8mb4 in the table" in error.message


def definition(*types):
    columns = ", ".join(f"c{number} {text}" for number, text in enumerate(types))
    [change] = parse_statement(f"CREATE TABLE d.t ({columns})", server_charset="utf8mb4")
    return change.definition


@pytest.mark.parametrize(("column_type", "wire"), [
    ("INT", (WireType.LONGLONG, 0, None)),
    ("INT", (WireType.LONG, 0, True)),
    ("INT UNSIGNED", (WireType.LONG, 0, False)),
    ("INT", (WireType.VARCHAR, 40, None)),
    ("DECIMAL(10,2)", (WireType.NEWDECIMAL, 10 << 8 | 3, None)),
    ("DATETIME(3)", (WireType.DATETIME2, 0, None)),
    ("DATETIME", (WireType.TIMESTAMP2, 0, None)),
    ("VARCHAR(10)", (WireType.VARCHAR, 10, None)),
    ("CHAR(10)", (WireType.VARCHAR, 40, None)),
    ("TEXT", (WireType.BLOB, 3, None)),
    ("TEXT", (WireType.JSON, 4, None)),
    ("BIT(9)", (WireType.BIT, 1 << 8, None)),
    ("ENUM('a')", (WireType.ENUM, 2, None)),
    ("SET('a')", (WireType.ENUM, 1, None)),
])
def test_columns_that_differ(column_type, wire):
    """AP-POS: without type conversions the replica stops with 1677, naming table, column and both types."""
    error = definition_check(table_map((WireType.LONG, 0, None), wire), definition("INT", column_type))
    assert error.mysql_errno == 1677 and error.exit_code == 1
    assert error.table == "d.t" and "column 1, c1, cannot be converted from type" in error.message
    assert f"'{type_in_log(*wire)}'" in error.message
    assert f"to type '{column_type.split('(')[0].split()[0].lower()}" in error.message


def test_other_numbers_of_columns():
    error = definition_check(table_map((WireType.LONG, 0, None)), definition("INT", "INT"))
    assert error.mysql_errno == 1677 and "1 columns" in error.message and "has 2" in error.message


@pytest.mark.parametrize(("flavour", "keys", "more", "agree"), [
    ("mariadb", ", UNIQUE (a)", [WireType.LONGLONG], True), ("mysql", ", UNIQUE (a)", [WireType.LONGLONG], False),
    ("mariadb", ", KEY (a(9))", [WireType.LONGLONG], False), ("mariadb", ", UNIQUE (a)", [WireType.LONG], False),
    ("mariadb", ", UNIQUE (a)", [WireType.LONGLONG] * 2, False),
    ("mariadb", ", UNIQUE (a), UNIQUE (a, b)", [WireType.LONGLONG] * 2, True),
])
def test_hidden_columns_of_mariadb_for_unique_keys_over_long_text(flavour, keys, more, agree):
    """It logs a number for each, after all columns."""
    [change] = parse_statement(f"CREATE TABLE d.t (a LONGBLOB, b INT{keys})", flavour=flavour)
    logged = table_map((WireType.BLOB, 4, None), (WireType.LONG, 0, None), *((kind, 0, None) for kind in more))
    assert (definition_check(logged, change.definition) is None) == agree


def test_what_the_log_does_not_say_is_no_difference():
    """Old temporal types carry no precision, and signedness is optional metadata."""
    same = table_map((WireType.DATETIME, 0, None), (WireType.LONG, 0, None), (WireType.BIT, 1 << 8 | 1, None))
    assert definition_check(same, definition("DATETIME(3)", "INT UNSIGNED", "BIT(9)")) is None


@pytest.mark.parametrize(("column_type", "wire", "name"), [
    ("BIGINT", (WireType.LONG, 0, None), "all_non_lossy"), ("VARCHAR(10)", (WireType.VARCHAR, 80, None), "all_lossy"),
    ("DECIMAL(20,0)", (WireType.NEWDECIMAL, 10 << 8 | 4, None), "all_non_lossy"),
    ("FLOAT", (WireType.NEWDECIMAL, 10 << 8 | 4, None), "all_lossy"),
])
def test_conversions_that_have_to_be_allowed(column_type, wire, name):
    """AP-POS: the error says what would allow it, and it does."""
    columns, table = table_map(wire), definition(column_type)
    for given in ("all_non_lossy", "all_lossy"):
        error = definition_check(columns, table, TypeConversions.of(frozenset([given, "all_unsigned"])))
        assert (error is None) == (given == name)
    assert f"--type-conversions {name}" in definition_check(columns, table).hint


def test_what_is_not_compared_where_columns_may_differ():
    """A server takes the bytes of a column of the same type, whatever their sign or character set."""
    columns = table_map((WireType.LONG, 0, True), (WireType.BLOB, 2, None), (WireType.DATETIME2, 1, None))
    columns.collations = lambda flavour: (None, 8, None)
    table = definition("INT", "TEXT", "DATETIME(2)")
    assert definition_check(columns, table) is not None
    assert definition_check(columns, table, TypeConversions(lossy=True)) is None


def test_times_are_converted_on_mariadb_only():
    [column] = definition("DATETIME(6)").columns
    log = WireType.DATETIME2, 3
    assert step_between(*log, column.type, "mysql") is None
    assert step_between(*log, column.type, "mariadb") is Step.NON_LOSSY
    assert step_between(WireType.DATETIME2, 0, column.type, "mariadb") is None


@pytest.mark.parametrize(("flavour", "wire", "dimensions", "agree"), [
    ("mysql", (WireType.VECTOR, 4, None), 2, True), ("mysql", (WireType.VECTOR, 4, None), 4, False),
    ("mysql", (WireType.VECTOR, 4, None), None, True), ("mysql", (WireType.VARCHAR, 8, None), None, False),
    ("mariadb", (WireType.VARCHAR, 8, None), None, True), ("mariadb", (WireType.VARCHAR, 16, None), None, False),
])
def test_vectors(flavour, wire, dimensions, agree):
    """Seen on MySQL 9.7: a replica stops for other dimensions and for all other types, whatever conversions it allows.
    """
    columns = table_map(wire)
    columns.dimensions = (dimensions,)
    [change] = parse_statement("CREATE TABLE d.t (c VECTOR(2))", flavour=flavour)
    error = definition_check(columns, change.definition)
    assert error is None if agree else error.mysql_errno == 1677
