"""Convert arguments of functions to the values that options hold: paths, tables, positions in a log, watchers."""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

import numpy as np

from applier.api.calls.checked import shown
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating import place as places_in_logs
from applier.errors import UsageError, worded
from applier.io.packing import log_name
from applier.io.progress import Progress, Silent
from applier.option_texts import (
    PLACES_HINT,
    KeyValue,
    KeyValues,
    parse_conf,
    parse_place,
    parse_places,
    parse_rewrites,
    parse_size,
)
from applier.options.parquet import parse_parquet, parse_partitions
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot.manifest import BinlogPosition

if typing.TYPE_CHECKING:
    from applier.jobs.server.connection import ServerAddress

PathLike = str | os.PathLike[str]
"""A local path, or any URI that pyarrow.fs opens: s3://, gs://, hdfs://."""
Paths = PathLike | Sequence[PathLike]
"""One or several: a directory of binlogs, files, a glob, or an index file."""
Tables = str | Sequence[str]
"""As in --tables: "db.table" or "db", with wildcards, several separated by commas."""
Place = str | tuple[str, int] | BinlogPosition | GtidSet
"""A position in a log: "binlog.000003:1234" or these two parts, the position of a snapshot, or a GTID set or its text.
If a time is accepted, text may also be a time: "2026-03-14 10:30:00", with an offset or " UTC" at its end, or "-1h"."""
Time = datetime | np.datetime64
"""A time. A datetime without a zone is local, like text; numpy's are UTC. A pandas.Timestamp needs a zone. Dates and
numbers are refused, because they do not name one time."""
Key = KeyValue | tuple[KeyValue, ...]
"""A value of a table's key; a tuple for a key of several columns."""
Size = int | str
"""A number of bytes, or text such as "64M" or "1G"."""


@dataclass(frozen=True)
class Server:
    """A server, as mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH, and an option file of the servers' clients
    with the password, TLS settings, and parts that the address omits."""

    url: str
    defaults_file: PathLike | None = None


@dataclass(frozen=True)
class Step:
    """The progress of a job: `phase` ("outline") has finished `done` of `total` items of `what` ("files"; total 0 if
    unknown), and `rows` row changes. `note` is a note for the user, given once; else ""."""

    phase: str
    done: int
    total: int
    what: str
    rows: int = 0
    note: str = ""


OnStep = Callable[[Step], None]
Watcher = OnStep | Progress
"""A receiver of progress: a function that takes a Step, or an object with Progress's methods."""


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
        self._call(Step(step.phase, step.done, step.total, step.what, step.rows, worded(text)))


def watcher(progress: Watcher | None) -> Progress:
    """Return the watcher that a job reports to."""
    if progress is None:
        return Silent()
    return _Calling(progress) if callable(progress) else progress


def path(given: PathLike) -> str:
    """Return one path as text."""
    return os.fspath(given)


def paths(given: Paths) -> tuple[str, ...]:
    """Return paths as texts."""
    return (os.fspath(given),) if isinstance(given, str | os.PathLike) else tuple(path(one) for one in given)


class KeyNames(TypedDict, total=False):
    """The parts of `keys` as separate arguments."""

    keyring: Paths | None
    key_file: Paths | None
    key_file_secret: PathLike | None


def address_of(server: str | Server, defaults_file: PathLike | None) -> ServerAddress:
    """Return a server's address, given as one value or as two. Raises UsageError."""
    from applier.jobs.server.connection import ServerAddress

    if isinstance(server, Server):
        if defaults_file is not None:
            raise UsageError("--defaults-file is given twice", hint="give it to Server(…)")
        url, defaults_file = server.url, server.defaults_file
    else:
        url = server
    return ServerAddress.parse(url, None if defaults_file is None else path(defaults_file))


def uri(given: Any) -> str:
    """Return the path or URI of a snapshot, given as such or as a Snapshot."""
    return str(given.uri) if hasattr(given, "uri") else path(given)


def table_filter(tables: Tables | None, ignore_tables: Tables | None) -> TableFilter:
    """Return the filter for both arguments. Raises UsageError."""
    if tables is not None and not tables:
        raise UsageError("--tables names no table", hint="leave it out for all of them")
    wanted, ignored = ([names] if isinstance(names, str) else list(names or ()) for names in (tables, ignore_tables))
    return TableFilter(parse_table_list(wanted), parse_table_list(ignored))


def point(given: Place | Time | str, *kinds: str) -> places_in_logs.Place:
    """Return a position in a log, or a time, as all functions accept it; if `kinds` are given, only of these kinds.
    Raises UsageError for another kind, and for an invalid value."""
    found = _point(given)
    if kinds and found.kind not in kinds:
        raise UsageError(f"{found.text} is {found.kind}, which is not accepted here", hint=f"give {' or '.join(kinds)}")
    return found


