"""Text from which its bytes can be told, for every character set that decoding loses."""

import pyarrow as pa
import pytest

from applier.mysql.character_sets.charset_tables import (
    MALFORMED,
    SINGLE_BYTE,
    multi_byte_tables,
    single_byte_table,
)
from applier.mysql.character_sets.charsets import CHARSETS, to_utf8
from applier.mysql.character_sets.exact_text import bytes_in, exact_text, is_lossy, shown, with_placeholders

LOSSY = sorted(charset for charset in CHARSETS if is_lossy(charset))


def codes(charset):
    if charset in SINGLE_BYTE:
        return [bytes([code]) for code in range(len(single_byte_table(charset)))]
    first, pairs, triples, _ = multi_byte_tables(charset)
    return [*(bytes([code]) for code in range(256) if first[code] >= 0),
            *(code.to_bytes(2) for code in range(0x8000, 0x10000) if pairs[code] != MALFORMED),
            *(b"\x8f" + code.to_bytes(2) for code in range(0x8000, len(triples)) if triples[code] != MALFORMED)]


def test_sets_that_lose_nothing_are_decoded_as_ever():
    assert not {"utf8mb4", "utf8mb3", "latin1", "utf16", "latin2"} & set(LOSSY)
    assert {"ascii", "cp932", "greek"} <= set(LOSSY)
    assert exact_text(pa.array([b"a", None]), "utf8mb4").to_pylist() == ["a", None]


@pytest.mark.parametrize("charset", LOSSY)
def test_each_code_is_a_text_of_its_own_and_is_shown_as_before(charset):
    """AP-VAL: placeholders tell all codes apart, give the bytes back, and are no part of what readers see."""
    data = pa.array([*codes(charset), None, b"two words"])
    texts = exact_text(data, charset)
    assert len(set(texts.to_pylist())) == len(data)
    assert bytes_in(texts, charset).equals(data)
    assert shown(texts, charset).equals(to_utf8(data, charset))
    assert with_placeholders(shown(texts, charset), charset) is None


def test_a_code_that_the_server_writes_keeps_its_character():
    """AP-VAL: of NEC's and IBM's codes for one kanji, the latter is what the server makes of the character."""
    texts = exact_text(pa.array([b"\xed\x40", b"\xfa\x5c"]), "cp932")
    assert with_placeholders(texts, "cp932").tolist() == [True, False]
    assert bytes_in(pa.array(["纊"]), "cp932").to_pylist() == [b"\xfa\x5c"]


def test_a_character_that_the_set_does_not_have_has_no_bytes():
    with pytest.raises(ValueError, match="ascii has no character 'é'"):
        bytes_in(pa.array(["é"]), "ascii")
