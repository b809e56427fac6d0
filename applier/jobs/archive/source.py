"""The server whose log is copied. Connects as a replica does; PyMySQL handles everything before the log.

A GTID set is sent in the format of MySQL's replicas: the reverse of GtidSet.from_previous_gtids_event."""

from __future__ import annotations

import re
import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from struct import pack
from typing import Any
from uuid import UUID

from applier.binlog.archive.log_names import base_and_number, check_file_name
from applier.binlog.events.format import parse_format_description
from applier.binlog.events.gtid import GtidSet
from applier.errors import LOG_GAP, ArchiveError, UsageError
from applier.io.printable import printable_start
from applier.jobs.archive.dump_stream import ConnectionLost, DumpStream, EndOfLog, FileBegins, Run, SourceError
from applier.jobs.server.connection import PASSWORD_HINT, ServerAddress
from applier.jobs.server.session import Row, ServerSession, only_text, text


def encoded(gtids: GtidSet) -> bytes:
    """Encode the intervals of a set. If it has tags, the form with tags is used, which only servers from 8.3 on read.
    """
    is_tagged = any(":" in source for source in gtids.intervals)
    count = len(gtids.intervals)
    parts = [bytes((1,)) + count.to_bytes(6, "little") + bytes((1,)) if is_tagged else count.to_bytes(8, "little")]
    for source, intervals in gtids.intervals.items():
        uuid, _, tag = source.partition(":")
        parts.append(UUID(uuid).bytes)
        if is_tagged:
            parts.append(bytes((len(tag) << 1,)) + tag.encode())
        parts.append(pack("<Q", len(intervals)))
        parts += [pack("<QQ", first, last + 1) for first, last in intervals]
    return b"".join(parts)


FIRST = 4
"""The position of a file's first event."""
WAIT_SECONDS = 0.5
"""The seconds after which a wait for events returns, so that the user can end it."""
_ANSWER_SECONDS = 30
"""The seconds after which a server that does not answer is treated as lost."""
_HEARTBEAT_SECONDS = 5
_MOST_HEARTBEATS = 6
"""The most heartbeats in a row from a server that has events to send, or was asked not to wait for any."""
SILENT_SECONDS = 6 * _HEARTBEAT_SECONDS
"""The seconds after which a server that does not even send heartbeats is treated as lost."""
_MOST_SECONDS = 600
"""The seconds after which a server that sends no whole event of a new file is treated as lost."""
_DUMP, _DUMP_GTID = 0x12, 0x1E
_NOT_WAITING, _THROUGH_GTID = 0x1, 0x4
_WITH_ANNOTATIONS = 0x2
"""MariaDB omits ANNOTATE_ROWS events unless they are requested (BINLOG_SEND_ANNOTATE_ROWS_EVENT)."""
_LOST = frozenset((1040, 1053, 1158, 1159, 1160, 1161, 1317, 1927, 2002, 2003, 2006, 2013, 2014, 2026, 2055, 3169,
                   4031))
"""Numbers of errors after which another connection may succeed: too many connections, shutdown, the network, KILL."""

_UUID = re.compile(r"[0-9A-Fa-f-]{36}")


class TornFile(Exception):
    """The server's file ends within an event, after a crash or because of damage; `error` says so."""

    def __init__(self, error: ArchiveError) -> None:
        super().__init__(str(error))
        self.error = error


