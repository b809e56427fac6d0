"""The targets of a unit's pointers: rows of its base, rows made by foreign keys, and images in the log."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from applier.apply.index.unit_index import UnitIndex
from applier.apply.output.rows import LoggedColumns, RowGatherer
from applier.apply.tables.logged_table import TableReading
from applier.binlog.rows.changes import Changes, ImageLayouts
from applier.columns.replica_defaults import EventTimes, ReplicaDefaults
from applier.io.mapping import MappedFile
from applier.schema.definition import TableDefinition, table_schema, without_rows


class UnitMemory:
    """The memory of a unit. Before the first table map there are no images, as in a table that only foreign keys
    change. `files`, a list that grows, have the memory of images, in commit order; `base` has the rows from before the
    first change."""

    def __init__(self, definition: TableDefinition, files: list[MappedFile], time_zone: str):
        self.files = files
        self.base = without_rows(table_schema(definition))
        self._definition, self._defaults = definition, ReplicaDefaults(definition, time_zone)
        self.reading: TableReading | None = None
        self._derived: list[pa.Table] = []
        self._stored = tuple(c for c, column in enumerate(definition.columns) if column.generated != "virtual")
        nothing = (0,) * len(definition.columns)
        self._set_images(LoggedColumns(self._stored, nothing, nothing), (), ImageLayouts([]))

    def _set_images(self, logged: LoggedColumns, nullable: tuple[bool, ...], layouts: ImageLayouts) -> None:
        self._logged, self.layouts = logged, layouts
        self._times = EventTimes(self._defaults, nullable, layouts)

    def bind_table_map(self, reading: TableReading) -> None:
        """Prepare for the table's first changes, which have these columns and layouts."""
        self.reading, table_map = reading, reading.table_map
        self._set_images(LoggedColumns(self._stored, table_map.types, table_map.metadata), table_map.nullable,
                         reading.layouts)

    @property
    def n_logged(self) -> int:
        """The number of columns that the log's images may have."""
        return len(self._logged.types)

    def remember_times(self, batch: Changes) -> None:
        """Keep the times of the events of a batch, if they are needed."""
        self._times.remember_times(batch)

    @property
    def base_rows(self) -> int:
        """The number of rows outside of images to which pointers may lead: those of the base, and derived ones."""
        return sum(int(rows.num_rows) for rows in (self.base, *self._derived))

    def add_derived(self, rows: pa.Table) -> None:
        """Add rows with values that foreign keys gave to rows of this table; they are numbered after `base_rows`."""
        self._derived.append(rows)

    def gatherer(self, index: UnitIndex[Any], columns: Collection[str] | None = None) -> RowGatherer:
        """Return a reader of the rows to which an index's pointers lead: of all stored columns, or of these; of all if
        some of these are generated from others."""
        logged, base = self._logged, pa.concat_tables([self.base, *self._derived])
        if columns is not None and not any(column.generated for column in self._definition.columns):
            fields = [number for number, name in enumerate(base.schema.names) if name in columns]
            base = base.select(fields)
            logged = dataclasses.replace(logged, stored=tuple(logged.stored[number] for number in fields))
        return RowGatherer(self._definition, logged, self.layouts, index.column_pointers, index.diffs,
                           base, self.files, self._defaults, self._times)

    def release(self) -> None:
        """Release the memory: no pointer leads here any more."""
        self.base, self._derived = self.base.slice(0, 0), []
        self.files.clear()
