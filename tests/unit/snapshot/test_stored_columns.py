"""What files have for columns: types that all readers take, and numbers."""

import decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.schema.column_ids import numbered
from applier.schema.definition import table_schema
from applier.schema.history.history import SchemaHistory
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.file_settings import FileSettings
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.reader import read_unit
from applier.snapshot.writer import TableTarget, TableWriter, write_empty


@pytest.fixture
def definition():
    history = SchemaHistory("mysql")
    history.load_schema_file("CREATE TABLE d.t (id INT PRIMARY KEY, span TIME(6), list VECTOR(2), big BIGINT UNSIGNED)")
    return next(iter(history.definitions()))


@pytest.fixture
def rows(definition):
    return pa.table({"id": [1, 2], "span": [-3020399000000, None], "list": [[1.0, 2.0], None],
                     "big": [decimal.Decimal(2**64 - 1), decimal.Decimal(0)]}).cast(table_schema(definition))


def test_a_file(tmp_path, definition, rows):
    """Without Arrow's own types in the footer, which would say a duration."""
    (tmp_path / "d/t").mkdir(parents=True)
    settings = FileSettings(unsigned_bigint="uint64")
    with TableWriter(TableTarget(str(tmp_path), "d/t", settings), 0, rows.schema, key=["id"],
                     key_kind="int", columns=StoredColumns.of(definition)) as writer:
        writer.write(rows)
        files = writer.close()
    path = tmp_path / files[0].path
    found = pq.read_schema(path)
    assert [str(field.type) for field in found] == ["int32", "int64", "list<element: float>", "uint64"]
    assert [field.metadata[b"PARQUET:field_id"] for field in found] == [b"1", b"2", b"3", b"5"]
    assert found.field("list").type.value_field.metadata == {b"PARQUET:field_id": b"4"}
    assert b"ARROW:schema" not in (pq.read_metadata(path).metadata or {})
    assert read_unit(str(tmp_path), files, rows.schema).equals(rows)
    expected = [(1, -3020399000000, [1.0, 2.0], 2**64 - 1), (2, None, None, 0)]
    assert pl.read_parquet(path).rows() == expected
    assert [(*row[:2], row[2] and list(row[2]), row[3])
            for row in duckdb.sql(f"SELECT * FROM '{path}'").fetchall()] == expected


def test_a_file_of_an_older_program(tmp_path, rows):
    """It has durations, no numbers, and Arrow's types in its footer."""
    pq.write_table(rows, tmp_path / "old.parquet")
    file = FileEntry("old.parquet", 2, (tmp_path / "old.parquet").stat().st_size, 1, 2)
    assert read_unit(str(tmp_path), [file], rows.schema).equals(rows)


def test_columns_without_numbers_get_them(definition, rows):
    """As a manifest's of an older program do; an empty file has them, too."""
    again, last = numbered(definition, 100)
    assert again is definition and last == 100


def test_an_empty_file(tmp_path, definition, rows):
    (tmp_path / "d/t").mkdir(parents=True)
    file = write_empty(TableTarget(str(tmp_path), "d/t"), rows.schema, ["id"], StoredColumns.of(definition))
    found = pq.read_schema(tmp_path / file.path)
    assert [field.metadata[b"PARQUET:field_id"] for field in found] == [b"1", b"2", b"3", b"5"]
