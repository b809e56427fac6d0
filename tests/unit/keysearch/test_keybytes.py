"""Keys as bytes: memcmp order is the order of the values, equal bytes are equal values."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keysearch.keybytes import encode_keys, int_key, int_key_capable
from tests.support.examples import examples

_INTS = {
    pa.int8(): (-(2**7), 2**7 - 1), pa.int16(): (-(2**15), 2**15 - 1), pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1), pa.uint8(): (0, 2**8 - 1), pa.uint16(): (0, 2**16 - 1),
    pa.uint32(): (0, 2**32 - 1), pa.uint64(): (0, 2**64 - 1), pa.date32(): (-700_000, 2_900_000),
    pa.timestamp("us"): (-(2**60), 2**60), pa.timestamp("us", tz="UTC"): (0, 2**60),
    pa.duration("us"): (-(2**50), 2**50),
}


def _decimals(precision, scale):
    exact = decimal.Context(prec=60)
    unscaled = st.integers(-(10**precision) + 1, 10**precision - 1)
    return unscaled.map(lambda number: decimal.Decimal(number).scaleb(-scale, exact))


def _values(type_):
    if type_ in _INTS:
        return st.integers(*_INTS[type_]) | st.sampled_from(_INTS[type_])
    if pa.types.is_decimal(type_):
        return _decimals(type_.precision, type_.scale)
    if type_ == pa.float32():
        return st.floats(allow_nan=False, width=32)
    if type_ == pa.float64():
        return st.floats(allow_nan=False)
    if type_ == pa.bool_():
        return st.booleans()
    if type_ == pa.binary(3):
        return st.binary(min_size=3, max_size=3)
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return st.text(st.sampled_from("\0\1ab\u00e9\U0001f600"), max_size=5)
    return st.lists(st.sampled_from([0, 1, 97, 254, 255]), max_size=5).map(bytes)


_TYPES = [*_INTS, pa.decimal128(5, 2), pa.decimal128(38, 10), pa.float32(), pa.float64(), pa.bool_(), pa.binary(3),
          pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


@st.composite
def _tables(draw):
    """Types, whether they may be null, and rows of a composite key."""
    types = draw(st.lists(st.sampled_from(_TYPES), min_size=1, max_size=4))
    nullable = draw(st.lists(st.booleans(), min_size=len(types), max_size=len(types)))
    cells = [st.none() | _values(t) if null else _values(t) for t, null in zip(types, nullable, strict=True)]
    return types, nullable, draw(st.lists(st.tuples(*cells), min_size=1, max_size=8))


def _column(values, type_):
    if type_ in _INTS and not pa.types.is_integer(type_):
        return pa.array(values, pa.int32() if type_ == pa.date32() else pa.int64()).cast(type_)
    return pa.array(values, type_)


def _ordered(row):
    """A row as Python compares it: NULL first, text by its UTF-8 bytes."""
    return tuple((value is not None, value.encode() if isinstance(value, str) else value) if value is not None
                 else (False,) for value in row)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(_tables(), st.integers(0, 3))
def test_byte_order_is_value_order(table, cut):
    types, nullable, rows = table
    columns = [_column([row[i] for row in rows], type_)[cut:] for i, type_ in enumerate(types)]     # Arrow offsets
    rows = rows[cut:]
    keys = encode_keys(columns, nullable)
    assert len(keys) == len(rows)
    encoded = [keys[i] for i in range(len(keys))]
    for row, key in zip(rows, encoded, strict=True):
        for other_row, other_key in zip(rows, encoded, strict=True):
            assert (_ordered(row) < _ordered(other_row)) == (key < other_key)
            assert (_ordered(row) == _ordered(other_row)) == (key == other_key)


@settings(max_examples=examples(100))
@given(st.sampled_from([*_INTS, pa.decimal128(18, 4), pa.decimal128(1, 0)]).flatmap(
    lambda t: st.tuples(st.just(t), st.lists(_values(t), max_size=8))), st.integers(0, 3))
def test_int_key_order_is_value_order(typed, cut):
    type_, values = typed
    assert int_key_capable(type_)
    keys = int_key(_column(values, type_)[cut:])
    assert keys.dtype == np.int64
    values = values[cut:]
    rows = range(len(values))
    assert sorted(rows, key=lambda row: (keys[row], row)) == sorted(rows, key=lambda row: (values[row], row))
    assert len(set(keys.tolist())) == len(set(values))


def test_int_key_is_the_value():
    assert int_key(pa.array([-(2**63), 0, 2**63 - 1])).tolist() == [-(2**63), 0, 2**63 - 1]
    assert int_key(pa.array([datetime.date(1970, 1, 2)])).tolist() == [1]
    assert int_key(pa.array([decimal.Decimal("-1.25")], pa.decimal128(18, 2))).tolist() == [-125]


def test_unsigned_bigint_as_decimal_and_as_uint64_agree():
    values = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
    as_decimal = pa.array([decimal.Decimal(v) for v in values], pa.decimal128(20, 0))
    as_uint64 = pa.array(values, pa.uint64())
    assert int_key(as_decimal).tolist() == int_key(as_uint64).tolist() == [value - 2**63 for value in values]
    assert int_key_capable(as_decimal.type, unsigned_bigint=True)
    assert not int_key_capable(as_decimal.type)                # a DECIMAL(20, 0) reaches 10**20 - 1
    for outside in (-1, 2**64):
        with pytest.raises(ValueError, match="outside"):
            int_key(pa.array([decimal.Decimal(outside)], pa.decimal128(20, 0)))


def test_what_does_not_fit_in_an_int():
    for type_ in (pa.string(), pa.float64(), pa.decimal128(19, 0), pa.bool_(), pa.binary(4)):
        assert not int_key_capable(type_)
        with pytest.raises(TypeError, match="int64"):
            int_key(pa.array([], type_))
    with pytest.raises(ValueError, match="1 NULLs"):
        int_key(pa.array([1, None]))


@pytest.mark.filterwarnings("error")
def test_what_lies_behind_a_null_is_not_computed_with():
    """Whatever bits a kernel left there, such as a signalling NaN, nothing is printed."""
    bits = pa.array([0x7FF0000000000001, 0x3FF0000000000000], pa.int64()).buffers()[1]
    keys = encode_keys([pa.Array.from_buffers(pa.float64(), 2, [pa.py_buffer(b"\2"), bits])], [True])
    assert [key.hex() for key in keys.to_arrow().to_pylist()] == ["00" + 8 * "00", "01" + "bff0000000000000"]


def test_layout():
    """The bytes themselves: they are in manifests, so they must not change."""
    columns = [pa.array([-1, 1], pa.int16()), pa.array(["a\0", None]), pa.array([1.0, -0.0]), pa.array([b"\0x", b""])]
    keys = encode_keys(columns, [False, True, False, False])
    assert keys[0].hex() == "7fff" + "01" + "6100ff0000" + "bff0000000000000" + "0078"
    assert keys[1].hex() == "8001" + "00" + "0000" + "8000000000000000" + ""
    assert keys[-1] == keys[1]
    assert keys.to_arrow().to_pylist() == [keys[0], keys[1]]
    assert encode_keys([pa.array([decimal.Decimal(-1)], pa.decimal128(20, 0))])[0].hex() == "7f" + "ff" * 15


def test_null_that_has_bytes_underneath():
    """Arrow leaves the memory of a null undefined: it must not get into the key."""
    def hidden(array):
        buffers = array.buffers()
        buffers[0] = pa.py_buffer(b"\0")
        return pa.Array.from_buffers(array.type, len(array), buffers)
    for array in (pa.array(["abc"]), pa.array([7]), pa.array([b"xyz"], pa.binary(3)), pa.array([1.5]), pa.array([True]),
                  pa.array([decimal.Decimal(3)], pa.decimal128(10, 0))):
        tail = pa.array([1], pa.int8())
        assert encode_keys([hidden(array), tail], [True, False])[0] == \
            encode_keys([pa.array([None], array.type), tail], [True, False])[0]


def test_chunked_columns_and_no_rows():
    chunked = pa.chunked_array([["b"], ["a", "c"]])
    assert [encode_keys([chunked])[i] for i in range(3)] == [b"b", b"a", b"c"]
    empty = encode_keys([pa.array([], pa.string()), pa.array([], pa.int32())])
    assert len(empty) == 0 and empty.offsets.tolist() == [0] and empty.data.size == 0
    assert int_key(pa.chunked_array([[1], [2]])).tolist() == [1, 2]


def test_refusals():
    with pytest.raises(ValueError, match="at least one"):
        encode_keys([])
    with pytest.raises(ValueError, match="NULLs"):
        encode_keys([pa.array([None, 1])])
    with pytest.raises(ValueError, match="has 1 values"):
        encode_keys([pa.array([1, 2]), pa.array([1])])
    with pytest.raises(TypeError, match="list"):
        encode_keys([pa.array([[1.0]], pa.list_(pa.float32()))])
