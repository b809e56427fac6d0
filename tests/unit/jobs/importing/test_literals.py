"""Literals of an INSERT to values, by the type of the column: in bulk as one by one."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.jobs.importing.sql.literals import column_values
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError
from applier.mysql.values.zero_dates import to_python
from applier.schema.ddl.ddl import parse_statement
from tests.support.examples import examples
from tests.unit.jobs.importing.test_tuple_kernel import literals_of


def values_of(column, literals, reading=None):
    """What a column (as DDL has it after its name) makes of literals: (values, zero dates)."""
    [created] = parse_statement(f"CREATE TABLE t (c {column})", default_database="d")
    text = b",".join(b"(" + literal + b")" for literal in literals) + b";   "
    values = column_values(literals_of(text), created.definition.columns[0], created.definition,
                           reading or LiteralContext())
    return to_python(values.array), values.zero_dates


@pytest.mark.parametrize("column, literal, value", [
    ("INT", b"'12'", 12), ("INT", b"1.5", 2), ("INT", b"1e2", 100), ("INT", b"0x10", 16), ("INT", b"TRUE", 1),
    ("INT", b"007", 7), ("INT", b"DEFAULT", None), ("INT DEFAULT 5", b"DEFAULT", 5), ("INT", b"(1 + 2) * 2", 6),
    ("BIGINT", b"-9223372036854775808", -2**63), ("BIGINT UNSIGNED", b"18446744073709551615", 2**64 - 1),
    ("BIT(8)", b"b'101'", 5), ("BIT(8)", b"5", 5), ("BIT(8)", b"'\\0'", 0), ("BIT(8)", b"_binary 'A'", 65),
    ("BIT(64)", b"0xffffffffffffffff", 2**64 - 1), ("YEAR", b"2020", 2020), ("YEAR", b"'99'", 1999),
    ("YEAR", b"0", 0), ("DECIMAL(5,2)", b"1.005", Decimal("1.01")), ("DECIMAL(5,2)", b"'-1.5'", Decimal("-1.50")),
    ("DECIMAL(5,2)", b"-0", Decimal("0.00")), ("DECIMAL(65,2)", b"1.5", "1.50"),
    ("DECIMAL(65,2)", b"123456789012345678901234567890123456789.25", "123456789012345678901234567890123456789.25"),
    ("DOUBLE", b"0.1", 0.1), ("DOUBLE", b"'1e308'", 1e308), ("FLOAT", b"0.1", np.float32(0.1)),
    ("DATE", b"'2020-02-29'", datetime.date(2020, 2, 29)), ("DATE", b"20200229", datetime.date(2020, 2, 29)),
    ("DATE", b"'2020-2-9'", datetime.date(2020, 2, 9)),
    ("DATETIME(3)", b"'2020-02-29 12:34:56.789'", datetime.datetime(2020, 2, 29, 12, 34, 56, 789000)),
    ("DATETIME", b"'2020-02-29 12:34:56.7'", datetime.datetime(2020, 2, 29, 12, 34, 57)),
    ("DATETIME", b"'2020-02-29'", datetime.datetime(2020, 2, 29)),
    ("TIME(2)", b"'-838:59:59.00'", -datetime.timedelta(hours=838, minutes=59, seconds=59)),
    ("TIME", b"'01:02:03'", datetime.timedelta(hours=1, minutes=2, seconds=3)),
    ("TIME", b"'10:11'", datetime.timedelta(hours=10, minutes=11)),
    ("CHAR(5)", b"'a  '", "a"), ("VARCHAR(5)", b"'a  '", "a  "), ("VARCHAR(9)", b"12.50", "12.50"),
    ("VARCHAR(9)", "'é😀'".encode(), "é😀"), ("VARCHAR(9)", b"x'c3a9'", "é"),
    ("VARCHAR(9)", b"_utf8mb4 x'C3A9'", "é"), ("VARCHAR(9) CHARACTER SET latin1", b"_utf8mb4 x'c3a9'", "é"),
    ("ENUM('é')", b"_utf8mb4 x'C3A9'", "é"), ("JSON", b"_utf8mb4 x'225C6E22'", '"\\n"'),
    ("VARCHAR(9) CHARACTER SET latin1", b"x'e9'", "é"), ("VARCHAR(9) CHARACTER SET latin1", b"_binary '\xe9'", "é"),
    ("VARCHAR(9)", b"'\\n\\t\\0\\Z\\%\\_\\x'", "\n\t\0\x1a\\%\\_x"), ("VARCHAR(9)", b"CONCAT('a', 'b')", "ab"),
    ("ENUM('a','B')", b"'b'", "B"), ("ENUM('a','B')", b"2", "B"), ("ENUM('a','B')", b"''", ""),
    ("SET('a','b','c')", b"'c,a'", "a,c"), ("SET('a','b','c')", b"5", "a,c"), ("SET('a','b')", b"''", ""),
    ("BINARY(4)", b"'a'", b"a\0\0\0"), ("VARBINARY(4)", b"0x00ff", b"\0\xff"),
    ("BLOB", b"_binary '\\0\xff'", b"\0\xff"),
    ("JSON", b"'{\"b\": 1, \"a\":[1,2]}'", '{"a": [1, 2], "b": 1}'), ("JSON", b"JSON_ARRAY(1, 'x')", '[1, "x"]'),
    ("VECTOR(2)", b"0x0000803f00000040", [1.0, 2.0]), ("INET6", b"'::1.2.3.4'", "::1.2.3.4"),
])
def test_one_literal(column, literal, value):
    """As a server stores it; NULL beside it stays NULL."""
    assert values_of(column, [literal, b"NULL", literal])[0] == [value, None, value]


@pytest.mark.parametrize("column, literal", [
    ("TINYINT", b"128"), ("TINYINT UNSIGNED", b"-1"), ("TINYINT UNSIGNED", b"256"), ("INT", b"'x'"), ("INT", b"NOW()"),
    ("BIGINT UNSIGNED", b"18446744073709551616"), ("DECIMAL(3,1)", b"100"), ("DECIMAL(3,1) UNSIGNED", b"-1"),
    ("VARCHAR(2)", b"'abc'"), ("BINARY(2)", b"'abc'"), ("DATE", b"'no date'"), ("BIT(3)", b"8"), ("ENUM('a')", b"'b'"),
    ("FLOAT", b"1e39"), ("TIME", b"'839:00:00'"), ("JSON", b"x'00'"), ("INT NOT NULL", b"NULL"), ("INT", b"@x"),
    ("VARCHAR(9)", b"JSON_OBJECT('a', RAND())"), ("DATETIME", b"'2020-13-01 00:00:00'"),
    ("INET6", b"'1.2.3.4'"),
])
def test_what_a_column_cannot_take(column, literal):
    """What a server refuses in strict mode, or what only it could evaluate, stops at its row."""
    with pytest.raises(LiteralError) as stopped:
        values_of(column, [b"DEFAULT" if "NOT" not in column else b"1", literal])
    assert stopped.value.row == 1


def test_dates_that_no_calendar_has_are_counted():
    """As in a replay, in forms that are usual and in others."""
    literals = [b"'0000-00-00'", b"'2020-00-01'", b"'2020-01-01'", b"NULL", b"20200001", b"0"]
    assert values_of("DATE", literals) == (
        ["0000-00-00", "2020-00-01", datetime.date(2020, 1, 1), None, "2020-00-01", "0000-00-00"], 4)
    assert values_of("DATETIME", [b"'0000-00-00 00:00:00'", b"'2020-02-31 10:00:00'"]) == (
        ["0000-00-00 00:00:00.000000", "2020-02-31 10:00:00.000000"], 2)
    zero = "0000-00-00 00:00:00.000000"
    assert values_of("TIMESTAMP", [b"'0000-00-00 00:00:00'", b"'0-0-0'"]) == ([zero] * 2, 2)
    with pytest.raises(LiteralError, match="NOT NULL"):
        values_of("DATE NOT NULL", [b"'0000-00-00'", b"NULL"])


@pytest.mark.parametrize("zone, hour", [("+00:00", 12), ("+02:00", 10), ("Europe/Rome", 10), ("SYSTEM", 12)])
def test_timestamps_are_in_the_sessions_zone(zone, hour):
    """Dumps set the zone that they are written in."""
    utc = datetime.datetime(2020, 7, 1, hour, tzinfo=datetime.UTC)
    reading = LiteralContext(time_zone=zone)
    assert values_of("TIMESTAMP NULL", [b"'2020-07-01 12:00:00'", b"'2020-7-1 12:00:00'"], reading)[0] == [utc, utc]


@pytest.mark.parametrize("charset, text", [
    ("latin1", b"'\xe9'"), ("binary", b"'\xc3\xa9'"), ("utf8mb3", b"'\xc3\xa9'"),
    ("latin1", b"_utf8mb4 x'c3a9'"), ("utf8mb3", b"_utf8mb4 x'c3a9'")])
def test_text_is_in_the_sessions_character_set(charset, text):
    """SET NAMES; in the set `binary`, bytes are in the column's own."""
    assert values_of("VARCHAR(9)", [text], LiteralContext(charset=charset)) == (["é"], 0)


