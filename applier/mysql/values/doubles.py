"""The doubles of DOUBLE(M,D): a server may store one beside the nearest to D decimals (1.6099999999999999, or what was
there before an ALTER in place), and a SELECT shows the decimals (1.61). Of images a snapshot has the nearest double;
expressions and conversions read the stored one, and what they make is stored.

Source: MySQL manual, "Floating-Point Types"; judged by MySQL 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.mysql.types import ColumnType

EXACT_POWERS_OF_TEN = 22  # 10.0**22 is the last that a double holds exactly


def as_shown(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return stored values of a FLOAT or DOUBLE as a SELECT shows them."""
    if kind.base == "float" or kind.scale is None or kind.scale > EXACT_POWERS_OF_TEN:
        return values
    numbers, power = values.to_numpy(zero_copy_only=False), 10.0**kind.scale
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * power
        rounded = np.where(np.abs(scaled) < 2.0**53, np.rint(scaled) / power, numbers)  # else all are there
        is_large = (np.abs(scaled) >= 2.0**50) & (np.abs(scaled) < 2.0**53)  # the product may be another integer
    if is_large.any():
        rounded[is_large] = np.char.mod(f"%.{kind.scale}f", numbers[is_large]).astype(np.float64)
    return pa.array(rounded, pa.float64(), mask=values.is_null().to_numpy(zero_copy_only=False))


def as_stored(values: pa.Array, kind: ColumnType) -> pa.Array:
    """Return shown values of a DOUBLE as a server stores them: the part above the next lower integer is rounded, and
    added to it. A value with more digits than the type has is what an ALTER in place left."""
    if kind.base == "float" or kind.scale is None or kind.scale > EXACT_POWERS_OF_TEN:
        return values
    numbers, power = values.to_numpy(zero_copy_only=False), 10.0**kind.scale
    shown = as_shown(values, kind).to_numpy(zero_copy_only=False)
    whole = np.floor(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        is_rounded = (numbers == shown) & (np.abs(numbers * power) < 2.0**53)  # else all digits are there
        stored = np.where(is_rounded, whole + np.rint((numbers - whole) * power) / power, numbers)
    return pa.array(stored, pa.float64(), mask=values.is_null().to_numpy(zero_copy_only=False))
