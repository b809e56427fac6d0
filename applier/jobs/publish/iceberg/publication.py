"""Updates a catalog's tables to those of a snapshot: names, columns, files.

A table of the catalog is the snapshot's if they have columns with the same numbers, of the same lineage: so it is found
whatever its current name is. Its files are identified by their names, which are unique in a lineage; if the catalog has
a file under another path than the snapshot, that path stays as long as the file exists. Properties record the
publication: of namespaces, the position of all their tables; of a table and its snapshots, the position of its last
published change.

A definition in Iceberg has columns by their numbers, with comments, the key, and the order of rows. In a new table,
NOT NULL columns are required, except dates: an invalid date is null to readers. Iceberg lets a required field become
optional, but not an optional one required, and files of earlier snapshots lack an added column: so in an existing table
no field becomes required.

Of a lake that merges on read, row files are data files too, and positions are delete files (position_deletes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform

from applier.errors import SnapshotError, UsageError
from applier.jobs.publish.iceberg.catalog import evolve, new_table, partition_spec, tables_of
from applier.jobs.publish.iceberg.commits import COMPLETE, AtOnce, Change, commit
from applier.jobs.publish.iceberg.data_files import data_files, location_of
from applier.jobs.publish.iceberg.expiring import Forgotten, forget
from applier.jobs.publish.iceberg.file_changes import TableFiles, change_files, give_tag
from applier.jobs.publish.iceberg.position_deletes import delete_files, kept, stem_of
from applier.jobs.publish.result import PublishedTable
from applier.jobs.publish.states import LINEAGE, POSITION, TABLES, about
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.file_settings import columns_in_order
from applier.snapshot.files.stored_columns import StoredColumns, is_never_null
from applier.snapshot.files.unsigned_bigints import OPTION
from applier.snapshot.manifest import Snapshot
from applier.snapshot.table_entry import TableEntry


def iceberg_schema(definition: TableDefinition, unsigned_bigint: str, current: Schema | None) -> Schema:
    """Return the columns of a table's files, given those that the catalog has now, None for a new table. Raises
    UsageError for a type that Iceberg does not have."""
    stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    if found := [field.name for field in stored if field.type == pa.uint64()]:
        raise UsageError(f"Iceberg has no unsigned integers, and column {found[0]} is unsigned",
                         table=definition.full_name,
                         hint="replay or import with --unsigned-bigint decimal or long")
    plain, columns = pyarrow_to_schema(stored, format_version=2), definition.stored_columns
    possible = None if current is None else {field.field_id for field in current.fields if field.required}
    required = {column.id for column in columns
                if is_never_null(column) and (possible is None or column.id in possible)}
    key = _identifying(definition)
    return Schema(*(field.model_copy(update={"doc": column.comment or None, "required": column.id in required})
                    for field, column in zip(plain.fields, columns, strict=True)),
                  identifier_field_ids=[column.id for column in columns if column.id in key <= required])


def sort_order(entry: TableEntry) -> SortOrder:
    """The order of a table's rows: by its key, where that is compared as Iceberg compares values."""
    if not entry.key or any(rule for rule in entry.key_rules):
        return SortOrder(order_id=0)
    columns = {column.name: column.id for column in entry.definition.stored_columns}
    return SortOrder(*(SortField(columns[name], IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST)
                       for name in columns_in_order(table_schema(entry.definition), entry.key)), order_id=1)


def _identifying(definition: TableDefinition) -> set[int]:
    """The columns of a primary key, where Iceberg takes them: no floats, and no dates, which may be none."""
    key = definition.primary_key
    if key is None:
        return set()
    columns = [definition.column(part.column) for part in key.parts if part.column is not None]
    fits = len(columns) == len(key.parts) and all(
        column.generated != "virtual" and column.type.base not in ("float", "double") and is_never_null(column)
        for column in columns)
    return {column.id for column in columns} if fits else set()


DROPPED = "applier.dropped."
"""How properties of a namespace begin that say which tables were dropped last, and where."""
_LONGEST_PROPERTY = 1000
"""The most characters of a namespace's property in a SQL catalog. A longer one becomes empty, since the previous value
is no longer true."""


