"""Decimals with fewer digits behind the point, over whole columns.

Arrow 26 divides some decimals wrongly by powers of ten beyond 10**9: 4294967295.9 with 18 digits behind the point
rounds to 4294967295. So no step here removes more than nine digits at once.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

_MOST_REMOVED = 9


def truncated(values: pa.Array, scale: int) -> pa.Array:
    """Decimals with no more than `scale` digits behind the point, towards zero."""
    return _without_digits(values, scale, "towards_zero")


def rounded(values: pa.Array, scale: int) -> pa.Array:
    """Decimals with no more than `scale` digits behind the point, halves away from zero."""
    if values.type.scale <= scale:
        return values
    wide = values.cast(_type(values, values.type.scale))  # 9.99 has no room to become 10.0
    return _without_digits(truncated(wide, scale + 1), scale, "half_towards_infinity")


def has_fraction(values: pa.Array) -> pa.Array:
    """Which decimals are not whole."""
    return pc.not_equal(_as(truncated(values, 0), values), values)


def floor(values: pa.Array) -> pa.Array:
    """The largest whole numbers that are not larger."""
    if values.type.scale == 0:
        return values
    whole = truncated(values, 0)
    return pc.if_else(pc.greater(_as(whole, values), values), _moved(whole, pc.subtract), whole)


def ceil(values: pa.Array) -> pa.Array:
    """The smallest whole numbers that are not smaller."""
    if values.type.scale == 0:
        return values
    whole = truncated(values, 0)
    return pc.if_else(pc.less(_as(whole, values), values), _moved(whole, pc.add), whole)


def _as(whole: pa.Array, values: pa.Array) -> pa.Array:
    return whole.cast(_type(values, values.type.scale))


def _moved(whole: pa.Array, function: Callable[..., pa.Array]) -> pa.Array:
    """Whole numbers plus or minus one; those that had a digit behind the point have no more than 37 before it."""
    return function(whole.cast(pa.decimal128(37, 0)), pa.scalar(Decimal(1), pa.decimal128(1, 0)))


def _without_digits(values: pa.Array, scale: int, mode: str) -> pa.Array:
    while values.type.scale > scale:
        digits = min(_MOST_REMOVED, values.type.scale - scale)
        left = values.type.scale - digits
        values = pc.round(values, left, round_mode=mode).cast(_type(values, left))
    return values


def _type(values: pa.Array, scale: int) -> pa.DataType:
    """The widest type of decimals of the same memory."""
    return pa.decimal256(76, scale) if pa.types.is_decimal256(values.type) else pa.decimal128(38, scale)
