"""Catalogs of Iceberg, and how several of their tables change at once.

pyiceberg commits one table at a time. A SQL catalog is a table of pointers to metadata files, so here all metadata
files are written first, and then all pointers are moved in one SQL transaction. Other catalogs change one table after
the other. This is the one module that uses what pyiceberg does not promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyiceberg import exceptions
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables, SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.table import CreateTableTransaction, StagedTable, Table, Transaction
from pyiceberg.table.sorting import SortOrder
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AddSortOrderUpdate,
    AssertCreate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
)
from sqlalchemy import delete, insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from applier.errors import SnapshotError, UsageError
from applier.io.resolver import absolute, folder_of, is_uri, join
from applier.jobs.publish.iceberg.stores import IMPLEMENTATION
from applier.schema.ddl.schema_changes import TableName

NAME = "default"
"""What a catalog that is given by its uri is called, as pyiceberg does."""
FAILURES: tuple[type[Exception], ...] = (OSError, SQLAlchemyError, *(
    kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)))
"""What a catalog, and the store where it keeps metadata, may raise: pyiceberg's own have no kind in common."""
_NOT_OPENED: tuple[type[Exception], ...] = (ValueError, ImportError, *FAILURES)
_MOVED = "the catalog has changed meanwhile"
_AGAIN = "publish again"


@dataclass(frozen=True)
class Change:
    """What is to become of a table: from a table that is there (None: it is made) to its name and the transaction that
    changes it (None: it is dropped)."""

    before: Table | None
    name: TableName
    transaction: Transaction | None


def open_catalog(where: str, warehouse: str | None) -> Catalog:
    """A catalog by the name that pyiceberg's configuration has for it, or by a uri: of a database as SQLAlchemy takes
    it, or http(s):// of a REST catalog. Its own files go below `warehouse`, by default beside SQLite's. Raises
    UsageError."""
    parts = urlsplit(where) if is_uri(where) else None
    if parts is None:
        properties = {}
    elif parts.password is not None:
        raise UsageError("a password is in the catalog's address, where others can see it",
                         hint="give the catalog a name in .pyiceberg.yaml, with its uri there, and name it here")
    else:
        properties = {"uri": where, "type": "rest" if parts.scheme in ("http", "https") else "sql",
                      "py-io-impl": IMPLEMENTATION}
        if parts.scheme == "sqlite" and warehouse is None:
            warehouse = join(folder_of(parts.path[1:]), "warehouse")
    if warehouse is not None:
        properties["warehouse"] = warehouse if is_uri(warehouse) else f"file://{absolute(warehouse)}"
    try:
        return load_catalog(where if parts is None else NAME, **properties)
    except _NOT_OPENED as error:
        raise UsageError(f"the catalog cannot be opened: {_first_line(error)}",
                         hint="give sqlite:////DIR/catalog.db, another database's uri as SQLAlchemy takes it, http:// "
                              "of a REST catalog, or a name out of .pyiceberg.yaml") from error


def tables_of(catalog: Catalog) -> list[Table]:
    """All tables of a catalog."""
    return [catalog.load_table(identifier) for namespace in catalog.list_namespaces()
            for identifier in catalog.list_tables(namespace)]


def new_table(catalog: Catalog, name: TableName, schema: Schema, order: SortOrder,
              properties: Mapping[str, str]) -> Transaction:
    """A transaction that makes a table, in a namespace that is there, with columns of these numbers: pyiceberg and its
    catalogs would give them others."""
    staged = catalog.create_table_transaction(name, schema, properties=dict(properties))._table
    metadata = staged.metadata.model_copy(update={
        "schemas": [schema], "current_schema_id": schema.schema_id, "last_column_id": schema.highest_field_id,
        "sort_orders": [order], "default_sort_order_id": order.order_id})
    return CreateTableTransaction(StagedTable(name, metadata, staged.metadata_location, staged.io, catalog))


