"""Versions of a lake, each published in both formats, hold what the server did at every mark."""

import pytest

import applier
from tests.support import delta_readers, iceberg_readers
from tests.support.held_rows import held
from tests.support.real_server import Case


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("name", ["ddl-mysql", "ddl-mariadb"])
def test_every_mark(name, tmp_path):
    """Files that a version shares with the one before are neither copied in the lake nor registered again."""
    case, lake = Case(name), tmp_path / "lake"
    for mark in [*case.marks, None]:
        applier.replay(case.binlogs, lake=lake, stop=None if mark is None else (mark.file, mark.offset))
        for formats in ({"iceberg": f"sqlite:///{tmp_path}/catalog.db"}, {"delta": tmp_path / "delta"}):
            published = applier.publish(lake, **formats)
            assert published.position == str(applier.Snapshot(lake).position)
        catalog, names = iceberg_readers.catalog(tmp_path), set()
        for table, rows in held(lake):
            expected = iceberg_readers.cells(rows)
            found = iceberg_readers.with_pyiceberg(catalog.load_table(table))
            assert iceberg_readers.cells(found) == expected
            found = delta_readers.with_deltalake(delta_readers.place(tmp_path / "delta", *table))
            assert iceberg_readers.cells(found) == expected
            names.add(".".join(table))
        assert iceberg_readers.names(tmp_path) == names
