"""Values on the terminal."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from applier.jobs.exporting.cells import WRITERS, texts_of
from applier.jobs.exporting.text_kernel import PLAIN
from applier.mysql.type_registry import Family
from applier.mysql.types import arrow_type
from applier.schema.definition import Column

LONGEST_VALUE = 60
"""Characters of a value that are shown."""
_BARE = (Family.DECIMAL, Family.FLOATING, Family.YEAR, Family.VECTOR)


def value_texts(column: Column, values: pa.Array) -> list[str]:
    """Values for people, in a form that SQL has, and cut where they are long."""
    bare = False
    if values.type == arrow_type(column.type):
        family = column.type.entry.family
        bare = WRITERS[family][0] == PLAIN or family in _BARE
        values = values if family is Family.VECTOR else texts_of(column, values)
    return [_text(value, bare) for value in values.to_pylist()]


def _text(value: Any, bare: bool) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        text, bare = value[:LONGEST_VALUE].hex(), False
        start = "x'"
    else:
        text, start = str(value), "'"
    cut = text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE - 1] + "…"
    return cut if bare else f"{start}{cut}'"
