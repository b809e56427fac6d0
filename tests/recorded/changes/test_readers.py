"""Rows, changes and versions of all types are the same through whatever reads Arrow."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from tests.support.readers import CASES, CHANGES, rows_of_case

SHAPES = {"snapshot", *CHANGES, "history"}


@pytest.fixture(scope="module", params=CASES)
def known(request, tmp_path_factory):
    """Rows of a case's tables, and their values in Arrow."""
    return [(rows, rows.values) for rows in rows_of_case(request.param, tmp_path_factory.mktemp("readers"))]


def by_duckdb(rows):
    found = duckdb.sql("SELECT * FROM rows")
    values = zip(*found.fetchall(), strict=True) if len(found) else [[]] * len(found.columns)
    return {name: list(of_column) for name, of_column in zip(found.columns, values, strict=True)}


def by_pandas(rows):
    return pa.Table.from_pandas(rows.to_pandas(), preserve_index=False).to_pydict()


READERS = {
    "pyarrow": lambda rows: pa.table(rows).to_pydict(),
    "duckdb": by_duckdb,
    "polars": lambda rows: pl.DataFrame(rows).to_dict(as_series=False),
    "pandas": by_pandas,
}


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_gets_the_same_values(known, reader):
    """A database's TIMEs come as intervals of DuckDB's. pandas has no integers beside nulls: they become floats."""
    seen = set()
    for rows, values in known:
        expected = dict(values)
        if reader == "pandas":
            for field in rows.rows.schema:
                if pa.types.is_integer(field.type) and None in values[field.name]:
                    expected[field.name] = [None if value is None else float(value) for value in values[field.name]]
        assert READERS[reader](rows.rows) == expected, (rows.table, rows.shape)
        seen |= {rows.shape} if any(values.values()) else set()
    assert seen == SHAPES
