"""Writes the files of a unit: its rows in key order, or, in a table without a key, in the order of arrival.

A system-versioned table has two sets of files: the current rows, for readers, and all rows with both their times, from
which a later replay continues.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import pyarrow as pa

from applier.columns.alter.versions import rows_shown
from applier.columns.table_key import table_key
from applier.schema.definition import TableDefinition, table_schema
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.writer import TableTarget, TableWriter


@dataclasses.dataclass(frozen=True)
class Written:
    """`files` has the files of the rows, None if nothing is written; `history`, of a versioned table, the files of all
    rows. `zero_dates` counts the invalid dates in files, by path and column."""

    files: tuple[FileEntry, ...] | None
    history: tuple[FileEntry, ...] = ()
    zero_dates: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)


def write_unit(target: TableTarget, unit: int, definition: TableDefinition, rows: Iterable[pa.Table]) -> Written:
    """Write the rows of a unit of a table, which come in the order of its key; `unit` is its number."""
    if definition.versioning is None:
        with table_writer(target, unit, definition) as writer:
            for chunk in rows:
                writer.write(chunk)
            return Written(tuple(writer.close()), (), writer.zero_dates)
    with table_writer(target, unit, definition.shown) as now, table_writer(target.history, unit, definition) as ever:
        for chunk in rows:
            ever.write(chunk)
            now.write(rows_shown(chunk, definition))
        return Written(tuple(now.close()), tuple(ever.close()), now.zero_dates | ever.zero_dates)


def table_writer(target: TableTarget, unit: int, definition: TableDefinition) -> TableWriter:
    """Return a writer for rows in the order of the table's key; `unit` is the number of the unit among the table's."""
    key = table_key(definition)
    names, form, rules = (key.names, key.form, key.rules) if key else ((), None, ())
    return TableWriter(target, unit=unit, schema=table_schema(definition), key=names, key_kind=form, key_rules=rules,
                       columns=StoredColumns.of(definition, names))
