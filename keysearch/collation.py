"""Strings as bytes that are equal where a collation takes the strings for equal.

A server finds a duplicate in a unique key by the columns' collations: 'A' is a duplicate of 'a' in a case-insensitive
one, 'a ' of 'a' where spaces at the end do not count (PAD SPACE). The bytes here are the weights that the server itself
compares (WEIGHT_STRING), in a shorter form that sorts as they do.

Exact are, on MySQL and MariaDB: binary and the _bin collations, …_general_ci, …_unicode_ci and …_unicode_520_ci of
the Unicode character sets, utf8mb4_0900_ai_ci, latin1_swedish_ci, ascii_general_ci, and MariaDB's …_uca1400_ai_ci and
…_nopad_… forms of these. By any other collation strings are equal here where their bytes are: what only it takes for a
duplicate is none.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from keysearch.collation_kernel import MOST_BYTES, SLACK, put_weights, without_spaces
from keysearch.collation_tables import weight_table
from keysearch.keybytes import PADDING, KeyBytes, text_bounds
from keysearch.keybytes_kernel import put_raw

_UNICODE = ("utf8", "utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32")
_KINDS = {**dict.fromkeys(_UNICODE, ("general_ci", "unicode_ci", "unicode_520_ci", "uca1400_ai_ci")),
          "latin1": ("swedish_ci",), "ascii": ("general_ci",)}


class _Rules(NamedTuple):
    """How a collation compares: by a table of weights (None: by bytes), and whether spaces at the end count."""

    table: str | None
    pads: bool


_BYTES = _Rules(None, False)


def is_exact(collation: str) -> bool:
    """Whether keys are equal exactly where strings are by this collation (its name, as information_schema has it)."""
    return _rules(collation) is not None


def compares_bytes(collation: str) -> bool:
    """Whether a string's own bytes are its key, as also where the collation is not known here."""
    return (_rules(collation) or _BYTES) == _BYTES


def equality_keys(column: pa.Array | pa.ChunkedArray, collation: str) -> KeyBytes:
    """The keys of a column of UTF-8 text, that of "" for a NULL. Errors: TypeError for a column of another type."""
    starts, ends, data = text_bounds(column)
    rules = _rules(collation) or _BYTES
    if rules.table is None:
        return _own_bytes(starts, ends, data, rules.pads)
    table = weight_table(rules.table)
    offsets = np.zeros(len(starts) + 1, np.int64)
    lengths = ends - starts
    room = 2 * int(lengths.sum()) + MOST_BYTES * int(lengths.max(initial=0))
    memory = np.empty(room + max(PADDING, SLACK), np.uint8)
    row = 0
    while True:
        row = put_weights(row, starts, ends, data.ctypes.data, table.entries.ctypes.data, table.many.ctypes.data,
                          table.codes.ctypes.data, table.heads.ctypes.data, len(table.heads),
                          table.contractions.ctypes.data, len(table.contractions), table.space if rules.pads else 0,
                          memory.ctypes.data, len(memory) - max(PADDING, SLACK), offsets)
        if row == len(starts):
            return KeyBytes(offsets, memory[:offsets[-1]])
        memory = np.concatenate([memory, np.empty_like(memory)])


def equality_column(column: pa.Array | pa.ChunkedArray, collation: str) -> pa.Array | pa.ChunkedArray:
    """The same as a column of large_binary that keeps its NULLs, to be a part of a longer key (`encode_keys`). The
    column as it is where strings are equal only byte for byte."""
    if compares_bytes(collation):
        return column
    keys = equality_keys(column, collation).to_arrow()
    return pc.if_else(pc.is_valid(column), keys, None) if column.null_count else keys


def _own_bytes(starts: np.ndarray, ends: np.ndarray, data: np.ndarray, pads: bool) -> KeyBytes:
    if pads:
        ends = ends.copy()
        without_spaces(starts, ends, data.ctypes.data)
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    memory = np.empty(int(offsets[-1]) + PADDING, np.uint8)
    put_raw(starts, ends, data.ctypes.data, offsets[:-1].copy(), memory.ctypes.data)
    return KeyBytes(offsets, memory[:offsets[-1]])


@cache
def _rules(collation: str) -> _Rules | None:
    """How a collation compares, None where that is not known here."""
    name = collation.lower()
    if name == "binary":
        return _BYTES
    if name == "utf8mb4_0900_ai_ci":
        return _Rules("0900_ai_ci", False)
    charset, _, kind = name.partition("_")
    pads = "nopad_" not in kind
    kind = kind.replace("nopad_", "")
    if kind in ("bin", "0900_bin"):
        return _Rules(None, pads and kind == "bin")
    if kind not in _KINDS.get(charset, ()):
        return None
    return _Rules(kind if charset in _UNICODE else name.replace("nopad_", ""), pads)
