"""Rows of tables that are partitioned by KEY ()."""

from collections import namedtuple

import pyarrow as pa
import pytest

from applier.columns.alter.rows import RowConverter
from applier.schema.history.history import SchemaHistory

Statement = namedtuple("Statement", "sql database context timestamp gtid sequences", defaults=[()])


def left_of(columns):
    """The ids of 1 to 20 that TRUNCATE PARTITION p0 leaves."""
    history = SchemaHistory("mysql", files=["b"])
    history.load_schema_file(f"CREATE DATABASE d; CREATE TABLE d.t ({columns} PARTITIONS 3;")
    history.apply(Statement("ALTER TABLE d.t TRUNCATE PARTITION p0", "d", {}, 0, "u:7"), (0, 4), (0, 9))
    rows = pa.table({"id": pa.array(range(1, 21), pa.int32())})
    return RowConverter(history.versions()[-1].conversion).convert(rows).column("id").to_pylist()


@pytest.mark.parametrize("columns", ["id INT NOT NULL, UNIQUE (id)) PARTITION BY KEY ()",
                                     "id INT PRIMARY KEY) PARTITION BY KEY ()"])
def test_key_without_columns_is_of_the_primary_key_or_of_the_unique_one_in_its_place(columns):
    """Random histories showed it on MySQL 9.7; a unique key of NOT NULL columns counts as the primary one."""
    left = left_of("id INT NOT NULL) PARTITION BY KEY (id)")
    assert 0 < len(left) < 20
    assert left_of(columns) == left
