"""The transactions to undo: their event groups, their times, and the tables that they changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.locating.group_choice import notes_on_threads
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.binlog.outline.outline_pass import outline_file
from applier.errors import SchemaError, UsageError
from applier.jobs.changes.event_groups.groups import FileGroups, WantedGroups, version_at
from applier.jobs.changes.job import ChangeLog
from applier.jobs.changes.log import LogFile
from applier.jobs.undo.losses import Losses, divided_anew, losses
from applier.jobs.undo.objects import lost_objects
from applier.jobs.undo.result import time_of
from applier.mysql.character_sets.collations import Charset
from applier.options import ALL_COMMITS, CommitRange, UndoOptions
from applier.plan.used_tables import table_map_of
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.history.history import SchemaHistory
from applier.schema.history.stored_objects import StoredObjects
from applier.schema.history.table_versions import FROM_METADATA
from applier.schema.stored_object import StoredObject
from applier.schema.table_filter import TableFilter

_SPLIT_BYTES = 64 << 10
"""Tables are known by parts of the log of this size: some more than those that are changed are looked at."""


@dataclass(frozen=True)
class Chosen:
    """The number of chosen transactions, the GTIDs ("" for one without) and times of the first and the last one; the
    lowest commit version; the chosen groups; the tables that they may change; the statements that removed rows, of
    these or others; the tables that the log divides into other partitions; all definitions at the end of the log; the
    default character sets of databases, of dropped ones before that; the objects other than tables, of all the log and
    those that were dropped; and notes for the user."""

    count: int
    gtids: tuple[str, str]
    times: tuple[datetime, datetime]
    first_version: int
    wanted: WantedGroups
    tables: tuple[TableName, ...]
    losses: Losses
    divided_anew: frozenset[TableName]
    definitions: tuple[TableDefinition, ...]
    databases: Mapping[str, Charset]
    objects: StoredObjects
    lost_objects: tuple[StoredObject, ...]
    notes: tuple[str, ...]

    def connected(self, table: TableName) -> set[TableName]:
        """Return the tables that foreign keys connect to this one."""
        return {other for one in self.definitions for key in one.foreign_keys
                for own, other in (((one.database, one.name), (key.database, key.table)),
                                   ((key.database, key.table), (one.database, one.name))) if own == table} & {
            (one.database, one.name) for one in self.definitions}


def chosen(log: ChangeLog, options: UndoOptions) -> Chosen:
    """Find the transactions. Raises UsageError where the log has none of them, SchemaError where one of them is a
    statement that made one of the tables another one."""
    wanted = _wanted(log, options)
    of_files = dict(log.groups(wanted))
    notes = [] if not wanted.threads else notes_on_threads(
        wanted.threads, sum(groups.n_of_threads for groups in of_files.values()),
        sum(groups.n_without_thread for groups in of_files.values()))
    found = {number: groups for number, groups in of_files.items() if groups.has_wanted}
    if not found:
        raise UsageError("the log contains none of the transactions to undo",
                         hint="`applier show` and `applier summary` list its transactions; without --base the whole "
                              "log counts; a transaction counts if it ends at or before --stop-position")
    times, versions, gtids = (
        pa.chunked_array(parts).combine_chunks()
        for parts in zip(*(groups.wanted_commits() for groups in found.values()), strict=True))
    names = [gtids[edge].as_py() or "" for edge in (0, -1)]
    history, known = log.history(options.filter), times.cast(pa.int64()).to_numpy()
    lost = losses(history)
    _check_statements(log, history, options.filter, found, lost)
    return Chosen(len(times), (names[0], names[1]), (time_of(int(known[0])), time_of(int(known[-1]))),
                  pc.min(versions).as_py(), wanted, _tables(log, history, options.filter, found, lost), lost,
                  frozenset(divided_anew(history)), tuple(version.definition for version in history.live()),
                  history.last_databases, history.objects, lost_objects(history.objects, found, options.filter),
                  (*notes, *_notes(wanted, sum(groups.n_chosen for groups in found.values()))))


def _notes(wanted: WantedGroups, count: int) -> tuple[str, ...]:
    """Return notes for the user about the choice."""
    is_part = wanted.threads or wanted.within != ALL_COMMITS
    missing = 0 if wanted.gtids is None or is_part else wanted.gtids.count - count
    return (f"{missing:,} of the GTIDs to undo are not in this part of the log",) if missing > 0 else ()


def _wanted(log: ChangeLog, options: UndoOptions) -> WantedGroups:
    first, last = CommitRange.first_version, CommitRange.last_version
    if options.start_position is not None:
        first = _version(log, options.start_position) + 1
    if options.stop_position is not None:
        last = _version(log, options.stop_position)
    times = [CommitRange.first_time, CommitRange.last_time]
    if options.start_datetime is not None:
        times[0] = round(options.start_datetime * 1_000_000)
    if options.stop_datetime is not None:
        times[1] = round(options.stop_datetime * 1_000_000) - 1
    return WantedGroups(None if options.gtids is None else GtidChoice(options.gtids),
                        within=CommitRange(first, last, *times), threads=options.thread_ids)


def _version(log: ChangeLog, position: tuple[str, int]) -> int:
    """Return the commit version of a position. Raises UsageError for a file that the log does not have."""
    name, offset = position
    for file in log.files.values():
        if file.name == name:
            return version_at(name, file.number, offset)
    raise UsageError(f"the log has no file {name}", hint="it has " + _some([file.name for file in log.files.values()]))


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]}"


def _check_statements(log: ChangeLog, history: SchemaHistory, filter: TableFilter, found: dict[int, FileGroups],
                      lost: Losses) -> None:
    """Raise SchemaError for a statement among the groups that makes or alters a table, except for one that only takes
    rows away."""
    edges = [(edge, version) for version in history.versions()
              for edge in (None if version.created_by == FROM_METADATA else version.start, version.end,
                            *(one.position for one in history.redefinitions(version)))
              if edge is not None and edge[0] in found and edge[1] > 0
              and edge not in lost.get((version.definition.database, version.definition.name), ())]
    for (number, end), version in sorted(edges, key=lambda edge: edge[0]):
        groups, definition = found[number], version.definition
        if filter.wanted(definition.database, definition.name) and groups.are_wanted(np.array([end - 1]))[0]:
            start = int(groups.starts(np.array([end - 1]))[0])
            name = log.files[number].name
            raise SchemaError("a statement that creates or alters a table cannot be undone", file=name,
                              position=start, table=definition.full_name,
                              hint=f"restore the state before it: replay with --stop-position {name}:{start}; or "
                                   "choose other transactions, or other tables with --tables")


def _tables(log: ChangeLog, history: SchemaHistory, filter: TableFilter,
            found: dict[int, FileGroups], lost: Losses) -> tuple[TableName, ...]:
    """Return the tables that the groups' rows events may be about, those that foreign keys connect to them, and those
    from which one of their statements removed rows."""
    names = {name for name, ends in lost.items()
             if any(number in found and found[number].are_wanted(np.array([end - 1]))[0] for number, end in ends)}
    for number, groups in found.items():
        names |= _tables_of(log.files[number], groups)
    definitions = [version.definition for version in history.versions()]
    while more := {(one.database, one.name) for one in definitions
                   if any(key.cascades and (key.database, key.table) in names for key in one.foreign_keys)} - names:
        names |= more
    return tuple(sorted(name for name in names & set(log.tables(filter)) if filter.wanted(*name)))


def _tables_of(file: LogFile, groups: FileGroups) -> set[TableName]:
    outline = outline_file(file.uri, split_bytes=_SPLIT_BYTES)
    parts, uses = list(groups.wanted_parts(file.start, file.end)), list(outline.tables)
    used, at = set[int](), 0
    for split in outline.splits:
        while at < len(parts) and parts[at][1] <= split.start:
            at += 1
        if at < len(parts) and parts[at][0] < split.end:
            used.update(split.tables)
    maps = [table_map_of(outline, uses[number]) for number in used]
    return {(one.database, one.table) for one in maps}