class Source:
    """The server whose log is copied. Each query has its own connection, since a dump ends with its connection. Waiting
    for the server ends with ConnectionLost when `stopped`."""

    def __init__(self, address: ServerAddress, *, waits: bool, stopped: Callable[[], bool]) -> None:
        self._address, self._waits, self._stopped = address, waits, stopped
        self._replica = str(uuid.uuid4())
        self._server_id = secrets.randbelow(1 << 31) | 1 << 31
        self._session: ServerSession | None = None
        self.flavour, self.server_uuid = "", ""

    def __str__(self) -> str:
        return str(self._address)

    def connect(self) -> None:
        """Connect, and send a replica's settings. Raises ConnectionLost, or UsageError if another attempt would fail in
        the same way."""
        self.close()
        with _lost_or_refused():
            self._session = session = ServerSession(
                self._address, "or copy the files with `mysqlbinlog --raw`", _HINTS,
                connect_timeout=_ANSWER_SECONDS, read_timeout=_ANSWER_SECONDS, write_timeout=_ANSWER_SECONDS)
            self.flavour = session.flavour
            self.server_uuid = ("" if self.flavour == "mariadb" else
                                session.ask("SELECT @@GLOBAL.server_uuid", 1, _uuid))
            for statement in (
                "SET @master_binlog_checksum = @@GLOBAL.binlog_checksum, "
                "@source_binlog_checksum = @@GLOBAL.binlog_checksum",
                f"SET @master_heartbeat_period = {_HEARTBEAT_SECONDS * 10**9}, "
                f"@source_heartbeat_period = {_HEARTBEAT_SECONDS * 10**9}",
                "SET @mariadb_slave_capability = 4" if self.flavour == "mariadb" else
                f"SET @slave_uuid = '{self._replica}', @replica_uuid = '{self._replica}'",
            ):
                session.run(statement)

    def close(self) -> None:
        """Drop the connection; the server ends the dump when it next writes."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def first_file(self) -> str:
        """Return the name of the server's oldest file. Raises UsageError if the server has no log."""
        self.connect()
        return self._files()[0]

    def _files(self) -> list[str]:
        """Return the names of the server's files, the oldest one first; there is at least one."""
        with _lost_or_refused():
            return self._connected().ask("SHOW BINARY LOGS", range(2, 4), _file_names)

    def _connected(self) -> ServerSession:
        assert self._session is not None
        return self._session

    def file_after(self, gtids: GtidSet) -> str:
        """Return the file with the first transaction that is not in a set: the server chooses, as for a replica that
        has executed the set. Raises ArchiveError (1236) if it has purged needed files."""
        self.connect()
        if self.flavour == "mariadb":
            if gtids.intervals:
                raise UsageError("the source is MariaDB, but the GTID set is of MySQL", hint="give it as in 0-1-5")
            with _lost_or_refused():
                self._connected().run(f"SET @slave_connect_state = '{gtids}', @slave_gtid_strict_mode = 0")
            stream = self._dump("", FIRST)
        else:
            if gtids.domains:
                raise UsageError("the source is MySQL, but the GTID set is of MariaDB", hint="give it as in UUID:1-5")
            data = encoded(gtids)
            stream = self._asked(_DUMP_GTID, pack("<HIIQI", _THROUGH_GTID, self._server_id, 0, FIRST, len(data)) + data,
                                 "", FIRST)
        while True:
            found = self.next(stream)
            if isinstance(found, FileBegins):
                self.close()
                return found.name

    def dump(self, name: str, position: int) -> DumpStream:
        """Request a file's events from a position on, and those of all files after it. Raises ConnectionLost."""
        self.connect()
        return self._dump(name, position)

    def head(self, name: str, size: int) -> bytes:
        """Return the first `size` bytes of a file, from its first event on. Raises as `next` does."""
        stream, data = self.dump(name, FIRST), b""
        while len(data) < size:
            match self.next(stream):
                case Run(more, _):
                    data += more
                case FileBegins(begun) if begun != name:
                    break
                case EndOfLog():
                    break
        self.close()
        return data[:size]

    def begun_at_start_after(self, name: str) -> str | None:
        """Return the file after this one if the server began it when it was started; None if there is no such file, or
        the server rotated to it. Raises as `next` does."""
        self.connect()
        names = self._files()
        following = names[names.index(name) + 1:] if name in names else []
        if not following or base_and_number(following[0])[0] != base_and_number(name)[0]:
            return None
        stream = self.dump(following[0], FIRST)
        while not isinstance(found := self.next(stream), Run):
            pass
        self.close()
        return stream.name if parse_format_description(found.data).created else None

    def next(self, stream: DumpStream) -> Any:
        """Wait for the result of `DumpStream.next`. Raises ConnectionLost, also if the server is silent or sends no
        whole event for minutes; ArchiveError."""
        waited, until = 0.0, time.monotonic() + _MOST_SECONDS
        while (found := self.poll(stream)) is None:
            if stream.receive():
                waited = 0.0
            elif (waited := waited + WAIT_SECONDS) >= SILENT_SECONDS:
                raise ConnectionLost(f"the server sent nothing for {SILENT_SECONDS} seconds")
            self.check_heartbeats(stream)
            if self._stopped():
                raise ConnectionLost("the run was asked to end")
            if time.monotonic() > until:
                raise ConnectionLost(f"the server sent no whole event for {_MOST_SECONDS} seconds")
        return found

    def check_heartbeats(self, stream: DumpStream) -> None:
        """Raise ConnectionLost if the server waits although it has more events, or was asked not to wait."""
        if stream.heartbeats > _MOST_HEARTBEATS:
            raise ConnectionLost("the server sends heartbeats, and no events")

    def poll(self, stream: DumpStream) -> Any:
        """Return the result of `DumpStream.next` without waiting. Raises ConnectionLost, TornFile, and ArchiveError if
        the server refuses."""
        try:
            return stream.next()
        except SourceError as error:
            if error.number in _LOST:
                raise ConnectionLost(error.text) from None
            refused = self._refused(error, stream)
            raise (TornFile(refused) if _TORN in error.text else refused) from None

    def _dump(self, name: str, position: int) -> DumpStream:
        flags = (0 if self._waits else _NOT_WAITING) | _WITH_ANNOTATIONS * (self.flavour == "mariadb")
        return self._asked(_DUMP, pack("<IHI", position, flags, self._server_id) + name.encode(), name, position)

    def _asked(self, command: int, request: bytes, name: str, position: int) -> DumpStream:
        session = self._connected()
        try:
            session.connection._execute_command(command, request)
        except session.errors as error:
            raise ConnectionLost(printable_start(str(error))) from None
        socket = session.connection._sock
        socket.settimeout(WAIT_SECONDS)
        return DumpStream(socket, name, position)

    def _refused(self, error: SourceError, stream: DumpStream) -> ArchiveError:
        hint: str | None = _HINTS.get(error.number, _HINTS[None])
        if error.number == LOG_GAP:
            hint = next((hint for words, hint in _GAPS.items() if words in error.text.lower()), None)
        return ArchiveError(f"{self._address} stopped sending its log: {error.text}", file=stream.name or None,
                            position=stream.position if stream.name else None, errno=error.number, hint=hint)