@dataclass(frozen=True)
class _Planned:
    change: Change | None
    result: PublishedTable


@dataclass(frozen=True)
class Besides:
    """What a publication does besides: a tag that it gives each table's snapshot, and the time, in milliseconds, before
    which snapshots were replaced that it takes out."""

    tag: str | None = None
    before_ms: int | None = None


def publish(catalog: Catalog, snapshot: Snapshot, filter: TableFilter, former: Snapshot | None = None,
            besides: Besides = Besides()) -> tuple[list[PublishedTable], AtOnce]:
    """Publish the tables of a snapshot, and return what happened to each, and what changed at once; `former` is the
    version of the lake that the catalog was last brought to, if that is not later than this one. Raises
    SnapshotError for a table of the catalog that another program made or wrote to, for files that its readers would
    refuse, and if the catalog changed meanwhile."""
    known, others = _known_tables(catalog, snapshot.lineage)
    entries = [entry for entry in snapshot.tables if filter.wanted(entry.database, entry.name)]
    by_column = {field.field_id: table for table in known for field in table.schema().fields}
    former_by_column = {} if former is None else {
        column.id: entry for entry in former.tables for column in entry.definition.columns}
    databases = {entry.database for entry in entries} | {database.name for database in snapshot.databases}
    for database in sorted(databases):
        catalog.create_namespace_if_not_exists((database,))
    said = about(snapshot, of_all=filter == EVERYTHING)
    planned, gone = list[_Planned](), {table.name(): table for table in known if filter.wanted(*table.name())}
    for entry in entries:
        ids = [column.id for column in entry.definition.columns]
        before = next((by_column[id_] for id_ in ids if id_ in by_column), None)
        if (entry.database, entry.name) in others:
            raise SnapshotError("the catalog contains a table of this name that `applier publish` did not create",
                                table=entry.full_name, hint="drop it there, or choose another catalog")
        if before is not None:
            gone.pop(before.name(), None)
        planned.append(_planned(catalog, snapshot, entry, before, next(
            (former_by_column[id_] for id_ in ids if id_ in former_by_column), None), said, besides))
    planned += [_Planned(Change(table, (name[0], name[1]), None), PublishedTable(
        name=".".join(name), change="dropped")) for name, table in sorted(gone.items())]
    changes = [plan.change for plan in planned if plan.change is not None]
    at_once = commit(catalog, changes, {
        database: _of_namespace(said, [name[1] for name in gone if name[0] == database]) for database in
        sorted(databases | {name[0] for name in gone})})
    return [plan.result for plan in planned], at_once


def tags_of(catalog: Catalog) -> set[str]:
    """The tags and branches of a catalog's tables."""
    return {name for table in tables_of(catalog) for name in table.metadata.refs}


def _of_namespace(said: dict[str, str], dropped: Sequence[str]) -> dict[str, str]:
    """Properties of a namespace: where its tables stand, and where the last ones were dropped, if these were."""
    properties = {**said, COMPLETE: "true" if said[TABLES] == "all" else "false"}
    if dropped:
        properties |= {f"{DROPPED}{key}": value for key, value in said.items()}
        properties[f"{DROPPED}names"] = ", ".join(dropped)
    return {key: value if len(value) <= _LONGEST_PROPERTY else "" for key, value in properties.items()}


def _known_tables(catalog: Catalog, lineage: str) -> tuple[list[Table], set[TableName]]:
    """The tables of a catalog that have this lineage, and the names of the others."""
    known, others = [], set()
    for table in tables_of(catalog):
        if table.properties.get(LINEAGE) == lineage:
            known.append(table)
        else:
            others.add((table.name()[0], table.name()[1]))
    return known, others


