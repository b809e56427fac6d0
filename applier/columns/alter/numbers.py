"""The numbers that an AUTO_INCREMENT column gives to rows that exist, by the session's auto_increment_increment and
auto_increment_offset: offset, offset + increment, and so on."""

from __future__ import annotations

import numpy as np

from applier.errors import NotComputable


def added(rows: range, first_number: int, numbering: tuple[int, int], *, in_place: bool) -> np.ndarray:
    """Return the numbers, int64[n], of some rows of a table in a column that is added, of which none is below
    `first_number`, 0 if no first number is given. A server that alters the table in place takes a first step before it
    begins, unless both settings are 1. Raises NotComputable."""
    numbers = np.arange(rows.start, rows.stop)
    step, offset = numbering
    if in_place and numbering != (1, 1):
        offset = offset if offset <= step else 0
        start = (abs(first_number - offset) // step + 1) * step + offset
    else:
        offset = _known(step, offset)
        start = int(_after(np.array(max(first_number, 1) - 1), step, offset)) * step + offset
    return numbers * step + start


def filled(known: np.ndarray, asks: np.ndarray, first_number: int, numbering: tuple[int, int]) -> np.ndarray:
    """Return `known`, int64[n], with a number for each row where `asks` is set: one more step than the largest number
    before it, and not below `first_number`. Raises NotComputable."""
    step, offset = numbering
    offset = _known(step, offset)
    given = np.cumsum(asks)
    after = np.maximum.accumulate(np.where(asks, 0, _after(known, step, offset) - given))
    steps = given - 1 + np.maximum(after, _after(np.array(max(first_number, 1) - 1), step, offset))
    return np.where(asks, steps * step + offset, known)


def _known(step: int, offset: int) -> int:
    """Return the offset, which servers do not use with an increment of 1. Raise NotComputable if it is larger than the
    increment: servers that copy rows skip numbers then."""
    if step == 1:
        return 1
    if offset > step:
        raise NotComputable(f"the numbers of auto_increment_offset {offset} and auto_increment_increment {step}")
    return offset


def _after(numbers: np.ndarray, step: int, offset: int) -> np.ndarray:
    """Return how many steps from the offset the next number after each of `numbers` is."""
    steps: np.ndarray = np.maximum((numbers - offset) // step + 1, 0)
    return steps
