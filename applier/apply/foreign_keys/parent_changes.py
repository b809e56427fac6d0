"""The changes of referenced rows in a log: a first pass over the parents' changes.

In strict mode every change in the log finds its row, or the replay stops there. So the effect of a parent's change on
its children follows from the images alone, before any row is searched, in every task that has children.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.search.change_keys import times_of
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.spec import ParentLink, RowPart
from applier.apply.tables.logged_table import LoggedTable
from applier.apply.tables.table_maps import BATCH_ROWS, segment_reader
from applier.apply.tasks import LogSegment
from applier.binlog.events.format import WITHOUT_CASCADES
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DELETE, INSERT, ChangeBatch, TableBinding
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.type_conversions import TypeConversions
from applier.errors import ReplayStopped
from applier.io.mapping import map_file

FILE_SHIFT = 44
"""A position in the log is one number: the file's number from this bit on, below it the offset in the file."""


@dataclasses.dataclass(frozen=True)
class ParentChanges:
    """The changes of a parent's rows that may change rows of other tables, that is, deletes and updates of referenced
    columns, in commit order: `positions` (int64, see FILE_SHIFT) of their rows events, `rows` (int32) in these,
    `deletes` (bool), and by column number the values before and after (of deletes: any)."""

    positions: np.ndarray
    rows: np.ndarray
    deletes: np.ndarray
    before: dict[int, pa.Array]
    after: dict[int, pa.Array]


class _Part(NamedTuple):
    """The same for one batch, without the values."""

    positions: np.ndarray
    rows: np.ndarray
    deletes: np.ndarray


def read_parents(segments: Iterable[LogSegment], links: Iterable[ParentLink], allowed: TypeConversions,
                 outlined: SameBytes) -> dict[int, ParentChanges]:
    """Return the changes of the parents of these links, by the id of their version. Raises ArchiveError for damage.

    A change that would stop a parent's own unit ends the pass: the replay stops there or earlier.
    """
    columns: dict[int, set[int]] = defaultdict(set)
    parents: dict[int, ParentLink] = {}
    for link in links:
        columns[link.version].add(link.parent_column)
        parents[link.version] = link
    tables = {version: _Parent(link, sorted(columns[version]), allowed) for version, link in parents.items()}
    try:
        _walk(segments, tables, outlined)
    except ReplayStopped:
        pass
    return {version: table.changes() for version, table in tables.items()}


def _walk(segments: Iterable[LogSegment], tables: Mapping[int, _Parent], outlined: SameBytes) -> None:
    for segment in segments:
        if tables.keys().isdisjoint(segment.tables.values()):
            continue
        for table in tables.values():
            table.file = segment.file
        reader = segment_reader(segment, map_file(segment.uri, whole=False), tables)
        outlined.walk(reader, segment.split, segment.start, segment.end)
        reader.flush()


class _Parent:
    """A parent table in the pass; `file` is the number of the batches' file."""

    def __init__(self, link: ParentLink, columns: list[int], allowed: TypeConversions):
        self.file = 0
        self._columns = columns
        self._logged = LoggedTable(link.parent, allowed, same_columns=False)
        also = tuple(RowPart(column) for column in columns)
        self._encoder = RowPartEncoder(dataclasses.replace(link.parent, keys=()), by_content=False, also=also)
        self._parts: list[_Part] = []
        self._values: dict[tuple[int, bool], list[pa.Array]] = defaultdict(list)

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return the columns to read from the table's row events."""
        reading = self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        wanted = self._encoder.wanted(reading.plans)
        return TableBinding(reading.plans, wanted, wanted, partial(self._take, table_map), BATCH_ROWS)

    def _take(self, table_map: TableMap, batch: ChangeBatch) -> None:
        chosen = np.flatnonzero((batch.kinds != INSERT) & (batch.events & WITHOUT_CASCADES == 0))
        if not len(chosen):
            return
        deletes = batch.kinds[chosen] == DELETE
        before = {column: self._images(batch, table_map, column, batch.before_rows[chosen], False)
                  for column in self._columns}
        after = {column: self._after(batch, table_map, column, chosen, before[column]) for column in self._columns}
        counts = deletes.copy()
        for column in self._columns:
            counts |= changed(before[column], after[column])
        kept = pa.array(np.flatnonzero(counts))
        positions = batch.positions[chosen] + (self.file << FILE_SHIFT)
        self._parts.append(_Part(positions[counts], batch.rows[chosen][counts], deletes[counts]))
        for column in self._columns:
            self._values[column, False].append(before[column].take(kept))
            self._values[column, True].append(after[column].take(kept))

    def _images(self, batch: ChangeBatch, table_map: TableMap, column: int, rows: np.ndarray, after: bool) -> pa.Array:
        """Return the values of a column in these rows of the images; NULL for row -1."""
        images, count, of = (batch.after, batch.n_after, batch.after_rows) if after else \
            (batch.before, batch.n_before, batch.before_rows)
        values = self._encoder.values(images, column, count, table_map, lambda: times_of(batch, of, count))
        return values.take(pa.array(rows, mask=rows < 0))

    def _after(self, batch: ChangeBatch, table_map: TableMap, column: int, chosen: np.ndarray,
               before: pa.Array) -> pa.Array:
        """Return a column after the changes: a value that is missing in an after-image is unchanged (DEF-R2)."""
        rows = batch.after_rows[chosen]
        after = self._images(batch, table_map, column, rows, True)
        absent = batch.after.columns[column].absent_rows(batch.n_after)
        if absent is None:
            return after
        return pc.if_else(absent.take(pa.array(rows, mask=rows < 0)).fill_null(False), before, after)

    def changes(self) -> ParentChanges:
        nothing = _Part(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.bool_))
        positions, rows, deletes = (np.concatenate(part) for part in zip(nothing, *self._parts, strict=True))
        values = {key: pa.concat_arrays(arrays) for key, arrays in self._values.items()}
        return ParentChanges(positions, rows, deletes,
                             {column: array for (column, is_after), array in values.items() if not is_after},
                             {column: array for (column, is_after), array in values.items() if is_after})


def changed(before: pa.Array, after: pa.Array) -> np.ndarray:
    """Return where a column's value changed, byte for byte: bool[n]."""
    same = pc.or_kleene(pc.equal(before, after), pc.and_(before.is_null(), after.is_null())).fill_null(False)
    return ~np.asarray(same)
