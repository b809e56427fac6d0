"""Literals as defaults of columns of dates and times, as a definition keeps them: those of a TIMESTAMP are in UTC.

Source: MySQL manual, "Date and Time Literals", "Fractional Seconds in Time Values"; judged by MySQL 9.7 and MariaDB
10.5 to 11.8.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import DATES, TEMPORAL, ColumnType
from applier.mysql.values.scanned_times import NoDate, Unclear, datetime_of_text
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY
from applier.schema.ddl.cursor import StatementContext
from applier.schema.table_parts import Default
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.temporals import cut, rounds, rounds_otherwise
from applier.sql.casting.values import convert_values
from applier.sql.evaluator import number
from applier.sql.tokens import tokenize
from applier.sql.values import TEXT, constant

_EPOCH, _MICROSECOND = datetime.datetime(1970, 1, 1), datetime.timedelta(microseconds=1)


def kept_literal(default: Default, column_type: ColumnType, context: StatementContext) -> Default:
    """Return a literal as the definition of a column keeps it; one whose value is unknown is unchanged, which is
    reported when the value is needed. A TIMESTAMP's default is in UTC, or "local" where the session's zone is the
    server's own. Fractions are rounded here only if the sql_mode has them rounded otherwise than usual."""
    if column_type.base == "timestamp":
        default = _bytes_as_text(default)
    if default.kind not in ("string", "number") or column_type.base not in TEMPORAL:
        return default
    try:
        return _kept(default, column_type, context)
    except OverflowError:  # before the year 1 or after 9999 in another zone
        return default


def _kept(default: Default, column_type: ColumnType, context: StatementContext) -> Default:
    session = Session(context.flavour, context.sql_mode, "+00:00")
    if context.flavour == "mysql" and (named := _with_offset(default, column_type, rounds(session))) is not None:
        time, offset = named
        if offset is None:
            default = Default("string", str(time))
        elif column_type.base == "timestamp":
            return Default("string", str(time - offset))
        elif (local := context.from_utc(time - offset)) is None:
            return default
        else:
            default = Default("string", str(local))
    if column_type.base != "timestamp" and not rounds_otherwise(session):
        return default
    local_type = replace(column_type, base="datetime") if column_type.base == "timestamp" else column_type
    try:
        literal = number(default.text) if default.kind == "number" else constant(pa.scalar(default.text), TEXT)
        made = assigned(literal, local_type, session)
    except NotComputable:
        return default
    if column_type.base != "timestamp":
        return Default("string", convert_values(made, column_type, TEXT, session)[0].as_py())
    [micros] = made.cast(pa.int64()).to_pylist()
    if micros < BEFORE_ALL_DAYS * DAY:  # no TIMESTAMP has another invalid date
        return Default("string", "0000-00-00 00:00:00")
    instant = _EPOCH + micros * _MICROSECOND
    utc = context.to_utc(instant)
    return Default("local", str(instant)) if utc is None else Default("string", str(utc))


def in_utc(default: Default | None, context: StatementContext) -> Default | None:
    """Return a TIMESTAMP's default in the server's own time zone, which the context has, converted to UTC; other
    defaults unchanged."""
    if default is None or default.kind != "local":
        return default
    utc = context.to_utc(datetime.datetime.fromisoformat(default.text))
    return default if utc is None else Default("string", str(utc))


def _bytes_as_text(default: Default) -> Default:
    """Return a default of hexadecimal digits or bits as the text that they are to a TIMESTAMP; other defaults
    unchanged."""
    words = tokenize(default.text) if default.kind == "expression" else []
    if [word.kind for word in words] == ["bytes", "end"]:
        default = Default("bytes", words[0].text)
    return Default("string", bytes.fromhex(default.text).decode("latin-1")) if default.kind == "bytes" else default


def _with_offset(default: Default, column_type: ColumnType, up: bool,
                 ) -> tuple[datetime.datetime, datetime.timedelta | None] | None:
    """Return the time that a literal of MySQL with an offset from UTC names, and that offset; None for other defaults.
    A fraction that is rounded up to the next second loses the offset, so that the time is one of the session's zone."""
    if default.kind != "string" or column_type.base not in DATES:
        return None
    try:
        micros, _, offset = datetime_of_text(default.text, up=up)
    except (NoDate, Unclear):
        return None
    if offset is None:
        return None
    whole = int(cut(np.array([micros]), 10**(6 - column_type.fsp), up)[0])
    given, rounded = _EPOCH + micros * _MICROSECOND, _EPOCH + whole * _MICROSECOND
    if rounded.second != given.second:
        return rounded, None
    return given if column_type.base == "date" else rounded, offset * _MICROSECOND
