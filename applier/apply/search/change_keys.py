"""The keys of a batch of changes: what the decode kernel puts out of each image, made into what an index takes.

    IntKeys     the kernel writes the key as an int64 that compares in order; the index reads its buffer (of a column
                that is another integer type in the log, the values are converted first)
    ByteKeys    the key's columns are finished as for a snapshot and encoded (keysearch.keybytes)

A partial after-image may lack columns of the key: an update keeps them, so they come from the before-image (DEF-R2); in
an insert they are the columns' defaults (DEF-R1b). A NULL in either image is what a replica takes for it, as no column
of the key can be NULL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.agreement import is_compatible
from applier.columns.image_values import Rows, absent_flags, with_defaults, without_nulls
from applier.columns.replica_defaults import ReplicaDefaults
from applier.columns.table_key import TableKey
from applier.columns.values import finish_column
from applier.errors import KEY_NOT_FOUND, ApplierError, ReplayStopped
from applier.mysql.types import arrow_type
from applier.mysql.zero_dates import to_python
from applier.schema.definition import TableDefinition
from keysearch.keybytes import KeyBytes, int_key


class KeyReader(ABC):
    """Reads and tells the keys of batches of a table with one key, which is its unique key number 0."""

    def __init__(self, key: TableKey):
        self._key = key

    @abstractmethod
    def of_batch(self, batch: ChangeBatch) -> tuple[Any, ...]:
        """The keys of the before- and after-images, as `apply` of the index takes them."""

    @abstractmethod
    def columns(self, batch: ChangeBatch) -> tuple[list[pa.Array], list[pa.Array]]:
        """The key's columns by row of the before- and of the after-images (an integer key: one int64 each)."""

    def text(self, batch: ChangeBatch, image: int, after: bool) -> str:
        """The key of one image (a row of the after- or before-images) for people."""
        return self.texts(batch, np.array([image]), after)[0]

    def searched_by(self, batch: ChangeBatch, images: np.ndarray) -> np.ndarray:
        """The number of the key by which the rows of some before-images are found: that of the only one."""
        return np.zeros(len(images), np.int64)

    def key_name(self, unique: int) -> str:
        """The key's name."""
        return self._key.choice.name

    def texts(self, batch: ChangeBatch, images: np.ndarray, after: bool, unique: int = 0) -> list[str]:
        """The keys of some images for people, with what an after-image lacks filled in."""
        columns = [to_python(column.take(pa.array(images))) for column in self.columns(batch)[after]]
        if self._key.form == "int":
            return [str(value + self._key.bias) for value in columns[0]]
        return [", ".join(repr(value) if isinstance(value, (str, bytes)) else str(value) for value in row)
                for row in zip(*columns, strict=True)]


class ChangeKeys(KeyReader):
    """Keys of batches as they are read from the log."""

    raw_diffs = before_images = False
    """No key has a JSON column."""

    def __init__(self, key: TableKey, definition: TableDefinition, table_map: TableMap):
        super().__init__(key)
        self._definition, self._table_map = definition, table_map
        self._defaults = ReplicaDefaults(definition)

    @abstractmethod
    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """What to decode of each image for the key's sake."""

    def _column(self, batch: ChangeBatch, column: int, after: bool) -> tuple[pa.Array, Rows]:
        """The values of a column of the key by row of the before- or after-images, and which rows lack it."""
        images, n = _images(batch, after)
        table_map = self._table_map
        values = finish_column(images.columns[column].arrow(n), self._definition.columns[column],
                               table_map.types[column], table_map.metadata[column])
        absent = absent_flags(images.columns[column].absent_rows(n))
        return self._replaced(batch, column, values, absent, after), absent

    def _replaced(self, batch: ChangeBatch, column: int, values: pa.Array, absent: Rows, after: bool,
                  used: Rows = None) -> pa.Array:
        """The values with what a replica takes for a NULL, and for one that an insert lacks."""
        def seconds() -> np.ndarray:
            return times_of(batch, *((batch.after_rows, batch.n_after) if after else
                                     (batch.before_rows, batch.n_before)))

        defined = self._definition.columns[column]
        if absent is not None and not after:
            self._no_key(batch, column, absent)
        values = without_nulls(values, defined, self._defaults, seconds, absent, used)
        if absent is None:
            return values
        return with_defaults(values, defined, self._defaults, seconds, absent & (rows_before(batch) < 0))

    def _no_key(self, batch: ChangeBatch, column: int, absent: np.ndarray) -> None:
        """Raise ReplayStopped for the first before-image that lacks a column of the key: FIND searches by a key only
        where the before-image has its columns."""
        lacking = ReplayStopped(f"a before-image lacks column {self._definition.columns[column].name} of the key that "
                                "rows are found by", table=self._definition.full_name, errno=KEY_NOT_FOUND,
                                key=str(self._key),
                                hint="the source's table has another key; give its definition with --schema")
        raise at_change(lacking, batch, batch.before_rows, absent)


