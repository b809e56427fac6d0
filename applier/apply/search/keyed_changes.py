"""A batch of changes with its keys, as the input of an index by one key, and these keys as text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Generic

import numpy as np
import pyarrow as pa

from applier.apply.index.key_index import ImageKeys
from applier.apply.search.conflicts import ConflictTexts
from applier.binlog.rows.changes import Changes
from applier.columns.table_key import Encoded, IntKey, TableKey
from applier.mysql.values.zero_dates import to_python


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeyedChanges(Generic[Encoded]):
    """Changes of one table, their keys, and the keys for messages."""

    batch: Changes
    keys: ImageKeys[Encoded]
    texts: KeyTexts


KeyColumns = tuple[list[pa.Array], list[pa.Array]]
"""The key's columns by row of the before- and of the after-images (an integer key: one int64 each)."""


class KeyTexts(ConflictTexts):
    """The keys of a batch's images for messages; `columns` reads the key's columns."""

    def __init__(self, key: TableKey, columns: Callable[[], KeyColumns]):
        self._key, self.columns = key, columns

    def searched_by(self, images: np.ndarray) -> np.ndarray:
        return np.zeros(len(images), np.int64)

    def key_name(self, unique: int) -> str:
        return self._key.choice.name

    def key_columns(self, unique: int) -> tuple[str, ...]:
        return self._key.names

    def texts(self, images: np.ndarray, after: bool, unique: int = 0) -> list[str]:
        columns = [to_python(column.take(pa.array(images))) for column in self.columns()[after]]
        if isinstance(self._key, IntKey):
            return [str(value + self._key.bias) for value in columns[0]]
        return [", ".join(repr(value) if isinstance(value, (str, bytes)) else str(value) for value in row)
                for row in zip(*columns, strict=True)]
