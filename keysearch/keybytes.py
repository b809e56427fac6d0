"""A row's key as bytes that compare in order, or as one integer.

A key may have several columns of any types; searching, sorting and partitioning need one value to compare.
`encode_keys` makes byte strings whose memcmp order is the order of the keys, equal where the keys are equal. Each
column is written after the one before it:

    type                           written as
    integers, dates, times, bool   big-endian in the type's own width, sign bit flipped where it is signed
    decimal128                     the unscaled value as 16 bytes, likewise
    float, double                  the bits: flipped all if negative, else only the sign; -0.0 as 0.0
    fixed_size_binary              unchanged
    string, binary                 unchanged if it is the last column; else 0x00 as 0x00 0xFF, and 0x00 0x00 as its end
    any, where it may be NULL      one byte before it: 0x00 for NULL (then as zero or empty), 0x01 for a value

Most keys are one integer: `int_key` gives such a column as int64 in the same order, without making bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from keysearch import keybytes_kernel
from keysearch.addresses import address_of
from keysearch.keybytes_kernel import add_escaped_lengths, put_escaped, put_raw, put_words

PADDING = 32
"""Readable bytes behind the keys of a KeyBytes."""
_SIGN = np.uint64(1 << 63)
_UNSIGNED_BIGINT = pa.decimal128(20, 0)
_DECIMAL_IN_INT64 = 18
"""Digits that always fit in an int64, whatever the value."""
_IN_INT64 = (pa.types.is_integer, pa.types.is_date, pa.types.is_timestamp, pa.types.is_duration, pa.types.is_time)
_TEXT = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)


@dataclass(frozen=True)
class KeyBytes:
    """Keys of n rows: key i is data[offsets[i]:offsets[i + 1]].

    offsets: int64[n + 1], from 0. data: uint8[offsets[n]], with 32 more readable bytes behind its end in memory.
    """

    offsets: np.ndarray
    data: np.ndarray

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, row: int) -> bytes:
        """One row's key."""
        row = range(len(self))[row]
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def to_arrow(self) -> pa.LargeBinaryArray:
        """The keys as an Arrow array over the same memory, for sorting, minimum and maximum, or equality in bulk."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)


@dataclass(frozen=True)
class _Words:
    """A part of the key of `width` bytes: the low bytes of words: uint64[n]."""

    words: np.ndarray
    width: int


@dataclass(frozen=True)
class _Text:
    """A part of the key that differs in length: data[starts[i]:ends[i]], escaped if another part may follow."""

    starts: np.ndarray
    ends: np.ndarray
    data: np.ndarray
    escaped: bool


def encode_keys(columns: Sequence[pa.Array | pa.ChunkedArray], nullable: Sequence[bool] | None = None) -> KeyBytes:
    """The composite key of each row, of columns of n values each.

    nullable: for each column whether its definition (not these values) allows NULL, which is part of the encoding;
    by default none does. Keys compare with each other only if they were made with the same types and flags. Errors:
    TypeError for a type that no key can have; ValueError for no columns, for columns of different lengths, and for a
    NULL in a column that does not allow it.
    """
    if not columns:
        raise ValueError("a key has at least one column")
    nullable = nullable or [False] * len(columns)
    columns = [_one_array(column) for column in columns]
    n = len(columns[0])
    parts: list[_Words | _Text] = []
    for index, (column, may_be_null) in enumerate(zip(columns, nullable, strict=True)):
        if len(column) != n:
            raise ValueError(f"column {index} of the key has {len(column)} values, the first has {n}")
        if column.null_count and not may_be_null:
            raise ValueError(f"column {index} of the key has {column.null_count} NULLs and may have none")
        if may_be_null:
            parts.append(_Words(_validity(column).astype(np.uint64), 1))
        parts.extend(_parts(column, is_last=index == len(columns) - 1))

    lengths = np.full(n, sum(part.width for part in parts if isinstance(part, _Words)), np.int64)
    for part in parts:
        if isinstance(part, _Text) and part.escaped:
            add_escaped_lengths(part.starts, part.ends, part.data, lengths)
        elif isinstance(part, _Text):
            lengths += part.ends - part.starts
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])

    memory = np.empty(int(offsets[n]) + PADDING, np.uint8)
    cursors, address = offsets[:-1].copy(), address_of(memory)
    for part in parts:
        if isinstance(part, _Words):
            put_words(part.words, part.width, cursors, address)
        elif part.escaped:
            put_escaped(part.starts, part.ends, part.data, cursors, address)
        else:
            put_raw(part.starts, part.ends, address_of(part.data), cursors, address)
    return KeyBytes(offsets, memory[: offsets[n]])


def int_key_capable(type_: pa.DataType, unsigned_bigint: bool = False) -> bool:
    """Return whether `int_key` accepts every value of a column of this type.

    unsigned_bigint: the column is a BIGINT UNSIGNED or a BIT(64), so that decimal128(20, 0) has no value from
    2**64 on; a DECIMAL(20, 0) may.
    """
    if pa.types.is_decimal128(type_):
        return bool(type_.precision <= _DECIMAL_IN_INT64) or (unsigned_bigint and type_ == _UNSIGNED_BIGINT)
    return any(is_kind(type_) for is_kind in _IN_INT64)


def int_key(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """A key of one column as int64[n] in the same order, equal where the values are equal.

    The value itself: days, microseconds, a DECIMAL's unscaled value. uint64 and decimal128(20, 0) both give the
    unsigned value less 2**63. The result may be a read-only view of the column. Errors: TypeError for a type that does
    not fit, ValueError for a NULL and for a decimal128(20, 0) outside 0 … 2**64 - 1.
    """
    column = _one_array(column)
    if not int_key_capable(column.type, unsigned_bigint=True):
        raise TypeError(f"a key of type {column.type} does not fit in an int64")
    if column.null_count:
        raise ValueError(f"the key has {column.null_count} NULLs and may have none")
    if column.type == _UNSIGNED_BIGINT:
        halves = _values(column, np.uint64, 2)
        if halves[1::2].any():
            raise ValueError("a decimal128(20, 0) that is an unsigned 64-bit key is outside 0 … 2**64 - 1")
        return (halves[::2] ^ _SIGN).view(np.int64)
    if pa.types.is_decimal128(column.type):
        return np.ascontiguousarray(_values(column, np.int64, 2)[::2])
    if column.type == pa.uint64():
        return (_values(column, np.uint64) ^ _SIGN).view(np.int64)
    return _values(column, _integer_dtype(column.type)).astype(np.int64, copy=False)


def _parts(column: pa.Array, is_last: bool) -> list[_Words | _Text]:
    """Return the parts that a column adds to the key, after its NULL byte."""
    type_ = column.type
    if _is_text(type_):
        return [_Text(*text_bounds(column), escaped=not is_last)]
    if pa.types.is_fixed_size_binary(type_):
        return [_fixed_text(column)]
    if pa.types.is_decimal128(type_):
        halves = _values(column, np.uint64, 2)
        low, high = halves[::2].copy(), halves[1::2] ^ _SIGN
        return [_Words(_zero_where_null(part, column), 8) for part in (high, low)]
    if pa.types.is_boolean(type_):
        return [_Words(_zero_where_null(_bits(column, 1).astype(np.uint64), column), 1)]
    if pa.types.is_float32(type_) or pa.types.is_float64(type_):
        dtype = np.dtype(f"f{type_.bit_width // 8}")
        words = _float_words(_values(column, dtype))
    else:
        dtype = _integer_dtype(type_)
        words = _values(column, dtype).astype(np.uint64)
        if dtype.kind == "i":
            words ^= np.uint64(1 << (8 * dtype.itemsize - 1))
    return [_Words(_zero_where_null(words, column), dtype.itemsize)]


def _integer_dtype(type_: pa.DataType) -> np.dtype:
    """The dtype of values whose type is an integer in memory."""
    if pa.types.is_integer(type_) or pa.types.is_temporal(type_):
        return np.dtype(f"{'u' if pa.types.is_unsigned_integer(type_) else 'i'}{type_.bit_width // 8}")
    raise TypeError(f"a column of type {type_} cannot be in a key")


def _float_words(values: np.ndarray) -> np.ndarray:
    """Bits of floats that order as unsigned integers: uint64[n] with the float's width in use."""
    with np.errstate(invalid="ignore"):  # what lies behind a NULL may be a NaN
        bits = (values + values.dtype.type(0)).view(f"u{values.itemsize}")  # -0.0 + 0.0 is 0.0
    sign = bits.dtype.type(1 << (8 * values.itemsize - 1))
    words: np.ndarray = np.where(bits & sign, ~bits, bits | sign).astype(np.uint64)
    return words


