"""Rows that cannot be restored, because no current partition of the table accepts them (UNDO-PARTITION)."""

from __future__ import annotations

import numpy as np

from applier.columns.alter.partitions import NOWHERE, partition_numbers
from applier.errors import NotComputable
from applier.jobs.history.commits import NEVER
from applier.jobs.undo.rows_to_undo import RowsToUndo


def leave_rows_of_no_partition(rows: RowsToUndo) -> None:
    """Leave the rows for which the table has no partition then. Where that is unknown, the server says so (1526)."""
    found, back, by = rows.chains, rows.back, rows.definition.partitioning
    if by is None or not len(back):
        return
    done = 0
    for read in rows.table.read(found.before_units[back], found.before[back], np.full(len(back), -1),
                                rows.table.columns):
        try:
            numbers = partition_numbers(read.values, rows.definition, by)[read.before]
        except NotComputable:
            return
        lost = back[done + np.flatnonzero(numbers == NOWHERE)]
        done += len(numbers)
        if len(lost):
            rows.leave(lost, "no partition takes it now", np.full(len(lost), NEVER))
