"""The shuffle route without Spark: a split's changes as payloads for units, and a unit from the payloads sent to it.

The payloads carry the same stream of change batches as a walk, cut by unit: both routes apply it with the same
code, in the order of the splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa

from applier.apply.routes.payload import ArrivedBatch, ArrivedKeys, Payload, payload_batch, to_buffer
from applier.apply.search.change_keys import ByteKeys, IntKeys, change_keys
from applier.apply.spec import KeyRange, UnitSpec
from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS, segment_reader
from applier.apply.tables.unit import UnitApplier
from applier.apply.tables.unit_outcome import outcome
from applier.apply.tasks import SplitTask, TaskOutcome
from applier.apply.witnessed import OFF
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.changes import ChangeBatch, TableBinding
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.table_key import TableKey, ranges_between
from applier.io.mapping import MappedFile, map_file

PAYLOAD_BYTES = 32 << 20
"""The most bytes of a table's changes, of all units together, before they are sent."""


def split_payloads(task: SplitTask) -> Iterator[tuple[int, int, pa.Buffer]]:
    """What a log segment holds for each unit, in commit order: (unit, number of the range, payload). Raises
    ArchiveError for damage, and where bytes are not those that were outlined."""
    with SameBytes() as outlined:
        file = map_file(task.segment.uri, whole=False)
        yield from _payloads(task, file, outlined)


def _payloads(task: SplitTask, file: MappedFile, outlined: SameBytes) -> Iterator[tuple[int, int, pa.Buffer]]:
    tables = {version: _SplitTable(units, ranges, file.uri) for version, units in task.units.items()
              if (ranges := [unit.search for unit in units if isinstance(unit.search, KeyRange)])}
    reader = segment_reader(task.segment, file, tables)
    for _ in outlined.steps(reader, task.segment.split, task.segment.start, task.segment.end):
        for table in tables.values():
            if table.pending_bytes >= PAYLOAD_BYTES:
                yield from ((unit, task.number, payload) for unit, payload in table.payloads())
    reader.flush()
    for table in tables.values():
        yield from ((unit, task.number, payload) for unit, payload in table.payloads())


class _SplitTable:
    """One version of a table in a log segment: its changes, dealt out to its units."""

    def __init__(self, units: tuple[UnitSpec, ...], ranges: list[KeyRange], uri: str):
        self._units, self._uri, self._key = units, uri, ranges[0].key
        self._logged = LoggedTable(units[0].definition, units[0].type_conversions, units[0].same_columns)
        self._sends_before_images = units[0].witness != OFF
        self._range_of = ranges_between(self._key, [rows.low for rows in ranges if rows.low is not None])
        self._pending: dict[int, list[pa.RecordBatch]] = {}
        self._reading: TableReading | None = None
        self.pending_bytes = 0

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return the columns to read from the table's row events."""
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
        places, changes = self._dealt(batch, before, after)
        sent = payload_batch(batch, changes, before, after, before_images=self._sends_before_images)
        self.pending_bytes += sent.nbytes
        edges = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
        for start, end in pairwise(edges):
            self._pending.setdefault(int(places[start]), []).append(sent.slice(start, end - start))

    def _dealt(self, batch: ChangeBatch, before: list[pa.Array],
               after: list[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """Which unit, by place among the table's units, gets which change, ascending in both. A change that moves a row
        to another unit is there twice."""
        if len(self._units) == 1:
            return np.zeros(batch.n, np.int64), np.arange(batch.n)
        left, entered = self._unit_of(before, batch.before_rows), self._unit_of(after, batch.after_rows)
        moves = np.flatnonzero((left >= 0) & (entered >= 0) & (left != entered))
        places = np.concatenate([np.where(left >= 0, left, entered), entered[moves]])
        changes = np.concatenate([np.arange(batch.n), moves])
        order = np.lexsort([changes, places])
        return places[order], changes[order]

    def _unit_of(self, columns: list[pa.Array], rows: np.ndarray) -> np.ndarray:
        """The unit of each change's key, given the keys by image row; -1 where a change has no such image."""
        units: np.ndarray = np.append(self._range_of(columns), -1)[rows]
        return units

    def payloads(self) -> Iterator[tuple[int, pa.Buffer]]:
        """Yield the pending payloads, by unit."""
        if self._reading is None:
            return
        body, layouts = self._reading.table_map.body, self._reading.layouts
        for place, pending in sorted(self._pending.items()):
            batches = pa.Table.from_batches(pending).combine_chunks().to_batches()
            yield self._units[place].number, to_buffer(batches, self._uri, body, layouts, self._units[0].version)
        self._pending, self.pending_bytes = {}, 0


def apply_payloads(unit: UnitSpec, payloads: Iterable[tuple[int, pa.Buffer]]) -> TaskOutcome:
    """A unit out of the payloads that it was sent, in the order of their ranges."""
    versions: dict[int, _ArrivingVersion] = {}
    chain: list[UnitApplier] = []
    for spec in unit.chain:
        chain.append(UnitApplier(spec, chain[-1:]))
        if isinstance(spec.search, KeyRange):
            versions[spec.version] = _ArrivingVersion(chain[-1], spec.search.key)
    for _, buffer in payloads:
        payload = Payload.read(buffer)
        versions[payload.version].take(payload)
    return outcome(chain[-1:])


class _ArrivingVersion:
    """One version of a unit's table: what its payloads are applied with."""

    def __init__(self, applier: UnitApplier, key: TableKey):
        spec, self._applier = applier.spec, applier
        self._logged = LoggedTable(spec.definition, spec.type_conversions, spec.same_columns)
        self._keys, self._has_met = ArrivedKeys(key), False

    def take(self, payload: Payload) -> None:
        reading = self._logged.bind_table_map(parse_table_map(payload.table_map))
        if not self._has_met:
            self._applier.bind_table_map(reading)
            self._has_met = True
        self._applier.retain_buffer(payload.memory)
        for batch in payload.batches:
            self._applier.take(self._keys.of_batch(ArrivedBatch(batch, payload, reading.layouts)))
