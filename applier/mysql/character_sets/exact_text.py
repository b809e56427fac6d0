"""Decodes text without loss, also where a character set's own decoding loses which bytes the server has.

In some sets several codes are one character (NEC's and IBM's kanji in cp932). Servers also keep codes that have no
character: any byte from 0x80 on in an `ascii` column of MariaDB. A SELECT shows the same text for such values, but
unique keys and searches compare their bytes. While rows are applied, such a code is a placeholder: a private-use
character of its own. The code that a server writes for a character needs no placeholder.

    8-bit sets          U+F700 + the byte
    East Asian sets     U+100000 + the two bytes; U+F0000 + the last two of three

Readers of a snapshot see what a SELECT shows (`shown`); files keep the bytes of such values in their metadata
(applier.snapshot.files.value_marks). Decoding loses nothing in any other set: there, `exact_text` is `to_utf8`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.mysql.character_sets.charset_tables import (
    MULTI_BYTE,
    SINGLE_BYTE,
    UNMAPPED,
    multi_byte_tables,
    single_byte_table,
)

_BYTE, _PAIR, _TRIPLE = 0xF700, 0x100000, 0xF0000
_REPLACEMENT = 0xFFFD
_SJIS_BACKSLASH = "\U0010815f"
"""The placeholder of the code that servers write for a backslash: they read 5C as one, too."""
_LAST = 1 << 16
"""Added to a code that the server reads and does not write, so that it comes after those that it does."""

_Values: TypeAlias = pa.Array | pa.ChunkedArray


@dataclass(frozen=True)
class _Codes:
    """How a set is read: `tables` as `by_tables` takes them, `shown` what a SELECT shows for each placeholder,
    `codes` the bytes of each character and placeholder, and a pattern for text with placeholders."""

    tables: tuple[np.ndarray, ...]
    shown: dict[int, str]
    codes: dict[str, bytes]
    pattern: str


def exact_text(array: pa.Array, charset: str, flavour: str = "mysql") -> pa.Array:
    """A pa.binary() column in `charset` as pa.string() with placeholders, nulls kept; bytes that are not text as
    `flavour` shows them. Errors: as `to_utf8`."""
    from applier.mysql.character_sets.charsets import by_tables, is_plain_ascii, to_utf8  # kernels
    from applier.mysql.values.byte_columns import value_bytes

    codes = _codes(charset)
    if codes is None or is_plain_ascii(value_bytes(array)[1], charset):
        return to_utf8(array, charset, flavour)
    return by_tables(array, charset, codes.tables, flavour)


def is_lossy(charset: str | None) -> bool:
    """True if text of this set may have placeholders."""
    return charset is not None and _codes(charset) is not None


def with_placeholders(values: _Values, charset: str | None) -> np.ndarray | None:
    """Return which of the values have placeholders (bool[n]); None if there are none."""
    codes = None if charset is None else _codes(charset)
    if codes is None or not pa.types.is_string(values.type) or pc.all(pc.string_is_ascii(values)).as_py() is not False:
        return None
    found = np.asarray(pc.match_substring_regex(values, codes.pattern).fill_null(False))
    return found if found.any() else None


def needs_bytes(values: _Values, charset: str) -> bool:
    """True if a server that gets some of the text in utf8mb4 has other bytes than these in a column of this set."""
    return with_placeholders(values, charset) is not None or not written(values, charset).equals(values)


def shown(values: _Values, charset: str | None) -> _Values:
    """The values as a SELECT through a utf8mb4 connection shows them."""
    found = with_placeholders(values, charset)
    if found is None or charset is None or (codes := _codes(charset)) is None:
        return values
    texts = [text.translate(codes.shown) for text in values.filter(pa.array(found)).to_pylist()]
    return pc.replace_with_mask(values, pa.array(found), pa.array(texts, pa.string()))


def written(values: _Values, charset: str | None) -> _Values:
    """Text of another character set as a server writes it in this one, which has all of its characters."""
    return pc.replace_substring(values, "\\", _SJIS_BACKSLASH) if charset == "sjis" else values


def bytes_in(values: pa.Array, charset: str) -> pa.Array:
    """Values of a lossy set as the server has their bytes: pa.binary(), nulls kept. Raises ValueError for a character
    that the set does not have."""
    codes = _codes(charset)
    if codes is None:
        raise ValueError(f"{charset} is not a lossy character set")
    try:
        return pa.array([None if text is None else b"".join(codes.codes[character] for character in text)
                         for text in values.to_pylist()], pa.binary())
    except KeyError as error:
        raise ValueError(f"{charset} has no character {error.args[0]!r}") from None


@functools.cache
def _codes(charset: str) -> _Codes | None:
    """None for a set that decoding does not lose."""
    if charset in SINGLE_BYTE:
        made = _of_single_byte(charset)
    elif charset in MULTI_BYTE and charset != "gb18030":
        made = _of_multi_byte(charset)
    else:
        return None
    return made if made.shown else None


def _of_single_byte(charset: str) -> _Codes:
    from applier.mysql.character_sets.charsets import packed  # kernels

    table = single_byte_table(charset)
    exact = _with_placeholders(table, np.arange(256), np.arange(256), _BYTE)
    return _described((packed(exact),), {bytes([code]): (int(table[code]), int(exact[code])) for code in range(256)})


def _of_multi_byte(charset: str) -> _Codes:
    first, pairs, triples, quads = multi_byte_tables(charset)
    of_pairs, of_triples = np.arange(len(pairs)), np.arange(len(triples))
    ranks = of_pairs + _LAST * _is_only_read(charset, of_pairs)
    both = np.concatenate([first, pairs, triples])
    order = np.concatenate([np.arange(256), 256 + ranks, 256 + 2 * _LAST + of_triples])
    placeholders = np.concatenate([np.arange(256), _PAIR + of_pairs, _TRIPLE + of_triples])
    exact = _with_placeholders(both, order, placeholders, 0)
    tables = exact[:256].copy(), exact[256:256 + len(pairs)].copy(), exact[256 + len(pairs):].copy()
    known: dict[bytes, tuple[int, int]] = {}
    for lead, plain, made, size in ((b"", first, tables[0], 1), (b"", pairs, tables[1], 2),
                                    (b"\x8f", triples, tables[2], 2)):
        for code in np.flatnonzero(made >= 0).tolist():
            known[lead + code.to_bytes(size)] = int(plain[code]), int(made[code])
    return _described((*tables, quads), known)


def _is_only_read(charset: str, codes: np.ndarray) -> np.ndarray:
    """Which codes of two bytes a server does not write where another code is the same character."""
    if charset == "cp932":
        return np.isin(codes >> 8, (0xED, 0xEE))
    are: np.ndarray = (codes & 0x80 == 0) & (charset == "gb2312")
    return are


def _with_placeholders(table: np.ndarray, order: np.ndarray, placeholders: np.ndarray, first: int) -> np.ndarray:
    """A table with placeholders for codes that have no character of their own: of several codes of one character, the
    first in `order` keeps it, of those of U+FFFD the last."""
    codes = np.lexsort((np.where(table == _REPLACEMENT, -order, order), table))
    again = np.zeros(len(table), np.bool_)
    again[codes[1:]] = table[codes[1:]] == table[codes[:-1]]
    lost = (table == UNMAPPED) | (again & (table >= 0))
    return np.where(lost, first + placeholders, table).astype(np.int32)


def _described(tables: tuple[np.ndarray, ...], known: dict[bytes, tuple[int, int]]) -> _Codes:
    shown = {exact: "?" if plain == UNMAPPED else chr(plain) for plain, exact in known.values() if plain != exact}
    codes = {chr(exact): code for code, (_, exact) in known.items()}
    pattern = f"[{re.escape(chr(min(shown)))}-{re.escape(chr(max(shown)))}]" if shown else ""
    return _Codes(tables, shown, codes, pattern)
