"""The job: snapshot' = replay(snapshot, binlogs, options).

    archive → outline → plan → changes → apply → publish

The core of each step is in its own package; this module is the way of a row through them, and the only place that knows
all of them. Spark starts in the background while the archive is outlined.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from applier import __version__, warm
from applier.apply.executor import Executor
from applier.apply.work import TaskOutcome, UnitResult
from applier.binlog.archive import Archive, check_continuity, open_archive
from applier.binlog.gtid import GtidSet
from applier.binlog.outline import OutlineTask
from applier.binlog.stop import StopCondition
from applier.errors import ReplayStopped, UsageError
from applier.options import ReplayOptions
from applier.plan.log import LogSpan, check_base, files_after, read_history, span_of, used_tables
from applier.plan.stop_error import first_of, with_transaction
from applier.plan.tasks import prefers_shuffle, split_tasks, walking_tasks
from applier.plan.units import PlannedVersion, changed_versions, divide
from applier.progress import Progress, Silent
from applier.publication import table_entries, table_results
from applier.result import ReplayResult
from applier.schema.history import SchemaHistory
from applier.snapshot import manifest
from applier.snapshot.location import resolve
from applier.snapshot.manifest import DatabaseEntry, Snapshot, Source
from applier.snapshot.publish import Staging, begin


def replay(options: ReplayOptions, progress: Progress | None = None) -> ReplayResult:
    """Replay an archive and publish a snapshot. Raises ApplierError, and publishes nothing then.

    A Spark session that runs in this process already is used as it is; else one is started, and left for the next call.
    """
    from applier.spark import session
    from applier.spark.executor import OnSpark

    progress = progress or Silent()
    starting = session.start_in_background(options.master)
    warm.ensure(progress.note)
    return replay_with(OnSpark(starting, options.master), options, progress)


def replay_with(executor: Executor, options: ReplayOptions, progress: Progress | None = None) -> ReplayResult:
    """The same with tasks run by any executor."""
    return _Replay(executor, options, progress or Silent()).run()


class _Replay:
    """One run: its options, who does the work, who watches, and what it noted on the way."""

    def __init__(self, executor: Executor, options: ReplayOptions, progress: Progress):
        self.executor, self.options, self.progress = executor, options, progress
        self.seconds: dict[str, float] = {}
        self.notes: list[str] = []

    def run(self) -> ReplayResult:
        options = self.options
        base = manifest.load(options.base) if options.base is not None else None
        with begin(options.output) as staging:
            with self._timed("outline"):
                span = self._outline(open_archive(list(options.binlogs)), base)
            with self._timed("plan"):
                wanted = options.filter.wanted
                schema_sql = _read_text(options.schema) if options.schema is not None else None
                history = read_history(span, wanted, base, schema_sql)
                versions = changed_versions(used_tables(span, history, wanted))
                divide(versions, span, base, staging, self.executor.cores)
            with self._timed("apply"):
                results = self._apply(span, versions)
            with self._timed("publish"):
                return self._publish(staging, span, base, history, versions, results)

    def _outline(self, archive: Archive, base: Snapshot | None) -> LogSpan:
        """Outline the files that count, and see that they hold together."""
        files, start = files_after(archive, base.position) if base is not None else (archive.files, None)
        stop = self._stop_condition()
        if stop.position is not None:
            names = [file.name for file in files]
            if stop.position[0] not in names:
                raise UsageError(f"--stop-position names {stop.position[0]}, which is not in the archive")
            files = files[:names.index(stop.position[0]) + 1]  # what comes later may be damaged, or of any length
        self.progress.phase("outline", len(files), "files")
        tasks = [OutlineTask(file.uri, start if number == 0 else None, stop) for number, file in enumerate(files)]
        outlines = self.executor.outline(tasks, lambda done, _: self.progress.update(done))
        check_continuity(outlines)
        if base is not None:
            check_base(base, outlines[0])
        self.notes += [f"{outline.name} ends within an event group at {outline.torn_at}; replayed up to {outline.end}"
                       for outline in outlines if outline.torn and not outline.stopped]
        for note in self.notes:
            self.progress.note(note)
        return span_of(outlines)

    def _stop_condition(self) -> StopCondition:
        options = self.options
        gtids = GtidSet.parse(options.stop_gtid) if options.stop_gtid is not None else None
        return StopCondition(options.stop_position, gtids, options.stop_datetime)

    def _apply(self, span: LogSpan, versions: list[PlannedVersion]) -> list[UnitResult]:
        """Apply all units by the cheaper route. Raises the error of the first change in the log that was refused."""
        tasks = walking_tasks(span, versions, self.executor.cores)
        units = [unit for item in versions for unit in item.units]
        route = self.options.route
        if route == "auto":
            route = "shuffle" if prefers_shuffle(span, tasks, versions) else "walk"
        self.progress.phase(f"apply ({route})", len(units), "units")

        def on_progress(done: int, total: int) -> None:
            self.progress.update(len(units) * done // max(1, total))

        if not units:
            outcomes: list[TaskOutcome] = []
        elif route == "walk":
            outcomes = self.executor.walk(tasks, on_progress)
        else:
            outcomes = self.executor.shuffle(split_tasks(span, versions), units, on_progress)
        stopped = [error for outcome in outcomes for error in outcome.stopped]
        if stopped:
            order = {outline.uri: number for number, outline in enumerate(span.outlines)}
            first = first_of(stopped, order)
            raise with_transaction(first, span.outlines[order[first.file]])
        results = [result for outcome in outcomes for result in outcome.results]
        self.progress.update(len(units), sum(result.changes for result in results))
        if self.options.zero_dates == "error" and (zero := sum(result.zero_dates for result in results)):
            raise ReplayStopped(f"{zero} dates are no day and would become null", hint="leave out --zero-dates error")
        return results

    def _publish(self, staging: Staging, span: LogSpan, base: Snapshot | None, history: SchemaHistory,
                 versions: list[PlannedVersion], results: list[UnitResult]) -> ReplayResult:
        live = [version for version in history.live()
                if self.options.filter.wanted(version.definition.database, version.definition.name)]
        entries = table_entries(live, versions, results, base, staging)
        position = span.end_position(base)
        names = tuple(outline.name for outline in span.outlines)
        source = Source(names, self.options.for_manifest(), self.options.base)
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(history.databases().items()))
        snapshot = Snapshot(position, tuple(entries), source, f"mysql-binlog-applier {__version__}",
                            databases=databases)
        tables = table_results(entries, versions, results)
        schema_sql = "".join(version.definition.to_sql() + ";\n\n" for version in live)
        staging.commit(snapshot, schema_sql, self._report(tables, results))
        return ReplayResult(self.options.output, str(position), position.gtid_set, position.timestamp, tables,
                            dict(self.seconds), tuple(self.notes))

    def _report(self, tables: tuple, results: list[UnitResult]) -> dict:
        return {"tables": list(tables), "zero_dates": sum(result.zero_dates for result in results),
                "units": len(results), "seconds": self.seconds, "notes": self.notes}

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = time.perf_counter() - started


def _read_text(uri: str) -> str:
    filesystem, path = resolve(uri)
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            return stream.read().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the schema file cannot be read: {error}", file=uri) from error
