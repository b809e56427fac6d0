"""The job: snapshot' = replay(snapshot, binlogs, options).

    archive → outline → plan → changes → apply → publish

The core of each step is in its own package; this module is the way of a row through them, and the only place that knows
all of them. Who runs the tasks is the caller's choice: this process, or Spark (applier.jobs.on_engine.replaying).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from applier import __version__
from applier.apply.tasks import Applied, LogSegment, PlanAgain, Refused, TaskOutcome, UnitResult, outcome_of
from applier.binlog.archive.archive import Archive, check_continuity, notes_on_ends, open_archive
from applier.binlog.events.group_ids import check_group_ids
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.columns.type_conversions import TypeConversions
from applier.engine.executor import Executor, OnProgress
from applier.errors import ApplierError, ArchiveError, ReplayStopped, SchemaError
from applier.io.progress import Progress, Silent
from applier.io.resolver import read_text
from applier.io.typed_json import Mismatch
from applier.jobs.replay.orphans import orphans
from applier.jobs.replay.publication import table_entries, table_results
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions
from applier.plan.cascades import cascades_of
from applier.plan.conflicts import conflict_listing, to_parquet
from applier.plan.log import (
    LogSpan,
    check_base,
    files_after,
    read_history,
    span_of,
    used_tables,
)
from applier.plan.notes import notes_on_charsets, notes_on_columns, notes_on_definitions, notes_on_names
from applier.plan.planned import PlannedVersion
from applier.plan.prepared import resolve_prepared_transactions, with_prepared_transactions
from applier.plan.stops.base_position import could_be_another_servers, lacks_file_position, place_of, place_tasks
from applier.plan.stops.start_position import check_start, continuity, files_from, task_before
from applier.plan.stops.stop_error import first_of, with_transaction
from applier.plan.stops.stop_position import files_up_to, not_reached, outlines_up_to_stop
from applier.plan.stops.stopped_key import with_key
from applier.plan.tasks import by_route, core_seconds, log_segments, prefers_shuffle, split_tasks, walking_tasks
from applier.plan.units import changed_versions, divide
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.schema_file import schema_file
from applier.snapshot import manifest
from applier.snapshot.checks import check_files
from applier.snapshot.manifest import DatabaseEntry, Snapshot, Source, TableEntry
from applier.snapshot.publish import begin
from applier.snapshot.staging import Staging


def replay_with(executor: Executor, options: ReplayOptions, progress: Progress | None = None) -> ReplayResult:
    """Replay an archive and publish a snapshot; `executor` runs the tasks. Raises ApplierError, and publishes nothing
    then."""
    return _Replay(executor, options, progress or Silent(), options).run()


def replay_staged(executor: Executor, options: ReplayOptions, shown: ReplayOptions, progress: Progress) -> ReplayResult:
    """Replay with a base and an output that will be moved to the paths in `shown`, which reports name."""
    return _Replay(executor, options, progress, shown).run()


def _located(error: ApplierError, outline: Outline) -> ApplierError:
    """Add to a refused change's error its transaction, and before its hint the position to stop at before it."""
    hint, error.hint = error.hint, None
    return with_transaction(error, outline, hint) if hint else with_transaction(error, outline)


def _first_refused(refused: Refused, span: LogSpan, versions: list[PlannedVersion]) -> ApplierError:
    """The error of the first change in the log that was refused, with its key and its transaction."""
    order = {outline.uri: number for number, outline in enumerate(span.outlines)}
    first = first_of(refused.errors, order)
    number, known = order[first.file or ""], (item.version for item in versions)
    return _located(with_key(first, number, span.outlines[number], known), span.outlines[number])


def _definition(entry: TableEntry) -> TableDefinition:
    """The manifest's definition, as a later replay reads it. Raises SchemaError if no server has such a table."""
    try:
        return TableDefinition.from_json(entry.definition)
    except Mismatch as mismatch:
        raise SchemaError(f"the statements of the log leave a table that no server has: it {mismatch}",
                          table=entry.full_name, hint="leave it out with --ignore-tables") from None


