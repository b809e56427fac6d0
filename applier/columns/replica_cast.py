"""Converts a column of the log to another type as a replica does (AP-POS, replica_type_conversions).

Values are read by the log's type and stored as an INSERT outside of strict mode would (MySQL manual, "Out-of-Range and
Overflow Handling"): numbers stay in the column's range, decimals are rounded half away from zero, text is cut to the
characters that fit, ENUM and SET are converted by number. Character sets are not converted: the bytes are taken to be
in the column's own.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.mysql.types import BINARY, INTEGERS, ColumnType, arrow_type
from applier.mysql.value_sizes import most_bytes
from applier.mysql.values import decimals, doubles
from applier.mysql.values.byte_columns import beside, fixed_bytes, value_bytes
from applier.mysql.values.value_texts import exact_texts
from applier.mysql.wire_types import WireType

_MOST_DIGITS = 76  # of an Arrow decimal of 256 bits
_LARGEST_FLOAT = float(np.finfo(np.float32).max)
_NUMBER_PARTS = r"^(?P<sign>-?)(?P<before>\d+)(?:\.(?P<after>\d+))?(?:e\+?(?P<power>-?\d+))?$"


def convert_integers(raw: pa.Array, kind: ColumnType, wire_type: int) -> pa.Array:
    """Return integers as another integer type; an unsigned Arrow type is read as unsigned."""
    if wire_type == WireType.INT24 and pa.types.is_unsigned_integer(raw.type):
        raw = pc.bit_wise_and(raw, pa.scalar(0xFFFFFF, raw.type))
    bits = INTEGERS[kind.base]
    least, most = (0, (1 << bits) - 1) if kind.unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    target = arrow_type(kind)
    if raw.type == pa.uint64():
        return pc.min_element_wise(raw, pa.scalar(most, pa.uint64()), skip_nulls=False).cast(target)
    clipped = raw.cast(pa.int64())
    if least > -(1 << 63):
        clipped = pc.max_element_wise(clipped, pa.scalar(least, pa.int64()), skip_nulls=False)
    if most < (1 << 63) - 1:
        clipped = pc.min_element_wise(clipped, pa.scalar(most, pa.int64()), skip_nulls=False)
    return clipped.cast(pa.decimal128(20, 0)) if pa.types.is_decimal(target) else clipped.cast(target)


def convert_numbers(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return DECIMAL, FLOAT or DOUBLE as another of these."""
    if kind.base == "decimal":
        return _as_decimal(values, kind)
    if not pa.types.is_floating(values.type):
        values = values.cast(pa.string())  # the nearest double is that of the digits; a cast from decimals rounds twice
    return _as_real(values.cast(pa.float64()), kind)


def _as_real(values: pa.Array, kind: ColumnType) -> pa.Array:
    numbers = values.fill_null(0.0).to_numpy(zero_copy_only=False)
    most = _LARGEST_FLOAT if kind.base == "float" else np.finfo(np.float64).max
    if kind.scale is not None:
        numbers = doubles.rounded(numbers, kind)
    numbers = np.clip(numbers, 0.0 if kind.unsigned else -most, most)
    return pa.array(numbers.astype(np.float32 if kind.base == "float" else np.float64),
                    mask=values.is_null().to_numpy(zero_copy_only=False))


def _as_decimal(values: pa.Array, kind: ColumnType) -> pa.Array:
    precision, scale = kind.precision or 10, kind.scale or 0
    if pa.types.is_floating(values.type):
        exact = _shortest_digits(values, precision - scale, scale + 1)
    else:
        exact = values.cast(pa.decimal256(_MOST_DIGITS, values.type.scale))
    if exact.type.scale > scale:
        exact = decimals.rounded(exact, scale)
    room = pa.scalar(Decimal(10**(precision - scale)), exact.type)
    low = pc.less(exact, 0) if kind.unsigned else pc.less_equal(exact, pc.negate(room))
    high = pc.greater_equal(exact, room)
    fitting = pc.if_else(pc.or_(low, high), pa.scalar(Decimal(0), exact.type), exact)
    most = Decimal(f"{10**precision - 1}E-{scale}")
    least = Decimal(0) if kind.unsigned else most.copy_negate()  # a minus would round to 28 digits
    own = pa.decimal256(precision, scale)
    fitting = pc.if_else(low, pa.scalar(least, own), fitting.cast(own))
    fitting = pc.if_else(high, pa.scalar(most, own), fitting)
    return fitting.cast(arrow_type(kind)) if pa.types.is_decimal(arrow_type(kind)) else exact_texts(fitting)


