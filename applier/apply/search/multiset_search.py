"""Finds the rows of a table without unique keys, if images have all columns, as a multiset of images.

Equal bytes mean equal rows, so no image is decoded before the end. Rows of the base, which have no image yet, are in a
row store, by their values; each moves to the multiset at the first before-image that equals it. An image that finds no
row in either may still stand for one, because a value can have several forms. Then all rows move to the store, which
compares values, and the unit continues with it: it reports missing rows, and handles idempotent mode.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.multiset import RowMultiset
from applier.apply.index.store.row_store import RowStore
from applier.apply.index.unit_index import Conflict, UnitIndex
from applier.apply.index.witness.image_witness import ImageWitness
from applier.apply.output.image_decoder import ImageDecoder
from applier.apply.output.rows import RowGatherer
from applier.apply.search.row_keys import RowKeys
from applier.apply.search.store_search import StoreSearch
from applier.apply.search.unit_search import UnitSearch
from applier.apply.spec import Stored, UnitSpec
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.layout import ColumnPlan
from applier.io.mapping import MappedFile


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageChanges:
    """Changes of a table whose rows are found by whole images; `reader` reads the values of those that are decoded."""

    batch: ChangeBatch
    reader: RowKeys


class WholeImages:
    """The counterpart of `change_keys` for tables whose rows are found by whole images: the walk decodes no columns.
    `keys` reads the values of images that must be decoded after all."""

    raw_diffs = before_images = True

    def __init__(self, keys: RowKeys):
        self.keys = keys

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """Return the columns to decode from each image: none."""
        return [None] * len(plans)

    def of_batch(self, batch: ChangeBatch) -> ImageChanges:
        """Return a batch unchanged."""
        return ImageChanges(batch=batch, reader=self.keys)


class MultisetSearch(UnitSearch[ImageChanges]):
    """The access method by whole images, while comparing bytes is sufficient. `files` is the memory of images so far, a
    list that grows; `gatherer` makes the reader of the rows that an index finds."""

    index: RowMultiset | RowStore

    def __init__(self, spec: UnitSpec, files: list[MappedFile], gatherer: Callable[[UnitIndex[Any]], RowGatherer]):
        self._files, self._gatherer, self._table = files, gatherer, spec.definition.full_name
        self._store = StoreSearch(spec, Stored(by_content=True), gatherer)
        self._images = RowMultiset(len(spec.definition.columns))
        self._search = self._store.parts.search(frozenset(self._store.parts.stored))
        self._decoder: ImageDecoder | None = None
        self._suppressed: list[pa.Table] = []
        self.index = self._images

    def apply(self, changes: ImageChanges, layouts: ImageLayouts) -> Conflict | None:
        batch, reader = changes.batch, changes.reader
        self._suppressed = []
        if self._decoder is None:
            self._decoder = ImageDecoder(self._files, layouts, reader.wanted(layouts.plans))
        decoder = self._decoder
        if self.index is not self._images:
            return self._apply_decoded(batch, 0, layouts, reader, decoder)
        first = 0
        if self._images.holds_all(batch, layouts):
            conflict = self._apply_images(batch, layouts, reader, decoder)
            if conflict is None:
                return None
            first = conflict.change
        self._switch_to_value_comparison()
        return self._apply_decoded(batch, first, layouts, reader, decoder)

    def _apply_images(self, batch: ChangeBatch, layouts: ImageLayouts, reader: RowKeys,
                      decoder: ImageDecoder) -> Conflict | None:
        """Apply a batch by the bytes of its images. Rows of the base that equal images are moved to the multiset first:
        of equal rows a server finds the first one, and rows of the base precede all others."""
        self._images.prepare(batch, layouts)
        if self._store.index.live:
            self._bring(batch, np.flatnonzero(batch.before_images >= 0), reader, decoder)
        return self._images.run(batch)

    def _bring(self, batch: ChangeBatch, changes: np.ndarray, reader: RowKeys, decoder: ImageDecoder) -> None:
        """Move the rows of the base that equal the before-images of these changes to the multiset."""
        for numbers, buffers in decoder.befores(batch, changes):
            orders = self._store.index.take(self._search, reader.of_whole_images(buffers, len(numbers)), len(numbers))
            numbers, orders = numbers[orders >= 0], orders[orders >= 0]
            self._images.add(batch.before_images[numbers], batch.before_lengths[numbers], orders)

    def _switch_to_value_comparison(self) -> None:
        """Move all rows to the store."""
        store, (pointers, orders), start = self._store.index, self._images.rows(), 0
        for rows in self._gatherer(self._images).batches(pointers):
            part = slice(start, start + rows.num_rows)
            store.add(self._store.parts.of_rows(rows), pointers[part], orders[part])
            start = part.stop
        store.go_on_after(self._images.arrived, self._images.inserted, self._images.updated, self._images.deleted)
        store.diffs.count_as(self.index.diffs)
        self.index = store

    def _apply_decoded(self, batch: ChangeBatch, first: int, layouts: ImageLayouts, reader: RowKeys,
                       decoder: ImageDecoder) -> Conflict | None:
        """Apply the changes of a batch from number `first` on by the values of their images."""
        for part in decoder.changes(batch, first):
            stored = reader.of_batch(part)
            conflict = self._store.apply(stored, layouts)
            if conflict is not None:
                return dataclasses.replace(conflict, change=part.first + conflict.change)
            self._suppressed += self._store.suppressed_conflicts(self._table, stored)
        return None

    def trace(self) -> None:
        raise ValueError("rows of the base become images here, which is no step: a row store traces them")

    def compare_images(self, witness: ImageWitness) -> None:
        """Do nothing: the search of a row compares the whole image."""

    @property
    def agreed_by_search(self) -> int:
        return self.found.total()

    @property
    def found(self) -> Counter[str]:
        by_images = Counter({self._search.kind: self._images.updated + self._images.deleted})
        return by_images + self._store.found

    def seed(self, rows: pa.Table) -> None:
        self._store.seed(rows)
        self._images.begin_after(rows.num_rows)

    def pointers(self) -> np.ndarray:
        if self.index is not self._images:
            return self._store.pointers()
        pointers, orders = self._images.rows()
        if not self._store.index.live:
            return pointers
        others = self._store.pointers()
        order = np.argsort(np.concatenate([self._store.index.arrivals, orders]), kind="stable")
        return np.concatenate([others, pointers])[order]

    def suppressed_conflicts(self, table: str, changes: ImageChanges) -> list[pa.Table]:
        return self._suppressed
