"""One walk over the log for the versions of a table's rows, or of the rows in some ranges of its keys.

    complete changes as steps of rows (apply.output.row_steps) → versions, at the end of the log → record batches

A step ends a version and begins the next one. While the log is walked these are pointers; a version's row is read once,
when it is written. Rows of a base begin with it; if DDL makes another version of the table, all rows end, and
continue as new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from applier.apply.output.row_steps import Causes
from applier.apply.routes.task import steps, table_walks
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import ApplyTask, LogSegment
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.same_bytes import SameBytes
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.statements import seq_at
from applier.jobs.changes.whole.whole_rows import check
from applier.jobs.history.commits import NEVER, Commits
from applier.jobs.history.in_key_order import OfVersion, in_key_order
from applier.jobs.history.versions import (
    ALTER,
    BASE,
    DROP,
    KINDS,
    NOTHING,
    NOWHERE,
    TRUNCATE,
    Edge,
    UnitSteps,
    Versions,
    files_and_offsets,
    position_of,
)
from applier.jobs.history.versions_kernel import BEGINS, BEGUN_AT, BEGUN_BY, ENDED_AT, ENDED_BY, ENDS
from applier.schema.history.table_versions import Position, TableVersion
from applier.snapshot.manifest import BinlogPosition

_KIND, _KINDS = pa.dictionary(pa.int8(), pa.string()), pa.array(KINDS)
OF_VERSIONS = pa.schema([
    pa.field("_valid_from", pa.timestamp("us", tz="UTC")),
    pa.field("_valid_to", pa.timestamp("us", tz="UTC")),
    pa.field("_from_seq", pa.int64(), nullable=False),
    pa.field("_to_seq", pa.int64()),
    pa.field("_from_change", pa.int64()),
    pa.field("_to_change", pa.int64()),
    pa.field("_change_type", _KIND, nullable=False),
    pa.field("_ended_by", _KIND),
    pa.field("_from_gtid", pa.string()),
    pa.field("_to_gtid", pa.string()),
])
"""The columns that describe a version: from when to before when it was valid, by the clock and by commit versions of
the change feed (null: still valid; for a base's rows the beginning is unknown), the feed's `_seq` of the changes that
began and ended it (null: none; for DDL that of the statement), the kind of change that began it (insert, update, alter,
base) and ended it (update, delete, truncate, drop, alter), and the transactions."""


OF_POSITIONS = pa.schema([
    pa.field("_from_file", pa.dictionary(pa.int32(), pa.string())),
    pa.field("_from_pos", pa.int64()),
    pa.field("_to_file", pa.dictionary(pa.int32(), pa.string())),
    pa.field("_to_pos", pa.int64()),
])
"""The events that began and ended versions: files, and offsets; of DDL its event group."""


class HistoryWalk:
    """Applies a task's changes, and tells the versions of rows of the log's table, with the columns of `schema`."""

    def __init__(self, log: FeedLog, base: BinlogPosition | None, schema: pa.Schema, task: ApplyTask) -> None:
        self._log, self._task, self._base, self._schema = log, task, base, schema
        self._commits, self._read = Commits(), ReadLog(log)
        self._walks = table_walks(task, {})
        positions = OF_POSITIONS.names[0] in schema.names
        self._units = {version: [UnitSteps(unit, self._commits, positions=positions)
                                 for unit in self._walks[version].units]
                       for version in sorted(log.versions.keys() & self._walks.keys())}
        self._found: dict[int, list[Versions]] = {}
        self._segment: LogSegment | None = None
        self._bytes, self._passed = sum(segment.end - segment.start for segment in task.segments), 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all versions. Those of units with the same ranges come in the order of their keys, whichever version of
        the table they are of. Raises ReplayStopped where a replica would stop."""
        self._go()
        ranges = {len(found) for found in self._found.values()}
        if len(ranges) == 1:
            for unit in range(*ranges):
                yield from self._batches([(version, found[unit]) for version, found in self._found.items()])
        elif ranges:  # a table was made again: its units have other ranges
            yield from self._batches([(version, part) for version, found in self._found.items() for part in found])

    def by_range(self) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
        """Yield the versions of each range of keys with units of the task, by their number. Raises as `batches`."""
        self._go()
        ranges: dict[int, list[tuple[int, Versions]]] = {}
        for version, found in self._found.items():
            for unit, versions in zip(self._units[version], found, strict=True):
                ranges.setdefault(unit.unit.spec.number, []).append((version, versions))
        for number, of_versions in ranges.items():
            yield number, self._batches(of_versions)

    def _go(self) -> None:
        """Walk the log."""
        for version, units in self._units.items():
            self._walks[version].trace(partial(self._take, units))
        with SameBytes() as outlined:
            for segment in steps(self._task, self._walks, outlined):
                check(self._walks)
                self._finish((segment.file, segment.start))
                if self._segment is not None and segment is not self._segment:
                    self._passed += self._segment.end - self._segment.start
                self._segment = segment
        check(self._walks)
        self._finish(None)

    def _take(self, units: Sequence[UnitSteps], _: Sequence[UnitApplier], batch: ChangeBatch | None,
              causes: Causes) -> None:
        assert self._segment is not None, "changes come within a segment"
        positions, file = causes.positions if batch is None else batch.positions, self._segment.file
        read = self._passed + (int(positions[-1]) - self._segment.start if len(positions) else 0)
        for unit in units:
            unit.take(batch, causes, file, self._read.groups(file), max(read, 1) / self._bytes)

    def _finish(self, position: Position | None) -> None:
        """Versions of the table that end by a position (None: all) have had all their changes."""
        for number, units in self._units.items():
            version = self._log.versions[number]
            if number in self._found or (position is not None and (version.end is None or version.end > position)):
                continue
            first, last = self._first(version), self._last(version)
            self._found[number] = [unit.versions(first, last) for unit in units]
            check(self._walks)

    def _first(self, version: TableVersion) -> Edge:
        if version.sources:
            return self._edge(version.start, ALTER, version.id)
        if version.in_base is None or self._base is None:
            return Edge(NEVER, BASE)  # it begins without rows
        return Edge(self._commits.of_base(self._base.file, self._base.offset), BASE)

    def _last(self, version: TableVersion) -> Edge:
        if version.end is None:
            return Edge(NEVER, NOTHING)
        next_one = next((other.id for other in self._log.versions.values() for source in other.sources
                         if source.version == version.id), None)
        is_there = any(other.start == version.end for other in self._log.versions.values())
        kind = ALTER if next_one is not None else TRUNCATE if is_there else DROP
        return self._edge(version.end, kind, next_one)

    def _edge(self, position: Position, kind: int, made: int | None) -> Edge:
        """Return the statement that ends there and made this version."""
        file, end = position
        groups, last = self._read.groups(file), np.array([end - 1])
        seq = next((statement.seq for statement in self._log.statements
                    if (statement.end, statement.made) == (position, made)), seq_at(end))
        return Edge(int(self._commits.of(groups, last)[0]), kind, seq, position_of(file, int(groups.starts(last)[0])))

    def _batches(self, found: Sequence[tuple[int, Versions]]) -> Iterator[pa.RecordBatch]:
        """Yield the versions of units over all versions of the table, in order."""
        parts = []
        for number, versions in [(number, self._of_chosen(number, versions)) for number, versions in found]:
            definition = self._log.versions[number].definition
            names = {definition.columns[column].name: name for column, name in self._log.names[number].items()
                     if name in self._log.columns}
            parts.append(OfVersion(definition, names, versions))
        for chunk in in_key_order(parts):
            begun, ended = (self._commits.columns(chunk.edges, step) for step in (BEGINS, ENDS))
            arrays = [chunk.column(field) for field in self._schema
                      if field.name not in OF_VERSIONS.names and field.name not in OF_POSITIONS.names]
            arrays += [begun[0], ended[0], begun[1], ended[1],
                       *(pa.array(changes, mask=changes == NOWHERE) for changes in chunk.edges.T[[BEGUN_BY, ENDED_BY]]),
                       *(pa.DictionaryArray.from_arrays(kinds, _KINDS) for kinds in (begun[3], ended[3])),
                       begun[2], ended[2]]
            if OF_POSITIONS.names[0] in self._schema.names:
                arrays += [*self._positions(chunk.edges[:, BEGUN_AT]), *self._positions(chunk.edges[:, ENDED_AT])]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _positions(self, positions: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """Return files by name, and offsets; null for NOWHERE."""
        files, offsets = files_and_offsets(positions)
        names = pa.array([self._log.files[number].name for number in sorted(self._log.files)])
        numbers = np.searchsorted(sorted(self._log.files), files).astype(np.int32)
        return (pa.DictionaryArray.from_arrays(pa.array(numbers, mask=positions == NOWHERE), names),
                pa.array(offsets, mask=positions == NOWHERE))

    def _of_chosen(self, number: int, versions: Versions) -> Versions:
        """Return the versions of rows with the chosen keys that wanted event groups began or ended."""
        if not self._log.has_rows_of(number):
            return versions.part(np.empty(0, np.int64))
        if not self._log.wanted.all:
            wanted = self._commits.are_wanted(versions.edges[:, [BEGINS, ENDS]]).any(axis=1)
            versions = versions.part(np.flatnonzero(wanted))
        if (chosen := self._log.chosen_of(number)) is None:
            return versions
        found = [chosen.of_table(rows) for rows in versions.rows(chosen.key.names)]
        return versions.part(np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *found])))
