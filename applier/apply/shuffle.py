"""The shuffle route without Spark: a split's changes as payloads for units, and a unit out of the payloads it is sent.

What goes through is the same stream of change batches that a walk sees, cut by unit: both routes apply it with the same
code, in the order of the splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.payload import ArrivedBatch, ArrivedKeys, Payload, payload_batch, to_buffer
from applier.apply.table_walk import BATCH_ROWS, LoggedTable
from applier.apply.unit import UnitApplier
from applier.apply.work import SplitTask, TaskOutcome, UnitSpec
from applier.binlog.changes import ChangeBatch, ChangeReader, TableBinding
from applier.binlog.mapping import map_file
from applier.binlog.table_map import TableMap, parse_table_map
from applier.snapshot.manifest import KeyValue

PAYLOAD_BYTES = 16 << 20
"""Payloads are cut near this size."""


def split_payloads(task: SplitTask) -> Iterator[tuple[int, int, pa.Buffer]]:
    """What a stretch of log holds for each unit, in commit order: (unit, number of the stretch, payload)."""
    file = map_file(task.stretch.uri)
    tables = {version: _SplitTable(units, file.uri) for version, units in task.units.items()}
    bindings: dict[int, TableBinding] = {}

    def bind(table_map: TableMap) -> TableBinding | None:
        version = task.stretch.tables.get((table_map.database, table_map.table))
        if version is None:
            return None
        binding = tables[version].bind(table_map, bindings.get(version))
        return bindings.setdefault(version, binding)

    reader = ChangeReader(file, bind, checksum=task.stretch.checksum)
    reader.walk(task.stretch.start, task.stretch.end)
    reader.flush()
    for table in tables.values():
        for unit, payload in table.payloads():
            yield unit, task.number, payload


class _SplitTable:
    """One version of a table in a stretch of log: its changes, dealt out to its units."""

    def __init__(self, units: tuple[UnitSpec, ...], uri: str):
        self._units, self._uri = units, uri
        self._logged = LoggedTable(units[0].definition)
        self._batches: list[list[pa.RecordBatch]] = [[] for _ in units]

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """What is wanted of the table's row events; the binding that is there already, for another map of the table."""
        self._logged.meet(table_map)
        if bound is not None:
            return bound
        wanted = self._logged.keys.wanted(self._logged.plans)
        binding = TableBinding(self._logged.plans, wanted, wanted, self._take, BATCH_ROWS)
        binding.layouts = self._logged.layouts
        return binding

    def _take(self, batch: ChangeBatch) -> None:
        before, after = self._logged.keys.columns(batch)
        if len(self._units) == 1:
            self._batches[0].append(payload_batch(batch, np.arange(batch.n), before, after))
            return
        units_before, units_after = (self._units_of(columns) for columns in (before, after))
        went = np.where(batch.before_rows >= 0, _at(units_before, batch.before_rows), -1)
        came = np.where(batch.after_rows >= 0, _at(units_after, batch.after_rows), -1)
        for number in np.union1d(went, came):
            if number >= 0:
                picks = np.flatnonzero((went == number) | (came == number))
                self._batches[number].append(payload_batch(batch, picks, before, after))

    def _units_of(self, columns: list[pa.Array]) -> np.ndarray:
        """For each key the unit that it belongs to, by place among the table's units."""
        bounds: list[KeyValue] = [unit.low for unit in self._units[1:]]
        if self._logged.key.form == "int":
            return np.searchsorted(np.array(bounds, np.int64), np.asarray(columns[0]), side="right")
        keys = self._logged.key.encode(columns).to_arrow()
        reached = [np.asarray(pc.greater_equal(keys, pa.scalar(bound, keys.type))) for bound in bounds]
        return np.sum(reached, axis=0, dtype=np.int64)

    def payloads(self) -> Iterator[tuple[int, pa.Buffer]]:
        """The payloads of every unit."""
        for unit, batches in zip(self._units, self._batches, strict=True):
            pending: list[pa.RecordBatch] = []
            for batch in batches:
                pending.append(batch)
                if sum(part.nbytes for part in pending) >= PAYLOAD_BYTES:
                    yield unit.number, self._payload(pending)
                    pending = []
            if pending:
                yield unit.number, self._payload(pending)

    def _payload(self, batches: list[pa.RecordBatch]) -> pa.Buffer:
        return to_buffer(batches, self._uri, self._logged.table_map.body, self._logged.layouts)


def _at(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """values[rows], with anything where the row is -1."""
    return values[np.maximum(rows, 0)] if len(values) else np.zeros(len(rows), np.int64)


def apply_payloads(unit: UnitSpec, payloads: Iterable[tuple[int, pa.Buffer]]) -> TaskOutcome:
    """A unit out of the payloads that it was sent, in the order of their stretches."""
    applier, logged = UnitApplier(unit), LoggedTable(unit.definition)
    keys = ArrivedKeys(logged.key)
    for _, buffer in payloads:
        payload = Payload.read(buffer)
        table_map = parse_table_map(payload.table_map)
        if logged.meet(table_map):
            applier.begin(table_map, logged.layouts)
        applier.lies_in(payload.memory)
        for batch in payload.batches:
            arrived = ArrivedBatch(batch, payload, logged.layouts)
            applier.take(arrived, keys.of_batch(arrived), keys)
    if applier.stopped is not None:
        return TaskOutcome((), (applier.stopped,))
    return TaskOutcome((applier.finish(),), ())
