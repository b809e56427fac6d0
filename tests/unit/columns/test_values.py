"""Finishing columns: signedness, labels, padding and text by the table's definition."""

import decimal
import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.columns.values import finish_column
from applier.errors import ArchiveError
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values.byte_columns import beside, fixed_bytes, validity, value_bytes
from applier.mysql.wire_types import WireType
from applier.schema.table_parts import Column
from tests.support.examples import examples


def finish(raw, wire_type, metadata=0, **kind):
    column = Column("c", ColumnType(**kind))
    finished = finish_column(raw, column, wire_type, metadata, "mysql")
    finished.validate(full=True)
    assert finished.type == arrow_type(column.type)
    assert len(finished) == len(raw) and finished.is_null().equals(raw.is_null())
    return finished.to_pylist()


@pytest.mark.parametrize("base, wire_type, raw, bits", [
    ("tinyint", WireType.TINY, pa.int8(), 8), ("smallint", WireType.SHORT, pa.int16(), 16),
    ("mediumint", WireType.INT24, pa.int32(), 24), ("int", WireType.LONG, pa.int32(), 32),
    ("bigint", WireType.LONGLONG, pa.int64(), 64)])
def test_the_same_bits_signed_and_unsigned(base, wire_type, raw, bits):
    values = pa.array([-1, 0, None, -(1 << bits - 1), (1 << bits - 1) - 1], raw)
    assert finish(values, wire_type, base=base) == values.to_pylist()
    assert finish(values, wire_type, base=base, unsigned=True) == [
        (1 << bits) - 1, 0, None, 1 << bits - 1, (1 << bits - 1) - 1]


def test_numbers_of_the_snapshot_are_not_copied():
    raw = pa.array([1, None, 3], pa.int64())
    finished = finish_column(raw, Column("c", ColumnType("bigint")), WireType.LONGLONG, 0, "mysql")
    assert finished.buffers()[1].address == raw.buffers()[1].address


def test_bits():
    raw = pa.array([0, 5, None, 2**63 - 1], pa.uint64())
    assert finish(raw, WireType.BIT, base="bit", length=63) == [0, 5, None, 2**63 - 1]
    assert finish(pa.array([2**64 - 1, None], pa.uint64()), WireType.BIT, base="bit", length=64) == [2**64 - 1, None]


