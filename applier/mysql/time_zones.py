"""Time zones as sessions name them, and dates and times as people write and read them on a command line."""

import datetime
import re
from contextlib import suppress
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import UsageError

_AGO = re.compile(r"-(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_OF_MYSQLBINLOG = re.compile(r"\d{6} [ \d]\d:\d\d:\d\d")


def shifted(instant: int, time_zone: str) -> int | None:
    """A time in microseconds UTC as local microseconds of a session's time zone; None if the zone is not known."""
    zone = zone_of(time_zone)
    if zone is None:
        return None
    utc = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=instant)
    offset = utc.astimezone(zone).utcoffset() or datetime.timedelta()
    return instant + offset // datetime.timedelta(microseconds=1)


def zone_of(name: str) -> datetime.tzinfo | None:
    """A zone by its name in a session; None for SYSTEM and for unknown names."""
    try:
        if name[:1] in ("+", "-"):
            hours, _, minutes = name[1:].partition(":")
            offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
            return datetime.timezone(-offset if name[0] == "-" else offset)
        return None if name.upper() == "SYSTEM" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # as of a directory with zones in it
        return None


def utc_of(local: np.ndarray, zone: str) -> np.ndarray:
    """Local microseconds (int64) of a named zone in UTC, as servers convert them: of an hour that is there twice the
    first one; in an hour that is left out, the second that ends it, with the fraction of a second. Raises what Arrow
    raises."""
    clock = pa.array(local).cast(pa.timestamp("us"))
    utc = pc.assume_timezone(clock, zone, ambiguous="earliest", nonexistent="latest")
    is_there = pc.equal(pc.local_timestamp(utc), clock)
    micros = np.asarray(utc.cast(pa.int64()))
    return np.where(np.asarray(is_there), micros, micros + local % 1_000_000)


def local_of(utc: np.ndarray, zone: str) -> np.ndarray:
    """Microseconds UTC (int64) as local ones of a named zone. Raises what Arrow raises."""
    instants = pa.array(utc).cast(pa.timestamp("us", zone))
    return np.asarray(pc.local_timestamp(instants).cast(pa.int64()))


def may_be_repeated(utc: np.ndarray) -> bool:
    """Whether some of these times (int64 microseconds) are in the second of two equal hours of some zone."""
    times = np.unique(utc // _STEP) * _STEP
    for zone in sorted(available_timezones()):
        with suppress(pa.ArrowException):  # as for names that are no zones
            if (utc_of(local_of(times, zone), zone) != times).any():
                return True
    return False


_STEP = 300_000_000
"""Zones change their clocks, and by how much, in whole steps of five minutes since 1970."""


def is_time_zone(name: str) -> bool:
    """True if the zone's local time is known."""
    return zone_of(name) is not None


def parse_time(text: str) -> datetime.datetime:
    """A date and time; local time if it names no offset, as mysqlbinlog takes it. Also as `shown_time` and mysqlbinlog
    ("260131 10:29:59") print it, "now", and so long ago: "-90s", "-5m", "-1h", "-2d", "-1w"."""
    try:
        time = _parsed(text.strip())
        time.timestamp()  # which has to be there
        return time
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a date and time",
                         hint="write '2026-01-31 10:29:59', with an offset '2026-01-31T10:29:59+02:00' or a Z for UTC, "
                              "or now, or -1h") from None


def _parsed(text: str) -> datetime.datetime:
    if text == "now":
        return datetime.datetime.now(datetime.UTC)
    if ago := _AGO.fullmatch(text):
        return datetime.datetime.now(datetime.UTC) - datetime.timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    if _OF_MYSQLBINLOG.fullmatch(text):
        return datetime.datetime.strptime(text, "%y%m%d %H:%M:%S")
    return datetime.datetime.fromisoformat(re.sub(r" ?UTC$", "Z", text))


def parse_datetime(text: str) -> float:
    """Seconds since 1970 UTC of a date and time, as `parse_time` takes it."""
    return parse_time(text).timestamp()


def shown_time(timestamp: float) -> str:
    """Seconds since 1970 UTC for people, in UTC; `parse_time` takes it."""
    return f"{datetime.datetime.fromtimestamp(timestamp, datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"


def shown_with_local(timestamp: float) -> str:
    """The same, and beside it the local time of this machine, where that is another one."""
    local = datetime.datetime.fromtimestamp(timestamp, datetime.UTC).astimezone()
    return shown_time(timestamp) + (f", {local:%Y-%m-%d %H:%M:%S} here" if local.utcoffset() else "")
