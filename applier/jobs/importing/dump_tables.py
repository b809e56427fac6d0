"""The tables of a dump: their definitions, from its statements, and their rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from applier.columns.table_key import table_key
from applier.errors import SchemaError
from applier.jobs.importing.sorted_rows import SortedRows
from applier.jobs.importing.sql.inserts import InsertColumns, InsertSpans
from applier.jobs.importing.sql.spans import LiteralContext, LiteralError
from applier.schema.ddl.schema_changes import AlterTable, RenameTables, SchemaChange, TableName
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.engines import holds_rows
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import BEFORE_THE_LOG
from applier.schema.table_filter import TableFilter
from applier.snapshot.files.partitions import Partition
from applier.snapshot.staging import Staging


class DumpTables:
    """Definitions in a `history`, rows sorted by key in the staged snapshot; `spill` is a directory for rows that do
    not fit in memory."""

    def __init__(self, flavour: str, filter: TableFilter, staging: Staging, spill: str,
                 partitions: Mapping[str, str] = MappingProxyType({})) -> None:
        self.flavour, self.wanted = flavour, filter.wanted
        self.history = SchemaHistory(flavour, wanted=filter.wanted)
        self.zero_dates = 0
        self._staging, self._spill, self._partitions = staging, spill, partitions
        self._tables: dict[tuple[str, str], SortedRows] = {}
        self._last: tuple[str, str] | None = None

    @property
    def rows(self) -> int:
        """Rows of one table that are in files."""
        return sum(rows.rows for rows in self._tables.values())

    def has_rows(self, table: TableName) -> bool:
        """Return whether the table has had rows so far."""
        return table in self._tables

    def columns(self, database: str, table: str, names: tuple[str, ...] | None, *,
                with_history: bool = False) -> InsertColumns:
        """The columns of a table that rows have values for; `with_history`: rows of a system-versioned table may have
        their times, and past ones are included. Raises SchemaError."""
        definition = self._definition(database, table)
        columns = InsertColumns(definition, names)
        if definition.versioning is not None and not (with_history and columns.have_times):
            raise SchemaError("the dump does not contain the past rows of a system-versioned table, or the times of "
                              "its rows, which the log finds rows by", table=definition.full_name,
                              hint="dump it with `mariadb-dump --dump-history` (MariaDB 10.11 or newer), or leave the "
                                   "table out with --ignore-tables")
        return columns

    def names(self, database: str, table: str) -> tuple[str, ...]:
        """The names of all columns of a table, also of invisible ones. Raises SchemaError."""
        return tuple(column.name for column in self._definition(database, table).columns)

    def _definition(self, database: str, table: str) -> TableDefinition:
        version = self.history.at(database, table, BEFORE_THE_LOG)
        if version is None:
            raise SchemaError("the dump contains rows of a table that it does not define",
                              table=f"{database}.{table}", errno=1146,
                              hint="dump it with its definition")
        return version.definition

    def add(self, columns: InsertColumns, spans: InsertSpans, n_rows: int, data: np.ndarray, reading: LiteralContext,
            on_duplicate: int) -> None:
        """Convert rows and add them to the table's. Raises LiteralError, with its column, and SchemaError."""
        rows, zero_dates = columns.rows(spans, n_rows, data, reading)
        self.zero_dates += zero_dates
        self.take(columns.definition, rows, on_duplicate)

    def take(self, definition: TableDefinition, rows: pa.Table, on_duplicate: int) -> None:
        """Add converted rows to a table's, if its engine keeps any."""
        if holds_rows(definition):
            self.rows_of(definition).add(rows, on_duplicate)

    def rows_of(self, definition: TableDefinition) -> SortedRows:
        """The rows of the table; the previous table's are written to files, since most likely no more follow."""
        name = definition.database, definition.name
        if self._last not in (None, name) and self._last in self._tables:
            self._tables[self._last].flush()
        self._last = name
        if name not in self._tables:
            self._divide(definition)
            versioned = definition.versioning is not None
            target = self._staging.target(*name, history=versioned)
            self._tables[name] = SortedRows(definition, target.history if versioned else target, self._spill)
        return self._tables[name]

    def _divide(self, definition: TableDefinition) -> None:
        """Divide the table's files as requested, once it has a key. Raises UsageError if that is impossible."""
        text, has_key = self._partitions.get(definition.full_name), table_key(definition) is not None
        self._staging.divide(definition.database, definition.name, None if text is None or not has_key else
                             Partition.parse(text).of(definition, self._staging.settings.unsigned_bigint, has_key=True))

    def live(self) -> list[TableDefinition]:
        """The tables that exist in the end and are imported, by name."""
        found = (version.definition for version in self.history.live())
        return sorted((definition for definition in found if self.wanted(definition.database, definition.name)),
                      key=lambda definition: (definition.database, definition.name))

    def follow(self, changes: list[SchemaChange]) -> None:
        """Forget rows of tables that the changes drop or recreate; those of an altered table are kept if its columns
        stay, as when keys follow the rows. Raises SchemaError if they do not."""
        altered = {table for change in changes for table in _altered(change)}
        for name, rows in list(self._tables.items()):
            version = self.history.at(*name, BEFORE_THE_LOG)
            if version is not None and version.definition == rows.definition:
                continue
            del self._tables[name]
            if name not in altered:
                rows.abort()
                continue
            if version is None or table_schema(version.definition) != table_schema(rows.definition):
                raise SchemaError("the dump changes a table's columns or name after inserting rows into it",
                                  table=rows.definition.full_name,
                                  hint="load it into a server and dump that")
            anew = self.rows_of(version.definition)
            for block in rows.drain():
                anew.add(block)


def refused_literal(error: LiteralError, columns: InsertColumns) -> SchemaError:
    """The error for a literal that its column cannot take."""
    return SchemaError(f"column {error.column} cannot take the value {error.literal}: {str(error)[:200]}",
                       table=columns.definition.full_name)


def _altered(change: SchemaChange) -> list[TableName]:
    """The tables whose rows a change keeps."""
    match change:
        case AlterTable(table):
            return [table]
        case RenameTables(pairs):
            return [name for pair in pairs for name in pair]
    return []
