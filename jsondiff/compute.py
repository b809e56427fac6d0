"""The diffs that lead from one document to another, and how an update is logged: as these or as the whole document.

MySQL's own diffs follow the functions of an UPDATE statement; here only both documents are known.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher

from jsondiff import wire
from jsondiff.diff import Diff, Operation
from jsondiff.encode import encode
from jsondiff.path import Cell, Leg, Member, Path
from jsondiff.values import Array, Document, Object, member_order

_MOST_PAIRS = 1 << 20
"""Two arrays with more pairs of cells than this are matched cell by cell."""


def diff(old: Document, new: Document) -> list[Diff] | None:
    """A small set of diffs that turns `old` into `new`, types included: apply(old, diff(old, new)) is new.

    None if only replacing the whole document would, which diffs cannot do. A container is replaced if its diffs would
    be larger than it. Raises DocumentError for values that no document has."""
    if encode(old) == encode(new):
        return []
    parts = _within(old, new, ())
    return None if parts is None else list(parts)


def column(old: Document, new: Document) -> tuple[bool, bytes]:
    """How a column's update is logged: (True, its diffs) if these are smaller than the new document, else (False, the
    binary document) (JD-ENC). The bytes do not include the column's length."""
    diffs, whole = diff(old, new), encode(new)
    partial = whole if diffs is None else wire.encode(diffs)
    return (True, partial) if len(partial) < len(whole) else (False, whole)


def _within(old: Document, new: Document, legs: tuple[Leg, ...]) -> Iterator[Diff] | None:
    """The diffs of two objects or of two arrays; None for other values."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _of_objects(old, new, legs)
    if isinstance(old, list) and isinstance(new, list):
        return _of_arrays(old, new, legs)
    return None


def _between(old: Document, new: Document, legs: tuple[Leg, ...]) -> list[Diff]:
    """The diffs of two values within documents."""
    if encode(old) == encode(new):
        return []
    whole = [Diff(Operation.REPLACE, Path(legs), new)]
    parts = _within(old, new, legs)
    if parts is not None:
        listed = list(parts)
        if len(wire.encode(listed)) < len(wire.encode(whole)):
            return listed
    return whole


def _of_objects(old: Object, new: Object, legs: tuple[Leg, ...]) -> Iterator[Diff]:
    for name in sorted(old.keys() | new.keys(), key=member_order):
        here = (*legs, Member(name))
        if name not in new:
            yield Diff(Operation.REMOVE, Path(here))
        elif name not in old:
            yield Diff(Operation.INSERT, Path(here), new[name])
        else:
            yield from _between(old[name], new[name], here)


def _of_arrays(old: Array, new: Array, legs: tuple[Leg, ...]) -> Iterator[Diff]:
    """The diffs of two arrays, from the end to the start, so that cells in front keep their numbers."""
    for start, end, new_start, new_end in reversed(_changes(list(map(encode, old)), list(map(encode, new)))):
        pairs = min(end - start, new_end - new_start)
        at = Path((*legs, Cell(start + pairs)))
        for _ in range(start + pairs, end):
            yield Diff(Operation.REMOVE, at)
        for value in reversed(new[new_start + pairs : new_end]):
            yield Diff(Operation.INSERT, at, value)
        for cell in range(pairs):
            yield from _between(old[start + cell], new[new_start + cell], (*legs, Cell(start + cell)))


def _changes(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
    """Where two arrays differ, as (start, end, other start, other end): old[start:end] is replaced by a part of new."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[~at] != new[~at]), shorter - head)
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) * len(right) > _MOST_PAIRS:
        return [(head, head + len(left), head, head + len(right))]
    matched = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    return [(head + a, head + b, head + c, head + d) for kind, a, b, c, d in matched if kind != "equal"]
