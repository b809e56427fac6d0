"""MAKETIME, TIMESTAMP, TIMESTAMPADD, FROM_UNIXTIME and CONVERT_TZ, over whole columns.

Source: MySQL manual, "Date and Time Functions"; judged by MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import DATES, INTEGERS, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.versions import is_since
from applier.sql.casting.temporals import moved
from applier.sql.casting.texts import by_distinct
from applier.sql.casting.values import convert_values
from applier.sql.functions.casts import cast_without_digits
from applier.sql.functions.combinations import computed
from applier.sql.functions.dates.date_functions import with_days
from applier.sql.functions.dates.forms import FUNCTIONS as FORMS
from applier.sql.functions.dates.sums import added_time
from applier.sql.functions.dates.times import LAST_SECOND, last_instant, local, micros_of_doubles
from applier.sql.functions.intervals import LONGEST_TIME, SECOND, added, check_seconds, exact_seconds, shown_instant
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Function, Value, as_number, one, together
from applier.sql.whole_numbers import whole_numbers


def _made(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """MAKETIME of whole numbers."""
    if arguments[2].type.base not in INTEGERS:
        raise NotComputable("MAKETIME with a fraction of a second")
    given = [whole_numbers(value, session) for value in arguments]

    def micros(hour: Decimal, minute: Decimal, second: Decimal) -> int | None:
        if not (0 <= minute < 60 and 0 <= second < 60):
            return None
        size = int((abs(hour) * 60 + minute) * 60 + second) * SECOND
        return -min(size, LONGEST_TIME) if hour < 0 else min(size, LONGEST_TIME)

    found = computed(together(given, n), micros, pa.int64())
    return Value(found.cast(pa.duration("us")), ColumnType("time"), all(value.constant for value in given))


def _instant(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMP: a date, with a time added to it."""
    if len(arguments) == 1:
        return cast_without_digits(arguments[0], "datetime", call, session)
    value = local(arguments[0], session)
    if value.type.base not in ("date", "datetime"):
        raise NotComputable("TIMESTAMP of a value that is not a date")
    if arguments[0].type.base not in DATES and zero_dates.has_any(value.values):
        raise NotComputable("TIMESTAMP of text or a number that is an invalid date")
    type_ = ColumnType("datetime", fsp=value.type.fsp)
    kept = replace(session, sql_mode="ALLOW_INVALID_DATES")
    start = replace(value, values=convert_values(value.values, value.type, type_, kept), type=type_, is_column=False)
    return added_time(1)([start, arguments[1]], call, session, n)


def _units_on(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """TIMESTAMPADD."""
    count, instant = arguments
    return added(instant, count, call.word, 1, session, n)


_NO_ZERO, _SURELY_NONE = (11, 0), (11, 8)


def _of_epoch(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """FROM_UNIXTIME: NULL for seconds before 1970 and after the last that a server knows. MariaDB 11.8 has NULL for 0,
    10.11 has not; raises NotComputable for a version in between, or an unknown one."""
    value, *form = arguments
    is_text = session.flavour == "mariadb" and value.is_text
    found = exact_seconds(value, session) if is_text else as_number(value, session)
    fsp = min(6, found.type.scale) if pa.types.is_decimal(found.type) else 6
    if session.flavour == "mysql":
        check_seconds(found, session)
    elif pa.types.is_floating(found.type) and value.type.scale is not None:
        raise NotComputable("FROM_UNIXTIME of a FLOAT(M,D), which cuts its digits")
    version, in_mariadb = session.server_version, session.flavour == "mariadb"
    has_none = in_mariadb and (not version or is_since(version, _NO_ZERO))
    if has_none and not (version and is_since(version, _SURELY_NONE)) and \
            pc.any(pc.equal(found.cast(pa.float64()), 0.0)).as_py():
        raise NotComputable(f"FROM_UNIXTIME of 0 in MariaDB {version or 'of an unknown version'}, which may be NULL")

    def read(number: Decimal | float) -> int | None:
        if not 0 <= number <= LAST_SECOND + 1 or (has_none and not number):
            return None
        if isinstance(number, Decimal):
            return int((number * SECOND).quantize(Decimal(1), ROUND_HALF_UP))
        return int(micros_of_doubles(np.array([number]), session)[0]) if in_mariadb else round(number * SECOND)

    micros = computed([found], read, pa.int64())
    is_null = np.asarray(micros.is_null())
    utc = np.asarray(micros.fill_null(0))
    is_null = is_null | (utc < 0) | (utc > last_instant(session, utc))
    local_clock = moved(np.where(is_null, 0, utc), session, 1)
    made = Value(pa.array(local_clock, mask=is_null).cast(pa.timestamp("us")), ColumnType("datetime", fsp=fsp),
                 value.constant)
    if session.flavour == "mariadb" and not pa.types.is_decimal(found.type):
        shown = by_distinct(made.values, lambda one: shown_instant(one, with_clock=True))
        made = replace(made, shows=False, shown=shown)
    return FORMS["DATE_FORMAT"]([made, *form], call, session, n) if form else made


def _in_other_zone(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
    """CONVERT_TZ: times that a TIMESTAMP cannot have stay unchanged."""
    value, zones = local(arguments[0], session), [one(zone) for zone in arguments[1:]]
    if value.type.base not in ("date", "datetime") or None in zones:
        raise NotComputable("CONVERT_TZ of a value that is not a date")
    dates = with_days(value.values)
    clock = np.asarray(dates.cast(pa.timestamp("us")).cast(pa.int64()).fill_null(0))
    before, after = (replace(session, time_zone=str(zone)) for zone in zones)
    if value.text_scale == 0 and (clock % SECOND).any():
        raise NotComputable("CONVERT_TZ of a fraction of a second where the server expects none")
    utc = moved(clock, before, -1)
    is_moved = (utc >= SECOND) & (utc <= last_instant(session, utc))
    made = np.where(is_moved, moved(np.where(is_moved, utc, 0), after, 1), clock)
    return Value(pa.array(made, mask=np.asarray(dates.is_null())).cast(pa.timestamp("us")),
                 ColumnType("datetime", fsp=value.type.fsp), value.constant)


FUNCTIONS: dict[str, Function] = {
    "MAKETIME": _made, "TIMESTAMP": _instant, "TIMESTAMPADD": _units_on, "FROM_UNIXTIME": _of_epoch,
    "CONVERT_TZ": _in_other_zone,
}
