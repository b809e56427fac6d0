"""Sums and differences of times of day, and of dates with them, over whole columns: ADDTIME, SUBTIME, TIMEDIFF.

Source: MySQL manual, "Date and Time Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.charsets import to_utf8
from applier.mysql.session import Session
from applier.mysql.types import BINARY, MEMBERS, NUMBERS, ColumnType
from applier.mysql.values import zero_dates
from applier.sql.functions.combinations import computed
from applier.sql.functions.dates.clock_texts import has_wrong_dates, shown_time
from applier.sql.functions.dates.times import local
from applier.sql.functions.intervals import FIRST, LAST, LONGEST_TIME, SECOND, shown_instant
from applier.sql.nodes import Call
from applier.sql.read_times import datetimes, has_dates, have_clocks, instants_or_times, times
from applier.sql.values import TEXT, Arguments, Function, Value, as_number, as_text, numbers, together


def _time(value: Value, session: Session) -> Value:
    """Return a value as a time."""
    if value.type.base == "time":
        return value
    if has_dates(value):
        return times(value, session)
    raise NotComputable("a value that is not a time")


def _span(value: Value, session: Session) -> Value:
    """Return a value as a time that is added to another; in MariaDB text of a date is NULL, and a YEAR is a number.
    Raises NotComputable for what may be longer than a time, which MariaDB adds, too."""
    if session.flavour == "mysql" or not has_dates(value):
        return _time(value, session)
    if value.type.base in NUMBERS | {"year"}:
        if pc.any(pc.greater(pc.abs(as_number(value, session)), _LARGEST)).as_py():
            raise NotComputable("a number of more than 838:59:59, added to a time")
        if value.type.base == "year" or value.is_choice:
            value = numbers(as_number(value, session), constant=value.constant)
        return times(value, session)
    if value.type.base in BINARY:
        value = replace(value, values=to_utf8(value.values, "latin1"), type=TEXT)
    if pc.any(pc.match_substring_regex(value.values, _MAY_BE_LONG)).as_py():
        raise NotComputable("text that may be more than 838:59:59, added to a time")
    are_days = pc.match_substring_regex(value.values, r"^\s*-?\d+-")
    found = times(replace(value, values=pc.if_else(are_days, "", value.values)), session)
    return replace(found, values=pc.if_else(are_days, pa.scalar(None, found.values.type), found.values))


_LARGEST = 8385959
_MAY_BE_LONG = r"^\s*-?(\d{7}|(\d{4,}|9\d\d|8[4-9]\d|839):|(\d{3,}|[4-9]\d|3[4-9]) |\d+[eE])"


def _micros(values: list[Value], n: int) -> tuple[list[np.ndarray], np.ndarray]:
    arrays = together(values, n)
    is_null = np.logical_or.reduce([np.asarray(array.is_null()) for array in arrays])
    return [np.asarray(array.cast(pa.int64()).fill_null(0)) for array in arrays], is_null


def added_time(sign: int) -> Function:
    """ADDTIME and SUBTIME: to a time, or to a date."""
    def called(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        start, time = local(arguments[0], session) if arguments[0].type.base == "timestamp" else arguments[0], \
            arguments[1]
        if session.flavour == "mariadb" and (time.type.base in MEMBERS or time.type.base in ("float", "double")):
            time = Value(as_text(time, session), TEXT)  # which has six digits of a second
        span = _span(time, session)
        constant = all(value.constant for value in arguments)
        if has_dates(start):
            return _shown_sum(start, span, sign, session, n)
        if start.type.base in ("date", "datetime"):
            type_ = ColumnType("datetime", fsp=max(start.type.fsp, span.type.fsp))
            instants = replace(start, values=_counted(start.values, session))
            (clock, more), is_null = _micros([instants, span], n)
            made = clock + sign * more
            if zero_dates.has_any(start.values) and session.flavour == "mariadb":
                is_null = is_null | (made < FIRST)
            if ((made < FIRST) | (made > LAST))[~is_null].any():
                raise NotComputable(f"{call.name} beyond what a date can be")
            return Value(pa.array(made, mask=is_null).cast(pa.timestamp("us")), type_, constant)
        start = _time(start, session)
        type_ = ColumnType("time", fsp=max(start.type.fsp, span.type.fsp))
        (clock, more), is_null = _micros([start, span], n)
        is_mysql = session.flavour == "mysql"
        made = _times(clock + sign * more, is_null, type_, session, constant=constant, is_nothing=is_mysql)
        return replace(made, is_sum=is_mysql)

    return called


def _counted(values: pa.Array, session: Session) -> pa.Array:
    """Datetimes with the days that a server counts for invalid dates; in MySQL those with a zero in them are NULL."""
    if session.flavour == "mysql" and zero_dates.has_any(values):
        days = zero_dates.numbers_of(values) // (1 if pa.types.is_date32(values.type) else zero_dates.DAY)
        _, month, day = zero_dates.parts(days)
        have_zero = pa.array(zero_dates.which(values) & ((month == 0) | (day == 0)))
        values = pc.if_else(have_zero, pa.scalar(None, values.type), values)
    return zero_dates.counted(values.cast(pa.timestamp("us")))


def _shown_sum(start: Value, span: Value, sign: int, session: Session, n: int) -> Value:
    """Times, and dates with one, that were text or numbers, and a time, as text: with six digits of a second where
    there is a fraction; in MariaDB a number of so many digits, and text in which it expects so many, with as many as
    both have."""
    micros, are_times = (replace(start, values=values) for values in instants_or_times(start, session))
    if session.flavour == "mysql" and start.is_text and pc.any(pc.and_(
            micros.values.is_null(), pc.match_substring_regex(start.values, _WRITTEN_AS_A_DATE))).as_py():
        raise NotComputable("a time added to an invalid date, which may be a time")
    is_number = session.flavour == "mariadb" and not (start.is_text or start.type.base in BINARY)
    own = _digits_of(start, session) if is_number else start.text_scale
    digits = None if own is None else max(own, span.type.fsp)
    most = LONGEST_TIME + (SECOND - 1) * (session.flavour == "mariadb")

    def shown(micros: int, more: int, is_time: bool) -> str:
        total = micros + sign * more
        if is_time:
            total = max(-most, min(most, total))
            return "-" * (total < 0) + shown_time(abs(total), digits)
        if not FIRST <= total <= LAST:
            raise NotComputable("times added beyond what a date can be")
        return str(shown_instant(_EPOCH + datetime.timedelta(microseconds=total), digits, with_clock=True))

    spans = replace(span, values=span.values.cast(pa.int64()))
    made = computed(together([micros, spans, are_times], n), shown, pa.string())
    return Value(made, TEXT, start.constant and span.constant, text_scale=digits, is_instant=True)


_WRITTEN_AS_A_DATE = r"^\s*\d+[^\w\s:]+\d+[^\w\s:]+\d"
_EPOCH = datetime.datetime(1970, 1, 1)


def _digits_of(value: Value, session: Session) -> int | None:
    found = as_number(value, session).type
    if pa.types.is_decimal(found):
        return min(6, int(found.scale))
    if not value.is_column:
        raise NotComputable("a double as a time, whose digits depend on those of columns")
    return None if value.type.scale is None else min(6, value.type.scale)


def _times(micros: np.ndarray, is_null: np.ndarray, type_: ColumnType, session: Session, *, constant: bool,
           is_nothing: bool) -> Value:
    """Return times, of which those that are too long are NULL or the longest."""
    most = LONGEST_TIME + (SECOND - 10**(6 - type_.fsp) if session.flavour == "mariadb" else 0)
    if is_nothing:
        is_null = is_null | (np.abs(micros) > most)
    clipped = np.clip(micros, -most, most)
    return Value(pa.array(clipped, mask=is_null).cast(pa.duration("us")), type_, constant)


def _difference(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMEDIFF of two times or of two datetimes; NULL for one of each, in MariaDB also for a date and a datetime. Its
    number of eight digits is a date."""
    sides = [local(value, session) if value.type.base == "timestamp" else _days_of_years(value, session)
             if value.type.base == "year" and session.flavour == "mariadb" else value for value in arguments]
    if session.flavour == "mariadb" and any(isinstance(node, Call) and node.name == "CAST" and value.values.null_count
                                            for node, value in zip(call.arguments, arguments, strict=True)):
        raise NotComputable(f"{call.name} of a CAST, which lets invalid dates through here")
    if session.flavour == "mariadb" and any(value.type.base in ("double", "float") and value.type.scale is not None
                                            for value in arguments):
        raise NotComputable(f"{call.name} of a DOUBLE(M,D), whose digits differ by version")
    given, kinds = list[Value](), list[Value]()
    for side in sides:
        if has_dates(side):
            micros, are_times = instants_or_times(side, session)
            if session.flavour == "mysql" and has_wrong_dates(side, micros):
                raise NotComputable(f"{call.name} of a value that is not a time")
            given.append(replace(times(side, session), values=micros))
        elif side.type.base in ("time", "date", "datetime"):
            as_micros = side.values if side.type.base == "time" else side.values.cast(pa.timestamp("us"))
            given.append(replace(side, values=as_micros))
            are_times = pa.repeat(side.type.base == "time", len(side.values))
        else:
            raise NotComputable(f"{call.name} of a value that is not a time")
        is_date = _are_dates(side, session) if session.flavour == "mariadb" else False
        kinds.append(replace(side, values=pc.if_else(are_times, "time", pc.if_else(is_date, "date", "datetime"))))
    constant = all(value.constant for value in arguments)
    (left, right), is_null = _micros(given, n)
    one, other = (np.asarray(array, object) for array in together(kinds, n))
    if any(zero_dates.has_any(values) and (zero_dates.which(values) & (one == other)).any()
           for values in together(given, n)):
        raise NotComputable(f"{call.name} of an invalid date")
    type_ = ColumnType("time", fsp=max(side.type.fsp for side in given))
    is_null = is_null | (one != other)
    if session.flavour == "mariadb" and ((left - right) % 10**(6 - type_.fsp))[~is_null].any():
        raise NotComputable("TIMEDIFF with the longest time, whose fraction differs by version")
    if not all(side.shows for side in sides) and (np.abs(left - right)[~is_null] > LONGEST_TIME).any():
        raise NotComputable("TIMEDIFF beyond the longest time, of a value whose digits of a second are not known")
    made = _times(left - right, is_null, type_, session, constant=constant, is_nothing=False)
    of_known_digits = session.flavour == "mariadb" or not any(
        side.is_text and side.constant and kind.values[0].as_py() != "time"
        for side, kind in zip(sides, kinds, strict=True))
    return replace(made, shows=of_known_digits)


def _days_of_years(value: Value, session: Session) -> Value:
    """Return the days that MariaDB counts for YEARs, whose month and day are zero."""
    if pc.any(pc.equal(value.values, 0)).as_py():
        raise NotComputable("the YEAR 0 as a date")
    dates = datetimes(value, session)
    return replace(dates, values=zero_dates.counted(dates.values), type=ColumnType("date"), is_column=False)


def _are_dates(side: Value, session: Session) -> pa.Array | bool:
    """Which values have no time of day, if they are not times: MariaDB reads text without one as a time."""
    return pc.invert(have_clocks(side, session)) if side.type.base in NUMBERS else side.type.base == "date"


FUNCTIONS: dict[str, Function] = {"ADDTIME": added_time(1), "SUBTIME": added_time(-1), "TIMEDIFF": _difference}
