"""Conditions over whole columns, and choices by conditions.

A condition is NULL where an operand is, except for AND, OR and `<=>`. Source: MySQL manual, "Comparison Functions and
Operators", "Logical Operators", "Flow Control Functions"; judged by both servers.
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
from applier.mysql.types import BINARY, DATES, INTEGERS, MEMBERS, NETWORK, NUMBERS, TEMPORAL, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY
from applier.sql.casting.values import convert_values
from applier.sql.functions.arithmetic import EXTREMES, as_double, operands
from applier.sql.functions.collated import equal_texts, in_any_collation, in_order
from applier.sql.nodes import Call
from applier.sql.values import (
    BYTES,
    DOUBLE,
    NULL,
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
    collation_of,
    common_charset,
    exact_type,
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
    return truth(value.values.is_null(), constant=value.constant)


def _compared(function: Compute) -> Function:
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        arrays = _comparable(arguments, call.name, session, n)
        return truth(function(*arrays), constant=all(value.constant for value in arguments))

    return in_any_collation(computed)


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
            instant = arguments[days.index(True)]
            if instant.type.base == "time" and not instant.is_column and session.flavour == "mysql" and any(
                    value.is_text and value.constant for value in arguments):
                if not _WHOLE_OR_NO_TIME.fullmatch(str(arguments[days.index(False)].values[0].as_py())):
                    raise NotComputable("a time compared with a part of one, which CASE and = read in other ways")
                return _comparable_texts([Value(as_text(value, session), TEXT, value.constant) for value in arguments],
                                         name, session, n)
            if instant.type.base == "time" and not instant.is_column and session.flavour == "mariadb" and \
                    instant.values.null_count:
                raise NotComputable("a time that is NULL compared with text, which differs by version")
            other = arguments[days.index(False)]
            if other.type.base in NUMBERS and _is_compared_by_digits(other, instant, session):
                wide = _with_clock(other, instant, session)
                return _as_numbers([wide if value is other else value for value in arguments], session, n)
            if other.type.base in BINARY and other.constant and other.digits is False:
                text = Value(shown_bytes(other), TEXT, constant=True)
                return _comparable([text if value is other else value for value in arguments], name, session, n)
            if not other.is_text or (not other.constant and instant.type.base == "time"):
                raise NotComputable("a date compared with a value that is not a date")
            wanted = replace(instant.type, base="datetime" if instant.type.base == "date" else instant.type.base, fsp=6)
            arguments = _as_instants(arguments, wanted, session)
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
    if any(value.type.base in ("json", "geometry") or (
            pa.types.is_binary(value.values.type) and not (value.constant and value.is_loose)) for value in arguments):
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


def _check_written_clocks(arguments: Arguments, session: Session) -> None:
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
    found = [_compared(pc.equal)([first, other], call, session, n) for other in others]
    return _logic(lambda *arrays: reduce(pc.or_kleene, arrays))(found, call, session, n)


def _common_type(arguments: Arguments, session: Session) -> ColumnType:
    """The type of a choice between these values. Raises NotComputable."""
    typed = [value for value in arguments if not value.is_null]
    if not typed:
        return NULL
    kinds = {value.type.base for value in typed}
    if session.flavour == "mariadb" and len(addresses := kinds & NETWORK) == 1 and all(
            value.is_text or value.type.base in NETWORK for value in typed):
        return ColumnType(addresses.pop())
    if all(value.is_text or value.type.base in MEMBERS for value in typed):
        return replace(TEXT, charset=common_charset(typed), collation=collation_of(typed))
    if len(kinds) == 1 and kinds & {*TEMPORAL, "json", "geometry"}:
        return replace(typed[0].type, fsp=max(value.type.fsp for value in typed))
    if kinds & {"json", "geometry", "bit"} or (kinds & {*TEMPORAL} and not any(value.is_text for value in typed)):
        raise NotComputable("a value of one type or another")
    if kinds & BINARY:
        return BYTES
    if any(value.is_text or value.type.base in MEMBERS for value in typed):
        return replace(TEXT, charset=common_charset(typed), collation=collation_of(typed))
    arrays = [as_number(value, session) for value in typed]
    if any(pa.types.is_floating(array.type) for array in arrays):
        return DOUBLE
    return exact_type(max(array.type.scale for array in arrays))


def _one_of(arguments: Arguments, session: Session) -> tuple[list[Value], ColumnType]:
    """The values converted to their common type."""
    type_ = _common_type(arguments, session)
    scales = {value.type.scale or 0 for value in arguments if not value.is_null}
    shows = type_.base != "decimal" or len(scales) == 1  # each is shown with its own digits
    made = []
    for value in arguments:
        if value.is_null:
            values = pa.nulls(len(value.values), _arrow_of(type_, arguments))
        elif type_.base == "double":
            values = as_double(as_number(value, session))
        elif type_.base in ("decimal", "bigint"):
            values = as_number(value, session).cast(pa.decimal128(38, type_.scale or 0))
        elif type_ is BYTES:
            values = as_bytes(value, session)
        elif type_.base == "longtext":
            values = as_text(value, session, type_.charset)
        elif type_.base in NETWORK:
            values = convert_values(value.values, value.type, type_, session)
        else:
            values = value.values
        shown = pa.nulls(len(value.values), pa.string()) if value.is_null else \
            None if shows or not value.shows else as_text(value, session)
        digits = None if type_ is BYTES and value.digits is not False and len(arguments) > 1 else False
        made.append(Value(values, type_, value.constant, digits=digits, shows=shows, shown=shown))
    return made, type_


def _arrow_of(type_: ColumnType, arguments: Arguments) -> pa.DataType:
    if type_ is NULL:
        return pa.null()
    if type_.base in ("decimal", "bigint"):
        return pa.decimal128(38, type_.scale or 0)
    if type_ is BYTES:
        return pa.binary()
    return pa.string() if type_.base == "longtext" else pa.float64() if type_.base == "double" else \
        next(value.values.type for value in arguments if not value.is_null)


def _coalesce(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    made, type_ = _one_of(arguments, session)
    texts = _shown_texts(made)
    return Value(pc.coalesce(*together(made, n)), type_, all(value.constant for value in made), _digits(made),
                 made[0].shows, is_choice=True, shown=pc.coalesce(*together(texts, n)) if texts else None)


def _digits(values: list[Value]) -> bool | None:
    """None if one of the values is hexadecimal digits, which are a number or text by the place of the choice."""
    return None if any(value.digits is None for value in values) else False


def _shown_texts(values: list[Value]) -> list[Value]:
    """The values as the texts that they are shown as; none if one of them is not known."""
    texts = [replace(value, values=value.shown) for value in values if value.shown is not None]
    return texts if len(texts) == len(values) else []


def _case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Pair alternating conditions and values; the rest is the ELSE."""
    whens, (*thens, otherwise) = arguments[:-1:2], [*arguments[1:-1:2], arguments[-1]]
    made, type_ = _one_of([*thens, otherwise], session)
    constant = all(value.constant for value in arguments)
    truths = [replace(when, values=as_truth(when, session)) for when in whens]

    def chosen(choices: list[Value]) -> pa.Array:
        arrays = together([*truths, *choices], n)
        result = arrays[-1]
        for condition, choice in reversed(list(zip(arrays[:len(whens)], arrays[len(whens):-1], strict=True))):
            result = pc.if_else(condition.fill_null(False), choice, result)
        return result

    texts = _shown_texts(made) if not constant else []
    return Value(chosen(made), type_, constant, _digits(made), made[0].shows, is_choice=True,
                 shown=chosen(texts) if texts else None, in_text=bool(texts) and session.flavour == "mysql")


