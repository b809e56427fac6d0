"""Updates the tables below a directory to those of a snapshot: one directory per table, DB/TABLE.

A Delta table is its directory, so its history belongs to its name: if a table is renamed, the directory of its new
name gets its files, and that of the old one loses them. A dropped table stays as one without files, with its history.
Every file of a snapshot has exactly the columns of its table; so if columns change, all files have changed, and one
commit replaces both. Everything is checked and every footer read before anything is written; then files are linked or
copied, which no reader sees, and then tables are committed, one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.transaction import AddAction

from applier.errors import SnapshotError, UsageError
from applier.jobs.publish.delta.change_data import check_feed, write_changes
from applier.jobs.publish.delta.marker import MarkedTable, Marker, load_marker, save_marker
from applier.jobs.publish.delta.statistics import statistics
from applier.jobs.publish.delta.storage import Storage
from applier.jobs.publish.delta.tables import (
    ChangeData,
    Commit,
    commit,
    delta_schema,
    known_table,
    same_columns,
    same_nulls,
    skipped_by,
    stored_schema,
)
from applier.jobs.publish.folders import folder_of
from applier.jobs.publish.footers import from_footers
from applier.jobs.publish.result import PublishedTable
from applier.jobs.publish.states import DROPPED, about
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.file_entries import FileEntry, undivided
from applier.snapshot.files.unsigned_bigints import OPTION
from applier.snapshot.manifest import Snapshot
from applier.snapshot.table_entry import TableEntry


@dataclass(frozen=True)
class _Planned:
    commit: Commit | None
    result: PublishedTable
    files: Sequence[FileEntry] = ()
    """Those that the table's directory is to get."""
    entry: TableEntry | None = None
    """The table, None if it is no more."""


def publish(root: str, snapshot: Snapshot, filter: TableFilter, *, change_data: bool) -> list[PublishedTable]:
    """Publish the tables of a snapshot below a path or uri, and return what happened to each; with change data for
    tables that have it, and from now on for all of these if requested. Raises SnapshotError for a table that another
    program made or wrote to, for files that readers would refuse, and if the location belongs to another lineage;
    UsageError for a type that Delta does not have, and if a feed is impossible."""
    if "%" in root:
        raise UsageError("deltalake cannot open a path that contains %", file=root,
                         hint="choose a directory without %")
    storage = Storage(root)
    marker = load_marker(storage)
    if marker is not None and marker.lineage != snapshot.lineage:
        raise SnapshotError("snapshots of another lineage are published there",
                            file=root, hint="choose another directory")
    marked = {} if marker is None else marker.tables
    entries = [entry for entry in snapshot.tables if filter.wanted(entry.database, entry.name)]
    planned = [_planned(storage, snapshot, entry, marked, change_data) for entry in entries]
    live = {folder_of(entry.database, entry.name) for entry in snapshot.tables}
    gone = {folder: table for folder, table in marked.items()
            if folder not in live and not table.dropped and filter.wanted(table.database, table.name)}
    planned += [_dropped(storage, snapshot.lineage, folder, table) for folder, table in sorted(gone.items())]
    position, at = snapshot.position, str(snapshot.position)
    said = about(snapshot, of_all=filter == EVERYTHING)
    after = marked | {folder: replace(table, dropped=True, position=at) for folder, table in gone.items()} | {
        folder_of(entry.database, entry.name): MarkedTable(entry.database, entry.name, _numbers(entry), at)
        for entry in entries}
    complete = all(table.dropped or table.position == at for table in after.values())
    stands = Marker(snapshot.lineage, at, position.gtid_set, position.timestamp, complete, after)
    if marker == stands and not any(plan.commit for plan in planned):
        return [plan.result for plan in planned]
    for plan in planned:
        if plan.commit is not None:
            storage.take(snapshot.root, plan.files, plan.commit.folder)
    planned = [_with_changes(storage, snapshot, plan) for plan in planned]
    save_marker(storage, replace(stands, complete=False, tables=after | marked))
    for plan in planned:
        if plan.commit is not None:
            gone_with = {DROPPED: "true"} if plan.result.change == "dropped" else {}
            commit(storage, plan.commit, snapshot.lineage, said | gone_with)
    save_marker(storage, stands)
    return [plan.result for plan in planned]


