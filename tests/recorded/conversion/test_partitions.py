"""In which partition a row is: what MySQL 9.7 and MariaDB 10.11 did with it (record_partitions.py)."""

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from applier.columns.alter.partitions import NOWHERE, partition_numbers
from applier.errors import NotComputable
from applier.mysql.types import arrow_type
from applier.mysql.values.zero_dates import ZERO_DAY, number
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import TableDefinition

RECORDED = [json.loads(line) for line in (Path(__file__).parent / "partitions.jsonl").read_text().splitlines()]
ZONE = datetime.timezone(datetime.timedelta(hours=2))


def table(columns, clause, flavour="mysql"):
    [change] = parse_statement(f"CREATE TABLE d.x ({columns}) /*!50100 PARTITION BY {clause} */", flavour=flavour,
                               time_zone="+02:00")
    return change.definition


def value(given, kind):
    if given is None:
        return None
    if pa.types.is_date(kind):
        if given == "0000-00-00" or isinstance(given, int):
            return ZERO_DAY if given == "0000-00-00" else given
        return datetime.date.fromisoformat(given)
    if pa.types.is_timestamp(kind):
        instant = datetime.datetime.fromisoformat(given)
        return instant.replace(tzinfo=ZONE) if kind.tz else instant
    return Decimal(given) if pa.types.is_decimal(kind) else given


def numbers(definition, rows):
    arrays = {}
    for place, column in enumerate(definition.stored_columns):
        kind = arrow_type(column.type)
        arrays[column.name] = pa.array([value(row[place], kind) for row in rows], kind)
    return partition_numbers(pa.table(arrays), definition, definition.partitioning).tolist()


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case['flavour']} {case['clause'][:24]}")
def test_where_the_server_put_the_row(case):
    """RANGE, LIST, their COLUMNS, HASH and KEY with LINEAR and both algorithms: NULL, negative numbers, days, datetimes
    in the session's zone, collations; the same from the definition as a manifest, or _schema.sql, has it."""
    definition = table(case["columns"], case["clause"], case["flavour"])
    assert numbers(definition, case["rows"]) == case["partitions"]
    again = TableDefinition.from_json(json.loads(json.dumps(definition.to_json())))
    assert again == definition
    [created] = parse_statement(definition.to_sql(), flavour=case["flavour"])
    assert created.definition.partitioning == definition.partitioning


@pytest.mark.parametrize(("clause", "number"), [
    ("HASH (a) PARTITIONS 7", 1), ("HASH (a MOD 5) PARTITIONS 11", 8), ("LINEAR HASH (a) PARTITIONS 3", 0),
    ("KEY (a) PARTITIONS 7", 2)])
def test_null_is_hashed_as_the_servers_do(clause, number):
    """HASH takes it for the lowest number there is; MySQL 9.7 and MariaDB 10.11, whatever row came before."""
    assert numbers(table("a INT", clause), [(None,), (None,)]) == [number, number]


def test_mariadb_hashes_the_bytes_of_a_date_and_mysql_their_weights():
    """As MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8 put them; months and days may be zero."""
    rows = [("2024-01-05",), ("2020-10-31",), ("0000-00-00",), (number(2024, 0, 5),), (number(2020, 10, 0),)]
    for flavour, places in (("mysql", [0, 1, 4, 0, 4]), ("mariadb", [4, 4, 4, 4, 2])):
        assert numbers(table("d DATE", "KEY (d) PARTITIONS 5", flavour), rows) == places


def test_rows_of_the_past_are_where_their_end_is():
    """MariaDB 10.11: by the second, from a partition's time on; what is before and after all, in the first and last."""
    [change] = parse_statement(
        "CREATE TABLE d.x (n INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME INTERVAL 1 HOUR STARTS "
        "'2026-11-20 10:00:00' (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION pn CURRENT)", flavour="mariadb",
        time_zone="+02:00")
    ends = ["2026-11-20 10:59:59.900000", "2026-11-20 11:00:00.000000", "2026-11-20 11:00:00.700000",
            "2026-11-20 12:30:00.100000", "2026-11-20 09:00:00.000000", "2038-01-19 05:14:07.999999"]
    rows = [(1, "2026-11-20 08:00:00.000000", end) for end in ends]
    assert numbers(change.definition, rows) == [0, 1, 1, 1, 0, 2]


