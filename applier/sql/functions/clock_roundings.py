"""FLOOR, CEILING, ROUND and TRUNCATE of MariaDB's datetimes and times, which keep their type; what would be beyond
the last one is cut off instead.

Source: MariaDB's MDEV-20397; judged by MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import FRACTIONAL, ColumnType
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import DAY, ZERO_DAY
from applier.mysql.versions import is_since
from applier.sql.casting.temporals import cut, cut_time, local_micros
from applier.sql.functions.intervals import LAST, LONGEST_TIME, SECOND
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Function, Value
from applier.sql.whole_numbers import whole_number


def or_of_clocks(function: Function) -> Function:
    """A function of numbers, which MariaDB has of datetimes and times, too."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        if session.flavour == "mariadb" and arguments[0].type.base in FRACTIONAL:
            return _cut(arguments, call, session)
        return function(arguments, call, session, n)

    return computed


def _cut(arguments: Arguments, call: Call, session: Session) -> Value:
    value, *places = arguments
    if session.server_version and not is_since(session.server_version, _FIRST):
        raise NotComputable(f"{call.name} of a datetime or a time by an old version of MariaDB")
    if not all(place.constant for place in places):
        raise NotComputable(f"{call.name} of a datetime or a time to as many digits as another column has")
    digits = min(6, max(0, whole_number(places[0], session) if places else 0))
    micros, unit = local_micros(value.values, value.type, session), 10**(6 - digits)
    is_time = value.type.base == "time"
    as_whole = cut_time if is_time else cut
    if call.name in ("FLOOR", "CEILING"):
        made = micros // unit * unit if call.name == "FLOOR" else -(-micros // unit) * unit
    else:
        made = as_whole(micros, unit, call.name == "ROUND")
    is_beyond = np.abs(made) >= LONGEST_TIME + SECOND if is_time else made > LAST
    made = np.where(is_beyond, as_whole(micros, unit, False), made)
    is_null, none = np.asarray(value.values.is_null()), zero_dates.which(value.values)
    if "NO_ZERO_DATE" in session.sql_mode and not is_time:
        is_null = is_null | (micros == ZERO_DAY * DAY)
    if (~is_null & none & (micros % SECOND != 0)).any():
        raise NotComputable("fractions of a second of an invalid date")
    kind = pa.duration("us") if is_time else pa.timestamp("us")
    return Value(pa.array(made, pa.int64(), mask=is_null).cast(kind),
                 ColumnType("time" if is_time else "datetime", fsp=digits), value.constant,
                 has_other_number=bool((is_time & ~is_null & (made < 0)).any()))


_FIRST = (10, 5)
