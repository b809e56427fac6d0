# mypy: allow-untyped-defs, no-check-untyped-defs
"""Moves byte strings of any length to cells of one width."""

from keysearch.memory import copy_bytes, kernel


@kernel
def scatter(data, offsets, out, width):
    """Copy each value to a cell of `width` bytes, which is long enough."""
    for row in range(len(offsets) - 1):
        copy_bytes(out + row * width, data + offsets[row], offsets[row + 1] - offsets[row])
