"""Conditions over whole columns: comparisons and logic.

A condition is NULL where an operand is, except for AND, OR and `<=>`. Source: MySQL manual, "Comparison Functions and
Operators", "Logical Operators"; judged by both servers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.texts import WIDE
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import doubles, operands
from applier.sql.functions.collated import equal_texts, in_any_collation, in_order
from applier.sql.functions.json_documents.document_comparisons import in_order_of_documents
from applier.sql.nodes import Call, nodes_of
from applier.sql.read_times import times
from applier.sql.values import (
    DOUBLE,
    TEXT,
    WHOLE,
    Arguments,
    Compute,
    Function,
    Value,
    as_bytes,
    as_number,
    as_text,
    as_truth,
    numbers,
    shown_bytes,
    together,
    truth,
)

_EXACT_IN_DOUBLE = 2**53
"""All whole numbers up to this one are doubles; beyond it some are not."""


def _logic(function: Compute) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        wide = together([replace(value, values=as_truth(value, session)) for value in arguments], n)
        return truth(function(*wide), constant=all(value.constant for value in arguments))

    return computed


def _is_null(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    [value] = arguments
    if value.values.null_count and any(
            isinstance(node, Call) and node.name == "REPLACE_ORACLE" for node in nodes_of(call)):
        raise NotComputable("REPLACE in sql_mode ORACLE IS NULL, which MariaDB has as never true of a NOT NULL column")
    return truth(value.values.is_null(), constant=value.constant)


def compared(function: Compute) -> Function:
    """Return the function of SQL that compares two values by `function`, in the form in which servers compare them."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        of_document = session.flavour == "mysql" and call.name in _OPERATORS and call.arguments and sum(
            value.type.base == "json" for value in arguments) == 1 and any(value.is_text for value in arguments)
        arrays = in_order_of_documents(arguments, session, n) if of_document else \
            _comparable(arguments, call.name, session, n)
        return truth(function(*arrays), constant=all(value.constant for value in arguments))

    return in_any_collation(computed)


_OPERATORS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
"""Comparisons that MySQL does by documents; CASE and BETWEEN of one do otherwise (seen on 9.7)."""


