"""Defaults that are the time: CURRENT_TIMESTAMP, and what is made of the current time and nothing else.

A replica takes an event's time for it: its whole second, whatever digits the column has, since the header of an event
has no more. Dates are those of UTC, in which a snapshot has TIMESTAMPs (seen on MySQL 9.7 and MariaDB 10.11).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa

from applier.schema.definition import Default
from applier.schema.types import ColumnType, arrow_type

_UNIT_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}
_NODES = {"CurrentTimestamp": "datetime", "Localtime": "datetime", "Localtimestamp": "datetime",
          "UtcTimestamp": "datetime", "CurrentDate": "date", "UtcDate": "date"}
_FUNCTIONS = {"NOW": "datetime", "UNIX_TIMESTAMP": "number"}
_VARIABLE = {"Column", "CurrentTime", "UtcTime", "Uuid", "Rand"}
_CASTS = {"datetime": ("timestamp", "datetime", "date"), "date": ("timestamp", "datetime", "date"),
          "number": ("int", "bigint")}


@dataclasses.dataclass(frozen=True)
class Moment:
    """The current time, so many seconds on; kind: "datetime", "date" (of its day) or "number" (seconds since 1970)."""

    kind: str
    shift: int = 0

    def values(self, seconds: np.ndarray, column_type: ColumnType) -> pa.Array:
        """What a column of this type has where it is such and such a time (uint32[n], since 1970), as `arrow_type`.

        Raises ArrowInvalid where it does not fit, and ValueError for a type that this project does not make of a time.
        """
        if column_type.base not in _CASTS[self.kind]:
            raise ValueError(f"the time as {column_type.sql()}")
        moments = seconds.astype(np.int64) + self.shift
        wanted = arrow_type(column_type)
        if self.kind == "number":
            return pa.array(moments).cast(wanted)
        if self.kind == "date" or column_type.base == "date":
            days = moments // 86400
            if column_type.base == "date":
                return pa.array(days.astype(np.int32)).cast(wanted)
            moments = days * 86400
        return pa.array(moments * 1_000_000).cast(wanted)


def moment_of(default: Default) -> Moment | None:
    """The moment that a default is; None for any other."""
    if default.kind == "now":
        return Moment("datetime")
    if default.kind != "expression":
        return None
    import sqlglot  # 0.15 s to import, and few tables need it
    from sqlglot.errors import SqlglotError

    try:
        return _moment(sqlglot.parse_one(default.text, dialect="mysql"))
    except SqlglotError:
        return None


def varies(sql: str) -> bool:
    """Whether an expression certainly has other values in other rows or at other times: it has a column in it, the time
    or something random. What this module does not know, it takes for a constant."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        nodes = sqlglot.parse_one(sql, dialect="mysql").walk()
        return any(type(node).__name__ in _VARIABLE or _moment(node) for node in nodes)
    except SqlglotError:
        return False


def _moment(node: Any) -> Moment | None:
    kind = type(node).__name__
    if kind == "Paren":
        return _moment(node.this)
    if kind in ("Add", "Sub") and type(node.expression).__name__ == "Interval":
        begun, interval = _moment(node.this), node.expression
        unit, count = _UNIT_SECONDS.get(str(interval.unit).upper()), getattr(interval.this, "name", "")
        if begun is None or begun.kind == "number" or unit is None or not count.isdigit():
            return None
        if begun.kind == "date" and unit % 86400:
            return None  # which makes a DATETIME of a DATE
        return dataclasses.replace(begun, shift=begun.shift + int(count) * unit * (1 if kind == "Add" else -1))
    if kind == "Anonymous":
        if str(node.this).upper() == "UNIX_TIMESTAMP" and node.expressions:
            return None
        found = _FUNCTIONS.get(str(node.this).upper())
    else:
        found = _NODES.get(kind)
    return None if found is None else Moment(found)
