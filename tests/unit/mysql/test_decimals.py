"""Decimals with fewer digits, judged by Python's."""

import decimal

import pyarrow as pa
import pytest

from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values import decimals
from applier.sql.casting.values import convert_values
from applier.sql.values import TEXT

EXACT = decimal.Context(prec=100)
FRACTIONS = [decimal.Decimal(fraction) for fraction in ("0", "0.1", "0.4", "0.5", "0.9")]


def numbers(scale):
    """Numbers around the powers of 2 and 10, where a division in parts may go wrong."""
    whole = {base**power + more for base, powers in ((2, range(1, 126)), (10, range(37))) for power in powers
             for more in (-2, -1, 0, 1)}
    found = [EXACT.add(decimal.Decimal(number), fraction) for number in sorted(whole) for fraction in FRACTIONS]
    fitting = [number for number in found if number.scaleb(scale, EXACT) < 10**38]
    return fitting + [EXACT.minus(number) for number in fitting] + [None]


@pytest.mark.parametrize("scale", [1, 4, 9, 10, 14, 17, 18, 20, 24, 27, 28, 30])
@pytest.mark.parametrize(("function", "mode"), [
    (lambda values: decimals.rounded(values, 0), decimal.ROUND_HALF_UP),
    (lambda values: decimals.truncated(values, 0), decimal.ROUND_DOWN),
    (decimals.floor, decimal.ROUND_FLOOR), (decimals.ceil, decimal.ROUND_CEILING)])
def test_whole_numbers(scale, function, mode):
    given = numbers(scale)
    made = function(pa.array(given, pa.decimal128(38, scale)))
    assert made.type.scale == 0
    assert made.to_pylist() == [None if number is None else number.quantize(decimal.Decimal(1), mode, EXACT)
                                for number in given]


def test_some_digits_are_left():
    given = pa.array([decimal.Decimal("4294967295.99999999945"), decimal.Decimal("-0.05")], pa.decimal128(38, 25))
    assert decimals.rounded(given, 10).cast(pa.string()).to_pylist() == ["4294967295.9999999995", "-0.0500000000"]
    assert decimals.truncated(given, 10).cast(pa.string()).to_pylist() == ["4294967295.9999999994", "-0.0500000000"]
    assert decimals.rounded(given, 30) is given


def test_the_largest_number_of_text():
    texts = pa.array(["18446744073709551615", "18446744073709551614.5", "4294967295.9"])
    made = convert_values(texts, TEXT, ColumnType("bigint", unsigned=True), Session("mysql"))
    assert made.to_pylist() == [2**64 - 1, 2**64 - 1, 2**32]
