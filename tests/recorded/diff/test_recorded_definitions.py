"""A table is the same as a log's CREATE TABLE has it, and as the server's dump shows it."""

import gzip
from pathlib import Path

import pytest

import applier
from applier.columns.definition_differences import differences
from applier.errors import SchemaError
from applier.schema.ddl.schema_changes import CreateTable
from applier.schema.history.alter import alter
from tests.recorded.schema.test_alter import HISTORIES, parse

RECORDED = Path(__file__).parent / "definitions"
SERVERS = {"mysql-9.7": 49, "mariadb-10.11": 53, "mariadb-11.8": 53}
"""How many tables each has."""
HASHED_BEFORE = 2
"""Statements behind which MariaDB shows no direction of a unique key that was hashed, and is no longer."""


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


def test_definitions_after_statements_and_as_they_are_shown():
    """DIFF-SAME, of thousands of random tables."""
    judged, different = 0, []
    for history in HISTORIES:
        definition = None
        for sql, shown in history["steps"]:
            try:
                change = parse(sql, history["flavour"])
                definition = change.definition if isinstance(change, CreateTable) else \
                    alter(definition, change.actions, change.context).definition
            except SchemaError:
                break
            if shown is not None:
                notes = differences(definition, parse(shown, history["flavour"]).definition)
                judged += 1
                if notes:
                    different.append((sql, notes))
                    break
    assert judged > 2900 and len(different) == HASHED_BEFORE, different
