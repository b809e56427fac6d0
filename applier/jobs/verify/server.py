"""The queried server: one connection, one consistent state of its tables, and the position of that state.

Rows of a range are queried by their keys and hashes, and some of them with their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.archive.log_names import check_log_name
from applier.binlog.events.gtid import GtidSet
from applier.errors import ServerAnswerError, UsageError
from applier.jobs.server.connection import PASSWORD_HINT, ServerAddress, allow_long_answers
from applier.jobs.server.session import MOST_BYTES, Row, ServerSession, text, whole_number
from applier.jobs.verify import statements
from applier.jobs.verify.answers import RowHashes, row_hashes
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.jobs.verify.statements import SESSION
from applier.mysql.types import quote_text

_Read = TypeVar("_Read")
_LOCK_SECONDS = 10
_REPEATABLE = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
_BEGIN = "START TRANSACTION WITH CONSISTENT SNAPSHOT"


@dataclass(frozen=True)
class ServerPosition:
    """Where a server stands: its GTID set, "" without GTIDs, and its own log's file and offset, "" and 0 without a log.
    """

    gtid_set: str
    file: str
    offset: int

    def __str__(self) -> str:
        return self.gtid_set or f"{self.file}:{self.offset}"


class Server:
    """A connection, whose statements all see the state in which it was when `begin` was called. Methods raise as
    ServerSession's do."""

    def __init__(self, address: ServerAddress, instead: str = "or use `applier verify --sql` and a client") -> None:
        self._address, self._instead = address, instead
        self._session = ServerSession(address, instead, _HINTS)
        self.flavour = self._session.flavour

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        self._session.close()

    def rows(self, statement: str, columns: int, read: Callable[[Sequence[Row]], _Read]) -> _Read:
        """Return the result of `read` for the rows of a statement, with this many columns, as in
        `ServerSession.ask`."""
        return self._session.ask(statement, columns, read, MOST_BYTES)

    def begin(self) -> ServerPosition:
        """Begin to see one state. Raises UsageError where the server does not say which one that is."""
        for statement in (*SESSION, f"SET SESSION lock_wait_timeout = {_LOCK_SECONDS}", _REPEATABLE):
            self._session.run(statement)
        position = self._begin_mariadb() if self.flavour == "mariadb" else self._begin_mysql()
        if not position.gtid_set and not position.file:
            raise UsageError(f"{self._address} writes no binlog and has no GTIDs, so its position is unknown",
                             hint=f"a server that writes a binlog has a position; {self._instead}")
        allow_long_answers(self._session.connection)
        return position

    def _begin_mysql(self) -> ServerPosition:
        """No transaction commits while the view is opened and the position is read, which takes some milliseconds:
        else one could be visible whose GTID is not yet executed. Source: MySQL manual, "FLUSH TABLES WITH READ LOCK".
        """
        ask, run = self._session.ask, self._session.run
        run("FLUSH TABLES WITH READ LOCK")
        try:
            run(_BEGIN)
            gtids = ask("SELECT @@GLOBAL.gtid_executed", 1, _gtid_set)
            file, offset = self._log_end()
        finally:
            with suppress(UsageError, ServerAnswerError):  # then the connection is lost, and with it the lock
                run("UNLOCK TABLES")
        return ServerPosition(gtids, file, offset)

    def _log_end(self) -> tuple[str, int]:
        """Return the end of the log, ("", 0) where there is none, or where the user may not know it: GTIDs do
        without."""
        for statement in ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"):  # the second one before 8.2
            with suppress(UsageError):
                for file, offset in self._session.ask(statement, range(2, 6), _log_ends):
                    return file, offset
        return "", 0

    def _begin_mariadb(self) -> ServerPosition:
        """Begin a transaction with a consistent view, and return the position of the log at its start, which the server
        reports without blocking anything. Source: MariaDB knowledge base, "Enhancements for START TRANSACTION WITH
        CONSISTENT SNAPSHOT"."""
        ask = self._session.ask
        self._session.run(_BEGIN)
        file, offset = ask("SHOW STATUS LIKE 'binlog_snapshot_%'", 2, _snapshot_status)
        gtids = ask(f"SELECT BINLOG_GTID_POS({quote_text(file)}, {offset})", 1, _gtid_set) if file else ""
        return ServerPosition(gtids, file, offset)


