"""Dates and times as each other: other precisions, days, datetimes and times of day.

Source: MySQL manual, "Fractional Seconds in Time Values", "Conversion Between Date and Time Types"; judged by both
servers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.scanned_times import LONGEST_TIME, SECOND
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, ZERO_DAY
from applier.mysql.values.zone_times import local_of, may_be_repeated, utc_of

FIRST_LAST = 2**31 * 1_000_000 - 1
"""The last TIMESTAMP of all servers before MariaDB 11.5."""
END = 253_402_300_800_000_000
"""The beginning of the year 10000, which no DATETIME has: rounded up to it, MySQL has zero."""


def rounds(session: Session) -> bool:
    """MySQL rounds fractions of a second that do not fit, MariaDB cuts them off; sql_mode can say otherwise."""
    if session.flavour == "mysql":
        return "TIME_TRUNCATE_FRACTIONAL" not in session.sql_mode
    return "TIME_ROUND_FRACTIONAL" in session.sql_mode


def rounds_otherwise(session: Session) -> bool:
    """True if the sql_mode says otherwise."""
    return rounds(session) != (session.flavour == "mysql")


def rounds_to_days(session: Session) -> bool:
    """The same of a datetime that becomes a day: MariaDB truncates it in every sql_mode."""
    return session.flavour == "mysql" and rounds(session)


def to_datetime(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """DATE, DATETIME, TIMESTAMP and TIME as one of the first three; a time is one of the statement's day."""
    if old.base == new.base == "timestamp":  # whatever the zone
        micros = np.asarray(values.cast(pa.int64()).fill_null(0))
        micros = cut(micros, 10**(6 - new.fsp), rounds(session)) if new.fsp < old.fsp else micros
        return pa.array(micros, pa.int64(), mask=np.asarray(values.is_null())).cast(arrow_type(new))
    clock = local_micros(values, old, session)
    if old.base == "time":
        clock = clock + session.now() // DAY * DAY
    return from_clock(clock, np.asarray(values.is_null()), old.fsp, new, session)