class _Replay:
    """One run: its options, who does the work, who watches, and the notes that it makes."""

    def __init__(self, executor: Executor, options: ReplayOptions, progress: Progress, shown: ReplayOptions):
        self.executor, self.options, self.progress, self.shown = executor, options, progress, shown
        self.route = options.route
        self.seconds: dict[str, float] = {}
        self.notes: list[str] = []

    def run(self) -> ReplayResult:
        options = self.options
        base = manifest.load(options.base) if options.base is not None else None
        if base is not None:
            check_files(base, [file for table in base.tables if options.filter.wanted(table.database, table.name)
                               for file in table.all_files])
        with begin(options.output, options.file_bytes) as staging:
            with self._timed("outline"):
                archive = open_archive(list(options.binlogs), with_gap=self._stop_condition().is_set)
                base, span = self._span(archive, base)
            with self._timed("plan"):
                wanted = options.filter.wanted
                schema_sql = read_text(options.schema) if options.schema is not None else None
                history = read_history(span, wanted, base, schema_sql, dict(options.rewrites),
                                       skip_statements=options.on_statement == "skip",
                                       define_from_log=options.define_from_log,
                                       system_time_zone=options.system_time_zone)
                self._note_skipped(history)
                used = used_tables(span, history, wanted)
                for note in [*notes_on_names(history, options.filter), *notes_on_definitions(history),
                             *notes_on_columns(used), *notes_on_charsets(history, used)]:
                    self._note(note)
                idempotent = options.exec_mode == "idempotent"
                cascades = cascades_of(history, used, idempotent=idempotent, compressed=span.has_compressed_rows)

            def divided(moving: Collection[str]) -> list[PlannedVersion]:
                with self._timed("plan"):
                    versions = changed_versions(used, history, cascades)
                    divide(versions, base, staging, self.executor.cores, idempotent=idempotent, moving=moving,
                           allowed=TypeConversions.of(options.type_conversions), cascades=cascades)
                return versions

            versions, results = self._applied(span, divided)
            with self._timed("publish"):
                return self._publish(staging, span, base, history, versions, results)

    def _span(self, archive: Archive, base: Snapshot | None) -> tuple[Snapshot | None, LogSpan]:
        """The part of the archive that counts, and the base with its position in it: found by its transactions if the
        archive does not have the position that it names, or they do not end there."""
        if base is None or self.options.start_position is not None:
            return base, self._outline(archive, base)
        if not lacks_file_position(base.position):
            try:
                return base, self._outline(archive, base)
            except ArchiveError as error:
                if not could_be_another_servers(error, base.position):
                    raise
        outlines = self.executor.outline(place_tasks(archive, base.position), lambda *_: None)
        placed = replace(base, position=place_of(base.position, outlines))
        if base.position.file:
            self._note(f"the base stands at {base.position}, which is not in these logs: by its GTIDs they continue "
                       f"from {placed.position}")
        return placed, self._outline(archive, placed)

    def _outline(self, archive: Archive, base: Snapshot | None) -> LogSpan:
        """Outline the files that count, and check that nothing is missing between them."""
        wanted_start, stop = self.options.start_position, self._stop_condition()
        at = wanted_start[0] if wanted_start is not None else base.position.file if base is not None else ""
        for name in filter(None, (at, stop.position and stop.position[0])):
            archive.check_has(name)
        start: int | None
        if wanted_start is not None:
            files, start = files_from(archive, wanted_start)
            [before] = self.executor.outline([task_before(files[0], start)], lambda *_: None)
            check_start(before, start)
            for note in continuity(before, start, base):
                self._note(note)
        else:
            files, start = files_after(archive, base.position) if base is not None else (archive.files, None)
        files = files_up_to(stop, archive, files, start)
        self.progress.phase("outline", len(files), "files")
        tasks = [OutlineTask(file.uri, start if number == 0 else None, stop) for number, file in enumerate(files)]
        outlines = outlines_up_to_stop(
            lambda some: self.executor.outline(some, lambda done, _: self.progress.update(done)), tasks)
        if archive.gap is not None and stop.position is None and not any(found.stopped for found in outlines):
            raise archive.gap
        check_continuity(outlines)
        if base is not None and base.position.file and wanted_start is None:
            check_base(base, outlines[0])
        if base is None and wanted_start is None and (earlier := outlines[0].previous_gtids):
            self._note(f"the binlogs begin with {outlines[0].name}: transactions {earlier} came before it, and their "
                       "changes are not here")
        check_group_ids(outlines, base.position.group_id if base is not None and wanted_start is None else None)
        notes = [f"{outline.name} ends within an event group at {outline.torn_at}; replayed up to {outline.end}"
                 for outline in outlines if outline.torn and not outline.stopped]
        if unreached := not_reached(stop, outlines[-1]):
            notes.append(unreached)
        notes += notes_on_ends(outlines)
        span, groups = resolve_prepared_transactions(span_of(outlines), base)
        if groups:
            span = with_prepared_transactions(span, groups, archive,
                                              lambda tasks: self.executor.outline(tasks, lambda *_: None))
        notes += [f"XA transaction {entry.xid} was prepared at {entry.file}:{entry.start} and is neither "
                  "committed nor rolled back: its rows are not in the snapshot" for entry in span.pending]
        for note in notes:
            self._note(note)
        return span

    def _note_skipped(self, history: SchemaHistory) -> None:
        for table, kinds in sorted(history.skipped.items()):
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            note = f"skipped statements, whose changes are not here: {counts} on {table or 'tables that are not known'}"
            self._note(note)

    def _note(self, note: str) -> None:
        self.notes.append(note)
        self.progress.note(note)

    def _stop_condition(self) -> StopCondition:
        options = self.options
        gtids = GtidSet.parse(options.stop_gtid) if options.stop_gtid is not None else None
        return StopCondition(options.stop_position, gtids, options.stop_datetime)

    def _applied(self, span: LogSpan, divided: Callable[[Collection[str]], list[PlannedVersion]]
                 ) -> tuple[list[PlannedVersion], list[UnitResult]]:
        """Plan and apply; plan again if idempotent mode moves rows between units, which only the log's rows show."""
        moving: frozenset[str] = frozenset()
        while True:
            versions = divided(moving)
            with self._timed("apply"):
                outcome = self._apply(span, versions)
            match outcome:
                case Applied():
                    return versions, list(outcome.results)
                case Refused():
                    raise _first_refused(outcome, span, versions)
                case PlanAgain():
                    moving |= outcome.tables
                    self.route = self.options.route

    def _apply(self, span: LogSpan, versions: list[PlannedVersion]) -> TaskOutcome:
        """Apply all units by the cheaper route."""
        segments = log_segments(span, versions)
        tasks = walking_tasks(segments, versions, self.executor.cores)
        units = [unit for item in versions if not item.succeeded for unit in item.units]
        one_disk = self.executor.on_one_disk
        if self.route == "auto":
            self.route = "shuffle" if prefers_shuffle(span, tasks, versions, one_disk) else "walk"
        if units:
            self.executor.expect(core_seconds(tasks, versions, self.route, one_disk))
        self.progress.phase(f"apply ({self.route})", len(units), "units")

        def on_progress(done: int, total: int) -> None:
            self.progress.update(len(units) * done // max(1, total))

        if not units:
            outcomes: list[TaskOutcome] = []
        elif self.route == "walk":
            outcomes = self.executor.walk(tasks, on_progress)
        else:
            try:
                outcomes = self._shuffle(segments, versions, on_progress)
            except ReplayStopped:  # of one split, while another may have an earlier one: a walk finds the first
                outcomes = self.executor.walk(tasks, on_progress)
        outcome = outcome_of(outcomes)
        if isinstance(outcome, Applied):
            self.progress.update(len(units), sum(result.changes for result in outcome.results))
            zero = sum(result.zero_dates for result in outcome.results)
            if zero and self.options.zero_dates == "error":
                raise ReplayStopped(f"{zero} dates are invalid and would become null",
                                    hint="leave out --zero-dates error")
        return outcome

    def _shuffle(self, segments: list[LogSegment], versions: list[PlannedVersion],
                 on_progress: OnProgress) -> list[TaskOutcome]:
        keyed, walked = by_route(versions)
        outcomes: list[TaskOutcome] = []
        if keyed:
            units = sorted((unit for item in keyed if not item.succeeded for unit in item.units),
                           key=lambda unit: unit.number)
            outcomes += self.executor.shuffle(split_tasks(segments, keyed), units, on_progress)
        if walked:
            outcomes += self.executor.walk(walking_tasks(segments, walked, self.executor.cores), on_progress)
        return outcomes

    def _publish(self, staging: Staging, span: LogSpan, base: Snapshot | None, history: SchemaHistory,
                 versions: list[PlannedVersion], results: list[UnitResult]) -> ReplayResult:
        live = [version for version in history.live()
                if self.options.filter.wanted(version.definition.database, version.definition.name)]
        entries = table_entries(live, versions, results, base, staging)
        position = span.end_position(base)
        names = tuple(outline.name for outline in span.files)
        source = Source(names, self.options.for_manifest(), self.shown.base)
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(history.databases().items()))
        snapshot = Snapshot(position, tuple(entries), source, f"mysql-binlog-applier {__version__}",
                            databases=databases, sequences=history.sequences(), prepared=span.pending)
        conflicts = conflict_listing(results, span.outlines)
        tables = table_results(entries, versions, results)
        if self.options.check_foreign_keys:
            found = orphans(replace(snapshot, uri=staging.uri))
            tables = tuple(replace(table, warnings=(*table.warnings, *found.get((table.database, table.name), ())))
                           for table in tables)
        result = ReplayResult(
            self.shown.output, str(position), position.gtid_set, position.timestamp,
            tables, dict(self.seconds), tuple(self.notes), self.options.exec_mode,
            self.route, conflicts.num_rows, len(results), sum(result.zero_dates for result in results),
            {table: dict(kinds) for table, kinds in sorted(history.skipped.items())})
        schema_sql = schema_file(map(_definition, entries))
        staging.commit(snapshot, schema_sql, result.report(),
                       to_parquet(conflicts) if self.options.exec_mode == "idempotent" else None)
        return result

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started
