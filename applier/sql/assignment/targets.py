"""The value from which each kind of column is converted: one function for BIT, members, YEAR, whole numbers, text and
TIME each."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, NUMBERS, TEMPORAL, ColumnType, arrow_type
from applier.mysql.values import decimals
from applier.sql.assignment.forms import FIELDS
from applier.sql.casting import large_time_numbers
from applier.sql.casting.byte_strings import as_ascii
from applier.sql.casting.number_texts import without_points
from applier.sql.casting.shown_numbers import written
from applier.sql.casting.temporal_numbers import of_doubles
from applier.sql.casting.temporals import rounds_otherwise
from applier.sql.casting.texts import by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import as_double, signed_bits
from applier.sql.values import (
    DOUBLE,
    TEXT,
    WHOLE,
    WHOLE_NUMBER,
    Value,
    as_bytes,
    as_number,
    as_text,
    is_computed_double,
    numbers,
)
from applier.sql.whole_numbers import whole_numbers

_ZERO, _ALL_BITS = (pa.scalar(Decimal(bits), WHOLE) for bits in (0, (1 << 64) - 1))
_WITH_CLOCKS = frozenset({"datetime", "timestamp", "time"})


def for_bits(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The number or the bytes whose bits a BIT column gets. Raises NotComputable."""
    value = _rounded(value, session)
    is_date = value.type.base == "date" and session.flavour == "mysql"
    if value.type.base in TEMPORAL and (is_date or not value.is_column or session.flavour == "mariadb"):
        value = Value(as_text(value, session), TEXT, value.constant)
    if value.is_text or value.type.base in BINARY or value.type.base == "json":
        most = (1 << (wanted.length or 1)) - 1  # all bits are set if there are too many
        bits = by_distinct(as_bytes(value, session), lambda one: min(int.from_bytes(one, "big"), most),
                           arrow_type(wanted))
        return Value(bits, wanted, value.constant)
    if value.type is WHOLE_NUMBER and not value.is_column and session.flavour == "mysql" and \
            pc.any(pc.less(as_number(value, session), _ZERO)).as_py():
        raise NotComputable("a negative number that may be a DECIMAL as BIT")
    if value.type.base == "decimal":
        bits = pc.max_element_wise(decimals.rounded(value.values, 0).cast(WHOLE), _ZERO, skip_nulls=False)
        return numbers(pc.min_element_wise(bits, _ALL_BITS, skip_nulls=False), constant=value.constant)
    if value.type.base in ("double", "float"):
        if pc.any(pc.greater_equal(pc.abs(value.values), 2.0**63)).as_py():
            raise NotComputable("doubles beyond 9223372036854775807 as BIT")
        return _truncated(value)
    return value


def for_member(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The number or the text of an ENUM's or a SET's member. Raises NotComputable."""
    if wanted.base == "set" and value.type.base in ("bigint", "bit") and session.flavour == "mysql":
        value = numbers(signed_bits(whole_numbers(value, session).values), constant=value.constant)
    return _truncated(value) if value.type.base in NUMBERS | {"year"} else value


def for_year(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The year of a date, or the number or text that is one; a time of MySQL's is one of the current day. Raises
    NotComputable."""
    if value.type.base == "time" and session.flavour == "mariadb" and not value.is_column:
        zeros = pc.if_else(value.values.is_null(), pa.scalar(None, pa.int16()), pa.scalar(0, pa.int16()))
        return Value(zeros, wanted, value.constant)
    if session.flavour == "mysql" and not (value.is_column and value.type.base in _WITH_CLOCKS):
        if value.type.base in TEMPORAL:
            instant = ColumnType("datetime", fsp=6)
            instants = convert_values(value.values, value.type, instant, session)
            years = convert_values(instants, instant, wanted, replace(session, flavour="mariadb"))
            return Value(years, wanted, value.constant)
        if value.type.base == "double":
            return _truncated(value)
    return value


def for_integer(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The number that a whole number is made of, or the text that begins with it. Raises NotComputable."""
    value = _rounded(value, session)
    if wanted.base == "bigint" and value.type.base in ("double", "float"):
        return _whole_double(value, wanted, session)
    if value.type.base in BINARY:
        value = Value(as_ascii(value.values, value.type, TEXT, session), TEXT, value.constant)
    if value.is_text and session.flavour == "mariadb":
        blanks = r"^[ \t-\r\x{a0}]+" if value.type.charset == "latin1" else r"^[ \t-\r]+"
        value = replace(value, values=without_points(pc.replace_substring_regex(value.values, blanks, "")))
    return value


def for_text(value: Value, wanted: ColumnType, session: Session) -> Value:
    """The number, date or text that text or bytes are made of; a double's text is as long as the column permits.
    Raises NotComputable."""
    if wanted.base in FIELDS and value.is_column and (value.type.zerofill or value.type.base in ("float", "year")):
        value = numbers(as_number(value, session), constant=value.constant)
    if value.type.base == "double" and (value.type.scale is None or value.is_column) and wanted.base in FIELDS and \
            wanted.length:
        width = wanted.length
        return Value(by_distinct(value.values, lambda number: written(number, width)), TEXT, value.constant)
    if is_computed_double(value):
        return Value(as_text(value, session), TEXT, value.constant)
    if value.type.base in ("double", "float") and wanted.base in ("char", "varchar") and \
            pc.any(pc.greater(pc.utf8_length(as_text(value, session)), wanted.length or 0)).as_py():
        raise NotComputable("a double whose text is longer than the column")
    return value


def times_of_numbers(value: Value, wanted: ColumnType, session: Session) -> pa.Array:
    """The times of numbers; MySQL reads numbers otherwise where it copies a column: by their text. Raises
    NotComputable."""
    if value.type.base == "double" and value.constant and session.flavour == "mariadb" and \
            large_time_numbers.is_large(value.values[0].as_py()):
        raise NotComputable("a constant double of more than 838:59:59 as TIME")  # versions differ
    if session.flavour == "mariadb":
        return of_doubles(value.values, wanted, session) if value.type.base in ("double", "float") else \
            convert_values(value.values, value.type, wanted, session)
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


def _rounded(value: Value, session: Session) -> Value:
    """A column's dates and times in whole seconds: MODIFY of MySQL to a number rounds even where the session truncates
    (TIME_TRUNCATE_FRACTIONAL)."""
    if not (value.is_column and value.type.fsp and session.flavour == "mysql" and rounds_otherwise(session)):
        return value
    whole = replace(value.type, fsp=0)
    return replace(value, values=convert_values(value.values, value.type, whole, session), type=whole)


def _truncated(value: Value) -> Value:
    """Whole numbers of decimals and doubles; other values unchanged."""
    if not pa.types.is_floating(value.values.type) and value.type.base != "decimal":
        return value
    whole = pc.trunc(as_double(value.values).cast(pa.float64()))
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