def evolve(transaction: Transaction, schema: Schema, order: SortOrder) -> bool:
    """Make these the columns and the order of the table, if they are not; true if the columns were others."""
    now = transaction.table_metadata
    updates, current = list[Any](), now.schema()
    is_new = current.fields != schema.fields or set(current.identifier_field_ids) != set(schema.identifier_field_ids)
    if is_new:
        number = 1 + max(known.schema_id for known in now.schemas)
        updates += [AddSchemaUpdate(schema=schema.model_copy(update={"schema_id": number})),
                    SetCurrentSchemaUpdate.model_validate({"action": "set-current-schema", "schema-id": number})]
    if now.sort_order().fields != order.fields:
        known = {same.order_id for same in now.sort_orders if same.fields == order.fields}
        number = min(known) if known else 1 + max(same.order_id for same in now.sort_orders) if order.fields else 0
        if not known:
            updates.append(AddSortOrderUpdate.model_validate({
                "action": "add-sort-order", "sort-order": SortOrder(*order.fields, order_id=number)}))
        updates.append(SetDefaultSortOrderUpdate.model_validate({
            "action": "set-default-sort-order", "sort-order-id": number}))
    if updates:
        transaction._apply(tuple(updates))
    return is_new


def commit(catalog: Catalog, changes: Sequence[Change], namespaces: Mapping[str, Mapping[str, str]]) -> bool:
    """Make changes, and give namespaces properties; true if all were made at once. Raises SnapshotError where the
    catalog changed meanwhile: of all at once, none was made then."""
    try:
        if isinstance(catalog, SqlCatalog):
            _commit_at_once(catalog, changes, namespaces)
            return True
        _commit_one_by_one(catalog, changes, namespaces)
        return False
    except (CommitFailedException, SQLAlchemyError) as error:
        raise SnapshotError(f"{_MOVED}: {_first_line(error)}", hint=_AGAIN) from error


def _commit_at_once(catalog: SqlCatalog, changes: Sequence[Change],
                    namespaces: Mapping[str, Mapping[str, str]]) -> None:
    staged = []
    for change in changes:
        if change.transaction is not None:
            made = catalog._update_and_stage_table(
                change.before, change.name, _requirements(change), change.transaction._updates)
            catalog._write_metadata(made.metadata, made.io, made.metadata_location)
            staged.append((change, made.metadata_location))
    with Session(catalog.engine) as session:
        for change in changes:
            if change.before is not None:
                _take_out(catalog, session, change.before)
        for change, location in staged:
            row = catalog._create_table_row(change.name[0], change.name[1], location)
            if change.before is not None:
                row["previous_metadata_location"] = change.before.metadata_location
            session.execute(insert(IcebergTables).values(**row))
        for namespace, properties in namespaces.items():
            _set_properties(catalog, session, namespace, properties)
        session.commit()


def _take_out(catalog: SqlCatalog, session: Session, table: Table) -> None:
    """Take a table's pointer out, if it is still where it was."""
    namespace, name = table.name()
    found = session.execute(delete(IcebergTables).where(
        IcebergTables.catalog_name == catalog.name, IcebergTables.table_namespace == namespace,
        IcebergTables.table_name == name, IcebergTables.metadata_location == table.metadata_location))
    if found.rowcount != 1:  # type: ignore[attr-defined]  # of a DELETE it is there
        raise CommitFailedException(f"{namespace}.{name}")


def _set_properties(catalog: SqlCatalog, session: Session, namespace: str, properties: Mapping[str, str]) -> None:
    own = IcebergNamespaceProperties
    more = {"exists": "true", **properties}
    session.execute(delete(own).where(own.catalog_name == catalog.name, own.namespace == namespace,
                                      own.property_key.in_(more)))
    session.execute(insert(own).values([{"catalog_name": catalog.name, "namespace": namespace, "property_key": key,
                                         "property_value": value} for key, value in more.items()]))


def _commit_one_by_one(catalog: Catalog, changes: Sequence[Change],
                       namespaces: Mapping[str, Mapping[str, str]]) -> None:
    for namespace, properties in namespaces.items():
        catalog.update_namespace_properties(namespace, updates=dict(properties))
    for change in changes:
        if change.transaction is None and change.before is not None:
            catalog.drop_table(change.before.name())
    aside = [(change, (change.name[0], f"{change.name[1]}__renamed")) for change in changes
             if change.transaction is not None and change.before is not None and change.before.name() != change.name]
    for change, between in aside:  # names may be swapped
        catalog.rename_table(_table(change).name(), between)
    for change, between in aside:
        catalog.rename_table(between, change.name)
    for change in changes:
        if change.transaction is not None:
            table = catalog.load_table(change.name) if change.before is not None else \
                change.transaction._table
            catalog.commit_table(table, _requirements(change), change.transaction._updates)


def _table(change: Change) -> Table:
    assert change.before is not None
    return change.before


def _requirements(change: Change) -> tuple[Any, ...]:
    if change.before is None:
        return (AssertCreate(),)
    assert change.transaction is not None
    return change.transaction._requirements


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
