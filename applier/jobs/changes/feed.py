"""Batches of a table's changes as record batches of the feed.

    the table's columns       of the row before or after the change; null where the image does not have the column, and
                              for an invalid date
    _change_type              insert, update_preimage, update_postimage, delete; truncate, where the table was emptied
                              or dropped, and alter, where DDL changed values: both without values
    _commit_version           int64: the total order of the archive's event groups, whatever part of it is read. Changes
                              of an XA transaction are where it was prepared, and have the version of its commit
    _seq                      int64: the order of the changes in the group. (_commit_version, _seq) identifies a change
                              of a table, whatever part of the log is read and whatever is filtered. Both rows of an
                              update have the same. Changes that foreign keys make come after the one that they follow
    _commit_timestamp         when the group was committed, in whole seconds
    _gtid                     null without GTIDs
    _server_id, _thread_id    which server executed the group first, and in which connection; null where the log does
                              not say it, as before MariaDB 11.5
    _file, _pos, _row         the rows event, and the row in it, from 0; of DDL its event group, and a row's number. All
                              events of a compressed transaction have one _pos, that of its payload
    _cascaded                 whether foreign keys made it; the event is then that of the change that they follow
    _present                  the columns that the image has; null if it has all
    _diffs                    the JSON diffs that the image has instead of documents, as SQL by column in a JSON object
                              (JsonDiffs); these columns are null and not in _present. Null if it has none

An update is two rows, the one before it first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from applier.apply.tables.logged_table import LoggedTable, TableReading
from applier.apply.tables.table_maps import BATCH_ROWS
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeBatch, TableBinding
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.columns.values import finish_column
from applier.errors import ArchiveError, UsageError
from applier.io.mapping import MappedFile
from applier.jobs.changes.chosen_rows import ChosenRows
from applier.jobs.changes.columns import as_type
from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.changes.feed_kernel import describe
from applier.jobs.changes.json_diffs import JsonDiffs
from applier.jobs.changes.keys import ChosenKeys
from applier.mysql.reader_values import as_shown
from applier.schema.definition import TableDefinition

CHANGE_TYPES = ("insert", "update_preimage", "update_postimage", "delete", "truncate", "alter")
INSERT, PREIMAGE, POSTIMAGE, DELETE, TRUNCATE, ALTER = range(6)
_TYPES = np.array([[INSERT, INSERT], [POSTIMAGE, PREIMAGE], [DELETE, DELETE]], np.int8)
"""By kind (INSERT, UPDATE, DELETE) and whether an image is the one before."""
KINDS = pa.array(CHANGE_TYPES)
_TEXT = pa.dictionary(pa.int32(), pa.string())
OF_CHANGES = pa.schema([
    pa.field("_change_type", pa.dictionary(pa.int8(), pa.string()), nullable=False),
    pa.field("_commit_version", pa.int64(), nullable=False),
    pa.field("_seq", pa.int64(), nullable=False),
    pa.field("_commit_timestamp", pa.timestamp("us", tz="UTC"), nullable=False),
    pa.field("_gtid", _TEXT),
    pa.field("_server_id", pa.int64()),
    pa.field("_thread_id", pa.int64()),
    pa.field("_file", _TEXT, nullable=False),
    pa.field("_pos", pa.int64(), nullable=False),
    pa.field("_row", pa.int32(), nullable=False),
    pa.field("_cascaded", pa.bool_(), nullable=False),
    pa.field("_present", pa.list_(pa.string())),
    pa.field("_diffs", pa.string()),
])
"""The columns that describe a change."""
ALL_PRESENT = pa.nulls(1 << 16, pa.list_(pa.string()))
MOST_ROWS = 2 * BATCH_ROWS
"""The most rows of a batch, whose images are decoded in place: a batch costs more here than in a replay."""
NOT_CASCADED = pa.array(np.zeros(2 * MOST_ROWS, np.bool_))


def feed_schema(types: dict[str, pa.DataType], columns: tuple[str, ...] | None) -> pa.Schema:
    """Return the schema of a feed: the columns of the table, or the chosen ones, and those of the feed. Raises
    UsageError for an unknown column, and for one with the name of a column of the feed."""
    names = tuple(types) if columns is None else columns
    if unknown := [name for name in names if name not in types]:
        raise UsageError(f"the table has no column {unknown[0]!r}", hint=f"it has {', '.join(types)}")
    if taken := [name for name in names if name in OF_CHANGES.names]:
        raise UsageError(f"column {taken[0]} has the name of one of the feed's own columns",
                         hint="ask for its other columns")
    return pa.schema([*((name, types[name]) for name in names), *OF_CHANGES])


class FeedTable:
    """Takes the changes of one version of the table in one file (a LogTable), and makes record batches for `emit`.

    `schema` is the feed's, and `names` are the names of the version's columns in it, by number; a column of the feed
    that the version does not have is null. `groups` are those of the file. Only rows that are `chosen` count, None:
    all; `inflated` is then the memory that the reader keeps, for images of compressed events.
    """

    def __init__(self, definition: TableDefinition, schema: pa.Schema, names: Mapping[int, str],
                 emit: Callable[[pa.RecordBatch], None], groups: FileGroups, chosen: ChosenKeys | None,
                 inflated: list[MappedFile]) -> None:
        self._definition, self._schema, self._names, self._emit, self._groups = definition, schema, names, emit, groups
        self._chosen, self._inflated = chosen, inflated
        self._logged = LoggedTable(definition)
        self._columns = {name: number for number, name in names.items() if schema.get_field_index(name) >= 0}

    def bind(self, table_map: TableMap, bound: TableBinding | None) -> TableBinding:
        """Return what to read of the rows after a table map: all columns of the feed, of both images; if rows are
        chosen, only the keys at first."""
        reading = self._logged.bind_table_map(table_map)
        if bound is not None:
            return bound
        wanted: list[ColumnPlan | None] = [None] * len(reading.plans)
        for number in self._columns.values():
            if number < len(wanted):
                wanted[number] = reading.plans[number]
        if self._chosen is None:
            binding = TableBinding(reading.plans, wanted, wanted,
                                   lambda batch: self._add(reading, batch, 0, batch.n, batch.after),
                                   MOST_ROWS, raw_diffs=True, in_one=True)
        else:
            of_rows = ChosenRows(self._chosen, self._definition, reading, wanted, self._inflated)
            binding = TableBinding(reading.plans, of_rows.of_keys, of_rows.of_keys,
                                   lambda batch: self._add_chosen(reading, batch, of_rows), BATCH_ROWS,
                                   before_images=True)
        binding.layouts = reading.layouts
        return binding

    def _add_chosen(self, reading: TableReading, batch: ChangeBatch, of_rows: ChosenRows) -> None:
        of_rows.keep(batch)
        changes, is_before = _images(batch)
        for part, images in of_rows.read(batch, changes, is_before):
            first, last = changes[part][[0, -1]].tolist()
            self._add(reading, batch, first, last + 1, images)

    def _add(self, reading: TableReading, batch: ChangeBatch, first: int, end: int, images: ImageBuffers) -> None:
        """Emit the images of changes first … end of a batch, and their columns."""
        most = 2 * (end - first)
        types, positions, numbers, seqs, layouts = (np.empty(most, kind) for kind in (np.int8, np.int64, np.int32,
                                                                                   np.int64, np.int32))
        rows = int(describe(first, end, batch.kinds, batch.positions, batch.rows, batch.seqs, batch.before_rows,
                            batch.after_rows, batch.before_images, batch.images, _TYPES, types, positions, numbers,
                            seqs, layouts))
        positions = positions[:rows]
        diffs = JsonDiffs({number: name for name, number in self._columns.items()}, reading.layouts, layouts[:rows],
                          positions, numbers[:rows])
        try:
            arrays = [self._values(field, reading, images, rows, diffs) for field in self._schema
                      if field.name not in OF_CHANGES.names]
        except ArchiveError as error:
            raise error.at(file=batch.file.uri, table=self._definition.full_name) from None
        arrays += [
            pa.DictionaryArray.from_arrays(types[:rows], KINDS),
            *self._groups.columns(positions, seqs[:rows]), pa.array(positions), pa.array(numbers[:rows]),
            NOT_CASCADED.slice(0, rows), self._present(reading, layouts[:rows]), diffs.texts()]
        self._emit(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def _values(self, field: pa.Field, reading: TableReading, images: ImageBuffers, rows: int,
                diffs: JsonDiffs) -> pa.Array:
        """Return a column of `rows` images, in memory of its own, with null in place of diffs."""
        number = self._columns.get(field.name, len(reading.plans))
        if number >= len(reading.plans):
            return pa.nulls(rows, field.type)
        column = self._definition.columns[number]
        logged = diffs.without(number, images.columns[number].arrow(rows))
        values = as_shown(finish_column(logged, column, reading.table_map.types[number],
                                        reading.table_map.metadata[number], self._definition.flavour), column.type)
        return as_type(pa.concat_arrays([values, values.slice(0, 0)]), field.type)

    def _present(self, reading: TableReading, layouts: np.ndarray) -> pa.Array:
        """Return the columns that images of these layouts contain, in the table's order."""
        known: list[list[str] | None] = [None]
        for layout in reading.layouts.known[1:]:
            names = [self._names[column] for column in layout.present
                     if column in self._names and column not in layout.diffs]
            known.append(None if len(names) == len(self._names) else names)
        if all(names is None for names in known):
            return ALL_PRESENT.slice(0, len(layouts))
        return pa.array(known, ALL_PRESENT.type).take(pa.array(layouts))


def _images(batch: ChangeBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return the images of a batch in log order: which change each is of, whether it is the one before it."""
    befores, afters = batch.before_rows >= 0, batch.after_rows >= 0
    counts = befores.astype(np.int64) + afters
    changes = np.repeat(np.arange(batch.n), counts)
    is_before = np.zeros(len(changes), np.bool_)
    is_before[(np.cumsum(counts) - counts)[befores]] = True
    return changes, is_before
