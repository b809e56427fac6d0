"""Documents to binary JSON: the bytes of a real server, limits and errors."""

import pytest

from jsondiff.decode import decode
from jsondiff.encode import encode
from jsondiff.values import DocumentError, Unsigned
from tests.support.json_documents import RECORDED, UPDATED_IN_PLACE


def test_a_servers_documents_come_out_byte_for_byte():
    """Every type, both formats, 15,000 doubles, DECIMALs, temporal and opaque values (see record_documents.py)."""
    assert len(RECORDED) > 400
    other = [document for document, _ in RECORDED if encode(decode(document)) != document]
    assert other == [document for document, text in RECORDED if text.startswith(UPDATED_IN_PLACE)]


@pytest.mark.parametrize("size", [65_525, 65_526, 70_000])
def test_a_container_is_large_from_65536_bytes_on(size):
    """A head of 4 bytes, an entry of 3, a length of 3."""
    document = encode(["x" * size])
    assert len(document) == 1 + (10 if size < 65_526 else 16) + size
    assert document[0] == (2 if size < 65_526 else 3)
    assert decode(document) == ["x" * size]


def test_what_is_large_makes_what_it_is_in_large_and_not_the_other_way():
    assert encode([["x" * 65_000], 1])[0] == 2
    assert [document[0] for document in (encode([["x" * 65_526]]), encode({"a": {"b": "x" * 65_526}}))] == [3, 1]
    document = encode({"a": [70_000], "x": "x" * 65_536})  # head 8, keys 2 * 6, values 2 * 5, names 2
    assert document[0] == 1 and document[1 + 20] == 2 and document[1 + 32 : 1 + 36] == b"\1\0\x0b\0"


def test_integers_take_the_fewest_bytes():
    sizes = {2**15 - 1: 2, -(2**15): 2, 2**15: 4, 2**31: 8, -(2**31): 4, -(2**63): 8, 2**63: 8}
    assert {value: len(encode(value)) - 1 for value in sizes} == sizes
    assert encode(Unsigned(7)) == b"\x06\x07\x00" and encode(7) == b"\x05\x07\x00"
    assert encode(Unsigned(65_535)) == b"\x06\xff\xff" and encode(Unsigned(65_536)) == b"\x08\0\0\1\0"
    assert encode(2**63) == encode(Unsigned(2**63)) and encode(2**63)[0] == 10


def test_the_servers_limits():
    deepest = []
    for _ in range(99):
        deepest = [deepest]
    assert decode(encode(deepest)) == deepest
    with pytest.raises(DocumentError) as too_deep:
        encode([deepest])
    assert too_deep.value.errno == 3157
    assert decode(encode({"k" * 65_535: 1})) == {"k" * 65_535: 1}
    with pytest.raises(DocumentError) as too_long:
        encode([{"k" * 65_536: 1}])
    assert too_long.value.errno == 3151


@pytest.mark.parametrize(
    "value", [float("inf"), float("nan"), 2**64, -(2**63) - 1, "\ud800", {"\udfff": 1}, Unsigned(-1)]
)
def test_what_no_document_can_hold_is_refused(value):
    with pytest.raises(DocumentError):
        encode([value])


@pytest.mark.parametrize("value", [b"bytes", (1,), {1: 2}, {None: 1}, object()])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError):
        encode([value])
