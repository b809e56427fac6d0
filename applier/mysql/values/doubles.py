"""The digits of FLOAT(M,D) and DOUBLE(M,D). A server may store a double beside the nearest to D decimals
(1.6099999999999999, or what was there before an ALTER in place), and a SELECT shows the decimals (1.61). Images are
read, and rows written, as a SELECT shows them; expressions and conversions read the stored double, and make it.

Source: MySQL manual, "Floating-Point Types"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.mysql.types import ColumnType

EXACT_POWERS_OF_TEN = 22  # 10.0**22 is the last that a double holds exactly


def rounded(numbers: np.ndarray, kind: ColumnType) -> np.ndarray:
    """Return doubles as FLOAT(M,D) or DOUBLE(M,D) stores them; what is too large becomes the largest of the type."""
    most = largest(kind)
    made: np.ndarray = np.clip(with_digits(numbers, kind.scale or 0), -most, most)
    return made


def with_digits(numbers: np.ndarray, scale: int) -> np.ndarray:
    """Round doubles as a server does it: the part above the next lower integer, halves to even. 2.675, which is a
    little less, becomes 2.67."""
    unit, whole = float(f"1e{scale}"), np.floor(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        made: np.ndarray = np.where(np.isfinite(numbers), whole + np.rint((numbers - whole) * unit) / unit, numbers)
    return made


def largest(kind: ColumnType) -> float:
    """Return the largest number that a FLOAT(M,D) or DOUBLE(M,D) stores."""
    return float(f"1e{(kind.precision or 0) - (kind.scale or 0)}") - 1.0 / _power(kind)


def _power(kind: ColumnType) -> float:
    return float(f"1e{kind.scale or 0}")


def as_shown(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return stored values of a FLOAT or DOUBLE as a SELECT shows them."""
    if not has_two_forms(kind):
        return values
    numbers, power = values.to_numpy(zero_copy_only=False), _power(kind)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * power
        shown = np.where(np.abs(scaled) < 2.0**53, np.rint(scaled) / power, numbers)  # else all are there
        is_near = np.abs(np.abs(scaled - np.rint(scaled)) - 0.5) <= np.spacing(np.abs(scaled))  # a half, or beside it
        is_near &= np.abs(scaled) < 2.0**53
    if is_near.any():
        shown[is_near] = np.char.mod(f"%.{kind.scale}f", numbers[is_near]).astype(np.float64)
    return pa.array(shown, pa.float64(), mask=values.is_null().to_numpy(zero_copy_only=False))


def as_stored(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return a column's values of a FLOAT or DOUBLE as a server stores them. A value with more digits than the type has
    is what an ALTER in place left."""
    if not has_two_forms(kind):
        return values
    numbers, power = values.to_numpy(zero_copy_only=False), _power(kind)
    shown = as_shown(values, kind).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore", invalid="ignore"):
        is_rounded = (numbers == shown) & (np.abs(numbers * power) < 2.0**53)  # else all digits are there
    stored = np.where(is_rounded, with_digits(numbers, kind.scale or 0), numbers)
    return pa.array(stored, pa.float64(), mask=values.is_null().to_numpy(zero_copy_only=False))


def has_two_forms(kind: ColumnType) -> bool:
    """True if a SELECT may show another double than the stored one."""
    return kind.base == "double" and kind.scale is not None and kind.scale <= EXACT_POWERS_OF_TEN
