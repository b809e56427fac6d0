"""What an INSERT that leaves a column out gets (DEF-R1a, DEF-R1b): judged by what real replicas held."""

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.columns.defaults import default_scalar, generated_values
from applier.errors import NotComputable, SchemaError
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.mysql.values.zero_dates import as_nulls, to_python
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.history import SchemaHistory
from applier.sql.evaluator import evaluate, no_columns
from tests.support.folders import CASES


def default(text, **session):
    [change] = parse_statement(f"CREATE TABLE d.t (v {text})", **session)
    column = change.definition.columns[0]
    scalar = default_scalar(column, change.definition)
    assert scalar.type == arrow_type(column.type)
    return to_python(pa.repeat(scalar, 1))[0]


@pytest.mark.parametrize(("case", "table"), [
    ("target-columns-full", "tc.more"), ("target-columns-full", "tc.more_expr"),
    ("mariadb-target-columns-full", "tc.more"), ("target-notnull-extra", "nn.t"),
    ("target-notnull-extra-json", "nn.t"), ("target-notnull-extra-dates", "nn.t"),
])
def test_columns_that_only_the_replica_has(case, table):
    """DEF-R1a: the source does not have these columns, so a real replica gave an inserted row its own defaults."""
    folder = CASES / case
    history = SchemaHistory(json.loads((folder / "case.json").read_text())["server"])
    history.load_schema_file((folder / "target.sql").read_text())
    definition = next(found for found in history.definitions() if found.full_name == table)
    with (folder / f"expected/{table}.jsonl").open() as lines:
        names = [name for name, _ in json.loads(lines.readline())]
        rows = [dict(zip(names, json.loads(line))) for line in lines]
    defaults = {column.name: as_in_expected(as_nulls(pa.repeat(default_scalar(column, definition), 1))[0].as_py(),
                                          column.type.base)
                for column in definition.stored_columns[2:]}
    differences = [{name: (row[name], value) for name, value in defaults.items() if row[name] != value} for row in rows]
    assert {} in differences, differences


