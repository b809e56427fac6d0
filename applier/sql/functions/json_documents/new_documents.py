"""Functions that make documents of values: JSON_ARRAY, JSON_OBJECT, JSON_QUOTE."""

from __future__ import annotations

import base64
from dataclasses import replace
from json.encoder import encode_basestring

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.session import Session
from applier.mysql.types import BINARY, GEOMETRY, MEMBERS, NETWORK, TEMPORAL
from applier.sql.casting.byte_strings import bit_bytes, bytes_of_text
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.nodes import Call
from applier.sql.values import (
    BOOL,
    BYTES,
    JSON,
    PERHAPS_BOOL,
    TEXT,
    Arguments,
    Function,
    Value,
    as_text,
    beside_narrow,
    common_charset,
    has_seconds,
    is_ascii,
    one,
    shown_bytes,
    together,
)
from jsondiff.text import to_text

_CAPITALS = {code: escape[:2] + escape[2:].upper() for code in (*range(32), *map(ord, '"\\\\'))
             for escape in [encode_basestring(chr(code))[1:-1]]}
"""Escapes of characters as MariaDB writes them: MySQL's hexadecimal digits are small letters."""


def _quoted(texts: pa.Array, session: Session) -> pa.Array:
    """Texts as a document's strings."""
    return by_distinct(texts, encode_basestring if session.flavour == "mysql" else
                       lambda text: f'"{text.translate(_CAPITALS)}"')


