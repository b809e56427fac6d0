"""Checks whether an ALTER TABLE changes the contents of a table's rows."""

from __future__ import annotations

import re

from applier.mysql.types import ColumnType
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.history.in_place import is_in_place
from applier.schema.table_parts import Column


def changes_rows(conversion: RowConversion) -> bool:
    """True if rows may differ afterwards: some are removed or numbered, or stored columns are added, dropped, moved,
    converted or renamed, or become NOT NULL."""
    if _changes_all_rows(conversion):
        return True
    before = [(number, *_seen(column)) for number, column in enumerate(conversion.old.columns) if _is_stored(column)]
    after = [(source, *_seen(column)) for source, column in
             zip(conversion.sources, conversion.new.columns, strict=True) if _is_stored(column)]
    return before != after


def changes_values(conversion: RowConversion) -> bool:
    """True if rows may hold other values afterwards, where a column that is moved or renamed is the same one, and one
    that is added was NULL before: some are removed or numbered, or stored columns are converted, computed, or have a
    default that all rows get."""
    if _changes_all_rows(conversion):
        return True
    added = (column for source, column in zip(conversion.sources, conversion.new.columns, strict=True)
             if source is None)
    if any(_is_stored(column) and (column.generated or column.default or not column.nullable) for column in added):
        return True
    return any(_is_stored(new) and _seen(old)[1:] != _seen(new)[1:] for old, new in conversion.kept)


def moves_timestamps(conversion: RowConversion) -> bool:
    """Return whether TIMESTAMPs may change: MySQL copies them as datetimes of the session's time zone, in which an hour
    may be there twice."""
    has_any = any(new.type.base == old.type.base == "timestamp" for old, new in conversion.kept)
    return has_any and conversion.new.flavour == "mysql" and conversion.time_zone[0] not in "+-" \
        and not is_in_place(conversion)


def computes_anew(conversion: RowConversion) -> bool:
    """Return whether the server computes STORED columns that stay again, in the statement's session: it copies the
    rows."""
    return any(new.generated == "stored" for _, new in conversion.kept) and not is_in_place(conversion)


def computes_in_zone(definition: TableDefinition) -> bool:
    """Return whether STORED columns may depend on the time zone in which they are computed."""
    made = [column for column in definition.columns if column.generated == "stored"]
    return bool(made) and (any(column.type.base == "timestamp" for column in definition.columns)
                           or any(_OF_ZONE.search(column.expression or "") for column in made))


_OF_ZONE = re.compile(r"UNIX", re.IGNORECASE)
"""In the names of the functions that depend on the time zone."""


def _changes_all_rows(conversion: RowConversion) -> bool:
    """Return whether rows may differ whatever columns they have."""
    if conversion.removed is not None or conversion.ignores is not None or conversion.numbers_rows:
        return True
    if (conversion.old.versioning is None) != (conversion.new.versioning is None) or _may_forbid_dates(conversion):
        return True
    if moves_timestamps(conversion) or computes_anew(conversion):
        return True
    return any(old.nullable and not new.nullable for old, new in conversion.kept)


def _may_forbid_dates(conversion: RowConversion) -> bool:
    """Return whether the server copies rows with dates, for which nothing but the statement's words or an engine may be
    the reason, and zeroes those that the sql_mode does not allow; in strict mode it refuses the statement."""
    sql_mode = conversion.sql_mode
    if "STRICT" in sql_mode or not (conversion.new.flavour == "mysql" or "NO_ZERO_" in sql_mode):
        return False
    return (conversion.asks_for_copy or conversion.loses_key or not conversion.is_innodb) and any(
        source is not None and column.type.base in ("date", "datetime")
        for source, column in zip(conversion.sources, conversion.new.columns, strict=True))


def _is_stored(column: Column) -> bool:
    return column.generated != "virtual"


def _seen(column: Column) -> tuple[str, ColumnType, str | None]:
    """The part of a column's definition that rows depend on."""
    return column.name, column.type, column.expression
