"""The hash by which PARTITION BY KEY divides rows, over whole columns.

Source: the servers' sources, of each collation its hash_sort over a column's bytes. Judged by MySQL 9.7 and MariaDB
10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.alter.packed_decimals import packed_decimals
from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.exact_text import with_placeholders
from applier.mysql.types import MEMBERS, TEXT, ColumnType
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.mysql.values import zero_dates
from applier.mysql.values.byte_columns import value_bytes
from applier.sql.casting.byte_strings import bytes_of_text
from applier.sql.casting.members import member_numbers
from applier.sql.casting.texts import WIDE
from keysearch.collation import is_exact, levels_of, weights_by_position

_Items: TypeAlias = Iterable[tuple[np.ndarray, np.ndarray]]
"""Numbers of rows and what each of these rows adds to its hash: at the first position, at the second, and so on."""
_FNV_BASIS, _FNV_PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
_BYTE, _BITS = np.uint64(0xFF), np.uint64(8)
_SPACE = ord(" ")
_AS_BYTES = {"mysql": ("datetime", "timestamp"), "mariadb": ("date", "datetime", "timestamp")}
"""Types whose bytes both algorithms hash as they are."""
_UNKNOWN = ("_czech_cs", "_ja_0900_as_cs_ks")
"""Endings of collations whose hash is unknown."""


class KeyColumn(NamedTuple):
    """A column of the partitioning; `collation` is keysearch's name, None for one without text."""

    name: str
    values: pa.Array | pa.ChunkedArray
    type: ColumnType
    collation: str | None


def key_hashes(columns: Sequence[KeyColumn], n: int, flavour: str, *, by_weight: bool) -> np.ndarray:
    """Return the hashes of n rows, uint64[n]. ALGORITHM=1 hashes the bytes of numbers, integers' lowest first; the
    later one, with `by_weight`, hashes them as characters of latin1_swedish_ci: by weights, and without trailing
    spaces. Of ENUM and SET it is the other way round. Raises NotComputable for a column whose hash is unknown."""
    state = _State(n)
    for column in columns:
        nulls = np.asarray(column.values.is_null())
        if column.collation is not None and "_0900_" in column.collation and levels_of(column.collation):
            state.multiply(_levels(column), np.flatnonzero(~nulls))
        elif column.type.base in TEXT or column.type.base in ("binary", "varbinary"):
            state.add(_bytes_of_string(column, flavour))
        else:
            kind = column.type.base
            weighs = not by_weight if kind in MEMBERS else by_weight and kind not in _AS_BYTES[flavour]
            state.add(_bytes_of_number(_stored_bytes(column.name, column.values, column.type), nulls, weighs=weighs))
        state.add_nulls(nulls)
    return state.hashed


class _State:
    """The hash of each row, and what its next byte is multiplied by."""

    def __init__(self, n: int) -> None:
        self.hashed, self._step = np.full(n, 1, np.uint64), np.full(n, 4, np.uint64)

    def add(self, items: _Items) -> None:
        """Add the bytes of a column."""
        for rows, byte in items:
            hashed, step = self.hashed[rows], self._step[rows]
            self.hashed[rows] = hashed ^ (((hashed & np.uint64(63)) + step) * byte + (hashed << _BITS))
            self._step[rows] = step + np.uint64(3)

    def multiply(self, items: _Items, rows: np.ndarray) -> None:
        """Add the weights of rows by FNV-1a, as MySQL does for UCA 9.0."""
        self.hashed[rows] ^= _FNV_BASIS
        for some, weights in items:
            self.hashed[some] = (self.hashed[some] ^ weights) * _FNV_PRIME

    def add_nulls(self, nulls: np.ndarray) -> None:
        """Add a column's NULLs."""
        self.hashed = np.where(nulls, self.hashed ^ (self.hashed << np.uint64(1) | np.uint64(1)), self.hashed)


def _bytes_of_number(rows_bytes: list[np.ndarray], nulls: np.ndarray, *, weighs: bool) -> _Items:
    length = np.where(nulls, 0, len(rows_bytes))
    for at in reversed(range(len(rows_bytes) if weighs else 0)):
        length = np.where((length == at + 1) & (rows_bytes[at] == _SPACE), at, length)
    for at, byte in enumerate(rows_bytes):
        rows = np.flatnonzero(at < length)
        yield rows, (_WEIGHTS[byte] if weighs else byte)[rows]


def _bytes_of_string(column: KeyColumn, flavour: str) -> _Items:
    """Return the bytes that a string's collation hashes: its own, or those of its weights."""
    collation = column.collation or "binary"
    if not levels_of(collation):
        yield from _own_bytes(column, collation)
        return
    if levels_of(collation) > 1:  # trailing spaces do not count, whatever the collation says
        collation = collation.replace("nopad_", "")
    is_unicode, high_first = column.type.charset in UTF8, not collation.partition("_")[2].startswith("general")
    for rows, weights in _weights(column._replace(collation=collation)):
        parts = [weights & _BYTE, weights >> _BITS]
        for part in (reversed(parts) if high_first else parts) if is_unicode else [weights]:
            yield rows, part


def _levels(column: KeyColumn) -> _Items:
    """Return the weights of all levels, with a zero between two of them."""
    rows = np.flatnonzero(np.asarray(column.values.is_valid()))
    for level in range(levels_of(column.collation or "")):
        if level:
            yield rows, np.zeros(len(rows), np.uint64)
        yield from _weights(column, level)


