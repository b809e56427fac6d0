"""The undo of one table's rows: each row now, and as it will be restored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.table_key import table_key
from applier.jobs.diff.merging import unequal_columns
from applier.jobs.diff.rows import DELETE, INSERT, POSTIMAGE, PREIMAGE, Differences
from applier.jobs.guarded_sql.table_statements import columns_of_unique_keys, with_unknown
from applier.jobs.undo.conflict.conflicts import Conflict, conflicts, undone_anyway
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.mysql.character_sets.collations import Charset
from applier.mysql.type_registry import Family
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.schema_file import create_database

_SPILLED = pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=False, unify_dictionaries=True)


@dataclass(frozen=True)
class TableUndo:
    """A table's rows that are undone: how many are inserted again, deleted, and updated; how many were changed and are
    the same again already; how many are deleted and inserted again, for their keys; whether the table is made first,
    since it is not there; the `statements` that make it, or partitions of it, first; how many others have changed
    since, and are undone anyway; how many of these follow what became of their parent rows; how many are not undone;
    how many rows there are afterwards, None where the table is not there then; and the first of both.
    `definition` is the table's afterwards, `now` what it is; `key` are the columns of its key; `file` has
    the rows as differences (jobs.diff.rows), from what they are to what they were; `unknown` says which of their
    columns the log does not have: bool[rows, columns], None if it has all.
    """

    definition: TableDefinition
    now: TableDefinition
    key: tuple[str, ...]
    inserted: int
    deleted: int
    updated: int
    same: int
    anew: int
    recreated: bool
    statements: tuple[str, ...]
    partly: int
    following: int
    in_conflict: int
    rows_after: int | None
    conflicts: tuple[Conflict, ...]
    undone_anyway: tuple[Conflict, ...]
    file: Path
    unknown: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """How many rows are changed."""
        return self.inserted + self.deleted + self.updated

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows as differences; those with the same unknown columns together."""
        done = 0
        with pa.memory_map(str(self.file)) as source:
            for batch in pa.ipc.open_stream(source):
                if self.unknown is None:
                    yield batch
                else:
                    yield from self._by_unknown(batch, self.unknown[done:done + batch.num_rows])
                done += batch.num_rows

    def _by_unknown(self, batch: pa.RecordBatch, unknown: np.ndarray) -> Iterator[pa.RecordBatch]:
        names = [column.name for column in self.definition.stored_columns]
        patterns, of_row = np.unique(unknown, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = batch.take(pa.array(np.flatnonzero(of_row.reshape(-1) == number)))
            yield with_unknown(rows, [name for name, is_unknown in zip(names, pattern, strict=True) if is_unknown])


def undo_table(rows: RowsToUndo, file: Path, databases: Mapping[str, Charset]) -> TableUndo:
    """Write the undo of a table to a file; `databases` are the default character sets of databases."""
    table, undone, key = rows.table, rows.undone, table_key(rows.table.definition)
    names = () if key is None else key.names
    counts, all_anew = np.zeros(4, np.int64), 0
    differences = Differences(table_schema(table.definition), table.definition.full_name)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, differences.schema, options=_SPILLED) as writer:
        for batch, kinds, anew in _differences(rows, differences, by_key=key is not None):
            counts += np.bincount(kinds, minlength=4)
            all_anew += anew
            writer.write_batch(batch)
    inserted, updated, _, deleted = counts.tolist()
    n_undone = int(undone.sum())
    recreated = table.is_dropped_by_chosen or (bool(inserted) and not table.is_there)
    return TableUndo(rows.definition, table.definition, names, inserted, deleted, updated,
                     max(0, n_undone - inserted - deleted - updated + all_anew), all_anew,
                     recreated, _creating(rows.definition, databases) if recreated else rows.partitions,
                     int(rows.partly.sum()), int(rows.are_given.sum()), len(undone) - n_undone,
                     table.rows + inserted - deleted if table.is_there or recreated else None,
                     tuple(conflicts(rows, names)), tuple(undone_anyway(rows, names)), file)


def _creating(definition: TableDefinition, databases: Mapping[str, Charset]) -> tuple[str, ...]:
    return create_database(definition.database, databases.get(definition.database)), definition.to_sql()


