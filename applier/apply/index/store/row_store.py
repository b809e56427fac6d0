"""An index of a unit's rows by several keys: the memory around the kernels of `store_kernel`.

A table without a single key that finds all rows has a RowStore instead of an IntIndex or a ByteIndex. Its indexes are
over *parts* (row_part_encoder): first the table's unique keys, then one for each set of parts by which before-images
are searched, which is built for the first such image.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from applier.apply.index.status import Status
from applier.apply.index.store import store_layout as s
from applier.apply.index.store import store_upkeep_kernel
from applier.apply.index.store.awaited_values import Awaited, AwaitedValues
from applier.apply.index.store.row_parts import EncodedRowPart, Inputs, Search
from applier.apply.index.store.store_kernel import apply_rows
from applier.apply.index.unit_index import Conflict, UnitIndex
from applier.binlog.rows.changes import DecodedChanges, ImageLayouts
from applier.errors import UnsupportedEvent
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes

FIRST_ROWS = 1 << 10
FIRST_BYTES = 1 << 16
ORDER_OF_ARRIVAL = -1
_HINT = "no server writes so many kinds of row images; leave the table out with --ignore-tables"


RowsAt = Callable[[np.ndarray, tuple[int, ...]], pa.Table]
"""Returns some columns (by number in the definition) of the rows to which pointers (int64[n]) lead."""


class _Index:
    """One index: numbers of its parts, and its kind (store_layout.UNIQUE, ALIKE, UNLIKE)."""

    def __init__(self, parts: tuple[int, ...], kind: int):
        self.parts, self.kind = np.array(parts, np.int64), kind
        self.heads = np.empty(0, np.int64)
        self.links = np.empty(0, s.LINK)

    def record(self) -> tuple[int, ...]:
        return (len(self.parts), address_of(self.parts), address_of(self.heads), len(self.heads) - 1,
                address_of(self.links), self.kind)


class RowStore(UnitIndex[DecodedChanges]):
    """An index by several keys.

    columns: of the table in the log. parts: how many a record has. unique: for each unique key, in the server's order,
    its parts. clustered: whether the server keeps the rows in the order of the first of them. rows_at: reads rows that
    were found.
    """

    def __init__(self, columns: int, parts: int, unique: list[tuple[int, ...]], *, clustered: bool, idempotent: bool,
                 rows_at: RowsAt):
        super().__init__(columns, s.STORE, apply_rows, idempotent=idempotent)
        self._indexes = [_Index(parts, s.UNIQUE) for parts in unique]
        self._searches: dict[tuple[int, ...], int] = {}
        self._slots = np.empty(FIRST_ROWS, s.SLOT)
        self._buffer = np.empty(FIRST_BYTES, np.uint8)
        self._describe(n_parts=parts, n_unique=len(unique), free_slot=-1, replaced_row_record=-1,
                       rank=0 if clustered else ORDER_OF_ARRIVAL)
        self.arrivals = self.places = np.empty(0, np.int64)
        self._awaited: Awaited | None = None
        self._rows_at = rows_at
        self._rebuild()

    # ---- indexes

    def index_by(self, search: Search) -> int:
        """Return the number of the index that a search uses, after building it if needed. Raises UnsupportedEvent if
        there are as many as kernels can number."""
        if search.unique is not None:
            return search.unique
        if not search.parts and not search.finds_any:
            return s.NO_ROW if search.is_passed_over else s.NO_SEARCH
        if search.parts not in self._searches:
            if len(self._indexes) >= s.NO_ROW:
                raise UnsupportedEvent(f"rows of one table are searched by {s.NO_ROW} different sets of columns",
                                       hint=_HINT)
            self._searches[search.parts] = len(self._indexes)
            self._indexes.append(_Index(search.parts, s.UNLIKE if search.ranked else s.ALIKE))
            self._rebuild([len(self._indexes) - 1])
        return self._searches[search.parts]

    def _rebuild(self, numbers: list[int] | None = None) -> None:
        """Build indexes again (None: all), for as many rows as there are slots."""
        for number in range(len(self._indexes)) if numbers is None else numbers:
            index = self._indexes[number]
            index.heads = np.full(2 * len(self._slots), -1, np.int64)
            index.links = np.empty(len(self._slots), s.LINK)
        self._describe_memory()
        for number in range(len(self._indexes)) if numbers is None else numbers:
            store_upkeep_kernel.build_index(self.address, number)

    def _describe_memory(self) -> None:
        self._indexes_by_address = np.array([index.record() for index in self._indexes], s.INDEX)
        self._describe(indexes=address_of(self._indexes_by_address), n_indexes=len(self._indexes),
                       slots=address_of(self._slots), slot_room=len(self._slots),
                       buffer=address_of(self._buffer), buffer_room=len(self._buffer))

    def rank_by_arrival(self, after: tuple[int, ...]) -> None:
        """Set the table's order: by these parts, then by arrival, regardless of the first unique key."""
        self._describe(rank=self.index_by(Search(parts=after)) if after else ORDER_OF_ARRIVAL)

    # ---- existing rows

    def seed(self, rows: int, parts: list[KeyBytes]) -> None:
        """Insert `rows` rows of the base, in the table's order; row i has item i of each of `parts`."""
        self._slots = np.empty(max(FIRST_ROWS, 1 << int(rows).bit_length()), s.SLOT)
        inputs = Inputs([EncodedRowPart(keys) for keys in parts])
        self._describe(slots_used=rows, next_order=rows, after=inputs.address)
        self._set(live=rows)
        total = rows * 4 * len(parts) + sum(int(keys.offsets[-1]) for keys in parts)
        self._buffer = np.empty(max(FIRST_BYTES, total + total // 2), np.uint8)
        self._describe_memory()
        store_upkeep_kernel.fill_rows(rows, self.address)
        self._rebuild()

    def pointers(self, order_by: tuple[int, ...] = ()) -> np.ndarray:
        """Return pointers to the remaining rows, int64[n], ordered by these parts, then by arrival. `arrivals[i]` is
        then the 0-based arrival number of row i, `places[i]` its slot: a new row takes the one that was freed last."""
        numbers = np.flatnonzero(self._slots["record"][:self._known("slots_used")] >= 0)
        numbers = numbers[np.argsort(self._slots["order"][numbers], kind="stable")]
        if order_by:
            self._indexes.append(_Index(order_by, False))
            self._describe_memory()
            store_upkeep_kernel.sort_slots(self.address, len(self._indexes) - 1, numbers,
                                           np.empty_like(numbers))
        self.arrivals, self.places = self._slots["order"][numbers], numbers
        pointers: np.ndarray = self._slots["pointer"][numbers]
        return pointers

    # ---- rows that come from elsewhere or go there (multiset_search)

    def take(self, search: Search, parts: list[EncodedRowPart], images: int) -> np.ndarray:
        """Remove the row that each of `images` before-images with these parts finds, and return its arrival number
        (int64[images]; -1: there is no such row)."""
        orders, inputs, seen = np.empty(images, np.int64), Inputs(parts), 0
        number = self.index_by(search)
        self._describe(before=inputs.address)
        while (seen := store_upkeep_kernel.take_rows(seen, images, self.address, number, orders)) < images:
            self._grow_buffer()
        self._set(live=self.live - int((orders >= 0).sum()))
        return orders

    def add(self, parts: list[KeyBytes], pointers: np.ndarray, orders: np.ndarray) -> None:
        """Insert rows without a check of unique keys, given their parts, pointers and arrival numbers."""
        inputs, added, rows = Inputs([EncodedRowPart(keys) for keys in parts]), 0, len(pointers)
        while self._known("slots_used") + rows > len(self._slots):
            self._grow(Status.INDEX_FULL)
        self._describe(after=inputs.address)
        while (added := store_upkeep_kernel.add_rows(added, rows, self.address, pointers, orders)) < rows:
            self._grow_buffer()
        self._set(live=self.live + rows)

    def go_on_after(self, arrived: int, inserted: int, updated: int, deleted: int) -> None:
        """Set the counts of rows that arrived, and of inserts, updates and deletes, before those of this store."""
        self._describe(next_order=arrived)
        self._set(inserted=inserted, updated=updated, deleted=deleted)

    # ---- changes

    def prepare(self, batch: DecodedChanges, layouts: ImageLayouts, before: list[EncodedRowPart],
                after: list[EncodedRowPart], access_paths: np.ndarray, searches: list[Search],
                awaited: AwaitedValues | None = None) -> None:
        """Take a batch, which `run` applies and `finish_batch` ends. `before` and `after` are the parts of its images;
        `access_paths` (int64, by row of the before-images) says by which of `searches` each row is found. The `awaited`
        values of after-images (None: none) are computed from the rows that are found. Raises UnsupportedEvent as
        `index_by`."""
        inputs = Inputs(before), Inputs(after)
        try:
            numbers = [self.index_by(search) for search in searches]
        except UnsupportedEvent as error:
            raise error.at(file=batch.file.uri, position=int(batch.positions[0])) from None
        indexes = np.array(numbers or [s.NO_SEARCH], np.uint8)[access_paths]
        self._describe(before=inputs[0].address, after=inputs[1].address, searches=address_of(indexes))
        self._awaited = None if awaited is None else Awaited(batch, awaited)
        states, records = (0, 0) if self._awaited is None else self._awaited.addresses
        self._describe(awaited=states, awaited_of=records)
        self._describe_memory()
        self._kept = inputs, indexes
        self._receive(batch, layouts)

    def resolve(self, status: int) -> Conflict | None:
        if status != Status.AWAITS or self._awaited is None:
            return super().resolve(status)
        self._tell(self._awaited, self._get("next"))
        return None

    def _tell(self, awaited: Awaited, first: int) -> None:
        """Compute the values that changes from number `first` on await, as if no change preceded them. Values for which
        this is wrong are computed again later."""
        changes = awaited.next_changes(first)
        images = np.ascontiguousarray(awaited.batch.before_rows[changes], np.int64)
        numbers, seen = np.empty(len(images), np.int64), 0
        while (seen := store_upkeep_kernel.find_rows(seen, len(images), self.address, images, numbers)) < len(images):
            self._grow_buffer()
        changes, numbers = changes[numbers >= 0], numbers[numbers >= 0]
        self.diffs.record_batch(self._get("diffs"), awaited.batch)
        rows = self._rows_at(self._slots["pointer"][numbers], awaited.columns)
        inputs = Inputs(awaited.tell(changes, rows, self._slots["record"][numbers]))
        self._describe(after=inputs.address)
        (before, _), indexes = self._kept
        self._kept = (before, inputs), indexes

    @property
    def arrived(self) -> int:
        """The number of rows so far, including those of the base."""
        return self._known("next_order")

    @property
    def unique_met(self) -> int:
        return self._known("detail")

    def _grow(self, status: int) -> None:
        if status == Status.BUFFER_FULL:
            self._grow_buffer()
        else:
            self._slots = np.concatenate([self._slots, np.empty(3 * len(self._slots), s.SLOT)])
            self._rebuild()

    def _grow_buffer(self) -> None:
        """Drop garbage from the buffer, or double it. A row that an insert is replacing is garbage, but still needed.
        """
        if 2 * self._known("garbage") > len(self._buffer) and self._known("replaced_row_record") < 0:
            buffer = np.empty_like(self._buffer)
            store_upkeep_kernel.move_records(self.address, address_of(buffer))
            self._buffer = buffer
            if self._awaited is not None:
                self._awaited.forget_records()
        else:
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._describe_memory()
