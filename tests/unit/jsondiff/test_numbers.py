"""Doubles against Python's own shortest digits; the layout against what a server prints is in test_binary.py.

What is called here is compiled for this file alone, a few seconds each time: kernels have it inlined."""

import struct
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff.kernels.numbers import MAX_NUMBER_TEXT, put_double, put_signed, put_unsigned, shortest_decimal
from keysearch.addresses import address_of
from tests.support.examples import examples

pytestmark = pytest.mark.slow


def double_text(value: float) -> str:
    out = np.zeros(MAX_NUMBER_TEXT, np.uint8)
    bits = np.uint64(struct.unpack("<Q", struct.pack("<d", value))[0])
    return bytes(out[: put_double(address_of(out), bits) - address_of(out)]).decode()


@settings(max_examples=examples(1000))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_have_the_shortest_digits(value):
    text = double_text(value)
    sign, digits, _ = Decimal(text).normalize().as_tuple()
    assert (sign, digits) == Decimal(repr(value)).normalize().as_tuple()[:2]
    assert Decimal(text) == Decimal(repr(value))


def test_every_power_of_two_and_its_neighbours():
    """Powers of two have a rounding interval that is narrower below than above."""
    for exponent in range(2047):
        for bits in (exponent << 52, (exponent << 52) + 1, (exponent << 52) | (2**52 - 1)):
            value = struct.unpack("<d", struct.pack("<Q", bits))[0]
            digits, power = shortest_decimal(np.uint64(bits))
            assert Decimal(int(digits)).scaleb(int(power)) == Decimal(repr(value))


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (-1.5, "-1.5"), (1e14, "100000000000000.0"), (1e15, "1e15"),
        (123456789012345.0, "123456789012345.0"), (1234567890123456.0, "1.234567890123456e15"),
        (1234567890123456.5, "1234567890123456.5"), (1e-15, "0.000000000000001"), (1e-16, "1e-16"), (1e100, "1e100"),
        (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e308"), (-1.2345e-20, "-1.2345e-20"),
    ],
)  # fmt: skip
def test_layout_of_doubles(value, text):
    assert double_text(value) == text


@settings(max_examples=examples(200))
@given(st.integers(-(2**63), 2**63 - 1))
def test_integers(value):
    out = np.zeros(MAX_NUMBER_TEXT, np.uint8)
    at = address_of(out)
    assert bytes(out[: put_signed(at, np.int64(value)) - at]).decode() == str(value)
    unsigned = value % 2**64
    assert bytes(out[: put_unsigned(at, np.uint64(unsigned)) - at]).decode() == str(unsigned)