@contextmanager
def _lost_or_refused() -> Iterator[None]:
    """Convert the errors after which another connection may succeed to ConnectionLost."""
    try:
        yield
    except UsageError as error:
        if error.mysql_errno in _LOST:
            raise ConnectionLost(error.message) from error
        raise


def _uuid(rows: Sequence[Row]) -> str:
    found = only_text(rows)
    if _UUID.fullmatch(found) is None:
        raise ValueError("no UUID")
    return found


def _file_names(rows: Sequence[Row]) -> list[str]:
    if not rows:
        raise ValueError("no files")
    return [check_file_name(text(name)) for name, *_ in rows]


_TORN = "binlog truncated in the middle of event"
"""A text of error 1236. A crash may end a file within an event: MySQL removes the incomplete event at its next start,
MariaDB does not."""
_PURGED = ("the server has purged the next events (PURGE BINARY LOGS, binlog_expire_logs_seconds), or its log was "
           "reset: copy the missing files from a backup into the output; or choose another --output, which then begins "
           "with the server's oldest file, and whose replay needs a base from there or later")
_GAPS = {
    "purged": _PURGED,
    "could not find": _PURGED,
    "not in the master's binlog": _PURGED,
    "> file size": "the server has lost the end of its log, in a crash with sync_binlog other than 1: the output has "
                   "transactions that the server no longer has; choose another --output",
    "impossible position": "the server has lost the end of its log, in a crash with sync_binlog other than 1: the "
                           "output has transactions that the server no longer has; choose another --output",
}
"""Hints, by the servers' texts of error 1236."""
_HINTS: dict[object, str] = {
    None: "the user needs the privileges REPLICATION SLAVE and REPLICATION CLIENT (MariaDB: BINLOG MONITOR)",
    1045: PASSWORD_HINT,  # ER_ACCESS_DENIED_ERROR
    1381: "switch the binlog on (log_bin); a replica logs with log_replica_updates",  # ER_NO_BINARY_LOGGING
}
