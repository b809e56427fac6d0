"""A batch of changes with its keys, as an index by one key takes it, and these keys for people."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from applier.apply.search.conflicts import ConflictTexts
from applier.binlog.rows.changes import Changes
from applier.columns.table_key import IntKey, TableKey
from applier.mysql.zero_dates import to_python
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes


@dataclasses.dataclass(frozen=True, kw_only=True)
class IntImageKeys:
    """Keys of the before- and after-images by row (int64[n]), and which after-images lack theirs (a bitmap; None: none
    does)."""

    before: np.ndarray
    after: np.ndarray
    absent: np.ndarray | None = None

    @property
    def addresses(self) -> tuple[int, int, int]:
        """Of all three; 0 for no bitmap."""
        absent = 0 if self.absent is None else address_of(self.absent)
        return address_of(self.before), address_of(self.after), absent


@dataclasses.dataclass(frozen=True, kw_only=True)
class BytesImageKeys:
    """Keys of the before- and after-images by row; an after-image that lacks some of it has its row's."""

    before: KeyBytes
    after: KeyBytes


ImageKeys = TypeVar("ImageKeys", IntImageKeys, BytesImageKeys)


@dataclasses.dataclass(frozen=True, kw_only=True)
class KeyedChanges(Generic[ImageKeys]):
    """Changes of one table, their keys, and what these are for people."""

    batch: Changes
    keys: ImageKeys
    texts: KeyTexts


KeyColumns = tuple[list[pa.Array], list[pa.Array]]
"""The key's columns by row of the before- and of the after-images (an integer key: one int64 each)."""


class KeyTexts(ConflictTexts):
    """The keys of a batch's images for people; the key is the table's unique key number 0. `columns` are read when they
    are asked for."""

    def __init__(self, key: TableKey, columns: Callable[[], KeyColumns]):
        self._key, self._columns = key, columns

    def text(self, image: int, after: bool) -> str:
        """The key of one image (a row of the after- or before-images)."""
        return self.texts(np.array([image]), after)[0]

    def searched_by(self, images: np.ndarray) -> np.ndarray:
        return np.zeros(len(images), np.int64)

    def key_name(self, unique: int) -> str:
        return self._key.choice.name

    def texts(self, images: np.ndarray, after: bool, unique: int = 0) -> list[str]:
        columns = [to_python(column.take(pa.array(images))) for column in self._columns()[after]]
        if isinstance(self._key, IntKey):
            return [str(value + self._key.bias) for value in columns[0]]
        return [", ".join(repr(value) if isinstance(value, (str, bytes)) else str(value) for value in row)
                for row in zip(*columns, strict=True)]
