"""Functions of text over whole columns.

Source: MySQL manual, "String Functions and Operators", "Encryption and Compression Functions".
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charset_tables import SINGLE_BYTE
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.collations import charset_of, collation_in
from applier.mysql.session import Session
from applier.mysql.types import BINARY, NUMBERS, TEMPORAL, ColumnType
from applier.sql.casting.texts import WIDE, by_distinct
from applier.sql.functions.combinations import of_columns
from applier.sql.functions.text_forms import FUNCTIONS as FORMS
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    TEXT,
    Arguments,
    Function,
    Value,
    as_bytes,
    as_text,
    collation_of,
    common_charset,
    numbers,
    one,
    shown_bytes,
    text_type,
    together,
)
from applier.sql.whole_numbers import whole_number

_MOST_BYTES = 1 << 20
"""The most bytes of a repeated or padded text."""
_DIGITS = re.compile(r"[0-9A-Fa-f]*")


def _texts(arguments: Arguments, session: Session) -> tuple[Arguments, ColumnType]:
    """The arguments as text, and the type of the result."""
    type_ = replace(TEXT, charset=common_charset(arguments), collation=collation_of(arguments))
    return [Value(as_text(value, session, type_.charset), TEXT, value.constant) for value in arguments], type_


def _concat(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if any(value.type.base in BINARY for value in arguments):
        data = [Value(as_bytes(value, session), BYTES, value.constant) for value in arguments]
        return Value(pc.binary_join_element_wise(*together(data, n), b""), BYTES, all(value.constant for value in data))
    texts, type_ = _texts(arguments, session)
    made = pc.binary_join_element_wise(*together(texts, n), "")
    return Value(made, type_, all(value.constant for value in texts))


def _concat_ws(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if any(value.type.base in BINARY for value in arguments):
        between, *texts = (Value(as_bytes(value, session), BYTES, value.constant) for value in arguments)
        type_, cut = BYTES, _bytes_from
    else:
        (between, *texts), type_ = _texts(arguments, session)
        cut = pc.utf8_slice_codeunits
    if not texts or not between.constant:
        raise NotComputable("CONCAT_WS by a column")
    separator = between.values[0]
    if not separator.is_valid:
        return Value(pa.nulls(1, between.values.type), type_, constant=True)
    arrays = together(texts, n)  # Arrow leaves out rows where all are NULL, so there is an empty text before them
    empty = pa.repeat(pa.scalar(separator.as_py()[:0], separator.type), len(arrays[0]))
    made = pc.binary_join_element_wise(empty, *arrays, separator, null_handling="skip")
    return Value(cut(made, len(separator.as_py()), None), type_, all(value.constant for value in texts))


def _bytes_from(data: pa.Array, start: int, _: None) -> pa.Array:
    """Without the first bytes: Arrow's slice fails on empty values."""
    return pc.binary_replace_slice(data, 0, start, b"")


def _left(text: pa.Array, count: Decimal) -> pa.Array:
    return pc.utf8_slice_codeunits(text, 0, max(0, int(count)))


def _right(text: pa.Array, count: Decimal) -> pa.Array:
    return pc.utf8_slice_codeunits(text, -int(count), None) if count > 0 else pc.utf8_slice_codeunits(text, 0, 0)


def _substring(text: pa.Array, start: Decimal, count: Decimal | None = None) -> pa.Array:
    """From a character on, which counts from 1, or back from the last one."""
    first, length = int(start), None if count is None else int(count)
    if first == 0 or (length is not None and length <= 0):
        return pc.utf8_slice_codeunits(text, 0, 0)
    if first > 0:
        return pc.utf8_slice_codeunits(text, first - 1, None if length is None else first - 1 + length)
    reaches = pc.greater_equal(pc.utf8_length(text), -first)
    stop = None if length is None or first + length >= 0 else first + length
    return pc.if_else(reaches, pc.utf8_slice_codeunits(text, first, stop), pc.if_else(text.is_valid(), "", text))


def _replace(text: pa.Array, old: str, new: str) -> pa.Array:
    return pc.replace_substring(text, old, new) if old else text


