"""Strings as bytes that are equal if a collation treats the strings as equal.

A server finds a duplicate in a unique key by the columns' collations: 'A' is a duplicate of 'a' in a case-insensitive
one, 'a ' of 'a' where spaces at the end do not count (PAD SPACE). The bytes here are the weights that the server itself
compares (WEIGHT_STRING), in a shorter form that sorts as they do; of some collations only equality is known
(`is_ordered`). One level follows the other: letters, accents, case.

All collations of MySQL 9.7 and MariaDB 10.11 are known, and those of UCA 14 that later MariaDBs have
(keysearch.collation_tables has the recorded data).
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from keysearch.addresses import address_of
from keysearch.collation_kernel import MOST_BYTES, SLACK, Weights, put_weights, without_spaces
from keysearch.collation_tables import LONGEST_CODE, UNKNOWN, WeightTable, collation_index, weight_table
from keysearch.keybytes import PADDING, KeyBytes, encode_keys, text_bounds
from keysearch.keybytes_kernel import put_raw
from keysearch.thai_kernel import put_in_order

_UNICODE = ("utf8", "utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32")
# The first is on MariaDB, too, under this name; the second compares bytes, and ASCII letters in any case.
_OTHERS_ON_MYSQL = {"croatian_ci": "croatian_mysql561_ci", "korean_ci": "korean_mysql_ci"}
_0900_ON_MARIADB = {
    "": "", "cs_": "czech_", "da_": "danish_", "de_pb_": "german2_", "eo_": "esperanto_", "es_": "spanish_",
    "es_trad_": "spanish2_", "et_": "estonian_", "hr_": "croatian_", "hu_": "hungarian_", "is_": "icelandic_",
    "la_": "roman_", "lt_": "lithuanian_", "lv_": "latvian_", "pl_": "polish_", "ro_": "romanian_", "sk_": "slovak_",
    "sl_": "slovenian_", "sv_": "swedish_", "tr_": "turkish_", "vi_": "vietnamese_",
}
"""MariaDB has MySQL's names utf8mb4_…0900_… since 11.4, as aliases of collations of UCA 14 for these languages."""
_UNORDERED = ("latin2_czech_cs", "big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis")
"""Prefixes of the tables that only say which characters are equal."""
_CHINESE = bytes.maketrans(b"[\\]~", b"\\][y")
_AS_ASCII = dict.fromkeys(_UNORDERED[1:], bytes(range(256))) | {
    "gb2312": _CHINESE, "gbk": _CHINESE, "big5": bytes.maketrans(b"[\\]~`", b"\\][ye")}
"""How these character sets sort ASCII: as ascii_general_ci sorts these characters instead. Judged by MySQL 9.7 and
MariaDB 10.5 to 11.8."""
_ORDERED_IF_PRINTABLE = re.compile(r"cp1250_czech_cs|tis620_thai_\w*ci")
"""Collations of several levels, or by a kernel, in whose order only the printable characters of ASCII are known."""
_BEFORE_SPACE = re.compile(r"latin2_hungarian_ci|latin7_\w+_c[is]")
"""Collations of one level in which other characters than control characters sort before the space."""
_NO_CHARACTERS = "[\\x{f700}-\\x{f7ff}]"
"""What stands for a byte that is no character of its set."""
_ENDS_OF_LINES = "[\\x{85}\\x{2028}\\x{2029}]"
"""Characters beyond ASCII that may sort before the space."""
_BEYOND_ORDER_OF_BYTES = {"latin1": "[^\\x00-\\x{ff}]", **dict.fromkeys(("ucs2", "utf16", "utf32"),
                                                                        "[^\\x00-\\x{ffff}]")}
"""The characters whose bytes do not sort as UTF-8, or may not: in UTF-16, surrogates come before others."""
_WRAPPING = "ja_"
"""The prefix of tables whose levels behind the first wrap: a server weighs an iteration or length mark by the character
before it, and when such a level begins, that is still the string's last one."""


class _Rules(NamedTuple):
    """How a collation compares: by tables of weights, one a level (none: by bytes). pads: trailing spaces do not count;
    pads_behind: in levels behind the first one, neither do trailing weights that a space has there."""

    tables: tuple[str, ...]
    pads: bool
    pads_behind: bool = False


_BYTES = _Rules((), False)
_THAI = ("tis620_thai_ci",)
"""It has no table but a kernel: keysearch.thai_kernel."""