def _gtid_set(rows: Sequence[Row]) -> str:
    """Return the only value, a set of GTIDs; "" for NULL, which says that there is none."""
    [[value]] = rows
    gtids = "" if value is None else text(value).replace("\n", "")
    try:
        GtidSet.parse(gtids)
    except UsageError:
        raise ValueError("no GTID set") from None
    return gtids


def _log_ends(rows: Sequence[Row]) -> list[tuple[str, int]]:
    return [(_log_name(file), whole_number(offset)) for file, offset, *_ in rows]


def _snapshot_status(rows: Sequence[Row]) -> tuple[str, int]:
    said = {text(name).lower(): value for name, value in rows}
    return _log_name(said.get("binlog_snapshot_file", b"")), whole_number(said.get("binlog_snapshot_position") or b"0")


def _log_name(value: bytes | None) -> str:
    name = text(value)
    try:
        check_log_name(name)
    except UsageError:
        raise ValueError("no name of a log") from None
    return name


_HINTS: dict[object, str] = {
    None: "the user has to have SELECT on all tables, and on MySQL RELOAD",
    1045: PASSWORD_HINT,  # ER_ACCESS_DENIED_ERROR
    1205: "a long statement or transaction holds tables; try again when it has ended",  # ER_LOCK_WAIT_TIMEOUT
    1412: "a statement changed a table's definition meanwhile; try again",  # ER_TABLE_DEF_CHANGED
    1146: "the table is not there; --tables and --ignore-tables choose others",  # ER_NO_SUCH_TABLE
    1054: "the server's table has other columns than the snapshot's",  # ER_BAD_FIELD_ERROR
}


_BEFORE_KEY = 4
"""Columns of an answer before a row's key."""
_KEY = "^[0-9A-F.]*$"
_MOST_KEYS, _MOST_BYTES = 2000, 1 << 20
"""The most keys, and bytes of keys, of one statement."""
Values = tuple[bytes | None, ...]
"""A row's values as the bytes that are hashed, None for NULL."""
KnownRow = tuple[str, Values]
"""A row's key and values."""


@dataclass(frozen=True)
class ServerRows:
    """The rows of a server's tables. Methods raise as Server's do."""

    plan: ComparisonPlan
    server: Server

    def hashes(self, table: ComparedTable, number: int) -> RowHashes:
        """Return the keys and hashes of the rows of a range."""
        return self.server.rows(statements.row_hashes(self.plan, table, number), _BEFORE_KEY + 1 + len(table.columns),
                                partial(_row_hashes, table))

    def values(self, table: ComparedTable, number: int, keys: Sequence[str]) -> Iterator[KnownRow]:
        """Yield the rows of a range that have one of these keys. A table without a key has as many as there are with
        the hash."""
        for some in _divided(keys):
            yield from self.server.rows(statements.row_values(table, number, some), 1 + len(table.columns),
                                        partial(_known, frozenset(some)))


def _divided(keys: Sequence[str]) -> Iterator[list[str]]:
    """Yield keys, as many at a time as a statement may have."""
    some: list[str] = []
    n_bytes = 0
    for key in keys:
        some.append(key)
        n_bytes += len(key)
        if len(some) == _MOST_KEYS or n_bytes >= _MOST_BYTES:
            yield some
            some, n_bytes = [], 0
    if some:
        yield some


def _known(keys: frozenset[str], rows: Sequence[Row]) -> list[KnownRow]:
    """Return the rows with these keys. Raises ValueError and TypeError for others."""
    found: list[KnownRow] = [(text(key), tuple(values)) for key, *values in rows]
    if not keys.issuperset(key for key, _ in found):
        raise ValueError("rows that were not asked for")
    return found


def _row_hashes(table: ComparedTable, rows: Sequence[Row]) -> RowHashes:
    """Return the keys and hashes of a range's rows. Raises ValueError for rows that are none."""
    flat = np.array([row[_BEFORE_KEY:] for row in rows], object).reshape(len(rows), -1)
    keys, numbers = (pa.array(cells, pa.binary()).cast(pa.string()) for cells in (flat[:, 0], flat[:, 1:].ravel()))
    if keys.null_count or numbers.null_count or not pc.all(pc.match_substring_regex(keys, _KEY)).as_py():
        raise ValueError("no keys and hashes")
    return row_hashes(table, keys, numbers.cast(pa.uint64()).to_numpy())
