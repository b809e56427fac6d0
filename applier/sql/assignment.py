"""Converts values of expressions to what columns store.

A constant is read like a literal (`applier.sql.literals`); a constant that does not fit, and all values that are not
constant, are converted like values of columns (`applier.sql.casting.values`).
"""

from __future__ import annotations

import math
import re
import string
from dataclasses import replace
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets import exact_text
from applier.mysql.character_sets.charset_tables import MULTI_BYTE
from applier.mysql.character_sets.client_charsets import UTF8
from applier.mysql.session import Session
from applier.mysql.types import (
    BINARY,
    DATES,
    GEOMETRY,
    INTEGERS,
    MEMBERS,
    NETWORK,
    NUMBERS,
    TEMPORAL,
    ColumnType,
    arrow_type,
)
from applier.mysql.values import decimals, zero_dates
from applier.mysql.values.addresses import network_text
from applier.sql import literals
from applier.sql.casting import large_time_numbers, members
from applier.sql.casting.byte_strings import as_ascii
from applier.sql.casting.number_texts import without_points
from applier.sql.casting.shown_numbers import written
from applier.sql.casting.temporal_numbers import of_digits, of_doubles
from applier.sql.casting.temporals import rounds_otherwise
from applier.sql.casting.texts import WIDE, by_distinct, in_charset
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import as_double, signed_bits
from applier.sql.functions.json_documents.documents import unquoted
from applier.sql.values import (
    BYTES,
    DOUBLE,
    TEXT,
    WHOLE,
    WHOLE_NUMBER,
    Value,
    as_bytes,
    as_number,
    as_text,
    is_ascii,
    is_ascii_data,
    is_computed_double,
    numbers,
)
from applier.sql.whole_numbers import whole_numbers

_OF_NUMBERS = {*NUMBERS, *MEMBERS, "year"}
"""Types to which a number is converted by its value, however many of its digits are shown."""
_NOTHING = re.compile(rb"(?!)")
_HAS_NOT = {"ascii": re.compile(rb"[\x80-\xff]"), "utf8mb3": re.compile(rb"[\xf0-\xff]")}
"""Bytes that are valid in a larger character set, and not in this one."""
_OF_OTHER_PARTS = [{"time", base} for base in sorted(DATES)]
"""A TIME and a type of dates, which hold other parts of a text."""


def assigned(value: Value, wanted: ColumnType, session: Session, *, strict: bool = False) -> pa.Array:
    """The values in a column of the type `wanted`, as `arrow_type`; one value if the expression is constant.

    With `strict`, a constant has to fit. Raises NotComputable if it is unknown what the column then holds.
    """
    try:
        made = _assigned(value, wanted, session, strict)
    except pa.ArrowException as error:
        raise NotComputable.because(error) from None
    if strict and value.constant and value.is_text and wanted.base in TEMPORAL:
        text, none = value.values[0].as_py(), 0 if wanted.base == "time" else zero_dates.zero(made.type).value
        if text is not None and made[0].value == none and _WORD.fullmatch(text):
            raise NotComputable(f"{text!r} as {wanted.base.upper()}")
    return made


