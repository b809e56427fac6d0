"""The character sets of a session, and their effect on its string literals.

A statement arrives in character_set_client. A server converts a literal to character_set_connection, where a missing
character becomes a question mark, and an introducer (`_latin1'…'`) names the set of the literal's own bytes. Source:
MySQL manual, "Connection Character Sets and Collations", "Character Set Introducers"; judged by MySQL 9.7 and MariaDB
10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa

from applier.mysql.character_sets.charset_tables import SINGLE_BYTE, UNMAPPED, multi_byte_codec, single_byte_table
from applier.mysql.character_sets.charsets import CHARSETS, to_utf8
from applier.mysql.character_sets.exact_text import exact_text, is_lossy

UTF8 = frozenset({"utf8mb4", "utf8mb3"})
_UNITS = {"ucs2": 2, "utf16": 2, "utf16le": 2, "utf32": 4}
_WIDE = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
NOT_ASCII = frozenset({"swe7", *_WIDE})
"""Character sets in which a byte below 0x80 may differ from ASCII."""
_BEYOND = re.compile("[\U00010000-\U0010ffff]")


class CodedText(str):
    """A literal's text, with the bytes that the server has of it in the character set `charset`. Bytes of the set
    "binary" are shown as UTF-8, with a surrogate for each byte that is not."""

    data: bytes
    charset: str

    def __new__(cls, data: bytes, charset: str, text: str | None = None) -> CodedText:
        made = super().__new__(cls, decoded(data, charset) if text is None else text)
        made.data, made.charset = data, charset
        return made

    def __getnewargs__(self) -> tuple[bytes, str, str]:  # type: ignore[override]  # str has its text alone
        return self.data, self.charset, str(self)


@dataclass(frozen=True, slots=True)
class ClientCharsets:
    """`codec` is that in which a statement's bytes were read; `client`, `connection` and `database` are the session's
    character_set_client, character_set_connection and character_set_database, which is empty for that of the default
    database."""

    codec: str = "utf-8"
    client: str = "utf8mb4"
    connection: str = "utf8mb4"
    database: str = ""

    def literal(self, text: str) -> str:
        """The text of a literal without an introducer: CodedText if its bytes are not its UTF-8."""
        if text.isascii() and self.connection not in NOT_ASCII | {"binary"}:
            return text
        data = self.raw(text)
        if self.client != self.connection and "binary" not in (self.client, self.connection):
            text = decoded(data, self.client)
            data = encoded(as_national(text) if self.client == "utf8mb3" else text, self.connection)
        if self.connection in UTF8:
            return decoded(data, self.connection)
        return CodedText(filled_up(data, self.connection), self.connection)

    def raw(self, text: str) -> bytes:
        """The bytes of some text in the statement."""
        return text.encode(self.codec, "surrogateescape")


def as_national(text: str) -> str:
    """Text in UTF-8 as utf8mb3 reads it: each character of four bytes is four question marks."""
    return _BEYOND.sub("????", text)


def introduced_charset(word: str) -> str | None:
    """The character set that an introducer names; None if the word is none."""
    name = word[1:].lower() if word.startswith("_") else ""
    return "utf8mb3" if name == "utf8" else name if name in CHARSETS else None


def decoded(data: bytes, charset: str) -> str:
    """Bytes of a character set as text; of UTF-8 and of bytes, a surrogate stands for each byte that is not text."""
    if charset in UTF8 or charset == "binary":
        return data.decode("utf-8", "surrogateescape")
    text: str = to_utf8(pa.array([data], pa.binary()), charset)[0].as_py()
    return text


def label_of_bytes(data: bytes, charset: str) -> str:
    """A label that a column has as these bytes: CodedText if its text, in which a question mark stands for each byte
    that is no part of a character, does not tell the bytes."""
    text = _label_text(data, charset)
    return text if encoded(text, charset) == data else CodedText(data, charset, text)


def _label_text(data: bytes, charset: str) -> str:
    codec = "utf-8" if charset in UTF8 or charset == "binary" else _WIDE.get(charset)
    if codec is None:
        return decoded(data, charset)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        rest = _label_text(data[error.end:], charset)
        return data[:error.start].decode(codec) + "?" * (error.end - error.start) + rest
    return as_national(text) if charset == "utf8mb3" else text


def label_bytes(label: str, charset: str) -> bytes:
    """The bytes of a label of a column in `charset`."""
    return label.data if isinstance(label, CodedText) and label.charset == charset else encoded(label, charset)


def text_of_digits(data: bytes, charset: str) -> str:
    """The bytes of a literal in hexadecimal digits or bits as text of a column, with placeholders: filled up in front
    to whole characters."""
    data = filled_up(data, charset)
    if not is_lossy(charset):
        return decoded(data, charset)
    text: str = exact_text(pa.array([data], pa.binary()), charset)[0].as_py()
    return text


def filled_up(data: bytes, charset: str) -> bytes:
    """Bytes with zeros in front, up to whole characters."""
    return b"\0" * (-len(data) % _UNITS.get(charset, 1)) + data


def encoded(text: str, charset: str) -> bytes:
    """Text as bytes of a character set, with a question mark for each character that the set does not have."""
    if charset in ("utf8mb3", "ucs2"):
        text = "".join(character if ord(character) < 0x10000 else "?" for character in text)
    if charset in UTF8 or charset == "binary":
        return text.encode("utf-8", "surrogateescape")
    if charset in SINGLE_BYTE:
        codes = {chr(point): code for code, point in reversed(list(enumerate(single_byte_table(charset).tolist())))
                 if point != UNMAPPED}
        return bytes(codes.get(character, 0x3F) for character in text)
    return text.encode(_WIDE.get(charset) or multi_byte_codec(charset), "replace")
