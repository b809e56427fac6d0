"""Parsers for values of options as users write them: positions, sizes, keys, pairs of databases."""

import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from uuid import UUID

from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating import place
from applier.errors import UsageError
from applier.io.packing import log_name
from applier.mysql.values.time_zones import parse_datetime
from applier.schema.table_filter import unquoted

TYPE_CONVERSIONS = ("all_non_lossy", "all_lossy", "all_signed", "all_unsigned")

Place = tuple[str, int] | str
"""A stop position: a binlog's base name and an offset, or a GTID set."""
KeyValue = int | float | Decimal | str | bytes | date | time | timedelta | UUID
KeyValues = tuple[tuple[KeyValue, ...], ...]
"""Values of a table's key, each with one value per column."""

_DATABASE = r"(?:`(?:[^`]|``)+`|[^`.,=\s]+)"
_SIZE = re.compile(r"([0-9]{1,6})\s*([MG])i?B?", re.IGNORECASE)
_POSITION = re.compile(r".+\.\d{6,}:\d+")
_FILE = re.compile(r"[^:,]+\.\d{6,}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
PLACES_HINT = ("write FILE:POS, a GTID set, or a time: '2026-01-31 10:29:59', with an offset or UTC behind it, or -1h")
_KEY_VALUE = re.compile(r'(?:\s*"((?:[^"]|"")*)"\s*|(?!\s*")([^,]*))(,|\Z)')
_REWRITE = re.compile(rf"\s*({_DATABASE})\s*=\s*({_DATABASE})\s*(?:,|$)")


def parse_rewrites(texts: list[str]) -> tuple[tuple[str, str], ...]:
    """Parse comma-separated OLD=NEW pairs of databases, in any number of texts; names may be in backticks."""
    found: dict[str, str] = {}
    for text in texts:
        at = 0
        while at < len(text):
            match = _REWRITE.match(text, at)
            if match is None or unquoted(match[1]) in found:
                why = "does not name two databases" if match is None else f"gives {unquoted(match[1])} a second name"
                raise UsageError(f"{text!r} {why}", hint="write OLD=NEW: a database's name in the log, and here")
            found[unquoted(match[1])] = unquoted(match[2])
            at = match.end()
    return tuple(found.items())


def parse_conf(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse settings of Spark, NAME=VALUE each; the last one of a name counts, as in spark-submit."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.startswith("spark.") or name != name.strip():
            raise UsageError(f"--conf {text!r} is not a setting of Spark",
                             hint="write NAME=VALUE, as spark.executor.memory=2g")
        if name in ("spark.master", "spark.remote"):
            raise UsageError(f"--conf cannot set {name}", hint="give the URL to --master")
        found[name] = value
    return tuple(found.items())


def parse_conversions(texts: list[str]) -> frozenset[str]:
    """Parse names of type conversions, comma-separated in any number of texts, in any case, as the server's option
    takes them."""
    found = frozenset(name.strip().lower() for text in texts for name in text.split(",") if name.strip())
    if unknown := sorted(found.difference(TYPE_CONVERSIONS)):
        raise UsageError(f"{unknown[0]!r} is not a type conversion", hint=f"they are {', '.join(TYPE_CONVERSIONS)}")
    return found


def parse_key(text: str) -> tuple[str, ...]:
    """Parse the values of a key, separated by commas; a value in double quotes may contain commas, leading and trailing
    spaces, and quotes, which are doubled."""
    found, at, comma = [], 0, ","
    while comma:
        match = _KEY_VALUE.match(text, at)
        if match is None:
            raise UsageError(f"{text!r} is not a key: a quote does not end, or something is behind it",
                             hint='write a value that begins with a quote as """value"')
        quoted, plain, comma = match.groups()
        found.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        at = match.end()
    return tuple(found)


def parse_columns(text: str) -> tuple[str, ...]:
    """Parse names of columns, separated by commas."""
    return tuple(name.strip() for name in text.split(","))


def parse_named_places(texts: list[str]) -> dict[str, str]:
    """Parse named places, NAME=PLACE each. Raises UsageError."""
    places: dict[str, str] = {}
    for text in texts:
        name, equals, place = text.partition("=")
        if not equals or not place or name in places:
            raise UsageError(f"--also {text}: it is not NAME=PLACE, each name once",
                             hint="--also before=/lake/yesterday")
        places[name] = place
    return places


def parse_stop_position(text: str) -> tuple[str, int]:
    """Parse FILE:POS, as copied from SHOW BINARY LOG STATUS or from an error's hint."""
    name, colon, offset = text.rpartition(":")
    if not colon or not name or not (offset.isascii() and offset.isdigit()):
        raise UsageError(f"{text!r} is not a position", hint="write FILE:POS, as in binlog.000003:1234")
    return log_name(name), int(offset)


def parse_gtid_set(text: str) -> GtidSet:
    """Parse a GTID set that names at least one transaction."""
    if not (found := GtidSet.parse(text)):
        raise UsageError(f"{text!r} names no transaction",
                         hint="MySQL writes UUID:1-5, MariaDB domain-server-number (0-1-5)")
    return found


def parse_thread_ids(texts: list[str]) -> tuple[int, ...]:
    """Parse ids of threads, comma-separated in any number of texts."""
    return _parse_ids(texts, "thread")


def parse_server_ids(texts: list[str]) -> tuple[int, ...]:
    """Parse server ids, comma-separated in any number of texts."""
    return _parse_ids(texts, "server")


def _parse_ids(texts: list[str], what: str) -> tuple[int, ...]:
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if bad := [part for part in parts if not (part.isascii() and part.isdigit() and len(part) <= 10)]:
        raise UsageError(f"{bad[0]!r} is not a {what} id", hint="write numbers, as in 1,2")
    return tuple(dict.fromkeys(map(int, parts)))


def parse_seconds(text: str) -> float:
    """Parse a duration, "10s", "0.5s", "1m" or "2h". Raises UsageError for another text."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(s|m|h)", text)
    if found is None:
        raise UsageError(f"{text!r} is not a valid interval", hint="write it as 10s, 0.5s, 1m or 2h")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def parse_size(text: str) -> int:
    """Parse a number of bytes with a binary unit: 64M, 1G; at least 1M."""
    match = _SIZE.fullmatch(text)
    size = int(match[1]) << {"M": 20, "G": 30}[match[2].upper()] if match else 0
    if size == 0:
        raise UsageError(f"{text!r} is not a size", hint="write it as 64M or 1G")
    return size


def parse_places(texts: list[str]) -> tuple[Place, ...]:
    """Parse positions: each text is FILE:POS,FILE:POS,… or one GTID set, which may contain commas."""
    places: list[Place] = []
    for text in texts:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if parts and all(_POSITION.fullmatch(part) for part in parts):
            places += [parse_stop_position(part) for part in parts]
        else:
            found = parse_place(text)
            if found.gtid_set is None:
                raise UsageError(f"{text!r} is {found.kind}, which is not accepted here",
                                 hint="write FILE:POS or a GTID set; `applier locate --datetime` finds the place")
            places.append(str(found.gtid_set))
    return tuple(places)


def parse_place(text: str) -> place.Place:
    """Parse a position in a log: FILE:POS, a GTID set, or a time as in --stop-datetime. Raises UsageError."""
    text = text.strip()
    if _DATE.fullmatch(text):
        raise UsageError(f"{text} is ambiguous: a date, or a MariaDB GTID",
                         hint=f"write '{text} 00:00:00' for the time, or 0{text} for the GTID")
    if _FILE.fullmatch(text):
        raise _not_in_a_file(text)
    if _POSITION.fullmatch(text) and "," not in text:
        return place.Place(text, position=parse_stop_position(text))
    try:
        return place.Place(text, time=parse_datetime(text))
    except UsageError:
        try:
            gtid_set = GtidSet.parse(text)
        except UsageError:
            gtid_set = GtidSet()
    if not gtid_set:
        raise UsageError(f"{text!r} is not a place in a log", hint=PLACES_HINT)
    return place.Place(text, gtid_set=gtid_set)


def _not_in_a_file(text: str) -> UsageError:
    return UsageError(f"{text!r} is a file, not a place in it",
                      hint="write FILE:POS; its size is the position of its end")
