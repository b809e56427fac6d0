"""Compares two columns value by value. Differences are counted by column, and the first one in the log is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.witnessed import Difference
from applier.columns.table_key import table_key
from applier.io.printable import printable
from applier.mysql.values.doubles import as_shown
from applier.mysql.values.zero_dates import to_python
from applier.schema.definition import TableDefinition

_SHOWN = 80
"""The most characters of a value in a message."""


@dataclass(frozen=True)
class LoggedImages:
    """Images of a file's events, by number: `positions` are the offsets of the events, `rows` the rows in them."""

    uri: str
    positions: np.ndarray
    rows: np.ndarray


class Differences:
    """The differences between the log's values and a table's, by column. `computed`: the table's values are those of
    expressions."""

    def __init__(self, definition: TableDefinition, *, computed: bool = False) -> None:
        self._table, self._computed = definition.full_name, computed
        self._key = table_key(definition)
        self._with_digits = {column.name: column.type for column in definition.columns
                             if column.type.base == "double" and column.type.scale is not None}
        self._found: dict[str, Difference] = {}

    @property
    def found(self) -> tuple[Difference, ...]:
        return tuple(self._found.values())

    @property
    def key_columns(self) -> Sequence[str]:
        """The columns by which a message names a row."""
        return () if self._key is None else self._key.names

    def add(self, images: LoggedImages, numbers: np.ndarray, column: str, logged: pa.ChunkedArray,
            held: pa.ChunkedArray, rows: pa.Table) -> np.ndarray | None:
        """Compare a column of some images (int64[n], numbers, ascending) as logged and as replayed. Returns which
        values differ; None if none does. `rows` has the columns of the key, unless an image does not have one of them.
        """
        if (kind := self._with_digits.get(column)) is not None:
            held = pa.chunked_array([as_shown(held.combine_chunks(), kind)])  # as images are decoded
        differing = differing_values(logged, held)
        if differing is None:
            return None
        row, count = int(np.argmax(differing)), int(differing.sum())
        known, first = self._found.get(column), int(numbers[row])
        position, in_event = int(images.positions[first]), int(images.rows[first])
        if known is not None:
            is_later = known.file != images.uri or (known.position, known.row) <= (position, in_event)
            if is_later:  # files come one after another
                self._found[column] = replace(known, count=known.count + count)
                return differing
            count += known.count
        self._found[column] = Difference(
            table=self._table, column=column, count=count, file=images.uri, position=position, row=in_event,
            key=self._key_text(rows, row), logged=_shown(logged, row), held=_shown(held, row), computed=self._computed)
        return differing

    def _key_text(self, rows: pa.Table, row: int) -> str:
        if self._key is None or not set(self._key.names) <= set(rows.schema.names):
            return ""
        return f"{self._key} = {', '.join(_shown(rows.column(name), row) for name in self._key.names)}"


def differing_values(logged: pa.ChunkedArray, held: pa.ChunkedArray) -> np.ndarray | None:
    """Return which values differ, where NULL equals NULL; None if none does."""
    if logged.equals(held):
        return None
    logged, held = logged.combine_chunks(), held.combine_chunks()
    if pa.types.is_floating(logged.type):  # by their bits: NaN is none, and zeros have signs
        bits = pa.int64() if logged.type.bit_width == 64 else pa.int32()
        logged, held = logged.view(bits), held.view(bits)
    unlike = pc.fill_null(pc.not_equal(logged, held), False)
    differing: np.ndarray = np.asarray(pc.or_(unlike, pc.xor(logged.is_null(), held.is_null())))
    return differing if differing.any() else None


def _shown(column: pa.ChunkedArray, row: int) -> str:
    """Return a value as text, shortened if it is long."""
    [value] = to_python(column.slice(row, 1).combine_chunks())
    text = "NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