def as_in_expected(value, base):
    if value is None:
        return None
    if base == "decimal":
        return str(value)
    if base in ("float", "double"):
        return repr(value)
    if base == "time":
        return value // datetime.timedelta(microseconds=1)
    if base == "json":
        return json.dumps(json.loads(value), sort_keys=True, ensure_ascii=False)
    if base == "datetime":
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")
    if base == "date":
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else int(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize(("text", "expected"), [
    ("INT", None), ("INT NOT NULL", 0), ("INT DEFAULT '7'", 7), ("INT DEFAULT 2.5", 3), ("INT DEFAULT -2.5", -3),
    ("TINYINT UNSIGNED DEFAULT 0xFF", 255), ("BIGINT UNSIGNED DEFAULT 18446744073709551615", Decimal(2**64 - 1)),
    ("INT DEFAULT (1 + 2 * (3))", 7), ("INT DEFAULT (-7 DIV 2)", -3), ("INT DEFAULT (TRUE)", 1),
    ("INT DEFAULT (NULL)", None),
    ("DECIMAL(5,2) DEFAULT 1.005", Decimal("1.01")),
    ("DECIMAL(65,30) DEFAULT 99999999999999999999999999999999999.5", "9" * 35 + ".5" + "0" * 29),
    ("FLOAT DEFAULT 1.5e3", 1500.0), ("DOUBLE(5,1) DEFAULT 1.26", 1.3), ("DOUBLE DEFAULT (1e2)", 100.0),
    ("BIT(9) DEFAULT b'100000001'", 257), ("BIT(64) NOT NULL", Decimal(0)), ("BIT(8) DEFAULT 'A'", 65),
    ("CHAR(5) DEFAULT 'a  '", "a"), ("VARCHAR(5) DEFAULT 'a  '", "a  "), ("VARCHAR(5) DEFAULT 1.50", "1.50"),
    ("VARCHAR(9) CHARACTER SET latin1 DEFAULT x'80E9'", "€é"), ("TEXT NOT NULL", ""),
    ("VARCHAR(9) DEFAULT (CONCAT(UPPER('a'), REPEAT('b', 2), 3))", "Abb3"),
    ("BINARY(3) DEFAULT 'a'", b"a\0\0"), ("BINARY(2) NOT NULL", b"\0\0"), ("VARBINARY(3) DEFAULT x'00'", b"\0"),
    ("BLOB DEFAULT (x'00ff')", b"\0\xff"), ("BLOB DEFAULT (UNHEX('4142'))", b"AB"),
    ("DATE DEFAULT '2020-2-3'", datetime.date(2020, 2, 3)), ("DATE DEFAULT 20200203", datetime.date(2020, 2, 3)),
    ("DATE DEFAULT '1.2.3'", datetime.date(2001, 2, 3)), ("DATE DEFAULT '1-2.3'", datetime.date(1, 2, 3)),
    ("DATE DEFAULT '0.1.2'", datetime.date(2000, 1, 2)), ("DATE DEFAULT '0.0.0'", "0000-00-00"),
    ("DATE NOT NULL", "0000-00-00"), ("DATE DEFAULT '0000-00-00'", "0000-00-00"),
    ("DATE DEFAULT '2020-00-01'", "2020-00-01"), ("DATE DEFAULT 0", "0000-00-00"),
    ("DATETIME(2) DEFAULT '2020-01-02 03:04:05.678'", datetime.datetime(2020, 1, 2, 3, 4, 5, 680_000)),
    ("DATETIME DEFAULT '2020-12-31 23:59:59.5'", datetime.datetime(2021, 1, 1)),
    ("DATETIME DEFAULT 20200102030405", datetime.datetime(2020, 1, 2, 3, 4, 5)),
    ("DATETIME DEFAULT '2020-01-02'", datetime.datetime(2020, 1, 2)),
    ("TIMESTAMP DEFAULT '2020-01-02 03:04:05'", datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
    ("TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00'", "0000-00-00 00:00:00.000000"),
    ("TIME DEFAULT '-838:59:59'", -datetime.timedelta(hours=838, minutes=59, seconds=59)),
    ("TIME(1) DEFAULT '1 02:03:04.56'", datetime.timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=600)),
    ("TIME DEFAULT 10203", datetime.timedelta(hours=1, minutes=2, seconds=3)),
    ("TIME NOT NULL", datetime.timedelta(0)),
    ("YEAR DEFAULT 2001", 2001), ("YEAR DEFAULT '70'", 1970), ("YEAR DEFAULT 69", 2069), ("YEAR NOT NULL", 0),
    ("ENUM('x','Y') NOT NULL", "x"), ("ENUM('x','Y') DEFAULT 'y'", "Y"), ("ENUM('x','y') DEFAULT 2", "y"),
    ("SET('a','b','c') DEFAULT 'c,a'", "a,c"), ("SET('a','b') NOT NULL", ""),
    ("SET('a','b','c') DEFAULT '5'", "a,c"),
    ("JSON NOT NULL", "null"), ("JSON DEFAULT (JSON_OBJECT('bb', 1, 'a', JSON_ARRAY(TRUE, NULL, 1.50)))",
                                '{"a": [true, null, 1.50], "bb": 1}'),
    ("JSON DEFAULT ('{\"b\": 1e100}')", '{"b": 1e100}'), ("JSON DEFAULT (CAST('[]' AS JSON))", "[]"),
    ("JSON DEFAULT (JSON_ARRAY())", "[]"), ("JSON DEFAULT (JSON_OBJECT())", "{}"), ("JSON DEFAULT (NULL)", None),
    ("BIT(64) DEFAULT '12'", Decimal(0x3132)), ("BIT(8) DEFAULT '1'", 49), ("BIT(8) DEFAULT 1e0", 1),
    ("BIT(64) DEFAULT -1", Decimal(2**64 - 1)), ("DOUBLE DEFAULT b'101'", 5.0), ("FLOAT DEFAULT 0x7F", 127.0),
    ("DECIMAL(65,30) DEFAULT -0.0", "0." + "0" * 30), ("VARCHAR(9) DEFAULT 1e2", "100"), ("TEXT DEFAULT (1e2)", "100"),
    ("VARCHAR(9) DEFAULT 1.5e-3", "0.0015"), ("CHAR(9) DEFAULT 007", "7"), ("BINARY(3) DEFAULT .5", b"0.5"),
    ("VARBINARY(3) DEFAULT 1.", b"1"), ("VARCHAR(9) DEFAULT _latin1 x'E4'", "ä"),
    ("VARBINARY(9) DEFAULT _latin1 x'E4'", b"\xe4"), ("VARCHAR(9) DEFAULT _utf8mb4'ä'", "ä"),
    ("VARCHAR(3) CHARACTER SET sjis DEFAULT x'8140'", "\u3000"), ("VARCHAR(9) DEFAULT (_sjis x'8140')", "\u3000"),
    ("VARCHAR(9) DEFAULT _latin1'ä'", "Ã¤"), ("VARBINARY(9) DEFAULT _latin1'ä'", b"\xc3\xa4"),
    ("YEAR DEFAULT '0'", 2000),
    ("YEAR DEFAULT 00", 0), ("YEAR DEFAULT '0000'", 0), ("YEAR DEFAULT 5", 2005), ("YEAR DEFAULT 1999.5", 2000),
    ("YEAR DEFAULT x'07D0'", 2000), ("DATE DEFAULT '1-2-3'", datetime.date(1, 2, 3)),
    ("DATE DEFAULT '20-1-2'", datetime.date(2020, 1, 2)), ("DATE DEFAULT 101", datetime.date(2000, 1, 1)),
    ("DATE DEFAULT 70101", datetime.date(2007, 1, 1)), ("DATE DEFAULT '20200102'", datetime.date(2020, 1, 2)),
    ("DATE DEFAULT '2020-12-31 23:59:59.9'", datetime.date(2021, 1, 1)),
    ("DATETIME DEFAULT '2020-01-02 03'", datetime.datetime(2020, 1, 2, 3)),
    ("DATETIME(6) DEFAULT '2020-01-02 23:59:59.9999999'", datetime.datetime(2020, 1, 3)),
    ("TIMESTAMP DEFAULT '2020-1-2 3:4'", datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.UTC)),
    ("TIMESTAMP DEFAULT 20200102030405", datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)),
    ("TIME DEFAULT '1 02'", datetime.timedelta(hours=26)), ("TIME DEFAULT 1.5", datetime.timedelta(seconds=2)),
    ("TIME DEFAULT '20200102030405'", datetime.timedelta(hours=3, minutes=4, seconds=5)),
    ("POINT NOT NULL", b""), ("VECTOR(2) DEFAULT (x'0000803F00000040')", [1.0, 2.0]),
])
def test_default(text, expected):
    assert default(text) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("INET6 NOT NULL", "::"), ("INET4 DEFAULT '1.2.3.4'", "1.2.3.4"), ("JSON DEFAULT '{\"d\":[1]}'", '{"d":[1]}'),
    ("UUID NOT NULL", "00000000-0000-0000-0000-000000000000"),
    ("UUID DEFAULT '123E4567e89b12d3a456426655440000'", "123e4567-e89b-12d3-a456-426655440000"),
    ("INET6 DEFAULT 'FE80::A'", "fe80::a"), ("ENUM('a','B','2') DEFAULT 2", "B"),
    ("DATETIME DEFAULT '2020-12-31 23:59:59.9'", datetime.datetime(2020, 12, 31, 23, 59, 59)),
    ("TIME(1) DEFAULT '-12:00:00.59'", -datetime.timedelta(hours=12, milliseconds=500)),
])
def test_default_of_mariadb(text, expected):
    assert default(text, flavour="mariadb") == expected


