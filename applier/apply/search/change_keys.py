"""The keys of a batch of changes: converts the output of the decode kernel for each image to the input of an index.

    IntKeys     the kernel writes the key as an int64 that compares in order; the index reads its buffer (for a column
                that is another integer type in the log, the values are converted first)
    ByteKeys    the key's columns are finished as for a snapshot and encoded (keysearch.keybytes)

If columns of the key are missing in an after-image, an update takes them from the before-image (DEF-R2), an insert
takes the columns' defaults (DEF-R1b). A NULL in either image is converted as a replica converts it, since no column of
the key can be NULL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.key_index import ImageKeys
from applier.apply.search.keyed_changes import KeyColumns, KeyedChanges, KeyTexts
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, Changes, DecodedChanges
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.agreement import is_compatible
from applier.columns.image_values import Rows, absent_flags, with_defaults, without_nulls
from applier.columns.replica_defaults import ReplicaDefaults
from applier.columns.table_key import BytesKey, Encoded, IntKey, TableKey
from applier.columns.values import finish_column
from applier.errors import KEY_NOT_FOUND, ApplierError, ReplayStopped
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition
from keysearch.keybytes import KeyBytes, int_key

AnyError = TypeVar("AnyError", bound=ApplierError)


class ChangeKeys(ABC, Generic[Encoded]):
    """Reads the keys of a table with one key from batches of the log."""

    raw_diffs = before_images = False
    """A key has no JSON column."""

    def __init__(self, key: TableKey, definition: TableDefinition, table_map: TableMap):
        self._definition, self._table_map = definition, table_map
        self._key_for_messages, self._defaults = key, ReplicaDefaults(definition)

    def of_batch(self, batch: ChangeBatch) -> KeyedChanges[Encoded]:
        """Return a batch with its keys."""
        return KeyedChanges(batch=batch, keys=self._image_keys(batch), texts=self.texts(batch))

    def texts(self, batch: ChangeBatch) -> KeyTexts:
        """Return the keys of a batch as text."""
        return KeyTexts(self._key_for_messages, partial(self.columns, batch))

    @abstractmethod
    def _image_keys(self, batch: ChangeBatch) -> ImageKeys[Encoded]:
        """Return the keys of the before- and after-images."""

    @abstractmethod
    def columns(self, batch: ChangeBatch) -> KeyColumns:
        """Return the key's columns of both images."""

    @abstractmethod
    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        """Return the columns to decode from each image for the key."""

    def stored_columns(self, batch: ChangeBatch) -> KeyColumns:
        """Return the key's columns of both images in the form of a snapshot, if images are decoded to that form."""
        before = [self._column(batch, c, False)[0] for c in self._key_for_messages.columns]
        columns = self._key_for_messages.columns
        return before, [self._after(batch, c, old) for c, old in zip(columns, before, strict=True)]

    def _after(self, batch: ChangeBatch, column: int, before: pa.Array) -> pa.Array:
        """Return a column's values after the changes: an update keeps values that are missing in its after-image."""
        after, absent = self._column(batch, column, True)
        if absent is None:
            return after
        old_rows = rows_before(batch)
        old = before.take(pa.array(old_rows, mask=old_rows < 0))
        return pc.if_else(pa.array(absent & (old_rows >= 0)), old, after)

    def _column(self, batch: ChangeBatch, column: int, after: bool) -> tuple[pa.Array, Rows]:
        """Return the values of a key column by row of the before- or after-images, and the rows in which it is missing.
        """
        images, n = _images(batch, after)
        table_map = self._table_map
        values = finish_column(images.columns[column].arrow(n), self._definition.columns[column],
                               table_map.types[column], table_map.metadata[column], self._definition.flavour)
        absent = absent_flags(images.columns[column].absent_rows(n))
        return self._replaced(batch, column, values, absent, after), absent

    def _replaced(self, batch: ChangeBatch, column: int, values: pa.Array, absent: Rows, after: bool,
                  used: Rows = None) -> pa.Array:
        """Return the values with a replica's replacements for NULLs, and for values missing in an insert."""
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
        """Raise ReplayStopped for the first before-image without a column of the key: a row is searched by a key only
        if the before-image has all its columns (FIND)."""
        lacking = ReplayStopped(f"a before-image has no column {self._definition.columns[column].name} of the key by "
                                "which rows are found", table=self._definition.full_name, errno=KEY_NOT_FOUND,
                                key=str(self._key_for_messages),
                                hint="the source's table has another key; give its definition with --schema")
        raise at_change(lacking, batch, batch.before_rows, absent)