def _shortest_digits(values: pa.Array, whole: int, scale: int) -> pa.Array:
    """Return doubles by their shortest distinct digits, which the servers use: as decimals, cut off after `scale`
    digits and kept in ±10**whole."""
    limit = 10.0**whole
    doubles = np.clip(values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), -limit, limit)
    parts = pc.extract_regex(pa.array(doubles).cast(pa.string()), _NUMBER_PARTS)
    sign, before, after, power = (parts.field(name) for name in ("sign", "before", "after", "power"))
    power = pc.if_else(pc.equal(power, ""), "0", power).cast(pa.int64())
    digits = pc.binary_join_element_wise(before, after, "").cast(pa.int64())
    shift = np.asarray(power) - np.asarray(pc.utf8_length(after)) + scale
    digits = np.asarray(digits) // 10**np.clip(-shift, 0, 18)
    zeros = pc.binary_repeat("0", pa.array(np.where(digits, np.maximum(shift, 0), 0)))
    text = pc.binary_join_element_wise(sign, pa.array(digits).cast(pa.string()), zeros, "")
    exact = text.cast(pa.decimal256(_MOST_DIGITS, 0)).view(pa.decimal256(_MOST_DIGITS, scale))
    return pc.if_else(values.is_valid(), exact, pa.scalar(None, exact.type))


def fitting_bits(raw: pa.Array, kind: ColumnType) -> pa.Array:
    """Return BIT values, uint64, as those of a shorter or longer BIT."""
    return pc.min_element_wise(raw, pa.scalar((1 << (kind.length or 1)) - 1, pa.uint64()), skip_nulls=False)


def fitting_bytes(raw: pa.Array, kind: ColumnType, wire_type: int, metadata: int) -> pa.Array:
    """Return bytes of a CHAR, VARCHAR, TEXT, BINARY, VARBINARY or BLOB column as a binary type of another length, or
    the part of them that fits a TEXT type."""
    if wire_type == WireType.STRING and kind.base in BINARY:
        padded = fixed_bytes(raw, metadata)  # the log leaves out zero bytes at the end of a BINARY's
        raw = beside(raw, pa.binary(), np.arange(len(raw) + 1, dtype=np.int64) * metadata, padded.ravel())
    if kind.base in ("char", "varchar"):
        return raw
    most = most_bytes(kind)
    offsets, _ = value_bytes(raw)
    return pc.binary_slice(raw, 0, most) if len(raw) and np.diff(offsets).max() > most else raw


def fitting_text(text: pa.Array, kind: ColumnType, wire_type: int) -> pa.Array:
    """Return the part of text that fits a CHAR or VARCHAR column, without trailing spaces for a CHAR."""
    if wire_type == WireType.STRING:
        text = pc.utf8_rtrim(text, " ")
    if kind.base in ("char", "varchar"):
        cut = pc.utf8_slice_codeunits(text, 0, 1 if kind.length is None else kind.length)
        if kind.compressed:  # MariaDB lets these have more characters where their bytes have room
            cut = pc.if_else(pc.greater(pc.binary_length(text), most_bytes(kind)), cut, text)
        text = cut
    return pc.utf8_rtrim(text, " ") if kind.base == "char" else text


def fitting_datetimes(raw: pa.Array, kind: ColumnType) -> pa.Array:
    """Return datetimes with no more fractional digits than the column has, cut off; a DATE becomes midnight, a DATETIME
    its day."""
    target = arrow_type(kind)
    if pa.types.is_date(raw.type) or pa.types.is_date(target):
        return raw.cast(target, safe=False)
    unit = 10**(6 - kind.fsp)
    numbers = np.asarray(raw.cast(pa.int64()).fill_null(0))
    cut = np.sign(numbers) * (np.abs(numbers) // unit * unit) if kind.base == "time" else numbers // unit * unit
    return pa.array(cut, mask=raw.is_null().to_numpy(zero_copy_only=False)).cast(raw.type)
