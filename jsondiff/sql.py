"""Diffs as SQL for people, as `mysqlbinlog -v` prints them (WL#2955, section 6; JD-SHOW).

    JSON_REMOVE(                         the last operation is outermost
    JSON_REPLACE(@2, '$.a', 7,           diffs with the same operation, one after another, are one call
    '$.b[1]', 'bb'),                     one line per diff
    '$.c')

The expression has the effect of the diffs on the column, whose document is not shown.
"""

from collections.abc import Sequence
from itertools import groupby

from jsondiff.diff import Diff, Operation
from jsondiff.path import Cell
from jsondiff.text import to_text
from jsondiff.values import DECIMAL, Document, Opaque

_ESCAPES = {code: f"\\x{code:02x}" for code in range(32)}
_ESCAPES |= {ord(character): f"\\{letter}" for character, letter in zip("\\'\n\r\t\b\f", "\\'nrtbf")}


def to_sql(diffs: Sequence[Diff], column: str) -> str:
    """The expression that computes the column's new value from its old one, `column`; just that if there are no diffs.

    Its lines end with line feeds and have no indentation. Raises DocumentError for values that no document has,
    ValueError for an unknown operation."""
    runs = [list(run) for _, run in groupby(diffs, _function)]
    calls = [f"{_function(run[0])}(" for run in reversed(runs)]
    steps = [",\n".join(map(_step, run)) + ")" for run in runs]
    return "\n".join(calls) + ",\n".join([f"{column}, {steps[0]}", *steps[1:]]) if runs else column


def quote(text: str) -> str:
    """A text as a string of SQL, with control characters escaped as mysqlbinlog does."""
    return f"'{text.translate(_ESCAPES)}'"


def _function(diff: Diff) -> str:
    if diff.operation == Operation.INSERT and diff.path.legs and isinstance(diff.path.legs[-1], Cell):
        return "JSON_ARRAY_INSERT"
    return f"JSON_{Operation(diff.operation).name}"


def _step(diff: Diff) -> str:
    path = quote(str(diff.path))
    return path if diff.operation == Operation.REMOVE else f"{path}, {_literal(diff.value)}"


def _literal(value: Document) -> str:
    """The value as an argument of a JSON function, to which a container is text that must be cast."""
    if isinstance(value, Opaque):
        return value.text() if value.kind == DECIMAL else quote(value.text())
    if isinstance(value, str):
        return quote(value)
    text = to_text(value)
    return f"CAST({quote(text)} AS JSON)" if isinstance(value, dict | list) else text
