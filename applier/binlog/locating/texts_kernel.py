# mypy: allow-untyped-defs, no-check-untyped-defs
"""Concatenates texts of events."""

from keysearch.memory import copy_bytes, kernel


@kernel
def join_texts(base, starts, offsets, out):
    """Copy texts, which are at addresses relative to `base` (int64[n]), one after the other to the address `out`: each
    is as long as its offsets say (int64[n + 1])."""
    for number in range(len(starts)):
        copy_bytes(out + offsets[number], base + starts[number], offsets[number + 1] - offsets[number])
