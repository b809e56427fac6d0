# mypy: allow-untyped-defs, no-check-untyped-defs
"""Concatenates texts of events."""

from keysearch.memory import copy_bytes, kernel


@kernel
def join_texts(base, starts, offsets, out):
    """Copy texts one after the other to the address `out`. Text i is at base + starts[i] (int64[n]), and its length is
    offsets[i + 1] - offsets[i] (int64[n + 1])."""
    for number in range(len(starts)):
        copy_bytes(out + offsets[number], base + starts[number], offsets[number + 1] - offsets[number])
