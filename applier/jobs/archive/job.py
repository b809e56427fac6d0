"""Copies a server's binlogs, file by file, until it is stopped.

    start               the last file of the output, cut after its last whole event; else as the user says
    the same source     server_uuid, and the first events of that file, compared with the server's
    copy                runs of whole events are written as they arrive; a file is complete when the next one begins
    lost connection     start again, after a delay
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from applier.binlog.archive.log_names import check_file_name
from applier.binlog.events.gtid import GtidSet
from applier.errors import ArchiveError, UsageError, reason
from applier.io.progress import Progress
from applier.io.resolver import join
from applier.jobs.archive.dump_stream import ConnectionLost, DumpStream, EndOfLog, FileBegins, Run
from applier.jobs.archive.figures import outcome
from applier.jobs.archive.growing_file import GrowingFile, head_of, says_that_it_ends, whole_part
from applier.jobs.archive.output import PRIVATE, Access, Output
from applier.jobs.archive.result import Archived
from applier.jobs.archive.source import FIRST, SILENT_SECONDS, WAIT_SECONDS, Source, TornFile
from applier.jobs.server.connection import ServerAddress
from applier.jobs.telemetry.figures import Outcome
from applier.jobs.telemetry.run import Run as TelemetryRun
from applier.jobs.telemetry.run import telemetry

_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
_MOST_LOSSES = 8
"""The number of connections in a row without anything new after which a run that does not wait for more gives up: about
a minute."""
IDLE_HEARTBEATS = 12
"""The number of heartbeats in a row after which the last file is compared with the server's again: about a minute. A
server whose log was reset does not say so, and sends no event of its new log."""
_LARGEST_POSITION = 0xFFFFFFFF
"""The limit of COM_BINLOG_DUMP; the existing part of a larger file is received again and skipped."""


@dataclass(frozen=True)
class ArchiveOptions:
    """The server to copy from, and the output. An output without files begins at the file with the first transaction
    that is not in `gtids`, or at the file `start`; without either, at the oldest file. If `waits`, the job waits at the
    end of the log for more events, until `stopped`. `access` says who may read the output. `metrics` are files
    (figures.py), `lineage` a URL or a file."""

    address: ServerAddress
    output: str
    gtids: GtidSet | None = None
    start: str | None = None
    waits: bool = True
    access: Access = PRIVATE
    metrics: tuple[str, ...] = ()
    lineage: str | None = None


def delay_after(losses: int) -> float:
    """Return how many seconds to wait before the next connection, after `losses` in a row that brought nothing new.
    Runs that lost a server at the same time reconnect at different times."""
    if losses < 2:
        return 0.0
    return min(_FIRST_DELAY * 2.0 ** min(losses - 2, 16), _LONGEST_DELAY) * random.uniform(0.5, 1.0)


def archive(options: ArchiveOptions, progress: Progress, stopped: Callable[[], bool]) -> Archived:
    """Copy until `stopped`, or to the end of the log. Raises UsageError and ArchiveError for errors that another
    attempt would not change, and if the first attempt cannot reach the server and the output is empty or the job does
    not wait."""
    if options.start is not None:
        check_file_name(options.start)
    with (telemetry("archive", (_log_of(options.address),), options.output, options.metrics, options.lineage) as run,
          Output(options.output, options.access) as output):
        return _Archiving(options, output, progress, stopped, run).run()


def _log_of(address: ServerAddress) -> str:
    return f"mysql://{address.host}:{address.port}/binlog"


class _Archiving:
    def __init__(self, options: ArchiveOptions, output: Output, progress: Progress, stopped: Callable[[], bool],
                 run: TelemetryRun) -> None:
        self._options, self._output, self._progress, self._stopped = options, output, progress, stopped
        self._run, self._is_connected = run, False
        self._source = Source(options.address, waits=options.waits, stopped=stopped)
        self._file: GrowingFile | None = None
        self._last: tuple[str, int] = ("", 0)
        self._compared: tuple[str, int] | None = None  # up to where the last file is known to be the server's
        self._names: set[str] = set()
        self._first_event, self._first_name, self._passed_over = b"", "", 0
        self._complete = self._events = self._bytes = 0
        self._events_of_file = self._bytes_of_file = 0
        self._began = time.monotonic()

    def run(self) -> Archived:
        """Copy until the job ends, and connect again whenever a connection is lost."""
        self._progress.phase("archive", 0, "files")
        losses, told = 0, ""
        stood: tuple[str, int] | None = None
        is_known = self._options.waits and self._output.last_file() is not None
        try:
            while not self._stopped():
                try:
                    stream = self._begin()
                    if told:
                        self._progress.note(f"connected to {self._source} again")
                    is_known, told = True, ""
                    if self._last != stood:  # the bytes of an earlier connection are whole, and on the disk
                        losses, stood = 0, self._last
                    self._is_connected = True
                    self._copy(stream)
                    break
                except ConnectionLost as lost:
                    self._is_connected = False
                    if self._stopped():
                        break
                    losses += 1
                    if not is_known:
                        raise UsageError(str(lost), hint="is the server running, and is the address right?") from None
                    if losses >= _MOST_LOSSES and not self._options.waits:
                        raise ArchiveError(f"the connection to {self._source} was lost {losses} times without "
                                           f"anything new: {lost}",
                                           hint="run it again when the server is back: what was "
                                                                 "received is kept"
                                           ) from None
                    if str(lost) != told:
                        self._progress.note(f"the connection to {self._source} is lost, and tried again: {lost}")
                    told = str(lost)
                self._wait(delay_after(losses))
        finally:
            self._source.close()
            self._close(grows=True)
            self._run.did(self._outcome())
        return self._archived()

    def _archived(self) -> Archived:
        return Archived(self._options.output, len(self._names), self._complete, self._events, self._bytes, *self._last)

    def _outcome(self) -> Outcome:
        return outcome(self._archived(), is_connected=self._is_connected)

    def _begin(self) -> DumpStream:
        """Find where the output ends, and request the log from there."""
        self._close_locally()
        path = self._output.last_file()
        while path is not None and not (size := whole_part(path)):
            self._output.remove(path)
            path = self._output.last_file()
        self._source.connect()
        self._output.check_source(self._source.server_uuid)
        if path is None:
            first = self._first()
            self._output.note_source(self._source.server_uuid)
            return self._source.dump(first, FIRST)
        name = os.path.basename(path)
        if self._source.head(name, len(head := head_of(path))) != head:
            raise UsageError(f"{name} on {self._source} differs from the file of that name in the output", file=path,
                             hint="was the server's log reset (RESET BINARY LOGS AND GTIDS, RESET MASTER), or is it "
                                  "another server? choose another --output for it")
        self._output.note_source(self._source.server_uuid)
        os.truncate(path, size)
        self._file = GrowingFile(path, size)
        self._last = self._compared = name, size
        is_too_far = size > _LARGEST_POSITION
        self._passed_over = size - FIRST if is_too_far else 0
        return self._source.dump(name, FIRST if is_too_far else size)

    def _first(self) -> str:
        options = self._options
        if options.gtids is not None:
            return self._source.file_after(options.gtids)
        return options.start or self._source.first_file()

    def _copy(self, stream: DumpStream) -> None:
        """Write events until the end of the log, or until `stopped`. Raises ConnectionLost."""
        silent = 0.0
        while not self._stopped():
            self._run.does(self._outcome)
            try:
                found = self._source.poll(stream)
            except TornFile as torn:
                stream = self._after_crash(stream.name, torn)
                continue
            is_idle = found is None and self._options.waits and stream.heartbeats >= IDLE_HEARTBEATS
            if is_idle and self._last[1] <= _LARGEST_POSITION:
                stream = self._begin()
                continue
            match found:
                case Run(data, events) if self._passed_over:
                    rest = data[self._passed_over:]
                    self._passed_over -= len(data) - len(rest)
                    if rest:
                        self._write(stream.name, rest, events)
                case Run(data, events):
                    self._write(stream.name, data, events)
                case FileBegins(following):
                    self._check_that_it_ends(following)
                    self._complete_file()
                case EndOfLog() if self._options.waits:  # servers that are shut down say so
                    raise ConnectionLost("the server has ended its log")
                case EndOfLog():
                    return
                case None if stream.receive():
                    silent = 0.0
                    if not self._options.waits:
                        self._source.check_heartbeats(stream)
                    if self._file is not None:
                        self._file.sync_if_due()
                case None:
                    silent += WAIT_SECONDS
                    if self._file is not None:
                        self._file.sync()
                    if silent >= SILENT_SECONDS:
                        raise ConnectionLost(f"the server sent nothing for {SILENT_SECONDS} seconds")

    def _check_that_it_ends(self, following: str) -> None:
        """Raise ConnectionLost if the server begins another file although the last event of the current one does not
        say so: the server crashed, or its log was reset. The next connection compares this file with the server's,
        which tells the two apart."""
        if self._file is None or self._last == self._compared:
            return
        self._file.sync()
        if not says_that_it_ends(self._file.path, following):
            raise ConnectionLost(f"the server begins {following}, but {self._file.name} does not end with a rotation")

    def _after_crash(self, name: str, torn: TornFile) -> DumpStream:
        """Request the log from the file after one that a crash of the server truncated within an event, which is in no
        transaction. Raises ArchiveError if the server did not start anew after it, as the file may be damaged then;
        ConnectionLost."""
        following = self._source.begun_at_start_after(name)
        if following is None:
            raise torn.error
        self._progress.note(f"{name} ends within an event on {self._source}, since a crash, and {following} continues")
        self._complete_file()
        return self._source.dump(following, FIRST)

    def _write(self, name: str, data: bytes, events: int) -> None:
        if self._file is None and not self._first_event:
            self._first_event, self._first_name = data, name  # the file is there when there is a second one, which says
            return                                            # what came before it
        if self._file is None:
            data, events, self._first_event = self._first_event + data, events + 1, b""
        self._add(name, data, events)

    def _add(self, name: str, data: bytes, events: int) -> None:
        try:
            if self._file is None:
                self._file = self._created(name, data)
            else:
                self._file.append(data)
        except OSError as error:
            raise ArchiveError(f"the file cannot be written: {reason(error)}", file=self._output.path_of(name),
                               hint="run it again when there is room: complete files are kept") from error
        self._names.add(name)
        self._last = name, self._file.size
        self._events += events
        self._bytes += len(data)
        self._events_of_file += events
        self._bytes_of_file += len(data)

    def _created(self, name: str, data: bytes) -> GrowingFile:
        path = self._output.path_of(check_file_name(name))
        self._began, self._events_of_file, self._bytes_of_file = time.monotonic(), 0, 0
        try:
            return GrowingFile.created(path, data, self._options.access.file)
        except FileExistsError:
            raise ArchiveError("the server begins a file that the output already contains", file=path,
                               hint="was the server's log reset? choose another --output") from None

    def _complete_file(self) -> None:
        """Close the current file, as the server begins another one."""
        if self._passed_over:
            raise ArchiveError("the server's file is shorter than the one in the output", file=self._last[0],
                               hint="the server has lost the end of its log: choose another --output")
        if self._file is None and not self._first_event:
            return
        if self._file is None:
            self._add(self._first_name, self._first_event, 1)
        assert self._file is not None
        name, size = self._file.name, self._file.size
        self._close(grows=False)
        self._complete += 1
        rate = self._bytes_of_file / max(time.monotonic() - self._began, 1e-3) / 1e6
        self._progress.update(self._complete)
        self._progress.note(f"{join(self._options.output, name)}: complete, {size:,} bytes; "
                            f"{self._events_of_file:,} events, {rate:,.1f} MB/s")

    def _close(self, *, grows: bool) -> None:
        if (path := self._close_locally()) is not None:
            self._output.keep(path, grows=grows)

    def _close_locally(self) -> str | None:
        self._first_event = b""
        if self._file is None:
            return None
        path = self._file.path
        self._file.close()
        self._file = None
        return path

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._stopped():
            self._run.does(self._outcome)
            time.sleep(min(0.1, seconds))
