"""Finds rows that refer to missing rows: a server without foreign_key_checks may have them, and so may a replica of
one. A replay looks for them only if asked to (AP-FK)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from applier.mysql.values.zero_dates import to_python
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import ForeignKey
from applier.schema.key_infos import key_collation
from applier.schema.references import ColumnLink, linked_columns
from applier.snapshot.manifest import Snapshot
from applier.snapshot.reader import read_columns
from applier.snapshot.table_entry import TableEntry
from keysearch.collation import equality_column
from keysearch.keybytes import encode_keys

_MOST_TOLD = 5


def orphans(snapshot: Snapshot) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return notes for the user about rows that refer to missing rows, by table (database, name): one for each foreign
    key with such rows, RESTRICT or not. A NULL in a key is allowed; a table that the snapshot does not have cannot be
    searched, which is a line, too."""
    entries = {(entry.database, entry.name): entry for entry in snapshot.tables}
    definitions = {name: entry.definition for name, entry in entries.items()}
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, definition in definitions.items():
        for key in definition.foreign_keys:
            parent = key.database, key.table
            if parent not in entries:
                line: str | None = f"{key.name} refers to {key.database}.{key.table}, which the snapshot does not have"
            else:
                columns = linked_columns(key, definition, definitions[parent])
                line = _orphans_of(snapshot, key, columns, (entries[name], definition),
                                   (entries[parent], definitions[parent])) if columns else None
            if line is not None:
                found[name] = (*found.get(name, ()), line)
    return found


def _orphans_of(snapshot: Snapshot, key: ForeignKey, columns: tuple[ColumnLink, ...],
                child: tuple[TableEntry, TableDefinition], parent: tuple[TableEntry, TableDefinition]) -> str | None:
    """Return the line about one foreign key; None if all its rows refer to something."""
    own = _read(snapshot, *child, [link.child for link in columns])
    whole = pc.is_valid(own.column(0))
    for column in own.columns[1:]:
        whole = pc.and_(whole, pc.is_valid(column))
    own = own.filter(whole)
    collations = [key_collation(child[1].columns[link.child], child[1].flavour) for link in columns]
    there = _keys(_read(snapshot, *parent, [link.parent for link in columns]), collations)
    missing = own.filter(pc.invert(pc.is_in(_keys(own, collations), there)))
    if not missing.num_rows:
        return None
    columns_told = [to_python(column.combine_chunks()) for column in missing.slice(0, _MOST_TOLD).columns]
    examples = [", ".join(map(str, row)) for row in zip(*columns_told, strict=True)]
    told = "; ".join(examples) + ("; …" if missing.num_rows > len(examples) else "")
    rows = "1 row refers" if missing.num_rows == 1 else f"{missing.num_rows:,} rows refer"
    return (f"{rows} by {key.name} ({', '.join(key.columns)}) to rows of "
            f"{key.database}.{key.table} that do not exist: {told}")


def _read(snapshot: Snapshot, entry: TableEntry, definition: TableDefinition, columns: Sequence[int]) -> pa.Table:
    """Return some columns of a table, in this order."""
    names = [definition.columns[column].name for column in columns]
    parts = [read_columns(snapshot.root, file, definition, list(dict.fromkeys(names))) for file in entry.files]
    return pa.concat_tables(parts).select(names)


def _keys(rows: pa.Table, collations: list[str | None]) -> pa.Array:
    """Return each row as bytes that are equal if a server takes the keys to be equal."""
    columns = [column if collation is None else equality_column(column, collation)
               for column, collation in zip(rows.columns, collations, strict=True)]
    return encode_keys(columns, [True] * len(columns)).to_arrow()
