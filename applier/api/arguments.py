"""What people give to functions, as the values that options hold: paths, tables, places in a log, watchers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating import place as places_in_logs
from applier.errors import UsageError
from applier.io.keys import with_keys
from applier.io.progress import Progress, Silent
from applier.option_texts import parse_as_of, parse_places, parse_rewrites, parse_size
from applier.options import Keys, KeyValue
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot.manifest import BinlogPosition

PathLike = str | os.PathLike[str]
"""A local path, or any URI that pyarrow.fs opens: s3://, gs://, hdfs://."""
Paths = PathLike | Sequence[PathLike]
"""One or several; a directory of binlogs, files, a glob, or an index file."""
Tables = str | Sequence[str]
"""As --tables takes them: "db.table", "db", with wildcards, several with commas."""
Place = str | tuple[str, int] | BinlogPosition | GtidSet
"""A place in a log: "binlog.000003:1234" or those two parts, where a snapshot stands, or a GTID set or its text."""
Key = KeyValue | tuple[KeyValue, ...]
"""A value of a table's key; a tuple for a key of several columns."""
Size = int | str
"""In bytes, or as "64M" or "1G"."""


@dataclass(frozen=True)
class Step:
    """How far a job is: `phase` ("outline") has done so many of `total` items of `what` ("files"), 0 if unknown, and
    row changes. `note` is something for people to know, which comes once; else ""."""

    phase: str
    done: int
    total: int
    what: str
    rows: int = 0
    note: str = ""


OnStep = Callable[[Step], None]
Watcher = OnStep | Progress
"""What is told how far a job is: a function of a Step, or an object with Progress's methods."""


class _Calling:
    """A watcher that calls a function with each step."""

    def __init__(self, function: OnStep) -> None:
        self._call, self._step = function, Step("", 0, 0, "")

    def phase(self, name: str, total: int, what: str) -> None:
        self._step = Step(name, 0, total, what)
        self._call(self._step)

    def update(self, done: int, rows: int = 0) -> None:
        step = self._step
        self._step = Step(step.phase, done, step.total, step.what, rows)
        self._call(self._step)

    def note(self, text: str) -> None:
        step = self._step
        self._call(Step(step.phase, step.done, step.total, step.what, step.rows, text))


def watcher(progress: Watcher | None) -> Progress:
    """The watcher that a job reports to."""
    if progress is None:
        return Silent()
    return _Calling(progress) if callable(progress) else progress


def path(given: PathLike) -> str:
    """One path, as text."""
    return os.fspath(given)


def paths(given: Paths) -> tuple[str, ...]:
    """Paths, as texts."""
    return (os.fspath(given),) if isinstance(given, str | os.PathLike) else tuple(path(one) for one in given)


def logs(given: Paths, keyring: Paths | None, key_file: Paths | None, key_file_secret: PathLike | None
         ) -> tuple[str, ...]:
    """Paths of logs, with where their keys are. Raises UsageError for files that have no keys."""
    return with_keys(paths(given), paths(keyring or ()), paths(key_file or ()),
                     None if key_file_secret is None else path(key_file_secret))


def table_filter(tables: Tables | None, ignore_tables: Tables | None) -> TableFilter:
    """The filter of both. Raises UsageError."""
    wanted, ignored = ([names] if isinstance(names, str) else list(names or ()) for names in (tables, ignore_tables))
    return TableFilter(parse_table_list(wanted), parse_table_list(ignored))


def place(given: Place) -> tuple[str, int] | str:
    """A file and an offset, or a GTID set. Raises UsageError."""
    match given:
        case BinlogPosition():
            return given.file, given.offset
        case GtidSet():
            return str(given)
        case str():
            found = parse_places([given])
            if len(found) != 1:
                raise UsageError(f"{given!r} is not one place", hint="give FILE:POS, a GTID set, or a datetime")
            return found[0]
        case (name, offset):
            return str(name), int(offset)


def places(given: Iterable[Place]) -> tuple[tuple[str, int] | str, ...]:
    """Each as `place` has it; a text is several, as on the command line. Raises UsageError."""
    return parse_places([given]) if isinstance(given, str) else tuple(map(place, given))


def position(given: Place) -> tuple[str, int]:
    """A file and an offset. Raises UsageError for other places."""
    if isinstance(found := place(given), tuple):
        return found
    raise UsageError(f"{given!r} is not a position", hint="give FILE:POS, as in binlog.000003:1234")


@dataclass(frozen=True)
class Stop:
    """Where to stop, as ReplayOptions has it: at most one of the three is set."""

    position: tuple[str, int] | None = None
    gtid: str | None = None
    time: float | None = None


def stop_at(given: Place | datetime | None) -> Stop:
    """Where a replay is to stop: after a place in the log, or before a time (local, if it has no zone)."""
    if given is None:
        return Stop()
    if isinstance(given, datetime):
        return Stop(time=given.timestamp())
    found = place(given)
    return Stop(position=found) if isinstance(found, tuple) else Stop(gtid=found)


def as_of_place(given: Place | datetime) -> places_in_logs.Place:
    """The place as of which something is to be seen: in the log, or a time (local, if it has no zone). Raises
    UsageError."""
    if isinstance(given, datetime):
        return places_in_logs.Place(given.isoformat(" "), time=given.timestamp())
    if isinstance(given, str):
        return parse_as_of(given)
    found = place(given)
    if isinstance(found, str):
        return places_in_logs.Place(found, gtid_set=GtidSet.parse(found))
    return places_in_logs.Place(f"{found[0]}:{found[1]}", position=found)


def chosen_gtids(given: str | GtidSet | None) -> str | None:
    """Transactions, as text. Raises UsageError for a set that does not name them."""
    if isinstance(given, GtidSet) and given.domains:
        raise UsageError(f"the GTID set {given} is a place in a MariaDB log, and names no transactions",
                         hint="stop there, or give GTIDs one by one, as text: 0-1-5,0-1-7")
    return None if given is None else str(given)


def keys(given: Key | list[Key] | None) -> Keys | None:
    """One key, or several."""
    if given is None:
        return None
    return tuple(key if isinstance(key, tuple) else (key,) for key in (given if isinstance(given, list) else [given]))


def size(given: Size) -> int:
    """A number of bytes. Raises UsageError."""
    if isinstance(given, str):
        return parse_size(given)
    if given <= 0:
        raise UsageError(f"{given} is not a size", hint="give bytes, or 64M or 1G")
    return given


def database_names(given: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Databases by other names, as ReplayOptions has them."""
    return parse_rewrites([f"{_quoted(old)}={_quoted(new)}" for old, new in (given or {}).items()])


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
