"""The figures of a log that a summary and its page show."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol

from applier.jobs.pages.diff_totals import DiffTotals
from applier.snapshot.manifest import BinlogPosition


@dataclass(frozen=True)
class RowCounts:
    """Row changes by kind."""

    inserts: int = 0
    updates: int = 0
    deletes: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return self.inserts + self.updates + self.deletes

    @property
    def kinds(self) -> tuple[int, int, int]:
        """Inserts, updates, deletes."""
        return self.inserts, self.updates, self.deletes


@dataclass(frozen=True)
class TableRows(RowCounts):
    """Row changes of a table."""

    table: str = ""


@dataclass(frozen=True)
class TableCounts(TableRows):
    """Row changes of a table, and the number of transactions; `bytes` are those of its row images.

    `partial_updates` are updates with JSON diffs, and `documents` their JSON documents. `bytes_saved` is how many bytes
    less these diffs take than the documents before them, of those that before-images have. """

    transactions: int = 0
    bytes: int = 0
    partial_updates: int = 0
    documents: int = 0
    bytes_saved: int = 0


class _HasTime(Protocol):
    @property
    def time(self) -> int: ...


class _At:
    """A result with a `time` in epoch seconds."""

    @property
    def at(self: _HasTime) -> datetime:
        """The time as a datetime, in UTC."""
        return _datetime(self.time)


@dataclass(frozen=True)
class TimeCounts(_At, TableRows):
    """Row changes of a table from this time on, epoch seconds, in `Summary.seconds_each` seconds."""

    time: int = 0


@dataclass(frozen=True)
class ServerCounts(RowCounts):
    """Row changes by the transactions of a server (server_id)."""

    server_id: int = 0
    transactions: int = 0


@dataclass(frozen=True)
class ThreadCounts(ServerCounts):
    """Row changes by the transactions of a thread, a connection of a client, on a server."""

    thread_id: int = 0


@dataclass(frozen=True)
class LargeTransaction(_At):
    """A transaction, [start, end) in a file, by the number of rows that it changed in each table.

    `thread_id` and `statement`, the first of its statements, and `group_id` are None if the log does not have them.
    `rolled_back`: some of it was rolled back, and changed only tables without transactions.
    """

    file: str
    start: int
    end: int
    time: int
    gtid: str | None
    server_id: int
    tables: tuple[TableRows, ...]
    rolled_back: bool = False
    thread_id: int | None = None
    statement: str | None = None
    group_id: int | None = None

    @property
    def rows(self) -> int:
        """Row changes in all tables."""
        return sum(table.rows for table in self.tables)

    @property
    def bytes(self) -> int:
        """In the log."""
        return self.end - self.start

    @property
    def words(self) -> str:
        """As "89,886 deletes from shop.order_items, 12 inserts into shop.audit"."""
        return ", ".join(_counted(table) for table in self.tables)


@dataclass(frozen=True)
class SummaryStatement(_At):
    """DDL, with the session that it ran in. `user` is 'name'@'host' where the log has it: mostly for definers. `start`
    is where its event group begins, as --stop-position takes it."""

    file: str
    position: int
    start: int
    time: int
    gtid: str | None
    server_id: int
    thread_id: int | None
    user: str | None
    database: str
    sql: str


@dataclass(frozen=True)
class LoggedAsStatements:
    """Changes that the log has as statements of one kind on a table ("" if that is unknown), and not as rows."""

    table: str
    kind: str
    statements: int


@dataclass(frozen=True)
class SummaryFigures(DiffTotals):
    """All figures of a summary (applier.jobs.summary.result.Summary describes each)."""

    files: tuple[str, ...]
    bytes: int
    position: str
    gtids: str
    server: str
    first_time: int | None
    last_time: int | None
    groups: int
    transactions: int
    rows: RowCounts
    tables: tuple[TableCounts, ...]
    largest: tuple[LargeTransaction, ...]
    seconds_each: int
    by_time: tuple[TimeCounts, ...]
    servers: tuple[ServerCounts, ...]
    threads: tuple[ThreadCounts, ...]
    statements: tuple[SummaryStatement, ...]
    n_statements: int
    logged_as_statements: tuple[LoggedAsStatements, ...]
    notes: tuple[str, ...]
    end: BinlogPosition
    first_group_id: int | None = None
    last_group_id: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the summary as values of JSON; times as "2026-03-14T10:30:00+00:00"."""
        values = dataclasses.asdict(self)
        del values["end"]  # `position` and `gtids` have it
        return _as_json(values)  # type: ignore[return-value]  # a dict stays one

    @property
    def first_at(self) -> datetime | None:
        """`first_time` as a datetime, in UTC."""
        return None if self.first_time is None else _datetime(self.first_time)

    @property
    def last_at(self) -> datetime | None:
        """`last_time` as a datetime, in UTC."""
        return None if self.last_time is None else _datetime(self.last_time)

    @cached_property
    def times(self) -> tuple[TimeCounts, ...]:
        """`by_time` of all tables together."""
        return tuple(_by_time(self.by_time, self.seconds_each))

    def in_steps(self, most: int) -> tuple[int, tuple[TimeCounts, ...]]:
        """Return `times` in at most `most` steps, for people to look at: the seconds of each, and steps without rows,
        too."""
        if not self.times:
            return self.seconds_each, ()
        first, last = self.times[0].time, self.times[-1].time
        seconds = next(width for width in widths_from(self.seconds_each) if (last // width - first // width) < most)
        counted = {step.time: step for step in _by_time(self.times, seconds)}
        return seconds, tuple(counted.get(time, TimeCounts(time=time)) for time in
                              range(first - first % seconds, last + 1, seconds))


WIDTHS = (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)
"""Seconds of a step in time, each a multiple of the one before."""


def widths_from(seconds: int) -> Iterable[int]:
    """Return widths of steps from this one on, without an end."""
    yield from (width for width in WIDTHS if width >= seconds)
    width = 2 * WIDTHS[-1]
    while True:
        if width >= seconds:
            yield width
        width *= 2


def _by_time(counts: Iterable[TimeCounts], seconds: int) -> list[TimeCounts]:
    sums: dict[int, list[int]] = {}
    for one in counts:
        known = sums.setdefault(one.time - one.time % seconds, [0, 0, 0])
        for kind, rows in enumerate(one.kinds):
            known[kind] += rows
    return [TimeCounts(inserts, updates, deletes, time=time) for time, (inserts, updates, deletes) in
            sorted(sums.items())]


def _counted(table: TableRows) -> str:
    kinds = [(table.inserts, "insert", "into"), (table.updates, "update", "of"), (table.deletes, "delete", "from")]
    return ", ".join(f"{rows:,} {kind}{'s' * (rows != 1)} {where} {table.table}" for rows, kind, where in kinds if rows)


_TIMES = ("time", "first_time", "last_time")


def _as_json(value: object) -> object:
    match value:
        case dict():
            return {name: _time(part) if name in _TIMES else _as_json(part) for name, part in value.items()}
        case list() | tuple():
            return [_as_json(part) for part in value]
    return value


def _time(time: int | None) -> str | None:
    return None if time is None else _datetime(time).isoformat()


def _datetime(time: int) -> datetime:
    return datetime.fromtimestamp(time, UTC)