@pytest.mark.parametrize(("text", "why"), [
    ("DATETIME DEFAULT CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"), ("CHAR(36) DEFAULT (UUID())", "UUID"),
    ("INT DEFAULT (a + 1)", "a"), ("INT AS (1) STORED", "generated"),
    ("INT AUTO_INCREMENT PRIMARY KEY", "AUTO_INCREMENT"),
    ("INT DEFAULT 'x'", "x"), ("TINYINT DEFAULT 1000", "1000"), ("ENUM('a') DEFAULT 'b'", "not a member"),
    ("DATE DEFAULT 'today'", "'today' as DATE"),
    ("BIGINT UNSIGNED DEFAULT (-1)", "out of the range"), ("BIT(8) DEFAULT (2000)", "out of the range"),
    ("BINARY(3) DEFAULT ('abcd')", "longer"), ("DOUBLE DEFAULT (JSON_ARRAY())", "as a number"),
    ("INT DEFAULT (UNHEX('41'))", "not a number"),
    ("JSON DEFAULT ('{')", "object member"),
])
def test_defaults_that_cannot_be_computed(text, why):
    with pytest.raises(SchemaError, match="column v") as caught:
        default(text)
    assert why in caught.value.message
    assert caught.value.table == "d.t"


@pytest.mark.parametrize("text", ["'9999-12-31 23:30:00'", "'0001-01-01 00:30:00'", "'9999-12-31 23:30:00-01:00'"])
@pytest.mark.parametrize("zone", ["-03:00", "+05:30"])
@pytest.mark.parametrize("kind", ["TIMESTAMP", "DATETIME"])
def test_a_time_outside_of_all_years_in_another_zone(kind, zone, text):
    """No server has such a default of a TIMESTAMP; the statement is read all the same."""
    for flavour in ("mysql", "mariadb"):
        [change] = parse_statement(f"CREATE TABLE t (v {kind} DEFAULT {text})", default_database="d", flavour=flavour,
                                   time_zone=zone)
        assert change.definition.column("v").default is not None


