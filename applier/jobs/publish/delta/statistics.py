"""What Delta's log says of a file's values: of the key's columns, by which files are sorted, as the footer has it.

Values that JSON would not hold exactly, or that readers compare in ways of their own, are left out: files are then read
where they need not be, and never passed over where they must be read.
"""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import pyarrow.parquet as pq

_LONGEST_TEXT = 32
_EXACT = 2**53
"""Where doubles stop to have all integers: readers may take a number of JSON for one."""


def statistics(metadata: pq.FileMetaData) -> str:
    """The statistics of a file, given its footer."""
    lows, highs, nulls = dict[str, Any](), dict[str, Any](), dict[str, int]()
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for place in range(metadata.num_columns):
        name = metadata.schema.column(place).path
        found = [group.column(place).statistics for group in groups]
        if not found or any(one is None for one in found):
            continue
        if all(one.has_null_count for one in found):
            nulls[name] = sum(one.null_count for one in found)
        if all(one.has_min_max for one in found):
            low, high = _in_json(min(one.min for one in found)), _in_json(max(one.max for one in found))
            if low is not None and high is not None:
                lows[name], highs[name] = low, high
    return json.dumps({"numRecords": metadata.num_rows, "minValues": lows, "maxValues": highs, "nullCount": nulls},
                      ensure_ascii=False)


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
