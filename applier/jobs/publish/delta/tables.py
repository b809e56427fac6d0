"""One Delta table: its current files and columns, and the commit that gives it others.

A publication's commits carry `txn` actions: the application is "applier:LINEAGE", and the version is that of the commit
itself. So a table with another version has had other commits since; if these changed neither files nor columns
(a property, VACUUM), it is still ours.

A definition in Delta has columns by name, with comments. In a new table, NOT NULL columns are not nullable, except
dates: an invalid date is null to readers. As in Iceberg, no column of an existing table becomes so: rows of its earlier
versions, which a change data feed shows in the current columns, may have none."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from applier.errors import AnotherRun, SnapshotError, UsageError
from applier.io.resolver import join
from applier.jobs.publish.delta.log import FEED, allow_nulls, announce, announces_local_times, commit_changes
from applier.jobs.publish.delta.statistics import columns_in, exact_columns, property_of
from applier.jobs.publish.delta.storage import Storage
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.table_parts import Column
from applier.snapshot.files.stored_columns import StoredColumns, is_never_null

_TIME = "TIME in microseconds"
_ORDINAL = "mysql.ordinal"
"""A column's ordinal, from 1: deltalake treats a schema with reordered columns as the same."""


def stored_schema(definition: TableDefinition, unsigned_bigint: str) -> pa.Schema:
    """Return the columns of a table's files. Raises UsageError for a type that Delta does not have."""
    stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
    if found := [field.name for field in stored if field.type == pa.uint64()]:
        raise UsageError(f"Delta has no unsigned integers, and column {found[0]} is unsigned",
                         table=definition.full_name,
                         hint="replay or import with --unsigned-bigint decimal or long")
    return stored


def delta_schema(definition: TableDefinition, unsigned_bigint: str, current: Schema | None) -> Schema:
    """Return the columns with their types in Delta, given those that the table has now, None for a new one. Raises
    UsageError for a type that Delta does not have."""
    plain = Schema.from_arrow(pa.schema([pa.field(field.name, field.type)
                                         for field in stored_schema(definition, unsigned_bigint)]))
    columns = zip(plain.fields, definition.stored_columns, strict=True)
    possible = None if current is None else {field.name for field in current.fields if not field.nullable}
    return Schema([Field(field.name, field.type, nullable=not is_never_null(column) or (
                       possible is not None and field.name not in possible),
                         metadata=_metadata(column) | {_ORDINAL: ordinal})
                   for ordinal, (field, column) in enumerate(columns, 1)])


def same_columns(one: Schema, other: Schema) -> bool:
    """Return whether two schemas have columns of the same names and types in the same order."""
    return [(field.name, field.type) for field in one.fields] == [(field.name, field.type) for field in other.fields]


def same_nulls(one: Schema, other: Schema) -> bool:
    """Return whether the same columns may be null in two schemas with the same columns."""
    return [field.nullable for field in one.fields] == [field.nullable for field in other.fields]


def has_local_times(schema: Schema) -> bool:
    """Return whether a column has the type that Delta tables have to announce, as a feature: timestamp_ntz."""
    return any(getattr(field.type, "type", "") == "timestamp_ntz" for field in schema.fields)


def _metadata(column: Column) -> dict[str, str | int]:
    parts = [column.comment, _TIME if column.type.base == "time" else ""]
    comment = "; ".join(part for part in parts if part)
    return {"comment": comment} if comment else {}


_TAKEN = "there is a commit of this number"
_LEAD_BACK = "restore it to the version that was published, or remove its directory"


@dataclass(frozen=True)
class Known:
    """An existing table, as the last publication left it: its columns, and its files' sizes by their names."""

    table: DeltaTable
    files: Mapping[str, int]

    @cached_property
    def schema(self) -> Schema:
        return self.table.schema()

    @cached_property
    def has_feed(self) -> bool:
        """True if its commits are to have change data."""
        return self.table.metadata().configuration.get(FEED) == "true"

    @cached_property
    def skipped_by(self) -> tuple[str, ...] | None:
        """The columns by which its files are skipped; None if its properties do not say it."""
        return columns_in(self.table.metadata().configuration)

    @cached_property
    def bounded(self) -> Mapping[str, np.ndarray]:
        """By column: which files have bounds of it, as readers see them (bool[n])."""
        actions = pa.table(self.table.get_add_actions(flatten=True))
        return {name.removeprefix("min."): actions.column(name).is_valid().to_numpy()
                for name in actions.column_names if name.startswith("min.")}


@dataclass(frozen=True)
class ChangeData:
    """Names and sizes of the files of change data of a commit; None: no row changes by it."""

    files: Sequence[tuple[str, int]] | None


@dataclass(frozen=True)
class Commit:
    """A commit of a table: from its current state (None: it is created) to these columns, with added files and the
    names of removed ones. If `replaces`, its columns change, and all its files are removed. `has_feed`: its commits are
    to have change data from now on; this one has `changes`, None if readers see all of them by its files. `skipped_by`:
    the columns by which files are skipped."""

    folder: str
    known: Known | None
    schema: Schema
    added: Sequence[AddAction]
    removed: Sequence[str]
    replaces: bool
    has_feed: bool
    skipped_by: tuple[str, ...] | None
    changes: ChangeData | None = None


