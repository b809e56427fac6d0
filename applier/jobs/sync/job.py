"""The job: a lake follows a growing archive.

    check → replay → publish → expire, every few seconds

A check lists the archive; unless a file is new or has changed, nothing else happens. A replay continues from the lake's
latest version, at its position, with the whole new part of the log: a late round is a larger one. Formats are
published after the version, so none is ever ahead of the lake; the next round completes an unfinished one. All state of
a round is in the lake and in the catalogs, so a killed job resumes where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from applier.binlog.archive.archive import open_archive
from applier.errors import ApplierError, UsageError
from applier.io.ending import Ending
from applier.io.progress import Progress, Silent
from applier.jobs.lake.expiring import Keep, expire
from applier.jobs.on_engine import replaying
from applier.jobs.publish.figures import with_telemetry
from applier.jobs.publish.job import check_tag, publish_delta, publish_iceberg
from applier.jobs.publish.result import Published
from applier.jobs.replay.result import ReplayResult
from applier.jobs.sync.health import Health
from applier.jobs.sync.round import Round
from applier.options import ReplayOptions
from applier.snapshot import lakes, manifest
from applier.snapshot.lake.lake_staging import open_lake

MOST_SECONDS_OFF = 60.0
"""Between rounds that fail, at most, unless people wait longer for those that do not."""
EXPIRES_EVERY_SECONDS = 60.0
"""Listing a lake's files costs more than a small round, and so does a look at the snapshots of unchanged tables."""
WAITS_TIMES = 20
"""How many times as long as an expiry took the next one waits, at least."""


@dataclass(frozen=True)
class SyncOptions:
    """The options of a sync. `replay` has the archive and the lake. `every` is the interval between checks, in seconds.
    `keep` are the versions of the lake that stay; None: all. Each version is published in the catalog `iceberg`, whose
    own files go to `warehouse`, and as Delta tables below `delta`, with a change data feed if `change_data`. Iceberg
    tables get a `tag`, and lose snapshots that were replaced longer ago than `expire`. `until_now`: end after one
    round. `metrics`: files for monitoring (health.py)."""

    replay: ReplayOptions
    every: float = 10.0
    keep: Keep | None = None
    iceberg: str | None = None
    warehouse: str | None = None
    delta: str | None = None
    change_data: bool = False
    tag: str | None = None
    expire: timedelta | None = None
    until_now: bool = False
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.replay.lake:
            raise UsageError("it takes a lake", hint="give --lake")
        if not 0 < self.every <= 86400:
            raise UsageError(f"--every {self.every} is not a valid interval", hint="give 1s to 24h")
        if self.replay.merge_on_read and self.delta is not None:
            raise UsageError("a lake that merges on read cannot be published as Delta tables",
                             hint="leave out --merge-on-read or --delta; --iceberg is possible")
        check_tag(self.tag)
        for name in ("warehouse", "tag", "expire"):
            if getattr(self, name) is not None and self.iceberg is None:
                raise UsageError(f"--{name} applies only to an Iceberg catalog", hint="also give --iceberg")
        if self.change_data and self.delta is None:
            raise UsageError("--change-data applies only to Delta tables", hint="also give --delta")


def sync(options: SyncOptions, ending: Ending, progress: Progress | None = None) -> Generator[Round]:
    """Follow the archive until `ending` is asked for; yields each round that did something, or failed.

    Raises errors that no later round could resolve: ReplayStopped where a replica would stop, SchemaError, UsageError;
    and when it ends after a round that failed, that round's error.
    """
    follower, health = _Follower(options, progress or Silent()), Health(str(options.replay.lake), options.metrics)
    failed = 0
    while True:
        done = follower.round()
        health.seen(done)
        failed = failed + 1 if done is not None and done.error is not None else 0
        if done is not None:
            if done.error is not None and _lasts(done.error):
                raise done.error
            yield done
        off = min(2.0 ** (failed - 1), MOST_SECONDS_OFF) if failed else 0.0
        if options.until_now or ending.wait(max(options.every, off)):
            health.ended()
            if failed and done is not None and done.error is not None:
                raise done.error
            return


def _lasts(error: ApplierError) -> bool:
    """Return whether the same round would fail in the same way: the data or the usage is at fault."""
    return error.exit_code == 1 or isinstance(error, UsageError)


Listing = tuple[tuple[str, int, int], ...]
"""Each file's path, size and time of change."""


