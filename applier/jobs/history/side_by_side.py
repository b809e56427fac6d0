"""The changes of rows with old and new values side by side, made from versions of rows.

A change that ends a version and begins the next one of the same row is one row here: an update that keeps the key, or
DDL. An update of the key is two, as it ends the versions under one key and begins those under another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import UsageError
from applier.jobs.changes.row_statements import STATEMENT
from applier.jobs.history.job import OF_THREADS, RowHistory
from applier.jobs.history.walk import OF_POSITIONS, OF_VERSIONS

OLD, NEW = "old_", "new_"
_OWN = (("_change_type", "_change_type", "_ended_by"), ("_time", "_valid_from", "_valid_to"),
        ("_commit_version", "_from_seq", "_to_seq"), ("_seq", "_from_change", "_to_change"),
        ("_gtid", "_from_gtid", "_to_gtid"), ("_file", "_from_file", "_to_file"), ("_pos", "_from_pos", "_to_pos"),
        ("_thread", "_from_thread", "_to_thread"))
"""What is said of a change, and where versions have it: of the change that began them, and of the one that ended
them."""


@dataclass(frozen=True)
class SideBySide:
    """The changes of the rows of a history, by key, and of each row in time order. Raises UsageError for a table
    without a key, whose rows cannot be followed, and for a history without the columns of the key."""

    history: RowHistory

    def __post_init__(self) -> None:
        if not self.history.key:
            raise UsageError("rows cannot be followed without the columns of the table's key",
                             table=".".join(self.history.table),
                             hint="leave out `columns`, or include the key; a table without a key has no such rows")

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the history."""
        return self.history.notes

    @property
    def schema(self) -> pa.Schema:
        """The columns that describe a change, then for each column of the table its old and its new value."""
        versions = self.history.schema
        own = [versions.field(begun).with_name(name).with_nullable(name != "_change_type")
               for name, begun, _ in _OWN if begun in versions.names]
        own += [STATEMENT] * (STATEMENT.name in versions.names)
        return pa.schema([*own, *(field.with_name(prefix + field.name).with_nullable(True)
                                  for field in self._values for prefix in (OLD, NEW))])

    @property
    def _values(self) -> list[pa.Field]:
        others = {*OF_VERSIONS.names, *OF_POSITIONS.names, *OF_THREADS.names, STATEMENT.name}
        return [field for field in self.history.schema if field.name not in others]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes. Raises as the history's batches do."""
        last: pa.RecordBatch | None = None
        for batch in filter(len, self.history.batches()):
            yield self._batch([*([] if last is None else [last]), batch], has_more=True, is_first=last is None)
            last = batch.slice(len(batch) - 1)
        if last is not None:
            yield self._batch([last], has_more=False, is_first=False)

    def _batch(self, parts: list[pa.RecordBatch], *, has_more: bool, is_first: bool) -> pa.RecordBatch:
        """Return the changes that began versions, except for the first one's, which is of the batch before; and those
        that ended versions, except for the last one's if the next version is not here yet."""
        versions = pa.Table.from_batches(parts).combine_chunks()
        n = versions.num_rows
        follows = np.zeros(n, np.bool_)
        follows[1:] = self._follow(versions)
        begins, ends = np.arange(0 if is_first else 1, n), np.flatnonzero(
            np.asarray(versions.column("_ended_by").is_valid()) & ~np.append(follows[1:], False))
        ends = ends[ends < n - has_more]
        at = np.concatenate([2 * begins, 2 * ends + 1])
        order = np.argsort(at, kind="stable")
        which, is_end = at[order] >> 1, (at[order] & 1).astype(np.bool_)
        old = pa.array(np.where(is_end, which, which - 1), mask=~is_end & ~follows[which])
        new = pa.array(which, mask=is_end)
        columns = {prefix + field.name: versions.column(field.name).take(places)
                   for field in self._values for prefix, places in ((OLD, old), (NEW, new))}
        edges = pa.array(which + n * is_end)
        for name, begun, ended in _OWN:
            if begun in versions.column_names:
                both = pa.chunked_array([*versions.column(begun).chunks, *versions.column(ended).chunks])
                columns[name] = both.unify_dictionaries().take(edges)
        if STATEMENT.name in versions.column_names:
            columns[STATEMENT.name] = versions.column(STATEMENT.name).take(new)
        schema = self.schema
        [batch] = pa.table([columns[name] for name in schema.names], schema=schema).combine_chunks().to_batches() or [
            pa.RecordBatch.from_pylist([], schema)]
        return batch

    def _follow(self, versions: pa.Table) -> np.ndarray:
        """Return for each version but the first whether the one before has the same key, and ends with the change that
        began this one. (DDL has one number for all rows.)"""
        before, after = versions.slice(0, versions.num_rows - 1), versions.slice(1)
        same = _all_equal((before.column(ended), after.column(begun)) for _, begun, ended in _OWN[:4])
        follows: np.ndarray = same & _all_equal(
            (before.column(name), after.column(name)) for name in self.history.key)
        return follows


def _all_equal(pairs: Iterable[tuple[pa.ChunkedArray, pa.ChunkedArray]]) -> np.ndarray:
    """Return where the values of all pairs are equal, and not null."""
    found: np.ndarray | None = None
    for one, other in pairs:
        if pa.types.is_dictionary(one.type):
            one, other = one.cast(pa.string()), other.cast(pa.string())
        equal = np.asarray(pc.fill_null(pc.equal(one, other), False))
        found = equal if found is None else found & equal
    assert found is not None
    return found