def _weights(column: KeyColumn, level: int = 0) -> _Items:
    try:
        yield from weights_by_position(_text(column), column.collation or "", level)
    except ValueError as error:
        raise NotComputable(f"column {column.name}: {error}") from None


def _own_bytes(column: KeyColumn, collation: str) -> _Items:
    """Return the bytes of a string, whose trailing spaces count if the collation says so."""
    if not is_exact(collation):
        raise NotComputable(f"column {column.name} in the hash of KEY, in the unknown collation {collation}")
    if column.type.base in TEXT:
        text = _text(column)
        trimmed = text if "nopad_" in collation else pc.utf8_rtrim(text, " ")  # of utf8mb4_0900_bin, too
        values = bytes_of_text(trimmed, column.type.charset or "utf8mb4")
    else:
        values = _whole(column.values).fill_null(b"")
    starts, data = value_bytes(values)
    yield from _in_turn(np.asarray(starts), data)


def _in_turn(offsets: np.ndarray, data: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rows, lengths = np.arange(len(offsets) - 1), np.diff(offsets)
    at = 0
    while len(rows := rows[at < lengths[rows]]):
        yield rows, data[offsets[rows] + at].astype(np.uint64)
        at += 1


def _text(column: KeyColumn) -> pa.Array:
    """Return text as rows contain it: a CHAR has all of its spaces. NULL is empty."""
    charset = column.type.charset or "utf8mb4"
    if charset in WIDE or charset in MULTI_BYTE or with_placeholders(column.values, charset) is not None or \
            (column.collation or "").endswith(_UNKNOWN):
        raise NotComputable(f"column {column.name}, {column.type.sql()}, in the hash of KEY")
    text = _whole(column.values).fill_null("")
    if column.type.base != "char":
        return text
    spaces = np.maximum(0, most_bytes(column.type) - np.asarray(pc.binary_length(bytes_of_text(text, charset))))
    padded = pc.binary_repeat(pa.repeat(pa.scalar(" "), len(text)), pa.array(spaces))
    return pc.if_else(_whole(column.values).is_null(), "", pc.binary_join_element_wise(text, padded, ""))


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _stored_bytes(name: str, values: pa.Array | pa.ChunkedArray, kind: ColumnType) -> list[np.ndarray]:
    """Return the bytes of numbers, members, and MySQL's dates and times, as rows have them, one after another:
    uint64[n] each."""
    if kind.entry.bits:
        return _integer_bytes(_bits(values.fill_null(0)), kind.entry.bits // 8)
    if kind.base == "decimal":
        return packed_decimals(_whole(values).fill_null("0" if pa.types.is_string(values.type) else Decimal(0)), kind)
    if kind.base == "year":
        year = np.asarray(_whole(values).fill_null(0)).astype(np.int64)
        return [np.where(year, year - 1900, 0).astype(np.uint64)]
    if kind.base in MEMBERS:
        return _integer_bytes(_bits(member_numbers(_whole(values), kind).fill_null(0)), member_bytes(kind))
    if kind.base not in ("date", "datetime", "timestamp"):
        raise NotComputable(f"column {name}, {kind.sql()}, in the hash of KEY")
    micros = zero_dates.numbers_of(values) * (zero_dates.DAY if kind.base == "date" else 1)
    seconds, fraction = micros // 1_000_000, micros % 1_000_000
    is_invalid, of_invalid = zero_dates.which(values), zero_dates.parts(seconds // 86_400)
    days = pa.array(np.where(is_invalid, 0, seconds // 86_400), pa.int32()).cast(pa.date32())
    year, month, day = (np.where(is_invalid, part, np.asarray(of(days)).astype(np.int64))
                        for part, of in zip(of_invalid, (pc.year, pc.month, pc.day), strict=True))
    if kind.base == "date":
        packed, shifts = year << 9 | month << 5 | day, [0, 8, 16]
    elif kind.base == "timestamp":
        packed, shifts = np.where(is_invalid, 0, seconds), [24, 16, 8, 0]
    else:
        clock = seconds % 86_400
        packed = ((year * 13 + month) << 5 | day) << 17 | clock // 3600 << 12 | clock // 60 % 60 << 6 | clock % 60
        packed, shifts = packed + (1 << 39), [32, 24, 16, 8, 0]
    size = (kind.fsp + 1) // 2
    digits = fraction // 100**(3 - size)
    made = [packed >> shift & 0xFF for shift in shifts]
    made += [digits >> 8 * at & 0xFF for at in reversed(range(size))]
    return [byte.astype(np.uint64) for byte in made]


def _integer_bytes(whole: np.ndarray, size: int) -> list[np.ndarray]:
    return [whole >> np.uint64(8 * at) & _BYTE for at in range(size)]


def _bits(values: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return integers as uint64[n] with the same bits; BIGINT UNSIGNED arrives as decimals."""
    if not pa.types.is_decimal(values.type):
        return np.asarray(values.cast(pa.int64())).view(np.uint64)
    return np.asarray(values.cast(pa.decimal128(20, 0)).cast(pa.uint64()))


_WEIGHTS = np.frombuffer(bytes(range(0x60 + 1)) + bytes(range(0x41, 0x5B)) + bytes(range(0x7B, 0xC0)) + bytes.fromhex(
    "414141415C5B5C434545454549494949444E4F4F4F4F5DD7D85555555959DEDF"
    "414141415C5B5C434545454549494949444E4F4F4F4F5DF7D85555555959DEFF"), np.uint8).astype(np.uint64)
"""The weights of latin1_swedish_ci's bytes, as WEIGHT_STRING shows them."""
