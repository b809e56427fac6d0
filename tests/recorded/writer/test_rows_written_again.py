"""Rows of recorded snapshots, written again with applier.binlog.Writer and replayed, are the same rows."""

import pytest

import applier
import applier.binlog
from tests.support.real_server import Case, replayed

CASES = {
    "mysql-types-number-time": 0, "mysql-types-text": 1, "mariadb-types": 1, "mariadb-types-text": 1,
    "generated-columns-mysql": 0, "row-metadata-full-mariadb": 0, "wide-tables-mysql": 0,
    "compressed-mariadb": 0}
"""And how many of their tables cannot be written: with East Asian text or COMPRESSED columns."""


@pytest.mark.by_turns("compress", one_in=2)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("compress", [False, True])
def test_the_same_rows(name, compress, tmp_path):
    replayed(Case(name), tmp_path / "before")
    before = applier.Snapshot(tmp_path / "before")
    schema = tmp_path / "schema.sql"
    schema.write_text(before.schema)
    written = []
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour=before.position.flavour, schema=schema,
                               compress=compress) as log, log.transaction():
        for table in before.tables.values():
            try:
                log.insert(table.full_name, table.to_arrow())
                written.append(table.full_name)
            except applier.UsageError as error:
                assert "is not written" in str(error)
    after = applier.replay(tmp_path / "binlog.000001", tmp_path / "after", schema=schema).snapshot
    assert 0 < len(written) == len(before.tables) - CASES[name]
    for table in written:
        assert rows(before, table) == rows(after, table)


def rows(snapshot, table):
    """In no order: a table without a key has none."""
    return sorted(map(repr, snapshot.tables[table].to_arrow().to_pylist()))
