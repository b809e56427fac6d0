"""The memory around `watched_kernel`: which rows of a unit wait for events of their parents, and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from applier.apply.index import pointer_kernel, watched_kernel
from applier.apply.index import watched_kernel as k
from applier.binlog.rows.image_pointers import addresses_of, layouts_of, pointers_to
from keysearch.addresses import address_of

if TYPE_CHECKING:
    from applier.apply.foreign_keys.parent_events import ParentEvents
    from applier.apply.index.column_pointers import ColumnPointers

_FIRST_ROOM = 1 << 10


class WatchedRows:
    """The watched rows of one unit; `events` are those of its table, in a task that may have several of its units."""

    def __init__(self, events: ParentEvents):
        self._events = events
        self._records = np.empty(_FIRST_ROOM, k.record_type(len(events.columns)))
        self._watch = np.zeros((), k.WATCH)
        self._watch["free"], self._watch["n_links"] = -1, len(events.columns)
        self._watch["links"] = address_of(events.records)

    @property
    def _used(self) -> int:
        return int(self._watch["used"])

    @property
    def made(self) -> int:
        """How many rows events have changed or deleted so far, each as often as that happened."""
        return int(self._watch["made"])

    def give_after(self, rows: int) -> None:
        """The rows with values that events give are numbered from `rows` on."""
        self._watch["first_given"] = rows

    def receive(self) -> int:
        """Get ready for the rows that `events` has looked at; the address of the kernels' record, 0 if no row is
        watched."""
        if not self._used and not self._events.n_watched:
            return 0
        while len(self._records) < self._used + self._events.n_watched:
            self._records = np.concatenate([self._records, np.empty_like(self._records)])
        self._watch["records"] = address_of(self._records)
        self._watch["values"], self._watch["nexts"] = address_of(self._events.values), address_of(self._events.nexts)
        if self._events.turns is not None:
            self._watch["turns"] = address_of(self._events.turns)
        return address_of(self._watch)

    def base_pointers(self, rows: pa.Table) -> np.ndarray:
        """Pointers to the rows of a base, int64[n], those to watch by way of their records."""
        pointers = np.arange(rows.num_rows)
        for first, count in self._events.base_rows(rows):
            if self._events.n_watched:
                watched_kernel.watch_base(self.receive(), count, first, address_of(pointers))
        return pointers

    def finish(self) -> None:
        """Have all events happen that are left; no change comes afterwards."""
        self._watch["records"] = address_of(self._records)
        watched_kernel.pass_all(address_of(self._watch))

    def resolved(self, pointers: np.ndarray, column_pointers: ColumnPointers, used: int,
                 first_given: int) -> np.ndarray:
        """After `finish`, pointers (int64[n]) to the rows that are left and not watched, in their order. Those with
        values that events gave become column pointers, which come after the `used` first ones; given values are in rows
        of the base from `first_given` on."""
        at = np.flatnonzero(layouts_of(pointers) == k.WATCHED_ID)
        if not len(at):
            return pointers
        records = self._records[addresses_of(pointers[at])]
        gone = records["next_turn"] == k.IS_GONE
        left, records = at[~gone], records[~gone]
        rows = column_pointers.by_column(records["pointer"])
        for number, column in enumerate(self._events.columns):
            given = records["values"]["given_row"][:, number]
            rows[:, column] = np.where(given != k.NOT_GIVEN, first_given + given, rows[:, column])
        column_pointers.pointers = np.concatenate([column_pointers.pointers[:used], rows])
        pointers = pointers.copy()
        pointers[left] = pointers_to(pointer_kernel.COLUMN_POINTERS_ID, used + np.arange(len(left)))
        return np.delete(pointers, at[gone])