class _Follower:
    """Does rounds, and remembers files and publications since the start."""

    def __init__(self, options: SyncOptions, progress: Progress) -> None:
        self._options, self._progress = options, progress
        self._lake = str(options.replay.lake)
        self._read: Listing | None = None
        self._published: dict[str, int] = {}
        self._expires_after = self._forgets_after = 0.0
        self._stands = Round()

    def round(self) -> Round | None:
        """Do one round; None if there was nothing to do. The round has the error if it failed."""
        began, result, errors = time.perf_counter(), None, list[ApplierError]()
        published: list[Published] = []
        expired = 0
        try:
            result = self._replay()
        except ApplierError as error:
            errors.append(error)
        if self._stands.version:
            for name, publish in self._formats():
                if self._published.get(name) != self._stands.version:
                    try:
                        published.append(publish(lakes.version_uri(self._lake, self._stands.version)))
                        self._published[name] = self._stands.version
                    except ApplierError as error:
                        errors.append(error)
            try:
                expired = self._expire()
            except ApplierError as error:
                errors.append(error)
        if result is None and not published and not expired and not errors:
            return None
        done = replace(self._stands, published=tuple(published), expired=expired,
                       seconds=time.perf_counter() - began, error=next(filter(_lasts, errors), errors[0])
                       if errors else None)
        if self._stands.timestamp is not None:
            had_news = result is not None or errors
            done = replace(done, lag=max(0.0, time.time() - self._stands.timestamp) if had_news else 0.0)
        if result is None:
            return done
        return replace(done, is_new=True, changes=result.changes, notes=result.notes,
                       files_written=sum(table.files_written for table in result.tables),
                       files_kept=sum(table.files_carried for table in result.tables),
                       bytes_written=sum(table.bytes_written for table in result.tables))

    def _replay(self) -> ReplayResult | None:
        """Make the next version if the archive has anything new; None if it has not."""
        options = self._options.replay
        listing = _listing(options.binlogs)
        if listing == self._read:
            return None
        if not self._stands.version and (latest := open_lake(self._lake).latest) is not None:
            self._stand(latest.uri, latest.position)
        if self._stands.version:
            options = replace(options, base=None, schema=None)
        [result] = replaying.replay(options, self._progress)
        self._read = listing
        self._stand(result.snapshot, result)
        return result if result.route else None  # without a route nothing was replayed

    def _stand(self, uri: str, at: manifest.BinlogPosition | ReplayResult) -> None:
        """Remember the lake's latest version, at a path or uri, and where it stands."""
        position = at.position if isinstance(at, ReplayResult) else str(at)
        self._stands = Round(version=lakes.number_of(uri), position=position, gtid_set=at.gtid_set,
                             timestamp=at.timestamp)

    def _formats(self) -> Sequence[tuple[str, Callable[[str], Published]]]:
        options, found = self._options, list[tuple[str, Callable[[str], Published]]]()
        lineage = options.replay.lineage
        if (catalog := options.iceberg) is not None:
            found.append(("iceberg", lambda uri: with_telemetry(
                lambda: self._publish_iceberg(uri, catalog), uri, catalog, in_folders=False, lineage=lineage)))
        if (root := options.delta) is not None:
            found.append(("delta", lambda uri: with_telemetry(
                lambda: publish_delta(uri, root, change_data=options.change_data), uri, root, in_folders=True,
                lineage=lineage)))
        return found

    def _publish_iceberg(self, uri: str, catalog: str) -> Published:
        options, now = self._options, time.monotonic()
        is_due = now >= self._forgets_after
        done = publish_iceberg(uri, catalog, options.warehouse, tag=options.tag,
                               expire=options.expire if is_due else None)
        if is_due:
            self._forgets_after = now + EXPIRES_EVERY_SECONDS
        return done

    def _expire(self) -> int:
        if self._options.keep is None or time.monotonic() < self._expires_after:
            return 0
        began, is_first = time.monotonic(), self._expires_after == 0.0
        try:
            # The strays of a run before this one may be there.
            return len(expire(self._lake, self._options.keep, strays=is_first).versions)
        finally:
            took = time.monotonic() - began
            self._expires_after = began + took + max(EXPIRES_EVERY_SECONDS, WAITS_TIMES * took)


def _listing(binlogs: Sequence[str]) -> Listing:
    """List the archive's files. Raises ArchiveError, and UsageError if their order is not clear."""
    return tuple((file.uri, file.size, file.changed) for file in open_archive(binlogs, with_gap=True).files)