@pytest.mark.parametrize(("interval", "begun"), [
    ("90 SECOND", "2026-11-21 16:50:20"), ("7 MINUTE", "2026-11-21 16:50:00"), ("1 DAY", "2026-11-20 22:00:00"),
    ("1 WEEK", "2026-11-20 22:00:00"), ("1 HOUR", "2026-11-21 16:00:00")])
def test_when_an_interval_begins_of_which_nothing_says_it(interval, begun):
    """MariaDB 10.11: as SHOW CREATE TABLE had it of a statement at 18:50:20 by the session's clock."""
    instant = datetime.datetime(2026, 11, 21, 16, 50, 20, 123456, datetime.UTC)
    [change] = parse_statement(f"CREATE TABLE d.x (n INT) WITH SYSTEM VERSIONING PARTITION BY SYSTEM_TIME INTERVAL "
                               f"{interval} PARTITIONS 3", flavour="mariadb", time_zone="+02:00",
                               timestamp_us=int(instant.timestamp() * 1_000_000))
    assert f"STARTS TIMESTAMP'{begun}' (" in change.definition.partitioning.sql()


def test_a_row_that_no_partition_takes():
    definition = table("a INT", "RANGE (a) (PARTITION p VALUES LESS THAN (5))")
    assert numbers(definition, [(4,), (5,)]) == [0, NOWHERE]
    definition = table("a INT", "LIST (a) (PARTITION p VALUES IN (5))")
    assert numbers(definition, [(5,), (None,)]) == [0, NOWHERE]


@pytest.mark.parametrize(("clause", "zero", "null"), [
    ("RANGE (TO_DAYS(d)) (PARTITION a VALUES LESS THAN (100), PARTITION b VALUES LESS THAN MAXVALUE)", 0, 0),
    ("RANGE (YEAR(d)) (PARTITION a VALUES LESS THAN (0), PARTITION b VALUES LESS THAN (1))", 1, 0),
    ("RANGE COLUMNS (d) (PARTITION a VALUES LESS THAN ('0000-00-00'), PARTITION b VALUES LESS THAN ('0001-01-01'))",
     1, 0),
    ("LIST COLUMNS (d) (PARTITION a VALUES IN (NULL), PARTITION b VALUES IN ('0000-00-00'))", 1, 0)])
def test_a_zero_date_is_not_null(clause, zero, null):
    """As MySQL 9.7 and MariaDB 10.11 put them."""
    assert numbers(table("d DATE", clause), [("0000-00-00",), (None,)]) == [zero, null]


@pytest.mark.parametrize(("columns", "clause", "row", "why"), [
    ("d DATE", "RANGE COLUMNS (d) (PARTITION p VALUES LESS THAN (MAXVALUE))", (number(2024, 0, 5),), "invalid date"),
    ("d DATE", "LIST (TO_DAYS(d)) (PARTITION p VALUES IN (9))", (number(2024, 2, 31),), "invalid date"),
    ("s VARCHAR(9) CHARACTER SET gbk", "KEY (s) PARTITIONS 3", ("x",), "hash of KEY"),
    ("s VARCHAR(9) CHARACTER SET gbk", "RANGE COLUMNS (s) (PARTITION p VALUES LESS THAN ('a'))", ("x",), "column s"),
    ("d DATE", "RANGE (SLEEP(d)) (PARTITION p VALUES LESS THAN (9))", ("2020-01-01",), "SLEEP"),
    ("a INT", "RANGE (b) (PARTITION p VALUES LESS THAN (9))", (1,), "no column b"),
    ("a INT", "SYSTEM_TIME LIMIT 9", (1,), "SYSTEM_TIME"),
])
def test_what_is_not_known_is_not_guessed(columns, clause, row, why):
    with pytest.raises(NotComputable, match=why):
        numbers(table(columns, clause), [row])
