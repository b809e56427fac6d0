"""Changes several tables of a catalog at once.

pyiceberg commits one table at a time. A SQL catalog is a table of pointers to metadata files, so here all metadata
files are written first, and then all pointers are moved in one SQL transaction. A REST catalog may have a request that
commits to several existing tables: then tables are first dropped, renamed, and created without rows, and then all rows
change at once. Other catalogs change one table after the other. If several steps are needed, namespaces say before the
first one that their tables are not all at one position, and after the last one that they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import Endpoint, HttpMethod, RestCatalog
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables, SqlCatalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table import CommitTableRequest, Namespace, Table, TableIdentifier, TableProperties, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertCreate,
    AssertCurrentSchemaId,
    AssertDefaultSortOrderId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetSnapshotRefUpdate,
)
from pyiceberg.typedef import IcebergBaseModel
from requests import HTTPError
from sqlalchemy import delete, insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from applier.errors import AnotherRun, SnapshotError
from applier.schema.ddl.schema_changes import TableName

COMPLETE = "applier.complete"
"""The property of a namespace that says whether all its tables stand where it does: "true" or "false"."""
AtOnce = Literal["everything", "rows", "nothing"]
"""What changed at once: all of a publication, its rows (tables were dropped, renamed or created before), or no two
tables."""
_TRANSACTION = "transactions/commit"
_HAS_TRANSACTIONS = Endpoint(http_method=HttpMethod.POST, path=f"/v1/{{prefix}}/{_TRANSACTION}")
_UNKNOWN = dict.fromkeys((500, 502, 503, 504), CommitStateUnknownException)


@dataclass(frozen=True)
class Change:
    """A change of a table: from the existing table (None: it is created) to its name and the transaction that changes
    it (None: it is dropped); `obsolete` are files that nothing needs then."""

    before: Table | None
    name: TableName
    transaction: Transaction | None
    obsolete: Sequence[str] = ()


class _CommitTransaction(IcebergBaseModel):
    """The body of the request that commits to several tables."""

    table_changes: tuple[CommitTableRequest, ...] = Field(alias="table-changes")


def commit(catalog: Catalog, changes: Sequence[Change], namespaces: Mapping[str, Mapping[str, str]]) -> AtOnce:
    """Make changes, and give namespaces properties; returns what changed at once. Raises SnapshotError if the catalog
    changed meanwhile: then nothing of the part that changes at once was made."""
    try:
        if isinstance(catalog, SqlCatalog):
            _commit_at_once(catalog, changes, namespaces)
            at_once: AtOnce = "everything"
        else:
            at_once = _commit_in_steps(catalog, changes, namespaces)
    except (CommitFailedException, SQLAlchemyError) as error:
        lost = AnotherRun if isinstance(error, CommitFailedException) else SnapshotError
        raise lost(f"the catalog has changed meanwhile: {str(error).partition(chr(10))[0]}",
                   hint="publish again") from error
    for change in changes:
        if change.before is not None:
            _remove(change.before, change.obsolete)
    return at_once


def _remove(table: Table, files: Iterable[str]) -> None:
    """Remove files of a table that nothing needs any more, as far as that goes."""
    for file in files:
        with suppress(OSError):
            table.io.delete(file)


def _commit_at_once(catalog: SqlCatalog, changes: Sequence[Change],
                    namespaces: Mapping[str, Mapping[str, str]]) -> None:
    staged = []
    for change in changes:
        if change.transaction is not None:
            made = catalog._update_and_stage_table(
                change.before, change.name, _requirements(change.before), change.transaction._updates)
            catalog._write_metadata(_later(made.metadata, change.before), made.io, made.metadata_location)
            staged.append((change, made))
    with Session(catalog.engine) as session:
        for change in changes:
            if change.before is not None:
                _take_out(catalog, session, change.before)
        for change, made in staged:
            row = catalog._create_table_row(change.name[0], change.name[1], made.metadata_location)
            if change.before is not None:
                row["previous_metadata_location"] = change.before.metadata_location
            session.execute(insert(IcebergTables).values(**row))
        for namespace, properties in namespaces.items():
            _set_properties(catalog, session, namespace, properties)
        session.commit()
    for change, made in staged:
        if change.before is not None:
            _remove_old_metadata(change.before, made.metadata)


def _later(made: TableMetadata, before: Table | None) -> TableMetadata:
    """The metadata, later than those before them, also where the clock was put back (see file_changes)."""
    if before is None or made.last_updated_ms > before.metadata.last_updated_ms:
        return made
    return made.model_copy(update={"last_updated_ms": before.metadata.last_updated_ms + 1})


def _remove_old_metadata(before: Table, made: TableMetadata) -> None:
    """Remove the files of metadata that a table no longer lists, if its properties say so."""
    if made.properties.get(TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED) == "true":
        listed = {entry.metadata_file for entry in made.metadata_log}
        _remove(before, [entry.metadata_file for entry in before.metadata.metadata_log
                         if entry.metadata_file not in listed])


def _take_out(catalog: SqlCatalog, session: Session, table: Table) -> None:
    """Take a table's pointer out, if it is still where it was."""
    namespace, name = table.name()
    found = session.execute(delete(IcebergTables).where(
        IcebergTables.catalog_name == catalog.name, IcebergTables.table_namespace == namespace,
        IcebergTables.table_name == name, IcebergTables.metadata_location == table.metadata_location))
    if found.rowcount != 1:  # type: ignore[attr-defined]  # a DELETE has it
        raise CommitFailedException(f"{namespace}.{name}")


