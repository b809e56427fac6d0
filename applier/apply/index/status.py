"""The statuses of kernels that apply changes, which say why they stopped."""

from enum import IntEnum


class Status(IntEnum):
    """DONE, a full buffer, or a finding in the data."""

    DONE = 0
    INDEX_FULL = 1
    COLUMN_POINTERS_FULL = 2
    BUFFER_FULL = 3
    CONFLICTS_FULL = 4
    """There is no room to note more conflicts."""
    DUPLICATE = 5
    MISSING = 6
    SPLIT_PARTIAL_IMAGE = 7
    """A partial image moves a row into or out of the unit; the plan must prevent this."""
    SPLIT_MOVE = 8
    """An idempotent change may move a row between units, depending on the rows of both."""
    AWAITS = 9
    """A key's value must be computed from the row that was found (awaited_values)."""
    STACK_FULL = 10
    SCRATCH_FULL = 11
    DERIVED_FULL = 12
    DESCENDS = 13
    """The children of the row on top of the stack must be changed first."""
    TRACE_FULL = 14
