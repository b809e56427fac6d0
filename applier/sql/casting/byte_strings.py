"""BINARY, VARBINARY and BLOB columns: bytes of text, of numbers, of another length; text out of bytes.

Source: MySQL manual, "The BINARY and VARBINARY Types", "Bit-Value Type"; judged by both servers.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets import client_charsets
from applier.mysql.character_sets.client_charsets import NOT_ASCII, UTF8
from applier.mysql.character_sets.labels import MULTI_BYTE_CODES
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.value_sizes import most_bytes
from applier.mysql.versions import is_since
from applier.sql.casting import members, texts
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import SINGLE_BYTE, WIDE, by_distinct, encoded, fitted

_SHOWN = ColumnType("longtext", charset="utf8mb4")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")


def to_bytes(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes of another length; a BINARY is padded with zero bytes."""
    size = most_bytes(new)
    if pc.any(pc.greater(pc.binary_length(values), size)).as_py():
        values = pc.binary_slice(values, 0, size)
    if new.base != "binary":
        return values
    padded = pc.binary_join_element_wise(values, pa.scalar(b"\0" * size, pa.binary()), pa.scalar(b"", pa.binary()))
    return pc.binary_slice(padded, 0, size)


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as its bytes in the character set that it had."""
    return to_bytes(bytes_of_text(values, old.charset or "utf8mb4"), old, new, session)


def bytes_of_text(values: pa.Array, charset: str) -> pa.Array:
    """The bytes that text has in a character set. Raises NotComputable if they are unknown."""
    is_same = charset in UTF8 or charset == "binary"
    if is_same or (charset not in NOT_ASCII and pc.all(pc.string_is_ascii(values)).as_py() is not False):
        return values.cast(pa.binary())
    if charset in WIDE:
        return by_distinct(values, lambda text: client_charsets.encoded(text, charset), pa.binary())
    from applier.mysql.character_sets.exact_text import bytes_in, is_lossy

    if charset not in SINGLE_BYTE and not is_lossy(charset):
        raise NotComputable(f"the bytes of text in {charset}")
    try:
        return encoded(values, charset, "strict") if charset in SINGLE_BYTE else bytes_in(values, charset)
    except ValueError as error:
        raise NotComputable.because(error) from None


def from_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as text; a BIT in a BLOB as its bytes."""
    if old.base == "bit" and new.entry.prefix:
        return to_bytes(bit_bytes(values, old), old, new, session)
    return from_text(shown(values, old, session.flavour), _SHOWN, new, session)


def bit_bytes(values: pa.Array, old: ColumnType) -> pa.Array:
    """The bytes of BITs, the highest first."""
    size = ((old.length or 1) + 7) // 8
    return by_distinct(values, lambda number: int(number).to_bytes(size, "big"), pa.binary())


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes as text: they are taken to be in the new character set, in ucs2 and utf16 with a zero byte before an odd
    number of them."""
    charset = new.charset or "utf8mb4"
    if charset == "ascii" and session.flavour == "mysql" and not _is_ascii(values):
        return fitted(by_distinct(values, lambda data: _valid_start(data, "ascii")), new)
    if charset in SINGLE_BYTE - {"swe7"}:
        from applier.mysql.character_sets.exact_text import exact_text

        return fitted(exact_text(values, charset), new)
    if charset in ("ucs2", "utf16"):
        return fitted(by_distinct(values, _of_pairs), new)
    if charset in MULTI_BYTE_CODES:
        from applier.mysql.character_sets.exact_text import exact_text

        return fitted(exact_text(_whole_codes(values, charset, session.flavour), charset, session.flavour), new)
    if charset not in UTF8:
        raise NotComputable(f"bytes as text in {charset}")
    try:
        made = values.cast(pa.string())
    except pa.ArrowInvalid:
        made = by_distinct(values, _valid_start if session.flavour == "mysql" else _with_marks)
    if charset == "utf8mb3":  # each byte of a character of four bytes is an invalid one
        of_four = r"[\x{10000}-\x{10FFFF}]"
        made = pc.replace_substring_regex(made, f"(?s){of_four}.*", "") if session.flavour == "mysql" else \
            pc.replace_substring_regex(made, of_four, "????")
    return fitted(made, new)


def _whole_codes(values: pa.Array, charset: str, flavour: str) -> pa.Array:
    """Bytes as a column of an East Asian character set stores them: MySQL all before the first byte that is no part of
    a code, MariaDB with a question mark for each such byte. (Seen on MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.)"""
    codes = re.compile(rb"((?:[\x00-\x7f]|" + MULTI_BYTE_CODES[charset] + rb")+)|.", re.DOTALL)
    if flavour == "mysql":
        return by_distinct(values, lambda data: _codes_at_start(codes, data), pa.binary())
    return by_distinct(values, lambda data: codes.sub(lambda found: found[1] or b"?", data), pa.binary())


def _codes_at_start(codes: re.Pattern[bytes], data: bytes) -> bytes:
    found = codes.match(data)
    return (found[1] or b"") if found else b""


def _of_pairs(data: bytes) -> str:
    try:
        text = (b"\0" * (len(data) % 2) + data).decode("utf-16-be")
    except UnicodeDecodeError:
        raise NotComputable("bytes that are half a character of UTF-16 as text") from None
    if _BEYOND_PAIRS.search(text):
        raise NotComputable("bytes that are two halves of a character as text")
    return text


_BEYOND_PAIRS = re.compile("[\U00010000-\U0010ffff]")


def labels_to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Labels as text; those of the character set binary are bytes."""
    if old.charset == "binary":
        return to_text(values.cast(pa.binary()), old, new, session)
    return texts.to_text(values, old, new, session)