def packed(value: decimal.Decimal, precision: int, scale: int) -> bytes:
    """A DECIMAL as decimal.cc writes it (decimal2bin), spelled out digit by digit."""
    digits = format(abs(value).scaleb(scale).to_integral_value(), "f").zfill(precision)
    whole, part = digits[:precision - scale], digits[precision - scale:]
    groups = ([whole[:len(whole) % 9]] if len(whole) % 9 else [])
    groups += [whole[at:at + 9] for at in range(len(whole) % 9, len(whole), 9)]
    groups += [part[at:at + 9] for at in range(0, len(part), 9)]
    data = bytearray(b"".join(int(group).to_bytes((0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[len(group)]) for group in groups))
    if value < 0:
        data = bytearray(byte ^ 0xFF for byte in data)
    data[0] ^= 0x80
    return bytes(data)


@settings(max_examples=examples(100))
@given(st.data())
def test_wide_decimals_are_text_with_all_their_digits(data):
    precision = data.draw(st.integers(39, 65))
    scale = data.draw(st.integers(0, 38))
    limit = 10**precision - 1
    numbers = data.draw(st.lists(st.none() | st.integers(-limit, limit) | st.integers(-9, 9), min_size=1, max_size=6))
    with decimal.localcontext(prec=70):
        values = [None if n is None else decimal.Decimal(n).scaleb(-scale) for n in numbers]
        width = len(packed(decimal.Decimal(0), precision, scale))
        raw = pa.array([None if v is None else packed(v, precision, scale) for v in values], pa.binary(width))
        texts = finish(raw, WireType.NEWDECIMAL, precision << 8 | scale,
                       base="decimal", precision=precision, scale=scale)
        assert texts == [None if v is None else format(v, "f") for v in values]


def test_a_damaged_decimal_names_its_row_and_column():
    raw = pa.array([packed(decimal.Decimal(1), 39, 0), b"\x80" + b"\xff" * 17], pa.binary(18))
    with pytest.raises(ArchiveError, match="column c: row 1 is not a DECIMAL") as error:
        finish(raw, WireType.NEWDECIMAL, 39 << 8, base="decimal", precision=39, scale=0)
    assert error.value.mysql_errno == 1610


def test_enum_by_label():
    """Number 0 is an invalid value, which a server shows as an empty string; so it does a number past the labels."""
    raw = pa.array([1, 3, 0, None, 4, 65535], pa.uint16())
    assert finish(raw, WireType.ENUM, 1, base="enum", members=("a", "b,é", ""), charset="latin1") == [
        "a", "", "", None, "", ""]
    assert finish(raw, WireType.ENUM, 1, base="enum", members=tuple("abcd")) == ["a", "c", "", None, "d", ""]


@settings(max_examples=examples(60))
@given(st.integers(1, 64), st.lists(st.none() | st.integers(0, 2**64 - 1), max_size=6))
def test_sets_by_label(count, numbers):
    members = tuple(f"é{n}" for n in range(count))
    assert finish(pa.array(numbers, pa.uint64()), WireType.SET, 8, base="set", members=members) == [
        None if number is None else ",".join(member for bit, member in enumerate(members) if number >> bit & 1)
        for number in numbers]


def test_set_with_an_empty_label():
    assert finish(pa.array([0, 1, 2, 3], pa.uint64()), WireType.SET, 1, base="set", members=("", "x")) == [
        "", "", "x", ",x"]


def test_text_by_the_columns_character_set():
    raw = pa.array([b"caf\xe9 \x80", None, b""], pa.binary())
    for base, wire_type in (("char", WireType.STRING), ("varchar", WireType.VARCHAR)):
        assert finish(raw, wire_type, 6, base=base, length=6, charset="latin1") == ["café €", None, ""]
    assert finish(raw, WireType.BLOB, 2, base="text", charset="latin1") == ["café €", None, ""]


@settings(max_examples=examples(60))
@given(st.integers(0, 20), st.data())
def test_binary_is_padded_with_zeros(width, data):
    values = data.draw(st.lists(st.none() | st.binary(max_size=width), max_size=8))
    raw = pa.array(values, pa.binary())
    assert finish(raw, WireType.STRING, width, base="binary", length=width) == [
        None if value is None else value.ljust(width, b"\0") for value in values]
    assert finish(raw, WireType.VARCHAR, width, base="varbinary", length=width) == values


def test_binary_longer_than_its_column():
    with pytest.raises(ArchiveError, match="3 bytes where 2"):
        finish(pa.array([b"abc"], pa.binary()), WireType.STRING, 2, base="binary", length=2)


def test_json_of_mysql_is_binary_and_of_mariadb_text():
    assert finish(pa.array([b"\x04\x01", None], pa.binary()), WireType.JSON, 4, base="json") == ["true", None]
    assert finish(pa.array([b'{"a":  1}', None], pa.binary()), WireType.BLOB, 4, base="json") == ['{"a":  1}', None]
    with pytest.raises(ArchiveError, match="column c: row 1"):
        finish(pa.array([b"\x04\x01", b"\xee"], pa.binary()), WireType.JSON, 4, base="json")


def test_vectors():
    raw = pa.array([np.array([1.5, -2], "<f4").tobytes(), None, b""], pa.binary())
    assert finish(raw, WireType.VECTOR, 4, base="vector", length=2) == [[1.5, -2.0], None, []]
    assert finish(raw[1:], WireType.VECTOR, 4, base="vector", length=2) == [None, []]
    with pytest.raises(ArchiveError, match="VECTOR"):
        finish(pa.array([b"123"], pa.binary()), WireType.VECTOR, 4, base="vector", length=2)


def test_double_with_decimals_shows_them_only():
    """What the image has is -9.999999999998899e-05: the server's own rounding when the value came in."""
    raw = pa.array([-9.999999999998899e-05, 99999999.9999, None, 1.7e308, -0.0, 5e-324])
    finished = finish(raw, WireType.DOUBLE, 8, base="double", precision=12, scale=4)
    assert finished == [-0.0001, 99999999.9999, None, 1.7e308, 0.0, 0.0]
    assert math.copysign(1, finished[4]) == -1
    assert finish(raw, WireType.DOUBLE, 8, base="double") == raw.to_pylist()


@settings(max_examples=examples(60))
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_double_with_decimals_reads_as_its_text(value, scale):
    rounded = finish(pa.array([value]), WireType.DOUBLE, 8, base="double", precision=255, scale=scale)[0]
    assert abs(rounded - float(f"{value:.{scale}f}")) <= 10.0**-scale * 1.0001  # the same except for ties
    assert rounded == float(f"{rounded:.{scale}f}")


def test_temporal_values_are_what_the_kernel_makes_of_them():
    for kind, wire_type, value in (("date", WireType.DATE, pa.array([0, None], pa.date32())),
                                   ("datetime", WireType.DATETIME2, pa.array([1, None], pa.timestamp("us"))),
                                   ("timestamp", WireType.TIMESTAMP2, pa.array([1, None], pa.timestamp("us", "UTC"))),
                                   ("time", WireType.TIME2, pa.array([-1, None], pa.duration("us"))),
                                   ("year", WireType.YEAR, pa.array([0, 2155], pa.int16()))):
        assert finish(value, wire_type, base=kind) == value.to_pylist()


_KINDS = [("binary", WireType.STRING), ("char", WireType.STRING), ("longtext", WireType.BLOB_COMPRESSED),
          ("blob", WireType.BLOB_COMPRESSED), ("json", WireType.JSON), ("vector", WireType.VECTOR),
          ("inet6", WireType.STRING), ("inet4", WireType.STRING), ("uuid", WireType.STRING),
          ("geometry", WireType.BLOB)]


@settings(max_examples=examples(150))
@given(st.sampled_from(_KINDS), st.lists(st.none() | st.binary(max_size=30), max_size=5))
def test_any_bytes_give_values_or_one_kind_of_error(kind, values):
    base, wire_type = kind
    try:
        finish(pa.array(values, pa.binary()), wire_type, 4, base=base, length=20, charset="utf8mb4")
    except ArchiveError as error:
        assert error.mysql_errno == 1610 and error.message.startswith("column c: ")


@settings(max_examples=examples(60))
@given(st.lists(st.none() | st.binary(max_size=12), max_size=20), st.integers(0, 12), st.integers(0, 12))
def test_bytes_of_slices(values, skip, keep):
    whole = pa.array(values, pa.binary())
    part = whole.slice(min(skip, len(values)), keep)
    offsets, data = value_bytes(part)
    assert [data[a:b].tobytes() for a, b in itertools.pairwise(offsets)] == [
        value or b"" for value in part.to_pylist()]
    assert beside(part, pa.binary(), offsets, data).to_pylist() == part.to_pylist()
    assert [row.tobytes() for row in fixed_bytes(part, 12)] == [(v or b"").ljust(12, b"\0") for v in part.to_pylist()]
    assert (validity(part) is None) == (part.null_count == 0)
