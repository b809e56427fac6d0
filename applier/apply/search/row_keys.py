"""Prepares the changes of a batch for a row store: parts of both images, and how each row is found."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.store.row_parts import EncodedRowPart, Search
from applier.apply.search.change_keys import at_change, rows_before, times_of
from applier.apply.search.row_part_encoder import AwaitedImages, RowPartEncoder
from applier.apply.search.row_texts import RowTexts
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DecodedChanges, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.generated_columns import UNKNOWN_DOCUMENT
from applier.columns.values import finish_column


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoredChanges:
    """Changes of a table with a row store: the parts of both images; by which of `searches` each row is found (int64,
    by row of the before-images); the values that after-images await from the rows found (None: none); and the searched
    keys, for messages."""

    batch: DecodedChanges
    before: list[EncodedRowPart]
    after: list[EncodedRowPart]
    access_paths: np.ndarray
    searches: list[Search]
    awaited: AwaitedImages | None
    texts: RowTexts


class RowKeys:
    """The counterpart of `change_keys` for tables with a row store."""

    raw_diffs, before_images = True, False

    def __init__(self, parts: RowPartEncoder, table_map: TableMap, layouts: ImageLayouts):
        self._parts, self._table_map, self._layouts = parts, table_map, layouts

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """Return the columns to decode from each image."""
        return self._parts.wanted(plans)

    def of_batch(self, batch: DecodedChanges) -> StoredChanges:
        """Return a batch in the form that a row store takes."""
        before = self._parts.of_images(batch.before, batch.n_before, self._table_map,
                                        lambda: times_of(batch, batch.before_rows, batch.n_before))
        after, awaited = self._parts.of_after_images(
            batch.after, batch.n_after, self._table_map, lambda: times_of(batch, batch.after_rows, batch.n_after),
            rows_before(batch) < 0, self._computes_omitted(batch), self._layouts.takes_generated,
            self._documents(batch), lambda error, images: at_change(error, batch, batch.after_rows, images))
        access_paths, searches = self._parts.searches(batch, len(self._table_map.types))
        return StoredChanges(batch=batch, before=before, after=after, access_paths=access_paths, searches=searches,
                             awaited=awaited, texts=RowTexts(self._parts, self._table_map, batch))

    def _computes_omitted(self, batch: DecodedChanges) -> np.ndarray:
        """Return which after-images have a layout with computes_omitted: bool[n_after]."""
        flags, there = np.array([layout.computes_omitted for layout in self._layouts.known]), batch.after_rows >= 0
        found = np.zeros(batch.n_after, np.bool_)
        found[batch.after_rows[there]] = flags[layouts_of(batch.images)[there]]
        return found

    def of_whole_images(self, images: ImageBuffers, rows: int) -> list[EncodedRowPart]:
        """Return the parts of the first `rows` whole images."""
        return self._parts.of_images(images, rows, self._table_map, lambda: np.zeros(rows, np.uint32))

    def before_values(self, batch: DecodedChanges, column: int) -> pa.Array:
        """Return the values of a column in the before-images."""
        return self._parts.values(batch.before, column, batch.n_before, self._table_map,
                                   lambda: times_of(batch, batch.before_rows, batch.n_before))

    def after_values(self, batch: DecodedChanges, column: int) -> pa.Array:
        """Return the values of a column in the after-images."""
        return self._parts.values(batch.after, column, batch.n_after, self._table_map,
                                   lambda: times_of(batch, batch.after_rows, batch.n_after))

    def _documents(self, batch: DecodedChanges) -> dict[int, pa.Array]:
        """Return the values of JSON columns with diffs, by row of the after-images: the before-image's document after
        the diffs. Rows are found by their documents only if before-images have them, so UNKNOWN_DOCUMENT is never
        searched."""
        numbers, found = layouts_of(batch.images), {}
        present = np.unique(numbers[batch.after_rows >= 0])
        for column in sorted({c for number in present for c in self._layouts.known[number].diffs}):
            if column in batch.after.columns:
                has = np.array([column in layout.diffs for layout in self._layouts.known])
                is_diff = np.zeros(batch.n_after, np.bool_)
                is_diff[batch.after_rows[batch.after_rows >= 0]] = has[numbers[batch.after_rows >= 0]]
                found[column] = self._with_diffs(batch, column, is_diff)
        return found

    def _with_diffs(self, batch: DecodedChanges, column: int, is_diff: np.ndarray) -> pa.Array:
        from jsondiff.apply import apply_diffs

        defined, raw = self._parts.definition.columns[column], batch.after.columns[column].arrow(batch.n_after)
        wire = self._table_map.types[column], self._table_map.metadata[column], self._parts.definition.flavour
        old, rows = batch.before.columns[column], np.flatnonzero(is_diff)
        documents = finish_column(old.arrow(batch.n_before), defined, *wire).take(
            pa.array(rows_before(batch)[rows]))
        applied = apply_diffs(documents, raw.take(pa.array(rows)), np.arange(len(rows) + 1))
        unknown = applied.failed >= 0
        if (absent := old.absent_rows(batch.n_before)) is not None:
            unknown |= absent.to_numpy(zero_copy_only=False)[rows_before(batch)[rows]]
        values = finish_column(pc.if_else(pa.array(is_diff), None, raw), defined, *wire)
        made = pc.if_else(pa.array(unknown), UNKNOWN_DOCUMENT, applied.texts)
        return pc.replace_with_mask(values, pa.array(is_diff), made)
