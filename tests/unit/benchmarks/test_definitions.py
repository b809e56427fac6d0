"""The benchmark of DDL: what it measures is done, and right."""

import pyarrow.parquet as pq
import pytest

from benchmarks import definitions


def test_the_column_is_added_and_rows_are_updated(tmp_path):
    costs = definitions.added_column(str(tmp_path), 3000)
    assert all(cost.wall > 0 for cost in costs)
    [file] = (tmp_path / "added" / "out" / "d" / "t").glob("*.parquet")
    rows = pq.read_table(file, partitioning=None).sort_by("id").to_pylist()
    assert len(rows) == 3000
    assert rows[100] == {"id": 100, "k": 101, "c": "100", "n": 7}
    assert rows[101] == {"id": 101, "k": 101, "c": "101", "n": 7}


def test_the_plan_is_measured(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(definitions, "TABLES", 5)
    assert 0 < definitions.planned(str(tmp_path)) < 5
