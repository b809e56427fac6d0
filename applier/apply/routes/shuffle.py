"""The shuffle route without Spark: a split's changes as payloads for units, and a unit out of the payloads it is sent.

What goes through is the same stream of change batches that a walk sees, cut by unit: both routes apply it with the same
code, in the order of the splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from applier.apply.routes.payload import ArrivedBatch, ArrivedKeys, Payload, payload_batch, to_buffer
from applier.apply.spec import Applied, Keyed, SplitTask, TaskOutcome, UnitSpec, outcome_of
from applier.apply.tables.table_walk import BATCH_ROWS, LoggedTable
from applier.apply.tables.unit import UnitApplier
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.binlog.rows.same_bytes import SameBytes
from applier.io.mapping import MappedFile, map_file
from keysearch.keybytes import find_ranges

PAYLOAD_BYTES = 32 << 20
"""What a table's changes take, all units together, before they are sent."""


def split_payloads(task: SplitTask) -> Iterator[tuple[int, int, pa.Buffer]]:
    """What a stretch of log holds for each unit, in commit order: (unit, number of the stretch, payload). Raises
    ArchiveError for damage, and where bytes are not those that were outlined."""
    with SameBytes() as outlined:
        file = map_file(task.segment.uri)
        yield from _payloads(task, file, outlined)


def _payloads(task: SplitTask, file: MappedFile, outlined: SameBytes) -> Iterator[tuple[int, int, pa.Buffer]]:
    tables = {version: _SplitTable(units, keyed, file.uri) for version, units in task.units.items()
              if isinstance(keyed := units[0].search, Keyed)}
    bindings: dict[int, TableBinding] = {}

    def bind(table_map: TableMap) -> TableBinding | None:
        version = task.segment.tables.get((table_map.database, table_map.table))
        if version is None:
            return None
        binding = tables[version].bind(table_map, bindings.get(version))
        return bindings.setdefault(version, binding)

    reader = ChangeReader(file, bind, checksum=task.segment.checksum, header_length=task.segment.header_length)
    for _ in outlined.steps(reader, task.segment.split, task.segment.start, task.segment.end):
        for table in tables.values():
            if table.pending_bytes >= PAYLOAD_BYTES:
                yield from ((unit, task.number, payload) for unit, payload in table.payloads())
    reader.flush()
    for table in tables.values():
        yield from ((unit, task.number, payload) for unit, payload in table.payloads())


class _SplitTable:
    """One version of a table in a stretch of log: its changes, dealt out to its units."""

    def __init__(self, units: tuple[UnitSpec, ...], keyed: Keyed, uri: str):
        self._units, self._uri, self._key = units, uri, keyed.key
        self._logged = LoggedTable(units[0].definition, keyed, units[0].type_conversions, units[0].same_columns)
        self._bounds = self._key.encoded([unit.search.low for unit in units[1:]])
        self._pending: dict[int, list[pa.RecordBatch]] = {}
        self.pending_bytes = 0

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """What is wanted of the table's row events; the binding that is there already, for another map of the table."""
        self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        wanted = self._logged.keys.wanted(self._logged.plans)
        binding = TableBinding(self._logged.plans, wanted, wanted, self._take, BATCH_ROWS)
        binding.layouts = self._logged.layouts
        return binding

    def _take(self, batch: ChangeBatch) -> None:
        self._logged.drop_no_op_updates(batch)
        if not batch.n:
            return
        before, after = self._logged.keys.columns(batch)
        places, changes = self._dealt(batch, before, after)
        sent = payload_batch(batch, changes, before, after)
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
        went, came = self._unit_of(before, batch.before_rows), self._unit_of(after, batch.after_rows)
        moves = np.flatnonzero((went >= 0) & (came >= 0) & (went != came))
        places = np.concatenate([np.where(went >= 0, went, came), came[moves]])
        changes = np.concatenate([np.arange(batch.n), moves])
        order = np.lexsort([changes, places])
        return places[order], changes[order]

    def _unit_of(self, columns: list[pa.Array], rows: np.ndarray) -> np.ndarray:
        """The unit of each change's key, given the keys by image row; -1 where a change has no such image."""
        keys = self._key.encode(columns)
        if self._key.form == "int":
            units = np.searchsorted(self._bounds, keys, side="right")
        else:
            units = find_ranges(keys, self._bounds)
        return np.append(units, -1)[rows]

    def payloads(self) -> Iterator[tuple[int, pa.Buffer]]:
        """What is pending, by unit."""
        for place, batches in sorted(self._pending.items()):
            yield self._units[place].number, self._payload(pa.Table.from_batches(batches).combine_chunks().to_batches())
        self._pending, self.pending_bytes = {}, 0

    def _payload(self, batches: list[pa.RecordBatch]) -> pa.Buffer:
        return to_buffer(batches, self._uri, self._logged.table_map.body, self._logged.layouts, self._units[0].version)


def apply_payloads(unit: UnitSpec, payloads: Iterable[tuple[int, pa.Buffer]]) -> TaskOutcome:
    """A unit out of the payloads that it was sent, in the order of their stretches."""
    versions: dict[int, _ArrivingVersion] = {}
    applier: UnitApplier | None = None
    for spec in unit.chain:
        applier = UnitApplier(spec, [] if applier is None else [applier])
        if isinstance(spec.search, Keyed):
            versions[spec.version] = _ArrivingVersion(applier, spec.search)
    for _, buffer in payloads:
        payload = Payload.read(buffer)
        versions[payload.version].take(payload)
    if applier.is_stopped:
        applier.check_diffs()
        return outcome_of(applier.stops)
    result = applier.finish()
    return outcome_of([Applied(results=(result,)), *applier.stops])


class _ArrivingVersion:
    """One version of a unit's table: what its payloads are applied with."""

    def __init__(self, applier: UnitApplier, keyed: Keyed):
        spec, self._applier = applier.spec, applier
        self._logged = LoggedTable(spec.definition, keyed, spec.type_conversions, spec.same_columns)
        self._keys = ArrivedKeys(keyed.key)

    def take(self, payload: Payload) -> None:
        table_map = parse_table_map(payload.table_map)
        if self._logged.bind_table_map(table_map):
            self._applier.begin(table_map, self._logged.layouts)
        self._applier.retain_buffer(payload.memory)
        for batch in payload.batches:
            arrived = ArrivedBatch(batch, payload, self._logged.layouts)
            self._applier.take(arrived, self._keys.of_batch(arrived), self._keys)
