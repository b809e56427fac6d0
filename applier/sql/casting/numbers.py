"""Converts numbers to other numbers: rounded half away from zero (doubles to even), and kept in range.

Source: MySQL manual, "Precision Math" and "Out-of-Range and Overflow Handling".
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import INTEGERS, ColumnType, arrow_type
from applier.mysql.values import decimals, doubles

_WIDE = pa.decimal128(38, 0)
MILLIONTH = pa.scalar(Decimal("0.000001"), pa.decimal128(6, 6))
"""A microsecond, in seconds."""

LARGEST = math.nextafter(2.0**63, 0)
"""The largest double that a BIGINT has room for. MySQL 9.7 takes it for the largest number, instead."""


def to_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Integers, DECIMAL, FLOAT, DOUBLE, BIT or YEAR as one of these."""
    if pa.types.is_string(values.type) or pa.types.is_string(arrow_type(new)):
        raise NotComputable("a DECIMAL of more than 38 digits")
    if new.base in ("float", "double"):
        if old.base == "bit" and pa.types.is_decimal(values.type) and session.flavour == "mariadb":
            signed = pc.subtract(values, pa.scalar(Decimal(2**64), values.type))
            is_large = pc.greater_equal(values, pa.scalar(Decimal(2**63), values.type))
            values = pc.if_else(is_large, signed.cast(_WIDE), values.cast(_WIDE))
        return _to_double(values, new)
    if new.base == "decimal":
        return to_decimal(values, new)
    if new.base == "bit" and old.base == "decimal":
        limits = (0, 2**64 - 1) if session.flavour == "mariadb" else (-(2**63), 2**63 - 1)
        values = _within(decimals.rounded(values, 0).cast(_WIDE), *limits)
    return _to_integer(values, old, new, session)


def limits_of(new: ColumnType) -> tuple[int, int]:
    """Return the lowest and the highest number of an integer type, or of BIT."""
    if new.base == "bit":
        return 0, 2**(new.length or 1) - 1
    bits = INTEGERS[new.base]
    return (0, 2**bits - 1) if new.unsigned else (-(2**(bits - 1)), 2**(bits - 1) - 1)


def _to_integer(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    if pa.types.is_floating(values.type):
        values = pc.round(values.cast(pa.float64()), 0, round_mode="half_to_even")
        if session.flavour == "mysql" and old.base == "float" and pc.any(
                pc.greater_equal(pc.abs(values), 2.0**63)).as_py():
            raise NotComputable("floats beyond 9223372036854775807")
        if session.flavour == "mysql" and old.base != "float" and pc.any(pc.equal(values, LARGEST)).as_py():
            raise NotComputable("the largest double before 9223372036854775808")
        values = _within(_within(values, -(2.0**63), 2.0**63).cast(_WIDE), -(2**63), 2**63 - 1)
    elif pa.types.is_decimal(values.type):
        values = decimals.rounded(values, 0).cast(_WIDE)
    least, most = limits_of(new)
    target = arrow_type(new)
    if new.base == "bit":  # of a negative number those of its 64 bits
        wide = values.cast(pa.decimal128(30, 0))
        zero, unsigned = (pa.scalar(Decimal(number), wide.type) for number in (0, 2**64))
        values = pc.if_else(pc.less(wide, zero), pc.add(wide, unsigned).cast(_WIDE), wide.cast(_WIDE))
    if pa.types.is_integer(values.type) and pa.types.is_integer(target):
        values = values.cast(pa.int64())
        return _within(values, max(least, -(2**63)), min(most, 2**63 - 1)).cast(target)
    return _within(values.cast(_WIDE), least, most).cast(target)


def _within(values: pa.Array, least: float | Decimal, most: float | Decimal) -> pa.Array:
    low, high = (pa.scalar(Decimal(limit) if pa.types.is_decimal(values.type) else limit, values.type)
                 for limit in (least, most))
    values = pc.if_else(pc.less(values, low), low, values)
    return pc.if_else(pc.greater(values, high), high, values)


def rounded(number: Decimal, scale: int) -> Decimal:
    """Round a number to `scale` digits after the point, halves away from zero."""
    return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _DIGITS) + 0


_DIGITS = Context(prec=400)


def to_decimal(values: pa.Array, new: ColumnType) -> pa.Array:
    """Numbers as DECIMALs of no more than 38 digits."""
    precision, scale = new.precision or 10, new.scale or 0
    if pa.types.is_floating(values.type):
        values = _exact(values, scale)
    elif not pa.types.is_decimal(values.type):
        values = values.cast(_WIDE if values.type != pa.int64() else pa.decimal128(19, 0))
    most = Decimal(10**precision - 1).scaleb(-scale)
    digits = min(38, max(values.type.precision - values.type.scale, precision - scale) + 1)
    wide = decimals.rounded(values, scale).cast(pa.decimal128(min(38, digits + scale), scale))
    wide = _within(wide, Decimal(0) if new.unsigned else -most, most)
    return wide.cast(pa.decimal128(precision, scale))


def _exact(values: pa.Array, scale: int) -> pa.Array:
    """Doubles as decimals by their shortest digits, which are what the servers round."""
    values = values.cast(pa.float64())
    if pc.any(pc.greater_equal(pc.abs(values), 1e20)).as_py():
        raise NotComputable("doubles of more than 20 digits")
    if scale > 15:
        raise NotComputable("doubles as DECIMALs of more than 15 digits after the point")
    small = pc.less(pc.abs(values), 10.0**-17)
    exact = pc.if_else(small, 0.0, values).cast(pa.string()).cast(pa.decimal256(54, 34))
    return decimals.rounded(exact, scale).cast(pa.decimal128(38, scale))


def _to_double(values: pa.Array, new: ColumnType) -> pa.Array:
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())  # the nearest double; a cast from decimals goes by two roundings
    values = values.cast(pa.float64(), safe=False)  # integers to the nearest double
    if new.unsigned:
        values = pc.if_else(pc.less(values, 0.0), 0.0, values)
    most = float(np.finfo(np.float32 if new.base == "float" else np.float64).max)
    if new.scale is not None:
        made = doubles.rounded(values.to_numpy(zero_copy_only=False), new)
        values = pa.array(made, mask=values.is_null().to_numpy(zero_copy_only=False))
    return _within(values, -most, most).cast(arrow_type(new))
