"""The current time, in functions and as a default.

Source: MySQL manual, "Date and Time Functions"; judged by both servers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.zero_dates import DAY
from applier.sql.nodes import Call
from applier.sql.values import Arguments, Function, Value
from applier.sql.whole_numbers import whole_number


def _datetimes(micros: np.ndarray, type_: ColumnType) -> Value:
    kind = {"date": pa.date32(), "time": pa.duration("us")}.get(type_.base, pa.timestamp("us"))
    whole = pa.array((micros // DAY).astype(np.int32)) if type_.base == "date" else pa.array(micros)
    return Value(whole.cast(kind), type_, constant=len(micros) == 1)


def current_timestamp(fsp: int, session: Session) -> Value:
    """The current time, whatever the session's time zone."""
    unit = 10**(6 - fsp)
    micros = session.utc_now() // unit * unit
    return Value(pa.array(micros).cast(pa.timestamp("us", "UTC")), ColumnType("timestamp", fsp=fsp), len(micros) == 1)


def _current(base: str, *, utc: bool) -> Function:
    """The current date, time or both, with the requested number of fractional digits."""
    def computed(arguments: Arguments, call: Call, session: Session, n: int) -> Value:
        fsp = whole_number(arguments[0], session) if arguments else 0
        if not 0 <= fsp <= 6:
            raise NotComputable(f"{call.name} of {fsp} digits")
        clock = session.utc_now() if utc else session.now()
        unit = 10**(6 - fsp)
        return _datetimes((clock % DAY if base == "time" else clock) // unit * unit, ColumnType(base, fsp=fsp))

    return computed


FUNCTIONS: dict[str, Function] = {
    "NOW": _current("datetime", utc=False), "CURDATE": _current("date", utc=False),
    "CURTIME": _current("time", utc=False), "UTC_TIMESTAMP": _current("datetime", utc=True),
    "UTC_DATE": _current("date", utc=True), "UTC_TIME": _current("time", utc=True),
}
NOW = frozenset(FUNCTIONS)
"""Functions that are the current time; so is UNIX_TIMESTAMP without an argument."""
