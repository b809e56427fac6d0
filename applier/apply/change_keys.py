"""The keys of a batch of changes: what the decode kernel puts out of each image, made into what an index takes.

    IntKeys     the kernel writes the key as an int64 that compares in order; the index reads its buffer (of a column
                that is another integer type in the log, the values are converted first)
    ByteKeys    the key's columns are finished as for a snapshot and encoded (keysearch.keybytes)

A partial after-image may lack columns of the key: an update keeps them, so they come from the before-image (DEF-R2); in
an insert they are the columns' defaults (DEF-R1b).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.replica_defaults import ReplicaDefaults
from applier.apply.table_key import TableKey, no_key_value
from applier.binlog.changes import INSERT, ChangeBatch
from applier.binlog.layout import ColumnPlan, ImageBuffers
from applier.binlog.table_map import TableMap
from applier.binlog.values import finish_column
from applier.errors import KEY_NOT_FOUND, ApplierError, ReplayStopped
from applier.schema.agreement import agrees
from applier.schema.definition import TableDefinition
from applier.schema.zero_dates import to_python
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

    def _default(self, column: int, batch: ChangeBatch) -> pa.Scalar | pa.Array:
        return self._defaults.left_out(self._definition.columns[column],
                                       lambda: times_of(batch, batch.after_rows, batch.n_after))

    def _check(self, batch: ChangeBatch, column: int, no_before: pa.BooleanArray, no_after: pa.BooleanArray) -> None:
        """Raise ReplayStopped for the first change whose key has no value in `column`, by row of the images: FIND
        searches by a key only where the before-image has its columns."""
        name = self._definition.columns[column].name
        absent = batch.before.columns[column].absent_rows(batch.n_before)
        if absent is not None and pc.any(absent).as_py():
            lacking = ReplayStopped(f"a before-image lacks column {name} of the key that rows are found by",
                                    table=self._definition.full_name, errno=KEY_NOT_FOUND, key=str(self._key),
                                    hint="the source's table has another key; give its definition with --schema")
            raise at_change(lacking, batch, batch.before_rows, np.asarray(absent))
        for lacking, rows in ((no_before, batch.before_rows), (no_after, batch.after_rows)):
            if pc.any(lacking).as_py():
                raise at_change(no_key_value(str(self._key), name, self._definition.full_name), batch, rows,
                                np.asarray(lacking))


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
        return not agrees(self._definition.columns[column].type, table_map.types[column], table_map.metadata[column])

    def _values(self, images: ImageBuffers, rows: int) -> np.ndarray:
        """The keys of the first `rows` images: int64, where the kernel put them or converted."""
        column, table_map = self._key.columns[0], self._table_map
        buffer = images.columns[column]
        if not self._converts:
            return buffer.values.view(np.int64)[:rows]
        converted = finish_column(buffer.arrow(rows), self._definition.columns[column], table_map.types[column],
                                  table_map.metadata[column])
        return np.array(int_key(converted.fill_null(0)))

    def of_batch(self, batch: ChangeBatch) -> tuple[int, int, int]:
        """Addresses of both key columns and of the bitmap of after-images without the key (0: none)."""
        before, after = (images.columns[self._key.columns[0]] for images in (batch.before, batch.after))
        absent = after.absent_rows(batch.n_after)
        if before.has_nulls or after.has_nulls:
            nulls = after.arrow(batch.n_after).is_null()
            self._check(batch, self._key.columns[0], before.arrow(batch.n_before).is_null(),
                        nulls if absent is None else pc.and_not(nulls, absent))
        self._kept = self._values(batch.before, batch.n_before), self._values(batch.after, batch.n_after)
        if absent is not None:
            self._give_inserts_the_default(batch, np.asarray(absent), self._kept[1])
        addresses = [keys.ctypes.data for keys in self._kept]
        return *addresses, 0 if absent is None else after.absent.ctypes.data

    def columns(self, batch: ChangeBatch) -> tuple[list[pa.Array], list[pa.Array]]:
        self.of_batch(batch)
        column = self._key.columns[0]
        before, after = self._kept
        absent = batch.after.columns[column].absent_rows(batch.n_after)
        if absent is not None:
            old_rows = rows_before(batch)
            kept = np.asarray(absent) & (old_rows >= 0)
            after = np.where(kept, before[np.where(kept, old_rows, 0)] if len(before) else 0, after)
        return [pa.array(before)], [pa.array(after)]

    def _give_inserts_the_default(self, batch: ChangeBatch, absent: np.ndarray, values: np.ndarray) -> None:
        inserts = batch.after_rows[batch.kinds == INSERT]
        inserts = inserts[absent[inserts]]
        if len(inserts):
            default = self._default(self._key.columns[0], batch)
            values[inserts] = int_key(pa.array([default.as_py()], default.type))[0]


class ByteKeys(ChangeKeys):
    """Keys of any columns."""

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        return [plan if c in self._key.columns else None for c, plan in enumerate(plans)]

    def columns(self, batch: ChangeBatch) -> tuple[list[pa.Array], list[pa.Array]]:
        before = [self._column(batch.before, c, batch.n_before) for c in self._key.columns]
        after = [self._complete(batch, c, old) for c, old in zip(self._key.columns, before, strict=True)]
        for column, old, new in zip(self._key.columns, before, after, strict=True):
            if old.null_count or new.null_count:
                self._check(batch, column, old.is_null(), new.is_null())
        return before, after

    def of_batch(self, batch: ChangeBatch) -> tuple[KeyBytes, KeyBytes]:
        before, after = self.columns(batch)
        return self._key.encode(before), self._key.encode(after)

    def _column(self, images: ImageBuffers, column: int, rows: int) -> pa.Array:
        table_map = self._table_map
        return finish_column(images.columns[column].arrow(rows), self._definition.columns[column],
                             table_map.types[column], table_map.metadata[column])

    def _complete(self, batch: ChangeBatch, column: int, before: pa.Array) -> pa.Array:
        """The column's values after the changes, with what after-images lack put in."""
        after = self._column(batch.after, column, batch.n_after)
        absent = batch.after.columns[column].absent_rows(batch.n_after)
        if absent is None:
            return after
        old_rows = rows_before(batch)
        old = before.take(pa.array(old_rows, mask=old_rows < 0))
        default = pa.scalar(None, after.type)
        if (np.asarray(absent) & (old_rows < 0)).any():
            default = self._default(column, batch)
        return pc.if_else(absent, pc.if_else(pa.array(old_rows < 0), default, old), after)


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
