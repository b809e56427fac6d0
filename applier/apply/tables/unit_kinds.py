"""Units by how their rows are found (spec.RowSearch)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import pyarrow as pa

from applier.apply.index.unit_index import Conflict
from applier.apply.index.watched_rows import WatchedRows
from applier.apply.search.key_search import BytesKeySearch, IntKeySearch, KeySearch
from applier.apply.search.keyed_changes import BytesImageKeys, ImageKeys, IntImageKeys, KeyedChanges
from applier.apply.search.multiset_search import ImageChanges, MultisetSearch
from applier.apply.search.row_keys import StoredChanges
from applier.apply.search.store_search import StoreSearch
from applier.apply.spec import BytesRange, ImageMultiset, IntRange, NotSearched, Stored, UnitSpec
from applier.apply.tables.logged_table import TableReading
from applier.apply.tables.unit import UnitApplier
from applier.apply.tasks import UnitResult
from applier.columns.extra_columns import ExtraColumns
from keysearch.keybytes import KeyBytes

if TYPE_CHECKING:
    from applier.apply.foreign_keys.parent_events import ParentEvents


class KeyedUnit(UnitApplier[KeyedChanges[ImageKeys]], Generic[ImageKeys]):
    """A key range of a table. Foreign keys change rows as `events` say, which are told of each batch before it is
    taken."""

    def __init__(self, spec: UnitSpec, sources: Sequence[UnitApplier[Any]], events: ParentEvents | None):
        super().__init__(spec, sources)
        self._events = events

    def bind_table_map(self, reading: TableReading) -> None:
        super().bind_table_map(reading)
        if self._events is not None:  # they are told of the first batch before it is taken, and watch the rows there
            self.open()

    @abstractmethod
    def _key_search(self, watched: WatchedRows | None) -> KeySearch[ImageKeys]:
        """The search; some of its rows may be watched."""

    def _new_search(self) -> KeySearch[ImageKeys]:
        if self._events is None:
            return self._key_search(None)
        self._watched: WatchedRows = WatchedRows(self._events)
        self._memory.add_derived(self._events.given)
        return self._key_search(self._watched)

    @property
    def _reads_by_key(self) -> bool:
        return self._stored is not None and self._events is None

    def _keys_of(self, changes: KeyedChanges[ImageKeys]) -> tuple[np.ndarray | KeyBytes, ...]:
        return changes.keys.before, changes.keys.after

    def finish(self) -> UnitResult:
        if self._events is not None:  # foreign keys change the rows that are left
            self.open()
            if not self.is_stopped:
                self._watched.finish()
                self.by_foreign_keys = self._watched.made
        return super().finish()


class IntKeyedUnit(KeyedUnit[IntImageKeys]):
    """By an integer key."""

    def __init__(self, spec: UnitSpec, rows: IntRange, sources: Sequence[UnitApplier[Any]] = (),
                 events: ParentEvents | None = None):
        super().__init__(spec, sources, events)
        self._rows = rows

    def _key_search(self, watched: WatchedRows | None) -> IntKeySearch:
        return IntKeySearch(self.spec, self._rows, watched)


class BytesKeyedUnit(KeyedUnit[BytesImageKeys]):
    """By a key of bytes."""

    def __init__(self, spec: UnitSpec, rows: BytesRange, sources: Sequence[UnitApplier[Any]] = (),
                 events: ParentEvents | None = None):
        super().__init__(spec, sources, events)
        self._rows = rows

    def _key_search(self, watched: WatchedRows | None) -> BytesKeySearch:
        return BytesKeySearch(self.spec, self._rows, watched)


class StoredUnit(UnitApplier[StoredChanges]):
    """A whole table in a row store.

    In a foreign-key group: `open`, then for each batch `prepare` and `finish_batch` instead of `take`.
    """

    def __init__(self, spec: UnitSpec, rows: Stored, sources: Sequence[UnitApplier[Any]] = ()):
        super().__init__(spec, sources)
        self._rows = rows

    def _new_search(self) -> StoreSearch:
        self._store = StoreSearch(self.spec, self._rows, self._memory.gatherer)
        return self._store

    @property
    def store(self) -> StoreSearch:
        """The search, with the rows that are there."""
        self.open()
        return self._store

    def bind_table_map(self, reading: TableReading) -> None:
        super().bind_table_map(reading)
        place = ExtraColumns(self.spec.definition, self._memory.n_logged).place_in_key
        if place is not None:
            self.store.order_by_arrival(place)

    def prepare(self, changes: StoredChanges) -> None:
        """What `take` does before a batch is applied."""
        self.store.prepare(changes, self._memory.layouts)

    def finish_batch(self, changes: StoredChanges, conflict: Conflict | None) -> None:
        """What `take` does after it."""
        store = self.store
        store.finish_batch(changes)
        self._after_batch(changes, store, None if conflict is None else store.refused(changes, conflict))

    @property
    def base_rows(self) -> int:
        """How many rows pointers may lead to that are in no image."""
        return self._memory.base_rows

    def add_derived(self, rows: pa.Table) -> None:
        """Rows that hold values which foreign keys gave to rows of this table, numbered after `base_rows`."""
        self._memory.add_derived(rows)

    def _numbered(self, rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        extra = ExtraColumns(self.spec.definition, self._memory.n_logged)
        numbers, start, index = extra.numbers(self._memory.base, self._given()), 0, self.store.index
        if numbers is None:
            yield from rows
            return
        self._next_number = numbers.after(index.arrived)
        for chunk in rows:
            numbered = numbers.number(chunk, index.arrivals[start:start + chunk.num_rows])
            start += numbered.num_rows
            yield numbered

    def _given(self) -> int:
        """Where AUTO_INCREMENT goes on: behind the numbers of rows that are gone, unless a statement says otherwise."""
        number = self.spec.definition.first_number
        if not self.sources or self.sources[0].spec.definition.first_number != number:
            return number
        return max(number, self.sources[0]._next_number)


class MultisetUnit(UnitApplier[ImageChanges]):
    """A whole table as a multiset of images."""

    def _new_search(self) -> MultisetSearch:
        return MultisetSearch(self.spec, self._memory.files, self._memory.gatherer)


class PassedUnit(UnitApplier[ImageChanges]):
    """A version that the log has no changes of: its rows pass through."""

    def _new_search(self) -> MultisetSearch:
        raise ValueError("changes of a version that the plan has none for")


def unit_applier(spec: UnitSpec, sources: Sequence[UnitApplier[Any]] = (),
                 events: ParentEvents | None = None) -> UnitApplier[Any]:
    """A unit before its first change; `events` are those of its parents, if foreign keys change rows of it."""
    match spec.search:
        case IntRange():
            return IntKeyedUnit(spec, spec.search, sources, events)
        case BytesRange():
            return BytesKeyedUnit(spec, spec.search, sources, events)
        case Stored():
            return StoredUnit(spec, spec.search, sources)
        case ImageMultiset():
            return MultisetUnit(spec, sources)
        case NotSearched():
            return PassedUnit(spec, sources)
