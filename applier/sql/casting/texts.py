"""Converts text: to other lengths and character sets, and to documents.

Text in a snapshot is Unicode, so another character set only replaces characters that it does not have, by "?". Source:
MySQL manual, "The CHAR and VARCHAR Types", "The BLOB and TEXT Types".
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.exact_text import exact_text, written
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.value_sizes import most_bytes
from applier.mysql.values.byte_columns import beside, value_bytes

UNICODE = frozenset({"utf8mb4", "utf16", "utf16le", "utf32"})
BMP = frozenset({"utf8mb3", "ucs2"})


def to_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text, labels of members, or documents as text of another length or character set."""
    if new.charset != old.charset:
        values = in_charset(values, new.charset or "utf8mb4")
    return fitted(values, new)


def in_charset(values: pa.Array, charset: str) -> pa.Array:
    """Replace each character that the set does not have by "?"."""
    if charset in UNICODE:
        return values
    if charset in BMP:
        return pc.replace_substring_regex(values, r"[^\x{0}-\x{FFFF}]", "?")
    if pc.all(pc.string_is_ascii(values)).as_py() in (True, None) and charset not in ("swe7",):
        return written(values, charset)
    return written(_recoded(values, charset), charset)


def _recoded(values: pa.Array, charset: str) -> pa.Array:
    """Like `fitted`, for text that is not all ASCII: through the set's own table, there and back."""
    from applier.mysql.character_sets.charset_tables import MULTI_BYTE
    from applier.mysql.character_sets.charsets import to_utf8

    if charset in MULTI_BYTE:
        return _with_characters_of(values, charset)
    if charset not in SINGLE_BYTE:
        raise NotComputable(f"text that is not ASCII becomes {charset}")
    return to_utf8(encoded(values, charset, "replace"), charset)


def _with_characters_of(values: pa.Array, charset: str) -> pa.Array:
    """Replace each character that an East Asian set does not have by "?"."""
    from applier.mysql.character_sets.charset_tables import characters_of

    _, data = value_bytes(values.fill_null(""))
    characters = np.frombuffer(data.tobytes().decode().encode("utf-32-le"), np.uint32)
    made = np.where(characters_of(charset)[characters], characters, np.uint32(ord("?")))
    if charset == "cp932":
        made[characters == _CP932_TAKES] = _CP932_GIVES
    ends = np.cumsum([0, *pc.utf8_length(values).fill_null(0).to_numpy(zero_copy_only=False)], dtype=np.int64)
    sizes = 1 + (made >= 0x80).astype(np.int64) + (made >= 0x800) + (made >= 0x10000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])[ends]
    text = made.astype("<u4").tobytes().decode("utf-32-le").encode()
    return beside(values, pa.string(), offsets, np.frombuffer(text, np.uint8))


_CP932_TAKES, _CP932_GIVES = ord("晡"), ord("晙")
"""A slip in both servers' tables, which write the one as the other."""


def encoded(values: pa.Array, charset: str, unknown: str) -> pa.Array:
    """Text, with placeholders, as bytes of a single-byte set. A character that the set does not have is an error
    (UnicodeEncodeError) if `unknown` is "strict", and "?" if it is "replace"."""
    table = "".join(exact_text(pa.array([bytes([code]) for code in range(256)], pa.binary()), charset).to_pylist())
    _, data = value_bytes(values.fill_null(""))  # a NULL may have bytes, too
    made, _ = codecs.charmap_encode(data.tobytes().decode(), unknown, codecs.charmap_build(table))
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.asarray(pc.utf8_length(values).fill_null(0)), out=offsets[1:])
    return beside(values, pa.binary(), offsets, np.frombuffer(made, np.uint8))


WIDE = frozenset({"ucs2", "utf16", "utf16le", "utf32"})
"""Character sets in which a character of ASCII is more than its byte."""
SINGLE_BYTE = frozenset("""
    armscii8 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 dec8 geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin1
    latin2 latin5 latin7 macce macroman swe7 tis620 ascii
""".split())


def fitted(values: pa.Array, new: ColumnType) -> pa.Array:
    """Text cut to the column's length, without spaces at the end where it is a CHAR."""
    if new.base in ("char", "varchar"):
        values = pc.utf8_slice_codeunits(values, 0, new.length)
    elif pc.any(pc.greater(pc.binary_length(values), most_bytes(new))).as_py():
        values = _cut(values, most_bytes(new), new.charset or "utf8mb4")
    return pc.utf8_rtrim(values, " ") if new.base == "char" else values


def _cut(values: pa.Array, size: int, charset: str) -> pa.Array:
    """Text of a TEXT type: as many whole characters as its bytes have room for."""
    if charset in SINGLE_BYTE:
        return pc.utf8_slice_codeunits(values, 0, size)
    if charset not in ("utf8mb4", "utf8mb3"):
        raise NotComputable("text that is longer than the column")
    return by_distinct(values, lambda text: text.encode()[:size].decode("utf-8", "ignore"))


def by_distinct(values: pa.Array, convert: Callable[[Any], object], kind: pa.DataType | None = None) -> pa.Array:
    """The function's results for a column, computed once for each distinct value, of which there should be few."""
    coded = values.dictionary_encode()
    made = pa.array([convert(text) for text in coded.dictionary.to_pylist()], kind or pa.string())
    return made.take(coded.indices)


def to_json(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Text as documents, printed as the server prints them."""
    from jsondiff.normalize import normalize
    from jsondiff.values import DocumentError

    try:
        return normalize(values)
    except DocumentError as error:
        raise NotComputable.because(error) from None