def change_keys(key: TableKey, definition: TableDefinition, table_map: TableMap) -> IntKeys | ByteKeys:
    """Return the reader of a table's keys."""
    match key:
        case IntKey():
            return IntKeys(key, definition, table_map)
        case BytesKey():
            return ByteKeys(key, definition, table_map)


class IntKeys(ChangeKeys[np.ndarray]):
    """Keys that are one integer column."""

    def __init__(self, key: IntKey, definition: TableDefinition, table_map: TableMap):
        super().__init__(key, definition, table_map)
        self._key = key

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
        """Return the keys by row of the before- or after-images (int64), and the rows without a key."""
        column = self._key.columns[0]
        if self._converts:
            values, absent = self._column(batch, column, after)
            return np.array(int_key(values.fill_null(0))), absent
        images, n = _images(batch, after)
        buffer = images.columns[column]
        keys = buffer.values.view(np.int64)[:n]  # where the kernel put them; a NULL has an arbitrary value
        if not buffer.has_nulls:
            return keys, None
        absent, missing = absent_flags(buffer.absent_rows(n)), np.asarray(buffer.arrow(n).is_null())
        if after and absent is not None and not (missing & ~(absent & (rows_before(batch) >= 0))).any():
            return keys, absent  # an update keeps omitted columns (DEF-R2)
        made = pa.nulls(n, arrow_type(self._definition.columns[column].type))
        made = self._replaced(batch, column, made, absent, after, missing)
        keys[missing] = int_key(made.fill_null(0))[missing]
        return keys, absent

    def _image_keys(self, batch: ChangeBatch) -> ImageKeys[np.ndarray]:
        (before, _), (after, absent) = self._keys(batch, False), self._keys(batch, True)
        bitmap = None if absent is None else batch.after.columns[self._key.columns[0]].absent
        return ImageKeys(before, after, bitmap)

    def columns(self, batch: ChangeBatch) -> KeyColumns:
        (before, _), (after, absent) = self._keys(batch, False), self._keys(batch, True)
        if absent is not None:
            old_rows = rows_before(batch)
            kept = absent & (old_rows >= 0)
            after = np.where(kept, before[np.where(kept, old_rows, 0)] if len(before) else 0, after)
        return [pa.array(before)], [pa.array(after)]


class ByteKeys(ChangeKeys[KeyBytes]):
    """Keys of any columns."""

    def __init__(self, key: BytesKey, definition: TableDefinition, table_map: TableMap):
        super().__init__(key, definition, table_map)
        self._key = key

    def wanted(self, plans: list[ColumnPlan]) -> list[ColumnPlan | None]:
        return [plan if c in self._key.columns else None for c, plan in enumerate(plans)]

    def columns(self, batch: ChangeBatch) -> KeyColumns:
        return self.stored_columns(batch)

    def _image_keys(self, batch: ChangeBatch) -> ImageKeys[KeyBytes]:
        before, after = self.columns(batch)
        return ImageKeys(self._key.encode(before), self._key.encode(after))


def _images(batch: ChangeBatch, after: bool) -> tuple[ImageBuffers, int]:
    return (batch.after, batch.n_after) if after else (batch.before, batch.n_before)


def at_change(error: AnyError, batch: Changes, rows: np.ndarray, lacking: np.ndarray) -> AnyError:
    """Return the error with the position of the first change whose image is `lacking` a value; `rows` has the rows of
    images."""
    change = np.flatnonzero((rows >= 0) & lacking[rows])[0]
    error.at(file=batch.file.uri, position=int(batch.positions[change]))
    return error


def times_of(batch: Changes, rows: np.ndarray, n: int) -> np.ndarray:
    """Return when the events of n images were made (uint32[n], seconds since 1970), given each change's row among them.
    """
    times = np.zeros(n, np.uint32)
    times[rows[rows >= 0]] = batch.times[rows >= 0]
    return times


def rows_before(batch: DecodedChanges) -> np.ndarray:
    """Return, for each after-image, the row of the before-image that it replaces; -1 for an insert's."""
    rows = np.full(batch.n_after, -1, np.int64)
    with_after = batch.after_rows >= 0
    rows[batch.after_rows[with_after]] = batch.before_rows[with_after]
    return rows
