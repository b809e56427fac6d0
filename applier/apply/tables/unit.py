"""One unit of work: rows of a table, to which changes are applied in commit order.

A change that cannot be applied stops the unit as it would stop a replica: 1062 for a duplicate key, 1032 for a missing
row, 3648 and others for a JSON diff. The driver looks up its transaction by the position.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import TRACED
from applier.apply.index.unit_index import Conflict
from applier.apply.merged_changes import MergedChanges
from applier.apply.output.altered_rows import with_misplaced
from applier.apply.output.counted_rows import highest_number
from applier.apply.output.merged_unit import ChangedUnit, StoredRows, is_small
from applier.apply.output.rows import CHUNK_ROWS, RowGatherer
from applier.apply.output.unit_files import Written, write_unit
from applier.apply.search.access_methods import unit_search
from applier.apply.search.keyed_changes import KeyedChanges
from applier.apply.search.store_search import StoreSearch
from applier.apply.search.unit_search import TakenBatch, UnitSearch
from applier.apply.spec import ExchangeGroup, FromBase, KeyRange, UnitSpec
from applier.apply.tables.logged_table import TableReading
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit_link import UnitLink
from applier.apply.tables.unit_witness import UnitWitness
from applier.apply.tasks import PlanAgain, Refused
from applier.apply.witnessed import OFF, Witnessed, together
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DELETE, INSERT, ChangeBatch, Changes
from applier.binlog.rows.image_pointers import layouts_of
from applier.binlog.rows.layout import ColumnPlan
from applier.binlog.rows.partial_updates import PartialUpdates
from applier.columns.extra_columns import ExtraColumns
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ApplierError, ReplayStopped, SchemaError
from applier.io.mapping import MappedFile
from applier.schema.definition import table_schema, without_rows
from applier.schema.key_infos import clustered_key
from applier.snapshot.writer import TableTarget


class RowEvents(Protocol):
    """The effects of foreign keys on the rows of a table, by value (foreign_keys.parent_events). `file` is the number
    of the batches' file; `given` has rows with the values that events set."""

    file: int
    given: pa.Table

    def wanted(self, plans: list[ColumnPlan], others: list[ColumnPlan | None]) -> list[ColumnPlan | None]:
        """Return the additional columns to decode from after-images."""

    def take(self, batch: ChangeBatch, table_map: TableMap) -> None:
        """Examine a batch of the table's changes, before its units take it."""

    def search(self, spec: UnitSpec) -> UnitSearch[Any]:
        """Return the access method of a unit whose rows events change."""