def _if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    return _case(arguments, call, session, n)


def _between(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    value, low, high = arguments
    _check_written_clocks(arguments, session)
    sides = [FUNCTIONS[name]([value, bound], Call(name), session, n) for name, bound in ((">=", low), ("<=", high))]
    return _logic(pc.and_kleene)(sides, call, session, n)


def _simple_case(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """Simple CASE: a value, then alternating values to compare with and results; the rest is the ELSE."""
    subject, *branches = arguments
    _check_written_clocks([subject, *branches[:-1:2]], session)
    branches[:-1:2] = [FUNCTIONS["="]([subject, when], Call("="), session, n) for when in branches[:-1:2]]
    return _case(branches, call, session, n)


def _null_if(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    left, right = arguments
    same = _compared(pc.equal)([left, right], Call("="), session, n)
    if left.type.base in {*INTEGERS, "year", "float"}:  # a number, which no longer shows as a column's
        left = numbers(as_number(left, session), constant=left.constant)
    [values, equal] = together([left, replace(same, values=as_truth(same, session))], n)
    nulls = pa.scalar(None, values.type)
    return replace(left, values=pc.if_else(equal.fill_null(False), nulls, values),
                   constant=left.constant and right.constant, is_column=False, is_choice=True)


def _days_among(arguments: Arguments, session: Session) -> Arguments:
    """Dates beside dates with a time, or beside texts, as values of one type: the texts as dates, without their time
    if no date has a time. A time has as many digits as any of them; a text that is no literal has six."""
    dates = [value for value in arguments if value.type.base in DATES]
    kinds = {value.type.base for value in arguments if not value.is_text}
    if not dates or not kinds <= DATES or len({value.type for value in arguments}) == 1:
        return arguments
    has_time = kinds != {"date"}
    digits = max(_digits_of_second(value) for value in arguments) if has_time else 0
    type_ = ColumnType("datetime", fsp=digits) if has_time else ColumnType("date")
    if not has_time and any(value.is_text and pc.any(pc.match_substring_regex(value.values, r"59\D?59\.[5-9]")).as_py()
                            for value in arguments):
        raise NotComputable("text with a fraction of a second compared with dates")  # MySQL cuts it, not to a next day
    made = [replace(value, values=convert_values(value.values, value.type, type_, session), type=type_)
            for value in arguments]
    for value, before in zip(made, arguments, strict=True):
        if value.values.null_count > before.values.null_count or zero_dates.has_any(value.values):
            raise NotComputable("an invalid date compared")
    return made


def _digits_of_second(value: Value) -> int:
    if not value.is_text:
        return value.type.fsp or 0
    if not value.constant:
        return 6
    return len((value.values[0].as_py() or "").partition(".")[2])


def _extreme(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """GREATEST and LEAST: of texts and of dates as they compare, else of numbers; NULL where one is. Among strings, a
    number is a string in MySQL and makes all of them numbers in MariaDB. Of equal texts MySQL's GREATEST takes the last
    one."""
    if any(value.is_null for value in arguments):
        return Value(pa.nulls(1), NULL, constant=True)
    has_texts = any(value.is_text for value in arguments)  # then MySQL assigns a date by its text
    arguments = _days_among(arguments, session)
    kinds = {value.type.base for value in arguments}
    if "time" in kinds and len(kinds) > 1 and session.flavour == "mariadb":
        raise NotComputable(f"{call.name} of times and other values")
    are_strings = [value.is_text or value.type.base in (*MEMBERS, *BINARY) for value in arguments]
    if any(are_strings) and not all(are_strings) and session.flavour == "mariadb" and not kinds & {*TEMPORAL}:
        arguments = [Value(as_double(as_number(value, session)), DOUBLE, value.constant) for value in arguments]
        are_strings = [False]
    if not any(are_strings) and not (len(kinds) == 1 and kinds <= {*TEMPORAL}):
        return EXTREMES[call.name](arguments, call, session, n)
    (made, *others), type_ = _one_of(arguments, session)
    if type_ is BYTES:
        chosen = pc.max_element_wise if call.name == "GREATEST" else pc.min_element_wise
        return Value(chosen(*together([made, *others], n), skip_nulls=False), BYTES,
                     all(value.constant for value in arguments))
    sign = "<" if call.name == "LEAST" else ">=" if session.flavour == "mysql" else ">"
    if type_.collation is None and all(value.constant and value.type.charset == session.literals
                                       for value in arguments if value.is_text):  # numbers beside literals
        in_theirs = replace(type_, collation=session.collation)
        made, *others = (replace(value, type=in_theirs) for value in (made, *others))
    for other in others:
        is_next = FUNCTIONS[sign]([other, made], Call(sign), session, n)
        first, second, chosen = together([other, made, replace(is_next, values=as_truth(is_next, session))], n)
        made = replace(made, values=pc.if_else(chosen, first, second), constant=made.constant and other.constant)
    made = replace(made, type=type_)
    return replace(made, is_choice=True) if has_texts and made.type.base in DATES else made


FUNCTIONS: dict[str, Function] = {
    "GREATEST": _extreme, "LEAST": _extreme,
    "AND": _logic(pc.and_kleene), "OR": _logic(pc.or_kleene), "NOT": _logic(pc.invert), "XOR": _logic(pc.xor),
    "ISNULL": _is_null, "=": _compared(pc.equal), "<>": _compared(pc.not_equal), "<": _compared(pc.less),
    "<=": _compared(pc.less_equal), ">": _compared(pc.greater), ">=": _compared(pc.greater_equal),
    "<=>": _compared(_null_safe_equal), "IN": _in, "BETWEEN": _between,
    "COALESCE": _coalesce, "IFNULL": _coalesce, "CASE": _case, "SIMPLE CASE": _simple_case, "IF": _if,
    "NULLIF": _null_if,
}
DECIDED_BY = {"AND": False, "OR": True}
"""The truth of an operand that is also that of the whole, whatever the other operand is."""
