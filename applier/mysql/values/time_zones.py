"""Time zones as sessions name them, and dates and times as people write and read them on a command line."""

import datetime
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from applier.errors import UsageError

_AGO = re.compile(r"-(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_OF_MYSQLBINLOG = re.compile(r"\d{6} [ \d]\d:\d\d:\d\d")


def shifted(instant: int, time_zone: str) -> int | None:
    """A time in microseconds UTC as local microseconds of a session's time zone; None if the zone is unknown."""
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


def is_time_zone(name: str) -> bool:
    """True if the zone's local time is known."""
    return zone_of(name) is not None


def parse_time(text: str) -> datetime.datetime:
    """A date and time; local time if it names no offset, as mysqlbinlog takes it. Also as `shown_time` and mysqlbinlog
    ("260131 10:29:59") print it, "now", and so long ago: "-90s", "-5m", "-1h", "-2d", "-1w"."""
    try:
        time = _parsed(text.strip())
        time.timestamp()  # which must be there
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