def collation_of(collation: str, flavour: str) -> str:
    """The name that this module has for a server's collation: some have one name but differ between the flavours."""
    charset, _, kind = collation.lower().partition("_")
    if flavour == "mysql" and kind in _OTHERS_ON_MYSQL and charset in (*_UNICODE, "euckr"):
        return f"{charset}_{_OTHERS_ON_MYSQL[kind]}"
    language, is_0900, levels = kind.partition("0900_")
    if flavour == "mariadb" and is_0900 and language in _0900_ON_MARIADB:
        return f"{charset}_nopad_bin" if levels == "bin" else \
            f"{charset}_uca1400_{_0900_ON_MARIADB[language]}nopad_{levels}"
    return collation


def is_exact(collation: str) -> bool:
    """Return whether keys are equal exactly where this collation takes strings to be equal (a name of
    information_schema)."""
    return _rules(collation) is not None


def is_ordered(collation: str) -> bool:
    """Return whether keys also sort as this collation sorts strings."""
    rules = _rules(collation)
    return rules is not None and not any(name.startswith(_UNORDERED) for name in rules.tables)


def compares_bytes(collation: str) -> bool:
    """Return whether a string's own bytes are its key; true of unknown collations, too."""
    return (_rules(collation) or _BYTES) == _BYTES


def equality_keys(column: pa.Array | pa.ChunkedArray, collation: str) -> KeyBytes:
    """The keys of a column of UTF-8 text; a NULL has that of "". Errors: TypeError for a column of another type,
    ValueError for an unknown collation."""
    starts, ends, data = text_bounds(column)
    rules = _rules(collation)
    if rules is None:
        raise ValueError(f"{collation!r} is not a known collation")
    if rules.tables == _THAI:
        return _thai(starts, ends, data, rules.pads)
    if not rules.tables:
        return _own_bytes(starts, ends, data, rules.pads)
    levels = [_by_weights(starts, ends, data, weight_table(name), rules.pads_behind if level else rules.pads,
                          True if level > 0 and name.startswith(_WRAPPING) else None)
              for level, name in enumerate(rules.tables)]
    return levels[0] if len(levels) == 1 else encode_keys([level.to_arrow() for level in levels])


def equality_column(column: pa.Array | pa.ChunkedArray, collation: str) -> pa.Array | pa.ChunkedArray:
    """The keys as a column of large_binary that keeps its NULLs, to be part of a longer key (`encode_keys`). If the
    collation compares bytes, the column itself."""
    if compares_bytes(collation):
        return column
    keys = equality_keys(column, collation).to_arrow()
    return pc.if_else(pc.is_valid(column), keys, None) if column.null_count else keys


def order_column(column: pa.Array | pa.ChunkedArray, collation: str) -> pa.Array | pa.ChunkedArray | None:
    """A column that sorts as the collation sorts strings, with their NULLs; equal strings have equal values. None if
    that is unknown: of several levels where there are control characters, which sort before the spaces that pad; of
    East Asian collations and binary ones, but for ASCII; of Czech and Thai ones, but for printable ASCII; of
    latin2_czech_cs; of bytes that are no characters."""
    rules, (charset, _, kind) = _rules(collation), collation.lower().partition("_")
    if rules is None or (_ORDERED_IF_PRINTABLE.fullmatch(collation.lower()) and _any(column, "[^ -~]")):
        return None
    is_ascii = pc.all(pc.string_is_ascii(column)).as_py() is not False
    if not is_ordered(collation):
        if not is_ascii or charset not in _AS_ASCII:
            return None
        as_ascii = "ascii_general_ci" if rules.pads else "ascii_general_nopad_ci"
        return order_column(_translated(column, _AS_ASCII[charset]), as_ascii)
    beyond = _BEYOND_ORDER_OF_BYTES.get(charset)
    has_code_order = charset in _UNICODE[:3] or (beyond is not None and not _any(column, beyond))
    if not is_ascii and ((kind.endswith("bin") and not has_code_order) or (
            charset not in _UNICODE and _any(column, _NO_CHARACTERS)) or (rules.pads and _any(column, _ENDS_OF_LINES))):
        return None
    keys = equality_column(column, collation)
    if not rules.pads or not (_BEFORE_SPACE.fullmatch(collation.lower()) or _any(column, "[\\x00-\\x1f]")):
        return keys
    if len(rules.tables) > 1 or rules.tables == _THAI:
        return None
    spaces = " "
    while pc.any(pc.match_substring(column, spaces)).as_py():
        spaces += spaces
    padded = pc.binary_join_element_wise(pc.utf8_rtrim(column, " "), spaces, "")
    padded = _as_array(equality_column(padded, f"{charset}_nopad_{kind}"))
    coded = _as_array(keys).dictionary_encode().indices
    firsts = pc.index_in(pa.array(range(pc.max(coded).as_py() + 1), coded.type), coded)
    ranks = np.empty(len(firsts), np.int64)
    ranks[np.asarray(pc.sort_indices(padded.take(firsts)))] = np.arange(len(firsts))
    return pa.array(ranks).take(coded)