def _planned(catalog: Catalog, snapshot: Snapshot, entry: TableEntry, before: Table | None,
             former: TableEntry | None, said: dict[str, str], besides: Besides) -> _Planned:
    """Plan the change of one table, by commits with these properties."""
    name, order = (entry.database, entry.name), sort_order(entry)
    schema = iceberg_schema(entry.definition.shown, snapshot.source.options.get(OPTION, AS_DECIMAL),
                            None if before is None else before.schema())
    spec = PartitionSpec() if entry.partition is None else partition_spec(
        schema, entry.definition.column(entry.partition.column).id, entry.partition.transform)
    transaction = before.transaction() if before is not None else new_table(catalog, name, schema, order, spec, {
        "format-version": "2", TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true", **said})
    has = TableFiles() if before is None else _files_of(before, entry)
    files = _differing(snapshot.root, entry, former, has, transaction)
    is_renamed = before is not None and before.name() != name
    columns_changed = before is not None and evolve(transaction, schema, order, spec)
    forgotten = Forgotten()
    is_changed = bool(files.differ or is_renamed or columns_changed)
    if before is not None:
        if is_changed:
            transaction.set_properties(said)
        if is_changed or besides.before_ms is not None:
            forgotten = forget(before, transaction, snapshot, besides.before_ms)
        if not is_changed:
            give_tag(transaction, besides.tag)
            return _Planned(Change(before, name, transaction, forgotten.files) if transaction._updates else None,
                            PublishedTable(name=entry.full_name, change="unchanged", files=files.n_wanted,
                                           snapshots_expired=forgotten.snapshots))
    added = data_files(snapshot.root, files.rows, schema, transaction.table_metadata.spec(), entry.partition)
    paths = {stem_of(file.file_path): file.file_path for file in (*files.kept, *added)}
    added += delete_files(transaction, snapshot.root, files.positions, paths)
    if before is None or files.differ or columns_changed:  # a snapshot has the columns of its commit
        change_files(transaction, has, added, files.removed, said)
    give_tag(transaction, besides.tag)
    return _Planned(Change(before, name, transaction, forgotten.files), PublishedTable(
        name=entry.full_name, change="created" if before is None else "changed", files=files.n_wanted,
        files_added=len(added), files_removed=len(files.removed), columns_changed=columns_changed,
        bytes_added=sum(file.file_size_in_bytes for file in added),
        renamed_from=".".join(before.name()) if before is not None and is_renamed else None,
        snapshots_expired=forgotten.snapshots))


def _files_of(table: Table, entry: TableEntry) -> TableFiles:
    """The files that a table of the catalog has. Raises SnapshotError where the last to write to it was not a
    publication."""
    newest = table.current_snapshot()
    if newest is None:
        return TableFiles()
    if newest.summary is None or POSITION not in newest.summary.additional_properties:
        raise SnapshotError("another writer committed to this table of the catalog", table=entry.full_name,
                            hint=f"roll it back to a snapshot with {POSITION} in its summary, or drop it there")
    return TableFiles.of(newest, table.io)


@dataclass(frozen=True)
class _Differing:
    """How the files of a table are to change: files of rows and of positions that are new, those of the catalog's data
    files that stay, and its files that are removed; `n_wanted`: how many it will have."""

    rows: list[FileEntry]
    positions: list[FileEntry]
    kept: list[DataFile]
    removed: list[DataFile]
    n_wanted: int

    @property
    def differ(self) -> bool:
        """Whether something changes."""
        return bool(self.rows or self.positions or self.removed)


def _differing(uri: str, entry: TableEntry, former: TableEntry | None, has: TableFiles,
               transaction: Transaction) -> _Differing:
    """A file stays under the path that the catalog has for it, unless it is no longer there."""
    io, new, stay = transaction._table.io, list[FileEntry](), list[DataFile]()
    data = has.data
    by_name = {file.file_path.rpartition("/")[2]: file for file in data}
    wanted = [file for files in (entry.files, entry.row_files) for file in files if file.stored_rows]
    for file in wanted:
        known = by_name.get(file.name)
        if known is not None and (known.file_path == location_of(uri, file) or io.new_input(known.file_path).exists()):
            stay.append(known)
        else:
            new.append(file)
    is_moved = any(file.name in by_name for file in new)
    deletes = {} if is_moved or not entry.positions else kept(former, entry, data, has.deletes, io)
    stays = {file.file_path for file in (*stay, *deletes.values())}
    return _Differing(new, [file for file in entry.positions if file.stem not in deletes], stay,
                      [file for file in (*data, *has.deletes) if file.file_path not in stays],
                      len(wanted) + len(entry.positions))
