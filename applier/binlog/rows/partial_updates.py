"""Counts the bytes that updates with JSON diffs save in the log (JD-WIRE)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from applier.binlog.rows.change_batch import ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from applier.binlog.rows.layout import ColumnPlan
from applier.binlog.rows.partial_updates_kernel import value_lengths

UPDATES, DOCUMENTS, SAVED = range(N_DIFFS := 3)
"""The counts of a change: whether it is an update with diffs; for how many documents it has diffs; by how many bytes
these are smaller than the documents in its before-image."""


class PartialUpdates:
    """Computes these counts for the images of a table, whose columns are read by `plans`."""

    def __init__(self, plans: Sequence[ColumnPlan], layouts: ImageLayouts) -> None:
        self._layouts = layouts
        self._sizes = np.array([(0, plan.meta) if plan.is_bytes else (plan.width, 0) for plan in plans], np.int64)

    def of(self, images: np.ndarray, befores: np.ndarray) -> np.ndarray | None:
        """Return the counts of each change (int64[n, 3]), given pointers to its after- and before-image; None if no
        image has diffs."""
        known = self._layouts.known
        if not any(layout.diffs for layout in known):
            return None
        n_columns = len(self._sizes)
        present, diffs = np.zeros((2, len(known), n_columns), np.bool_)
        for number, layout in enumerate(known):
            present[number, list(layout.present)] = True
            diffs[number, list(layout.diffs)] = True
        after, before = layouts_of(images), layouts_of(befores)
        counts = np.zeros((len(images), N_DIFFS), np.int64)
        has = np.where((after >= 0)[:, None], diffs[np.maximum(after, 0)], False)
        counts[:, DOCUMENTS] = has.sum(axis=1)
        counts[:, UPDATES] = counts[:, DOCUMENTS] > 0
        for column in np.flatnonzero(has.any(axis=0)).tolist():
            rows = np.flatnonzero(has[:, column] & (before >= 0) & present[np.maximum(before, 0), column])
            lengths = np.zeros((2, len(rows)), np.int64)
            for of, pointers in zip(lengths, (befores[rows], images[rows]), strict=True):
                value_lengths(pointers, column, present, self._sizes, of)
            counts[rows, SAVED] += np.where(lengths[0] > 0, lengths[0] - lengths[1], 0)
        return counts