def _any(column: pa.Array | pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())


def _translated(column: pa.Array | pa.ChunkedArray, by: bytes) -> pa.Array:
    """A column of ASCII with other characters (bytes.translate)."""
    array = _as_array(column)
    valid, offsets, data = array.buffers()
    data = None if data is None else pa.py_buffer(data.to_pybytes().translate(by))
    return pa.Array.from_buffers(array.type, len(array), [valid, offsets, data], offset=array.offset)


def _as_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def levels_of(collation: str) -> int:
    """Return by how many levels of weights a collation compares, 0 if by none."""
    return len((_rules(collation) or _BYTES).tables)


def weights_by_position(column: pa.Array | pa.ChunkedArray, collation: str,
                     level: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows that have a weight at the first position (int64[…]) and these weights of a level (uint64[…]),
    then those at the second, and so on; a NULL has those of "". Raises ValueError for an unknown collation, one that
    compares bytes, and a character that its character set does not have."""
    rules = _rules(collation)
    if rules is None or not rules.tables or rules.tables == _THAI:
        raise ValueError(f"{collation!r} compares without weights")
    table = weight_table(rules.tables[level])
    starts, ends, text = text_bounds(column)
    keys = _by_weights(starts, ends, text, table, rules.pads_behind if level else rules.pads, None)
    data = np.append(keys.data, (0, 0)).astype(np.uint64)
    short = np.flatnonzero(table.codes >> 24 == 1).astype(np.uint64)
    at, rows = keys.offsets[:-1].copy(), np.arange(len(keys))
    while len(rows := rows[at[rows] < keys.offsets[rows + 1]]):
        here = at[rows]
        lead = data[here]
        if len(short) == len(table.codes):
            yield rows, lead
            at[rows] += 1
            continue
        if (lead == UNKNOWN).any():
            raise ValueError(f"a character that the set of {collation} does not have")
        is_short = lead & np.uint64(1) == 1
        weights = data[here + 1] << np.uint64(8) | data[here + 2]
        weights[is_short] = short[lead[is_short] >> np.uint64(1)]
        yield rows, weights
        at[rows] += np.where(is_short, 1, LONGEST_CODE)


def _by_weights(starts: np.ndarray, ends: np.ndarray, data: np.ndarray, table: WeightTable, pads: bool,
                wraps: bool | None) -> KeyBytes:
    offsets = np.zeros(len(starts) + 1, np.int64)
    lengths = ends - starts
    room = 2 * int(lengths.sum()) + MOST_BYTES * int(lengths.max(initial=0))
    memory = np.empty(room + max(PADDING, SLACK), np.uint8)
    weights = Weights(**{name: address_of(array) for name, array in table._asdict().items()},
                      n_steps=len(table.steps), n_heads=len(table.heads), space=table.space if pads else 0)
    row = 0
    while True:
        row = put_weights(row, starts, ends, address_of(data), weights, wraps,
                          address_of(memory), len(memory) - max(PADDING, SLACK), offsets)
        if row == len(starts):
            return KeyBytes(offsets, memory[:offsets[-1]])
        memory = np.concatenate([memory, np.empty_like(memory)])


def _thai(starts: np.ndarray, ends: np.ndarray, data: np.ndarray, pads: bool) -> KeyBytes:
    offsets = np.zeros(len(starts) + 1, np.int64)
    memory = np.empty(int((ends - starts).sum()) + PADDING, np.uint8)
    put_in_order(starts, ends, address_of(data), pads, address_of(memory), offsets)
    return KeyBytes(offsets, memory[:offsets[-1]])


def _own_bytes(starts: np.ndarray, ends: np.ndarray, data: np.ndarray, pads: bool) -> KeyBytes:
    if pads:
        ends = ends.copy()
        without_spaces(starts, ends, address_of(data))
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    memory = np.empty(int(offsets[-1]) + PADDING, np.uint8)
    put_raw(starts, ends, address_of(data), offsets[:-1].copy(), address_of(memory))
    return KeyBytes(offsets, memory[:offsets[-1]])


@cache
def _rules(collation: str) -> _Rules | None:
    """How a collation compares; None for an unknown one."""
    name = collation.lower()
    if name == "binary":
        return _BYTES
    charset, _, kind = name.partition("_")
    pads = "nopad_" not in kind and "0900_" not in kind
    kind = kind.replace("nopad_", "")
    if kind in ("bin", "0900_bin"):
        return _Rules((), pads)
    if (name := f"{charset}_{kind}") in _THAI:
        return _Rules(_THAI, pads)
    tables = collation_index().get(kind if charset in _UNICODE else name)
    return None if tables is None else _Rules(tuple(tables), pads, pads or kind.startswith("uca1400_"))
