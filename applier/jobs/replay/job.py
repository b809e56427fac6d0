"""The job: snapshot' = replay(snapshot, binlogs, options).

    archive → outline → plan → changes → apply → publish

The core of each step is in its own package; this module connects them, and is the only one that knows
all of them. An archive larger than a pass takes several, from the outline on (applier.plan.passes). The caller decides
where tasks run: in this process, or in Spark (applier.jobs.on_engine.replaying).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from applier.binlog.archive.archive import Archive, as_source_logs, list_archive
from applier.engine.executor import Executor
from applier.engine.room import room_for_pass
from applier.errors import ReplayStopped, SchemaError, UsageError
from applier.io.encryption.keys import keys_of
from applier.io.packing import is_packed
from applier.io.progress import Progress, Silent
from applier.io.resolver import is_far
from applier.io.typed_json import Mismatch
from applier.jobs.replay.applying import AppliedPlan, apply_plan
from applier.jobs.replay.left_out import (
    check_left_out,
    leaving_out,
    left_out_of,
    notes_on_base,
    together,
    told_of_left_out,
)
from applier.jobs.replay.orphans import orphans
from applier.jobs.replay.outlining import Outlining, Pass
from applier.jobs.replay.planning import cascades_in, divide_files, history_of, relevance_to, tables_of, units_of
from applier.jobs.replay.publication import PassesDone, table_entries, table_results
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions
from applier.options.parquet import file_settings, parquet_onto
from applier.plan.conflicts import to_parquet
from applier.plan.notes import check_names, notes_on_charsets, notes_on_columns, notes_on_definitions, notes_on_names
from applier.plan.planned import PlannedVersion
from applier.plan.used_tables import UsedTable
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.schema_file import schema_file
from applier.snapshot import AS_DECIMAL, manifest
from applier.snapshot.files.checks import check_listed
from applier.snapshot.files.shards import columns_of
from applier.snapshot.files.unsigned_bigints import choice_onto
from applier.snapshot.lake.lake_staging import open_lake
from applier.snapshot.manifest import DatabaseEntry, Snapshot, Source, new_lineage
from applier.snapshot.publish import begin
from applier.snapshot.staging import Staging
from applier.snapshot.table_entry import TableEntry
from applier.version import __version__


def replay_with(executor: Executor, options: ReplayOptions, progress: Progress | None = None) -> ReplayResult:
    """Replay an archive and publish a snapshot; `executor` runs the tasks. Raises ApplierError, and publishes nothing
    then."""
    return _Replay(executor, options, progress or Silent(), options).run()


def replay_staged(executor: Executor, options: ReplayOptions, shown: ReplayOptions, progress: Progress,
                  *, is_last: bool) -> ReplayResult:
    """Replay with a base and an output that will be moved to the paths in `shown`, which reports name; `is_last`: to
    the last of several positions."""
    return _Replay(executor, options, progress, shown, is_last=is_last).run()


def _definition(entry: TableEntry) -> TableDefinition:
    """The manifest's definition, as a later replay reads it. Raises SchemaError if no server has such a table."""
    try:
        return TableDefinition.from_json(entry.definition.to_json())
    except Mismatch as mismatch:
        raise SchemaError(f"the statements of the log produce a table that no server allows: it {mismatch}",
                          table=entry.full_name, hint="leave it out with --ignore-tables") from None


def _onto_latest(options: ReplayOptions, latest: str) -> ReplayOptions:
    """The options with the latest version of a lake as the base. Raises UsageError for another base."""
    if options.base is not None:
        raise UsageError("the lake already has versions, and a replay continues from the latest", file=options.base,
                         hint="leave out --base, or name a new lake")
    return replace(options, base=latest)


