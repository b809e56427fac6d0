"""The conflicts that idempotent mode suppressed (APP-R7, AP-IDEM), one row per conflict, for the report and the list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import ROW_GONE
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE, Changes

CONFLICTS = pa.schema([
    ("table", pa.string()), ("file", pa.string()), ("position", pa.int64()), ("row", pa.int32()),
    ("operation", pa.string()), ("conflict", pa.string()), ("key", pa.string()), ("values", pa.string()),
])
"""db.table; the rows event and the row in it; insert, update or delete; DUPLICATE or MISSING; the name of the duplicate
key or of the key of the search (empty for a search by content), and the values of that key."""

DUPLICATE, MISSING = "duplicate key", "row not found"
BY_CONTENT = -1
"""In place of the number of a unique key: the row was searched by content."""
_OPERATIONS = {INSERT: "insert", UPDATE: "update", DELETE: "delete"}


class ConflictTexts(ABC):
    """The keys of one batch's images, for messages and for the list of conflicts. Unique keys have numbers, as in
    `UnitIndex.noted`; a table's one key has number 0."""

    @abstractmethod
    def searched_by(self, images: np.ndarray) -> np.ndarray:
        """Return the number of the unique key by which each of these before-images finds its row, or BY_CONTENT:
        int64[n]."""

    @abstractmethod
    def key_name(self, unique: int) -> str:
        """Return the name of a unique key; an empty one for BY_CONTENT."""

    @abstractmethod
    def key_columns(self, unique: int) -> Sequence[str]:
        """Return the names of a unique key's columns."""

    @abstractmethod
    def texts(self, images: np.ndarray, after: bool, unique: int) -> list[str]:
        """Return the values of some after- or before-images in a unique key, with missing columns of after-images
        filled in; for BY_CONTENT, the values of their first columns."""

    def key_text(self, image: int, after: bool, unique: int) -> str:
        """Return a unique key with the values of one image."""
        [values] = self.texts(np.array([image]), after, unique)
        return f"{self.key_name(unique)} ({', '.join(self.key_columns(unique))}) = {values}"

    def found_by(self, image: int) -> str:
        """Return the search key of one before-image, with its values."""
        images = np.array([image])
        [unique] = self.searched_by(images).tolist()
        if unique == BY_CONTENT:
            return f"the row ({self.texts(images, False, BY_CONTENT)[0]})"
        return self.key_text(image, False, unique)


def conflict_rows(table: str, batch: Changes, noted: np.ndarray, told: ConflictTexts) -> pa.Table:
    """Return the conflicts of a batch of a table (db.table), given as in UnitIndex.noted, in order, in the form of
    CONFLICTS."""
    changes, uniques = noted[:, 0], noted[:, 1].copy()
    missing = uniques == ROW_GONE
    images = np.where(missing, batch.before_rows[changes], batch.after_rows[changes])
    uniques[missing] = told.searched_by(images[missing])
    keys, values = np.empty(len(noted), object), np.empty(len(noted), object)
    for gone, unique in {*zip(missing.tolist(), uniques.tolist(), strict=True)}:
        picks = (missing == gone) & (uniques == unique)
        keys[picks] = told.key_name(unique)
        values[picks] = told.texts(images[picks], not gone, unique)
    return pa.Table.from_arrays([
        pa.repeat(table, len(noted)), pa.repeat(batch.file.uri, len(noted)), pa.array(batch.positions[changes]),
        pa.array(batch.rows[changes]), pa.array([_OPERATIONS[kind] for kind in batch.kinds[changes].tolist()]),
        pa.array([MISSING if gone else DUPLICATE for gone in missing]),
        pa.array(keys, pa.string()), pa.array(values, pa.string())], schema=CONFLICTS)