def test_a_date_with_several_marks_in_a_row():
    """MySQL reads it, MariaDB does not."""
    assert default("DATE DEFAULT '2020--1.-2'") == datetime.date(2020, 1, 2)
    assert default("DATE DEFAULT '123.4.5'") == datetime.date(2012, 3, 4)
    with pytest.raises(SchemaError, match="'2020--1-2' as DATE"):
        default("DATE DEFAULT '2020--1-2'", flavour="mariadb")


@pytest.mark.parametrize(("text", "zero"), [("'-0'", -0.0), ("-0e0", -0.0), ("-0.0", 0.0)])
def test_the_sign_of_zero(text, zero):
    """MySQL keeps it but in exact numbers, MariaDB never does."""
    assert str(default(f"DOUBLE DEFAULT {text}")) == str(zero)
    assert str(default(f"DOUBLE DEFAULT {text}", flavour="mariadb")) == "0.0"


@pytest.mark.parametrize("text", ["'2020-01-02 03:04:05'", "20200102030405", "'2020-1-2 3:4:5'"])
def test_a_timestamp_in_the_sessions_zone(text):
    """As a number too, and in forms that ISO 8601 does not know."""
    expected = datetime.datetime(2020, 1, 1, 21, 34, 5, tzinfo=datetime.UTC)
    assert default(f"TIMESTAMP DEFAULT {text}", time_zone="+05:30") == expected


def test_a_timestamp_in_the_servers_own_zone():
    with pytest.raises(SchemaError, match="own time zone"):
        default("TIMESTAMP DEFAULT '2020-01-02 03:04:05'", time_zone="SYSTEM")


def test_constant_expressions():
    def value(sql):
        return evaluate(sql, no_columns, 1, Session()).values[0].as_py()

    assert value("- (1 + '2') * 3") == -9
    assert value("_utf8mb4'x'") == "x"
    assert value("JSON_OBJECT('é', JSON_ARRAY(1.5, FALSE))") == '{"é": [1.5, false]}'
    assert value("UNHEX('zz')") is None
    for sql in ("RAND()", "1 +", "CONCAT(a)", "(SELECT 1)", "(" * 200 + "1" + ")" * 200, "-" * 300 + "1",
                "1" + "+1" * 5000):
        with pytest.raises(NotComputable):
            value(sql)


def definition_of(columns):
    [change] = parse_statement(f"CREATE TABLE d.t (id INT, {columns})")
    return change.definition


def chain(n, clause):
    """Columns of which each is made of the one behind it, twice."""
    return ", ".join(f"c{i} INT {clause} (c{i + 1} - c{i + 1} + {i})" for i in range(n)) + f", c{n} INT DEFAULT 1"


def test_columns_that_are_made_of_others_are_made_once():
    """Not once for each time that they are named, which doubles with every column."""
    defaults = definition_of(chain(50, "DEFAULT"))
    assert default_scalar(defaults.column("c0"), defaults).as_py() == 0
    virtual = definition_of(chain(50, "AS") + ", g INT AS (c7) STORED")
    made = generated_values(virtual.column("g"), virtual, {"c50": pa.array([1, 2])}.__getitem__, 2)
    assert made.to_pylist() == [7, 7]


@pytest.mark.parametrize("columns", [
    "a INT AS (b) VIRTUAL, b INT AS (a) VIRTUAL, g INT AS (a + 1) STORED",
    chain(2000, "AS") + ", g INT AS (c0) STORED"])
def test_columns_that_are_made_of_themselves_or_of_too_many(columns):
    """Which no server has, or a hostile log: no traceback."""
    definition = definition_of(columns)
    with pytest.raises(NotComputable):
        generated_values(definition.column("g"), definition, {"c2000": pa.array([1])}.__getitem__, 1)


@pytest.mark.parametrize("columns", ["a INT DEFAULT (b), b INT DEFAULT (c), c INT DEFAULT (b)", chain(2000, "DEFAULT")])
def test_defaults_that_are_made_of_themselves_or_of_too_many(columns):
    definition = definition_of(columns)
    with pytest.raises(SchemaError):
        default_scalar(definition.columns[1], definition)