def _set_properties(catalog: SqlCatalog, session: Session, namespace: str, properties: Mapping[str, str]) -> None:
    own = IcebergNamespaceProperties
    more = {"exists": "true", **properties}
    session.execute(delete(own).where(own.catalog_name == catalog.name, own.namespace == namespace,
                                      own.property_key.in_(more)))
    session.execute(insert(own).values([{"catalog_name": catalog.name, "namespace": namespace, "property_key": key,
                                         "property_value": value} for key, value in more.items()]))


def _commit_in_steps(catalog: Catalog, changes: Sequence[Change],
                     namespaces: Mapping[str, Mapping[str, str]]) -> AtOnce:
    if changes:
        for namespace in namespaces:
            catalog.update_namespace_properties((namespace,), updates={COMPLETE: "false"})
    names_change = _change_names(catalog, changes)
    has_transactions = isinstance(catalog, RestCatalog) and _HAS_TRANSACTIONS in catalog._supported_endpoints
    later = list[CommitTableRequest]()
    for change in changes:
        if change.transaction is None:
            continue
        table, updates = change.transaction._table, change.transaction._updates
        requirements = _requirements(change.before)
        if has_transactions and change.before is None:  # a server may take existing tables only
            made = catalog.commit_table(table, requirements, tuple(one for one in updates if not _is_of_rows(one)))
            requirements, names_change = _as_was(made.metadata), True
            updates = tuple(one for one in updates if _is_of_rows(one))
        identifier = TableIdentifier(namespace=Namespace([change.name[0]]), name=change.name[1])
        request = CommitTableRequest(identifier=identifier, requirements=requirements, updates=updates)
        if has_transactions:
            later += [request] if updates else []
        else:
            now = Table(change.name, table.metadata, table.metadata_location, table.io, catalog, table.config)
            done = catalog.commit_table(now, request.requirements, request.updates)
            _remove_old_metadata(now, done.metadata)
    if later:
        assert isinstance(catalog, RestCatalog)
        _commit_transaction(catalog, _CommitTransaction.model_validate({"table-changes": later}))
    for namespace, properties in namespaces.items():
        catalog.update_namespace_properties((namespace,), updates=dict(properties))
    return "nothing" if not has_transactions else "rows" if names_change else "everything"


def _change_names(catalog: Catalog, changes: Sequence[Change]) -> bool:
    """Drop and rename tables; true if there were any."""
    there = [(change.before, change) for change in changes if change.before is not None]
    gone = [before.name() for before, change in there if change.transaction is None]
    for name in gone:
        catalog.drop_table(name)
    aside = [(before.name(), (change.name[0], f"{change.name[1]}__renamed"), change.name) for before, change in there
             if change.transaction is not None and before.name() != change.name]
    for before_name, between, _ in aside:  # names may be swapped
        catalog.rename_table(before_name, between)
    for _, between, name in aside:
        catalog.rename_table(between, name)
    return bool(gone or aside)


def _commit_transaction(catalog: RestCatalog, body: _CommitTransaction) -> None:
    response = catalog._session.post(catalog.url(_TRANSACTION), data=body.model_dump_json().encode())
    try:
        response.raise_for_status()
    except HTTPError as error:
        _handle_non_200_response(error, {409: CommitFailedException, **_UNKNOWN})


def _is_of_rows(update: Any) -> bool:
    return isinstance(update, AddSnapshotUpdate | SetSnapshotRefUpdate)


def _requirements(before: Table | None) -> tuple[Any, ...]:
    return (AssertCreate(),) if before is None else _as_was(before.metadata)


def _as_was(metadata: TableMetadata) -> tuple[Any, ...]:
    """Return the state of a table on which its planned changes depend: its columns, their order, and its rows."""
    return (AssertTableUUID(uuid=metadata.table_uuid),
            AssertRefSnapshotId.model_validate({"ref": MAIN_BRANCH, "snapshot-id": metadata.current_snapshot_id}),
            AssertLastAssignedFieldId.model_validate({"last-assigned-field-id": metadata.last_column_id}),
            AssertCurrentSchemaId.model_validate({"current-schema-id": metadata.current_schema_id}),
            AssertDefaultSpecId.model_validate({"default-spec-id": metadata.default_spec_id}),
            AssertDefaultSortOrderId.model_validate({"default-sort-order-id": metadata.default_sort_order_id}))
