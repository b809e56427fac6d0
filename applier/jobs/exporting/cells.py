"""Encodes a snapshot's columns as bytes for a server, whole columns at once.

A server reads back the same values: FLOAT and DOUBLE as texts that round to the same bits, dates and times as ISO
texts, YEAR with four digits (0 is not 2000), BIT as a number, ENUM and SET by label, bytes, geometries and vectors as
bytes.

Kernels then write the cells as the text of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.exporting.text_kernel import (
    BYTES,
    CELL_BYTES,
    CELLS,
    PLAIN,
    ROW_BYTES,
    TEXT,
    write_literals,
    write_rows,
)
from applier.jobs.json_lines.steps import Cells
from applier.jobs.json_lines.steps import cells_of as cells_of_texts
from applier.mysql.character_sets.exact_text import bytes_in, needs_bytes, shown
from applier.mysql.client_sql import for_clients
from applier.mysql.reader_values import lossy_charset
from applier.mysql.type_registry import Family
from applier.mysql.values.byte_columns import beside
from applier.mysql.values.value_texts import date_texts, exact_texts, time_texts, year_texts
from applier.schema.table_parts import Column
from keysearch.addresses import address_of


def cells_of(column: Column, values: pa.Array, *, by_bytes: bool | None = None) -> Cells:
    """Return the values (of `arrow_type(column.type)`) as bytes. Text is written as the bytes that the server has if a
    SELECT would not show some of it whole, or as `by_bytes` says."""
    mode, charset = WRITERS[column.type.entry.family][0], lossy_charset(column.type)
    if charset is not None and (needs_bytes(values, charset) if by_bytes is None else by_bytes):
        return cells_of_texts(BYTES, bytes_in(values, charset))
    return cells_of_texts(mode, texts_of(column, values))


def texts_of(column: Column, values: pa.Array) -> pa.Array:
    """Return the values (of `arrow_type(column.type)`) as a column of text, or of bytes where they are bytes."""
    return WRITERS[column.type.entry.family][1](shown(values, lossy_charset(column.type)))


def has_no_member(column: Column, values: pa.Array) -> bool:
    """Return whether an ENUM has the empty value that a server stores for an invalid one: strict mode refuses it."""
    if column.type.base != "enum" or "" in column.type.members:
        return False
    return bool(pc.any(pc.equal(values, "")).as_py())


def _as_is(values: pa.Array) -> pa.Array:
    return values


def _reals(values: pa.Array) -> pa.Array:
    """Return the shortest texts of floating-point numbers. A server first reads a float as a double, which must not
    exceed the largest float, and then rounds it: if the result differs from the value, all digits of the double are
    written."""
    texts = values.cast(pa.string())
    if pa.types.is_float64(values.type):
        return texts
    read = texts.cast(pa.float64())
    same = pc.and_(pc.equal(read.cast(pa.float32(), safe=False), values),
                   pc.less_equal(pc.abs(read), float(np.finfo(np.float32).max))).fill_null(True)
    return texts if pc.all(same).as_py() else pc.if_else(same, texts, values.cast(pa.float64()).cast(pa.string()))


def vector_bytes(values: pa.Array) -> pa.Array:
    """Return the floats of each value as in memory, which is the server's own form."""
    flat = values.flatten().to_numpy(zero_copy_only=False).astype("<f4").view(np.uint8)
    lengths = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    return beside(values, pa.binary(), np.r_[0, np.cumsum(4 * lengths.astype(np.int64))], flat)


_Writer = Callable[[pa.Array], pa.Array]

WRITERS: dict[Family, tuple[int, _Writer]] = {
    Family.INTEGER: (PLAIN, exact_texts), Family.DECIMAL: (TEXT, exact_texts), Family.FLOATING: (TEXT, _reals),
    Family.BIT: (PLAIN, exact_texts), Family.YEAR: (TEXT, year_texts), Family.DATE: (TEXT, date_texts),
    Family.DATETIME: (TEXT, date_texts), Family.TIME: (TEXT, time_texts), Family.TEXT: (TEXT, _as_is),
    Family.BYTES: (BYTES, _as_is), Family.MEMBERS: (TEXT, _as_is), Family.DOCUMENT: (TEXT, _as_is),
    Family.GEOMETRY: (BYTES, _as_is), Family.NETWORK: (TEXT, _as_is), Family.VECTOR: (BYTES, vector_bytes),
}
"""The mode in which values are written, and the bytes of them."""


STATEMENT_BYTES = 1 << 20
"""An INSERT that has reached this size is ended: servers accept statements of 16 MB and more."""
_ESCAPED = 2


def rows_text(cells: Sequence[Cells], rows: int, sql: bool, head: np.ndarray) -> memoryview:
    """Return rows as the kernel writes them: as SQL, with this head of an INSERT, or as TSV."""
    size = _ESCAPED * _bytes_of(cells) + rows * (CELL_BYTES * len(cells) + ROW_BYTES)
    size += 2 * (size // STATEMENT_BYTES + 1) * len(head)  # heads fill statements, too, a third at most
    out, packed = np.empty(size, np.uint8), _Packed(cells, rows)
    written = write_rows(packed.address, sql, address_of(head), len(head), STATEMENT_BYTES, address_of(out))
    return out.data[:written]


def literals_text(cells: Sequence[Cells], rows: int, words: Sequence[str]) -> memoryview:
    """Return rows as SQL literals between these words: one before each cell, and one at the end. Raises SchemaError for
    a name that a client could misread."""
    encoded = [for_clients(word).encode() for word in words]
    edges = np.cumsum([0, *map(len, encoded)])
    text = np.frombuffer(b"".join(encoded), np.uint8)
    size = _ESCAPED * _bytes_of(cells) + rows * (CELL_BYTES * len(cells) + len(text))
    out, packed = np.empty(size, np.uint8), _Packed(cells, rows)
    written = write_literals(packed.address, address_of(text), edges, address_of(out))
    return out.data[:written]


def _bytes_of(cells: Sequence[Cells]) -> int:
    return sum(int(column.offsets[-1]) for column in cells)


class _Packed:
    """Cells as a record for kernels, at an address."""

    def __init__(self, cells: Sequence[Cells], rows: int) -> None:
        offsets = np.array([column.offsets for column in cells], np.int64).reshape(len(cells), rows + 1)
        nulls = np.array([column.states for column in cells], np.uint8).reshape(len(cells), rows)
        addresses = np.array([address_of(column.data) for column in cells], np.int64)
        modes = np.array([column.mode for column in cells], np.uint8)
        self._kept = cells, addresses, offsets, nulls, modes
        self._record = np.array((len(cells), rows, *map(address_of, (addresses, offsets, nulls, modes))), CELLS)
        self.address = address_of(self._record)
