"""Tables published in Delta hold what a snapshot does: at every mark, by every reader."""

import pytest

import applier
from tests.support import delta_readers as readers
from tests.support.held_rows import held
from tests.support.iceberg_readers import cells
from tests.support.real_server import Case, replayed


def published(folder, snapshot):
    return applier.publish(snapshot, delta=folder / "delta")


@pytest.mark.parametrize("name", ["ddl-mysql", "mysql-partition-ddl", "online-change-ptosc-mariadb"])
def test_every_mark(name, tmp_path):
    """Each snapshot has the one before as its base: tables are made, altered, renamed, swapped, dropped."""
    case, base = Case(name), None
    for number, mark in enumerate([*case.marks, None]):
        out = tmp_path / f"out{number}"
        replayed(case, out, mark=mark, base=base and str(base))
        found = published(tmp_path, out)
        live = set()
        for table, rows in held(out):
            live.add(".".join(table))
            made = readers.with_deltalake(readers.place(tmp_path / "delta", *table))
            assert made.schema.names == rows.schema.names and cells(made) == cells(rows)
        assert {table.name for table in found.tables if table.change != "dropped"} == live
        assert {table.change for table in published(tmp_path, out).tables} <= {"unchanged"}
        base = out


@pytest.mark.parametrize("name", ["mysql-types-number-time", "mysql-types-text", "mariadb-types", "zero-dates-mysql"])
def test_every_type_by_every_reader(name, tmp_path):
    replayed(Case(name), tmp_path / "out")
    published(tmp_path, tmp_path / "out")
    for table, rows in held(tmp_path / "out"):
        for reader in readers.READERS:
            found = reader(readers.place(tmp_path / "delta", *table))
            assert found.schema.names == rows.schema.names and cells(found) == cells(rows), (table, reader)