def _assigned(value: Value, wanted: ColumnType, session: Session, strict: bool) -> pa.Array:
    if value.is_null or value.values.null_count == len(value.values):
        return pa.nulls(len(value.values), arrow_type(wanted))
    if value.is_text and value.type.charset != wanted.charset and wanted.base not in BINARY:
        value = replace(value, values=exact_text.shown(value.values, value.type.charset))
    if value.is_text and value.type.charset != wanted.charset and any("?" in member for member in wanted.members):
        value = replace(value, values=in_charset(value.values, wanted.charset or "utf8mb4"))
    if wanted.base in BINARY and value.type.base in NETWORK and not value.is_column:
        value = Value(as_text(value, session), TEXT, value.constant)  # of a column, its 16 bytes
    is_string = wanted.base in BINARY or (wanted.charset is not None and wanted.base not in {*MEMBERS, "json"})
    if value.type.base in GEOMETRY and is_string and value.is_column and session.flavour == "mariadb":
        value = replace(value, type=BYTES)
    if wanted.base in BINARY and (value.is_text or value.type.charset in WIDE):
        value = Value(as_bytes(value, session), BYTES, value.constant)
    if value.beside_charset is not None and is_string and wanted.base not in BINARY and not (
            value.beside_charset == wanted.charset or {value.beside_charset, wanted.charset} <= UTF8
            or is_ascii_data(value.values)):
        raise NotComputable("text beside bytes, one of which is chosen, and which is not ASCII")
    if wanted.charset in WIDE and value.type.base in BINARY and value.digits is False and value.is_loose and not (
            wanted.charset in ("ucs2", "utf16") and session.flavour == "mysql"):
        raise NotComputable("bytes that functions make as text in a wide character set")
    is_number_of_time = wanted.base == "time" and value.type.base in NUMBERS and not rounds_otherwise(session) and \
        (value.type.base != "double" or session.flavour == "mysql")
    counts = wanted.base in MEMBERS and (not strict if value.type.base in NUMBERS else
                                         _is_no_number(value, wanted, session))
    if value.shown is not None and wanted.base not in MEMBERS and (wanted.charset or wanted.base in BINARY):
        shown = pc.if_else(value.values.is_valid(), value.shown, pa.scalar(None, pa.string()))
        width = (value.type.base == "double" and wanted.base in _FIELDS and wanted.length) or 0
        if width and pc.any(pc.greater(pc.utf8_length(shown), width)).as_py():
            shown = by_distinct(value.values, lambda number: written(number, width))
        value = Value(shown, TEXT, value.constant)
    if value.is_choice and value.type.base in TEMPORAL and session.flavour == "mysql" and (
            wanted.base in NUMBERS | {"year"} or {value.type.base, wanted.base} in _OF_OTHER_PARTS):
        value = Value(as_text(value, session), TEXT, value.constant)  # MariaDB converts it by its value
    if value.is_choice and value.type.base in MEMBERS:  # of NULLIF, whose label counts
        value = Value(as_text(value, session), TEXT, value.constant)
    if value.type.base == "double" and not value.is_column and (session.flavour == "mysql" or not value.shows) and (
            is_string or wanted.base in TEMPORAL):
        value = replace(value, type=DOUBLE, shows=True)  # it has all digits, however many a function shows
    as_digits = value.shows or wanted.base in _OF_NUMBERS or (wanted.base in TEMPORAL and value.type.base in TEMPORAL)
    if value.constant and _is_literal(value) and as_digits and not counts and (
            wanted.base not in TEMPORAL or is_number_of_time):
        try:
            plain = _python(value)
            keeps = wanted.charset == "ascii" and session.flavour == "mariadb"  # all bytes
            if isinstance(plain, bytes | bytearray) and not keeps and \
                    _HAS_NOT.get(wanted.charset or "", _NOTHING).search(plain):
                raise ValueError(f"bytes that are not {wanted.charset}")
            if isinstance(plain, bytes | bytearray) and value.is_loose and wanted.charset in MULTI_BYTE and not strict:
                raise ValueError("bytes that may be no codes")
            made = literals.convert(plain, wanted, session.flavour)
            if isinstance(made, int) and wanted.base in DATES and "NO_ZERO_IN_DATE" in session.sql_mode:
                raise ValueError("a date with a zero in it")
            array = pa.array([made], arrow_type(wanted))
            if wanted.charset and value.is_text and value.type.charset != wanted.charset:
                given, array = array, in_charset(array, wanted.charset)
                if not exact_text.shown(array, wanted.charset).equals(given):
                    raise ValueError(f"text with characters that {wanted.charset} does not have")
            return array
        except (ValueError, InvalidOperation, OverflowError, pa.ArrowException) as error:
            if strict:
                raise NotComputable.because(error) from None
    if value.digits is None and session.flavour == "mysql":  # in a column, chosen bytes
        value = replace(value, digits=False)
    if value.digits is not False and wanted.base in NUMBERS | {"year"}:
        value = numbers(as_number(value, session), constant=value.constant)
    if value.is_column and value.type.fsp and wanted.base in {"bit", *INTEGERS} and session.flavour == "mysql" and \
            rounds_otherwise(session):  # MODIFY to a number rounds nevertheless
        whole = replace(value.type, fsp=0)
        value = replace(value, values=convert_values(value.values, value.type, whole, session), type=whole)
    is_date = value.type.base == "date" and session.flavour == "mysql"
    if wanted.base == "bit" and value.type.base in TEMPORAL and (
            is_date or not value.is_column or session.flavour == "mariadb"):
        value = Value(as_text(value, session), TEXT, value.constant)
    if wanted.base == "year" and value.type.base == "time" and session.flavour == "mariadb" and not value.is_column:
        return pc.if_else(value.values.is_null(), pa.scalar(None, pa.int16()), pa.scalar(0, pa.int16()))
    if wanted.base == "bit" and (value.is_text or value.type.base in BINARY or value.type.base == "json"):
        return _bits(as_bytes(value, session), wanted)
    if wanted.base == "bit" and value.type is WHOLE_NUMBER and not value.is_column and session.flavour == "mysql" and \
            pc.any(pc.less(as_number(value, session), _ZERO)).as_py():
        raise NotComputable("a negative number that may be a DECIMAL as BIT")
    if wanted.base == "bit" and value.type.base in ("decimal", "double", "float"):
        value = _whole(value, wanted)
    if wanted.base == "set" and value.type.base in ("bigint", "bit") and session.flavour == "mysql":
        bits = signed_bits(whole_numbers(value, session).values)
        value = numbers(bits, constant=value.constant)
    if wanted.base in MEMBERS and value.type.base in NUMBERS | {"year"}:
        value, session = _whole(value, wanted), replace(session, flavour="mariadb")  # MySQL counts here as it does
    if wanted.base == "year" and session.flavour == "mysql" and not (
            value.is_column and value.type.base in _WITH_CLOCKS):
        if value.type.base in TEMPORAL:
            return _years(value, wanted, session)
        if value.type.base == "double":
            value = _whole(value, wanted)
    if wanted.base in _FIELDS and value.is_column and (value.type.zerofill or value.type.base in ("float", "year")):
        value = numbers(as_number(value, session), constant=value.constant)
    if wanted.base == "bigint" and value.type.base in ("double", "float") and as_digits:
        value = _whole_double(value, wanted, session)
    if value.type == wanted and value.values.type == arrow_type(wanted):
        return pc.utf8_rtrim(value.values, " ") if wanted.base == "char" else value.values
    if session.flavour == "mysql" and value.is_column and value.type.base == wanted.base and \
            wanted.base in ("float", "double") and value.type.unsigned == wanted.unsigned:
        return value.values  # it copies them, however large they are
    if wanted.base in NETWORK:
        return _addresses(value, wanted, session, strict)
    if not as_digits:
        raise NotComputable(f"a number whose digits are not known as {wanted.base.upper()}")
    if wanted.base == value.type.base == "time" and not value.shows and session.flavour == "mysql" and not pc.all(
            pc.equal(value.values, convert_values(value.values, ColumnType("time", fsp=6), wanted, session))).as_py():
        raise NotComputable("a time whose digits are not known as a shorter TIME")  # of which parts of a digit are left
    if wanted.base in DATES and value.type.base in NUMBERS - {"bit"}:  # an ALTER of MySQL's takes their text
        value = numbers(as_number(value, session), constant=value.constant)
        return of_digits(value.values, value.type, wanted, session)
    if wanted.base == "time" and value.is_text and \
            pc.any(pc.greater(pc.utf8_length(value.values), _LONGEST_TIME)).as_py():
        raise NotComputable("long text as TIME")
    if wanted.base == "vector":
        raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
    if value.type.base in GEOMETRY or wanted.base in GEOMETRY:
        if value.type.base not in GEOMETRY or wanted.base not in GEOMETRY:
            raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
        return value.values
    if value.type.base == "json" and wanted.base != "json":
        if wanted.base in BINARY and session.flavour == "mariadb" and session.literals not in UTF8 and (
                session.literals in WIDE or not is_ascii(value.values)):
            raise NotComputable("the bytes of a document in a character set that is not known")
        if strict and wanted.base in NUMBERS | {"year"}:
            raise NotComputable("a document as a number")
        return _of_documents(value, wanted, session)
    if value.type.base == wanted.base == "json":
        return value.values
    if value.type.base in BINARY and wanted.base == "json":
        raise NotComputable("bytes as a document")
    if value.type.base == "double" and (value.type.scale is None or value.is_column) and wanted.base in _FIELDS and \
            wanted.length:
        width = wanted.length
        value = Value(by_distinct(value.values, lambda number: written(number, width)), TEXT, value.constant)
    elif is_computed_double(value) and (wanted.charset or wanted.base in BINARY) and wanted.base not in MEMBERS:
        value = Value(as_text(value, session), TEXT, value.constant)
    elif value.type.base in ("double", "float") and wanted.base in ("char", "varchar") and \
            pc.any(pc.greater(pc.utf8_length(as_text(value, session)), wanted.length or 0)).as_py():
        raise NotComputable("a double whose text is longer than the column")
    if wanted.base == "time" and value.type.base == "double" and value.constant and session.flavour == "mariadb" and \
            large_time_numbers.is_large(value.values[0].as_py()):
        raise NotComputable("a constant double of more than 838:59:59 as TIME")  # versions differ
    if value.type.base in BINARY and wanted.base in INTEGERS:
        value = Value(as_ascii(value.values, value.type, TEXT, session), TEXT, value.constant)
    if value.is_text and wanted.base in INTEGERS and session.flavour == "mariadb":
        blanks = r"^[ \t-\r\x{a0}]+" if value.type.charset == "latin1" else r"^[ \t-\r]+"
        value = replace(value, values=without_points(pc.replace_substring_regex(value.values, blanks, "")))
    if value.is_text and wanted.base in INTEGERS:
        session = replace(session, flavour="mysql")  # as text, it is rounded by both servers
    if wanted.base == "time" and value.type.base in NUMBERS and session.flavour == "mysql":
        return _times_of_numbers(value, wanted, session)
    if wanted.base == "time" and value.type.base in ("double", "float"):
        return of_doubles(value.values, wanted, session)
    return convert_values(value.values, value.type, wanted, session)


