"""A table is the same as a log's CREATE TABLE has it, and as the server's dump shows it."""

import gzip
from pathlib import Path

import pytest

import applier

RECORDED = Path(__file__).parent / "definitions"
SERVERS = {"mysql-9.7": 49, "mariadb-10.11": 53, "mariadb-11.8": 53}
"""How many tables each has."""


@pytest.mark.parametrize("name", SERVERS)
def test_written_and_shown_definitions_are_the_same(name, tmp_path):
    for file, ending in (("binlog.000001", "binlog"), ("dump.sql", "sql")):
        (tmp_path / file).write_bytes(gzip.decompress((RECORDED / f"{name}.{ending}.gz").read_bytes()))
    shown = applier.import_dump(tmp_path / "dump.sql", tmp_path / "shown").snapshot
    written = applier.replay(tmp_path / "binlog.000001", tmp_path / "written", engine="local").snapshot
    for sides in ((shown, written), (written, shown)):
        found = applier.diff(*sides)
        assert len(found.tables) == SERVERS[name]
        assert {table.full_name: table.notes for table in found.tables.values() if table.notes} == {}
        statements = b"".join(found.sql(definitions=True))
        assert b"DROP" not in statements and b"CREATE" not in statements and not found.repair().not_repaired