TEXT = st.text(st.characters(codec="utf-8"), max_size=30)


def quoted(data):
    return b"'" + data.replace(b"\\", b"\\\\").replace(b"'", b"''").replace(b"\0", b"\\0") + b"'"


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(data=st.data())
def test_round_trips(data):
    """Values written as mysqldump writes them are read as they were."""
    column, values, write = data.draw(st.sampled_from([
        ("INT", st.integers(-2**31, 2**31 - 1), lambda n: b"%d" % n),
        ("BIGINT UNSIGNED", st.integers(0, 2**64 - 1), lambda n: b"%d" % n),
        ("DECIMAL(20,4)", st.decimals(-10**15, 10**15, places=4), lambda d: format(d, "f").encode()),
        ("DOUBLE", st.floats(allow_nan=False, allow_infinity=False).map(lambda f: f + 0.0), lambda f: repr(f).encode()),
        ("TEXT", TEXT, lambda text: quoted(text.encode())), ("BLOB", st.binary(max_size=40), quoted),
        ("BLOB", st.binary(min_size=1, max_size=40), lambda data: b"0x" + data.hex().encode()),
        ("DATE", st.dates(), lambda day: b"'%s'" % day.isoformat().encode()),
        ("DATETIME(6)", st.datetimes(), lambda instant: b"'%s'" % instant.isoformat(" ", "microseconds").encode()),
        ("BIT(17)", st.integers(0, 2**17 - 1), lambda n: b"b'" + format(n, "b").encode() + b"'"),
    ]))
    rows = data.draw(st.lists(st.none() | values, min_size=1, max_size=20))
    assert values_of(column, [b"NULL" if value is None else write(value) for value in rows]) == (rows, 0)