def _comparable(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """Two values in the form in which they are compared: as numbers, as datetimes, or text by its collation, for
    equality only."""
    left, right = arguments
    if left.is_null or right.is_null:
        if name == "<=>":  # whether both are
            return [array.is_null() for array in together(arguments, n)]
        return [pa.nulls(n, pa.int64())] * 2
    texts = [value.is_text or value.type.base in MEMBERS for value in arguments]
    days = [value.type.base in TEMPORAL for value in arguments]
    if all(texts):
        return _comparable_texts(arguments, name, session, n)
    if any(days):
        if not all(days):
            instant, other = (arguments[days.index(is_day)] for is_day in (True, False))
            if instant.constant and other.is_text and other.type.charset in WIDE and session.flavour == "mysql":
                text = Value(as_text(instant, session), TEXT, constant=True)  # converted to that set
                return _comparable_texts([text if value is instant else value for value in arguments], name, session, n)
            if instant.type.base == "time" and not instant.is_column and session.flavour == "mysql" and any(
                    value.is_text and value.constant for value in arguments):
                if not _WHOLE_OR_NO_TIME.fullmatch(str(other.values[0].as_py())):
                    raise NotComputable("a time compared with a part of one, which CASE and = read in other ways")
                return _comparable_texts([Value(as_text(value, session), TEXT, value.constant) for value in arguments],
                                         name, session, n)
            if instant.type.base == "time" and not instant.is_column and session.flavour == "mariadb" and \
                    instant.values.null_count:
                raise NotComputable("a time that is NULL compared with text, which differs by version")
            if other.type.base in NUMBERS and _is_compared_by_digits(other, instant, session):
                wide = _with_clock(other, instant, session)
                return _as_numbers([wide if value is other else value for value in arguments], session, n)
            if other.type.base in BINARY and other.constant and other.digits is False:
                text = Value(shown_bytes(other), TEXT, constant=True)
                return _comparable([text if value is other else value for value in arguments], name, session, n)
            if instant.type.base == "time" and other.is_text and other.constant and session.flavour == "mysql" and \
                    times(other, session).values.null_count:
                raise NotComputable("a time compared with text that is none, which = and IN read in other ways")
            is_read_as_date = session.flavour == "mariadb" and other.type.base in NUMBERS - {"float", "double"} and \
                instant.type.base != "time" and not instant.constant
            if not is_read_as_date and (not other.is_text or (not other.constant and instant.type.base == "time")):
                raise NotComputable("a date compared with a value that is not a date")
            wanted = replace(instant.type, base="datetime" if instant.type.base == "date" else instant.type.base, fsp=6)
            given, arguments = arguments, _as_instants(arguments, wanted, session)
            if wanted.base == "timestamp" and any(zero_dates.has_any(value.values) for value in arguments):
                arguments = _as_instants(given, replace(wanted, base="datetime"), session)  # of which not all are zero
            if instant.type.base == "date" and session.flavour == "mysql" and not other.constant and (
                    name == "IN" or not instant.constant) and _have_clocks(arguments):
                raise NotComputable("a day compared with text that has a time of day, which = and CASE read in other "
                                    "ways")
        elif left.type.base != right.type.base:
            wanted = ColumnType("datetime", fsp=6)
            if "time" in (left.type.base, right.type.base):
                raise NotComputable("a time compared with a date")
            arguments = _as_instants(arguments, wanted, session)
        if name not in _EQUALITIES and any(zero_dates.has_any(value.values) for value in arguments):
            return _as_numbers(arguments, session, n)
        return together(arguments, n)
    if any(value.type.base in BINARY for value in arguments) and all(
            value.type.base in BINARY or is_text for value, is_text in zip(arguments, texts, strict=True)):
        return together([replace(value, values=as_bytes(value, session)) for value in arguments], n)
    of_numbers = sum(value.type.base in NUMBERS for value in arguments) == len(arguments) - 1
    if any(value.type.base in ("json", "geometry") or (
            pa.types.is_binary(value.values.type) and not (value.constant and value.is_loose) and not of_numbers)
           for value in arguments):
        raise NotComputable("documents or bytes compared")
    _check_years(arguments, session)
    return _as_numbers(arguments, session, n)


def _as_instants(arguments: Arguments, wanted: ColumnType, session: Session) -> list[Value]:
    """Dates, times and text as they are compared: invalid dates as they are, of text too in MariaDB, where the sql_mode
    decides in MySQL."""
    modes = set(session.sql_mode.split(",")) - {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"} | {"ALLOW_INVALID_DATES"}
    as_written = replace(session, sql_mode=",".join(sorted(modes)))
    return [replace(value, type=wanted, values=convert_values(
        value.values, value.type, wanted,
        session if value.is_text and session.flavour == "mysql" else as_written)) for value in arguments]


def _have_clocks(arguments: Arguments) -> bool:
    """Return whether one of these datetimes has a time of day."""
    return any((zero_dates.numbers_of(value.values) % DAY).any() for value in arguments)


def check_written_clocks(arguments: Arguments, session: Session) -> None:
    """Raise NotComputable for days beside text with a time of day, which BETWEEN and CASE compare as MySQL's = does
    not."""
    if session.flavour == "mysql" and any(value.type.base == "date" for value in arguments) and any(
            value.is_text and not value.constant and pc.any(pc.match_substring(value.values, ":")).as_py()
            for value in arguments):
        raise NotComputable("a day compared by BETWEEN or CASE with text that has a time of day")


def _is_compared_by_digits(number: Value, instant: Value, session: Session) -> bool:
    """Return whether a number and a date, or a time, are compared as numbers: in MySQL any that is not constant, and
    constants that have all digits of a date."""
    if not number.constant:
        return session.flavour == "mysql"
    [exact] = as_number(number, session).to_pylist()
    return exact is not None and (instant.type.base == "time" or exact == 0 or exact >= _WITH_CENTURY[1] or
                                  _WITH_CENTURY[0] <= exact <= _LAST_DAY)


def _with_clock(number: Value, instant: Value, session: Session) -> Value:
    """A constant's digits, with those of midnight where it is a day and compared with a date and time."""
    [exact] = as_number(number, session).to_pylist() if number.constant else [0]
    if instant.type.base in ("date", "time") or not 0 < exact <= _LAST_DAY:
        return number
    return numbers(pa.array([Decimal(int(exact)) * 1_000_000], WHOLE), constant=True)


_WITH_CENTURY, _LAST_DAY = (10_00_01_01, 10_00_01_01_00_00_00), 99_99_12_31
"""The first day, and the first day with a time, whose year has four digits."""


def _as_numbers(arguments: Arguments, session: Session, n: int) -> list[pa.Array]:
    exact = together([replace(value, values=as_number(value, session)) for value in arguments], n)
    arrays = operands(arguments, session, n)[0]
    if any(found.type != array.type and _is_large(found) for found, array in zip(exact, arrays, strict=True)):
        raise NotComputable("large numbers compared with doubles")
    scale = max(array.type.scale if pa.types.is_decimal(array.type) else 0 for array in arrays)
    return [array.cast(pa.decimal128(38, scale)) if pa.types.is_decimal(array.type) else array for array in arrays]


_EQUALITIES = frozenset({"=", "<>", "IN", "<=>"})
_WHOLE_OR_NO_TIME = re.compile(r"-?\d{2,3}:\d\d:\d\d|[^\d.:-]*")


def _is_large(exact: pa.Array) -> bool:
    size = pc.max(pc.abs(exact)).as_py()
    return size is not None and size > _EXACT_IN_DOUBLE


def _check_years(arguments: Arguments, session: Session) -> None:
    """A YEAR compares with a constant by the year that it stands for: 99 is 1999, and '0' is 2000."""
    if not any(value.type.base == "year" for value in arguments):
        return
    for value in arguments:
        number = as_number(value, session)[0].as_py() if value.constant else None
        if number is not None and number < 100 and (number or value.is_text):
            raise NotComputable("a YEAR compared with one of two digits")


def _comparable_texts(arguments: Arguments, name: str, session: Session, n: int) -> list[pa.Array]:
    """A constant takes the other side's collation; in MySQL so does text without a collation of its own, from documents
    and numbers."""
    return (equal_texts if name in _EQUALITIES else in_order)(arguments, session, n)


def _null_safe_equal(left: pa.Array, right: pa.Array) -> pa.Array:
    same = pc.equal(left, right)
    return pc.if_else(same.is_valid(), same, pc.and_(left.is_null(), right.is_null()))


def _in(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    first, *others = arguments
    _check_text_among_dates(arguments, session)
    found = [compared(pc.equal)([first, other], call, session, n) for other in others]
    return _logic(lambda *arrays: reduce(pc.or_kleene, arrays))(found, call, session, n)


def _check_text_among_dates(arguments: Arguments, session: Session) -> None:
    """Raise NotComputable for text in IN and BETWEEN of dates and other text, all of which MySQL reads as dates, except
    beside constants in a wide set."""
    first, *others = arguments
    are_dates = {value.type.base in TEMPORAL for value in others}
    is_by_text = first.type.charset in WIDE and all(value.constant for value in others)
    if session.flavour == "mysql" and first.is_text and len(are_dates) > 1 and not is_by_text:
        raise NotComputable("text compared with dates and other values at once")


def _between(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, low, high = arguments
    check_written_clocks(arguments, session)
    _check_text_among_dates(arguments, session)
    are_texts = [one.is_text or one.type.base in MEMBERS | BINARY for one in arguments]
    kinds = NUMBERS | {"year"} if session.flavour == "mysql" else NUMBERS
    if any(are_texts) and any(one.type.base in kinds for one in arguments):  # all are compared as numbers then
        value, low, high = (Value(doubles(one, session), DOUBLE, one.constant) if is_text else one
                            for one, is_text in zip(arguments, are_texts, strict=True))
    sides = [FUNCTIONS[name]([value, bound], Call(name), session, n) for name, bound in ((">=", low), ("<=", high))]
    return _logic(pc.and_kleene)(sides, call, session, n)


FUNCTIONS: dict[str, Function] = {
    "AND": _logic(pc.and_kleene), "OR": _logic(pc.or_kleene), "NOT": _logic(pc.invert), "XOR": _logic(pc.xor),
    "ISNULL": _is_null, "=": compared(pc.equal), "<>": compared(pc.not_equal), "<": compared(pc.less),
    "<=": compared(pc.less_equal), ">": compared(pc.greater), ">=": compared(pc.greater_equal),
    "<=>": compared(_null_safe_equal), "IN": _in, "BETWEEN": _between,
}
DECIDED_BY = {"AND": False, "OR": True}
"""The truth of an operand that is also that of the whole, whatever the other operand is."""
