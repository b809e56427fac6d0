"""How an ALTER converts the rows of a table: for each column of the new definition, the source of its values.

This is only the plan, made once for each statement; `applier.columns.alter` applies it to whole columns of rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from applier.errors import SchemaError
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.schema.ddl.alter_actions import IgnoreConflicts
from applier.schema.ddl.key_grammar import in_server_order
from applier.schema.definition import Column, TableDefinition
from applier.schema.partitions import PartRows
from applier.schema.versioning import ENDS_OF_TIME


@dataclass(frozen=True)
class RowConversion:
    """From rows of `old` to rows of `new`: `sources[i]` is the number of the old column that the i-th new one takes its
    values from, None for one that is added; rows of `removed` are removed, and the new rows must all belong to
    `required`. The rest describes the statement: `timestamp_us` is its time in microseconds UTC, `file`, `position` and
    `gtid` are its place in the log, `first_number` is where an added AUTO_INCREMENT column starts, `numbering` the
    session's auto_increment_increment and auto_increment_offset, `end_of_time` the row end of current rows of a
    versioned table, `ignores` has the details of ALTER IGNORE, and `server_version` is the source's."""

    old: TableDefinition
    new: TableDefinition
    sources: tuple[int | None, ...]
    sql_mode: str = ""
    time_zone: str = "SYSTEM"
    sql: str = ""
    timestamp_us: int = 0
    file: str | None = None
    position: int | None = None
    gtid: str | None = None
    removed: PartRows | None = None
    required: PartRows | None = None
    first_number: int = 1
    numbering: tuple[int, int] = (1, 1)
    end_of_time: int = ENDS_OF_TIME[0]
    ignores: IgnoreConflicts | None = None
    server_version: str = ""

    @cached_property
    def changes_rows(self) -> bool:
        """True if rows may differ afterwards: some are removed, or stored columns are added, dropped, moved, converted
        or renamed, or become NOT NULL."""
        if self.removed is not None or self.ignores is not None:
            return True
        if (self.old.versioning is None) != (self.new.versioning is None):
            return True
        sources = zip(self.sources, self.new.columns, strict=True)
        kept = [(self.old.columns[source], column) for source, column in sources if source is not None]
        if any(old.nullable and not new.nullable for old, new in kept):
            return True
        before = [(number, *_seen(column)) for number, column in enumerate(self.old.columns) if _is_stored(column)]
        after = [(source, *_seen(column)) for source, column in zip(self.sources, self.new.columns, strict=True)
                 if _is_stored(column)]
        return before != after

    @property
    def numbers_rows(self) -> bool:
        """True if an AUTO_INCREMENT column is added."""
        return any(source is None and column.auto_increment
                   for source, column in zip(self.sources, self.new.columns, strict=True))

    def refusal(self, what: str) -> SchemaError:
        """The error for rows if it is not known what the server made of them."""
        return SchemaError(f"rows cannot be converted over this statement: {what}: {' '.join(self.sql.split())}",
                           table=self.new.full_name, file=self.file, position=self.position, gtid=self.gtid,
                           hint="stop before it with --stop-position, or leave the table out with --ignore-tables")

    @property
    def session(self) -> Session:
        """The session that the statement ran in."""
        return Session(self.new.flavour, self.sql_mode, self.time_zone, self.timestamp_us or None)


def _is_stored(column: Column) -> bool:
    return column.generated != "virtual"


def _seen(column: Column) -> tuple[str, ColumnType, str | None]:
    """The part of a column's definition that rows depend on."""
    return column.name, column.type, column.expression


def same_to_rows(old: TableDefinition, new: TableDefinition) -> bool:
    """True if rows, and code that finds rows, see no difference between two definitions of a table: only plain keys
    differ, and foreign keys that change no rows."""
    def seen(definition: TableDefinition) -> tuple[object, ...]:
        keys = in_server_order(definition.keys, definition.columns)
        unique = tuple(key for key in keys if key.kind in ("primary", "unique"))
        cascading = [replace(key, name="") for key in definition.foreign_keys if key.cascades]
        return definition.full_name, definition.columns, unique, cascading, definition.versioning is None

    return seen(old) == seen(new)
