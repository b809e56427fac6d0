"""Updates a catalog's tables to those of a snapshot: names, columns, files.

A table of the catalog is the snapshot's if they have columns with the same numbers, of the same lineage: so it is found
whatever its current name is. Its files are identified by their names, which are unique in a lineage; if the catalog has
a file under another path than the snapshot, that path stays as long as the file exists. Properties record the
publication: of namespaces, the position of all their tables; of a table and its snapshots, the position of its last
published change.

A definition in Iceberg has columns by their numbers, with comments, the key, and the order of rows. Every column is
optional except those of a primary key, which identify a row: an invalid date is null to readers, even
if the server has NOT NULL.

The footers of files are read for the statistics of the key's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record

from applier.errors import SnapshotError, UsageError
from applier.io.resolver import absolute, divided, is_uri, join
from applier.jobs.publish.footers import from_footers
from applier.jobs.publish.iceberg.catalog import evolve, new_table, tables_of
from applier.jobs.publish.iceberg.commits import COMPLETE, AtOnce, Change, commit
from applier.jobs.publish.iceberg.expiring import forget
from applier.jobs.publish.iceberg.file_changes import change_files
from applier.jobs.publish.result import PublishedTable
from applier.jobs.publish.states import LINEAGE, POSITION, TABLES, about
from applier.mysql.types import DATES
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_filter import EVERYTHING, TableFilter
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.files.unsigned_bigints import OPTION
from applier.snapshot.manifest import Snapshot
from applier.snapshot.table_entry import TableEntry

_FIELD_ID = b"PARQUET:field_id"


def location_of(uri: str, file: FileEntry) -> str:
    """Where a file of a snapshot is, as a catalog has it."""
    if is_uri(uri):
        location, _ = divided(join(uri, file.path))
        return location
    return f"file://{join(absolute(uri), file.path)}"


def data_files(uri: str, files: Sequence[FileEntry], schema: Schema) -> list[DataFile]:
    """Files of the snapshot at a path or uri. Raises SnapshotError for one that is missing, is not as its manifest
    says, or was written by an older program, so that readers would not know its columns."""
    expected = {field.name: field.field_id for field in schema.fields}

    def made(file: FileEntry, metadata: pq.FileMetaData, path: str) -> DataFile:
        columns = metadata.schema.to_arrow_schema()
        found = {field.name: int((field.metadata or {}).get(_FIELD_ID, 0)) for field in columns}
        if found != expected or any(map(pa.types.is_duration, columns.types)):
            raise SnapshotError("this file was written by an older version; Iceberg cannot read it", file=path,
                                hint="import or replay the table again, without this snapshot as the base")
        return _data_file(location_of(uri, file), file, metadata, schema)

    return from_footers(uri, files, made)


def _data_file(location: str, file: FileEntry, metadata: pq.FileMetaData, schema: Schema) -> DataFile:
    sizes, lows, highs, nulls, counts = {}, {}, {}, {}, {}
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for number, field in enumerate(schema.fields):
        if metadata.schema.column(number).path != field.name:
            break  # from a list on, leaves have other numbers; a key's columns are not lists
        chunks = [group.column(number) for group in groups]
        sizes[field.field_id] = sum(chunk.total_compressed_size for chunk in chunks)
        counts[field.field_id] = file.rows
        statistics = [chunk.statistics for chunk in chunks if chunk.is_stats_set]
        if not chunks or len(statistics) < len(chunks):
            continue
        if all(part.has_null_count for part in statistics):
            nulls[field.field_id] = sum(part.null_count for part in statistics)
        if all(part.has_min_max for part in statistics):
            lows[field.field_id] = _bound(field.field_type, min(part.min for part in statistics))
            highs[field.field_id] = _bound(field.field_type, max(part.max for part in statistics))
    return DataFile.from_args(
        content=DataFileContent.DATA, file_path=location, file_format=FileFormat.PARQUET, partition=Record(),
        record_count=file.rows, file_size_in_bytes=file.bytes, column_sizes=sizes, value_counts=counts,
        null_value_counts=nulls, nan_value_counts={}, lower_bounds=lows, upper_bounds=highs, split_offsets=None,
        sort_order_id=None, spec_id=0, equality_ids=None, key_metadata=None)


def _bound(kind: Any, value: Any) -> bytes:
    return bytes(to_bytes(kind, value))


def iceberg_schema(definition: TableDefinition, unsigned_bigint: str) -> Schema:
    """Return the columns of a table's files. Raises UsageError for a type that Iceberg does not have."""
    stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    if found := [field.name for field in stored if field.type == pa.uint64()]:
        raise UsageError(f"Iceberg has no unsigned integers, and column {found[0]} is unsigned",
                         table=definition.full_name,
                         hint="replay or import with --unsigned-bigint decimal or long")
    plain, key = pyarrow_to_schema(stored, format_version=2), set(_identifying(definition))
    return Schema(*(field.model_copy(update={"doc": column.comment or None, "required": column.name in key})
                    for field, column in zip(plain.fields, definition.stored_columns, strict=True)),
                  identifier_field_ids=[column.id for column in definition.stored_columns if column.name in key])


def sort_order(entry: TableEntry) -> SortOrder:
    """The order of a table's rows: by its key, where that is compared as Iceberg compares values."""
    if not entry.key or any(rule for rule in entry.key_rules):
        return SortOrder(order_id=0)
    columns = {column.name: column.id for column in entry.definition.stored_columns}
    return SortOrder(*(SortField(columns[name], IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST)
                       for name in entry.key), order_id=1)


