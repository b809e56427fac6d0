"""Binary JSON to documents: encode turned round, and broken bytes, which to_text must take for broken too."""

import time

import pytest
from hypothesis import given, settings

from jsondiff.decode import decode
from jsondiff.encode import encode
from jsondiff.values import DocumentError, Opaque, Unsigned, member_order
from tests.fuzz import fuzz_documents
from tests.support.binary_json import Opaque as AnyOpaque
from tests.support.binary_json import encode as any_encode
from tests.support.examples import examples
from tests.support.json_documents import DOCUMENTS


def same(a, b) -> bool:
    """Equal and of equal types, down to the sign of zero and the order of members."""
    if isinstance(a, dict) and isinstance(b, dict):
        a, b = [*a.items()], [*b.items()]
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def in_stored_order(value):
    if isinstance(value, dict):
        return {key: in_stored_order(value[key]) for key in sorted(value, key=member_order)}
    return [in_stored_order(element) for element in value] if isinstance(value, list) else value


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(DOCUMENTS)
def test_decode_is_the_inverse_of_encode(value):
    document = encode(value)
    read = decode(document)
    assert encode(read) == document
    assert same(read, in_stored_order(value))


@pytest.mark.parametrize("large", [False, True])
def test_both_formats_and_every_type(large):
    value = {"": None, "a": [True, False, -1, 40_000, -70_000, 5 * 10**9, 1.5, -0.0], "é": {"o": [], "s": "é" * 200}}
    opaque = AnyOpaque(252, b"\0" * 130)
    read = decode(any_encode(value | {"opaque": opaque}, large))
    assert same(read.pop("opaque"), Opaque(252, b"\0" * 130))
    assert same(read, {**value, "a": [True, False, -1, Unsigned(40_000), -70_000, 5 * 10**9, 1.5, -0.0]})
    assert decode(b"") is None


@pytest.mark.parametrize(
    "document, what",
    [
        (b"\x0d\x00", "unknown value type"),
        (b"\x04\x03", "literal"),
        (b"\x04", "past the end"),
        (b"\x05\x01", "past the end"),
        (b"\x0c\x05abc", "past the end"),
        (b"\x0c\xff\xff\xff\xff\xff\x01", "past the end"),
        (b"\x0f", "past the end"),
        (b"\x0f\xfc", "past the end"),
        (b"\x02\x01", "past the end"),
        (b"\x02\x01\x00\xff\x00\x04\x00\x00", "past the end"),
        (b"\x02\xff\xff\x07\x00\x04\x00\x00", "past the end"),
        (b"\x02\x01\x00\x07\x00\x0c\xff\x7f", "past the end"),
        (b"\x02\x01\x00\x07\x00\x04\x03\x00", "literal"),
        (b"\x00\x01\x00\x0c\x00\x0b\x00\xff\x00\x04\x00\x00\x61", "past the end"),
        (b"\x00\x01\x00\x0c\x00\x0b\x00\x01\x00\x04\x00\x00\xff", "not UTF-8"),
        (b"\x00\x02\x00\x14\x00\x12\x00\x01\x00\x13\x00\x01\x00\x04\x00\x00\x04\x00\x00ba", "not in order"),
        (b"\x00\x02\x00\x13\x00\x12\x00\x01\x00\x12\x00\x01\x00\x04\x00\x00\x04\x00\x00a", "not in order"),
        (any_encode(float("inf")), "infinite"),
        (any_encode(float("nan")), "infinite"),
        (any_encode(AnyOpaque(246, b"")), "malformed"),
        (any_encode(AnyOpaque(246, b"\x05\x02\x80")), "malformed"),
        (any_encode(AnyOpaque(246, b"\x03\x00\x87\xff")), "malformed"),  # 2047 in three digits
        (any_encode(AnyOpaque(246, b"\x02\x05\x80\x00")), "malformed"),
        (any_encode(AnyOpaque(246, b"\x00\x00")), "malformed"),
        (any_encode(AnyOpaque(12, b"\x00" * 7)), "malformed"),
        (any_encode(AnyOpaque(12, b"\xff" * 8)), "malformed"),
        (any_encode(AnyOpaque(11, b"\xff" * 7 + b"\x7f")), "malformed"),
        (b"\x0c\x02\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_document_is_refused(document, what):
    with pytest.raises(DocumentError, match=what) as error:
        decode(document)
    assert error.value.errno == 3142


def test_depth_has_the_servers_limit():
    with pytest.raises(DocumentError, match="100 levels") as error:
        value = []
        for _ in range(100):
            value = [value]
        decode(any_encode(value))
    assert error.value.errno == 3157


def test_values_that_share_bytes_cannot_multiply_the_work():
    """99 arrays, each holding the next one twice, would be 2**99 values; and an array that holds itself."""
    document = b"\x00\x00\x04\x00"
    for _ in range(99):
        document = b"\x02\x00" + (10 + len(document)).to_bytes(2, "little") + 2 * b"\x02\x0a\x00" + document
    start = time.thread_time()
    for hostile in (b"\x02" + document, b"\x02\x01\x00\x07\x00\x02\x00\x00"):
        with pytest.raises(DocumentError):
            decode(hostile)
    assert time.thread_time() - start < 1


def test_the_fuzzer_names_what_broke(monkeypatch, capsys):
    assert fuzz_documents.main(3, first=7) == 0
    monkeypatch.setattr(fuzz_documents, "check", lambda document: 1 / 0)
    assert fuzz_documents.main(1, first=7) == 1
    assert f"number 7: ZeroDivisionError('division by zero') {fuzz_documents.mutant(7)!r}" in capsys.readouterr().out


def test_mutants_of_real_documents_are_read_or_refused():
    """By both readers alike; `make fuzz` takes 100,000."""
    read = sum(fuzz_documents.check(fuzz_documents.mutant(number)) for number in range(3000))
    assert 300 < read < 2700
