"""Tables published in Iceberg hold what a snapshot does: at every mark, by every reader."""

import pytest

import applier
from tests.support import iceberg_readers as readers
from tests.support.held_rows import held
from tests.support.real_server import Case, differences, replayed


def published(folder, snapshot):
    return applier.publish(snapshot, iceberg=f"sqlite:///{folder}/catalog.db")


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("name", ["ddl-mysql", "ddl-mariadb", "mysql-partition-ddl", "online-change-ptosc-mariadb"])
def test_every_mark(name, tmp_path):
    """Each snapshot has the one before as its base: tables are made, altered, renamed, swapped, dropped."""
    case, base = Case(name), None
    for number, mark in enumerate([*case.marks, None]):
        out = tmp_path / f"out{number}"
        replayed(case, out, mark=mark, base=base and str(base))
        assert differences(out, case.expected(mark)) == []
        found = published(tmp_path, out)
        assert found.together and readers.names(tmp_path) == {
            table.name for table in found.tables if table.change != "dropped"}
        catalog = readers.catalog(tmp_path)
        for table, rows in held(out):
            published_table = catalog.load_table(table)
            made = readers.with_pyiceberg(published_table)
            assert not any(made[field.name].null_count for field in published_table.schema().fields if field.required)
            assert made.schema.names == rows.schema.names and readers.cells(made) == readers.cells(rows)
        assert {table.change for table in published(tmp_path, out).tables} <= {"unchanged"}
        base = out


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", ["mysql-types-number-time", "mysql-types-text", "mariadb-types"])
def test_every_type_by_every_reader(name, tmp_path):
    replayed(Case(name), tmp_path / "out")
    published(tmp_path, tmp_path / "out")
    catalog = readers.catalog(tmp_path)
    for table, rows in held(tmp_path / "out"):
        for reader in readers.READERS:
            assert readers.cells(reader(catalog.load_table(table))) == readers.cells(rows), (table, reader)