def _quote(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if session.flavour == "mariadb" and value.type.base in (*BINARY, *GEOMETRY):
        return Value(_quoted(shown_bytes(value), session), TEXT, value.constant)
    text = _shown_text(value, session)
    if session.flavour == "mariadb" and not value.is_text and value.type.base not in TEMPORAL | MEMBERS | NETWORK:
        return Value(pa.nulls(len(text), pa.string()), TEXT, value.constant)
    return Value(_quoted(text, session), TEXT, value.constant)


_BYTES = {"varbinary": 15, "tinyblob": 249, "mediumblob": 250, "longblob": 251, "blob": 252, "binary": 254}
"""The numbers by which MySQL's documents name the types of bytes."""
_LINE = 57
"""Bytes of a line of base64."""


def _as_base64(data: bytes, code: int) -> str:
    if len(data) > _LINE:
        raise NotComputable("so many bytes in a document")
    return f'"base64:type{code}:{base64.b64encode(data).decode()}"'


def _misread(value: Value) -> pa.Array:
    """Text in a wide character set as MySQL has it in documents: it takes the bytes for UTF-8 (seen on 9.7)."""
    if value.type.collation is None:
        raise NotComputable(f"a function's text in {value.type.charset} in a document")
    try:
        return bytes_of_text(value.values, value.type.charset or "").cast(pa.string())
    except pa.ArrowInvalid:
        raise NotComputable(f"text in {value.type.charset} in a document, whose bytes are not UTF-8") from None


def _shown_text(value: Value, session: Session) -> pa.Array:
    """A value's text as a SELECT shows it. Raises NotComputable for codes that MariaDB may make NULL: those without a
    character of their own, and backslashes of East Asian sets."""
    text = as_text(value, session)
    if session.flavour == "mariadb" and value.is_text and (not text.equals(value.values) or (
            value.type.charset in MULTI_BYTE and pc.any(pc.match_substring(text, "\\")).as_py())):
        raise NotComputable(f"codes of {value.type.charset} that MariaDB may not find in a document")
    return text


def as_part(value: Value, session: Session) -> Value:
    """A value as a part of a document, as its text."""
    if value.is_null:
        made = pa.nulls(len(value.values), pa.string())
    elif value.values.null_count == len(value.values):
        made = pa.nulls(len(value.values), pa.string())
    elif not (value.shows or has_seconds(value)) or value.type.base == "bit":
        raise NotComputable("a number whose digits are not known in a document")
    elif value.type.base == "json":
        made = value.values
    elif session.flavour == "mysql" and value.shown is not None and has_seconds(value):
        made = pc.if_else(value.values.is_valid(), value.shown, pa.scalar(None, pa.string()))
    elif value.type is PERHAPS_BOOL:
        raise NotComputable("a truth value or NULL in a document")
    elif value.type is BOOL:
        made = pc.if_else(pc.equal(value.values, 0), "false", "true")
    elif value.is_text and session.flavour == "mysql" and value.type.charset in WIDE:
        made = _quoted(_misread(value), session)
    elif value.is_document:
        made = shown_bytes(value) if value.type.base in BINARY else _shown_text(value, session)
    elif value.is_text:
        made = _quoted(_shown_text(value, session), session)
        if session.flavour == "mariadb" and value.type.charset == "sjis" and \
                pc.any(pc.match_substring(made, "\\")).as_py():
            raise NotComputable("backslashes in sjis, which MariaDB writes as others")
    elif value.type.base in ("double", "float") and session.flavour == "mysql":
        made = by_distinct(value.values.cast(pa.float64()), to_text)
    elif value.type.base == "float":
        made = as_text(value, session)
    elif pa.types.is_decimal(value.values.type) or pa.types.is_integer(value.values.type) or \
            value.type.base == "double":
        padded = session.flavour == "mysql" and (value.type.zerofill or value.type.base == "year")
        type_ = replace(value.type, base="bigint" if value.type.base == "year" else value.type.base, zerofill=False) \
            if padded else value.type
        made = shown(value.values, type_, session.flavour)
    elif value.type.base in BINARY and session.flavour == "mysql":
        if value.type is BYTES and not value.is_loose:
            raise NotComputable("bytes of an unknown length in a document")
        code = _BYTES["varbinary" if value.is_loose else value.type.base]
        made = by_distinct(value.values, lambda data: None if data is None else _as_base64(data, code))
    elif value.type.base in MEMBERS:
        made = _quoted(_shown_text(value, session), session)
    elif value.type.base in BINARY:
        made = _quoted(shown_bytes(value), session)
    elif value.type.base in TEMPORAL and session.flavour == "mariadb":
        made = _quoted(as_text(value, session), session)
    elif value.type.base in TEMPORAL:
        local = replace(value.type, base="datetime") if value.type.base == "timestamp" else value.type
        shown_as = local if local.base == "date" else replace(local, fsp=6)
        clock = convert_values(value.values, value.type, shown_as, session)
        made = _quoted(convert_values(clock, shown_as, TEXT, session), session)
    else:
        raise NotComputable(f"{value.type.base.upper()} in a document")
    return Value(made.fill_null("null"), JSON, value.constant)


def _parts(arguments: Arguments, session: Session) -> list[Value]:
    """Values as parts of a document; beside text in a wide character set, MariaDB makes text of numbers."""
    charset = common_charset(arguments)
    arguments = [beside_narrow(value, charset, session) for value in arguments]
    texts = [value for value in arguments if value.is_text]
    are_wide = {value.type.charset in WIDE for value in [value for value in texts if not value.constant] or texts}
    charsets = {session.literals, *(value.type.charset for value in texts)}
    if session.flavour == "mariadb" and charsets & WITHOUT_ASCII and len(texts) < len(arguments):
        raise NotComputable("numbers in a document beside text in a character set that has not all of ASCII")
    if session.flavour == "mariadb" and any(map(_is_bytes, arguments)) and (
            charsets & WIDE or not all(is_ascii(value.values) for value in texts)):
        raise NotComputable("bytes in a document beside text that is not ASCII")
    if any(value.type.base == "json" and value.type.charset in WIDE for value in arguments):
        raise NotComputable("a document in a wide character set in another one")
    if session.flavour == "mysql" or not (are_wide or {session.literals in WIDE}) - {False}:
        return [_of_bits(value, session) if value.type.base == "bit" and session.flavour == "mariadb"
                else as_part(value, session) for value in arguments]
    if len(are_wide) > 1 or any(value.type.base == "json" or value.is_document for value in arguments):
        raise NotComputable("a document beside text in a wide character set")
    return [Value(_quoted(as_text(value, session), session).fill_null("null"), JSON, value.constant)
            for value in arguments]


def _is_bytes(value: Value) -> bool:
    return value.type.base in (*BINARY, "bit")


def _of_bits(value: Value, session: Session) -> Value:
    """A BIT as a part of a document: its bytes as a string without quotes, which makes the document invalid."""
    text = shown_bytes(replace(value, values=bit_bytes(value.values, value.type)))
    return Value(pc.utf8_slice_codeunits(_quoted(text, session), 1, -1).fill_null("null"), JSON, value.constant)


WITHOUT_ASCII = frozenset({"sjis", "swe7"})
"""Sets beside which MariaDB makes text of numbers, too (seen of sjis on 10.5)."""


def _array(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    parts = _parts(arguments, session)
    if not parts:
        return Value(pa.array(["[]"]), JSON, constant=True)
    joined = pc.binary_join_element_wise(*together(parts, n), ", ")
    made = pc.binary_join_element_wise("[", joined, "]", "")
    return _of_parts(made, arguments, session, constant=all(part.constant for part in parts))


def _of_parts(made: pa.Array, arguments: Arguments, session: Session, *, constant: bool) -> Value:
    """A document made of parts, which is bytes in MariaDB if one of them is."""
    if session.flavour == "mariadb" and any(map(_is_bytes, arguments)):
        return Value(made.cast(pa.binary()), BYTES, constant, is_document=True)
    return Value(made, JSON, constant)


def _object(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MySQL orders members by the length, then the bytes, of their names, and keeps the last of one name."""
    names = [name.decode() if isinstance(name := one(value), bytes) and name.isascii() and session.flavour == "mariadb"
             else name for value in arguments[::2]]
    if len(arguments) % 2 or not all(isinstance(name, str) for name in names):
        raise NotComputable("JSON_OBJECT whose names are not text")
    members = list(zip(names, _parts(arguments, session)[1::2], strict=True))
    if session.flavour == "mysql":
        members = sorted(dict(members).items(), key=lambda member: (len(member[0].encode()), member[0].encode()))
    if not members:
        return Value(pa.array(["{}"]), JSON, constant=True)
    values = together([part for _, part in members], n)
    keys = _quoted(pa.array([name for name, _ in members]), session)
    parts = [pc.binary_join_element_wise(f"{key}: ", array, "") for key, array in zip(keys, values, strict=True)]
    joined = pc.binary_join_element_wise(*parts, ", ")
    made = pc.binary_join_element_wise("{", joined, "}", "")
    return _of_parts(made, arguments, session, constant=all(part.constant for _, part in members))


FUNCTIONS: dict[str, Function] = {
    "JSON_ARRAY": _array, "JSON_OBJECT": _object, "JSON_QUOTE": _quote,
}
