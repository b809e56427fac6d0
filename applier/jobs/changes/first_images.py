"""The rows that tables had before the log began, as far as the log shows them.

A log that begins after a table's rows were made says what a row was once something changes it: the before-image of the
row's first change. Rows that nothing changes do not matter to what is made of changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS, segment_reader
from applier.apply.tasks import LogSegment
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, TableBinding
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.binlog.rows.same_bytes import SameBytes
from applier.columns.image_values import absent_flags
from applier.columns.table_key import table_key
from applier.columns.values import finish_column
from applier.errors import UnsupportedEvent
from applier.io.mapping import map_file
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition, table_schema
from keysearch.keybytes import KeyBytes

MOST_KEPT = 1 << 20
"""So many keys are kept before those that came again are dropped."""


def first_images(definitions: Mapping[int, TableDefinition], segments: Iterable[LogSegment]) -> dict[int, pa.Table]:
    """The rows that versions of tables had before their first change, by the version's id, out of segments of the log.
    Raises UnsupportedEvent for a table without a key, and for a before-image that lacks columns."""
    tables = {number: _FirstImages(definition) for number, definition in definitions.items()}
    with SameBytes() as outlined:
        for segment in segments:
            wanted = {number: tables[number] for number in segment.tables.values() if number in tables}
            if not wanted:
                continue
            reader = segment_reader(segment, map_file(segment.uri), wanted)
            outlined.walk(reader, segment.split, segment.start, segment.end)
            reader.flush()
    return {number: table.rows() for number, table in tables.items()}


@dataclass(frozen=True)
class _First:
    """Keys (pa.int64() or pa.binary()) in the order of their first images, whether each of these is a before-image, and
    those that are, as rows."""

    keys: pa.Array
    is_before: np.ndarray
    rows: pa.Table

    def firsts(self) -> _First:
        """Each key once."""
        codes = self.keys.dictionary_encode().indices.to_numpy()
        _, kept = np.unique(codes, return_index=True)  # codes count in the order in which keys come
        rows = self.is_before.cumsum()[kept] - 1
        is_before = self.is_before[kept]
        return _First(self.keys.take(pa.array(kept)), is_before, self.rows.take(pa.array(rows[is_before])))


class _FirstImages:
    """Takes the changes of one version of a table (a LogTable), in commit order."""

    def __init__(self, definition: TableDefinition) -> None:
        key = table_key(definition)
        if key is None:
            raise UnsupportedEvent("the log begins after this table was made, and its rows have no key by which their "
                                   "first changes are found", table=definition.full_name, hint=_WAY_OUT)
        self._definition, self._key = definition, key
        self._logged = LoggedTable(definition, same_columns=False)  # as for all tables that the log did not make
        self._parts: list[_First] = []
        self._limit = MOST_KEPT

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """What is wanted of the rows after a table map: whole before-images, and the keys of after-images."""
        reading = self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        if max(self._key.columns) >= len(reading.plans):
            raise UnsupportedEvent("the log begins after this table was made, and does not have the key of its rows",
                                   table=self._definition.full_name, hint=_WAY_OUT)
        keys: list[ColumnPlan | None] = [plan if number in self._key.columns else None
                                         for number, plan in enumerate(reading.plans)]
        before: list[ColumnPlan | None] = [*reading.plans]
        binding = TableBinding(reading.plans, before, keys, lambda batch: self._take(reading, batch), BATCH_ROWS)
        binding.layouts = reading.layouts
        return binding

    def rows(self) -> pa.Table:
        """The rows that were there before the log, in the order of their first changes."""
        self._compact()
        return self._parts[0].rows if self._parts else table_schema(self._definition).empty_table()

    def _take(self, reading: TableReading, batch: ChangeBatch) -> None:
        rows = self._rows(reading, batch)
        after, is_known = self._keys_after(reading, batch)
        befores, afters = (np.flatnonzero(rows_of >= 0) for rows_of in (batch.before_rows, batch.after_rows))
        afters = afters[is_known[batch.after_rows[afters]]]
        keys = pa.concat_arrays([_as_array(self._key.of_rows(rows, self._definition.full_name)),
                                 after.take(pa.array(batch.after_rows[afters]))])
        order = np.argsort(np.concatenate([2 * befores, 2 * afters + 1]))  # befores lie in the order of their changes
        is_before = order < len(befores)
        self._parts.append(_First(keys.take(pa.array(order)), is_before, rows).firsts())
        if sum(len(part.keys) for part in self._parts) > self._limit:
            self._compact()
            self._limit = MOST_KEPT + 2 * len(self._parts[0].keys)

    def _compact(self) -> None:
        if len(self._parts) > 1:
            self._parts = [_First(pa.concat_arrays([part.keys for part in self._parts]),
                                  np.concatenate([part.is_before for part in self._parts]),
                                  pa.concat_tables([part.rows for part in self._parts])).firsts()]

    def _rows(self, reading: TableReading, batch: ChangeBatch) -> pa.Table:
        """The before-images as rows."""
        arrays = []
        for number, column in enumerate(self._definition.columns):
            if column.generated == "virtual":
                continue
            absent = np.ones(batch.n_before, np.bool_) if number >= len(reading.plans) else \
                absent_flags(batch.before.columns[number].absent_rows(batch.n_before))
            if absent is not None and absent.any():
                change = np.flatnonzero((batch.before_rows >= 0) & absent[batch.before_rows])[0]
                raise UnsupportedEvent(f"this before-image lacks the column {column.name}, so that the log does not "
                                       "tell what the row was before it began", file=batch.file.uri,
                                       position=int(batch.places[change]), row=int(batch.rows[change]),
                                       table=self._definition.full_name, hint=_WAY_OUT)
            arrays.append(self._column(reading, batch.before, number, batch.n_before))
        return pa.Table.from_arrays(arrays, schema=table_schema(self._definition))

    def _keys_after(self, reading: TableReading, batch: ChangeBatch) -> tuple[pa.Array, np.ndarray]:
        """The keys of after-images, and which of these have one: the others keep the key of their before-image."""
        is_known = np.ones(batch.n_after, np.bool_)
        for number in self._key.columns:
            absent = absent_flags(batch.after.columns[number].absent_rows(batch.n_after))
            is_known &= True if absent is None else ~absent
        columns = [self._column(reading, batch.after, number, batch.n_after) for number in self._key.columns]
        return _as_array(self._key.encode([_filled(column, is_known) for column in columns])), is_known

    def _column(self, reading: TableReading, images: ImageBuffers, number: int, rows: int) -> pa.Array:
        if number >= len(reading.plans):  # there are no images that should have it
            return pa.nulls(rows, arrow_type(self._definition.columns[number].type))
        return finish_column(images.columns[number].arrow(rows), self._definition.columns[number],
                             reading.table_map.types[number], reading.table_map.metadata[number])


_WAY_OUT = "give a --base of the time when the log begins"


def _as_array(keys: np.ndarray | KeyBytes) -> pa.Array:
    return pa.array(keys, pa.int64()) if isinstance(keys, np.ndarray) else keys.to_arrow()


def _filled(column: pa.Array, is_known: np.ndarray) -> pa.Array:
    """A column of keys, of which those that are not known are some that are."""
    if is_known.all() or not is_known.any():
        return column
    return column.take(pa.array(np.where(is_known, np.arange(len(column)), np.argmax(is_known))))
