"""Encodes columns as the bytes of row images, whole columns at once: the inverse of the decode kernel.

A column comes as the raw Arrow array of its wire type (the types that a change batch has before its values are
finished) and leaves as its cells: a matrix of bytes where all cells are equally long, else a binary array, in which
NULL is no bytes at all. Layouts: MySQL source documentation, "Table_map_event: column types", and my_time.cc for the
temporal ones.

    integers       little-endian, 1, 2, 3, 4 or 8 bytes; unsigned ones are the same bits
    NEWDECIMAL     groups of nine digits in four bytes, big-endian; sign bit flipped, all bits flipped where negative
    DATETIME2      ((year * 13 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second) + 2^39 in 5 bytes
    TIME2          (hour << 12 | minute << 6 | second) + 2^23 in 3 bytes; the fraction is signed. Both big-endian
    strings        1 or 2 bytes of length by the longest value, blobs 1 to 4 by the type
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.mysql.values import zero_dates
from applier.mysql.wire_types import FORMS, Shape
from applier.writer.wire_columns import WireColumn

Cells: TypeAlias = np.ndarray | pa.BinaryArray
"""uint8 of shape (rows, width), or one binary value a row."""

_DAY = 86_400_000_000  # microseconds
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4)  # of a group with fewer than nine digits


def encode_column(values: pa.Array, column: WireColumn) -> list[Cells]:
    """The cells of one column, as parts to be joined: a length prefix and the value, or one part.

    A fixed_size_binary array is taken as cells already encoded (a zero date, a DECIMAL of more than 38 digits). Raises
    ValueError for a value that is too long for its length prefix.
    """
    valid = None if values.null_count == 0 else np.asarray(values.is_valid())
    if pa.types.is_fixed_size_binary(values.type):
        width = values.type.byte_width
        matrix = np.frombuffer(b"".join(values.fill_null(bytes(width)).to_pylist()), np.uint8).reshape(-1, width)
        return [_without_nulls(matrix, valid)]
    shape = FORMS[column.type].shape
    if shape in PREFIXES:
        return _prefixed(values, PREFIXES[shape](column.metadata), valid)
    return [_without_nulls(ENCODERS[shape](values, column), valid)]


def binary_array(lengths: np.ndarray, data: np.ndarray | pa.Buffer) -> pa.BinaryArray:
    """One binary value a row, from the lengths and the concatenated bytes of the values; ValueError from 2 GB on."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if offsets[-1] >= 1 << 31:
        raise ValueError("more than 2 GB of row images at once; encode fewer rows at a time")
    data = data if isinstance(data, pa.Buffer) else pa.py_buffer(np.ascontiguousarray(data))
    return pa.Array.from_buffers(pa.binary(), len(lengths), [None, pa.py_buffer(offsets.astype(np.int32)), data])


def packed_integers(values: np.ndarray) -> pa.BinaryArray:
    """Lengths as the protocol packs them (see `wire_columns.packed_integer`)."""
    wide = np.select([values < 251, values < 1 << 16, values < 1 << 24], [0, 2, 3], 8)
    matrix = np.empty((len(values), 9), np.uint8)
    matrix[:, 0] = np.where(wide == 0, values, np.minimum(250 + wide, 254))
    matrix[:, 1:] = little_endian(values, 8)
    return binary_array(1 + wide, matrix[np.arange(9) <= wide[:, None]])


def little_endian(values: np.ndarray, width: int) -> np.ndarray:
    """The low `width` bytes of each integer, lowest first."""
    return (
        np.ascontiguousarray(values)
        .astype("<i8" if values.dtype.kind == "i" else "<u8")
        .view(np.uint8)
        .reshape(-1, 8)[:, :width]
    )


def _big_endian(values: np.ndarray, width: int) -> np.ndarray:
    return little_endian(values, width)[:, ::-1]


def _without_nulls(matrix: np.ndarray, valid: np.ndarray | None) -> Cells:
    if valid is None:
        return matrix
    return binary_array(valid * matrix.shape[1], matrix[valid].ravel())


def _numbers(values: pa.Array) -> np.ndarray:
    """Integers as NumPy has them, 0 for NULL; dates, times and timestamps as the integers that they are stored as."""
    if not pa.types.is_integer(values.type):
        values = (
            values.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date32(values.type) else values.cast(pa.int64())
        )
    numbers: np.ndarray = values.fill_null(0).to_numpy(zero_copy_only=False)
    return numbers


def _floating(values: pa.Array, column: WireColumn) -> np.ndarray:
    width = FORMS[column.type].width
    floats = values.fill_null(0).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(floats, f"<f{width}").view(np.uint8).reshape(-1, width)


def _year(values: pa.Array, column: WireColumn) -> np.ndarray:
    years = _numbers(values).astype(np.int64)
    return little_endian(np.where(years == 0, 0, years - 1900), 1)


def _bit(values: pa.Array, column: WireColumn) -> np.ndarray:
    return _big_endian(_numbers(values), (column.metadata >> 8) + ((column.metadata & 0xFF) > 0))


def _date(values: pa.Array, column: WireColumn) -> np.ndarray:
    year, month, day = _calendar(_numbers(values))
    return little_endian(year << 9 | month << 5 | day, 3)


