"""The searched and stored values of a row store's changes as text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.apply.search.conflicts import BY_CONTENT, ConflictTexts
from applier.apply.search.row_access import RowAccess
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import DecodedChanges
from applier.binlog.rows.layout import ColumnBuffer
from applier.columns.values import finish_column
from applier.mysql.values.zero_dates import to_python

_MOST_VALUES = 8
"""The most columns to show in an error of a row without a key."""
_NOTHING = "its image has no column that is compared"


class RowTexts(ConflictTexts):
    """The keys and values of a batch's images."""

    def __init__(self, parts: RowAccess, table_map: TableMap, batch: DecodedChanges):
        self._parts, self._table_map, self._batch = parts, table_map, batch

    def searched_by(self, images: np.ndarray) -> np.ndarray:
        which, searches = self._parts.searches(self._batch, len(self._table_map.types))
        numbers = [BY_CONTENT if search.unique is None else search.unique for search in searches]
        found: np.ndarray = np.array(numbers, np.int64)[which[images]]
        return found

    def key_name(self, unique: int) -> str:
        return "" if unique == BY_CONTENT else self._parts.unique[unique].name

    def key_columns(self, unique: int) -> list[str]:
        return [self._parts.definition.columns[c].name for c in self._columns(unique)]

    def texts(self, images: np.ndarray, after: bool, unique: int) -> list[str]:
        batch = self._batch
        buffers, rows = (batch.after, batch.n_after) if after else (batch.before, batch.n_before)
        columns = self._columns(unique) if unique != BY_CONTENT else tuple(buffers.columns)[:_MOST_VALUES]
        values = [self._values(buffers.columns[c], c, rows, images) if c < len(buffers.plans) else
                  [f"{self._parts.definition.columns[c].name} left out"] * len(images) for c in columns]
        return [", ".join(row) for row in zip(*values, strict=True)] if values else [_NOTHING] * len(images)

    def _columns(self, unique: int) -> tuple[int, ...]:
        return tuple(self._parts.parts[part].column for part in self._parts.unique[unique].parts)

    def _values(self, buffer: ColumnBuffer, column: int, rows: int, images: np.ndarray) -> list[str]:
        defined, table_map = self._parts.definition.columns[column], self._table_map
        finished = finish_column(buffer.arrow(rows), defined, table_map.types[column], table_map.metadata[column],
                                 self._parts.definition.flavour)
        texts = ["NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
                 for value in to_python(finished.take(pa.array(images)))]
        absent = buffer.absent_rows(rows)
        if absent is None:
            return texts
        return [f"{defined.name} left out" if gone else text
                for text, gone in zip(texts, absent.take(pa.array(images)).to_pylist(), strict=True)]
