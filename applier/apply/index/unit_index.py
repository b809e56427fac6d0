"""An index of a unit's rows: the code that all kinds of indexes share.

A kernel applies a batch of changes in commit order until it is done, needs more room, or finds a conflict. This module
gives it more room and has it continue.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from applier.apply.index import pointer_kernel as k
from applier.apply.index.column_pointers import ColumnPointers
from applier.apply.index.diff_nodes import DiffNodes
from applier.apply.index.status import Status
from applier.apply.index.witness.image_witness import ImageWitness
from applier.binlog.rows.changes import Changes, ImageLayouts
from keysearch.addresses import address_of
from keysearch.numba_private import Kernel

Batch = TypeVar("Batch", bound=Changes)
FIRST_NOTED, FIRST_TRACED = 1 << 8, 1 << 13
SOON_FULL = 1 << 20
"""An index with fewer entries grows fourfold, since most tables that begin empty are being filled."""


@dataclasses.dataclass(frozen=True)
class Conflict:
    """A change that cannot be applied: its number in the batch, and whether its key is a duplicate (`duplicate`) or its
    row does not exist. `moves`: neither, but the row may move to another unit, and idempotent mode needs both units.
    `key` is the key for messages, after a search has added it."""

    change: int
    duplicate: bool
    moves: bool = False
    key: str = ""


class UnitIndex(ABC, Generic[Batch]):
    """Has the state and the column pointers, and continues a kernel that needs room. An index takes a batch (`prepare`,
    by kind), applies it (`run`) and records it (`finish_batch`).

    columns: the number of the table's columns in the log. record: the type of the kernels' record of this kind of
    index. kernel: applies changes, given their number and the addresses of the record and of the state. idempotent: the
    exec mode; `noted` then has the conflicts of the last batch.
    """

    def __init__(self, columns: int, record: np.dtype, kernel: Kernel, *, idempotent: bool = False):
        self._record, self._kernel = np.zeros((), record), kernel
        self._state = np.zeros((), k.STATE)
        self.column_pointers, self.diffs = ColumnPointers(columns), DiffNodes()
        self.witness: ImageWitness | None = None
        self._traced: np.ndarray | None = None
        self._set(columns=columns, free_column_pointers=-1)
        self._describe_column_pointers()
        self._noted = np.empty((FIRST_NOTED if idempotent else 0, 2), np.int64)
        if idempotent:
            self._note_in(self._noted)

    def _get(self, field: str) -> int:
        return int(self._state[field])

    def _set(self, **values: int) -> None:
        for field, value in values.items():
            self._state[field] = value

    def _describe(self, **values: int) -> None:
        """Set fields of the record."""
        for field, value in values.items():
            self._record[field] = value

    def _known(self, field: str) -> int:
        """Return a field of the record."""
        return int(self._record[field])

    def _describe_column_pointers(self) -> None:
        known = self.column_pointers
        self._set(present=address_of(known.present), column_pointers=address_of(known.pointers),
                  column_pointers_room=len(known.pointers))

    @property
    def address(self) -> int:
        """The address of the kernels' record of the index."""
        return address_of(self._record)

    @property
    def state_address(self) -> int:
        """The address of the kernels' state (pointer_kernel.STATE)."""
        return address_of(self._state)

    @property
    def column_pointers_used(self) -> int:
        """The number of column-pointer records in use or free."""
        return self._get("column_pointers_used")

    @property
    def live(self) -> int:
        """The number of rows."""
        return self._get("live")

    @property
    def noted(self) -> np.ndarray:
        """The conflicts that idempotent mode suppressed in the last batch, int64[n, 2]: the number of the change, and
        that of the unique key whose row an insert replaced or whose value an update would have duplicated; ROW_GONE
        (pointer_kernel) if the row to change does not exist."""
        return self._noted[:self._get("n_noted")]

    def _note_in(self, room: np.ndarray) -> None:
        self._noted = room
        self._set(noted=address_of(room), noted_room=len(room))

    def trace(self) -> None:
        """Keep the steps of rows from now on, for `take_steps`."""
        self._make_trace_room(FIRST_TRACED)

    def compare_images(self, witness: ImageWitness) -> None:
        """Have `witness` compare before-images with the rows that they find. To be called before any row is inserted.
        """
        self.witness = witness

    def _make_trace_room(self, more: int) -> None:
        """Make room for `more` steps."""
        traced, used = self._traced, self._get("n_traced")
        if traced is None or len(traced) < used + more:
            self._traced = np.empty(used + max(more, used), k.TRACED)
            if traced is not None:
                self._traced[:used] = traced[:used]
            self._set(traced=address_of(self._traced), traced_room=len(self._traced))

    def take_steps(self) -> np.ndarray:
        """Return the steps of rows since the last call (pointer_kernel.TRACED), in order. They are valid until the next
        change."""
        if self._traced is None:
            return np.empty(0, k.TRACED)
        steps = self._traced[:self._get("n_traced")]
        self._set(n_traced=0)
        return steps

    def watch(self, address: int) -> None:
        """Have foreign keys change rows of the next batch. `address` is that of foreign_keys.watched_kernel.WATCH, 0 if
        no row is watched."""
        self._set(watch=address)

    def give_back(self, pointers: np.ndarray) -> None:
        """Release pointers (int64[n]) to pre-change rows."""
        k.free_traced(self.state_address, pointers)

    @property
    def inserted(self) -> int:
        return self._get("inserted")

    @property
    def updated(self) -> int:
        return self._get("updated")

    @property
    def deleted(self) -> int:
        return self._get("deleted")

    @property
    def unique_met(self) -> int:
        """The number of the duplicate unique key, after a conflict with `duplicate`."""
        return 0

    def _receive(self, batch: Batch, layouts: ImageLayouts) -> None:
        """Prepare for a batch."""
        self.column_pointers.know(layouts)
        self._describe_column_pointers()
        self._set(kinds=address_of(batch.kinds), before_rows=address_of(batch.before_rows),
                  after_rows=address_of(batch.after_rows), images=address_of(batch.images))
        if diffs := self.column_pointers.diffs_in(batch.images):
            self._set(diff_nodes=self.diffs.reserve(diffs))
        if self._traced is not None:
            self._make_trace_room(batch.n)
        if self.witness is not None:
            self._set(witness=self.witness.receive(batch, layouts))
        self._set(next=0, n_noted=0)

    def finish_batch(self, batch: Batch) -> None:
        """Save the data that the next batch would overwrite."""
        if self.column_pointers.diffs_in(batch.images):
            self.diffs.record_batch(self._get("diffs"), batch)
        if self.witness is not None:
            self.witness.release()

    def run(self, batch: Batch) -> Conflict | None:
        """Run the kernel until all changes are applied, or one has a conflict."""
        while (status := int(self._kernel(batch.n, self.address, self.state_address))) != Status.DONE:
            if conflict := self.resolve(status):
                return conflict
        return None

    def resolve(self, status: int) -> Conflict | None:
        """Make room according to a kernel's status, or return the conflict at which it stopped."""
        if status == Status.COLUMN_POINTERS_FULL:
            self.column_pointers.grow()
            self._describe_column_pointers()
        elif status == Status.CONFLICTS_FULL:
            self._note_in(np.concatenate([self._noted, np.empty_like(self._noted)]))
        elif status == Status.TRACE_FULL:
            self._make_trace_room(self._get("traced_room"))
        elif status in (Status.INDEX_FULL, Status.BUFFER_FULL):
            self._grow(status)
        elif status == Status.SPLIT_PARTIAL_IMAGE:
            raise AssertionError("a partial image moves a row between units that the plan did not keep together")
        else:
            return Conflict(self._get("next"), status == Status.DUPLICATE, status == Status.SPLIT_MOVE)
        return None

    @abstractmethod
    def _grow(self, status: int) -> None:
        """Enlarge the buffer that is full according to `status`."""


def growth(entries: int) -> int:
    """Return the factor by which an index with this many entries grows."""
    return 4 if entries < SOON_FULL else 2
