"""Columns whose type an ALTER changes, in changes and histories."""

from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

import applier
from applier.writer.values import image_values
from applier.writer.wire_columns import wire_columns
from tests.unit.api.test_changes import Log

pytestmark = pytest.mark.slow


def altered(folder, before, first, after, second):
    """A log of a column with a value of one type, and then one of another."""
    log = Log(folder).create(f"CREATE TABLE t (id INT PRIMARY KEY, v {before})")
    log.insert(1, v=value(log.table, first))
    log.ddl(f"ALTER TABLE t MODIFY v {after}").as_of(f"CREATE TABLE t (id INT PRIMARY KEY, v {after})")
    return log.insert(2, v=value(log.table, second)).close()


def value(table, value):
    return image_values(pa.array([value], table_type(table)), table.columns[1], wire_columns(table)[1])


def table_type(table):
    return {"decimal": pa.decimal128(10, 2), "bit": pa.uint64()}.get(
        (kind := table.columns[1].type).base, pa.decimal128(20, 0) if kind.unsigned else pa.int64())


def test_a_column_whose_type_gets_wider_is_one(tmp_path):
    log = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY, v INT)").insert(1, v=pa.array([7], pa.int32()))
    log.ddl("ALTER TABLE t MODIFY v BIGINT").as_of("CREATE TABLE t (id INT PRIMARY KEY, v BIGINT)")
    log.insert(2, v=pa.array([1 << 40]))
    changes = applier.changes(log.close(), "d.t")
    assert changes.schema.field("v").type == pa.int64()
    assert [row["v"] for row in changes.to_arrow().to_pylist() if row["_change_type"] == "insert"] == [7, 1 << 40]


@pytest.mark.parametrize("complete", [False, True])
def test_a_column_with_two_types_is_two(tmp_path, complete):
    log = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY, v INT)").insert(1, v=pa.array([7], pa.int32()))
    log.ddl("ALTER TABLE t MODIFY v VARCHAR(10)").as_of("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))")
    log.insert(2, v=pa.array(["x"]))
    changes = applier.changes(log.close(), "d.t", complete=complete)
    assert changes.schema.names[:3] == ["id", "v", "v__1"]
    converted = [("insert", 1, "7", None)] if complete else []
    assert [tuple(row[name] for name in ("_change_type", "id", "v", "v__1")) for row in changes.to_arrow().to_pylist()
            ] == [("insert", 1, None, 7), ("alter", None, None, None), *converted, ("insert", 2, "x", None)]


@pytest.mark.parametrize("before, first, after, second", [
    ("DECIMAL(10,2)", Decimal("1.50"), "BIGINT UNSIGNED", Decimal(7)), ("BIGINT", 300, "BIT(8)", 5)])
@pytest.mark.parametrize("choice", ["decimal", "uint64"])
def test_values_that_are_told_in_other_ways_are_two_columns(tmp_path, before, first, after, second, choice):
    """An integer of a DECIMAL's line had another type than was said; 300 was one byte as Debezium has a BIT(8)."""
    changes = applier.changes(altered(tmp_path, before, first, after, second), "d.t", unsigned_bigint=choice).to_arrow()
    assert [tuple(row[name] for name in ("v", "v__1")) for row in changes.to_pylist()
            if row["_change_type"] == "insert"] == [(None, first), (second, None)]


@pytest.mark.parametrize("before, first, after, second", [
    ("BIGINT", -5, "BIGINT UNSIGNED", Decimal(5)), ("BIGINT UNSIGNED", Decimal(5), "BIGINT", -5)])
def test_a_value_below_zero_is_none_of_unsigned_ones(tmp_path, before, first, after, second):
    """It stays one column, which decimals have; uint64 stops at the value, as long does at a large one."""
    file = altered(tmp_path, before, first, after, second)
    changes = applier.changes(file, "d.t").to_arrow().to_pylist()
    assert sorted(row["v"] for row in changes if row["_change_type"] == "insert") == [-5, 5]
    if "UNSIGNED" in after:
        with pytest.raises(applier.ReplayStopped, match="-5 of column v does not fit into an unsigned BIGINT"):
            applier.changes(file, "d.t", unsigned_bigint="uint64").to_arrow()


def test_rows_after_an_alter_are_numbered_over_all_files(tmp_path):
    """By place and number each change is itself, also with a base of several files."""
    log = Log(tmp_path).create("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(3000), w INT)")
    log.insert(*range(3000), v=pa.array([b"%04d" % n * 700 for n in range(3000)]), w=pa.array(range(3000), pa.int32()))
    position = log.log.position
    file = log.ddl("ALTER TABLE t MODIFY w VARCHAR(10)").close()
    base = applier.replay(file, tmp_path / "base", stop=f"binlog.000001:{position}", target_file_size="1M").snapshot
    assert len(base.tables["d.t"].files) > 1
    changes = applier.changes(file, "d.t", base=base, complete=True, columns=["id"]).to_arrow().to_pylist()
    places = Counter((row["_pos"], row["_row"]) for row in changes)
    assert len(changes) == 3001 and max(places.values()) == 1
    [one] = [row for row in applier.changes(file, "d.t", base=base, complete=True, columns=["id"], key=2999).to_arrow(
        ).to_pylist() if row["_change_type"] == "insert"]
    assert (one["id"], one["_row"]) == (2999, 3000)
