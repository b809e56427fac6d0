"""CAST and CONVERT over whole columns.

Source: MySQL manual, "Cast Functions and Operators".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.character_sets.collations import DEFAULT_COLLATIONS, default_collation
from applier.mysql.session import Session
from applier.mysql.types import BINARY, DATES, INTEGERS, NETWORK, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.values import decimals, zero_dates
from applier.sql.casting import byte_strings, invalid_dates
from applier.sql.casting.byte_strings import to_bytes
from applier.sql.casting.number_texts import leading_integers
from applier.sql.casting.temporals import check_end, cut, local_micros, rounds
from applier.sql.casting.texts import WIDE, by_distinct, in_charset
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import doubles, signed_bits
from applier.sql.functions.intervals import SECOND
from applier.sql.functions.json_documents.new_documents import as_part
from applier.sql.nodes import Call
from applier.sql.read_times import datetimes, has_dates, times
from applier.sql.values import (
    BYTES,
    DOUBLE,
    JSON,
    NO_VARBINARY,
    SEVERAL,
    TEXT,
    WHOLE_NUMBER,
    Value,
    as_bytes,
    as_number,
    as_text,
    converted,
    digits_of_instants,
    is_ascii,
    is_ascii_data,
    numbers,
    shown_bytes,
    text_type,
    type_of_bytes,
)
from applier.sql.whole_numbers import whole_numbers, within_64_bits

_TYPE = re.compile(r"(\w+)(?: ?\((\d+)(?: ?, ?(\d+))?\))?(?: INTEGER| INT)?")
_Cast: TypeAlias = Callable[[Value, int | None, int | None, Session], Value]
_OF_CHARSET = re.compile(r"(?:VAR)?CHAR(?:ACTER)? ?(?:\((\d+)\))? (?:CHARSET|CHARACTER SET) ?(\w+)")


def cast(value: Value, call: Call, session: Session) -> Value:
    """A value as the words after AS, or USING, say; text has its set's default collation, as a column would: MySQL's,
    and MariaDB's after USING, where the default depends on the version. Raises NotComputable."""
    made = _cast(value, call, session)
    if not made.is_text or made.type.charset is None or made.type.collation is not None:
        return made
    if session.flavour == "mysql":
        collation = default_collation(made.type.charset, DEFAULT_COLLATIONS["mysql"])
    elif call.word.upper().startswith("CHARSET"):
        collation = SEVERAL
    else:
        return made
    return replace(made, type=replace(made.type, collation=collation))


def _cast(value: Value, call: Call, session: Session) -> Value:
    is_document = value.is_document or (session.flavour == "mariadb" and value.type.base == "json")
    if call.word in ("CHARSET UTF8MB4", "CHARSET utf8mb4", "CHAR CHARSET UTF8MB4", "CHAR CHARACTER SET UTF8MB4"):
        text = _of_bytes(value, TEXT, session) if value.type.base in BINARY else as_text(value, session)
        is_using = call.word.startswith("CHARSET")
        return Value(text, TEXT, value.constant, is_document=is_document and is_using,
                     is_recoded=is_using and _is_recoded(value, session))
    if (charset := call.word.lower().removeprefix("charset ")) != call.word.lower():
        made = _in_charset(value, charset, session, is_made=isinstance(call.arguments[0], Call))
        return replace(made, is_document=is_document, is_recoded=_is_recoded(value, session))
    of_charset = _OF_CHARSET.fullmatch(call.word)
    if of_charset and of_charset[2] == "BINARY":
        made = _binary(value, int(of_charset[1]) if of_charset[1] else None, None, session)
        return replace(made, constant=value.constant, is_loose=True)
    if of_charset:
        if value.type.base in BINARY:
            value = Value(shown_bytes(value), TEXT, value.constant)
        made = _in_charset(value, of_charset[2].lower(), session, is_made=isinstance(call.arguments[0], Call))
        if of_charset[1]:
            made = replace(made, values=pc.utf8_slice_codeunits(made.values, 0, int(of_charset[1])))
        return made
    match = _TYPE.fullmatch(call.word)
    if match is None or match[1] not in _CASTS:
        raise NotComputable(f"CAST to {call.word}")
    size, scale = (int(part) if part else None for part in match.groups()[1:])
    made = _CASTS[match[1]](value, size, scale, session)
    return Value(made.values, made.type, value.constant)


def _is_recoded(value: Value, session: Session) -> bool:
    return session.flavour == "mariadb" and value.type.base in NUMBERS | TEMPORAL | {"year"}


