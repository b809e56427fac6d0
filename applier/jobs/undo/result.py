"""The result of an undo."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from applier.jobs.undo.conflict.conflicts import Conflict
from applier.schema.stored_object import StoredObject

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class UndoneTable:
    """The undo of one table."""

    name: str
    """ "db.table"."""
    inserted: int
    """Rows that come back."""
    deleted: int
    """Rows that go."""
    updated: int
    """Rows that get values back."""
    recreated: bool
    """Whether the table is created first, since it does not exist."""
    partitions: tuple[str, ...]
    """The statements that make partitions again which were dropped."""
    same: int
    """Rows that the transactions changed, and that are now the same as before."""
    partly: int
    """Rows that others have changed since, and that are undone anyway: all of them, or in other columns."""
    in_conflict: int
    """Rows that are not undone, since others have changed them, have their key, or refer to them, or since their parent
    rows are gone."""
    rows_after: int | None
    """How many rows the table has then, if nothing else is written meanwhile; None if the log begins after the table
    was made, or the table is not there then."""

    @property
    def rows(self) -> int:
        """Rows that are changed."""
        return self.inserted + self.deleted + self.updated


@dataclass(frozen=True)
class Undone:
    """The contents of an undo."""

    output: str
    """The file."""
    format: str
    """The form: sql, or binlog."""
    transactions: int
    """How many transactions are taken back."""
    gtids: tuple[str, str]
    """The GTIDs of the first and the last of them; "" where the log has none."""
    times: tuple[datetime, datetime]
    """When these were."""
    tables: tuple[UndoneTable, ...]
    """The tables that they changed."""
    conflicts: tuple[Conflict, ...]
    """The first of the rows that are not undone."""
    undone_anyway: tuple[Conflict, ...]
    """The first of the rows that others have changed since, and that are undone anyway: all of them, or in other
    columns."""
    foreign_key_checks: bool
    """Whether foreign keys are checked meanwhile."""
    checks: tuple[tuple[str, int], ...]
    """SELECTs of a number for the server, afterwards, with the expected number if nothing else is written meanwhile."""
    proof: tuple[str, ...]
    """The checks that it is correct, one line each."""
    notes: tuple[str, ...]
    """Notes for the user, one line each."""
    lost_objects: tuple[StoredObject, ...] = ()
    """Triggers, views, routines and events that the transactions dropped, which are not made again: `statements` are
    those that made them."""

    @property
    def rows(self) -> int:
        """How many rows are changed."""
        return sum(table.rows for table in self.tables)

    @property
    def what(self) -> str:
        """The transactions, for people."""
        return transactions_text(self.transactions, self.gtids, self.times)


def transactions_text(count: int, gtids: tuple[str, str], times: tuple[datetime, datetime]) -> str:
    """Return a number of transactions, with the GTIDs and times of the first and the last one, for people."""
    named = " to ".join(dict.fromkeys(gtid for gtid in gtids if gtid))
    when = " to ".join(dict.fromkeys(f"{time:%Y-%m-%d %H:%M:%S}Z" for time in times))
    return f"{count:,} transaction{'s' * (count != 1)}, {f'{named}, ' if named else ''}of {when}"


def time_of(microseconds: int) -> datetime:
    """Return a time of the log."""
    return _EPOCH + timedelta(microseconds=microseconds)
