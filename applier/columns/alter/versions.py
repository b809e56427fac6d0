"""The current rows among all rows of a system-versioned table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from applier.schema.definition import TableDefinition
from applier.schema.versioning import ENDS_OF_TIME, Versioning


def rows_that_hold(rows: pa.Table, versioning: Versioning) -> pa.Table:
    """Return the rows whose end is the end of time: those that a SELECT without FOR SYSTEM_TIME shows."""
    return rows.filter(which_hold(rows, versioning))


def which_hold(rows: pa.Table, versioning: Versioning) -> pa.ChunkedArray:
    """Return whether each row's end is the end of time, bool[n]."""
    ends = rows.column(versioning.row_end).cast(pa.int64())
    return pc.is_in(ends, value_set=pa.array(ENDS_OF_TIME, pa.int64()))


def rows_shown(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Return the rows for readers: current ones, with the columns of `definition.shown`."""
    names = [column.name for column in definition.shown.stored_columns]
    held = rows if definition.versioning is None else rows_that_hold(rows, definition.versioning)
    return held.select(names)