def _calendar(days: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Year, month and day of days since 1970-01-01, and of invalid dates (mysql.zero_dates)."""
    invalid = days < zero_dates.BEFORE_ALL_DAYS
    if invalid.any():
        found = zero_dates.parts(days), _calendar(np.where(invalid, 0, days))
        year, month, day = (np.where(invalid, *parts) for parts in zip(*found, strict=True))
        return year, month, day
    dates = days.astype("M8[D]")
    months = dates.astype("M8[M]")
    day = (dates - months.astype("M8[D]")).astype(np.int64) + 1
    month = months.astype(np.int64)
    return 1970 + month // 12, month % 12 + 1, day


def _datetime(values: pa.Array, column: WireColumn) -> np.ndarray:
    days, rest = np.divmod(_numbers(values), _DAY)
    year, month, day = _calendar(days)
    seconds, fraction = np.divmod(rest, 1_000_000)
    packed = ((year * 13 + month) << 5 | day) << 17 | _clock(seconds)
    return np.hstack([_big_endian(packed + (1 << 39), 5), _fraction(fraction, column.metadata)])


def _timestamp(values: pa.Array, column: WireColumn) -> np.ndarray:
    microseconds = _numbers(values)
    zero = microseconds < zero_dates.BEFORE_ALL_DAYS * _DAY
    seconds, fraction = np.divmod(np.where(zero, 0, microseconds), 1_000_000)
    return np.hstack([_big_endian(seconds, 4), _fraction(fraction, column.metadata)])


def _time(values: pa.Array, column: WireColumn) -> np.ndarray:
    microseconds, digits = _numbers(values), column.metadata
    sign = np.sign(microseconds)
    seconds, fraction = np.divmod(np.abs(microseconds), 1_000_000)
    if digits > 4:  # one number of six bytes
        return _big_endian(sign * (_clock(seconds) << 24 | fraction) + (1 << 47), 6)
    # the whole part is rounded down, so -0.5 s is -1 and a fraction of -0.5, kept as a complement
    whole = np.where((sign < 0) & (fraction > 0), -_clock(seconds) - 1, sign * _clock(seconds))
    return np.hstack([_big_endian(whole + (1 << 23), 3), _fraction(sign * fraction, digits)])


def _clock(seconds: np.ndarray) -> np.ndarray:
    packed: np.ndarray = seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60
    return packed


def _fraction(microseconds: np.ndarray, digits: int) -> np.ndarray:
    """1, 2 or 3 bytes for up to 2, 4 or 6 digits; cut off towards zero."""
    width = (digits + 1) // 2
    scaled = np.abs(microseconds) // 10 ** (6 - 2 * width) * np.sign(microseconds)
    return _big_endian(scaled, width)


def _decimal(values: pa.Array, column: WireColumn) -> np.ndarray:
    precision, scale = column.metadata >> 8, column.metadata & 0xFF
    values = values.cast(pa.decimal128(values.type.precision, scale)).fill_null(0)
    words = np.frombuffer(values.buffers()[1], np.int64)[2 * values.offset : 2 * (values.offset + len(values))].reshape(
        -1, 2
    )
    negative = words[:, 1] < 0
    low = np.where(negative, -words[:, 0], words[:, 0]).view(np.uint64)
    high = np.where(negative, ~words[:, 1] + (words[:, 0] == 0), words[:, 1]).view(np.uint64)
    half = np.uint64(32)
    limbs = [high >> half, high & np.uint64(0xFFFFFFFF), low >> half, low & np.uint64(0xFFFFFFFF)]
    groups = []
    for digits in _digit_groups(precision - scale, scale)[::-1]:
        limbs, rest = _divide(limbs, 10**digits)
        groups.append(_big_endian(rest, _DIGIT_BYTES[digits] if digits < 9 else 4))
    packed = np.hstack(groups[::-1])
    packed[negative] ^= 0xFF
    packed[:, 0] ^= 0x80
    return packed


def _digit_groups(whole: int, fraction: int) -> list[int]:
    """Digits of each group, left to right: the incomplete one first left of the point, and last right of it."""
    groups = [whole % 9] + [9] * (whole // 9) + [9] * (fraction // 9) + [fraction % 9]
    return [digits for digits in groups if digits]


def _divide(limbs: list[np.ndarray], divisor: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Long division of 32-bit limbs, highest first, by a number below 2^32."""
    rest, quotient = np.zeros_like(limbs[0]), []
    for limb in limbs:
        part = rest << np.uint64(32) | limb
        quotient.append(part // np.uint64(divisor))
        rest = part % np.uint64(divisor)
    return quotient, rest


def _prefixed(values: pa.Array, width: int, valid: np.ndarray | None) -> list[Cells]:
    if not pa.types.is_binary(values.type):
        values = values.cast(pa.binary())
    lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    if len(lengths) and int(lengths.max()) >> (8 * width):
        raise ValueError(f"a value of {lengths.max()} bytes does not fit a length of {width} bytes")
    return [_without_nulls(little_endian(lengths, width), valid), values.fill_null(b"")]


ENCODERS: dict[Shape, Callable[[pa.Array, WireColumn], np.ndarray]] = {
    Shape.INTEGER: lambda values, column: little_endian(_numbers(values), FORMS[column.type].width),
    Shape.FLOATING: _floating,
    Shape.DECIMAL: _decimal,
    Shape.BIT: _bit,
    Shape.YEAR: _year,
    Shape.DATE: _date,
    Shape.DATETIME: _datetime,
    Shape.TIMESTAMP: _timestamp,
    Shape.TIME: _time,
    Shape.ENUM: lambda values, column: little_endian(_numbers(values), column.metadata),
    Shape.SET: lambda values, column: little_endian(_numbers(values), column.metadata),
}
"""The cells of columns whose values are equally long, as uint8[n, width]: in the shapes that servers write today."""
PREFIXES: dict[Shape, Callable[[int], int]] = {
    Shape.STRING: lambda metadata: 2 if metadata > 255 else 1,
    Shape.BLOB: lambda metadata: metadata,
}
"""How many bytes the length before a value has, by the metadata."""
