"""Follows a growing archive: the changes of tables, one batch of the log at a time, each exactly once.

    check → outline the new part → record the batch's end in the state → hand it out → record its acknowledgement

A batch continues from the checkpoint of the previous one (applier.jobs.changes.checkpoint), so its cost depends only on
the new part of the log. A batch is determined by its beginning and its end, and both are in the
state before any row is handed out: after a crash, an unacknowledged batch comes again unchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING

from applier.binlog.archive.archive import ArchiveFile, open_archive
from applier.binlog.events.gtid import GtidSet
from applier.errors import LOG_GAP, ApplierError, ArchiveError, UsageError
from applier.io.progress import Progress, Silent
from applier.jobs.archive.job import ArchiveOptions, archive
from applier.jobs.changes.checkpoint import up_to
from applier.jobs.changes.event_groups.groups import version_at
from applier.jobs.changes.follow.follow_state import End, FollowState
from applier.jobs.changes.job import WHOLE, ChangeLog
from applier.options import ChangesOptions
from applier.schema.ddl.schema_changes import TableName
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot.manifest import BinlogPosition, Snapshot

if TYPE_CHECKING:
    from applier.io.ending import Ending

_MOST_FAILURES = 8
"""Looks in a row at an archive that cannot be read, after which that is an error: about two minutes."""
_MOST_SECONDS_OFF = 30.0


@dataclass(frozen=True)
class FollowOptions:
    """What to follow: the log of `changes`, and of it the tables of `filter`. `state` is the file of FollowState, None:
    none is kept. `every` is the interval between looks, in seconds; a batch has at most about `batch_bytes` of the log.
    `until_now`: end when nothing is new. `source`: copy this server's log into the archive meanwhile."""

    changes: ChangesOptions
    filter: TableFilter = EVERYTHING
    state: str | None = None
    every: float = 1.0
    batch_bytes: int = 256 << 20
    until_now: bool = False
    source: ArchiveOptions | None = None

    def __post_init__(self) -> None:
        asked = self.changes
        if asked.complete:
            raise UsageError("--complete changes cannot be followed: they need all rows of the tables",
                             hint="`applier sync --delta DIR --change-data` keeps the rows, and has their changes")
        if any(stop is not None for stop in (asked.stop_position, asked.stop_gtid, asked.stop_datetime)):
            raise UsageError("following has no place to stop", hint="--until-now ends where the log ends now")
        if asked.start_position is not None or asked.start_datetime is not None:
            raise UsageError("following begins after a place where it knows the tables",
                             hint="give --after, which reads the definitions before it")
        if not 0 < self.every <= 86400:
            raise UsageError(f"--every {self.every} is not a valid interval", hint="give 1s to 24h")


@dataclass
class Batch:
    """Changes of `tables` in a part of the log, up to `position`. Batches are numbered from 1."""

    number: int
    log: ChangeLog
    tables: tuple[TableName, ...]
    _end: Snapshot
    _state: FollowState
    is_acknowledged: bool = field(default=False, init=False)

    @property
    def position(self) -> BinlogPosition:
        """Where it ends."""
        return self._end.position

    def acknowledge(self) -> None:
        """Note that this batch is done, and all before it: it does not come again."""
        if not self.is_acknowledged and self.number > self._state.acknowledged:
            self._state.acknowledge(self.number, self._end)
        self.is_acknowledged = True


def follow(options: FollowOptions, ending: Ending, progress: Progress | None = None) -> Generator[Batch]:
    """Yield batches until `ending` is asked for. Raises UsageError and SchemaError as ChangeLog does, ArchiveError for
    an archive that could not be read eight times in a row, and the errors that end the copying of a server's log."""
    watch = progress or Silent()
    with FollowState(options.state) as state, _copying(options, watch) as copying:
        follower, failures = _Follower(options, state), 0
        while True:
            copying.check()
            batch = None
            try:
                batch = follower.next_batch()
                failures = 0
            except ArchiveError as error:
                failures += 1
                if options.until_now or failures == _MOST_FAILURES:
                    raise
                watch.note(f"the archive cannot be read, and is tried again: {error}")
            if batch is not None:
                yield batch
            elif options.until_now and not follower.has_more:
                return
            off = min(2.0 ** failures, _MOST_SECONDS_OFF) if failures else 0.0
            if ending.wait(0.0 if follower.has_more and not failures else max(options.every, off)):
                return


