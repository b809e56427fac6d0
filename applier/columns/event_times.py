"""The times of the events that a unit's images come from, for defaults that depend on them."""

from __future__ import annotations

import numpy as np

from applier.binlog.rows.changes import INSERT, Changes, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.columns.replica_defaults import ReplicaDefaults


class EventTimes:
    """Keeps the times of images that lack a column with such a default; of all images if the time may replace a NULL.
    """

    def __init__(self, defaults: ReplicaDefaults, nullable: tuple[bool, ...], layouts: ImageLayouts):
        self._columns, self._all = defaults.timed(nullable)
        self._layouts = layouts
        self._lacking = np.zeros(1, np.bool_)  # by layout; the last is that of changes without an after-image
        self._addresses: list[np.ndarray] = []
        self._times: list[np.ndarray] = []
        self._sorted: tuple[np.ndarray, np.ndarray] | None = None

    def remember_times(self, batch: Changes) -> None:
        """Keep what is needed of a batch; its memory may be reused afterwards."""
        if self._all:
            wanted = batch.images >= 0
        elif self._columns and self._lack().any():
            wanted = self._lacking[layouts_of(batch.images)] & (batch.kinds == INSERT)
        else:
            return
        self._sorted = None
        self._addresses.append(addresses_of(batch.images[wanted]))
        self._times.append(batch.times[wanted])

    def _lack(self) -> np.ndarray:
        known = self._layouts.known
        if len(known) >= len(self._lacking):
            lacking = [not set(self._columns).issubset(layout.present) for layout in known[1:]]
            self._lacking = np.array([False, *lacking, False])
        return self._lacking

    def of(self, pointers: np.ndarray) -> np.ndarray:
        """The times of images, uint32[n]; arbitrary for images that need none."""
        if self._sorted is None:
            addresses = np.concatenate([np.empty(0, np.int64), *self._addresses])
            order = np.argsort(addresses)
            self._sorted = addresses[order], np.concatenate([np.empty(0, np.uint32), *self._times])[order]
        addresses, times = self._sorted
        if not len(times):
            return np.zeros(len(pointers), np.uint32)
        return times[np.minimum(np.searchsorted(addresses, addresses_of(pointers)), len(times) - 1)]
