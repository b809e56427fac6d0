"""One unit of work: a key range of a table, its base rows, and the changes that come to it in commit order.

A change that cannot be applied stops the unit as it would stop a replica: 1062 where the key is there twice, 1032
where the row is not there. Which transaction that is, the driver looks up by the position.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from applier.apply.index.key_index import Conflict
from applier.apply.index.watched_rows import WatchedRows
from applier.apply.output.altered_rows import altered_rows, exchanged_rows
from applier.apply.output.rows import CHUNK_ROWS, LoggedColumns, RowGatherer
from applier.apply.output.unit_files import Written, write_unit
from applier.apply.search.change_keys import KeyReader
from applier.apply.search.multiset_search import MultisetSearch, WholeImages
from applier.apply.search.row_keys import RowKeys
from applier.apply.search.unit_search import KeySearch, StoreSearch, UnitSearch
from applier.apply.spec import (
    Altered,
    BeginsEmpty,
    Exchanged,
    ExchangeGroup,
    FromBase,
    ImageMultiset,
    Keyed,
    NotSearched,
    PlanAgain,
    Refused,
    Stored,
    UnitResult,
    UnitSpec,
)
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.columns.alter.scan_order import Arrivals
from applier.columns.event_times import EventTimes
from applier.columns.extra_columns import ExtraColumns
from applier.columns.replica_defaults import ReplicaDefaults
from applier.columns.table_key import alters_rows
from applier.errors import DUPLICATE_KEY, KEY_NOT_FOUND, ApplierError, ReplayStopped
from applier.io.mapping import MappedFile
from applier.schema.definition import table_schema
from applier.snapshot.date_marks import for_nulls
from applier.snapshot.reader import read_unit

if TYPE_CHECKING:
    from applier.apply.foreign_keys.parent_events import ParentEvents

Reader = KeyReader | RowKeys | WholeImages


class UnitApplier:
    """Applies changes to a unit. Calls come in commit order: `take` any number of times, then `finish`.

    `sources` are the units that `spec.sources` names, whose rows come to this one: all their changes come first.
    `layouts` numbers the after-image layouts of the table; units of one table in one task share it.

    JSON diffs are applied last, so that one of them does not fit is known only then (`finish`, or `check_diffs` where
    nothing will be written), and it may come before what stopped the unit.
    """

    def __init__(self, spec: UnitSpec, sources: Sequence[UnitApplier] = ()):
        self.spec, self.sources = spec, tuple(sources)
        self._kept: pa.Table | None = None
        self._search: UnitSearch | None = None  # while no change has come
        self._base = table_schema(spec.definition).empty_table()
        self._logged: LoggedColumns | None = None
        self._layouts: ImageLayouts | None = None
        self._defaults = ReplicaDefaults(spec.definition)
        self._times: EventTimes | None = None
        self._stop: Refused | PlanAgain | None = None
        self._failed_diff: ApplierError | None = None
        self._files: list[MappedFile] = []
        self._zero_dates = 0
        self._conflicts: list[pa.Table] = []
        self._seconds = 0.0
        self._was_changed: bool | None = None
        self._derived: list[pa.Table] = []
        self._events: ParentEvents | None = None
        self.by_foreign_keys = self._next_number = 0

    @property
    def is_stopped(self) -> bool:
        """Whether there was a change that could not be applied, in this version or those before; none is after it."""
        return self._stop is not None or any(source.is_stopped for source in self.sources)

    @property
    def stops(self) -> tuple[Refused | PlanAgain, ...]:
        """What stopped the unit, in this version or those before, in no order."""
        before = tuple(stop for source in self.sources for stop in source.stops)
        own = (self._stop, None if self._failed_diff is None else Refused(errors=(self._failed_diff,)))
        return before + tuple(stop for stop in own if stop is not None)

    def begin(self, table_map: TableMap, layouts: ImageLayouts) -> None:
        """The table's first changes are coming, with these columns and layouts: get the rows that are there."""
        definition = self.spec.definition
        stored = tuple(c for c, column in enumerate(definition.columns) if column.generated != "virtual")
        self._layouts, self._logged = layouts, LoggedColumns(stored, table_map.types, table_map.metadata)
        self._times = EventTimes(self._defaults, table_map, layouts)
        self.open()
        place = ExtraColumns(definition, len(table_map.types)).place_in_key
        if place is not None:
            self.store.order_by_arrival(place)

    def open(self) -> None:
        """Get the rows that are there before the first change, unless they are here already."""
        if self._search is not None:
            return
        self._search = self._new_search()
        if self._events is not None:
            self._search.watch(WatchedRows(self._events))
            self.add_derived(self._events.given)
        if self.is_stopped:
            return
        with self._timed():
            self._base = self._rows_before()
            if self._base.num_rows:
                self._search.seed(self._base)

    def _new_search(self) -> UnitSearch:
        match self.spec.search:
            case Keyed():
                return KeySearch(self.spec, self.spec.search)
            case Stored():
                return StoreSearch(self.spec, self.spec.search, self._gatherer)
            case ImageMultiset():
                return MultisetSearch(self.spec, self._files, self._gatherer)
            case NotSearched():
                raise ValueError("changes of a version that the log has none of")

    def retain_buffer(self, file: MappedFile) -> None:
        """Tell of memory that images of later batches lie in; it stays as long as the unit."""
        self._files.append(file)

    def take(self, batch: ChangeBatch, keys: tuple[Any, ...], reader: Reader) -> None:
        """Apply a batch of changes of this table: `keys` are theirs as the index takes them, as `reader` read them."""
        if self.is_stopped:
            return
        with self._timed():
            self._after_batch(batch, self._search.apply(batch, self._layouts, keys), reader)

    def _after_batch(self, batch: ChangeBatch, conflict: Conflict | None, reader: Reader) -> None:
        """Note what came of a batch."""
        self._times.remember_times(batch)
        if conflict is not None:
            self._stop = self._stopped_by(batch, conflict, reader)
        else:
            self._conflicts += self._search.suppressed_conflicts(self.spec.definition.full_name, batch, reader)

    def wait_for(self, events: ParentEvents) -> None:
        """Foreign keys change rows as these events say, which are told of each batch before it is taken."""
        self._events = events

    def _pass_events(self) -> None:
        """Have foreign keys change the rows that are left."""
        self.open()
        search: KeySearch = self._search
        self.by_foreign_keys = search.pass_events()

    # ---- where foreign keys tie it to other tables' units: `open`, then for each batch `prepare` and `settle`

    @property
    def store(self) -> StoreSearch:
        """The search of a unit with a row store."""
        return self._search

    def prepare(self, batch: ChangeBatch, keys: tuple[Any, ...]) -> None:
        """What `take` does before a batch is applied."""
        self._search.prepare(batch, self._layouts, keys)

    def settle(self, batch: ChangeBatch, keys: tuple[Any, ...], conflict: Conflict | None, reader: RowKeys) -> None:
        """What `take` does after it."""
        self._search.settle(batch, keys)
        self._after_batch(batch, conflict, reader)

    @property
    def base_rows(self) -> int:
        """How many rows pointers may lead to that are in no image: those of the base, and derived ones."""
        return self._base.num_rows + sum(rows.num_rows for rows in self._derived)

    def add_derived(self, rows: pa.Table) -> None:
        """Rows that hold values which foreign keys gave to rows of this table, numbered after `base_rows`."""
        self._derived.append(rows)

    @property
    def arrivals(self) -> Arrivals:
        """What is known of how the rows came; to be asked before they are taken."""
        chain = self._chain
        touched = any(isinstance(link.spec.origin, FromBase | Exchanged) or link.by_foreign_keys or (
            link._search is not None and (link._search.index.updated or link._search.index.deleted)) for link in chain)
        divided = any(link.spec.sources[0].conversion.old.partitioning is not None
                      for link in chain if link.spec.sources)
        return Arrivals(in_order=not divided, only_inserted=not touched)

    def _rows_before(self) -> pa.Table:
        """The rows before the first change to this version, in the order of its key if they come from another one."""
        spec, origin = self.spec, self.spec.origin
        match origin:
            case Exchanged():
                return exchanged_rows([(source.conversion, unit.rows()) for source, unit
                                       in zip(spec.sources, self.sources, strict=True)], spec.key)
            case Altered():
                [before] = self.sources
                return altered_rows(origin.conversion, before.rows(), None if origin.keeps_key else spec.key,
                                    before.arrivals)
            case FromBase():
                rows = read_unit(origin.snapshot, origin.files, table_schema(spec.definition))
                return for_nulls(rows, spec.definition)
            case BeginsEmpty():
                return self._base

    def rows(self) -> Iterator[pa.Table]:
        """The rows that are left, in the order in which they are written, some thousand at a time; they are lost but
        for a group, in which several units take them."""
        if not isinstance(self.spec.needs, ExchangeGroup):
            yield from self._rows_once()
            return
        if self._kept is None:
            self._kept = pa.concat_tables([table_schema(self.spec.definition).empty_table(), *self._rows_once()])
        yield from (pa.Table.from_batches([batch]) for batch in self._kept.to_batches(CHUNK_ROWS))

    def _rows_once(self) -> Iterator[pa.Table]:
        self._was_changed = self.is_changed
        if self._search is None:
            self._next_number = self.sources[0]._next_number if self.sources else 0
            yield from (pa.Table.from_batches([batch]) for batch in self._rows_before().to_batches(CHUNK_ROWS))
            return
        if self._logged is None:
            self._log_nothing()
        gatherer, pointers, start = self._gatherer(), self._search.pointers(), 0
        numbers = ExtraColumns(self.spec.definition, len(self._logged.types)).numbers(self._base, self._given())
        if numbers is not None:
            self._next_number = numbers.after(self._search.index.arrived)
        for rows in gatherer.batches(pointers):
            if numbers is not None:
                rows = numbers.number(rows, self._search.index.arrivals[start:start + rows.num_rows])
                start += rows.num_rows
            yield rows
        self._zero_dates, self._failed_diff = gatherer.zero_dates, gatherer.failed_diff()
        self._base, self._files = self._base.slice(0, 0), []
        self._derived = []

    def _given(self) -> int:
        """Where AUTO_INCREMENT goes on: behind the numbers of rows that are gone, unless a statement says otherwise."""
        number = self.spec.definition.first_number
        if not self.sources or self.sources[0].spec.definition.first_number != number:
            return number
        return max(number, self.sources[0]._next_number)

    def _gatherer(self) -> RowGatherer:
        index = self._search.index
        return RowGatherer(self.spec.definition, self._logged, self._layouts, index.patches, index.diffs,
                           pa.concat_tables([self._base, *self._derived]), self._files, self._defaults, self._times)

    def _log_nothing(self) -> None:
        """Only foreign keys have changed rows: there are no images."""
        columns = self.spec.definition.columns
        stored = tuple(c for c, column in enumerate(columns) if column.generated != "virtual")
        self._logged = LoggedColumns(stored, (0,) * len(columns), (0,) * len(columns))
        self._layouts = ImageLayouts([])

    def check_diffs(self) -> None:
        """See whether all JSON diffs fit that came before the unit stopped."""
        for source in self.sources:
            source.check_diffs()
        if self._was_changed is None and self._search is not None and self._search.index.diffs.n:
            self._failed_diff = self._gatherer().failed_diff()

    def finish(self) -> UnitResult:
        """Write the rows that are left, in key order, those of a table without one as they came; nothing where no
        change came into the unit's range. It does not count where there are `stops` afterwards."""
        written = Written(None)
        if self._events is not None:
            self._pass_events()
        with self._timed():
            if (place := self.spec.place) is None:
                self.check_diffs()
            elif self.is_changed:
                written = write_unit(place, self.spec.number, self.spec.definition, self.rows())
        chain = self._chain
        conflicts = [part for link in chain for part in link._conflicts]
        found = sum((link._search.found for link in chain if link._search is not None), Counter())
        return UnitResult(self.spec.number, *self._counts(), written.files,
                          pa.concat_tables(conflicts) if conflicts else None, dict(found),
                          sum(link._seconds for link in chain), written.history,
                          sum(link.by_foreign_keys for link in chain), self._next_number)

    @property
    def _chain(self) -> list[UnitApplier]:
        """The appliers of the versions whose rows come down to this one, which is the last."""
        sources = [link for source in self.sources for link in source._chain]
        return [*{id(link): link for link in sources}.values(), self]

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - began

    @property
    def is_changed(self) -> bool:
        """Whether the rows are not those of the base. A row that moves in from another unit is counted there."""
        if self._was_changed is not None:
            return self._was_changed
        if self._search is not None:
            index = self._search.index
            changes = self.by_foreign_keys or index.inserted or index.updated or index.deleted
            if changes or index.live != self._base.num_rows:
                return True
        match self.spec.origin:
            case Exchanged():
                return True
            case Altered(conversion=conversion):
                return alters_rows(conversion) or self.sources[0].is_changed
            case _:
                return False

    def _counts(self) -> tuple[int, int, int, int]:
        """Rows inserted, updated and deleted, and zero dates, in this version and those before. Changes to a table
        whose partition was exchanged count there."""
        counts = [unit._counts() for number, (source, unit) in enumerate(zip(self.spec.sources, self.sources)) if not (
            number == 0 and (removed := source.conversion.removed) is not None and not removed.inside)]
        if self._search is not None:
            index = self._search.index
            counts.append((index.inserted, index.updated, index.deleted, self._zero_dates))
        return tuple(map(sum, zip(*counts, strict=True))) if counts else (0, 0, 0, 0)

    def _stopped_by(self, batch: ChangeBatch, conflict: Conflict, reader: Reader) -> Refused | PlanAgain:
        change, table = conflict.change, self.spec.definition.full_name
        if conflict.moves:
            return PlanAgain(tables=frozenset([table]))
        what = ("a row with this key is there already", DUPLICATE_KEY) if conflict.duplicate else \
            ("the row to change is not there", KEY_NOT_FOUND)
        place, row = int(batch.places[change]), int(batch.rows[change])
        return Refused(errors=(ReplayStopped(
            what[0], file=batch.file.uri, position=place, row=row, errno=what[1], table=table,
            key=self._search.key_text(batch, conflict, reader)),))
