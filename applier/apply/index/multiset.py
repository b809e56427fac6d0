"""A unit's rows as a multiset of row images: the memory around the kernels of `multiset_kernel`.

This is an index of its own, not a RowStore with another hash. A store copies the indexed columns of each row, since
keys are encoded from values that are valid for one batch, and links rows in both directions, since several indexes lead
to each row. Here the log itself is the key, and one table leads to it. A store with whole images as its only part takes
3.3 times as long (a million rows of 60 bytes, inserted and deleted in random order: 1.4 s of CPU against 0.42).
"""

from __future__ import annotations

import numpy as np

from applier.apply.index import multiset_kernel as m
from applier.apply.index.status import Status
from applier.apply.index.unit_index import UnitIndex, growth
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from keysearch.addresses import address_of

FIRST_ROWS = 1 << 12


class RowMultiset(UnitIndex[ChangeBatch]):
    """Rows that are found by their whole images. `elsewhere` counts the unit's rows that are not here."""

    def __init__(self, columns: int):
        super().__init__(columns, m.SET, m.apply_images)
        self.elsewhere = 0
        self._hashes, self._likely = np.empty((m.BLOCK, 2), np.uint64), np.empty(m.BLOCK, np.int64)
        self._describe(free_slot=-1, hashes=address_of(self._hashes), likely=address_of(self._likely))
        self._slots = np.empty(FIRST_ROWS, m.SLOT)
        self._entries = np.full((2 * FIRST_ROWS, 2), -1, np.int64)
        self._describe_memory()

    def _describe_memory(self) -> None:
        self._describe(entries=address_of(self._entries), mask=len(self._entries) - 1,
                       slots=address_of(self._slots), slot_room=len(self._slots))

    @property
    def live(self) -> int:
        return super().live + self.elsewhere

    @property
    def arrived(self) -> int:
        """The number of rows so far, including those of the base."""
        return self._known("next_order")

    def begin_after(self, rows: int) -> None:
        """Set the number of rows elsewhere; they precede all others."""
        self.elsewhere = rows
        self._describe(next_order=rows)

    def holds_all(self, batch: ChangeBatch, layouts: ImageLayouts) -> bool:
        """Return whether the images of a batch have a value of each column of the log. Then equal bytes mean equal
        rows."""
        columns = len(layouts.plans)
        whole = np.array([*(len(layout.present) == columns and not layout.diffs for layout in layouts.known), True])
        return all(bool(whole[layouts_of(pointers)].all()) for pointers in (batch.before_images, batch.images))

    def prepare(self, batch: ChangeBatch, layouts: ImageLayouts) -> None:
        """Take a batch whose images have all columns; `run` stops at the first change whose row is not here."""
        self._describe(before_images=address_of(batch.before_images), before_lengths=address_of(batch.before_lengths),
                       image_lengths=address_of(batch.image_lengths))
        self._receive(batch, layouts)

    def add(self, pointers: np.ndarray, lengths: np.ndarray, orders: np.ndarray) -> None:
        """Insert rows that were elsewhere: pointers to their images, the lengths of these, and the rows' numbers of
        arrival."""
        rows = super().live + len(pointers)
        while rows > len(self._slots):
            self._grow(Status.INDEX_FULL)
        m.put_rows(pointers, lengths.astype(np.int64), orders, self.address)
        self._set(live=rows)
        self.elsewhere -= len(pointers)

    def _grow(self, status: int) -> None:
        more = growth(len(self._entries))
        self._slots = np.concatenate([self._slots, np.empty((more - 1) * len(self._slots), m.SLOT)])
        larger = np.full((more * len(self._entries), 2), -1, np.int64)
        m.grow_entries(address_of(self._entries), len(self._entries), address_of(larger), len(larger) - 1)
        self._entries = larger
        self._describe_memory()

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The remaining rows in the order of arrival: pointers to their images, and their 0-based arrival
        numbers (both int64[n])."""
        slots = self._slots[:self._known("slots_used")]
        slots = slots[slots["pointer"] >= 0]
        order = np.argsort(slots["order"], kind="stable")
        return slots["pointer"][order], slots["order"][order]
