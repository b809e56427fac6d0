"""MySQL's JSON diffs: what they are, and how they apply to a document (WL#2955, section 7).

This is plain Python for one document at a time, as Python values; apply.py does whole columns of text.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jsondiff.path import Cell, Leg, Member, Path
from jsondiff.values import MAX_DEPTH, TOO_DEEP, Array, Document, Object

CORRUPT_EVENT = 1610
"""JD-SAFE1: the bytes of the diffs contradict themselves (ER_SLAVE_CORRUPT_EVENT)."""
NOT_APPLICABLE = 3648
"""JD-SAFE2, JD-NULL: the document does not have what a diff changes (ER_COULD_NOT_APPLY_JSON_DIFF)."""
CORRUPT_DIFF = 3649
"""JD-SAFE1, JD-SAFE2: a diff's operation, path or data is invalid (ER_CORRUPTED_JSON_DIFF)."""


class DiffError(ValueError):
    """Diffs cannot be read, or not be applied to a document.

    `what` says why, `errno` is MySQL's error number, `number` the 1-based number of the diff in its column, `path` its
    path; None if unknown."""

    def __init__(self, what: str, errno: int, number: int | None = None, path: str | None = None) -> None:
        super().__init__(what, errno, number, path)
        self.what, self.errno, self.number, self.path = what, errno, number, path

    def __str__(self) -> str:
        which = "" if self.number is None else f"JSON diff {self.number}: "
        return f"{which}{self.what} (MySQL error {self.errno})"


class Operation(enum.IntEnum):
    """The kind of a diff, by its number in the binlog."""

    REPLACE = 0
    INSERT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class Diff:
    """One change of a document. `value` is the document to put at the path; a REMOVE has none."""

    operation: Operation
    path: Path
    value: Document = None


def apply(document: Document, diffs: Iterable[Diff]) -> Document:
    """Return the document after these diffs, in order. The result may share parts with the document and the diffs'
    values, which stay unchanged.

    REPLACE and REMOVE need an existing target: a scalar has no cell 0. INSERT adds a new member, or a cell before an
    existing one; behind an array's end it appends. Anything else raises DiffError (3648; 3157 if the document would be
    nested too deeply), as MySQL's json_diff.cc rejects it."""
    for number, diff in enumerate(diffs, 1):
        try:
            document = _changed(document, diff)
        except _Rejected as reason:
            what = f"{diff.operation.name} of {diff.path}: {reason}"
            raise DiffError(what, reason.errno, number, str(diff.path)) from None
    return document


class _Rejected(Exception):
    errno = NOT_APPLICABLE


class _TooDeep(_Rejected):
    errno = TOO_DEEP


def _changed(document: Document, diff: Diff) -> Document:
    """The document after one diff: containers on the path are copied, all else is shared with the old document."""
    legs = diff.path.legs
    if not legs:
        raise _Rejected("a diff cannot concern the whole document")
    if diff.operation != Operation.REMOVE and len(legs) + depth(diff.value) > MAX_DEPTH:
        raise _TooDeep(f"the document would be nested deeper than {MAX_DEPTH} levels")
    root = [document]
    outer: Any = root  # a container, and `key` one of its keys
    key: str | int = 0
    for leg in legs[:-1]:
        outer[key] = inner = _copy(outer[key])
        outer, key = inner, _find(inner, leg)
    outer[key] = container = _copy(outer[key])
    leg = legs[-1]
    if diff.operation == Operation.INSERT:
        _insert(container, leg, diff.value)
    elif diff.operation == Operation.REPLACE:
        _replace(container, leg, diff.value)
    else:
        _remove(container, leg)
    return root[0]


def _copy(value: Document) -> Array | Object:
    if not isinstance(value, dict | list):
        raise _Rejected("the path leads into a scalar")
    return value.copy()


def _find(container: Array | Object, leg: Leg) -> str | int:
    """The key or index of an existing child. Raises _Rejected if there is none."""
    if isinstance(container, dict):
        if isinstance(leg, Member) and leg.name in container:
            return leg.name
        raise _Rejected("there is no such member")
    if isinstance(leg, Cell) and leg.index < len(container):
        return leg.position(len(container))
    raise _Rejected("there is no such array cell")


def _insert(container: Array | Object, leg: Leg, value: Document) -> None:
    if isinstance(container, dict) and isinstance(leg, Member):
        if leg.name in container:
            raise _Rejected("the object has this member already")
        container[leg.name] = value
    elif isinstance(container, list) and isinstance(leg, Cell):
        container.insert(leg.position(len(container)), value)
    else:
        raise _Rejected(f"an {'object' if isinstance(container, dict) else 'array'} has no such parts")


def _replace(container: Array | Object, leg: Leg, value: Document) -> None:
    target: Any = container
    target[_find(container, leg)] = value


def _remove(container: Array | Object, leg: Leg) -> None:
    target: Any = container
    del target[_find(container, leg)]


def depth(value: Document) -> int:
    """How deep containers are nested: 0 for a scalar, 1 for []."""
    levels, inner = 0, [value]
    while inner := [part for part in inner if isinstance(part, dict | list)]:
        levels += 1
        inner = [part for outer in inner for part in (outer.values() if isinstance(outer, dict) else outer)]
    return levels
