"""Rows whose columns come from several images: they have one pointer per column until values are gathered."""

from __future__ import annotations

import numpy as np

from applier.apply.index import pointer_kernel as k
from applier.binlog.rows.changes import ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of


class ColumnPointers:
    """Records of rows whose columns come from several images: one pointer per column. `made_of` says which
    columns a replica computes if an image has any of their source columns (generated_columns.computed_of_images)."""

    def __init__(self, columns: int):
        self.columns = columns
        self.made_of: dict[int, frozenset[int]] = {}
        self.pointers = np.empty((16, columns), np.int64)
        self.present = np.full((1, columns + 1), k.VALUE, np.uint8)
        self._n_diffs = np.zeros(1, np.int64)  # by layout; the last is that of changes without an after-image

    def know(self, layouts: ImageLayouts) -> None:
        """Record which columns the new layouts since the last call have."""
        if len(layouts.known) == len(self.present):
            return
        rows = [self.present]
        for layout in layouts.known[len(self.present):]:
            row = np.zeros((1, self.columns + 1), np.uint8)
            row[0, [1 + column for column in layout.present if column < self.columns]] = k.VALUE
            row[0, [1 + column for column in layout.diffs if column < self.columns]] = k.DIFF
            has = (*layout.present, *layout.diffs)
            row[0, [1 + column for column, made_of in self.made_of.items() if column < len(layouts.plans)
                    and layout.computes_omitted and column not in has and not made_of.isdisjoint(has)]] = k.MADE
            row[0, 0] = (row[0, 1:] == k.VALUE).all()
            rows.append(row)
        self.present = np.concatenate(rows)
        self._n_diffs = np.append((self.present == k.DIFF).sum(axis=1), 0)

    def diffs_in(self, images: np.ndarray) -> int:
        """Return the number of JSON diffs in these after-images."""
        return int(self._n_diffs[layouts_of(images)].sum()) if self._n_diffs.any() else 0

    def by_column(self, pointers: np.ndarray) -> np.ndarray:
        """Return the pointer of each column of these rows: int64[n, columns]."""
        found = np.repeat(pointers[:, None], self.columns, axis=1)
        by_column = layouts_of(pointers) == k.COLUMN_POINTERS_ID
        found[by_column] = self.pointers[addresses_of(pointers[by_column])]
        return found

    def grow(self) -> None:
        self.pointers = np.concatenate([self.pointers, np.empty_like(self.pointers)])
