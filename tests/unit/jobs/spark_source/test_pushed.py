"""Filters of a query spare decoding, and no change that passes them is lost."""

from datetime import UTC, datetime
from functools import cache

import pyarrow as pa
import pytest
from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from applier.errors import UsageError
from applier.jobs.spark_source.options import parse
from applier.jobs.spark_source.source import BinlogReader
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.real_server import Case

GTID = "20810cc3-e548-11f1-a5e4-02fc00000001"
VERSION = 2 << 40 | 745606
"""The commit version of the last transaction before 10:30."""
TIME = datetime(2026, 3, 14, 10, 30, tzinfo=UTC)
VERSIONS, TIMES = ("_commit_version",), ("_commit_timestamp",)
HOLDS = {
    EqualTo: lambda value, wanted: value == wanted, In: lambda value, wanted: value in wanted,
    GreaterThan: lambda value, wanted: value > wanted, GreaterThanOrEqual: lambda value, wanted: value >= wanted,
    LessThan: lambda value, wanted: value < wanted, LessThanOrEqual: lambda value, wanted: value <= wanted,
    StringStartsWith: lambda value, wanted: value.startswith(wanted),
}


def rows(filters, path=ARCHIVE, **options):
    """What is read for a query with these filters."""
    reader = BinlogReader(parse({"path": str(path), "partitionBytes": "1M", **options}))
    assert list(reader.pushFilters(filters)) == filters, "Spark looks at each row, too"
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def passes(row, filter):
    if isinstance(filter, Not):
        return not passes(row, filter.child)
    value = row[filter.attribute[0]]
    return value is not None and HOLDS[type(filter)](value, filter.value)


@cache
def all_rows(table=None):
    """What is read for a query without filters."""
    return rows([], **({"table": table} if table else {}))


EXACT = [
    [EqualTo(("_table",), "shop.stock")],
    [In(("_table",), ("shop.stock", "shop.nothing"))],
    [In(("_table",), ("shop.stock", "shop.orders")), EqualTo(("_table",), "shop.orders")],
    [EqualTo(("_gtid",), f"{GTID}:14")],
    [In(("_gtid",), (f"{GTID}:14", None))],
    [In(("_gtid",), (f"{GTID}:14", f"{GTID}:2400")), EqualTo(("_table",), "shop.orders")],
    [GreaterThan(VERSIONS, VERSION)], [GreaterThanOrEqual(VERSIONS, VERSION)],
    [LessThan(VERSIONS, VERSION)], [LessThanOrEqual(VERSIONS, VERSION)], [EqualTo(VERSIONS, VERSION)],
    [GreaterThan(VERSIONS, VERSION - 5000), LessThanOrEqual(VERSIONS, VERSION), LessThan(VERSIONS, 1 << 60)],
    [GreaterThan(TIMES, TIME)], [GreaterThanOrEqual(TIMES, TIME)], [LessThan(TIMES, TIME)],
    [LessThanOrEqual(TIMES, TIME)],
]


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("filters", EXACT, ids=str)
def test_what_is_read_is_what_passes(filters):
    """In a session, a time has a zone."""
    assert rows(filters) == [row for row in all_rows() if all(passes(row, filter) for filter in filters)]


@pytest.mark.parametrize("filters", [
    [Not(EqualTo(("_table",), "shop.stock"))], [EqualTo(("_gtid",), "no GTID")], [StringStartsWith(("_table",), "s")],
    [LessThan(TIMES, TIME.replace(tzinfo=None))], [EqualTo(("before",), "{}")],
    [EqualTo(("_table", "x"), "shop.stock")], [In(("_gtid",), (None,))],
], ids=str)
def test_other_filters_are_left_to_spark(filters):
    assert rows(filters) == all_rows()


@pytest.mark.parametrize("table, filters", [
    ("shop.orders", [EqualTo(("id",), 5)]), ("shop.orders", [In(("id",), (5, 7, 99))]),
    ("shop.orders", [EqualTo(("id",), 5), EqualTo(("status",), "paid")]),
    ("shop.orders", [In(("id",), (5, 7)), LessThan(VERSIONS, VERSION)]),
    ("shop.stock", [EqualTo(("sku",), "OU00004"), In(("warehouse",), (1, 3))]),
    ("shop.stock", [EqualTo(("sku",), "\N{SNOWMAN}"), EqualTo(("warehouse",), 3)])], ids=str)
def test_keys_of_a_table_choose_rows(table, filters):
    """Of an update, both images are read, of which Spark may want one."""
    found = rows(filters, table=table)
    assert len(found) < 500 and [row for row in found if all(passes(row, filter) for filter in filters)] == [
        row for row in all_rows(table) if all(passes(row, filter) for filter in filters)]


@pytest.mark.parametrize("filters", [
    [EqualTo(("sku",), "OU00004")], [EqualTo(("sku",), "OU00004"), EqualTo(("warehouse",), 3000)],
    [EqualTo(("units",), 3)], [EqualTo(("sku",), 4), EqualTo(("warehouse",), 3)]], ids=str)
def test_what_is_not_the_whole_key_or_no_value_of_it_chooses_none(filters):
    assert rows(filters, table="shop.stock") == all_rows("shop.stock")


def test_a_key_that_is_another_than_it_was_chooses_none(tmp_path):
    """Minimal images from before the ALTER do not have it."""
    made = "CREATE TABLE d.t (a INT PRIMARY KEY, b INT NOT NULL, v INT)"
    one, ten = pa.array([1], pa.int32()), pa.array([10], pa.int32())
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        log.query("CREATE DATABASE d")
        log.query(made)
        table = parse_statement(made, default_database="d", flavour="mysql")[0].definition
        log.transactions([RowChanges(table, after={"a": one, "b": ten, "v": one}),
                          RowChanges(table, before={"a": one}, after={"v": ten})])
        log.query("ALTER TABLE d.t DROP PRIMARY KEY, ADD PRIMARY KEY (b)")
    found = rows([EqualTo(("b",), 10)], tmp_path, table="d.t")
    assert found == rows([], tmp_path, table="d.t") and len(found) == 3


@pytest.mark.parametrize("options, says", [
    ({"unsignedBigint": "uint64", "table": "a.b"}, "Spark has no type uint64"),
    ({"unsignedBigint": "long"}, "name a table"), ({"unsignedBigint": "short", "table": "a.b"}, "cannot be 'short'")])
def test_types_of_unsigned_bigints_that_spark_does_not_have(options, says):
    with pytest.raises(UsageError, match=says):
        parse({"path": "logs", **options})


def test_transactions_that_are_chosen_already_stay_chosen():
    option = {"gtids": f"{GTID}:14"}
    assert rows([EqualTo(("_gtid",), f"{GTID}:15")], **option) == rows([], **option) != []


def test_versions_of_xa_transactions_are_those_of_their_commits():
    """Whatever their place in the log."""
    archive = Case("transactions-mysql").binlogs[0].parent
    everything = rows([], archive)
    for version in {row["_commit_version"] for row in everything}:
        for kind in (LessThanOrEqual, GreaterThanOrEqual, EqualTo):
            filter = kind(VERSIONS, version)
            assert rows([filter], archive) == [row for row in everything if passes(row, filter)], version