def _is_no_number(value: Value, wanted: ColumnType, session: Session) -> bool:
    """Return whether digits count as text only, and not as the number of a member: text that gets into a wide character
    set, or out of one, and bytes. Raises NotComputable for digits in a table in a wide character set."""
    if not value.is_text:
        return value.type.base in BINARY and wanted.charset in WIDE
    is_apart = not members.are_read_alike(value.type, wanted)
    if is_apart and {session.made_in, session.literals} & WIDE and pc.any(pc.utf8_is_digit(value.values)).as_py():
        raise NotComputable("a member's number in text that functions may make in a wide character set")
    return is_apart


def _addresses(value: Value, wanted: ColumnType, session: Session, strict: bool) -> pa.Array:
    """INET4, INET6 and UUID of text and bytes; of numbers, dates and times, MariaDB makes zeros. Seen on 10.11 and
    11.8; `strict` takes no constant that is none of the type."""
    if value.is_instant:
        raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
    if value.type.base not in NUMBERS | TEMPORAL | {"year"}:
        if value.type.base == "json":  # text
            value = Value(value.values, TEXT, value.constant)
        made = convert_values(value.values, value.type, wanted, session)
        if strict and value.constant and made.null_count > value.values.null_count:
            raise NotComputable(f"a constant that is no {wanted.base.upper()}")
        return made
    if strict and value.constant:
        raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
    if zero_dates.has_any(value.values) and not value.is_column:
        raise NotComputable(f"a function's invalid date as {wanted.base.upper()}")
    zeros = network_text(pa.array([b""]), wanted.base)[0]
    return pc.if_else(value.values.is_valid(), zeros, pa.scalar(None, pa.string()))