class _Follower:
    """Makes batches, and knows where the last one ended."""

    def __init__(self, options: FollowOptions, state: FollowState) -> None:
        self._options, self._state = options, state
        self._log = state.log
        self._offered = list(state.offered)
        self._number = state.acknowledged
        self._read: tuple[ArchiveFile, ...] = ()
        self.has_more = True
        """Whether the log is known to continue after the part that was read."""
        if state.log is not None:
            asked = options.changes
            self._changes = replace(asked, base=None, schema=None, after=None)
            if asked.after is not None:
                self._pass_over(up_to(asked, asked.after), state.log)
        else:
            self._changes = options.changes
        gtids = self._changes.gtids
        self._changes = replace(self._changes, gtids=None, maybe_gtids=gtids)  # a batch may have none of them

    def _pass_over(self, before: ChangesOptions, log: Snapshot) -> None:
        """Begin after a position that is not before the state's: the batches up to there are done."""
        self._log = ChangeLog(replace(before, base=None, schema=None), base=log).checkpoint(self._options.filter)
        at = self._log.position
        while self._offered and _order(self._offered[0]) <= _order((at.file, at.offset, "", None, None)):
            del self._offered[0]
            self._number += 1

    def next_batch(self) -> Batch | None:
        """Return the next batch with changes of the tables; None if there is nothing new of them."""
        files = open_archive(self._changes.binlogs, with_gap=True).files
        if not self.has_more and files == self._read:
            return None
        again = self._offered[0] if self._offered else None
        log = self._again(again) if again is not None else self._read_log(self._changes, self._options.batch_bytes)
        tables, end = tuple(log.tables(self._options.filter)), log.checkpoint(self._options.filter)
        self._log, self._changes = end, replace(self._changes, base=None, schema=None, after=None)
        self.has_more, self._read = again is not None or not log.is_last, files
        if again is not None:
            del self._offered[0]
        elif tables:
            at = end.position
            self._state.offer((at.file, at.offset, at.gtid_set, at.tail, at.timestamp))
        else:
            if not self._state.offered and (self._state.log is None or self._state.log.position != end.position):
                self._state.advance(end)
            return None
        self._number += 1
        return Batch(self._number, log, tables, end, self._state)

    def _read_log(self, asked: ChangesOptions, most_bytes: int) -> ChangeLog:
        return ChangeLog(asked, base=self._log, filter=self._options.filter, most_bytes=most_bytes, may_be_empty=True)

    def _again(self, end: End) -> ChangeLog:
        """Return the log of a batch that was handed out before. Where the archive does not have its end, as that of
        another server after a failover, the GTIDs there name it. Raises ArchiveError if nothing does, or if the log up
        to there is another one."""
        log = self._up_to(end)
        *_, gtids, tail, timestamp = end
        at = log.ends_at
        if tail is not None and at.tail == tail:
            return log
        if gtids:
            log.check_that_its_end_is_old(timestamp)
        elif None not in (tail, at.tail):
            raise self._other_log(end, at)
        return log

    def _up_to(self, end: End) -> ChangeLog:
        file, offset, gtids, *_ = end
        try:
            log = self._read_log(replace(self._changes, stop_position=(file, offset)), WHOLE)
            if not gtids or GtidSet.parse(log.ends_at.gtid_set) == GtidSet.parse(gtids):
                return log
        except ArchiveError:
            if not gtids:
                raise
        except UsageError as error:
            if not gtids:
                raise _of_archive(error) from error
        try:
            log = self._read_log(replace(self._changes, stop_gtid=gtids), WHOLE)
        except UsageError as error:
            raise _of_archive(error) from error
        if GtidSet.parse(log.ends_at.gtid_set) != GtidSet.parse(gtids):
            raise self._other_log(end, log.ends_at)
        return log

    def _other_log(self, end: End, at: BinlogPosition) -> ArchiveError:
        return ArchiveError(f"batch {self._number + 1} cannot be read again: this log has other transactions before "
                            f"its end, {end[0]}:{end[1]}", file=at.file, position=at.offset, errno=LOG_GAP,
                            hint="give the log that it was made of; or, if its rows are stored, give its position as "
                                 "--after")


def _of_archive(error: UsageError) -> ArchiveError:
    """Return the error for an archive that does not reach the end of a batch; it may grow up to there."""
    return ArchiveError(error.message, file=error.file, hint=error.hint)


def _order(position: End) -> int:
    """Return positions in log order."""
    return version_at(position[0], 0, position[1])


class _Copying:
    """Copies a server's log into the archive on a thread, or, until now, before the following. A context manager."""

    def __init__(self, options: ArchiveOptions, progress: Progress) -> None:
        self._options, self._progress = options, progress
        self._ending = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._copy, name="applier archive", daemon=True)

    def __enter__(self) -> _Copying:
        if not self._options.waits:
            archive(self._options, self._progress, lambda: False)
            return self
        self._thread.start()
        while self._thread.is_alive() and not _has_files(self._options.output):
            self._thread.join(0.1)
        self.check()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Raise the error that ended the copying."""
        if self._error is not None:
            raise self._error

    def _copy(self) -> None:
        try:
            archive(self._options, self._progress, self._ending.is_set)
        except BaseException as error:
            self._error = error


def _has_files(archive: str) -> bool:
    try:
        return bool(open_archive([archive], with_gap=True).files)
    except ApplierError:
        return False


class _NoCopying:
    def check(self) -> None:
        """Copying has not ended."""


def _copying(options: FollowOptions, progress: Progress) -> AbstractContextManager[_Copying | _NoCopying]:
    if options.source is None:
        return nullcontext(_NoCopying())
    return _Copying(options.source, progress)