class _Replay:
    """One run: its options, its executor, its watcher, and its notes."""

    def __init__(self, executor: Executor, options: ReplayOptions, progress: Progress, shown: ReplayOptions,
                 *, is_last: bool = True):
        self.is_last = is_last
        self.executor, self.options, self.progress, self.shown = executor, options, progress, shown
        self.seconds: dict[str, float] = {}
        self.notes: list[str] = []
        self.done = PassesDone()
        self.base: Snapshot | None = None

    def run(self) -> ReplayResult:
        """Replay in one pass, or in several if the archive is larger than one: the result of each is the base of the
        next, and only the last one is published. Without anything new, a lake gets no version."""
        options = self.options
        lake = open_lake(options.lake, merge_on_read=options.merge_on_read) if options.lake is not None else None
        base = lake.latest if lake is not None else None
        if base is not None:
            options = self.shown = _onto_latest(options, base.uri)
        elif options.base is not None:
            base = manifest.load(options.base)
        self.base = base
        if base is not None:
            check_listed(base.root, [columns_of(files) for table in base.tables
                                    if options.filter.wanted(table.database, table.name) for files in table.lists])
        kept = {} if base is None else base.source.options
        bigints = options.unsigned_bigint or AS_DECIMAL if base is None else choice_onto(kept, options.unsigned_bigint)
        parquet = parquet_onto(kept, options.parquet)
        options = self.options = replace(options, unsigned_bigint=bigints, parquet=parquet)
        settings = file_settings(parquet, file_bytes=options.file_bytes, unsigned_bigint=bigints)
        late = self.executor.has_late_attempts
        with (lake.begin(settings) if lake is not None
              else begin(options.output, settings, late_attempts=late)) as staging, told_of_left_out(options, base):
            n_bytes = options.pass_bytes or room_for_pass(self.executor.shared_directory)
            outlining = Outlining(self.executor, options, relevance_to(options), n_bytes, self.progress, self._note,
                                  leaving_out=leaving_out(options), reapply=options.reapply)
            for note in notes_on_base(base):
                self._note(note)
            with self._timed("outline"):
                archive = list_archive(list(options.binlogs), with_gap=outlining.stop_condition().is_set)
                if lake is not None and base is not None and self._is_at_the_end(archive, base):
                    return self._as_before(base)
                archive = as_source_logs(archive)
                part = outlining.next_pass(archive, base)
            if lake is not None and base is not None and part.is_last and self._has_nothing_new(part, base):
                return self._as_before(base)
            while not part.is_last:
                with begin(staging.within_pass(outlining.n_passes), settings, lasts=False, late_attempts=late,
                           merges=staging.merges) as between:
                    between.number = staging.number
                    made = self._replay(part, between)
                staging.drop_pass(outlining.n_passes - 1)
                with self._timed("outline"):
                    part = outlining.next_pass(archive, made)
            self._replay(part, staging)
            return self.result

    def _has_nothing_new(self, part: Pass, base: Snapshot) -> bool:
        """Return whether the next version of a lake would be the same as the latest."""
        return part.span.end_position(part.base) == base.position and self._wants_all_of(base)

    def _wants_all_of(self, base: Snapshot) -> bool:
        return all(self.options.filter.wanted(table.database, table.name) for table in base.tables)

    def _is_at_the_end(self, archive: Archive, base: Snapshot) -> bool:
        """Return whether the lake's latest version stands at the end of a far archive, by its listing: no file is read
        then.
        """
        options, last = self.options, archive.files[-1]
        is_plain = is_far(last.uri) and not is_packed(last.uri) and keys_of(last.uri) is None
        has_bounds = options.start_position or options.stop_position or options.stop_gtid or options.stop_datetime
        return is_plain and not has_bounds and archive.gap is None and self._wants_all_of(base) and (
            (last.name, last.size) == (base.position.file, base.position.offset))

    def _as_before(self, base: Snapshot) -> ReplayResult:
        """The result where no version is made: the lake's latest one."""
        self._note(f"the binlogs have nothing after {base.position}: the lake stays as it is")
        position = base.position
        return ReplayResult(base.uri, str(position), position.gtid_set, position.timestamp, (), dict(self.seconds),
                            tuple(self.notes), self.options.exec_mode)

    def _replay(self, part: Pass, staging: Staging) -> Snapshot:
        """Plan, apply and publish a pass."""
        options, base, span = self.options, part.base, part.span
        self._count_left_out(part)
        with self._timed("plan"):
            history = history_of(options, part, self.done.history)
            used = tables_of(options, part, history)
            self._note_tables(history, used, part.is_last)
            cascades = cascades_in(options, span, history, used)

        for version in history.live():
            before = base.table(*version.in_base) if base is not None and version.in_base is not None else None
            if before is not None:
                staging.keep_folder(version.definition.database, version.definition.name, before)
        for note in divide_files(options, base, history, staging, is_first=self.base is None):
            self._note(note)

        def divided(moving: Collection[str]) -> list[PlannedVersion]:
            with self._timed("plan"):
                return units_of(options, base, history, used, cascades, staging, self.executor.cores, moving)

        plan = apply_plan(self.executor, self.progress, span, divided, options.route, self._timed,
                          self.done.witness)
        with self._timed("publish"):
            return self._publish(staging, part, history, plan)

    def _count_left_out(self, part: Pass) -> None:
        done, outlines = self.done, part.span.files
        done.left_out = together(done.left_out, left_out_of(outlines, self.options))
        done.groups += sum(outline.n_groups for outline in outlines)
        if part.is_last and self.is_last:
            for note in check_left_out(self.options, done.left_out, done.groups, self.base):
                self._note(note)

    def _note_tables(self, history: SchemaHistory, used: list[UsedTable], is_last: bool) -> None:
        self.done.add_names(history)
        notes = [*notes_on_definitions(history), *notes_on_columns(used), *notes_on_charsets(history, used)]
        if is_last:
            check_names(self.done.names, self.options.filter)
            notes = [*self._notes_on_skipped(history), *notes_on_names(self.done.names, self.options.filter), *notes]
        for note in notes:
            self._note(note)

    def _notes_on_skipped(self, history: SchemaHistory) -> Iterator[str]:
        for table, kinds in sorted(history.skipped.items()):
            counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            yield f"skipped statements, whose changes are not here: {counts} on {table or 'tables that are not known'}"

    def _note(self, note: str) -> None:
        if note not in self.notes:  # of an earlier pass
            self.notes.append(note)
            self.progress.note(note)

    def _publish(self, staging: Staging, part: Pass, history: SchemaHistory, plan: AppliedPlan) -> Snapshot:
        """Publish the result of a pass. Only the last one's has a report, definitions and a list of conflicts."""
        options, span, done = self.options, part.span, self.done
        live = [version for version in history.live()
                if options.filter.wanted(version.definition.database, version.definition.name)]
        entries = table_entries(live, plan.versions, plan.results, part.base, staging, done,
                                options.compact_bytes if part.is_last else 0)
        done.add(span, history, plan)
        tables = table_results(live, entries, plan.versions, plan.results, done)
        done.tables = {(table.database, table.name): table for table in tables}
        databases = tuple(DatabaseEntry(name, charset.charset, charset.collation)
                          for name, charset in sorted(history.databases().items()))
        source = Source(tuple(done.binlogs), options.for_manifest(), self.shown.base)
        snapshot = Snapshot(span.end_position(part.base), tuple(entries), source, f"mysql-binlog-applier {__version__}",
                            databases=databases, sequences=history.sequences(),
                            objects=history.objects.live(options.filter), prepared=span.pending,
                            left_out=together(self.base.left_out if self.base is not None else (), done.left_out),
                            last_column_id=history.last_column_id,
                            lower_case_table_names=history.lower_case_table_names,
                            lineage=(part.base.lineage if part.base is not None else "") or new_lineage())
        if not part.is_last:
            return staging.commit(snapshot, "", {})
        zero_dates = done.zero_dates_left(entries, has_base=options.base is not None)
        if zero_dates and options.zero_dates == "error":
            columns = ", ".join(f"{table.full_name}.{column} ({count:,})" for table in tables
                                for column, count in sorted(table.zero_dates.items()))
            raise ReplayStopped(f"{zero_dates} dates are invalid and would become null: {columns}",
                                hint="leave out --zero-dates error")
        if options.check_foreign_keys:
            found = orphans(replace(snapshot, uri=staging.uri))
            tables = tuple(replace(table, warnings=(*table.warnings, *found.get((table.database, table.name), ())))
                           for table in tables)
        position = snapshot.position
        self.result = ReplayResult(
            self.shown.output or staging.output, str(position), position.gtid_set, position.timestamp,
            tables, dict(self.seconds), tuple(self.notes), options.exec_mode,
            ", ".join(sorted(done.routes)), done.conflicts.num_rows, done.units, zero_dates,
            {table: dict(kinds) for table, kinds in sorted(history.skipped.items())}, done.left_out, done.witness)
        return staging.commit(snapshot, schema_file(map(_definition, entries), snapshot.objects), self.result.report(),
                              to_parquet(done.conflicts) if options.exec_mode == "idempotent" else None)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started