def skipped_by(known: Known | None, stored: pa.Schema, key: Sequence[str]) -> tuple[str, ...]:
    """Return the columns by which files of a table are skipped: those of its key, unless an existing file has bounds,
    but not of all of them; then those that the table names, or if it names none, those that all files have bounds of.
    """
    wanted = exact_columns(stored, key)
    if known is None:
        return wanted
    none = np.zeros(len(known.files), np.bool_)
    has_all = np.all([~none, *(known.bounded.get(name, none) for name in wanted)], axis=0)
    has_some = np.any([none, *known.bounded.values()], axis=0)
    if (has_all | ~has_some).all() and (wanted or known.skipped_by is None):
        return wanted
    return known.skipped_by if known.skipped_by is not None else tuple(
        name for name in wanted if known.bounded.get(name, none).all())


def known_table(storage: Storage, folder: str, lineage: str, name: str) -> Known | None:
    """Return the table in a directory; None if there is none. Raises SnapshotError if it is not of this lineage, or
    another writer changed it."""
    location, options = storage.location(folder), storage.options
    try:
        if not DeltaTable.is_deltatable(location, storage_options=options):
            return None
        table = DeltaTable(location, storage_options=options)
    except DeltaError as error:
        raise SnapshotError(f"the table cannot be read: {_first_line(error)}", file=location, table=name,
                            hint=_LEAD_BACK) from error
    ours = table.transaction_version(_application(lineage))
    if ours is None:
        raise SnapshotError("this directory contains a table that `applier publish` did not create", file=location,
                            table=name, hint="remove it, or choose another directory")
    files = _files(table)
    if ours != table.version():
        before = _version(location, ours, options, name)
        if _files(before) != files or not same_columns(before.schema(), table.schema()):
            raise SnapshotError(f"another writer committed to this table after version {ours}", file=location,
                                table=name, hint=_LEAD_BACK)
    return Known(table, files)


def commit(storage: Storage, wanted: Commit, lineage: str, about: Mapping[str, str]) -> None:
    """Make one commit of a table, whose new files exist already. Raises SnapshotError if another commit came first."""
    location, options = storage.location(wanted.folder), storage.options
    try:
        if wanted.known is None:
            create_table_with_add_actions(location, wanted.schema, list(wanted.added), storage_options=options,
                                          configuration=property_of(wanted.skipped_by or ()) | (
                                              {FEED: "true"} if wanted.has_feed else {}),
                                          commit_properties=_properties(0, lineage, about))
            return
        table = wanted.known.table
        properties = {FEED: "true"} if wanted.has_feed and not wanted.known.has_feed else {}
        if wanted.skipped_by is not None and wanted.skipped_by != wanted.known.skipped_by:
            properties |= property_of(wanted.skipped_by)
        local_times = has_local_times(wanted.schema) and not announces_local_times(table)
        if properties or local_times:
            if not announce(join(storage.root, wanted.folder), table, properties, local_times=local_times):
                raise CommitFailedError(_TAKEN)
            table = DeltaTable(location, storage_options=options)
        if not wanted.replaces and not same_nulls(wanted.schema, wanted.known.schema):
            if not allow_nulls(join(storage.root, wanted.folder), table, wanted.schema):
                raise CommitFailedError(_TAKEN)
            table = DeltaTable(location, storage_options=options)
        said = _properties(table.version() + 1, lineage, about)
        if wanted.changes is not None:
            removed_sizes = {name: wanted.known.files[name] for name in wanted.removed}
            if not commit_changes(join(storage.root, wanted.folder), table, wanted.added, removed_sizes,
                                  wanted.changes.files, _application(lineage), about):
                raise CommitFailedError(_TAKEN)
        elif wanted.replaces:
            table.create_write_transaction(list(wanted.added), mode="overwrite", schema=wanted.schema,
                                           commit_properties=said)
        else:
            now = int(time.time() * 1000)
            removed = [RemoveAction(name, True, now, wanted.known.files[name], {}) for name in wanted.removed]
            table.create_write_transaction([*removed, *wanted.added], mode="append", schema=wanted.schema,
                                           commit_properties=said)
    except CommitFailedError as error:
        raise AnotherRun("somebody else writes to this table", file=location, hint="publish again") from error
    except DeltaError as error:
        raise SnapshotError(f"the table cannot be written: {_first_line(error)}", file=location) from error


def _application(lineage: str) -> str:
    return f"applier:{lineage}"


def _properties(version: int, lineage: str, about: Mapping[str, str]) -> CommitProperties:
    """Of a commit that makes this version, or fails where there is one already."""
    return CommitProperties(custom_metadata=dict(about), max_commit_retries=0,
                            app_transactions=[Transaction(_application(lineage), version)])


def _files(table: DeltaTable) -> dict[str, int]:
    actions = pa.table(table.get_add_actions(flatten=True))
    return dict(zip(actions.column("path").to_pylist(), actions.column("size_bytes").to_pylist(), strict=True))


def _version(location: str, version: int, options: dict[str, str], name: str) -> DeltaTable:
    try:
        return DeltaTable(location, version=version, storage_options=options)
    except DeltaError as error:
        raise SnapshotError(f"other commits follow version {version}, whose state cannot be read: {_first_line(error)}",
                            file=location, table=name, hint=_LEAD_BACK) from error


def _first_line(error: DeltaError) -> str:
    """Return the message without the call stack."""
    return str(error).partition("\n")[0]
