"""A table's walk through the log in one task: its units, and the batches for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from applier.apply.output.merged_unit import fetch
from applier.apply.output.row_steps import NO_CAUSES, Causes
from applier.apply.search.access_methods import BatchReader, batch_reader
from applier.apply.spec import BeginsEmpty, KeyRange, UnitSpec
from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS
from applier.apply.tables.unit import RowEvents, UnitApplier
from applier.apply.tables.unit_ranges import UnitRanges
from applier.apply.witnessed import OFF
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, TableBinding

StepsTaker = Callable[[Sequence[UnitApplier], ChangeBatch | None, Causes], None]
"""Takes from the units of a table the steps of their rows, which a batch made, or changes of other tables (causes)."""


@dataclasses.dataclass(frozen=True, eq=False)
class BoundTable:
    """A table in a reader of the log: how its rows are read, and which columns, into the batch of `binding`; None while
    no reader is active."""

    reading: TableReading
    reader: BatchReader
    binding: TableBinding | None


class TableWalk:
    """The units of one version of a table in one task. Each unit sees every batch and takes the changes in its range.

    `sources` have the units whose rows pass to these; all their changes come before this version's. `events` are those
    of its parents, if foreign keys change its rows. `bound` is the binding that the reader currently fills, None before
    the first table map. `taker`, if set, takes its batches instead.
    """

    def __init__(self, units: tuple[UnitSpec, ...], sources: Sequence[TableWalk] = (),
                 events: RowEvents | None = None):
        self.units: list[UnitApplier] = [
            UnitApplier(unit, [source.units[number] for source in sources], events)
            for number, unit in enumerate(units)]
        self.bound: BoundTable | None = None
        self.taker: Callable[[ChangeBatch], None] | None = None
        self._spec, self._events = units[0], events
        self._logged = LoggedTable(units[0].definition, units[0].type_conversions, units[0].same_columns)
        self._ranges = None if events is not None else _ranges(units)
        self._steps_to: StepsTaker | None = None
        self._closed = set(range(len(units)))  # of those units, the ones that have not seen a batch

    @property
    def has_events(self) -> bool:
        """True if foreign keys change its rows according to its parents' changes."""
        return self._events is not None

    def start_file(self, file: int) -> None:
        """Note that the following batches are of the file with this number."""
        if self._events is not None:
            self._events.file = file

    def bind(self, table_map: TableMap, bound: TableBinding | None = None) -> TableBinding:
        """Return what to read from the table's rows events: the key of both images, and pointers to the after-images.
        """
        reading = self._logged.bind_table_map(table_map)
        if self.bound is None:
            for unit in self.units:
                unit.bind_table_map(reading)
        if bound is not None:
            return bound
        reader = batch_reader(self._spec.search, reading.definition, table_map, reading.layouts, self._spec.time_zone) \
            if self.bound is None else self.bound.reader
        wanted = reader.wanted(reading.plans)
        after = wanted if self._events is None else self._events.wanted(reading.plans, wanted)
        has_witness = self._spec.witness != OFF
        binding = TableBinding(reading.plans, wanted, after, self.taker or partial(self._take, reading, reader),
                               BATCH_ROWS, reader.raw_diffs, reader.before_images or has_witness, hashes=has_witness)
        binding.layouts = reading.layouts
        self.bound = BoundTable(reading, reader, binding)
        return binding

    def _take(self, reading: TableReading, reader: BatchReader, batch: ChangeBatch) -> None:
        """Take changes, in commit order."""
        reading.drop_no_op_updates(batch)
        changes: Any = reader.of_batch(batch)  # as units that search so take them
        if self._events is not None:
            self._events.take(batch, reading.table_map)
        concerned = self._concerned(changes)
        if len(stored := [unit.read_by_key for unit in concerned if unit.read_by_key is not None]) > 1:
            fetch(stored, [changes.keys.before, changes.keys.after])
        for unit in concerned:
            unit.take(changes)
        self.hand_over_steps(batch)

    def trace(self, take: StepsTaker, *, keeping: bool = False) -> None:
        """Have `take` called after each batch with its effects on rows. To be called before the first batch. `keeping`:
        rows stay accessible after they have passed to the table's next version."""
        self._steps_to = take
        for unit in self.units:
            unit.trace(keeping=keeping)

    @property
    def is_traced(self) -> bool:
        """True if the steps of its rows are kept."""
        return self._steps_to is not None

    def hand_over_steps(self, batch: ChangeBatch | None, causes: Causes = NO_CAUSES) -> None:
        """Hand over the steps after a batch was applied: the table's own one, or (None) one of tables that it refers
        to."""
        if self._steps_to is not None:
            self._steps_to(self.units, batch, causes)

    def pause(self) -> None:
        """Release the batch, which was handed over: another reader of the log follows."""
        if self.bound is not None:
            self.bound = dataclasses.replace(self.bound, binding=None)

    def end(self) -> None:
        """Note that no more changes come. This breaks reference cycles, so that memory is freed before the garbage
        collector runs."""
        self.bound = self._steps_to = None

    def _concerned(self, changes: Any) -> list[UnitApplier]:
        """Return the units that must see a batch: all, except those that would have to read rows of a base first and
        whose range has none of the batch's keys."""
        if self._ranges is None:
            return self.units
        concerned = self._ranges.concerned(changes.texts.columns())
        self._closed -= concerned
        if not self._closed:
            self._ranges = None
        return [self.units[number] for number in sorted(concerned)]


def _ranges(units: tuple[UnitSpec, ...]) -> UnitRanges | None:
    """Return the key ranges of units that have rows before their first change; None if they have none."""
    ranges = [unit.search for unit in units if isinstance(unit.search, KeyRange)]
    if len(ranges) < len(units) or isinstance(units[0].origin, BeginsEmpty):
        return None
    return UnitRanges(ranges)
