"""The shuffle route, independent of Spark: makes payloads for units from a split's changes, and applies the payloads
that a unit receives.

A unit receives its part of the stream of change batches that a walk sees: both routes apply it with the same code, in
log order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

import numpy as np
import pyarrow as pa

from applier.apply.routes.packing import Rows, packed
from applier.apply.routes.parts import apply_in_parts
from applier.apply.routes.payload import (
    ArrivedBatch,
    Header,
    column_types,
    key_types,
    keyed,
    rows_to_send,
    to_header,
    together,
)
from applier.apply.search.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.spec import KeyRange, UnitSpec
from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS, segment_reader
from applier.apply.tables.unit import UnitApplier
from applier.apply.tables.unit_outcome import outcome
from applier.apply.tasks import LogSegment, SplitTask, TaskOutcome
from applier.apply.witnessed import OFF
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.changes import ChangeBatch, TableBinding
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.table_key import TableKey, ranges_between
from applier.io.mapping import MappedFile, map_file

HELD_BYTES = 256 << 20
"""The most bytes of changes, over all tables, that a task has in memory before it sends them: the larger, the fewer
payloads."""
PAYLOAD_BYTES = 1 << 20
"""The most bytes of a payload before its last row."""
Sent = tuple[np.ndarray, pa.BinaryArray]
"""The numbers of units, and a payload for each."""


def split_payloads(task: SplitTask) -> Iterator[Sent]:
    """Yield the changes of a task's part of the log for each unit, in commit order. Raises ArchiveError for damage, and
    if bytes have changed since the log was outlined."""
    tables = {version: _SplitTable(units, ranges) for version, units in sorted(task.units.items())
              if (ranges := [unit.search for unit in units if isinstance(unit.search, KeyRange)])}
    for uri, segments in groupby(task.segments, key=lambda segment: segment.uri):
        for segment in segments:
            with SameBytes() as outlined:
                yield from _payloads(segment, map_file(uri, whole=False), tables, outlined)
        yield from _sent(tables)


def _payloads(segment: LogSegment, file: MappedFile, tables: dict[int, _SplitTable],
              outlined: SameBytes) -> Iterator[Sent]:
    """Yield changes of a segment when the tables have too many in memory; the rest stays with the tables."""
    for table in tables.values():
        table.uri = file.uri
    reader = segment_reader(segment, file, tables)
    for _ in outlined.steps(reader, segment.split, segment.start, segment.end):
        if sum(table.held_bytes for table in tables.values()) >= HELD_BYTES:
            yield from _sent(tables)
    reader.flush()


def _sent(tables: dict[int, _SplitTable]) -> Iterator[Sent]:
    for table in tables.values():
        yield from table.payloads()


class _SplitTable:
    """One version of a table in a part of the log: distributes its changes to its units."""

    def __init__(self, units: tuple[UnitSpec, ...], ranges: list[KeyRange]):
        self._units, self._key = units, ranges[0].key
        self._numbers = np.array([unit.number for unit in units])
        self._logged = LoggedTable(units[0].definition, units[0].type_conversions, units[0].same_columns)
        self._sends_before_images = units[0].witness != OFF
        self._range_of = ranges_between(self._key, [rows.low for rows in ranges if rows.low is not None])
        self._held: list[tuple[np.ndarray, Rows]] = []
        self._reading: TableReading | None = None
        self.held_bytes, self.uri = 0, ""

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return which parts of the table's rows events to read."""
        self._reading = reading = self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        keys = change_keys(self._key, reading.definition, table_map)
        wanted = keys.wanted(reading.plans)
        binding = TableBinding(reading.plans, wanted, wanted, partial(self._take, reading, keys), BATCH_ROWS,
                               before_images=self._sends_before_images, hashes=self._sends_before_images)
        binding.layouts = reading.layouts
        return binding

    def _take(self, reading: TableReading, keys: IntKeys | ByteKeys, batch: ChangeBatch) -> None:
        reading.drop_no_op_updates(batch)
        if not batch.n:
            return
        before, after = keys.columns(batch)
        unit_numbers, changes = self._dealt(batch, before, after)
        sent = rows_to_send(batch, changes, before, after, before_images=self._sends_before_images)
        self.held_bytes += sent.n_bytes
        self._held.append((unit_numbers, sent))

    def _dealt(self, batch: ChangeBatch, before: list[pa.Array],
               after: list[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Return which unit, by its number among the table's, gets which change, in the order of the changes. A change
        that moves a row to another unit is listed twice."""
        if len(self._units) == 1:
            return np.zeros(batch.n, np.int64), np.arange(batch.n)
        left, entered = self._unit_of(before, batch.before_rows), self._unit_of(after, batch.after_rows)
        stays = np.where(left >= 0, left, entered)
        moves = np.flatnonzero((left >= 0) & (entered >= 0) & (left != entered))
        if not len(moves):
            return stays, np.arange(batch.n)
        unit_numbers = np.concatenate([stays, entered[moves]])
        changes = np.concatenate([np.arange(batch.n), moves])
        order = np.argsort(changes, kind="stable")
        return unit_numbers[order], changes[order]

    def _unit_of(self, columns: list[pa.Array], rows: np.ndarray) -> np.ndarray:
        """Return the unit of each change's key, given the keys by image row; -1 if the change has no such image."""
        units: np.ndarray = np.append(self._range_of(columns), -1)[rows]
        return units

    def payloads(self) -> Iterator[Sent]:
        """Yield the payloads of the held changes."""
        if self._reading is None or not self._held:
            return
        header = to_header(self.uri, self._reading.table_map.body, self._reading.layouts, self._units[0].version,
                           before_images=self._sends_before_images)
        unit_numbers, rows = (list(parts) for parts in zip(*self._held, strict=True))
        self._held, self.held_bytes = [], 0
        for receivers, payloads in packed(rows, np.concatenate(unit_numbers), header, PAYLOAD_BYTES):
            yield self._numbers[receivers], payloads


def apply_payloads(unit: UnitSpec, payloads: Iterable[pa.Buffer]) -> TaskOutcome:
    """Apply a unit, given the payloads that it received, in log order."""
    return apply_in_parts(unit, [*payloads], _applied)


def _applied(unit: UnitSpec, payloads: Iterable[pa.Buffer]) -> TaskOutcome:
    versions: dict[int, _ArrivingVersion] = {}
    chain: list[UnitApplier] = []
    for spec in unit.chain:
        chain.append(UnitApplier(spec, chain[-1:]))
        if isinstance(spec.search, KeyRange):
            versions[spec.version] = _ArrivingVersion(chain[-1], spec.search.key)
    for header, buffers, counts in together(payloads, BATCH_ROWS):
        known = Header.read(header)
        versions[known.version].take(known, buffers, counts, len(header))
    return outcome(chain[-1:])


class _ArrivingVersion:
    """Applies the payloads of one version of a unit's table."""

    def __init__(self, applier: UnitApplier, key: TableKey):
        spec, self._applier = applier.spec, applier
        self._logged = LoggedTable(spec.definition, spec.type_conversions, spec.same_columns)
        self._key, self._has_met = key, False
        self._types = key_types(key, spec.definition)

    def take(self, header: Header, payloads: list[pa.Buffer], counts: list[int], header_bytes: int) -> None:
        reading = self._logged.bind_table_map(parse_table_map(header.table_map))
        if not self._has_met:
            self._applier.bind_table_map(reading)
            self._has_met = True
        types = column_types(self._types, header.before_images)
        batch = ArrivedBatch(header, types, payloads, counts, header_bytes, reading.layouts)
        for memory in batch.memory:
            self._applier.retain_buffer(memory)
        self._applier.take(keyed(self._key, batch))