def _differences(rows: RowsToUndo, differences: Differences, *,
                 by_key: bool) -> Iterator[tuple[pa.RecordBatch, np.ndarray, int]]:
    """Yield batches, the kinds of their rows, and how many are deleted and inserted again. These are rows whose value
    of a unique key changes, so that no other has the value on the way, and rows that no key finds."""
    unique = columns_of_unique_keys(rows.table.definition)
    in_keys = np.array([name in unique or not by_key for name in rows.table.columns], np.bool_)
    documents = np.array([column.type.entry.family is Family.DOCUMENT
                          for column in rows.table.definition.stored_columns], np.bool_)
    for chains, now, before in _pairs(rows):
        if now is None or before is None:
            one, kind = (now, DELETE) if before is None else (before, INSERT)
            assert one is not None
            yield differences.single(one, kind).batch, np.full(one.num_rows, kind), 0
            continue
        everywhere = np.arange(now.num_rows)
        unequal = unequal_columns(now, everywhere, before, everywhere)
        if rows.kept is not None:
            unequal &= ~rows.kept[chains]
            before = _with(now, before, unequal)
        which = np.flatnonzero(unequal.any(axis=1))
        if documents.any():  # rows with the same ones together, in the order of writing
            which = which[np.lexsort(unequal[which][:, documents].T[::-1])]
        if len(which):
            changed, pair = unequal[which], np.array([[PREIMAGE], [POSTIMAGE]])
            anew = changed[:, in_keys].any(axis=1)
            changed[anew] = False
            kinds = np.where(anew, [[DELETE], [INSERT]], pair).reshape(-1)
            order = np.arange(2 * len(which)).reshape(2, -1).T.reshape(-1)
            sides = [batch.take(pa.array(which)) for batch in (now, before)]
            made = differences.made(sides, kinds, np.concatenate([changed] * 2), pa.array(order)).batch
            yield made, kinds, int(anew.sum())


_Rows: TypeAlias = pa.RecordBatch | None


def _pairs(rows: RowsToUndo) -> Iterator[tuple[np.ndarray, _Rows, _Rows]]:
    """Yield chains, and their rows now and before, one of which may be missing."""
    found, undone = rows.chains, rows.undone
    has_now, has_before, same_unit = found.now >= 0, found.before >= 0, found.now_units == found.before_units
    both = undone & has_now & has_before & same_unit
    for which, of_now, of_before in ((both, True, True), (undone & has_now & ~both, True, False),
                                     (undone & has_before & ~both, False, True)):
        numbers, done = np.flatnonzero(which), 0
        nothing = np.full(len(numbers), -1)
        units = (found.now_units if of_now else found.before_units)[numbers]
        for read in rows.table.read(units, found.now[numbers] if of_now else nothing,
                                    found.before[numbers] if of_before else nothing, rows.table.columns):
            values = read.values.combine_chunks()
            part = numbers[done:done + len(read.steps)]
            yield (part, _taken(values, read.before) if of_now else None,
                   _with_given(rows, part, _taken(values, read.after)) if of_before else None)
            done += len(part)


def _with(now: pa.RecordBatch, before: pa.RecordBatch, which: np.ndarray) -> pa.RecordBatch:
    """Return the current rows, with the previous values in these columns: bool[rows, columns]."""
    arrays = [pc.if_else(pa.array(which[:, number]), old, new) if which[:, number].any() else new
              for number, (old, new) in enumerate(zip(before.columns, now.columns, strict=True))]
    return pa.RecordBatch.from_arrays(arrays, schema=now.schema)


def _with_given(rows: RowsToUndo, chains: np.ndarray, before: pa.RecordBatch) -> pa.RecordBatch:
    if not rows.given and not rows.by_others:
        return before
    return pa.RecordBatch.from_arrays(rows.with_given(chains, before.schema.names, before.columns),
                                      schema=before.schema)


def _taken(values: pa.Table, rows: np.ndarray) -> pa.RecordBatch:
    [batch] = values.take(pa.array(rows)).combine_chunks().to_batches()
    return batch

