"""JSON text: what a real server made of texts good and bad, and that what is printed reads back."""

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff import binary, parser
from jsondiff.decode import decode
from jsondiff.encode import encode
from jsondiff.text import from_text, to_text
from jsondiff.values import DocumentError, Unsigned
from tests.fuzz import fuzz_documents
from tests.support.examples import examples
from tests.support.json_documents import DOCUMENTS, RECORDED, recorded

TEXTS = recorded("server_texts")
"""Texts put into a column of a MySQL 9.7 server: the binary document and what it prints, or its error."""


def read(text: str, reader=from_text) -> list:
    """What the recorded lines have of a text."""
    try:
        value = reader(text)
        return [encode(value).hex(), to_text(value)]
    except DocumentError as error:
        return [error.errno, error.what, error.offset]


def test_texts_become_what_the_server_stores_or_fail_with_its_words():
    """1,900 good ones, with 2,874 numbers around the middle of two doubles, and 1,200 bad ones."""
    errors = [line[1] for line in TEXTS if isinstance(line[1], int)]
    assert (len(TEXTS) > 3000, set(errors), len(errors) > 1000) == (True, {3140, 3151, 3157}, True)
    for text, *expected in TEXTS:
        made = read(text)
        if expected[0] in (3151, 3157):  # these have no offset, and other words
            made, expected = made[:1], expected[:1]
        assert made == expected, text


def test_the_slow_parser_reads_what_the_fast_one_reads():
    for text, *_ in TEXTS:
        assert read(text, lambda text: parser.parse(text.encode())) == read(text), text


def test_documents_print_as_the_server_prints_them():
    assert [to_text(decode(document)) for document, _ in RECORDED] == [text for _, text in RECORDED]


@pytest.mark.parametrize("hex_bytes, text", [
    ("0201000b000f0700fd020032", '["\\u00002"]'), ("0201000d000f0700fd0400610022", '["\\u0000a\\u0000\\""]'),
    ("0201000b000f0700fd0200e9", '["base64:type253:AOk="]'), ("0201000b000f07000f0261e9", '["base64:type15:Yek="]'),
])
def test_text_of_a_wide_character_set_prints_as_if_its_bytes_were_utf8(hex_bytes, text):
    """JSON_ARRAY of a column in utf16, of '2' and 'a"', as MySQL 9.7 stores and prints it. What is not UTF-8 stays as
    bytes, as those of a VARBINARY do."""
    document = bytes.fromhex(hex_bytes)
    assert to_text(decode(document)) == text
    assert binary.to_text(pa.array([document], pa.binary())).to_pylist() == [text]


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(DOCUMENTS)
def test_both_printers_agree_and_text_reads_back(value):
    text = to_text(value)
    assert binary.to_text(pa.array([encode(value)], pa.binary())).to_pylist() == [text]
    assert to_text(from_text(text)) == to_text(from_text(to_text(from_text(text))))
    assert repr(from_text(text.encode())) == repr(from_text(text)) == repr(parser.parse(text.encode()))


@settings(max_examples=examples(500))
@given(st.text(st.sampled_from('[]{}",:0123456789.-+eEtrufalsn\\ud8cÿ \n\x01')))
def test_any_text_is_read_or_refused_alike_by_both_parsers(text):
    assert read(text, lambda text: parser.parse(text.encode())) == read(text)


@settings(max_examples=examples(300))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_read_back(value):
    assert repr(from_text(to_text(value))) == repr(value)


def test_integers_have_the_servers_types():
    assert [type(from_text(str(value))) for value in (2**32 - 1, 2**32, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)] == [
        int, Unsigned, Unsigned, float, int, float
    ]  # fmt: skip


def test_documents_one_by_one_need_no_kernels():
    """Who looks at one document does not wait for Numba and Arrow."""
    program = "import jsondiff.decode, jsondiff.encode, jsondiff.equality, jsondiff.text, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "jsondiff.parser" in loaded and not {"numba", "numpy", "pyarrow"} & set(loaded)


def test_bytes_must_be_utf8():
    with pytest.raises(DocumentError) as error:
        from_text(b'{"a": "\xc3\xa9\xff"}')
    assert (error.value.offset, error.value.errno) == (9, 3140)
    with pytest.raises(DocumentError):
        from_text('"\ud800"')


def test_what_has_no_text_is_refused():
    for value in (float("inf"), float("nan"), "\ud800", {"\ud800": 1}):
        with pytest.raises(DocumentError):
            to_text([value])
    with pytest.raises(TypeError):
        to_text([b""])
    nested = []
    for _ in range(100):
        nested = [nested]
    with pytest.raises(DocumentError, match="100 levels"):
        to_text(nested)


def test_mutants_of_texts_are_read_or_refused_alike_alone_and_in_a_column():
    """`make fuzz` takes 100,000."""
    read = sum(fuzz_documents.check_text(fuzz_documents.text_mutant(number)) for number in range(3000))
    assert 300 < read < 2700


def test_hostile_texts_take_no_more_time_than_long_ones():
    zeros = "0" * 1_000_000
    for text in ("[" * 1_000_000, '{"a":' * 200_000, f"1{zeros}", f"0.{zeros}1", f"1e1{zeros}", f"1e-1{zeros}"):
        try:
            from_text(text)
        except DocumentError as error:
            assert error.errno in (3140, 3157)
