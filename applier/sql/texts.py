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
from applier.mysql.session import Session
from applier.mysql.types import BINARY, ColumnType
from applier.sql.casting.texts import by_distinct
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    TEXT,
    Arguments,
    Compute,
    Function,
    Value,
    as_bytes,
    as_text,
    collation_of,
    common_charset,
    constant,
    exact_type,
    is_ascii,
    numbers,
    one,
    together,
    whole_number,
)

_MOST_BYTES = 1 << 20
"""The most bytes of a repeated or padded text."""
_DIGITS = re.compile(r"[0-9A-Fa-f]*")


def _texts(arguments: Arguments, session: Session) -> tuple[Arguments, ColumnType]:
    """The arguments as text, and the type of the result."""
    type_ = replace(TEXT, charset=common_charset(arguments), collation=collation_of(arguments))
    return [Value(as_text(value, session), TEXT, value.constant) for value in arguments], type_


def _of_text(function: Compute) -> Function:
    """A function of a text and of constants after it."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if arguments[0].type.base in BINARY:
            made = function(_ascii(arguments[0]), *arguments[1:], session=session)
            return Value(made.cast(pa.binary()), BYTES, arguments[0].constant)
        [text], type_ = _texts(arguments[:1], session)
        made = function(text.values, *arguments[1:], session=session)
        return Value(made, type_, text.constant)

    return computed


def _ascii(value: Value) -> pa.Array:
    """Bytes as text of as many characters. Raises NotComputable if they are not ASCII."""
    try:
        text = value.values.cast(pa.string())
    except pa.ArrowInvalid:
        text = None
    if text is None or not is_ascii(text):
        raise NotComputable("bytes that are not ASCII as text")
    return text


def _case(function: Compute) -> Function:
    def changed(text: pa.Array, *, session: Session) -> pa.Array:
        if not is_ascii(text):
            raise NotComputable("the case of text that is not ASCII")
        return function(text)

    of_text = _of_text(changed)
    return lambda arguments, call, session, n: (
        arguments[0] if arguments[0].type.base in BINARY else of_text(arguments, call, session, n))


def _concat(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    if any(value.type.base in BINARY for value in arguments):
        data = [Value(as_bytes(value, session), BYTES, value.constant) for value in arguments]
        return Value(pc.binary_join_element_wise(*together(data, n), b""), BYTES, all(value.constant for value in data))
    texts, type_ = _texts(arguments, session)
    made = pc.binary_join_element_wise(*together(texts, n), "")
    return Value(made, type_, all(value.constant for value in texts))


def _concat_ws(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    (separator, *texts), type_ = _texts(arguments, session)
    between = one(separator)
    if between is None:
        return Value(pa.nulls(1, pa.string()), TEXT, constant=True)
    if not texts:
        return Value(pa.array([""]), type_, constant=True)
    arrays = together(texts, n)  # Arrow leaves out rows where all are NULL, so there is an empty text before them
    made = pc.binary_join_element_wise(pa.repeat("", len(arrays[0])), *arrays, between, null_handling="skip")
    return Value(pc.utf8_slice_codeunits(made, len(between), None), type_, all(value.constant for value in texts))


def _left(text: pa.Array, count: Value, *, session: Session) -> pa.Array:
    return pc.utf8_slice_codeunits(text, 0, max(0, whole_number(count, session)))


def _right(text: pa.Array, count: Value, *, session: Session) -> pa.Array:
    number = whole_number(count, session)
    return pc.utf8_slice_codeunits(text, -number, None) if number > 0 else pc.utf8_slice_codeunits(text, 0, 0)


def _substring(text: pa.Array, start: Value, count: Value | None = None, *, session: Session) -> pa.Array:
    """From a character on, which counts from 1, or back from the last one."""
    first = whole_number(start, session)
    length = None if count is None else whole_number(count, session)
    if first == 0 or (length is not None and length <= 0):
        return pc.utf8_slice_codeunits(text, 0, 0)
    if first > 0:
        return pc.utf8_slice_codeunits(text, first - 1, None if length is None else first - 1 + length)
    reaches = pc.greater_equal(pc.utf8_length(text), -first)
    stop = None if length is None or first + length >= 0 else first + length
    return pc.if_else(reaches, pc.utf8_slice_codeunits(text, first, stop), pc.if_else(text.is_valid(), "", text))


def _repeat(text: pa.Array, count: Value, *, session: Session) -> pa.Array:
    times = max(0, whole_number(count, session))
    if times * (pc.max(pc.binary_length(text)).as_py() or 0) > _MOST_BYTES:
        raise NotComputable("REPEAT of more than 1 MiB")
    return pc.binary_repeat(text, times)


def _replace(text: pa.Array, old: Value, new: Value, *, session: Session) -> pa.Array:
    before, after = one(old), one(new)
    if not isinstance(before, str) or not isinstance(after, str):
        raise NotComputable("REPLACE by a value that is not text")
    return pc.replace_substring(text, before, after) if before else text


def _char_length(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if value.type.base in BINARY:
        return numbers(pc.binary_length(value.values), constant=value.constant)
    return numbers(pc.utf8_length(as_text(value, session)), constant=value.constant)


def _length(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    return numbers(pc.binary_length(as_bytes(value, session)), constant=value.constant)


def _hex(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if not value.is_text and value.type.base not in BINARY:
        raise NotComputable("HEX of a number")
    made = by_distinct(as_bytes(value, session), lambda data: data.hex().upper())
    return Value(made, TEXT, value.constant)


def _unhex(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments

    def data(text: str) -> bytes | None:
        return bytes.fromhex(text.zfill(-(-len(text) // 2) * 2)) if _DIGITS.fullmatch(text) else None

    return Value(by_distinct(as_text(value, session), data, pa.binary()), BYTES, value.constant)


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
    texts, type_ = _texts(arguments, session)
    arrays = together(texts, n)
    made = pc.binary_join_element_wise(*(pc.fill_null(array, "") for array in arrays), "")
    is_text = reduce(pc.or_, (array.is_valid() for array in arrays))
    return Value(pc.if_else(is_text, made, pa.scalar(None, pa.string())), type_, all(value.constant for value in texts))


def _oracle_substring(text: pa.Array, start: Value, *count: Value, session: Session) -> pa.Array:
    """The same, where the place 0 is the first one, too."""
    first = constant(pa.scalar(Decimal(1)), exact_type(0)) if whole_number(start, session) == 0 else start
    return _without_empty(_substring(text, first, *count, session=session))


def _oracle_replace(text: pa.Array, old: Value, new: Value, *, session: Session) -> pa.Array:
    """The same, where NULL is an empty text; MariaDB's versions differ in what an empty result is."""
    before, after = one(old) or "", one(new) or ""
    made = pc.replace_substring(text, before, after) if before else text
    if pc.any(pc.equal(made, "")).as_py():
        raise NotComputable("REPLACE in sql_mode ORACLE that leaves nothing")
    return made