class UnitApplier(UnitLink):
    """Applies changes to a unit. Calls come in commit order: `bind_table_map`, `take` any number of times, and then
    `unit_outcome.finish`. Before its first change a unit has no `search` and no rows in memory, and passes existing
    rows on.

    `events`: the effects of foreign keys on its rows, by value; they examine each batch before it is taken.

    JSON diffs are applied last, so a diff that does not fit is found only then (`failed_diff`), and it may precede the
    change that stopped the unit (`stop`). DDL statements without later changes are applied last, too.
    """

    def __init__(self, spec: UnitSpec, sources: Sequence[UnitApplier] = (), events: RowEvents | None = None):
        super().__init__(spec, sources)
        self._events = events
        self.failed_diff: ApplierError | None = None
        self.conflicts: list[pa.Table] = []
        self.seconds = 0.0
        self.zero_dates = 0
        self.has_testified = False
        self._is_traced = self._keeps_rows = False
        self._left: np.ndarray | None = None  # pointers, where rows are kept
        self._kept: pa.Table | None = None
        self._partial_updates: PartialUpdates | None = None
        self.merged: MergedChanges | None = None
        self._stored: StoredRows | None = None  # where the base's rows are, if changes may be written beside them
        if spec.merges and isinstance(spec.origin, FromBase):
            self._stored = StoredRows(spec.origin, spec.definition, *spec.bounds)

    @cached_property
    def _witness(self) -> UnitWitness | None:
        return UnitWitness(self.spec.definition, self._files) if self.spec.witness != OFF else None

    def _stopped_by(self, batch: Changes, conflict: Conflict) -> Refused | PlanAgain:
        table = self.spec.definition.full_name
        if conflict.moves:
            return PlanAgain(tables=frozenset([table]))
        what, errno = ("duplicate entry: a row with this key already exists", DUPLICATE_KEY) if conflict.duplicate \
            else ("can't find record: the row to update or delete does not exist", KEY_NOT_FOUND)
        position, row = int(batch.positions[conflict.change]), int(batch.rows[conflict.change])
        return Refused(errors=(ReplayStopped(what, file=batch.file.uri, position=position, row=row, errno=errno,
                                             table=table, key=conflict.key),))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time within the block to the unit's."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began

    # ---- while changes come

    def bind_table_map(self, reading: TableReading) -> None:
        """Prepare for the table's first changes, and how they are read."""
        self._memory.bind_table_map(reading)
        self._partial_updates = PartialUpdates(reading.plans, reading.layouts)
        if self.search is not None:
            self._count_diffs(self.search)
        if self._events is not None:  # they look at the first batch before it is taken, and watch the existing rows
            self.open()
        number_in_key = ExtraColumns(self.spec.definition, self._memory.n_logged).number_in_key
        if number_in_key is not None:
            self.store.order_by_arrival(number_in_key)

    def _count_diffs(self, search: UnitSearch[Any]) -> None:
        search.index.diffs.count_by(self._partial_updates, has_befores=self._witness is not None)

    def open(self) -> UnitSearch[Any]:
        """Load the rows from before the first change, unless they are loaded."""
        if self.search is None:
            search = self.search = self._new_search()
            if self._witness is not None:
                search.compare_images(self._witness.images)
            if not self.is_stopped:
                with self.timed(), self.refusing():
                    self._memory.base = self._rows_before()
                    self._check_misplaced()
                    self._has_rows = True
                    if self._memory.base.num_rows:
                        search.seed(self._memory.base)
            if self._is_traced:
                search.trace()
            self._count_diffs(search)
        return self.search

    def _new_search(self) -> UnitSearch[Any]:
        if self._events is None:
            return unit_search(self.spec, self._memory.files, self._memory.gatherer)
        self._memory.add_derived(self._events.given)
        return self._events.search(self.spec)

    @property
    def store(self) -> StoreSearch:
        """Return the search of a unit in a row store, with the existing rows."""
        return cast(StoreSearch, self.open())

    def retain_buffer(self, file: MappedFile) -> None:
        """Retain the memory of later batches' images as long as the unit."""
        self._files.append(file)

    def take(self, changes: TakenBatch) -> None:
        """Apply a batch of changes of this table."""
        if self.is_stopped:
            return
        search = self.open()
        with self.timed():
            if self._stored is not None and self._reads_by_key:
                keys = cast(KeyedChanges[Any], changes).keys
                self._add_base(self._stored.with_keys([keys.before, keys.after]))
            self.finish_batch(changes, search.apply(changes, self._memory.layouts))

    @property
    def read_by_key(self) -> StoredRows | None:
        """The rows of the base, if they are read only when a change may concern them; None if they are read in advance.
        """
        return self._stored if self._reads_by_key and not self.is_stopped else None

    @property
    def _reads_by_key(self) -> bool:
        """True if rows of the base are read only when a change may concern them."""
        return self._events is None and isinstance(self.spec.search, KeyRange)

    def _rows_before(self) -> pa.Table:
        if self._passed is None and self._stored is not None:
            return without_rows(table_schema(self.spec.definition)) if self._reads_by_key else self._stored.all()
        return super()._rows_before()

    def _taken(self) -> pa.Table:
        rows = super()._taken()
        if self._is_traced:
            self._refuse_misplaced("the steps of such rows are not followed")
        return rows

    def _check_misplaced(self) -> None:
        """Refuse changes to a MariaDB table without a key: the server may find misplaced rows by their values, and puts
        them where they belong. MySQL refuses a change of such a row, on the source and on a replica."""
        definition = self.spec.definition
        if clustered_key(definition) is None and definition.flavour == "mariadb":
            self._refuse_misplaced("rows of a table without a key change")

    def _refuse_misplaced(self, why: str) -> None:
        if self.misplaced:
            what, sources = f"rows lie in partitions to which they do not belong, and {why}", self.spec.sources
            raise sources[-1].conversion.refusal(what) if sources else SchemaError(
                what, table=self.spec.definition.full_name, hint="leave the table out with --ignore-tables")

    def _read_all(self) -> None:
        """Read all remaining rows of the base."""
        if self._stored is not None and not self._stored.is_complete:
            self._add_base(self._stored.all())

    def _add_base(self, rows: pa.Table) -> None:
        """Add more rows of the base, whose keys no change had."""
        if rows.num_rows:
            first = self._memory.base.num_rows
            self._memory.base = pa.concat_tables([self._memory.base, rows])
            self.open().add(rows, first)

    def finish_batch(self, changes: TakenBatch, conflict: Conflict | None) -> None:
        """Record the result of a batch that the search applied."""
        search = self.open()
        if self.is_stopped:  # a statement before it was refused, so the rows were not known
            return
        self._memory.remember_times(changes.batch)
        self._note_room(changes.batch.kinds)
        if self._witness is not None:
            self._witness.take(changes.batch, partial(search.are_here, changes))
            if self._witness.is_full:
                self.compare_images()
        if conflict is not None:
            self.stop = self._stopped_by(changes.batch, conflict)
        else:
            self.conflicts += search.suppressed_conflicts(self.spec.definition.full_name, changes)
            if self.spec.counts and self._highest is not None:
                self._note_numbers(changes.batch, search)

    def _note_numbers(self, batch: Changes, search: UnitSearch[Any]) -> None:
        """Note the highest number that some changes give to the column with AUTO_INCREMENT."""
        number = next((n for n, column in enumerate(self.spec.definition.columns) if column.auto_increment), None)
        if number is None:
            return
        images = batch.images[batch.kinds != DELETE]
        has_number = np.array([number in layout.present for layout in self._memory.layouts.known], np.bool_)
        lacks = ~has_number[layouts_of(batch.images[batch.kinds == INSERT])]
        if number >= self._memory.n_logged or self.conflicts or lacks.any():
            self._highest = None  # the replica numbers the rows, or not all changes were applied
            return
        images = images[has_number[layouts_of(images)]]
        values = self._memory.gatherer(search.index).images_at(images, [number]).column(0)
        highest = highest_number(values)
        self._highest = None if highest is None or self._highest is None else max(self._highest, highest)

    @property
    def base_rows(self) -> int:
        """The number of rows outside of images to which pointers may lead."""
        return self._memory.base_rows

    def add_derived(self, rows: pa.Table) -> None:
        """Add rows that hold values which foreign keys gave to rows of this table, numbered after `base_rows`."""
        self._memory.add_derived(rows)

    def end(self) -> None:
        """Finish after the last change: apply the remaining effects of foreign keys."""
        if self._events is not None:
            search = self.open()
            if not self.is_stopped:
                self.by_foreign_keys = search.end()

    # ---- the comparison of before-images with rows

    def compare_images(self) -> None:
        """Compare the waiting before-images with their rows, before these are released."""
        if self.search is None or self._witness is None:
            return
        index = self.search.index
        self._witness.compare(index, self._memory.reading, partial(self._memory.gatherer, index))

    @property
    def witnessed(self) -> Witnessed:
        """The results of comparing before-images with the rows of this version."""
        if self.search is None or self._witness is None:
            return Witnessed()
        by_search = self.search.agreed_by_search
        return together([self._witness.result, Witnessed(by_search, by_search)])

    # ---- the effects of changes on rows

    def trace(self, *, keeping: bool = False) -> None:
        """Keep the effects of changes on rows, for `take_steps`. To be called before the first change. `keeping`:
        pointers stay valid when the remaining rows pass to the table's next version."""
        self._is_traced, self._keeps_rows = True, keeping

    def take_steps(self) -> np.ndarray:
        """Return the steps of rows since the last call (pointer_kernel.TRACED), in memory that the next change reuses.
        Their pointers stay valid until they are given back, even after the remaining rows have passed on."""
        return np.empty(0, TRACED) if self.search is None else self.search.index.take_steps()

    def give_back(self, pointers: np.ndarray) -> None:
        """Release pointers to pre-change rows of steps, after they were read."""
        if self.search is not None:
            self.search.index.give_back(pointers)

    def traced_rows(self) -> TracedRows:
        """Return a reader of the rows to which pointers of steps lead."""
        return TracedRows(self.spec.definition, self._memory, self.rows_at_first,
                          None if self.search is None else self.search.index)

    @property
    def pointers_left(self) -> np.ndarray:
        """Pointers to the rows that remain after all changes, if rows are kept, in the order in which the next version
        begins with them."""
        if self._left is None:
            self._left = np.arange(self.rows_at_first.num_rows) if self.search is None else self.search.pointers()
        return self._left

    # ---- the rows that are left

    @property
    def ranks(self) -> np.ndarray | None:
        if self.search is None or self._ranks_before is None:
            return self._ranks_before
        return None if self.spec.idempotent else self.search.ranks(self._ranks_before)

    def rows(self) -> Iterator[pa.Table]:
        if not isinstance(self.spec.needs, ExchangeGroup):
            yield from self._rows_once()
            return
        if self._kept is None:
            self._kept = pa.concat_tables([without_rows(table_schema(self.spec.definition)), *self._rows_once()])
        yield from _chunks(self._kept)

    def _rows_once(self) -> Iterator[pa.Table]:
        self._was_changed = self.is_changed
        if self.search is None:
            self.next_number = self.sources[0].next_number if self.sources else 0
            rows = self.rows_at_first if self._keeps_rows else self._rows_before()
            self._passed = self._passed if self._keeps_rows else None
            yield from _chunks(rows)
            return
        self._read_all()
        self.compare_images()
        gatherer = self._memory.gatherer(self.search.index)
        yield from self._gathered(gatherer, self.pointers_left if self._keeps_rows else self.search.pointers())
        if not self._keeps_rows:
            self._memory.release()

    def _gathered(self, gatherer: RowGatherer, pointers: np.ndarray) -> Iterator[pa.Table]:
        """Yield the rows to which pointers lead. No others are gathered afterwards."""
        yield from self._numbered(gatherer.batches(pointers))
        self.zero_dates, self.failed_diff = gatherer.zero_dates, gatherer.failed_diff()

    def write(self, target: TableTarget) -> Written:
        """Write the remaining rows, or, beside existing files, the changes to their rows (`merged`)."""
        key, stored, search, number = self.spec.key, self._stored, self.search, self.spec.number
        if self.spec.may_misplace:
            rows = pa.concat_tables([without_rows(table_schema(self.spec.definition)), *self.rows()])
            rows = with_misplaced(rows, self.misplaced, self.spec.key, self.spec.definition.full_name)
            return write_unit(target, number, self.spec.definition, _chunks(rows))
        if stored is None or search is None or key is None:
            return write_unit(target, number, self.spec.definition, self.rows())
        if ExtraColumns(self.spec.definition, self._memory.n_logged).changes_rows:
            return write_unit(target, number, self.spec.definition, self.rows())
        index, n_base = search.index, self._memory.base.num_rows
        moved = abs(index.live - n_base - index.inserted + index.deleted)  # between units: these do not count it
        if not is_small(self.spec.base_files, index.inserted + 2 * index.updated + index.deleted + moved):
            self._read_all()
        self._was_changed = True
        gatherer, pointers = self._memory.gatherer(search.index), search.pointers()
        base = gatherer.base_rows(pointers)
        base[base >= self._memory.base.num_rows] = -1  # values that foreign keys gave
        stays = np.zeros(self._memory.base.num_rows, np.bool_)
        stays[base[base >= 0]] = True
        added = pointers[base < 0]
        if not stored.is_complete or is_small(self.spec.base_files, len(added) + int((~stays).sum())):
            unit = ChangedUnit(self.spec, key, self._memory.base, stored, stays)
            self.merged, zero_dates = unit.write(self._gathered(gatherer, added))
            written = Written(None, (), zero_dates)
        else:
            written = write_unit(target, number, self.spec.definition, self._gathered(gatherer, pointers))
        self._memory.release()
        return written

    def _numbered(self, rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield the rows with the numbers of an AUTO_INCREMENT column that the log does not have; only units with a row
        store have such columns."""
        extra = ExtraColumns(self.spec.definition, self._memory.n_logged)
        numbers, start = extra.numbers(self._memory.base, self._first_free_number()), 0
        if numbers is None:
            yield from rows
            return
        index = self.store.index
        self.next_number = numbers.after(index.arrived)
        for chunk in rows:
            numbered = numbers.number(chunk, index.arrivals[start:start + chunk.num_rows])
            start += numbered.num_rows
            yield numbered

    def _first_free_number(self) -> int:
        """Return where AUTO_INCREMENT continues: after the numbers of deleted rows, unless a statement sets it."""
        number = self.spec.definition.first_number
        if not self.sources or self.sources[0].spec.definition.first_number != number:
            return number
        return max(number, self.sources[0].next_number)

    def check_diffs(self) -> None:
        """Find the first JSON diff of this version that does not fit, unless the rows were passed on."""
        if self._was_changed is not None:
            return
        self.compare_images()
        if self.search is not None and self.search.index.diffs.n:
            self.failed_diff = self._memory.gatherer(self.search.index).failed_diff()


def _chunks(rows: pa.Table) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in rows.to_batches(CHUNK_ROWS))
