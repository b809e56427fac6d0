"""The statistics of files in Delta's log, by which readers skip files: of the key's columns, from files' footers.

Values that JSON would not represent exactly, or that readers compare differently, are omitted. deltalake takes the
bounds that a file lacks for unknown values and drops its rows, if the file has bounds of another column, or the table
does not say by which columns files are skipped. So a table says that by a property, and a file has bounds of all these
columns or of none."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_COLUMNS, _N_COLUMNS = "delta.dataSkippingStatsColumns", "delta.dataSkippingNumIndexedCols"
_NAMES = re.compile(r"`((?:[^`]|``)*)`|([^,`\s]+)")
_LONGEST_TEXT = 32
_EXACT = 2**53
"""Where doubles stop to have all integers: readers may take a number of JSON for one."""


def exact_columns(stored: pa.Schema, key: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a key whose values the log can have, given the columns of files."""
    return tuple(name for name in key if _is_exact(stored.field(name).type))


def _is_exact(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind)
                or (pa.types.is_decimal(kind) and kind.scale == 0))


def property_of(columns: Sequence[str]) -> dict[str, str]:
    """Return the property of a table whose files are skipped by these columns."""
    quoted = (name if re.fullmatch("[A-Za-z_][0-9A-Za-z_]*", name) else f"`{name.replace('`', '``')}`"
              for name in columns)
    return {_COLUMNS: ",".join(quoted)} if columns else {_N_COLUMNS: "0"}


def columns_in(properties: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the columns by which files of a table with these properties are skipped; None if they do not say it."""
    if (said := properties.get(_COLUMNS)) is not None:
        return tuple(plain or quoted.replace("``", "`") for quoted, plain in _NAMES.findall(said))
    return () if properties.get(_N_COLUMNS) == "0" else None


def statistics(metadata: pq.FileMetaData, columns: Sequence[str]) -> str:
    """Return the statistics of a file, given its footer, with bounds of these columns, or of none."""
    lows, highs, nulls = dict[str, Any](), dict[str, Any](), dict[str, int]()
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for number in range(metadata.num_columns):
        name = metadata.schema.column(number).path
        found = [group.column(number).statistics for group in groups]
        if not found or any(one is None for one in found):
            continue
        if all(one.has_null_count for one in found):
            nulls[name] = sum(one.null_count for one in found)
        if name in columns and all(one.has_min_max for one in found):
            low, high = _in_json(min(one.min for one in found)), _in_json(max(one.max for one in found))
            if low is not None and high is not None:
                lows[name], highs[name] = low, high
    bounds = {"minValues": lows, "maxValues": highs} if columns and lows.keys() == set(columns) else {}
    return json.dumps({"numRecords": metadata.num_rows, **bounds, "nullCount": nulls}, ensure_ascii=False)


def _in_json(value: Any) -> int | str | None:
    """A smallest or largest value as the log has it; None if it has not."""
    match value:
        case bool():
            return None
        case int() | Decimal():
            whole = int(value)
            return whole if whole == value and abs(whole) < _EXACT else None
        case datetime.datetime():  # the log has milliseconds, and a largest value would be too small
            return None
        case datetime.date():
            return value.isoformat()
        case str():
            return value if len(value) <= _LONGEST_TEXT else None
    return None
