"""Labels of ENUM and SET in a column's character set.

A literal in hexadecimal digits or bits is bytes in the column's set, filled up in front to whole characters. In a text,
characters that the set does not have become question marks. (Seen on MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.)
"""

import functools
import itertools
import re

import pyarrow as pa

from applier.mysql.character_sets.charset_tables import MULTI_BYTE, SINGLE_BYTE, single_byte_table
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import (
    UTF8,
    ClientCharsets,
    CodedText,
    decoded,
    encoded,
    filled_up,
    label_of_bytes,
)

_HAVE_ALL = frozenset({"utf8mb4", "binary", "utf16", "utf16le", "utf32", "gb18030"})
_UNDECODABLE = range(0xDC80, 0xDD00)
"""Code points (surrogates) that stand for bytes which are not text; see schema.undecodable."""


def labels_in(charset: str, members: tuple[str | bytes, ...]) -> tuple[str, ...]:
    """The labels as the server keeps them, without trailing spaces. In a Unicode character set, a byte that is not text
    is a surrogate, as in a statement."""
    return tuple(_of_digits(member, charset) if isinstance(member, bytes) else _of_text(member, charset).rstrip(" ")
                 for member in members)


def _of_digits(data: bytes, charset: str) -> str:
    space = encoded(" ", charset)
    data = filled_up(data, charset)
    while data.endswith(space):
        data = data[:-len(space)]
    return label_of_bytes(data, charset)


MULTI_BYTE_CODES = {
    "big5": rb"[\xa1-\xf9][\x40-\x7e\xa1-\xfe]", "euckr": rb"[\x81-\xfe][\x41-\x5a\x61-\x7a\x81-\xfe]",
    "gb2312": rb"[\xa1-\xf7][\xa1-\xfe]", "gbk": rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]",
    **dict.fromkeys(("sjis", "cp932"), rb"[\xa1-\xdf]|[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]"),
    **dict.fromkeys(("ujis", "eucjpms"), rb"\x8e[\xa1-\xdf]|\x8f?[\xa1-\xfe]{2}")}
"""What servers take as a character outside of ASCII, whether or not the set has it."""


def read_by_mariadb(said: str, text: str, charsets: ClientCharsets) -> str:
    """A label in a statement of MariaDB, whose text is `text` otherwise: in an East Asian character set each byte that
    is no part of a character becomes a question mark."""
    if isinstance(text, CodedText):
        return with_question_marks(text)
    if charsets.connection in UTF8 and charsets.client in MULTI_BYTE_CODES:
        return _by_characters(charsets.raw(said), charsets.client)
    return text


def with_question_marks(label: CodedText) -> CodedText:
    """A label in an East Asian character set as MariaDB shows it: with a question mark for each byte that is no part of
    a character, for which MySQL shows nothing. Other labels are unchanged."""
    if label.charset not in MULTI_BYTE_CODES:
        return label
    return CodedText(label.data, label.charset, _by_characters(label.data, label.charset))


def _by_characters(data: bytes, charset: str) -> str:
    if charset not in MULTI_BYTE_CODES:
        return decoded(data, charset)
    found = re.finditer(rb"((?:[\x00-\x7f]|" + MULTI_BYTE_CODES[charset] + rb")+)|.", data, re.DOTALL)
    return "".join("?" if one[1] is None else decoded(one[1], charset) for one in found)


def _of_text(member: str, charset: str) -> str:
    if charset == "binary" and isinstance(member, CodedText):
        return decoded(member.data, charset)
    if member.isascii() or charset in _HAVE_ALL:
        return str(member)
    known = characters_of(charset) if charset in SINGLE_BYTE | MULTI_BYTE else range(0x10000)
    return "".join(character if ord(character) in known or ord(character) in _UNDECODABLE else "?"
                   for character in member)


@functools.cache
def characters_of(charset: str) -> frozenset[int]:
    """Return the code points of the characters that a set other than Unicode's has, of one, two or three bytes."""
    if charset in SINGLE_BYTE:
        return frozenset(single_byte_table(charset).tolist())
    codes = [bytes(code) for code in itertools.product(range(0x80, 0x100), range(0x21, 0x100))]
    codes += [b"\x8f" + bytes(code) for code in itertools.product(range(0xA1, 0xFF), repeat=2)]
    codes += [bytes([code]) for code in range(0x100)]
    return frozenset(ord(text) for text in to_utf8(pa.array(codes, pa.binary()), charset).to_pylist() if len(text) == 1)
