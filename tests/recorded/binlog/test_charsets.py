"""Every character set against what a real MySQL 9.7 and MariaDB 10.11 show for the same bytes (recorded by
record_charsets.py)."""

import gzip
import json
import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import SchemaError
from applier.mysql.character_sets.charset_tables import single_byte_table
from applier.mysql.character_sets.charsets import CHARSETS, to_utf8
from tests.recorded.binlog.record_charsets import MULTI_BYTE, TRUTHS, all_codes, digest
from tests.support.examples import examples

RECORDED, MARIADB = (json.loads(gzip.decompress(TRUTHS[flavour].read_bytes())) for flavour in ("mysql", "mariadb"))
READ_OTHERWISE = {"big5", "euckr", "gb2312", "gbk"}
"""Sets of which MariaDB takes a lead byte alone where its trail byte does not fit; bytes that are text are the same."""
VALUES = [bytes.fromhex(value) for value in RECORDED["values"]]


def test_all_character_sets_of_the_server_are_known():
    assert CHARSETS == RECORDED["shown"].keys() | {"binary", "utf8"}
    assert len(CHARSETS) == 42


@pytest.mark.parametrize("charset", sorted(RECORDED["shown"]))
def test_shows_what_the_server_shows(charset):
    """Text, codes without a character, bytes that are not text, and characters cut short."""
    text = to_utf8(pa.array(VALUES, pa.binary()), charset)
    text.validate(full=True)
    assert text.type == pa.string()
    assert [(value.hex(), shown) for value, shown in zip(VALUES, text.to_pylist(), strict=True)] == [
        (value.hex(), shown) for value, shown in zip(VALUES, RECORDED["shown"][charset], strict=True)]


@pytest.mark.parametrize("charset", sorted(MARIADB["shown"].keys() - READ_OTHERWISE))
def test_shows_what_mariadb_shows(charset):
    """A character that is cut short is "?" there. UTF-8 has no surrogates: what UCS-2 has of them is "?", too."""
    wanted = MARIADB["shown"][charset]
    if charset == "ucs2":  # of two surrogates beside each other JSON makes one character
        wanted = [re.sub("[\ud800-\udfff]", "?", re.sub("[\U00010000-\U0010ffff]", "??", shown)) for shown in wanted]
    text = to_utf8(pa.array(VALUES, pa.binary()), charset, "mariadb")
    text.validate(full=True)
    assert [(value.hex(), shown) for value, shown in zip(VALUES, text.to_pylist(), strict=True)] == [
        (value.hex(), shown) for value, shown in zip(VALUES, wanted, strict=True)]


@pytest.mark.parametrize("charset", MULTI_BYTE)
def test_every_code_of_the_multi_byte_sets(charset):
    """All 65,536 codes of two bytes, those of three after 8F, and GB 18030's of four in the BMP."""
    text = to_utf8(pa.array(all_codes(charset), pa.binary()), charset)
    assert digest(text.to_pylist()) == RECORDED["all_codes"][charset]


@pytest.mark.parametrize("charset", sorted(CHARSETS))
def test_one_value_at_a_time_equals_the_column(charset):
    """Where a value lies in the column must not matter: the fast paths read eight bytes at once."""
    column = pa.array([*VALUES[::9], None, b"A" * 40, None], pa.binary())
    whole = to_utf8(column, charset).to_pylist()
    assert whole == [to_utf8(pa.array([value], pa.binary()), charset)[0].as_py() for value in column.to_pylist()]
    assert to_utf8(column[11:].slice(3, 60), charset).to_pylist() == whole[14:74]


def test_latin1_is_cp1252_with_the_c1_controls():
    assert to_utf8(pa.array([b"\x80\x81\x8d\x8f\x90\x9d\x9f\xa0\xff"], pa.binary()), "latin1").to_pylist() == [
        "€\x81\x8d\x8f\x90\x9dŸ\xa0ÿ"]


def test_valid_text_is_not_copied():
    for value, charset in ((b"plain", "latin1"), (b"plain", "gbk"), ("é日😀".encode(), "utf8mb4"), (b"x", "ascii")):
        column = pa.array([value, None, b""], pa.binary())
        text = to_utf8(column, charset)
        assert text.to_pylist() == [value.decode(), None, ""]
        assert text.buffers()[2].address == column.buffers()[2].address


def test_four_byte_characters_are_none_in_utf8mb3():
    value = pa.array(["é😀".encode()], pa.binary())
    assert to_utf8(value, "utf8mb3").to_pylist() == to_utf8(value, "utf8").to_pylist() == ["é????"]
    assert to_utf8(value, "utf8mb4").to_pylist() == ["é😀"]


def test_empty_columns():
    for charset in CHARSETS:
        assert to_utf8(pa.array([], pa.binary()), charset) == pa.array([], pa.string())
        assert to_utf8(pa.array([None], pa.binary()), charset) == pa.array([None], pa.string())


def test_unknown_character_set():
    with pytest.raises(SchemaError, match="klingon"):
        to_utf8(pa.array([b""], pa.binary()), "klingon")


@settings(max_examples=examples(60))
@given(st.lists(st.none() | st.binary(max_size=40), max_size=12), st.sampled_from(sorted(CHARSETS)))
def test_any_bytes_give_valid_text(values, charset):
    text = to_utf8(pa.array(values, pa.binary()), charset)
    text.validate(full=True)
    assert text.is_null().to_pylist() == [value is None for value in values]


@settings(max_examples=examples(60))
@given(st.lists(st.text(max_size=30), max_size=8), st.sampled_from([
    ("utf8mb4", "utf-8"), ("utf16", "utf-16-be"), ("utf16le", "utf-16-le"), ("utf32", "utf-32-be")]))
def test_unicode_text_survives(texts, encoding):
    charset, codec = encoding
    assert to_utf8(pa.array([text.encode(codec) for text in texts], pa.binary()), charset).to_pylist() == texts


@settings(max_examples=examples(60))
@given(st.sampled_from(["koi8r", "latin1", "swe7", "keybcs2", "tis620"]), st.data())
def test_eight_bit_text_survives(charset, data):
    code_of = {chr(point): code for code, point in enumerate(single_byte_table(charset).tolist()) if point >= 0}
    texts = data.draw(st.lists(st.text(sorted(code_of), max_size=40), max_size=6))
    encoded = pa.array([bytes(code_of[c] for c in text) for text in texts], pa.binary())
    wanted = ["".join(chr(single_byte_table(charset)[code]) for code in value) for value in encoded.to_pylist()]
    assert to_utf8(encoded, charset).to_pylist() == wanted
    if charset != "tis620":  # where U+FFFD stands for nine codes
        assert wanted == texts
