"""The differences between a snapshot and a server's tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal

import pyarrow as pa

from applier.errors import UsageError
from applier.jobs.diff.result import Compared
from applier.jobs.guarded_sql.repair import Repair
from applier.jobs.verify import statements
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.schema.table_parts import Column

_AT_ONCE = 100
"""The number of ranges of a table whose rows are requested at once."""


@dataclass(frozen=True)
class DifferentRange:
    """A range of rows whose sums differ: its `condition` on the server's table ("" if it is all rows), how many rows it
    has here and there, and the columns whose sums differ; none, if the same values are in other rows."""

    number: int
    condition: str
    rows_here: int
    rows_there: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class LastChange:
    """The last change of a row that a log has: insert, update, delete, truncate, drop or alter, when, by which
    transaction, and where."""

    kind: str
    time: datetime | None
    gtid: str | None
    file: str
    position: int


@dataclass(frozen=True)
class DifferentRow:
    """A row that differs. `kind`: it is only in the snapshot ("here"), only on the server ("there"), or has other
    values in some `columns` ("changed"). `here` has its values in the snapshot; `there` the server's, as the bytes that
    are compared, None for NULL. Either is None if there is no such row, or its values are unknown. `count`: in a table
    without a key, the number of surplus rows with these values. `last_change`: its last change since the snapshot, if
    binlogs were given and have one."""

    kind: Literal["here", "there", "changed"]
    range: int
    key: str
    columns: tuple[str, ...] = ()
    here: pa.RecordBatch | None = None
    there: tuple[bytes | None, ...] | None = None
    count: int = 1
    last_change: LastChange | None = None


@dataclass(frozen=True)
class DifferentTable:
    """A table that is not the same. `answered` is False if the server did not report it. `rows` are the first differing
    rows, if they were requested."""

    table: ComparedTable
    ranges: tuple[DifferentRange, ...]
    answered: bool = True
    rows: tuple[DifferentRow, ...] = ()

    @property
    def full_name(self) -> str:
        """ "db.table"."""
        return self.table.full_name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The compared columns."""
        return self.table.columns


@dataclass(frozen=True)
class ServerComparison:
    """How a snapshot and a server compare: `tables` and `rows` of the snapshot were compared. `position` is where the
    snapshot stood that was compared, `server_position` the GTID set of the server, None where it is unknown."""

    tables: int
    rows: int
    ranges: int
    position: str
    server_position: str | None
    different: tuple[DifferentTable, ...]
    plan: ComparisonPlan = field(repr=False)
    differences: Compared | None = field(default=None, repr=False)
    """All differing rows, before and after a repair of the server, if they were requested."""

    @property
    def same(self) -> bool:
        """True if all rows of all tables are the same."""
        return not self.different

    @cached_property
    def by_table(self) -> dict[str, DifferentTable]:
        """The tables that differ, by "db.table"."""
        return {table.full_name: table for table in self.different}

    def repair(self) -> Repair:
        """Return the repair that turns the server's rows into those of the snapshot. Raises UsageError if the rows were
        not requested."""
        if self.differences is None:
            raise UsageError("the values of the rows that differ were not read from the server",
                             hint="compare with for_repair=True")
        return Repair(self.differences, what=f"make the rows of a server at {self.server_position} those of the "
                                             "snapshot")

    def rows_sql(self) -> Iterator[str]:
        """Return statements, without ends, that ask the server for the rows of ranges that differ: its answer, beside
        the first one, tells which rows they are."""
        return statements.rows(self.plan, {table.full_name: [part.number for part in table.ranges[:_AT_ONCE]]
                                           for table in self.different})

    def with_tables(self, different: tuple[DifferentTable, ...]) -> ServerComparison:
        """The same with more known of the tables."""
        return replace(self, different=different)
