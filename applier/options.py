"""What a replay is asked to do, as one value that the command line, tests and Python callers all make."""

import re
from dataclasses import dataclass

from applier.errors import UsageError

SYSTEM_DATABASES = frozenset({"mysql", "information_schema", "performance_schema", "sys"})

_NAME = r"(?:`(?:[^`]|``)+`|[^`.,\s]+)"
_FILTER = re.compile(rf"\s*({_NAME})(?:\.({_NAME}))?\s*(?:,|$)")


@dataclass(frozen=True)
class TableFilter:
    """Which tables count: "db.table" or "db" entries to take, and entries to leave (they win over the ones to take).

    Without entries to take, every table counts but those of the server's own databases, whose definitions no log holds.
    """

    tables: tuple[tuple[str, str | None], ...] = ()
    ignored: tuple[tuple[str, str | None], ...] = ()

    def wanted(self, database: str, table: str) -> bool:
        """True where rows and DDL of the table count."""
        if _listed(self.ignored, database, table):
            return False
        if self.tables:
            return _listed(self.tables, database, table)
        return database.lower() not in SYSTEM_DATABASES


@dataclass(frozen=True)
class ReplayOptions:
    """`snapshot' = replay(snapshot, binlogs, options)`: everything but the Spark session itself.

    Paths may be local or any uri that pyarrow.fs opens. At most one of the three stop points is set; each means the end
    of an event group. `stop_position` is (binlog's base name, offset), `stop_gtid` a GTID set as the log writes it,
    `stop_datetime` seconds since 1970 UTC. `master` is Spark's; None means local[*].
    """

    binlogs: tuple[str, ...]
    output: str
    base: str | None = None
    schema: str | None = None
    stop_position: tuple[str, int] | None = None
    stop_gtid: str | None = None
    stop_datetime: float | None = None
    filter: TableFilter = TableFilter()
    route: str = "auto"
    zero_dates: str = "null"
    master: str | None = None

    def __post_init__(self) -> None:
        if not self.binlogs:
            raise UsageError("no binlogs given", hint="--binlogs takes a directory, files, a glob or an index file")
        stops = [self.stop_position, self.stop_gtid, self.stop_datetime]
        if sum(stop is not None for stop in stops) > 1:
            raise UsageError("more than one stop point",
                             hint="give one of --stop-position, --stop-gtid and --stop-datetime")
        _one_of("--route", self.route, ("auto", "walk", "shuffle"))
        _one_of("--zero-dates", self.zero_dates, ("null", "error"))

    def for_manifest(self) -> dict[str, object]:
        """The options that decide what the snapshot holds, as JSON: what is at its default is left out."""
        known: dict[str, object] = {"zero_dates": self.zero_dates}
        if self.stop_position is not None:
            known["stop_position"] = f"{self.stop_position[0]}:{self.stop_position[1]}"
        if self.stop_gtid is not None:
            known["stop_gtid"] = self.stop_gtid
        if self.stop_datetime is not None:
            known["stop_datetime"] = self.stop_datetime
        if self.filter.tables:
            known["tables"] = [_dotted(entry) for entry in self.filter.tables]
        if self.filter.ignored:
            known["ignore_tables"] = [_dotted(entry) for entry in self.filter.ignored]
        return known


def parse_table_list(texts: list[str]) -> tuple[tuple[str, str | None], ...]:
    """Comma-separated DB.TABLE or DB entries, in any number of texts; names may stand in backticks."""
    entries = []
    for text in texts:
        at = 0
        while at < len(text):
            match = _FILTER.match(text, at)
            if match is None:
                raise UsageError(f"{text!r} is no list of tables",
                                 hint="write DB.TABLE,DB.TABLE or DB for a whole database; put odd names in backticks")
            entries.append((_unquoted(match[1]), None if match[2] is None else _unquoted(match[2])))
            at = match.end()
    return tuple(entries)


def parse_stop_position(text: str) -> tuple[str, int]:
    """FILE:POS as people copy it from SHOW BINARY LOG STATUS or an error's hint."""
    name, colon, offset = text.rpartition(":")
    if not colon or not name or not (offset.isascii() and offset.isdigit()):
        raise UsageError(f"{text!r} is no position", hint="write FILE:POS, as in binlog.000003:1234")
    return name.rpartition("/")[2], int(offset)


def parse_datetime(text: str) -> float:
    """A date and time to seconds since 1970 UTC; local time where it names no offset, as mysqlbinlog takes it."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no date and time",
                         hint="write '2026-01-31 10:29:59', or with an offset '2026-01-31T10:29:59+02:00'") from None


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{option} cannot be {value!r}", hint=f"it is one of {', '.join(allowed)}")


def _listed(entries: tuple[tuple[str, str | None], ...], database: str, table: str) -> bool:
    return (database, table) in entries or (database, None) in entries


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _dotted(entry: tuple[str, str | None]) -> str:
    return entry[0] if entry[1] is None else f"{entry[0]}.{entry[1]}"
