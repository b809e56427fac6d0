"""A server that is asked: one connection, one state of its tables, and the position of that state."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from applier.errors import UsageError
from applier.jobs.server_connection import PASSWORD_HINT, ServerAddress, allow_long_answers, connect, refusal
from applier.jobs.verify.statements import SESSION

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
    """A connection, whose statements all see the state in which it was when `begin` was called."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address
        self._connection, self._errors = connect(address, "or use --sql and a client", _HINTS)
        [[version]] = self.rows("SELECT VERSION()")
        self.flavour = "mariadb" if "mariadb" in version.lower() else "mysql"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        with suppress(*self._errors):
            self._connection.close()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows that a statement gives, numbers as texts. Raises UsageError where the server refuses it."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        except self._errors as error:
            raise refusal(self._address, "refuses to answer", error, _HINTS) from None

    def begin(self) -> ServerPosition:
        """Begin to see one state. Raises UsageError where the server does not say which one that is."""
        for statement in (*SESSION, f"SET SESSION lock_wait_timeout = {_LOCK_SECONDS}", _REPEATABLE):
            self.rows(statement)
        position = self._begin_mariadb() if self.flavour == "mariadb" else self._begin_mysql()
        if not position.gtid_set and not position.file:
            raise UsageError(f"{self._address} writes no binlog and has no GTIDs, so it does not say where it stands",
                             hint="stop what writes to it, and use --sql and --against")
        allow_long_answers(self._connection)
        return position

    def _begin_mysql(self) -> ServerPosition:
        """No transaction commits while the view is opened and the position is read, which takes some milliseconds:
        else one could be visible whose GTID is not yet executed. Source: MySQL manual, "FLUSH TABLES WITH READ LOCK".
        """
        self.rows("FLUSH TABLES WITH READ LOCK")
        try:
            self.rows(_BEGIN)
            [[gtids]] = self.rows("SELECT @@GLOBAL.gtid_executed")
            file, offset = self._log_end()
        finally:
            self.rows("UNLOCK TABLES")
        return ServerPosition(gtids.replace("\n", ""), file, offset)

    def _log_end(self) -> tuple[str, int]:
        """The end of the log, ("", 0) where there is none, or where the user may not know it: GTIDs do without."""
        for statement in ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"):  # the second one before 8.2
            with suppress(UsageError):
                for file, offset, *_ in self.rows(statement):
                    return file, int(offset)
        return "", 0

    def _begin_mariadb(self) -> ServerPosition:
        """The server itself says where its log ended when the view was opened, and blocks nothing. Source: MariaDB
        knowledge base, "Enhancements for START TRANSACTION WITH CONSISTENT SNAPSHOT"."""
        self.rows(_BEGIN)
        said = {name.lower(): value for name, value in self.rows("SHOW STATUS LIKE 'binlog_snapshot_%'")}
        file, offset = said.get("binlog_snapshot_file", ""), int(said.get("binlog_snapshot_position") or 0)
        [[gtids]] = self.rows(f"SELECT BINLOG_GTID_POS('{file}', {offset})") if file else [("",)]
        return ServerPosition(gtids or "", file, offset)


_HINTS: dict[object, str] = {
    None: "the user has to have SELECT on all tables, and on MySQL RELOAD",
    1045: PASSWORD_HINT,  # ER_ACCESS_DENIED_ERROR
    1205: "a long statement or transaction holds tables; try again when it has ended",  # ER_LOCK_WAIT_TIMEOUT
    1412: "a statement changed a table's definition meanwhile; try again",  # ER_TABLE_DEF_CHANGED
    1146: "the table is not there; --tables and --ignore-tables choose others",  # ER_NO_SUCH_TABLE
    1054: "the server's table has other columns than the snapshot's",  # ER_BAD_FIELD_ERROR
}