def _point(given: Place | Time | str) -> places_in_logs.Place:
    match given:
        case str():
            return parse_place(given)
        case datetime() | np.datetime64():
            return places_in_logs.Place(_time_text(given), time=_seconds(given))
        case BinlogPosition() if given.file:
            return _at(given.file, given.offset)
        case BinlogPosition():
            return parse_place(given.gtid_set)
        case GtidSet() if given:
            return places_in_logs.Place(str(given), gtid_set=given)
        case (str(name), int(offset)) if name and offset >= 0:
            return _at(log_name(name), offset)
    raise UsageError(f"{shown(given)} is not a place in a log", hint=PLACES_HINT)


def _at(file: str, offset: int) -> places_in_logs.Place:
    return places_in_logs.Place(f"{file}:{offset}", position=(file, offset))


def _time_text(given: datetime | np.datetime64) -> str:
    return given.isoformat(" ") if isinstance(given, datetime) else str(given)


def _seconds(given: datetime | np.datetime64) -> float:
    """Return seconds since 1970 UTC. A datetime without a zone is local. Raises UsageError for an ambiguous value."""
    if str(given) == "NaT":
        raise UsageError("NaT is not a time", hint=PLACES_HINT)
    if isinstance(given, np.datetime64):
        if np.datetime_data(given.dtype)[0] in ("Y", "M", "W", "D", "generic"):
            raise UsageError(f"{given} does not name one time of that day",
                             hint="give a datetime, or a numpy.datetime64 with a time: '2026-03-14T00:00'")
        whole = given.astype("datetime64[us]")
        return (int(whole.astype(np.int64)) + bool(whole < given)) / 1_000_000  # events have whole microseconds
    if given.tzinfo is None and hasattr(given, "to_datetime64"):  # pandas means UTC, a datetime local time
        raise UsageError(f"{given} has no time zone", hint="give tz_localize('UTC') of it, or another zone")
    try:
        return given.timestamp()
    except (OverflowError, ValueError, OSError):
        raise UsageError(f"{given} is not a time of this machine's clock", hint="give one from 1970 on") from None


def position(given: Place) -> tuple[str, int]:
    """Return a file and an offset. Raises UsageError for other kinds of positions."""
    found = point(given, places_in_logs.POSITION).position
    assert found is not None
    return found


def places(given: Place | Iterable[Place]) -> tuple[tuple[str, int] | str, ...]:
    """Return positions and GTID sets; a text may contain several, as on the command line. Raises UsageError."""
    if isinstance(given, str):
        return parse_places([given])
    is_one = isinstance(given, BinlogPosition | GtidSet) or (
        isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int))
    found = [point(one, places_in_logs.POSITION, places_in_logs.GTIDS)
             for one in (typing.cast("list[Place]", [given]) if is_one else typing.cast("Iterable[Place]", given))]
    return tuple(str(one.gtid_set) if one.position is None else one.position for one in found)


def chosen_gtids(given: str | GtidSet | None) -> str | None:
    """Return transactions as text. Raises UsageError for a set that does not name them."""
    if isinstance(given, GtidSet) and given.domains:
        raise UsageError(f"the GTID set {given} is a position in a MariaDB log, and does not name transactions",
                         hint="stop there, or give GTIDs one by one, as text: 0-1-5,0-1-7")
    return None if given is None else str(given)


def keys_of_rows(given: Key | list[Key] | None) -> KeyValues | None:
    """Return one key, or several."""
    if given is None:
        return None
    return tuple(key if isinstance(key, tuple) else (key,) for key in (given if isinstance(given, list) else [given]))


def size(given: Size) -> int:
    """Return a number of bytes. Raises UsageError."""
    if isinstance(given, str):
        return parse_size(given)
    if given <= 0:
        raise UsageError(f"{given} is not a size", hint="give bytes, or 64M or 1G")
    return given


def database_names(given: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return pairs of database names, as in ReplayOptions."""
    return parse_rewrites([f"{_quoted(old)}={_quoted(new)}" for old, new in (given or {}).items()])


def spark_conf(given: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """Return Spark's settings, as in ReplayOptions."""
    return parse_conf(f"{name}={value}" for name, value in (given or {}).items())


def parquet_properties(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Properties of Parquet files, as ReplayOptions has them."""
    return parse_parquet(f"{name}={value}" for name, value in given.items())


def partitions(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What tables' files are divided by, as ReplayOptions has it."""
    return parse_partitions(f"{name}={transform}" for name, transform in given.items())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
