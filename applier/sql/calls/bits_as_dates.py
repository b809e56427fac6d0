"""BITs where functions need dates and times: both servers read their bytes as text, not their number.

Judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re

import pyarrow as pa

from applier.errors import NotComputable
from applier.sql.casting.byte_strings import bit_bytes
from applier.sql.functions.dates.date_functions import DATE_FUNCTIONS
from applier.sql.nodes import Call
from applier.sql.values import BYTES, Value

_OF_DATES = frozenset(DATE_FUNCTIONS) | {
    "TIMESTAMP", "DATE", "TIME", "EXTRACT", "DATEDIFF", "LAST_DAY", "TIME_TO_SEC", "ADDTIME", "SUBTIME", "TIMEDIFF",
    "MONTHNAME", "DAYNAME", "TIMESTAMPDIFF"}
"""Functions of which every argument is a date or a time."""
_OF_ONE_DATE = frozenset({"DATE_FORMAT", "TIME_FORMAT", "WEEK", "YEARWEEK", "WEEKOFYEAR", "CONVERT_TZ"})
"""Functions of which the first argument is one."""
_IS_DATE = re.compile(rb"[ \t\n\v\f\r.:+-]*[0-9]")


def without_bits(call: Call, arguments: list[Value]) -> list[Value]:
    """The arguments of a call, with NULL for columns of BITs that it reads as dates or times. Raises NotComputable for
    bits whose bytes may be a date."""
    if call.name in _OF_ONE_DATE:
        return [as_no_date(arguments[0]), *arguments[1:]]
    return [as_no_date(value) for value in arguments] if call.name in _OF_DATES else arguments


def as_no_date(value: Value) -> Value:
    """NULL for a column of BITs, as they are where a byte before any digit is in no date, such as a zero byte; other
    values unchanged. Raises NotComputable as above."""
    if value.type.base != "bit" or not value.is_column:
        return value
    data = bit_bytes(value.values.unique(), value.type).drop_null().to_pylist()
    if any(map(_IS_DATE.match, data)):
        raise NotComputable("bits whose bytes may be a date or a time")
    return Value(pa.nulls(len(value.values), pa.binary()), BYTES, value.constant)