def from_clock(clock: np.ndarray, is_null: np.ndarray, fsp: int, new: ColumnType,
               session: Session) -> pa.Array:
    """Datetimes by the session's clock (int64 microseconds, `fsp` digits of a second) as a DATE, DATETIME, TIMESTAMP.
    Invalid dates (applier.mysql.values.zero_dates) stay unchanged, except as a TIMESTAMP. Beyond the range of a
    TIMESTAMP MariaDB keeps the fraction of a second (seen on 10.5, 10.11 and 11.8)."""
    none = clock < BEFORE_ALL_DAYS * DAY
    if none.any():
        if (clock[none] % 10**(6 - new.fsp)).any():
            raise NotComputable("fractions of a second of an invalid date")
        made = from_clock(np.where(none, 0, clock), is_null | none, fsp, new, session)
        none &= ~is_null
        kept = np.full(len(clock), ZERO_DAY * DAY) if new.base == "timestamp" else clock
        kept = pa.array(kept // DAY, pa.int32()) if new.base == "date" else pa.array(kept)
        return pc.if_else(pa.array(none), kept.cast(made.type), made)
    if new.base == "date":
        days = (cut(clock, 1_000_000, True) if fsp and rounds_to_days(session) else clock) // DAY
        days = np.where(days < END // DAY, days, ZERO_DAY if session.flavour == "mysql" else END // DAY - 1)
        return pa.array(days, pa.int32(), mask=is_null).cast(pa.date32())
    if new.base == "timestamp" and not is_null.all():
        clock = moved(clock, session, -1)
    if new.fsp < fsp:
        clock = cut(clock, 10**(6 - new.fsp), rounds(session))
    fraction = clock % 1_000_000
    clock = np.where(clock < END, clock, ZERO_DAY * DAY if session.flavour == "mysql" else END - 10**(6 - new.fsp))
    if new.base == "timestamp":
        last = session.last_timestamp
        if last is None and session.flavour == "mariadb" and (clock[~is_null] > FIRST_LAST).any():
            raise NotComputable("TIMESTAMPs after 2038, which some versions of MariaDB have")
        nothing = np.where((fraction > 0) & (session.flavour == "mariadb"), fraction, ZERO_DAY * DAY)
        clock = np.where((clock < 1_000_000) | (clock > (last or FIRST_LAST)), nothing, clock)
    return pa.array(clock, pa.int64(), mask=is_null).cast(arrow_type(new))


def in_zone(instant: int, session: Session) -> int:
    """A time in microseconds UTC, of text with an offset, by the session's clock. Raises NotComputable if its zone is
    unknown."""
    shown = session.in_zone(instant)
    if shown is None:
        raise NotComputable("a time with an offset from UTC in the server's own time zone, which the log does not "
                            "tell, and --system-time-zone can")
    return shown


def as_copied(values: pa.Array, session: Session) -> pa.Array:
    """TIMESTAMPs of a table that MySQL copies: those of an hour that occurs twice in the session's time zone become
    those of the first one. Raises NotComputable if the zone is unknown and some zone has such an hour."""
    is_null = np.asarray(values.is_null()) | zero_dates.which(values)
    micros = np.where(is_null, 0, np.asarray(values.cast(pa.int64()).fill_null(0)))
    if session.time_zone.upper() != "SYSTEM":
        copied = _moved_by_rules(_moved_by_rules(micros, session.time_zone, 1), session.time_zone, -1)
    elif may_be_repeated(micros[~is_null]):
        raise NotComputable("TIMESTAMPs of an hour that daylight saving repeats, in the server's own time zone, which "
                            "the log does not tell, and --system-time-zone can")
    else:
        copied = micros
    return pc.if_else(pa.array(is_null), values, pa.array(copied).cast(values.type))


def to_time(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Times with other digits; the time of day of a datetime."""
    micros = local_micros(values, old, session)
    if old.base != "time":
        micros = micros % DAY
    if new.fsp < old.fsp:
        micros = cut_time(micros, 10**(6 - new.fsp), rounds(session))
    return pa.array(micros, pa.int64(), mask=np.asarray(values.is_null())).cast(pa.duration("us"))


def local_micros(values: pa.Array, old: ColumnType, session: Session) -> np.ndarray:
    """Datetimes as microseconds (int64) by the session's clock, times as such; 0 for NULL."""
    if pa.types.is_date(values.type):
        return np.asarray(values.cast(pa.int32()).fill_null(0)).astype(np.int64) * DAY
    micros = np.asarray(values.cast(pa.int64()).fill_null(0))
    return moved(micros, session, 1) if old.base == "timestamp" else micros


def cut(micros: np.ndarray, unit: int, up: bool) -> np.ndarray:
    """Datetimes in whole units: rounded half up if `up`, else cut off. Fractions count forward, also before 1970."""
    return (micros + (unit // 2 if up else 0)) // unit * unit


def check_end(clock: np.ndarray) -> None:
    """Raise NotComputable for datetimes that were rounded beyond the year 9999: as whole numbers MySQL 9.7 has them at
    midnight of the day before, and cast they are NULL."""
    if (clock >= END).any():
        raise NotComputable("a time that is rounded beyond the year 9999")


def cut_time(micros: np.ndarray, unit: int, up: bool) -> np.ndarray:
    """Times in whole units, at most the longest one; halves away from zero if `up`, else fractions are lost, those of
    negative times towards zero."""
    magnitude = np.minimum(cut(np.abs(micros), unit, up), LONGEST_TIME + SECOND - unit)
    made: np.ndarray = np.where(micros < 0, -magnitude, magnitude)
    return made


def moved(micros: np.ndarray, session: Session, direction: int) -> np.ndarray:
    """From UTC to the session's clock or back."""
    zone = session.time_zone
    if not zone.startswith(("+", "-")):
        return _moved_by_rules(micros, zone, direction)
    offset = session.in_zone(0)
    if offset is None:
        raise NotComputable(f"TIMESTAMPs in the unknown time zone {zone}")
    shifted: np.ndarray = micros + direction * offset
    return shifted


def _moved_by_rules(micros: np.ndarray, zone: str, direction: int) -> np.ndarray:
    """The same by the rules of a named time zone."""
    if zone.upper() == "SYSTEM":
        raise NotComputable("TIMESTAMPs in the server's own time zone, which the log does not tell, and "
                            "--system-time-zone can")
    try:
        return local_of(micros, zone) if direction > 0 else utc_of(micros, zone)
    except pa.ArrowException:
        raise NotComputable(f"TIMESTAMPs in the unknown time zone {zone}") from None
