"""Diffs as SQL for people, as `mysqlbinlog -v` prints them (WL#2955, section 6; JD-SHOW).

    JSON_REMOVE(                         the last operation is outermost
    JSON_REPLACE(@2, '$.a', 7,           diffs with the same operation, one after another, are one call
    '$.b[1]', 'bb'),                     a step a line
    '$.c')

It is the statement that would have the same effect on the column, but for the document in it that is not shown.
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
    """The expression that makes the column's new value out of its old one, `column`; that itself if there are no diffs.

    Its lines are parted by line feeds and have no indentation. Raises DocumentError for values that no document has."""
    runs = [list(run) for _, run in groupby(diffs, _function)]
    calls = [f"{_function(run[0])}(" for run in reversed(runs)]
    steps = [",\n".join(map(_step, run)) + ")" for run in runs]
    return "\n".join(calls) + ",\n".join([f"{column}, {steps[0]}", *steps[1:]]) if runs else column


def quote(text: str) -> str:
    """A string of SQL, with control characters as mysqlbinlog escapes them."""
    return f"'{text.translate(_ESCAPES)}'"


def _function(diff: Diff) -> str:
    if diff.operation == Operation.INSERT and diff.path.legs and isinstance(diff.path.legs[-1], Cell):
        return "JSON_ARRAY_INSERT"
    return f"JSON_{diff.operation.name}"


def _step(diff: Diff) -> str:
    path = quote(str(diff.path))
    return path if diff.operation == Operation.REMOVE else f"{path}, {_literal(diff.value)}"


def _literal(value: Document) -> str:
    """What a JSON function takes for the value: text is no document to it, so one has to be made of it."""
    if isinstance(value, Opaque):
        return value.text() if value.kind == DECIMAL else quote(value.text())
    if isinstance(value, str):
        return quote(value)
    text = to_text(value)
    return f"CAST({quote(text)} AS JSON)" if isinstance(value, dict | list) else text
