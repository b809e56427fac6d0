"""Converts values of expressions to what columns store.

A constant is read like a literal; a constant that does not fit, and all values that are not constant, are converted
like values of columns (`applier.sql.casting.values`).
"""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
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
from applier.mysql.values import zero_dates
from applier.mysql.values.addresses import network_text
from applier.sql.assignment import documents, forms, targets
from applier.sql.assignment.constants import is_literal, read_constant
from applier.sql.casting.temporal_numbers import of_digits
from applier.sql.casting.temporals import rounds_otherwise
from applier.sql.casting.values import convert_values
from applier.sql.values import TEXT, Value, as_number, numbers

_OF_NUMBERS = {*NUMBERS, *MEMBERS, "year"}
"""Types to which a number is converted by its value, however many of its digits are shown."""
_LONGEST_TIME = 30
"""Characters of a time, or of a date and time."""
_WORD = re.compile(r"\D*[^\W\d]\D*")


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
    """The values as the column stores them, first a constant as it is read, then all others by the kind of column."""
    if value.is_null or value.values.null_count == len(value.values):
        return pa.nulls(len(value.values), arrow_type(wanted))
    value = forms.in_charset_of(value, wanted, session)
    counts = wanted.base in MEMBERS and (not strict if value.type.base in NUMBERS else
                                         forms.is_no_number(value, wanted, session))
    value = forms.as_chosen_and_shown(value, wanted, session)
    is_number_of_time = wanted.base == "time" and value.type.base in NUMBERS and not rounds_otherwise(session) and \
        (value.type.base != "double" or session.flavour == "mysql")
    are_digits_known = value.shows or wanted.base in _OF_NUMBERS or (
        wanted.base in TEMPORAL and value.type.base in TEMPORAL)
    if value.constant and is_literal(value) and are_digits_known and not counts and (
            wanted.base not in TEMPORAL or is_number_of_time):
        read = read_constant(value, wanted, session, strict=strict)
        if read is not None:
            return read
    if value.digits is None and session.flavour == "mysql":  # in a column, chosen bytes
        value = replace(value, digits=False)
    if value.digits is not False and wanted.base in NUMBERS | {"year"}:
        value = numbers(as_number(value, session), constant=value.constant)
    if not are_digits_known and wanted.base not in NETWORK and value.type != wanted:
        raise NotComputable(f"a number whose digits are not known as {wanted.base.upper()}")
    if wanted.base == "bit":
        value = targets.for_bits(value, wanted, session)
    elif wanted.base in MEMBERS:
        value, session = targets.for_member(value, wanted, session), _of_members(value, session)
    elif wanted.base == "year":
        value = targets.for_year(value, wanted, session)
    elif wanted.base in INTEGERS:
        value = targets.for_integer(value, wanted, session)
        if value.is_text:
            session = replace(session, flavour="mysql")  # as text, it is rounded by both servers
    elif wanted.base == "time":
        if value.type.base in NUMBERS:
            return targets.times_of_numbers(value, wanted, session)
        _check_time(value, wanted, session)
    elif wanted.base in DATES and value.type.base in NUMBERS - {"bit"}:  # an ALTER of MySQL's takes their text
        value = numbers(as_number(value, session), constant=value.constant)
        return of_digits(value.values, value.type, wanted, session)
    elif wanted.charset or wanted.base in BINARY | forms.FIELDS:
        value = targets.for_text(value, wanted, session)
    return _converted(value, wanted, session, strict)


def _converted(value: Value, wanted: ColumnType, session: Session, strict: bool) -> pa.Array:
    """The values as the column has them, converted from the type that they have now. Raises NotComputable."""
    if value.type == wanted and value.values.type == arrow_type(wanted):
        return pc.utf8_rtrim(value.values, " ") if wanted.base == "char" else value.values
    if session.flavour == "mysql" and value.is_column and value.type.base == wanted.base and \
            wanted.base in ("float", "double") and value.type.unsigned == wanted.unsigned:
        return value.values  # it copies them, however large they are
    if wanted.base in NETWORK:
        return _addresses(value, wanted, session, strict)
    if value.type.base == wanted.base == "json" or (value.type.base in GEOMETRY and wanted.base in GEOMETRY):
        return value.values
    if wanted.base == "vector" or value.type.base in GEOMETRY or wanted.base in GEOMETRY:
        raise NotComputable(f"{value.type.base.upper()} as {wanted.base.upper()}")
    if value.type.base == "json":
        return assigned(documents.as_text_for(value, wanted, session, strict=strict), wanted, session)
    if value.type.base in BINARY and wanted.base == "json":
        raise NotComputable("bytes as a document")
    return convert_values(value.values, value.type, wanted, session)


def _of_members(value: Value, session: Session) -> Session:
    """The session in which a member is found: MySQL finds its number as MariaDB does."""
    return replace(session, flavour="mariadb") if value.type.base in NUMBERS | {"year"} else session


def _check_time(value: Value, wanted: ColumnType, session: Session) -> None:
    """Raise NotComputable for text too long for a time, and where it is unknown which digits of a time are left."""
    if value.type.base == "time" and value.type != wanted and not value.shows and session.flavour == "mysql":
        all_digits = convert_values(value.values, ColumnType("time", fsp=6), wanted, session)
        if not pc.all(pc.equal(value.values, all_digits)).as_py():
            raise NotComputable("a time whose digits are not known as a shorter TIME")
    if value.is_text and pc.any(pc.greater(pc.utf8_length(value.values), _LONGEST_TIME)).as_py():
        raise NotComputable("long text as TIME")


def _addresses(value: Value, wanted: ColumnType, session: Session, strict: bool) -> pa.Array:
    """INET4, INET6 and UUID of text and bytes; of numbers, dates and times, MariaDB makes zeros. Seen on 10.11 and
    11.8. Raises NotComputable, with `strict` also for a constant that is none of the type."""
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
