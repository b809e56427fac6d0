"""The rows that tables had before the log began, as far as the log shows them.

In a log that begins after a table's rows were created, a row first appears in the before-image of its first change.
Rows without changes do not matter for the results of changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.search.change_keys import change_keys
from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS, segment_reader
from applier.apply.tasks import LogSegment
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, TableBinding
from applier.binlog.rows.image_pointers import layouts_of
from applier.binlog.rows.layout import ColumnPlan
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.image_values import Rows, absent_flags
from applier.columns.table_key import TableKey, table_key
from applier.columns.values import finish_column
from applier.errors import ReplayStopped, UnsupportedEvent
from applier.io.mapping import map_file
from applier.mysql.names import folded
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition, table_schema
from keysearch.keybytes import KeyBytes

MOST_KEPT = 1 << 20
"""The number of keys that are kept before repeated ones are dropped."""


class Unknown(Enum):
    """How to fill a value that is missing in a row's first before-image."""

    NULL = "NULL"
    MADE_UP = "values that are not NULL"


class RowsAtTheEnd(Protocol):
    """The rows of tables where the log ends, as a server has them."""

    def filled(self, definition: TableDefinition, rows: pa.Table, wanted: np.ndarray) -> tuple[pa.Table, np.ndarray]:
        """Return rows (found by the columns of the table's key) with the values that they have where the log ends in
        the `wanted` places (bool[rows, stored columns]), and which of these were filled."""


def first_images(definitions: Mapping[int, TableDefinition], segments: Iterable[LogSegment],
                 unknown: Unknown | None = None, at_end: Mapping[int, RowsAtTheEnd] = MappingProxyType({})
                 ) -> tuple[dict[int, pa.Table], bool]:
    """Return the rows that versions of tables had before their first change, by the version's id, and whether any of
    them has unknown values. They are read from segments of the log. A table without a key, or whose before-images do
    not have its key, has no rows. If a before-image does not have a column, the value is the row's at the end of the
    log, provided that it is known (`at_end`, of versions that exist there) and that no change assigned the column.
    Raises UnsupportedEvent for other rows with missing values, unless `unknown` says how to fill them."""
    keys = {number: key for number, definition in definitions.items() if (key := table_key(definition)) is not None}
    tables = {number: _FirstImages(definitions[number], key, unknown, at_end.get(number))
              for number, key in keys.items()}
    with SameBytes() as outlined:
        for segment in segments:
            wanted = {number: tables[number] for number in segment.tables.values() if number in tables}
            if not wanted:
                continue
            reader = segment_reader(segment, map_file(segment.uri, whole=False), wanted)
            outlined.walk(reader, segment.split, segment.start, segment.end)
            reader.flush()
    rows = {number: table.rows() for number, table in tables.items()}
    return rows, any(table.lacks for table in tables.values())


@dataclass(frozen=True)
class _Lacking:
    """The position of a before-image without some column."""

    file: str
    position: int
    row: int


@dataclass(frozen=True)
class _First:
    """Keys (pa.int64() or pa.large_binary()) in the order of their first images, whether each of these is a
    before-image, and which stored columns changes of the key have assigned (bool[keys, columns]; no columns if nobody
    asks); the before-images among them, as rows, which columns these lack (bool[rows, columns]), and where: the number
    of a _Lacking, or -1."""

    keys: pa.Array
    is_before: np.ndarray
    assigned: np.ndarray
    rows: pa.Table
    absent: np.ndarray
    lacking: np.ndarray

    def firsts(self) -> _First:
        """Return each key once."""
        codes = self.keys.dictionary_encode().indices.to_numpy()
        _, kept = np.unique(codes, return_index=True)  # codes count in the order in which keys come
        is_before = self.is_before[kept]
        rows = (self.is_before.cumsum() - 1)[kept][is_before]
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(kept)))
        assigned = np.logical_or.reduceat(self.assigned[order], starts) if len(kept) else self.assigned
        return _First(self.keys.take(pa.array(kept)), is_before, assigned, self.rows.take(pa.array(rows)),
                      self.absent[rows], self.lacking[rows])