def _planned(storage: Storage, snapshot: Snapshot, entry: TableEntry, marked: dict[str, MarkedTable],
             change_data: bool) -> _Planned:
    """Plan the commit of one table. Raises the errors of `publish`."""
    name, folder = entry.full_name, folder_of(entry.database, entry.name)
    definition, choice = entry.definition.shown, snapshot.source.options.get(OPTION, AS_DECIMAL)
    wanted = {file.name: file for file in undivided(entry.files) if file.rows}
    known = known_table(storage, folder, snapshot.lineage, name)
    schema = delta_schema(definition, choice, None if known is None else known.schema)
    stored = stored_schema(definition, choice)
    now = {} if known is None else known.files
    new, old = [file for key, file in wanted.items() if key not in now], [key for key in now if key not in wanted]
    replaces = known is not None and not same_columns(known.schema, schema)
    columns_changed = replaces or (known is not None and not same_nulls(known.schema, schema))
    has_feed = change_data or (known is not None and known.has_feed)
    if has_feed:
        check_feed(storage.root, entry.definition.shown)
    changes = known is None or bool(new or old) or columns_changed
    skipping = skipped_by(known, stored, entry.key)
    actions = _actions(snapshot.root, new, stored, skipping)
    made = Commit(folder, known, schema, actions, old, replaces, has_feed, skipping) \
        if known is None or changes or has_feed != known.has_feed or skipping != known.skipped_by else None
    is_there = known is not None and not (folder in marked and marked[folder].dropped)
    if is_there and not changes:
        return _Planned(made, PublishedTable(name=name, change="unchanged", files=len(wanted)))
    return _Planned(made, PublishedTable(
        name=name, change="changed" if is_there else "created", files=len(wanted), files_added=len(new),
        files_removed=len(old), bytes_added=sum(file.bytes for file in new), columns_changed=columns_changed,
        renamed_from=_name_before(entry, marked)), new, entry)


def _with_changes(storage: Storage, snapshot: Snapshot, plan: _Planned) -> _Planned:
    """The same with the change data of its commit, where files come and others go, and the table has or gets a feed:
    of files that only come or only go, readers take all rows, and so they do where columns change."""
    wanted = plan.commit
    if (wanted is None or not wanted.has_feed or wanted.known is None or plan.entry is None or wanted.replaces
            or not (plan.files and wanted.removed)):
        return plan
    removed = {name: wanted.known.files[name] for name in wanted.removed}
    written = write_changes(storage, wanted.folder, snapshot.root, plan.entry,
                            snapshot.source.options.get(OPTION, AS_DECIMAL), removed, plan.files)
    return replace(plan, commit=replace(wanted, changes=ChangeData(written)))


def _dropped(storage: Storage, lineage: str, folder: str, table: MarkedTable) -> _Planned:
    """A table that is no more: a commit takes its files out, and says so."""
    known = known_table(storage, folder, lineage, table.full_name)
    files = [] if known is None else list(known.files)
    result = PublishedTable(name=table.full_name, change="dropped", files_removed=len(files))
    if known is None:
        return _Planned(None, result)
    return _Planned(Commit(folder, known, known.schema, [], files, replaces=False, has_feed=known.has_feed,
                           skipped_by=known.skipped_by), result)


def _name_before(entry: TableEntry, marked: dict[str, MarkedTable]) -> str | None:
    """The name by which the table was known, if it was another one: its columns have the same numbers."""
    numbers = set(_numbers(entry))
    before = [table.full_name for table in marked.values() if not table.dropped and numbers & set(table.columns)]
    return before[0] if before and entry.full_name not in before else None


def _numbers(entry: TableEntry) -> tuple[int, ...]:
    return tuple(column.id for column in entry.definition.columns)


def _actions(uri: str, files: Sequence[FileEntry], stored: pa.Schema,
             skipping: Sequence[str]) -> list[AddAction]:
    """Files of the snapshot at a path or uri, as Delta's log has them. Raises SnapshotError for one that is missing, is
    not as its manifest says, or was written by an older program, in types that readers refuse."""
    now = int(time.time() * 1000)

    def made(file: FileEntry, metadata: pq.FileMetaData, path: str) -> AddAction:
        found = metadata.schema.to_arrow_schema()
        if found.names != stored.names or found.types != stored.types:
            raise SnapshotError("this file was written by an older version; Delta cannot read it", file=path,
                                hint="import or replay the table again, without this snapshot as the base")
        return AddAction(file.path.rpartition("/")[2], file.bytes, {}, now, True,
                         statistics(metadata, skipping))

    return from_footers(uri, files, made)
