"""Binary JSON against what a MySQL 9.7 server printed for the same bytes, an encoder, and broken bytes."""

import gzip
import json
import pathlib
import pickle
import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff.binary import JsonError, to_text
from tests.support.binary_json import Opaque, encode
from tests.support.examples import examples

RECORDED = [
    (bytes.fromhex(document), text)
    for document, text in map(json.loads, gzip.open(pathlib.Path(__file__).parent / "server_documents.jsonl.gz"))
]


def one(document: bytes) -> str:
    return to_text(pa.array([document], pa.binary()))[0].as_py()


def test_documents_print_as_the_server_prints_them():
    """Every type, both formats, 15,000 doubles, DECIMALs, temporal and opaque values (see record_documents.py)."""
    texts = to_text(pa.array([document for document, _ in RECORDED], pa.binary())).to_pylist()
    assert len(texts) > 400
    for (document, expected), text in zip(RECORDED, texts):
        assert text == expected, document.hex()


def test_a_column_keeps_nulls_slices_and_empty_values():
    column = pa.array([b"\x04\x01", None, b"", b"\x05\xff\xff", None], pa.binary())
    assert to_text(column).to_pylist() == ["true", None, "null", "-1", None]
    assert to_text(column[1:4]).to_pylist() == [None, "null", "-1"]
    assert to_text(column.cast(pa.large_binary())).to_pylist() == ["true", None, "null", "-1", None]
    assert to_text(pa.array([], pa.binary())).to_pylist() == []
    assert to_text(pa.array([None, None], pa.binary())).to_pylist() == [None, None]
    assert to_text(column).type == pa.string()


def test_text_that_outgrows_the_first_guess_is_complete():
    """Control characters take six times their bytes."""
    documents = [encode("\x01" * n) for n in (5000, 0, 70_000, 1)]
    assert to_text(pa.array(documents, pa.binary())).to_pylist() == [
        '"' + "\\u0001" * n + '"' for n in (5000, 0, 70_000, 1)
    ]


@pytest.mark.parametrize("special", ['"', "\\", "\n", "\x1f", "é", "\x7f"])
def test_what_strings_escape_is_found_anywhere(special):
    """At each place of strings up to three times as long as what is looked at at once, alone and before other bytes."""
    texts = ["a" * before + special + "b" * behind for before in range(70) for behind in (0, 1, 30, 31, 32, 33, 64)]
    expected = [json.dumps(text, ensure_ascii=False) for text in texts]
    documents = [encode(text) for text in texts]
    assert [one(document) for document in documents] == expected
    assert to_text(pa.array(documents, pa.binary())).to_pylist() == expected


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=30,
)


def same(value, read) -> bool:
    """Equal and of equal types, down to the sign of zero; members in stored order."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return list(read) == keys and all(same(value[key], read[key]) for key in keys)
    if isinstance(value, list):
        return len(value) == len(read) and all(map(same, value, read))
    return type(value) is type(read) and repr(value) == repr(read)


@settings(max_examples=examples(300))
@given(json_values, st.booleans())
def test_any_value_reads_back_from_its_text(value, large):
    assert same(value, json.loads(one(encode(value, large))))


def test_depth_has_the_servers_limit():
    deepest, too_deep = [], [[]]
    for _ in range(99):
        deepest, too_deep = [deepest], [too_deep]
    assert one(encode(deepest)) == "[" * 100 + "]" * 100
    with pytest.raises(JsonError, match="100 levels"):
        one(encode(too_deep))


@pytest.mark.parametrize(
    "document, what",
    [
        (b"\x0d\x00", "unknown value type"),
        (b"\x04\x03", "literal"),
        (b"\x05\x01", "past the end"),
        (b"\x0c\x05abc", "past the end"),
        (b"\x0c\xff\xff\xff\xff\xff\x01", "past the end"),
        (b"\x0c", "past the end"),
        (b"\x02\x01", "past the end"),
        (b"\x02\x01\x00\xff\x00\x04\x00\x00", "past the end"),
        (b"\x02\xff\xff\x07\x00\x04\x00\x00", "past the end"),
        (b"\x02\x01\x00\x07\x00\x0c\xff\x7f", "past the end"),
        (b"\x00\x01\x00\x0c\x00\x0b\x00\xff\x00\x04\x00\x00\x61", "past the end"),
        (encode(float("inf")), "infinite"),
        (encode(float("nan")), "infinite"),
        (encode(Opaque(246, b"")), "malformed"),
        (encode(Opaque(246, b"\x05\x02\x80")), "malformed"),
        (encode(Opaque(246, b"\x03\x00\x87\xff")), "malformed"),  # 2047 in three digits
        (encode(Opaque(246, b"\x02\x05\x80\x00")), "malformed"),
        (encode(Opaque(246, b"\x00\x00")), "malformed"),
        (encode(Opaque(12, b"\x00" * 7)), "malformed"),
        (encode(Opaque(12, b"\xff" * 8)), "malformed"),
        (encode(Opaque(11, b"\xff" * 7 + b"\x7f")), "malformed"),
        (b"\x0c\x02\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_document_is_refused_with_its_row(document, what):
    with pytest.raises(JsonError, match=what) as error:
        to_text(pa.array([b"\x04\x00", None, document, b"\x04\x00"], pa.binary()))
    assert error.value.row == 2
    assert "row 2" in str(pickle.loads(pickle.dumps(error.value)))


def test_values_that_share_bytes_cannot_multiply_the_work():
    """99 arrays, each holding the next one twice, would print 2**99 times."""
    document = b"\x00\x00\x04\x00"
    for _ in range(99):
        size = 10 + len(document)
        document = b"\x02\x00" + size.to_bytes(2, "little") + b"\x02\x0a\x00" * 2 + document
    with pytest.raises(JsonError, match="overlap"):
        one(b"\x02" + document)


def test_an_array_within_itself_is_refused():
    with pytest.raises(JsonError):
        one(b"\x02\x01\x00\x07\x00\x02\x00\x00")


def test_broken_documents_give_json_or_an_error():
    """JD-DIV's promise for the decoder: what comes out is JSON, or it is an error."""
    random_ = random.Random(1)
    short = [document for document, _ in RECORDED if len(document) < 3000]
    refused = 0
    for _ in range(4000):
        document = bytearray(random_.choice(short))
        for _ in range(random_.randrange(1, 4)):
            at = random_.randrange(min(len(document), 60))
            document[at] = random_.choice((0, 1, 127, 128, 255, random_.randrange(256)))
        if random_.random() < 0.2:
            del document[random_.randrange(len(document)) :]
        try:
            json.loads(one(bytes(document)))
        except JsonError:
            refused += 1
    assert 1000 < refused < 4000