class _FirstImages:
    """Takes the changes of one version of a table (a LogTable), in commit order."""

    def __init__(self, definition: TableDefinition, key: TableKey, unknown: Unknown | None,
                 at_end: RowsAtTheEnd | None) -> None:
        self._definition, self._key, self._unknown, self._at_end = definition, key, unknown, at_end
        self._stored = np.array([column.generated != "virtual" for column in definition.columns], bool)
        self._computed_from = _computed_from(definition)
        self.lacks, self._made_up = False, 1
        self._logged = LoggedTable(definition, same_columns=False)  # as for all tables that the log did not make
        self._parts: list[_First] = []
        self._lacking: list[_Lacking] = []
        self._limit, self._has_keys = MOST_KEPT, True

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return what to read of the rows after a table map: whole before-images, and the keys of after-images."""
        reading = self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        self._has_keys &= max(self._key.columns) < len(reading.plans)
        keys: list[ColumnPlan | None] = [plan if number in self._key.columns else None
                                         for number, plan in enumerate(reading.plans)]
        before: list[ColumnPlan | None] = [*reading.plans]
        binding = TableBinding(reading.plans, before, keys, lambda batch: self._take(reading, batch), BATCH_ROWS)
        binding.layouts = reading.layouts
        return binding

    def rows(self) -> pa.Table:
        """Return the rows that were there before the log, in the order of their first changes."""
        self._compact()
        if not self._has_keys or not self._parts:
            return table_schema(self._definition).empty_table()
        first = self._parts[0]
        rows, absent = first.rows, first.absent
        if self._at_end is not None and absent.any():
            rows, filled = self._at_end.filled(self._definition, rows, absent & ~first.assigned[first.is_before])
            absent = absent & ~filled
        self.lacks = bool(absent.any())
        if self.lacks and self._unknown is None:
            row, column = np.argwhere(absent)[0].tolist()
            lacking = self._lacking[int(first.lacking[row])]
            raise UnsupportedEvent("this before-image does not contain column "
                                   f"{self._definition.stored_columns[column].name}, so the row's values "
                                   "at the beginning of the log are unknown",
                                   file=lacking.file,
                                   position=lacking.position, row=lacking.row, table=self._definition.full_name,
                                   hint="logs with binlog_row_image=MINIMAL or NOBLOB do not have the old values, and "
                                        "the server has only those that did not change (--server): give a --base (a "
                                        "snapshot, or an imported dump) from the time when the log begins")
        return rows

    def _take(self, reading: TableReading, batch: ChangeBatch) -> None:
        if not self._has_keys:
            return
        try:
            columns = change_keys(self._key, self._definition, reading.table_map).stored_columns(batch)
        except ReplayStopped:  # before-images have no key: the replay will find out whether rows exist
            self._has_keys = False
            return
        before, after = (_as_array(self._key.encode(of_images)) for of_images in columns)
        befores, afters = (np.flatnonzero(rows >= 0) for rows in (batch.before_rows, batch.after_rows))
        keys = pa.concat_arrays([before, after.take(pa.array(batch.after_rows[afters]))])
        order = np.argsort(np.concatenate([2 * befores, 2 * afters + 1]))  # befores lie in the order of their changes
        rows, absent, lacking = self._rows(reading, batch)
        assigned = self._assigned(reading, batch, before, after)
        self._parts.append(_First(keys.take(pa.array(order)), order < len(befores), assigned[order], rows, absent,
                                  lacking).firsts())
        if sum(len(part.keys) for part in self._parts) > self._limit:
            self._compact()
            self._limit = MOST_KEPT + 2 * len(self._parts[0].keys)

    def _compact(self) -> None:
        if len(self._parts) > 1:
            self._parts = [_First(pa.concat_arrays([part.keys for part in self._parts]),
                                  np.concatenate([part.is_before for part in self._parts]),
                                  np.concatenate([part.assigned for part in self._parts]),
                                  pa.concat_tables([part.rows for part in self._parts]),
                                  np.concatenate([part.absent for part in self._parts]),
                                  np.concatenate([part.lacking for part in self._parts])).firsts()]

    def _assigned(self, reading: TableReading, batch: ChangeBatch, before: pa.Array, after: pa.Array) -> np.ndarray:
        """Return which stored columns the change of each before-image, then of each after-image, assigned: bool[images,
        columns]. These are all columns, but for an update that keeps the key only those of its after-image, and the
        generated columns that depend on them."""
        befores, afters = (rows[rows >= 0] for rows in (batch.before_rows, batch.after_rows))
        if self._at_end is None:
            return np.empty((len(befores) + len(afters), 0), bool)
        has_both = (batch.before_rows >= 0) & (batch.after_rows >= 0)
        stays = has_both.copy()
        stays[has_both] = pc.equal(before.take(pa.array(batch.before_rows[has_both])),
                                   after.take(pa.array(batch.after_rows[has_both]))).to_numpy(zero_copy_only=False)
        present = np.zeros((len(reading.layouts.known), len(self._stored)), bool)
        for number, layout in enumerate(reading.layouts.known):
            present[number, [column for column in layout.present if column < len(self._stored)]] = True
        for number, sources in self._computed_from * len(self._computed_from):  # some are computed from others
            present[:, number] |= present[:, sources].any(axis=1)
        present = present[:, self._stored]
        of_before = np.repeat(~stays[batch.before_rows >= 0], present.shape[1]).reshape(-1, present.shape[1])
        has_after = batch.after_rows >= 0
        return np.concatenate([of_before, present[layouts_of(batch.images[has_after])]
                               | ~stays[has_after][:, np.newaxis]])

    def _rows(self, reading: TableReading, batch: ChangeBatch) -> tuple[pa.Table, np.ndarray, np.ndarray]:
        """Return the before-images as rows, the stored columns that each does not have, and their positions."""
        arrays, lacks, lacking = list[pa.Array](), list[np.ndarray](), np.full(batch.n_before, -1, np.int64)
        for number, column in enumerate(self._definition.columns):
            if column.generated == "virtual":
                continue
            if number >= len(reading.plans):
                absent: Rows = np.ones(batch.n_before, np.bool_)
                values = pa.nulls(batch.n_before, arrow_type(column.type))
            else:
                buffer = batch.before.columns[number]
                absent = absent_flags(buffer.absent_rows(batch.n_before))
                values = finish_column(buffer.arrow(batch.n_before), column, reading.table_map.types[number],
                                       reading.table_map.metadata[number], self._definition.flavour)
            if self._unknown is not None and absent is not None and absent.any():
                other = pa.scalar(None, values.type) if self._unknown is Unknown.NULL else _made_up(
                    np.arange(self._made_up, self._made_up + batch.n_before), values.type, self._definition)
                values = pc.if_else(pa.array(absent), other, values)
            arrays.append(values)
            lacks.append(np.zeros(batch.n_before, bool) if absent is None else absent)
            if absent is not None and absent.any():
                change = np.flatnonzero((batch.before_rows >= 0) & absent[batch.before_rows])[0]
                lacking[absent] = len(self._lacking)
                self._lacking.append(_Lacking(batch.file.uri, int(batch.positions[change]),
                                              int(batch.rows[change])))
        self._made_up += batch.n_before
        return pa.Table.from_arrays(arrays, schema=table_schema(self._definition)), np.column_stack(lacks), lacking


def _computed_from(definition: TableDefinition) -> list[tuple[int, list[int]]]:
    """Return the generated columns, and the columns whose names are in their expressions, in whatever role."""
    names = [folded(column.name).replace("`", "``") for column in definition.columns]
    return [(number, [other for other, name in enumerate(names) if name in folded(column.expression or "")])
            for number, column in enumerate(definition.columns) if column.generated]


def _made_up(numbers: np.ndarray, kind: pa.DataType, definition: TableDefinition) -> pa.Array:
    """Return a value of a type for each number, unlikely in real rows, and different ones as far as the type has
    enough. Raises UnsupportedEvent if the type has no such value."""
    if pa.types.is_decimal(kind):
        limit = 10**min(kind.precision - kind.scale, 18)
        return pa.array(limit - 1 - numbers % limit).cast(pa.decimal128(19, 0)).cast(kind)
    if pa.types.is_integer(kind) or pa.types.is_date32(kind):
        limit = 1 << (14 if pa.types.is_date32(kind) else min(kind.bit_width - 1, 62))
        return pa.array((limit - 1 - numbers % limit).astype(f"int{kind.bit_width}")).cast(kind)
    if pa.types.is_list(kind):
        offsets = pa.array(np.arange(len(numbers) + 1, dtype=np.int32))
        return pa.ListArray.from_arrays(offsets, _made_up(numbers, kind.value_type, definition))
    if pa.types.is_float32(kind):
        return pa.array(((1 << 24) - 1 - numbers % (1 << 24)).astype(np.float32))
    numbers = numbers + 10**15
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array(numbers).cast(pa.string()).cast(kind)
    try:
        return pa.array(numbers).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise UnsupportedEvent("before-images do not contain all columns, and one has a type of which no value can be "
                               f"made up: {kind}", table=definition.full_name,
                               hint="give a --base from the time when the log begins") from None


def _as_array(keys: np.ndarray | KeyBytes) -> pa.Array:
    return pa.array(keys, pa.int64()) if isinstance(keys, np.ndarray) else keys.to_arrow()