def _times_of_numbers(value: Value, wanted: ColumnType, session: Session) -> pa.Array:
    """MySQL's times of numbers, which it reads otherwise where it copies a column: by their text. Raises
    NotComputable."""
    found = as_number(value, session)
    if value.type.base == "float":
        value = replace(value, values=found, type=DOUBLE)
    if not pa.types.is_integer(found.type) and not pc.round(found, 6).equals(found):
        raise NotComputable("numbers with more than six digits after the point as TIME")
    are_large = large_time_numbers.are_large(found)
    if not pc.any(are_large).as_py():
        return convert_values(value.values, value.type, wanted, session)
    others = pc.if_else(are_large, pa.scalar(None, value.values.type), value.values)
    return pc.if_else(are_large, large_time_numbers.large_times(found, wanted, session),
                      convert_values(others, value.type, wanted, session))


def _whole(value: Value, wanted: ColumnType) -> Value:
    """Numbers for bits, members and years: whole numbers. Bits are exact numbers rounded, and not negative."""
    values = value.values
    if wanted.base == "bit" and value.type.base == "decimal":
        bits = pc.max_element_wise(decimals.rounded(values, 0).cast(WHOLE), _ZERO, skip_nulls=False)
        return numbers(pc.min_element_wise(bits, _ALL_BITS, skip_nulls=False), constant=value.constant)
    if not pa.types.is_floating(values.type) and value.type.base != "decimal":
        return value
    if wanted.base == "bit" and pa.types.is_floating(values.type) and \
            pc.any(pc.greater_equal(pc.abs(values), 2.0**63)).as_py():
        raise NotComputable("doubles beyond 9223372036854775807 as BIT")
    whole = pc.trunc(as_double(values).cast(pa.float64()))
    return numbers(whole.cast(pa.decimal128(38, 0)), constant=value.constant)