def text_bounds(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of a column of text or bytes as (starts, ends, data): value i is data[starts[i]:ends[i]], a NULL is
    empty. Errors: TypeError for a column of another type."""
    column = _one_array(column)
    if not _is_text(column.type):
        raise TypeError(f"a column of type {column.type} is neither text nor bytes")
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int64 if large else np.int32) if offsets else np.zeros(1, np.int64)
    bounds = bounds[column.offset : column.offset + len(column) + 1].astype(np.int64)
    starts, ends = bounds[:-1], bounds[1:]
    if column.null_count:
        ends = np.where(_validity(column), ends, starts)        # Arrow lets a null have bytes
    values = np.frombuffer(data or b"", np.uint8)
    values.setflags(write=False)  # to Numba part of the type: a kernel is compiled again for another one
    return starts, ends, values


def _is_text(type_: pa.DataType) -> bool:
    return any(is_kind(type_) for is_kind in _TEXT)


def _fixed_text(column: pa.Array) -> _Text:
    width = column.type.byte_width
    starts = np.arange(len(column), dtype=np.int64) * width
    data = _values(column, np.uint8, width)
    if column.null_count:
        data = data.copy()
        data.reshape(-1, width)[~_validity(column)] = 0
    return _Text(starts, starts + width, data, escaped=False)


def _values(column: pa.Array, dtype: np.dtype | type, each: int = 1) -> np.ndarray:
    """A fixed-width column's values as stored in memory, `each` items per row; those of nulls are undefined."""
    data = np.frombuffer(column.buffers()[1] or b"", dtype)
    return data[column.offset * each : (column.offset + len(column)) * each]


def _bits(column: pa.Array, buffer: int) -> np.ndarray:
    """Bits of a column's buffer, one uint8 a row."""
    data = np.frombuffer(column.buffers()[buffer] or b"", np.uint8)
    return np.unpackbits(data, bitorder="little")[column.offset : column.offset + len(column)]


def _validity(column: pa.Array) -> np.ndarray:
    valid: np.ndarray = pc.is_valid(column).to_numpy(zero_copy_only=False)
    return valid


def _zero_where_null(words: np.ndarray, column: pa.Array) -> np.ndarray:
    if column.null_count:
        words[~_validity(column)] = 0
    return words


def _one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def find_ranges(keys: KeyBytes, bounds: KeyBytes) -> np.ndarray:
    """For each key how many of the ascending bounds it reaches, which is the number of its range: int64[n]."""
    ranges = np.empty(len(keys), np.int64)
    keybytes_kernel.find_ranges(keys.offsets, address_of(keys.data), bounds.offsets, address_of(bounds.data), ranges)
    return ranges