def _in_charset(value: Value, charset: str, session: Session, *, is_made: bool = False) -> Value:
    """CONVERT … USING; bytes are text in that set."""
    if charset == "binary":
        return Value(as_bytes(value, session), type_of_bytes([value]), value.constant)
    type_ = ColumnType("longtext", charset="utf8mb3" if charset == "utf8" else charset)
    if is_made and value.constant and session.flavour == "mysql" and value.is_text and not is_ascii(value.values):
        raise NotComputable("a constant's text that is not ASCII in another character set")  # some of it twice
    if value.type.base in BINARY:
        return Value(_of_bytes(value, type_, session), type_, value.constant)
    if value.is_text and value.type.charset == type_.charset:
        return Value(value.values, type_, value.constant)
    return Value(in_charset(as_text(value, session), str(type_.charset)), type_, value.constant)


def _char(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    text = _of_bytes(value, TEXT, session) if value.type.base in BINARY else as_text(value, session)
    type_ = text_type("utf8mb4", DEFAULT_COLLATIONS["mariadb"]["utf8mb4"]) if session.literals in WIDE else TEXT
    return Value(text if size is None else pc.utf8_slice_codeunits(text, 0, size), type_)


def _of_bytes(value: Value, type_: ColumnType, session: Session) -> pa.Array:
    """Bytes as text of a type."""
    charset = type_.charset or ""
    if session.flavour == "mysql" and charset == "ascii" and not is_ascii_data(value.values):
        raise NotComputable("bytes that are not ASCII as text in ascii")
    if session.flavour == "mysql" and charset in UTF8:
        return by_distinct(value.values, partial(byte_strings.read_as_text, charset=charset, session=session))
    return byte_strings.to_text(value.values, value.type, type_, session)


def _binary(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    if value.type.base in NETWORK:  # its 16 bytes
        raise NotComputable(f"CAST of {value.type.base.upper()} to BINARY")
    data = as_bytes(value, session)
    if size is None:
        return Value(data, type_of_bytes([value]))
    made = to_bytes(data, BYTES, ColumnType("binary", length=size), session)
    return Value(made, ColumnType("varbinary", length=size) if size < NO_VARBINARY else BYTES)


def _signed(value: Value, size: int | None, _: int | None, session: Session, *, is_unsigned: bool = False) -> Value:
    if value.type.base in BINARY and value.digits is False:
        value = Value(byte_strings.as_ascii(value.values, value.type, TEXT, session), TEXT, value.constant)
    if value.is_text and not (value.is_instant and value.shown is not None):
        made = leading_integers(value.values, value.type.charset, session.flavour, is_column=False)
        return numbers(made, constant=value.constant)
    if value.type.base == "decimal" and value.type.unsigned and session.flavour == "mysql":
        value = Value(whole_numbers(value, session).values, ColumnType("bigint", unsigned=True), value.constant)
    if value.type.base == "bigint" and value.type.unsigned:
        wide = pc.greater(value.values, pa.scalar(Decimal(2**63 - 1), value.values.type))
        wrapped = pc.subtract(value.values.cast(pa.decimal128(20, 0)), pa.scalar(Decimal(2**64), pa.decimal128(20, 0)))
        return numbers(pc.if_else(wide, wrapped, value.values.cast(wrapped.type)), constant=value.constant)
    found = as_number(converted(value, WHOLE_NUMBER, session) if value.type.base in TEMPORAL else value, session)
    if pa.types.is_floating(found.type):
        found = pc.round(found, 0, round_mode="half_to_even")
        if pc.any(pc.greater_equal(pc.abs(found), 2.0**63)).as_py():
            raise NotComputable("CAST of so large a double to a whole number")
        found = found.cast(pa.decimal128(38, 0))
    if value.type.base == "bit" or value.digits:
        found = signed_bits(found)
    if session.flavour == "mariadb":
        return numbers(_of_64_bits(found, value, is_unsigned=is_unsigned), constant=False)
    if value.type.base in ("decimal", "bigint") and session.flavour == "mysql" and not is_unsigned:
        found = whole_numbers(value, session).values
    return numbers(decimals.rounded(found, 0), constant=False)


def _of_64_bits(found: pa.Array, value: Value, *, is_unsigned: bool) -> pa.Array:
    """Numbers as MariaDB casts them: a DECIMAL beyond 64 bits is the largest number. Raises NotComputable for one of
    which it is not known whether it is a DECIMAL's."""
    whole = within_64_bits(decimals.rounded(found, 0), signed=not is_unsigned)
    wide = pc.greater(whole, pa.scalar(Decimal(2**63 - 1), whole.type))
    if is_unsigned or not pc.any(wide).as_py():
        return whole
    if value.type.base != "decimal":
        raise NotComputable("CAST of a number of more than 9223372036854775807 that may be a DECIMAL to SIGNED")
    return pc.if_else(wide, pa.scalar(Decimal(2**63 - 1), whole.type), whole)


def _unsigned(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    made = _signed(value, size, scale, session, is_unsigned=True)
    if session.flavour == "mysql" and pc.any(pc.or_(pc.greater_equal(made.values, pa.scalar(Decimal(1 << 64))), pc.less(
            made.values, pa.scalar(Decimal(-1 << 63))))).as_py():
        raise NotComputable("CAST of so large or small a number to UNSIGNED")
    is_negative = pc.less(made.values, 0)
    if not pc.any(is_negative).as_py():
        return replace(made, type=ColumnType("bigint", unsigned=True))
    if value.type.base not in {*INTEGERS, "bit"} and not value.is_text and not value.type.unsigned:
        raise NotComputable("CAST of negative numbers that are no integers to UNSIGNED")
    wrapped = pc.add(made.values.cast(pa.decimal128(37, 0)), pa.scalar(Decimal(2**64), pa.decimal128(20, 0)))
    return Value(pc.if_else(is_negative, wrapped, made.values), ColumnType("bigint", unsigned=True))


def _decimal(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    type_ = ColumnType("decimal", precision=size or 10, scale=scale or 0)
    if value.type.base == "json":
        raise NotComputable("CAST of a document to DECIMAL")
    source = Value(as_number(value, session), DOUBLE if value.type.base == "double" else value.type)
    if value.is_text:
        text = digits_of_instants(value) if value.is_instant else value.values
        made = convert_values(text, value.type, type_, session)
    else:
        old = DOUBLE if pa.types.is_floating(source.values.type) else \
            ColumnType("decimal", precision=38, scale=source.values.type.scale)
        made = convert_values(source.values, old, type_, session)
    return Value(made, type_)


def _double(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    if size is not None:
        raise NotComputable("CAST to a floating-point type with digits")
    return Value(doubles(value, session), DOUBLE)


def _float(value: Value, size: int | None, scale: int | None, session: Session) -> Value:
    if scale is not None or (size or 0) > _FLOAT_BITS or session.flavour == "mariadb":
        return _double(value, None if (size or 0) > _FLOAT_BITS and session.flavour == "mysql" else size or 0, scale,
                       session)
    made = _double(value, None, None, session)
    return replace(made, values=made.values.cast(pa.float32(), safe=False).cast(pa.float64()))


_FLOAT_BITS = 24


CUTS = "TIME_TRUNCATE_FRACTIONAL,ALLOW_INVALID_DATES"
"""The sql_mode in which a date keeps its parts and only loses digits."""


def for_days(session: Session) -> Session:
    """The session in which text becomes a day: MariaDB never rounds a fraction of a second to the next one."""
    return replace(session, sql_mode=session.sql_mode.replace("TIME_ROUND_FRACTIONAL", ""))


def _datetime_cast(base: str) -> _Cast:
    def made(value: Value, size: int | None, _: int | None, session: Session) -> Value:
        type_ = ColumnType(base, fsp=size or 0)
        if base != "time" and value.type.base in DATES and zero_dates.has_any(value.values):
            forbidden = pa.array(invalid_dates.refused(value.values, value.type, session))
            value = replace(value, values=pc.if_else(forbidden, None, value.values))
            mode = session.sql_mode.replace("NO_ZERO", "")
            session = replace(session, sql_mode=f"{mode},ALLOW_INVALID_DATES")
        if has_dates(value):
            value = times(value, session) if base == "time" else datetimes(
                value, for_days(session) if base == "date" else session, whole=True, is_day=base == "date")
        if value.type.base not in TEMPORAL and not value.is_null:
            raise NotComputable(f"CAST of a value that is not a date to {base.upper()}")
        if session.flavour == "mariadb" and base != "time" and zero_dates.has_any(value.values):
            value = _without_zero_dates(value, session)
        if base == "date" and value.type.base in ("datetime", "timestamp"):
            session = replace(session, sql_mode=CUTS)
        elif session.flavour == "mariadb" and "TIME_ROUND_FRACTIONAL" not in session.sql_mode:
            session = replace(session, sql_mode=CUTS, flavour="mysql")
            if value.type.base == "time":  # the longest has a fraction, also out of text without one
                value = replace(value, type=ColumnType("time", fsp=6))
        if session.flavour == "mysql" and base == "datetime" and value.type.base in ("datetime", "timestamp"):
            check_end(cut(local_micros(value.values, value.type, session), 10**(6 - type_.fsp), rounds(session)))
        return Value(convert_values(value.values, value.type, type_, session), type_)

    return made


def _without_zero_dates(value: Value, session: Session) -> Value:
    """Invalid dates as MariaDB casts them: zero is NULL in NO_ZERO_DATE. Raises NotComputable for others that the
    sql_mode may not allow."""
    others = zero_dates.which(value.values) & ~zero_dates.are_zero(value.values)
    if "NO_ZERO_IN_DATE" in session.sql_mode and others.any():
        raise NotComputable("CAST of a date with a zero in it")
    if "NO_ZERO_DATE" not in session.sql_mode:
        return value
    is_zero = pa.array(zero_dates.are_zero(value.values))
    return replace(value, values=pc.if_else(is_zero, pa.scalar(None, value.values.type), value.values))


def _year(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    """MySQL's CAST to YEAR: of a date its year, else of the number; NULL for others than a YEAR has. The text of a zero
    is 2000, as that of two digits is a year near it."""
    if session.flavour == "mariadb" or value.type.base in (*BINARY, "time", "json", "bit"):
        raise NotComputable(f"CAST of {value.type.base.upper()} to YEAR")
    if value.type.base == "timestamp":
        value = converted(value, ColumnType("datetime", fsp=value.type.fsp), session)
    if value.type.base in TEMPORAL:
        real = pc.year(zero_dates.as_nulls(value.values).cast(pa.timestamp("us")))
        days = zero_dates.numbers_of(value.values) // (1 if value.type.base == "date" else zero_dates.DAY)
        found = pc.if_else(pa.array(zero_dates.which(value.values)), pa.array(zero_dates.parts(days)[0], pa.int64()),
                           real)
        return numbers(by_distinct(found, lambda year: year if not year or _is_year(year) else None, pa.int64()),
                       constant=value.constant)

    def of_text(text: str) -> int | None:
        digits = re.match(r"\s*\+?\d+", text, re.ASCII)
        return None if digits is None else of_number(int(digits[0])) if int(digits[0]) else 2000

    def of_number(number: Decimal | float) -> int | None:
        year = round(number)
        year += 0 if not 0 < year < 100 else 2000 if year < 70 else 1900
        return year if not year or _is_year(year) else None

    given = value.values if value.is_text else as_number(value, session)
    given = decimals.rounded(given, 0) if pa.types.is_decimal(given.type) else given
    made = by_distinct(given, of_text if value.is_text else of_number, pa.int64())
    return replace(numbers(made, constant=value.constant), is_choice=True)


def _is_year(year: int) -> bool:
    return _FIRST_YEAR <= year <= _LAST_YEAR


_FIRST_YEAR, _LAST_YEAR = 1901, 2155


def cast_without_digits(value: Value, base: str, call: Call, session: Session) -> Value:
    """TIME(x) and TIMESTAMP(x), which servers write as a CAST without digits. MariaDB has the fraction of a second all
    the same while it copies a table."""
    word = "DATETIME" if base == "datetime" else base.upper()
    if session.flavour == "mariadb":
        whole = cast(value, replace(call, word=f"{word}(6)"), session).values.cast(pa.int64())
        if any(one is not None and one % SECOND for one in whole.unique().to_pylist()):
            raise NotComputable(f"{call.name} of a value with a fraction of a second")
    return cast(value, replace(call, word=word), session)


def _json(value: Value, size: int | None, _: int | None, session: Session) -> Value:
    if not value.is_text and value.type.base != "json":
        if session.flavour != "mysql" or value.is_null:
            raise NotComputable("CAST of a value that is not text to JSON")
        made = as_part(value, session)
        return Value(pc.if_else(value.values.is_null(), pa.scalar(None, pa.string()), made.values), JSON)
    return Value(convert_values(value.values, value.type, JSON, session) if value.is_text else value.values, JSON)


_CASTS: dict[str, _Cast] = {
    "CHAR": _char, "VARCHAR": _char, "BINARY": _binary, "SIGNED": _signed, "INT": _signed, "INTEGER": _signed,
    "UNSIGNED": _unsigned, "DECIMAL": _decimal, "DOUBLE": _double, "FLOAT": _float, "REAL": _double,
    "DATE": _datetime_cast("date"), "DATETIME": _datetime_cast("datetime"), "TIME": _datetime_cast("time"),
    "JSON": _json, "YEAR": _year,
}