def _whole_double(value: Value, wanted: ColumnType, session: Session) -> Value:
    """A double or float of an expression as a whole number of 64 bits; one that an ALTER copies has a sign in between.
    Raises NotComputable for the last doubles that fit, which MySQL 9.7 takes for the largest number."""
    whole = pc.round(value.values.cast(pa.float64()), 0, round_mode="half_to_even")
    beyond = 2.0**(64 if wanted.unsigned else 63)
    if session.flavour == "mysql" and pc.any(pc.equal(whole, math.nextafter(beyond, 0))).as_py():
        raise NotComputable("the largest double that is no larger than a BIGINT")
    least = 0.0 if wanted.unsigned else -beyond
    within = pc.min_element_wise(pc.max_element_wise(whole, least, skip_nulls=False), beyond, skip_nulls=False)
    return numbers(within.cast(pa.decimal128(38, 0)), constant=value.constant)


_WORD = re.compile(r"\D*[^\W\d]\D*")
_ZERO, _ALL_BITS = (pa.scalar(Decimal(bits), WHOLE) for bits in (0, (1 << 64) - 1))
_LONGEST_TIME = 30
"""Characters of a time, or of a date and time."""
_WITH_CLOCKS = frozenset({"datetime", "timestamp", "time"})
_FIELDS = frozenset({"char", "varchar", "binary", "varbinary"})
"""Types that are converted from a column's number, not from the text that it is shown as: a FLOAT's double, a YEAR
without zeros."""


def _years(value: Value, wanted: ColumnType, session: Session) -> pa.Array:
    """The years of datetimes; a time is one of the current day."""
    instants = convert_values(value.values, value.type, ColumnType("datetime", fsp=6), session)
    return convert_values(instants, ColumnType("datetime", fsp=6), wanted, replace(session, flavour="mariadb"))


def _bits(data: pa.Array, wanted: ColumnType) -> pa.Array:
    """Bytes as bits; all bits set if there are too many."""
    most = (1 << (wanted.length or 1)) - 1
    return by_distinct(data, lambda one: min(int.from_bytes(one, "big"), most), arrow_type(wanted))