def _valid_start(data: bytes, codec: str = "utf-8") -> str:
    """The part of UTF-8 or ASCII bytes that MySQL keeps: all before the first invalid one."""
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        return data[:error.start].decode(codec)


def read_as_text(data: bytes, charset: str, session: Session) -> str | None:
    """Bytes as text of a form of UTF-8, or of ASCII, as functions read them. If some are not text, it is NULL in a
    strict session; in others it ends before them. The sql_mode is known of a statement, but not of a rows event."""
    try:
        text, end = data.decode(), len(data)
    except UnicodeDecodeError as error:
        text, end = data[:error.start].decode(), error.start
    if (charset == "ascii" and not data.isascii()) or (session.flavour == "mariadb" and _SURROGATE.match(data, end)):
        raise NotComputable("bytes that are not text as text")
    if charset == "utf8mb3" and (beyond := _BEYOND_PAIRS.search(text)):
        text, end = text[:beyond.start()], 0
    if end == len(data):
        return text
    if not session.server_version:
        raise NotComputable("bytes that are not text as text, which depends on the session's sql_mode")
    return None if "STRICT_" in session.sql_mode else text


def _with_marks(data: bytes) -> str:
    """UTF-8 bytes with a question mark for each invalid one, as MariaDB reads them."""
    if _SURROGATE.search(data):
        raise NotComputable("surrogates in UTF-8, which MariaDB keeps")
    made = ""
    while data:
        try:
            return made + data.decode()
        except UnicodeDecodeError as error:
            made += data[:error.start].decode() + "?"
            data = data[error.start + 1:]
    return made


def _is_ascii(values: pa.Array) -> bool:
    try:
        return pc.all(pc.string_is_ascii(values.cast(pa.string()))).as_py() is not False
    except pa.ArrowInvalid:
        return False


def to_members(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes as members, by the text that they are in the new character set. Raises NotComputable for a wide one, and
    for labels in UTF-8 before bytes that some collations of MySQL, or MariaDB before 10.11, do not look at."""
    if new.charset in WIDE:
        raise NotComputable(f"bytes as members in {new.charset}")
    text = _in_set(values, new.charset or "utf8mb4")
    # of a smaller character set they are its text already: nothing becomes a question mark
    shown_as = _SHOWN if new.charset in {*UTF8, "binary"} else replace(_SHOWN, charset=new.charset)
    made = members.from_text(text, shown_as, new, session)
    if new.charset in UTF8 and not made.equals(
            members.from_text(_without_ends(values, text, new, session), _SHOWN, new, session)):
        raise NotComputable("a label and zero bytes, which some versions of MariaDB take" if session.flavour != "mysql"
                            else "a label and bytes that are not text")
    return made


def _in_set(values: pa.Array, charset: str) -> pa.Array:
    """Bytes as text of a character set; in UTF-8, a placeholder stands for each one that is not text."""
    if charset in SINGLE_BYTE - {"swe7"} and not _is_ascii(values):
        from applier.mysql.character_sets.exact_text import exact_text

        return exact_text(values, charset)
    if charset not in UTF8 | {"binary"} and not _is_ascii(values):
        raise NotComputable(f"bytes that are not ASCII as members in {charset}")

    def decoded(data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.decode("ascii", "replace")

    return by_distinct(values, decoded)


def _without_ends(values: pa.Array, text: pa.Array, new: ColumnType, session: Session) -> pa.Array:
    """The labels as they are if a server does not look at bytes that are not text, and those behind them (MySQL), or at
    zero bytes at the end (MariaDB 10.5)."""
    if session.flavour == "mariadb":
        is_new = session.server_version and is_since(session.server_version, (10, 11))
        return text if is_new else pc.utf8_rtrim(text, "\0")
    if new.base == "enum":
        return by_distinct(values, _valid_start)
    return by_distinct(values, lambda data: ",".join(map(_valid_start, data.split(b","))))


def as_ascii(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Bytes that hold a number or a date, as text; bytes that are not ASCII count for nothing."""
    if _is_ascii(values):
        return values.cast(pa.string())
    return by_distinct(values, lambda data: data.decode("ascii", "replace"))
