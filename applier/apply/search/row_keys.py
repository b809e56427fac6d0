"""The changes of a batch as a row store takes them: pieces of both images, and how each row is found."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.row_store import EncodedRowPart, Search
from applier.apply.search.change_keys import at_change, rows_before, times_of
from applier.apply.search.conflicts import BY_CONTENT
from applier.apply.search.row_pieces import AwaitedImages, RowPartEncoder
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.layout import ColumnBuffer, ColumnPlan, ImageBuffers
from applier.columns.generated_columns import UNKNOWN_DOCUMENT
from applier.columns.values import finish_column
from applier.mysql.zero_dates import to_python

_MOST_VALUES = 8
"""How many columns of a row without a key are told in an error."""


class RowKeys:
    """What `change_keys` gives for tables with one key, for those with a row store."""

    raw_diffs, before_images = True, False

    def __init__(self, pieces: RowPartEncoder, table_map: TableMap, layouts: ImageLayouts):
        self._pieces, self._table_map, self._layouts = pieces, table_map, layouts

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """What to decode of each image."""
        return self._pieces.wanted(plans)

    def of_batch(self, batch: ChangeBatch) -> tuple[list[EncodedRowPart], list[EncodedRowPart], np.ndarray,
                                                    list[Search], AwaitedImages | None]:
        """The arguments of RowStore.apply."""
        before = self._pieces.of_images(batch.before, batch.n_before, self._table_map,
                                        lambda: times_of(batch, batch.before_rows, batch.n_before))
        after, awaited = self._pieces.of_after_images(
            batch.after, batch.n_after, self._table_map, lambda: times_of(batch, batch.after_rows, batch.n_after),
            rows_before(batch) < 0, self._documents(batch),
            lambda error, images: at_change(error, batch, batch.after_rows, images))
        return before, after, *self._pieces.searches(batch, len(self._table_map.types)), awaited

    def of_whole_images(self, images: ImageBuffers, rows: int) -> list[EncodedRowPart]:
        """The pieces of the first `rows` of images that lack no column."""
        return self._pieces.of_images(images, rows, self._table_map, lambda: np.zeros(rows, np.uint32))

    def after_values(self, batch: ChangeBatch, column: int) -> pa.Array:
        """The values of a column in the after-images."""
        return self._pieces.values(batch.after, column, batch.n_after, self._table_map,
                                   lambda: times_of(batch, batch.after_rows, batch.n_after))

    def _documents(self, batch: ChangeBatch) -> dict[int, pa.Array]:
        """The values of JSON columns with diffs, by row of the after-images: what the diffs make of the before-image's
        document. Rows are found by their documents only where before-images have them: nobody looks for
        UNKNOWN_DOCUMENT."""
        numbers, found = batch.images >> IMAGE_ID_SHIFT, {}
        present = np.unique(numbers[batch.after_rows >= 0])
        for column in sorted({c for number in present for c in self._layouts.known[number].diffs}):
            if column in batch.after.columns:
                has = np.array([column in layout.diffs for layout in self._layouts.known])
                is_diff = np.zeros(batch.n_after, np.bool_)
                is_diff[batch.after_rows[batch.after_rows >= 0]] = has[numbers[batch.after_rows >= 0]]
                found[column] = self._with_diffs(batch, column, is_diff)
        return found

    def _with_diffs(self, batch: ChangeBatch, column: int, is_diff: np.ndarray) -> pa.Array:
        from jsondiff.apply import apply_diffs

        defined, raw = self._pieces.definition.columns[column], batch.after.columns[column].arrow(batch.n_after)
        wire = self._table_map.types[column], self._table_map.metadata[column]
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

    def found_by(self, batch: ChangeBatch, image: int) -> str:
        """What a before-image was searched by and its values, for people."""
        images = np.array([image])
        [unique] = self.searched_by(batch, images).tolist()
        if unique == BY_CONTENT:
            return f"the row ({self.texts(batch, images, False, BY_CONTENT)[0]})"
        return self.key_text(batch, image, False, unique)

    def searched_by(self, batch: ChangeBatch, images: np.ndarray) -> np.ndarray:
        """For some before-images the number of the unique key that the row is found by, or BY_CONTENT; int64[n]."""
        which, searches = self._pieces.searches(batch, len(self._table_map.types))
        numbers = [BY_CONTENT if search.unique is None else search.unique for search in searches]
        return np.array(numbers, np.int64)[which[images]]

    def key_text(self, batch: ChangeBatch, image: int, after: bool, unique: int) -> str:
        """The unique key of this number and an image's values in it, for people."""
        columns = ", ".join(self._pieces.definition.columns[c].name for c in self._columns(unique))
        [values] = self.texts(batch, np.array([image]), after, unique)
        return f"{self.key_name(unique)} ({columns}) = {values}"

    def key_name(self, unique: int) -> str:
        """The name of the unique key of this number; nothing for BY_CONTENT."""
        return "" if unique == BY_CONTENT else self._pieces.unique[unique].name

    def texts(self, batch: ChangeBatch, images: np.ndarray, after: bool, unique: int) -> list[str]:
        """The values of some images (rows of the after- or before-images) in a unique key's columns for people; for
        BY_CONTENT in the first columns that are decoded."""
        buffers, rows = (batch.after, batch.n_after) if after else (batch.before, batch.n_before)
        columns = self._columns(unique) if unique != BY_CONTENT else tuple(buffers.columns)[:_MOST_VALUES]
        values = [self._values(buffers.columns[c], c, rows, images) if c < len(buffers.plans) else
                  [f"{self._pieces.definition.columns[c].name} left out"] * len(images) for c in columns]
        return [", ".join(row) for row in zip(*values, strict=True)]

    def _columns(self, unique: int) -> tuple[int, ...]:
        return tuple(self._pieces.pieces[piece].column for piece in self._pieces.unique[unique].pieces)

    def _values(self, buffer: ColumnBuffer, column: int, rows: int, images: np.ndarray) -> list[str]:
        defined, table_map = self._pieces.definition.columns[column], self._table_map
        finished = finish_column(buffer.arrow(rows), defined, table_map.types[column], table_map.metadata[column])
        texts = ["NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
                 for value in to_python(finished.take(pa.array(images)))]
        absent = buffer.absent_rows(rows)
        if absent is None:
            return texts
        return [f"{defined.name} left out" if gone else text
                for text, gone in zip(texts, absent.take(pa.array(images)).to_pylist(), strict=True)]