def _is_literal(value: Value) -> bool:
    """True if a constant's value may be read as a literal."""
    return value.is_text or value.type.base in ("decimal", "bigint", "double") or value.type.base in BINARY


def _python(value: Value) -> literals.Value:
    """A constant as `literals` reads it. Raises ValueError for one of another kind."""
    made = value.values[0].as_py()
    if value.digits is None:
        raise ValueError("hexadecimal digits")
    if value.digits:
        return bytes(made)
    if value.type.base in BINARY:
        return bytearray(made)
    if not _is_literal(value):
        raise ValueError(f"{value.type.base.upper()}, whose value is {made}")
    plain: literals.Value = made
    return plain


def _of_documents(value: Value, wanted: ColumnType, session: Session) -> pa.Array:
    """MariaDB's documents are text. MySQL's numbers and strings count as what they hold where a number is needed; other
    documents count as zero."""
    if session.flavour == "mysql" and wanted.base in TEMPORAL:
        raise NotComputable(f"a document as {wanted.base.upper()}")
    if session.flavour == "mariadb" or wanted.base not in NUMBERS | {"year"}:
        return assigned(Value(value.values, TEXT), wanted, session)
    if pc.any(pc.match_substring_regex(value.values, r'^"-?\d+[-:]\d+[-:]')).as_py():
        raise NotComputable(f"a document that is a date or a time, or its text, as {wanted.base.upper()}")
    text = unquoted(value.values)
    if wanted.base == "year":
        if pc.any(pc.match_substring_regex(value.values, r'^[^-\d"]')).as_py():
            raise NotComputable("a document that is neither a number nor text as YEAR")
        return assigned(Value(text, TEXT), wanted, session)
    words = pc.match_substring_regex(value.values, r"^[\[{ntf]")
    if pc.any(words).as_py():
        text = by_distinct(pc.if_else(words, value.values, text), lambda word: _WORDS.get(word, "0" if word[0] in "[{"
                                                                                         else word))
    if value.is_choice and pc.all(pc.match_substring_regex(value.values, r"^-?\d{1,18}$")).as_py() is False:
        raise NotComputable("a chosen document as a number, of which COALESCE reads the text, and IF what it holds")
    if wanted.base in INTEGERS:
        if pc.any(pc.match_substring_regex(value.values, r"^[-\d].*\.5$")).as_py():
            raise NotComputable("a half, of which a document does not say whether it is exact, as a whole number")
        if pc.any(pc.match_substring_regex(value.values, r'^"\s*[-+]?(\d*\.\d|\d+[eE]|\d{19})')).as_py():
            raise NotComputable("a document's text of a number with a fraction, an exponent or many digits as a whole "
                                "number")
    if wanted.base in {*INTEGERS, "decimal"}:
        whole = by_distinct(value.values, lambda one: _in_64_bits(one, is_whole=wanted.base != "decimal"))
        text = whole.fill_null(text)
    return convert_values(text, TEXT, wanted, session)


def _in_64_bits(number: str, *, is_whole: bool) -> str | None:
    """A document's number as MySQL has it where a number is needed: a whole one of 64 bits has a sign, and `is_whole`
    rounds others and limits them to 64 bits. None for other documents, and for numbers that stay as they are."""
    if _WHOLE.fullmatch(number):
        wide = int(number)
        if wide < 1 << 64 or not is_whole:
            return str(wide - (1 << 64)) if 1 << 63 <= wide < 1 << 64 else None
    if not is_whole or number[0] not in _DIGITS:
        return None
    if "e" not in number and abs(float(number)) > _LARGEST:
        raise NotComputable("a document's DECIMAL beyond 9223372036854775807 as a whole number")
    return str(max(-1 << 63, min((1 << 63) - 1, round(float(number)))))


_LARGEST = 2.0**63
_WHOLE = re.compile(r"\d+", re.ASCII)
_DIGITS = f"-{string.digits}"
_WORDS = {"true": "1", "false": "0", "null": "0"}