def _identifying(definition: TableDefinition) -> list[str]:
    """The columns of a primary key, where Iceberg takes them: no floats, and no dates, which may be none."""
    key = definition.primary_key
    if key is None:
        return []
    columns = [definition.column(part.column) for part in key.parts if part.column is not None]
    fits = len(columns) == len(key.parts) and all(
        column.generated != "virtual" and column.type.base not in ("float", "double", *DATES) for column in columns)
    return [column.name for column in columns] if fits else []


DROPPED = "applier.dropped."
"""How properties of a namespace begin that say which tables were dropped last, and where."""
_LONGEST_PROPERTY = 1000
"""The most characters of a namespace's property in a SQL catalog. A longer one becomes empty, since the previous value
is no longer true."""


@dataclass(frozen=True)
class _Planned:
    change: Change | None
    result: PublishedTable


def publish(catalog: Catalog, snapshot: Snapshot, filter: TableFilter) -> tuple[list[PublishedTable], AtOnce]:
    """Publish the tables of a snapshot, and return what happened to each, and what changed at once. Raises
    SnapshotError for a table of the catalog that another program made or wrote to, for files that its readers would
    refuse, and if the catalog changed meanwhile."""
    known, others = _known_tables(catalog, snapshot.lineage)
    entries = [entry for entry in snapshot.tables if filter.wanted(entry.database, entry.name)]
    by_column = {field.field_id: table for table in known for field in table.schema().fields}
    databases = {entry.database for entry in entries} | {database.name for database in snapshot.databases}
    for database in sorted(databases):
        catalog.create_namespace_if_not_exists(database)
    said = about(snapshot, of_all=filter == EVERYTHING)
    planned, gone = list[_Planned](), {table.name(): table for table in known if filter.wanted(*table.name())}
    for entry in entries:
        before = next((by_column[column.id] for column in entry.definition.columns if column.id in by_column), None)
        if (entry.database, entry.name) in others:
            raise SnapshotError("the catalog contains a table of this name that `applier publish` did not create",
                                table=entry.full_name, hint="drop it there, or choose another catalog")
        if before is not None:
            gone.pop(before.name(), None)
        planned.append(_planned(catalog, snapshot, entry, before, said))
    planned += [_Planned(Change(table, (name[0], name[1]), None), PublishedTable(
        name=".".join(name), change="dropped")) for name, table in sorted(gone.items())]
    changes = [plan.change for plan in planned if plan.change is not None]
    at_once = commit(catalog, changes, {
        database: _of_namespace(said, [name[1] for name in gone if name[0] == database]) for database in
        sorted(databases | {name[0] for name in gone})})
    return [plan.result for plan in planned], at_once


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
            namespace, name = ".".join(table.name()[:-1]), table.name()[-1]
            others.add((namespace, name))
    return known, others


def _planned(catalog: Catalog, snapshot: Snapshot, entry: TableEntry, before: Table | None,
             said: dict[str, str]) -> _Planned:
    """Plan the change of one table, by commits with these properties."""
    name = (entry.database, entry.name)
    definition = entry.definition.shown
    schema = iceberg_schema(definition, snapshot.source.options.get(OPTION, AS_DECIMAL))
    wanted = [file for file in entry.files if file.rows]
    if before is None:
        transaction = new_table(catalog, name, schema, sort_order(entry), {
            "format-version": "2", TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true", **said})
        added = data_files(snapshot.root, wanted, schema)
        change_files(transaction, added, [], said)
        return _Planned(Change(None, name, transaction), PublishedTable(
            name=entry.full_name, change="created", files=len(wanted), files_added=len(added),
            bytes_added=sum(file.bytes for file in wanted)))
    new, old = _differing(before, _files_of(before, entry), wanted, snapshot.root)
    transaction, is_renamed = before.transaction(), before.name() != name
    columns_changed = evolve(transaction, schema, sort_order(entry))
    if not (new or old or is_renamed or columns_changed):
        return _Planned(None, PublishedTable(name=entry.full_name, change="unchanged", files=len(wanted)))
    transaction.set_properties(said)
    obsolete = forget(before, transaction, snapshot)
    if new or old:
        change_files(transaction, data_files(snapshot.root, new, schema), old, said)
    return _Planned(Change(before, name, transaction, obsolete), PublishedTable(
        name=entry.full_name, change="changed", files=len(wanted), files_added=len(new), files_removed=len(old),
        bytes_added=sum(file.bytes for file in new), columns_changed=columns_changed,
        renamed_from=".".join(before.name()) if is_renamed else None))


def _files_of(table: Table, entry: TableEntry) -> dict[str, DataFile]:
    """The files that a table of the catalog has, by their names. Raises SnapshotError where the last to write to it was
    not a publication."""
    newest = table.current_snapshot()
    if newest is None:
        return {}
    if newest.summary is None or POSITION not in newest.summary.additional_properties:
        raise SnapshotError("another writer committed to this table of the catalog", table=entry.full_name,
                            hint=f"roll it back to a snapshot with {POSITION} in its summary, or drop it there")
    return {found.data_file.file_path.rpartition("/")[2]: found.data_file for manifest in newest.manifests(table.io)
            for found in manifest.fetch_manifest_entry(table.io, discard_deleted=True)}


def _differing(table: Table, current: dict[str, DataFile], wanted: Sequence[FileEntry],
               uri: str) -> tuple[list[FileEntry], list[DataFile]]:
    """The files that are to be added, and those to be taken out: also a file that has moved, if it is no more where the
    catalog has it."""
    new, names = [], set[str]()
    for file in wanted:
        name = file.path.rpartition("/")[2]
        known = current.get(name)
        is_there = known is not None and (
            known.file_path == location_of(uri, file) or table.io.new_input(known.file_path).exists())
        if is_there:
            names.add(name)
        else:
            new.append(file)
    return new, [file for name, file in current.items() if name not in names]
