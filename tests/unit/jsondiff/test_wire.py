"""The binlog's form of diffs: both ways, and broken bytes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff import wire
from jsondiff.diff import Diff, DiffError, Operation
from jsondiff.encode import encode
from jsondiff.equality import equal
from jsondiff.path import parse
from jsondiff.values import DocumentError
from tests.support.documents import diffs
from tests.support.examples import examples

REPLACE_A = b"\x00\x03$.a\x03\x05\x07\x00"
"""REPLACE $.a by 7."""


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(st.lists(diffs, max_size=5))
def test_encode_and_decode_are_inverses(column):
    data = wire.encode(column)
    read = wire.decode(data)
    assert [(diff.operation, diff.path) for diff in read] == [(diff.operation, diff.path) for diff in column]
    assert all(equal(a.value, b.value) for a, b in zip(read, column, strict=True))
    assert wire.encode(read) == data


def test_a_column_byte_for_byte():
    column = [Diff(Operation.REPLACE, parse("$.a"), 7), Diff(Operation.REMOVE, parse("$[last]"))]
    assert wire.encode(column) == REPLACE_A + b"\x02\x07$[last]"
    assert wire.decode(REPLACE_A + b"\x02\x07$[last]") == column
    assert wire.decode(b"") == [] and wire.encode([]) == b""


@pytest.mark.parametrize(
    "length, packed",
    [(0, "00"), (250, "fa"), (251, "fcfb00"), (65535, "fcffff"), (65536, "fd000001"), (2**24 - 1, "fdffffff"),
     (2**24, "fe0000000100000000"), (2**32, "fe0000000001000000")],
)  # fmt: skip
def test_lengths(length, packed):
    assert wire.packed_length(length).hex() == packed
    if length < 2**24:
        column = [Diff(Operation.INSERT, parse("$[0]"), "x" * length), Diff(Operation.REMOVE, parse("$[1]"))]
        assert wire.decode(wire.encode(column)) == column


def test_an_unknown_operation_is_not_written():
    with pytest.raises(ValueError, match="7 is not a valid Operation"):
        wire.encode([Diff(7, parse("$.a"), 1)])


def test_lengths_may_be_written_wide():
    assert wire.decode(b"\x02\xfc\x01\x00$\x02\xfd\x01\x00\x00$") == [Diff(Operation.REMOVE, parse("$"))] * 2


@pytest.mark.parametrize(
    "data, what",
    [
        (b"\x03\x01$", "operation 3"),
        (b"\xff\x01$", "operation 255"),
        (b"\x00", "length"),
        (b"\x02\x02$", "length"),
        (b"\x02\xfb$", "length"),
        (b"\x02\xff$", "length"),
        (b"\x02\xfc\x01", "length"),
        (b"\x02\xfd\x01\x00", "length"),
        (b"\x02\xfe\x01\x00\x00\x00\x00\x00\x00", "length"),
        (b"\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff$", "length"),
        (b"\x01\x01$", "length"),
        (b"\x00\x03$.a\x04\x05\x07\x00", "length"),
        (REPLACE_A[:-1], "length"),
        (REPLACE_A + b"\x00", "length"),
    ],
)
def test_bytes_that_contradict_themselves(data, what):
    """JD-SAFE1."""
    with pytest.raises(DiffError, match=what) as error:
        wire.decode(data)
    assert error.value.errno == (3649 if "operation" in what else 1610)


@pytest.mark.parametrize(
    "data, what",
    [
        (b"\x02\x00", "no path"),
        (b"\x02\x02.a", r"\.a is no path"),
        (b"\x02\x03$.*", "many places"),
        (b"\x02\x03$.\xff", r"\\xff is no path that a diff can have: not UTF-8"),
        (b"\x00\x03$.a\x02\x05\x07", r"value for \$.a is no document: .*past the end"),
        (b"\x00\x03$.a\x01\x0d", "no document"),
    ],
)
def test_parts_that_mean_nothing(data, what):
    """JD-SAFE2."""
    with pytest.raises(DiffError, match=what) as error:
        wire.decode(REPLACE_A + data)
    assert error.value.errno == 3649 and error.value.number == 2


def test_binary_documents():
    document = encode({"a": 1, "b": [True]})
    assert wire.apply(document, REPLACE_A) == encode({"a": 7, "b": [True]})
    assert wire.apply(document, b"") == document
    assert wire.apply(b"", b"") == wire.apply(None, b"") == encode(None)
    with pytest.raises(DocumentError):
        wire.apply(b"\x0d", REPLACE_A)


def test_null_takes_no_diff():
    """JD-NULL."""
    with pytest.raises(DiffError, match="NULL") as error:
        wire.apply(None, REPLACE_A)
    assert error.value.errno == 3648


def test_broken_bytes_are_read_or_refused():
    random_, refused = random.Random(4), 0
    column = REPLACE_A + b"\x02\x07$[last]" + b"\x01\x06$.b[1]" + b"\x0e" + encode({"k": ["v"]})[:14]
    for _ in range(5000):
        data = bytearray(column)
        for _ in range(random_.randrange(1, 4)):
            data[random_.randrange(len(data))] = random_.choice((0, 1, 2, 3, 36, 46, 127, 250, 252, 253, 254, 255))
        try:
            wire.decode(bytes(data[: random_.randrange(len(data)) if random_.random() < 0.2 else None]))
        except DiffError as error:
            assert error.errno in (1610, 3649)
            refused += 1
    assert 2000 < refused < 5000