def _char_length(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if value.type.base in BINARY:
        return numbers(pc.binary_length(value.values), constant=value.constant)
    return numbers(pc.utf8_length(as_text(value, session)), constant=value.constant)


def _length(arguments: Arguments, call: Call, session: Session, n: int, *, of_byte: int = 1) -> Value:
    [value] = arguments
    return numbers(pc.multiply(pc.binary_length(as_bytes(value, session)), of_byte), constant=value.constant)


def _unhex(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments

    def data(text: str) -> bytes | None:
        return bytes.fromhex(text.zfill(-(-len(text) // 2) * 2)) if _DIGITS.fullmatch(text) else None

    if value.type == TEXT and session.flavour == "mysql" and session.made_in in WIDE and not value.constant:
        raise NotComputable(f"UNHEX of text that functions make in a table in {session.made_in}")
    if value.is_text and value.type.charset is None:
        raise NotComputable("UNHEX of text in a character set that is not known")
    if value.is_text and value.type.charset in WIDE:  # servers read it byte by byte
        value = Value(as_bytes(value, session), BYTES, value.constant)
    text = shown_bytes(value) if value.type.base in BINARY else as_text(value, session)
    return Value(by_distinct(text, data, pa.binary()), BYTES, value.constant)


def _digest(name: str) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        algorithm = name
        if not algorithm:
            algorithm = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(
                whole_number(arguments[1], session), "")
        if not algorithm:
            raise NotComputable("SHA2 of so many bits")
        data = as_bytes(arguments[0], session)
        made = by_distinct(data, lambda one: hashlib.new(algorithm, one, usedforsecurity=False).hexdigest())
        return Value(made, TEXT, arguments[0].constant)

    return computed


def _oracle_concat(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """The texts that are not NULL; NULL if all are."""
    if any(value.type.base in BINARY for value in arguments):
        texts, type_ = [Value(as_bytes(value, session), BYTES, value.constant) for value in arguments], BYTES
    else:
        texts, type_ = _texts(arguments, session)
    arrays = together(texts, n)
    filled = (pc.fill_null(array, pa.scalar("").cast(array.type)) for array in arrays)
    made = pc.binary_join_element_wise(*filled, pa.scalar("").cast(arrays[0].type))
    is_text = reduce(pc.or_, (array.is_valid() for array in arrays))
    return Value(pc.if_else(is_text, made, pa.scalar(None, made.type)), type_, all(value.constant for value in texts))


def _oracle_substring(text: pa.Array, start: Decimal, *count: Decimal) -> pa.Array:
    """The same, where the position 0 is the first one, too."""
    return _without_empty(_substring(text, start or Decimal(1), *count))


def _oracle_replace(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """The same, where NULL is an empty text, and what it has emptied is NULL. Of an empty text, it is NULL too if there
    is one to look for, and the server looks for it by characters."""
    if any(value.type.base in BINARY for value in arguments):
        (text, old, new), type_ = [Value(as_bytes(value, session), BYTES, value.constant) for value in arguments], BYTES
    else:
        (text, old, new), type_ = _texts(arguments, session)
    nothing = pa.scalar("").cast(text.values.type)
    before, after = one(old) or nothing.as_py(), one(new) or nothing.as_py()
    if not before:
        return Value(text.values, type_, text.constant)
    made, given = pc.replace_substring(text.values, before, after), pc.equal(text.values, nothing)
    empty = pc.equal(made, nothing)
    if pc.any(given).as_py() and _replaces_bytes(arguments[0], type_):
        empty = pc.and_not(empty, given)
    return Value(pc.if_else(empty, pa.scalar(None, made.type), made), type_, text.constant)


def _replaces_bytes(text: Value, type_: ColumnType) -> bool:
    """True if REPLACE looks for bytes in a text, which becomes this type: in one of a byte for each character, or by a
    binary collation (seen on 10.5, 10.11 and 11.8). Raises NotComputable if the collation is not known."""
    if type_ is BYTES:
        return True
    if not text.constant and text.type.charset == type_.charset:
        if type_.charset in SINGLE_BYTE:
            return True
        if text.is_column and text.type.collation == type_.collation:
            return (type_.collation or "").endswith("_bin")
    raise NotComputable("REPLACE of an empty text in sql_mode ORACLE, whose collation is not known")


def _in_oracle(function: Function) -> Function:
    """A function that has NULL for an empty text."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        made = function(arguments, call, session, n)
        return replace(made, values=_without_empty(made.values))

    return called


def _without_empty(text: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _collated(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Text in another collation of its character set; numbers and dates are text in it."""
    [value] = arguments
    name = collation_in(value.type.charset or "", call.word)
    charset = charset_of(name)
    if not value.is_text and value.type.base in {*NUMBERS, *TEMPORAL, "year"} and charset in UTF8:
        value = Value(as_text(value, session), text_type(charset, None), value.constant)
    if not value.is_text or charset != value.type.charset:
        raise NotComputable(f"COLLATE {call.word} of {value.type.charset or value.type.base}")
    return replace(value, type=replace(value.type, collation=name), constant=value.constant, is_column=False,
                   text_scale=None, is_instant=False, is_document=False, is_explicit=True)


FUNCTIONS: dict[str, Function] = {
    "CONCAT_OPERATOR_ORACLE": _oracle_concat, "SUBSTR_ORACLE": of_columns(_oracle_substring, "text", "whole", "whole?"),
    "REPLACE_ORACLE": _oracle_replace,
    **{f"{name}_ORACLE": _in_oracle(FORMS[name]) for name in ("TRIM", "LPAD", "RPAD")},
    "LTRIM_ORACLE": of_columns(lambda text: _without_empty(pc.utf8_ltrim(text, " ")), "text"),
    "RTRIM_ORACLE": of_columns(lambda text: _without_empty(pc.utf8_rtrim(text, " ")), "text"),
    "CONCAT": _concat, "CONCAT_WS": _concat_ws,
    "LEFT": of_columns(_left, "text", "whole"), "RIGHT": of_columns(_right, "text", "whole"),
    "SUBSTRING": of_columns(_substring, "text", "whole", "whole?"),
    "LTRIM": of_columns(lambda text: pc.utf8_ltrim(text, " "), "text"),
    "RTRIM": of_columns(lambda text: pc.utf8_rtrim(text, " "), "text"),
    "REPLACE": of_columns(_replace, "text", "text", "text"),
    "CHAR_LENGTH": _char_length, "LENGTH": _length, "UNHEX": _unhex,
    "COLLATE": _collated,
    "BIT_LENGTH": lambda arguments, call, session, n: _length(arguments, call, session, n, of_byte=8),
    "MD5": _digest("md5"), "SHA1": _digest("sha1"), "SHA2": _digest(""),
}