def change_keys(key: TableKey, definition: TableDefinition, table_map: TableMap) -> ChangeKeys:
    """The reader of a table's keys."""
    return (IntKeys if key.form == "int" else ByteKeys)(key, definition, table_map)


class IntKeys(ChangeKeys):
    """Keys that are one integer column."""

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        column = self._key.columns[0]
        if self._converts:
            return [plan if c == column else None for c, plan in enumerate(plans)]
        return [plan.as_key(self._key.unsigned) if c == column else None for c, plan in enumerate(plans)]

    @cached_property
    def _converts(self) -> bool:
        column, table_map = self._key.columns[0], self._table_map
        return not is_compatible(self._definition.columns[column].type, table_map.types[column],
                                 table_map.metadata[column])

    def _keys(self, batch: ChangeBatch, after: bool) -> tuple[np.ndarray, Rows]:
        """The keys by row of the before- or after-images (int64), and which rows lack it."""
        column = self._key.columns[0]
        if self._converts:
            values, absent = self._column(batch, column, after)
            return np.array(int_key(values.fill_null(0))), absent
        images, n = _images(batch, after)
        buffer = images.columns[column]
        keys = buffer.values.view(np.int64)[:n]  # where the kernel put them, whatever is there for a NULL
        if not buffer.has_nulls:
            return keys, None
        absent, missing = absent_flags(buffer.absent_rows(n)), np.asarray(buffer.arrow(n).is_null())
        if after and absent is not None and not (missing & ~(absent & (rows_before(batch) >= 0))).any():
            return keys, absent  # an update keeps what it leaves out (DEF-R2)
        made = pa.nulls(n, arrow_type(self._definition.columns[column].type))
        made = self._replaced(batch, column, made, absent, after, missing)
        keys[missing] = int_key(made.fill_null(0))[missing]
        return keys, absent

    def of_batch(self, batch: ChangeBatch) -> tuple[int, int, int]:
        """Addresses of both key columns and of the bitmap of after-images without the key (0: none)."""
        (before, _), (after, absent) = self._keys(batch, False), self._keys(batch, True)
        self._kept = before, after, absent
        flags = 0 if absent is None else batch.after.columns[self._key.columns[0]].absent.ctypes.data
        return before.ctypes.data, after.ctypes.data, flags

    def columns(self, batch: ChangeBatch) -> tuple[list[pa.Array], list[pa.Array]]:
        self.of_batch(batch)
        before, after, absent = self._kept
        if absent is not None:
            old_rows = rows_before(batch)
            kept = absent & (old_rows >= 0)
            after = np.where(kept, before[np.where(kept, old_rows, 0)] if len(before) else 0, after)
        return [pa.array(before)], [pa.array(after)]


class ByteKeys(ChangeKeys):
    """Keys of any columns."""

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        return [plan if c in self._key.columns else None for c, plan in enumerate(plans)]

    def columns(self, batch: ChangeBatch) -> tuple[list[pa.Array], list[pa.Array]]:
        before = [self._column(batch, c, False)[0] for c in self._key.columns]
        return before, [self._after(batch, c, old) for c, old in zip(self._key.columns, before, strict=True)]

    def of_batch(self, batch: ChangeBatch) -> tuple[KeyBytes, KeyBytes]:
        before, after = self.columns(batch)
        return self._key.encode(before), self._key.encode(after)

    def _after(self, batch: ChangeBatch, column: int, before: pa.Array) -> pa.Array:
        """The column's values after the changes: an update keeps what its after-image lacks."""
        after, absent = self._column(batch, column, True)
        if absent is None:
            return after
        old_rows = rows_before(batch)
        old = before.take(pa.array(old_rows, mask=old_rows < 0))
        return pc.if_else(pa.array(absent & (old_rows >= 0)), old, after)


def _images(batch: ChangeBatch, after: bool) -> tuple[ImageBuffers, int]:
    return (batch.after, batch.n_after) if after else (batch.before, batch.n_before)


def at_change(error: ApplierError, batch: ChangeBatch, rows: np.ndarray, lacking: np.ndarray) -> ApplierError:
    """The error with the place of the first change whose image (its row in `rows`) is `lacking`."""
    change = np.flatnonzero((rows >= 0) & lacking[rows])[0]
    return error.at(file=batch.file.uri, position=int(batch.places[change]))


def times_of(batch: ChangeBatch, rows: np.ndarray, n: int) -> np.ndarray:
    """When the events of n images were made (uint32[n], seconds since 1970), given each change's row among them."""
    times = np.zeros(n, np.uint32)
    times[rows[rows >= 0]] = batch.times[rows >= 0]
    return times


def rows_before(batch: ChangeBatch) -> np.ndarray:
    """For each after-image the row of the before-image that it replaces, -1 for an insert's."""
    rows = np.full(batch.n_after, -1, np.int64)
    with_after = batch.after_rows >= 0
    rows[batch.after_rows[with_after]] = batch.before_rows[with_after]
    return rows