def _without_empty(text: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


FUNCTIONS: dict[str, Function] = {
    "CONCAT_OPERATOR_ORACLE": _oracle_concat, "SUBSTR_ORACLE": _of_text(_oracle_substring),
    "REPLACE_ORACLE": _of_text(_oracle_replace),
    "TRIM_ORACLE": _of_text(lambda text, *, session: _without_empty(pc.utf8_trim(text, " "))),
    "LTRIM_ORACLE": _of_text(lambda text, *, session: _without_empty(pc.utf8_ltrim(text, " "))),
    "RTRIM_ORACLE": _of_text(lambda text, *, session: _without_empty(pc.utf8_rtrim(text, " "))),
    "CONCAT": _concat, "CONCAT_WS": _concat_ws, "UPPER": _case(pc.utf8_upper), "LOWER": _case(pc.utf8_lower),
    "LEFT": _of_text(_left), "RIGHT": _of_text(_right), "SUBSTRING": _of_text(_substring),
    "TRIM": _of_text(lambda text, *, session: pc.utf8_trim(text, " ")),
    "LTRIM": _of_text(lambda text, *, session: pc.utf8_ltrim(text, " ")),
    "RTRIM": _of_text(lambda text, *, session: pc.utf8_rtrim(text, " ")),
    "REPEAT": _of_text(_repeat), "REPLACE": _of_text(_replace),
    "CHAR_LENGTH": _char_length, "LENGTH": _length, "HEX": _hex, "UNHEX": _unhex,
    "MD5": _digest("md5"), "SHA1": _digest("sha1"), "SHA2": _digest(""),
}
