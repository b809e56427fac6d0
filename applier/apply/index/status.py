"""The statuses of kernels that apply changes: why they stopped."""

from enum import IntEnum


class Status(IntEnum):
    """DONE, or the part that needs room, or a finding in the data."""

    DONE = 0
    INDEX_FULL = 1
    COLUMN_POINTERS_FULL = 2
    BUFFER_FULL = 3
    CONFLICTS_FULL = 4
    """There is no room to note more conflicts."""
    DUPLICATE = 5
    MISSING = 6
    SPLIT_PARTIAL_IMAGE = 7
    """A partial image moves a row out of the unit or into it; the planner must not let that happen."""
    SPLIT_MOVE = 8
    """An idempotent change would move a row between units; whether it does depends on the rows of both."""
    AWAITS = 9
    """A key's value must be computed of the row that was found (awaited_values)."""
    STACK_FULL = 10
    SCRATCH_FULL = 11
    DERIVED_FULL = 12
    DESCENDS = 13
    """The children of the row on top of the stack come first."""
    TRACE_FULL = 14
