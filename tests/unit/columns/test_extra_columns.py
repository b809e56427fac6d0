"""Columns that only the replica has: generated ones follow the row, AUTO_INCREMENT continues from the base's
highest."""

import numpy as np
import pyarrow as pa
import pytest

from applier.columns.extra_columns import ExtraColumns
from applier.errors import SchemaError
from applier.schema.ddl.ddl import parse_statement


def definition(columns):
    [change] = parse_statement(f"CREATE TABLE d.t ({columns})")
    return change.definition


def test_generated_columns_follow_the_row():
    """DEF-R2: an update leaves extra columns, but the engine makes a STORED one again."""
    table = definition("id INT PRIMARY KEY, v VARCHAR(9), g INT AS (id * 3) VIRTUAL, s BIGINT AS (g + 1) STORED, "
                       "l VARCHAR(20) AS (CONCAT(v, '!')) STORED")
    rows = pa.table({"id": pa.array([1, 5], pa.int32()), "v": ["a", None], "s": pa.array([None, 7], pa.int64()),
                     "l": pa.array(["old", None])})
    made = ExtraColumns(table, 2).generated(rows)
    assert made.to_pylist() == [{"id": 1, "v": "a", "s": 4, "l": "a!"}, {"id": 5, "v": None, "s": 16, "l": None}]
    assert made.schema == rows.schema
    assert ExtraColumns(table, 5).generated(rows) is rows


def test_an_expression_that_is_not_known_stops():
    table = definition("id INT PRIMARY KEY, s INT AS (SLEEP(id)) STORED")
    with pytest.raises(SchemaError, match="generated from"):
        ExtraColumns(table, 1).generated(pa.table({"id": pa.array([1]), "s": pa.array([0], pa.int32())}))


@pytest.mark.parametrize("there, given, first", [
    ([5, 7], 1, 8), ([], 1, 1), ([-3], 1, 1), ([5], 50, 50), ([60], 50, 61)])
def test_rows_that_come_are_numbered(there, given, first):
    """AP-VAL does not hold: the log has no value, so the engine's counter gives it, to rows that go again, too."""
    table = definition("id INT PRIMARY KEY, n SMALLINT NOT NULL AUTO_INCREMENT UNIQUE")
    base = pa.table({"id": pa.array(range(len(there)), pa.int32()), "n": pa.array(there, pa.int16())})
    numbers = ExtraColumns(table, 1).numbers(base, given)
    n = len(there)
    rows = pa.table({"id": pa.array(range(n + 2), pa.int32()), "n": pa.array([*there, None, None], pa.int16())})
    arrivals = np.array([*range(n), n, n + 3])  # two between them came and went
    assert numbers.number(rows, arrivals).column("n").to_pylist() == [*there, first, first + 3]
    assert numbers.after(n + 4) == first + 4
    assert ExtraColumns(table, 2).numbers(base, 1) is None


@pytest.mark.parametrize("key, place", [
    ("PRIMARY KEY (n)", 0), ("PRIMARY KEY (n, id)", 0), ("UNIQUE (n)", None), ("PRIMARY KEY (id, N), KEY (n)", 1)])
def test_the_number_as_a_part_of_the_key(key, place):
    assert ExtraColumns(definition(f"id INT, n INT AUTO_INCREMENT, {key}"), 1).number_in_key == place
    assert ExtraColumns(definition(f"id INT, n INT AUTO_INCREMENT, {key}"), 2).number_in_key is None


def test_numbers_of_each_group_stop():
    """Of MyISAM alone, which gives each id numbers from 1 on."""
    with pytest.raises(SchemaError, match="column n numbers the rows of each group by itself"):
        ExtraColumns(definition("id INT, n INT AUTO_INCREMENT, PRIMARY KEY (id, n)"), 1).number_in_key  # noqa: B018
