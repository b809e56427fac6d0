"""Labels of ENUM and SET in a column's character set.

A literal in hexadecimal digits or bits is bytes in the column's set, filled up in front to whole characters. In a text,
characters that the set does not have become question marks. (Seen on MySQL 9.7 and MariaDB 10.11.)
"""

import functools
import itertools

import pyarrow as pa

from applier.mysql.character_sets.charset_tables import MULTI_BYTE, SINGLE_BYTE, single_byte_table
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.character_sets.client_charsets import CodedText, decoded, text_of_digits

_HAVE_ALL = frozenset({"utf8mb4", "binary", "utf16", "utf16le", "utf32", "gb18030"})
_UNDECODABLE = range(0xDC80, 0xDD00)
"""Code points (surrogates) that stand for bytes which are not text; see schema.undecodable."""


def labels_in(charset: str, members: tuple[str | bytes, ...]) -> tuple[str, ...]:
    """The labels as the server keeps them, without trailing spaces. In a Unicode character set, a byte that is not text
    is a surrogate, as in a statement."""
    made = (text_of_digits(member, charset) if isinstance(member, bytes) else _of_text(member, charset)
            for member in members)
    return tuple(label.rstrip(" ") for label in made)


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
