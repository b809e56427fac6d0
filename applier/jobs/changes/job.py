"""The job: the changes of a table in a part of an archive, read a batch at a time.

    archive → outline → schema history → segments of the log with the table → record batches, of single images or,
    by applying them to the previous rows, of whole rows
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property
from tempfile import TemporaryDirectory

import pyarrow as pa

from applier.apply.tasks import ApplyTask, ApplyTasks
from applier.binlog.archive.archive import open_archive
from applier.binlog.outline.outline import check_that_they_are_old
from applier.engine import compiling
from applier.engine.executor import ThisProcess
from applier.errors import NO_SUCH_TABLE, SchemaError, UnsupportedEvent
from applier.io.progress import Progress, Silent
from applier.io.relayed import relayed_in
from applier.io.resolver import read_text
from applier.jobs.changes.change_feed import ChangeFeed
from applier.jobs.changes.checkpoint import checkpoint, up_to
from applier.jobs.changes.columns import feed_columns
from applier.jobs.changes.commit_order import CommitOrder
from applier.jobs.changes.definitions import LogDefinitions
from applier.jobs.changes.event_groups.groups import FileGroups, WantedGroups
from applier.jobs.changes.feed import feed_schema
from applier.jobs.changes.keys import as_planned, chosen_keys, last_left_out
from applier.jobs.changes.log import FeedLog, LogFile, commits_of, groups_of
from applier.jobs.changes.row_statements import RowStatements
from applier.jobs.changes.single_images import SingleImages
from applier.jobs.changes.statements import statements_below_the_log
from applier.jobs.changes.stored import StoredAs
from applier.jobs.changes.wanted import index_in, may_be_wanted, notes_on_choice, wanted_groups
from applier.jobs.changes.whole.base_from_log import base_from_log
from applier.jobs.changes.whole.first_images import RowsAtTheEnd, Unknown, first_images
from applier.jobs.changes.whole.related_tables import (
    closure,
    only,
    refuse_foreign_keys,
    related,
    sources,
    versions_of,
)
from applier.jobs.changes.whole.whole_rows import WholeRows
from applier.jobs.replay.left_out import leaving_out
from applier.jobs.replay.outlining import Outlining
from applier.option_texts import KeyValues
from applier.options import ChangesOptions, ReplayOptions
from applier.plan.cascades import Cascades, cascades_of
from applier.plan.planned import PlannedVersion
from applier.plan.span import LogSpan
from applier.plan.tasks import core_seconds, log_segments, walking_tasks
from applier.plan.units import NO_CASCADES, NOT_CHOSEN, changed_versions, divide
from applier.plan.used_tables import UsedTable, used_tables
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import table_schema, without_rows
from applier.schema.history.history import SchemaHistory
from applier.schema.table_filter import EVERYTHING, SYSTEM_DATABASES, TableFilter
from applier.snapshot import manifest
from applier.snapshot.manifest import BinlogPosition, Snapshot

WHOLE = 1 << 62
"""Bytes of a log, of any length."""


class ChangeLog:
    """A part of an archive, outlined once, and the changes of its tables; `notes` are notes for the user. Raises the
    errors that a replay would raise before it applies anything. Of the tables in `known_by_changes`, only rows that the
    log changes are known, and `has_unknown` says whether some of their values are made up. `begins_at` is the base's
    position in this archive. With `replaying`, changes are those that this replay applies: without the tables and
    transactions that it excludes, and with its names of databases. `base`, a snapshot that may have no rows, replaces
    the options' base; `filter` says whose definitions are needed if the log before options.after has statements on
    other tables that cannot be followed. At most about `most_bytes` of the log are read; `is_last` says whether that is
    all of it."""

    def __init__(self, options: ChangesOptions, progress: Progress | None = None,
                 replaying: ReplayOptions | None = None, *, base: Snapshot | None = None,
                 filter: TableFilter = EVERYTHING, most_bytes: int = WHOLE, may_be_empty: bool = False) -> None:
        progress, notes = progress or Silent(), list[str]()
        for job in ("replay", "changes") if options.complete else ("changes",):
            compiling.ensure(job, progress)

        def note(text: str) -> None:
            notes.append(text)
            progress.note(text)

        if base is None and options.base is not None:
            base = manifest.load(options.base)
        if options.after is not None:
            base = ChangeLog(up_to(options, options.after), base=base, may_be_empty=True).checkpoint(filter)
            options = replace(options, schema=None)
        self._options, self.progress, self._base = options, progress, base
        sql = None if options.schema is None else read_text(options.schema)
        self._at_end: RowsAtTheEnd | None = None
        self._folder: TemporaryDirectory[str] | None = None  # of a base that was made of the log
        outlining = Outlining(ThisProcess(os.cpu_count() or 1), options, None, most_bytes, progress, note,
                              None if replaying is None else leaving_out(replaying), reapply=not options.complete,
                              may_be_empty=may_be_empty)
        archive = open_archive(list(options.binlogs), with_gap=outlining.stop_condition().is_set)
        part = outlining.next_pass(archive, self._base)
        self._span, self.begins_at = part.span, None if part.base is None else part.base.position
        self._definitions = LogDefinitions(part.span, base, sql, options, replaying)
        self.is_last = part.is_last
        for text in notes_on_choice(self._span, options):
            note(text)
        self.notes = tuple(notes)
        self.known_by_changes: frozenset[TableName] = frozenset()
        self.has_unknown = False
        self._wanted_groups = wanted_groups(self._span, options)

    @property
    def flavour(self) -> str:
        """Whose log it is."""
        return self._span.flavour

    @property
    def locations(self) -> tuple[str, ...]:
        """The inputs: binlogs, and the base if there is one."""
        return *self._options.binlogs, *([] if self._options.base is None else [self._options.base])

    @property
    def ends_at(self) -> BinlogPosition:
        """Where it ends."""
        return self._span.end_position(self._base)

    def check_that_its_end_is_old(self, known: int | None) -> None:
        """Raise ArchiveError if the transactions up to the end are others than those that had the last one at this
        time, in epoch seconds; see check_that_they_are_old."""
        last = self._span.outlines[-1]
        if relayed_in(last.uri) is None:
            check_that_they_are_old(known, last.begun, self.ends_at.timestamp or 0, last.name, last.end)

    @cached_property
    def row_statements(self) -> RowStatements:
        """Finds the statements behind changes of all tables."""
        return RowStatements(self.files.values())

    @cached_property
    def files(self) -> dict[int, LogFile]:
        return {number: LogFile(outline.uri, outline.name, outline.start, outline.end, index_in(self._span, number),
                                outline.has_row_statements)
                for number, outline in enumerate(self._span.outlines)}

    def groups(self, wanted: WantedGroups) -> Iterator[tuple[int, FileGroups]]:
        """Return the event groups of each of its files, by the file's number."""
        commits = commits_of(self._span)
        return ((number, groups_of(self.files, commits, wanted, number)) for number in self.files)

    def from_first_images(self, tables: Collection[TableName], unknown: Unknown | None = None) -> ChangeLog:
        """Return the same log with the rows that these tables had before it, as far as their changes show them; itself
        if it has a base, or if the log has all of their rows. Raises UnsupportedEvent for a before-image with missing
        columns, unless `unknown` says how to fill them (`has_unknown` then), and if foreign keys change rows that the
        log never shows."""
        if self._base is not None:
            return self
        history = self._definitions.everything or self._definitions.of(set(tables))
        older = {version.id: version for version in history.versions() if version.is_older_than_log}
        chosen = {id: version.definition for id, version in older.items()
                  if (version.definition.database, version.definition.name) in tables}
        if not chosen:
            return self
        self.progress.phase("first images", 0, "tables")
        used = used_tables(self._span, history, only(*tables))
        at_end = {} if self._at_end is None else {id: self._at_end for id in chosen if older[id].end is None}
        found, has_unknown = first_images(chosen, log_segments(self._span, changed_versions(used, history)), unknown,
                                          at_end)
        chosen = {id: chosen[id] for id, rows in found.items() if rows.num_rows}
        if not chosen:
            return self
        self._check_that_images_tell(history, chosen)
        rows = {id: found[id] if id in found else without_rows(table_schema(version.definition))
                for id, version in older.items()}
        folder = TemporaryDirectory(prefix="applier-base-", ignore_cleanup_errors=True)
        log = copy(self)
        log._base = base_from_log(self._span, history, [older[id].definition for id in rows], [*rows.values()],
                                  folder.name)
        log._folder, log.begins_at, log.has_unknown = folder, log._base.position, has_unknown
        log.known_by_changes = frozenset((one.database, one.name) for one in chosen.values())
        log.notes += tuple(f"the log begins after {one.full_name} was made: its rows are known from their first changes"
                           for one in chosen.values())
        log._definitions = replace(self._definitions, base=log._base, sql=None)
        return log

    def known_by_server(self, define: Callable[[LogSpan], str], at_end: RowsAtTheEnd) -> ChangeLog:
        """The same log, whose tables of before it are defined by the CREATE statements that `define` gives for it, and
        whose rows are known from a server that stands where it ends."""
        log = copy(self)
        log._definitions, log._at_end = replace(self._definitions, sql=define(self._span)), at_end
        return log

    def may_have_had_rows(self, table: TableName) -> bool:
        """Return True if a table is older than the log, and no base but one made of the log says which rows it had."""
        return (self._base is None or self._folder is not None) and any(
            version.is_older_than_log for version in versions_of(self._definitions.of_table(table), table))

    def _check_that_images_tell(self, history: SchemaHistory, chosen: Collection[int]) -> None:
        """Raise UnsupportedEvent if foreign keys change rows of these versions that the log never shows."""
        cascades = self._cascades(history, used_tables(self._span, history, EVERYTHING.wanted))
        for version in history.versions():
            if version.id in chosen and version.id in cascades and any(
                    key.cascades for key in version.definition.foreign_keys):
                raise UnsupportedEvent("foreign keys change rows of this table, and the log contains neither these "
                                       "changes nor the rows, since it begins later",
                                       table=version.definition.full_name,
                                       hint="give a --base from the time when the log begins")

    def history(self, filter: TableFilter) -> SchemaHistory:
        """Return the definitions of the wanted tables over time, and of others, if all statements can be followed."""
        return self._definitions.wanted(filter)

    def tables(self, filter: TableFilter) -> list[TableName]:
        """Return the names of the wanted tables that have changes, sorted."""
        history = self._definitions.wanted(filter)
        found = {(version.definition.database, version.definition.name)
                 for table in used_tables(self._span, history, filter.wanted) for version in table.versions}
        for name in {(version.definition.database, version.definition.name) for version in history.versions()}:
            versions = {version.id: version for version in versions_of(history, name)}
            if filter.wanted(*name) and statements_below_the_log(versions):
                found.add(name)
        return sorted(found | self._changed_by_foreign_keys(history, filter))

    def _changed_by_foreign_keys(self, history: SchemaHistory, filter: TableFilter) -> set[TableName]:
        """Return the tables whose rows foreign keys change, which the log may not show."""
        if self._options.ignore_foreign_keys:
            return set()
        cascades = self._cascades(history, used_tables(self._span, history, filter.wanted))
        return {(version.definition.database, version.definition.name) for version in history.versions()
                if version.id in cascades and any(key.cascades for key in version.definition.foreign_keys)}

    def _cascades(self, history: SchemaHistory, used: list[UsedTable]) -> Cascades:
        if self._options.ignore_foreign_keys:
            return NO_CASCADES
        return cascades_of(history, used, idempotent=False, compressed=self._span.has_compressed_rows,
                           traced=self._options.complete)

    def checkpoint(self, filter: TableFilter) -> Snapshot:
        """Return the `base` for a ChangeLog that continues where this one ends: that position, and the definitions of
        all tables, or, if others have statements that cannot be followed, of the wanted tables and those that their
        rows depend on."""
        history = self._definitions.everything
        if history is not None and not any(name in SYSTEM_DATABASES for name, _ in filter.tables):
            return checkpoint(history, history.definitions(), self.ends_at, self._span.pending, self._base)
        names = {(version.definition.database, version.definition.name)
                 for version in self._definitions.wanted(filter).versions()}
        names = {name for name in names if filter.wanted(*name)}
        history, names = self._definitions.closure(names)
        return checkpoint(history, [one for one in history.definitions() if (one.database, one.name) in names],
                          self.ends_at, self._span.pending, self._base)

    def feed(self, table: TableName, columns: tuple[str, ...] | None = None,
             keys: KeyValues | None = None) -> ChangeFeed:
        """Return the changes of a table, with all of its columns or these; of all rows, or of those with one of these
        values of the table's last key. Raises SchemaError where nothing defines the table, and UsageError where it has
        no such column or key."""
        if self._options.complete:
            log, task = self.applied(table, columns, keys)
            return self._feed(table, log, WholeRows(log, task, None if keys is None else self.applied(table)[1]))
        if keys is not None:
            compiling.ensure("changes of rows", self.progress)
        history = self._definitions.of_table(table)
        if not self._options.ignore_foreign_keys:
            refuse_foreign_keys(self._span, history, table)
        log = self._feed_log(history, table, columns, keys)
        used = used_tables(self._span, history, self._definitions.replayed(only(table)))
        changed = changed_versions(used, history)
        read = {file for file in log.files if may_be_wanted(log, self._span, file)}
        segments = [segment for segment in log_segments(self._span, changed) if segment.file in read]
        feed = self._feed(table, log, SingleImages(log, segments))
        if not any(one.use.has_partial_images for one in used):
            return feed
        note = (f"images of {'.'.join(table)} are partial, as minimal and noblob ones: a column that one lacks is null "
                "and not in _present; with complete (--complete) they are whole rows")
        return replace(feed, notes=(*feed.notes, note))

    def _feed(self, table: TableName, log: FeedLog, source: SingleImages | WholeRows) -> ChangeFeed:
        return ChangeFeed(self.notes_on(table, log), self.stored_as(table, log, log.schema), log, source,
                          self.row_statements, CommitOrder.of(self._span), self.ends_at)

    def notes_on(self, table: TableName, log: FeedLog) -> tuple[str, ...]:
        """Return the log's notes, and one on the rows of a table that keys cannot choose."""
        end = None if log.chosen is None else last_left_out(log.chosen, log.versions)
        return self.notes if end is None or end[0] not in log.files else (
            *self.notes, f"{'.'.join(table)} before {log.files[end[0]].name}:{end[1]} lacks columns of its last key: "
                         "rows that it had then are not chosen")

    def stored_as(self, table: TableName, log: FeedLog, schema: pa.Schema) -> StoredAs:
        """Return how rows of a table's log with this schema are given, as the options say."""
        return StoredAs.of(".".join(table), log.columns, log.key, schema, self._options.unsigned_bigint)

    def applied(self, table: TableName, columns: tuple[str, ...] | None = None,
                keys: KeyValues | None = None) -> tuple[FeedLog, ApplyTask]:
        """Return the log of a table as its feed reads it, and the task that applies its changes, and those of tables
        that change its rows, to the previous rows; with `keys`, only to rows that matter to these keys."""
        history = self._definitions.of_table(table)
        log = self._feed_log(history, table, columns, keys)
        planned = self._plan(history, table, log, None)
        return log, ApplyTask({item.version.id: tuple(item.units) for item in planned},
                              tuple(log_segments(self._span, planned)))

    def applied_in_parts(self, table: TableName, log: FeedLog, cores: int) -> tuple[ApplyTasks, float]:
        """Return tasks that apply the changes of a table by ranges of its key, as many as a replay on `cores` cores
        has, and how many core seconds that takes; `log` is the table's."""
        planned = self._plan(self._definitions.of_table(table), table, log, cores)
        tasks = walking_tasks(log_segments(self._span, planned), planned, cores)
        return tasks, core_seconds(tasks, planned, "walk", on_one_disk=True)

    def _feed_log(self, history: SchemaHistory, table: TableName, columns: tuple[str, ...] | None,
                  keys: KeyValues | None) -> FeedLog:
        versions = {version.id: version for version in versions_of(history, table)}
        if not versions:
            raise SchemaError("this table has no definition", table=".".join(table), errno=NO_SUCH_TABLE,
                              hint="give its CREATE TABLE as of the first binlog with schema, or a base that has it")
        names, types = feed_columns(list(versions.values()))
        schema = feed_schema(types, columns)
        return FeedLog(self.files, commits_of(self._span), schema, versions, names, statements_below_the_log(versions),
                       self._wanted_groups, None if keys is None else chosen_keys(versions, names, keys))

    def _plan(self, history: SchemaHistory, table: TableName, log: FeedLog, cores: int | None) -> list[PlannedVersion]:
        """Return the units of the tables that a table's rows depend on, to trace the rows of this one."""
        wanted = self._definitions.replayed(only(*closure(history, table, sources if self._options.ignore_foreign_keys
                                              else related)))
        used = used_tables(self._span, history, wanted)
        cascades = self._cascades(history, used)
        planned = changed_versions(used, history, cascades, table)
        chosen = NOT_CHOSEN if log.chosen is None else as_planned(log.chosen, log.versions)
        divide(planned, self._base, None, cores, idempotent=False, cascades=cascades, chosen=chosen)
        return planned
