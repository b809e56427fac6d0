"""The result of comparing two snapshots: counts for each table, and the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from applier.io.arrow_stream import exported
from applier.mysql.reader_values import as_shown
from applier.schema.definition import TableDefinition
from applier.snapshot.manifest import BinlogPosition

if TYPE_CHECKING:
    import pandas

Batches = Callable[[], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class TableDiff:
    """The differences in one table, and its differing rows for any reader of Arrow.

    They have the columns of both sides, `_change_type` (delete, insert, update_preimage, update_postimage) and, of an
    update, `_changed`: the columns whose values differ. They are in key order.
    """

    database: str
    name: str
    rows_before: int
    """How many rows it had."""
    rows_after: int
    """How many rows it has."""
    removed: int
    """Rows that only the snapshot before has."""
    added: int
    """Rows that only the snapshot after has."""
    changed: int
    """Rows of one key with other values."""
    key: tuple[str, ...]
    """The columns by which rows are the same; none where they are compared as a multiset."""
    schema: pa.Schema
    """Of the rows."""
    notes: tuple[str, ...]
    """The differences of the definitions, for people."""
    definitions: tuple[TableDefinition | None, TableDefinition | None] = field(repr=False)
    """The definitions before and after."""
    differing_rows: Batches = field(repr=False)
    all_rows_after: Batches = field(repr=False)

    @property
    def full_name(self) -> str:
        """ "db.table"."""
        return f"{self.database}.{self.name}"

    @property
    def differing(self) -> int:
        """How many rows differ."""
        return self.removed + self.added + self.changed

    @property
    def same(self) -> bool:
        """True if both have the table, with the same rows."""
        return not self.differing and None not in self.definitions

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        kinds = {column.name: column.type for definition in self.definitions if definition is not None
                 for column in definition.stored_columns}
        for batch in self.differing_rows():
            columns = [as_shown(column, kinds[name]) if name in kinds else column
                       for name, column in zip(self.schema.names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For Arrow's PyCapsule interface."""
        return exported(self.schema, iter(self), requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the rows."""
        return pa.Table.from_batches(iter(self), self.schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows, as a data frame."""
        return self.to_arrow().to_pandas()


@dataclass(frozen=True)
class Compared:
    """The differences between two snapshots."""

    before: BinlogPosition
    """Where the one before stands."""
    after: BinlogPosition
    """Where the one after stands."""
    tables: Mapping[str, TableDiff]
    """All tables of both, by "db.table"."""

    @property
    def same(self) -> bool:
        """True if both have the same tables with the same rows."""
        return all(table.same for table in self.tables.values())
