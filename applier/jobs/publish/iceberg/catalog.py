"""Iceberg catalogs: open them, and create and evolve tables with the numbers of columns.

This module and `commits` use internals of pyiceberg.

A catalog that is given by its URI uses the file systems of the one resolver, so that the same environment leads the
snapshot's files and the catalog's to the same store. A catalog with a name has its own settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any
from urllib.parse import urlsplit

from pyarrow.fs import FileSystem
from pyiceberg import exceptions
from pyiceberg.catalog import WAREHOUSE_LOCATION, Catalog, load_catalog
from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables, SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import (
    PARTITION_FIELD_ID_START,
    PartitionField,
    PartitionSpec,
    _PartitionNameGenerator,
    _visit_partition_field,
)
from pyiceberg.schema import Schema
from pyiceberg.table import CreateTableTransaction, StagedTable, Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import SortOrder
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSortOrderUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
)
from pyiceberg.transforms import parse_transform
from sqlalchemy import select, union
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from applier.errors import SnapshotError, UsageError
from applier.io.resolver import absolute, folder_of, is_uri, join, resolve
from applier.jobs.publish.folders import folder_of as folder_of_table
from applier.schema.ddl.schema_changes import TableName

_PLAIN = re.compile(r"\w[\w .-]*")
"""A name that can be a folder's to all readers."""
IMPLEMENTATION = f"{__name__}.Stores"


class Stores(PyArrowFileIO):
    """Files of pyiceberg's. Those of this machine it opens itself: it makes the folders that they are in."""

    def _initialize_fs(self, scheme: str, netloc: str | None = None) -> FileSystem:
        return super()._initialize_fs(scheme, netloc) if scheme == "file" else resolve(f"{scheme}://{netloc}")[0]


NAME = "default"
"""The name of a catalog that is given by its uri, as in pyiceberg."""
FAILURES: tuple[type[Exception], ...] = (OSError, SQLAlchemyError, NotImplementedError, *(
    kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)))
"""The errors of a catalog, and of the store for its metadata: pyiceberg's own have no common base class, and a missing
feature of a server is NotImplementedError."""
_NOT_OPENED: tuple[type[Exception], ...] = (ValueError, ImportError, *FAILURES)


@contextmanager
def working(where: str, hint: str | None = None) -> Iterator[None]:
    """Raise SnapshotError if a catalog fails, or if its metadata are damaged: pyiceberg has no error class for
    unreadable metadata, so any error from its code counts. Others are defects, and are not changed."""
    try:
        yield
    except FAILURES as error:
        raise SnapshotError(f"the catalog returned an error: {_first_line(error)}", file=where, hint=hint) from error
    except Exception as error:
        if not _is_pyicebergs(error):
            raise
        what = f"{type(error).__name__}: {_first_line(error)}"
        raise SnapshotError(f"metadata of the catalog are damaged: pyiceberg cannot read them ({what})", file=where,
                            hint="restore the catalog and its warehouse from a backup, or publish into a new catalog"
                            ) from error


def _is_pyicebergs(error: Exception) -> bool:
    """Return whether the last function of this program or of pyiceberg that an error went through is pyiceberg's."""
    owners = [str(frame.f_globals.get("__name__", "")).partition(".")[0] for frame, _ in walk_tb(error.__traceback__)]
    return next((owner for owner in reversed(owners) if owner in ("applier", "pyiceberg")), "") == "pyiceberg"


def open_catalog(where: str, warehouse: str | None) -> Catalog:
    """A catalog by the name that pyiceberg's configuration has for it, or by a uri: of a database as SQLAlchemy takes
    it, or http(s):// of a REST catalog. Its own files go below `warehouse`, by default beside SQLite's. Raises
    UsageError."""
    parts = urlsplit(where) if is_uri(where) else None
    if parts is None:
        properties = {}
    elif parts.password is not None:
        raise UsageError("the catalog's address contains a password, which is visible to other users",
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


def namespaces_of(catalog: Catalog) -> list[tuple[str, ...]]:
    """All namespaces of a catalog. That of a database with dots in its name is one: pyiceberg divides such names where
    they come from a SQL catalog."""
    if not isinstance(catalog, SqlCatalog):
        return [*catalog.list_namespaces()]
    columns = IcebergTables.table_namespace, IcebergNamespaceProperties.namespace
    named = IcebergTables.catalog_name, IcebergNamespaceProperties.catalog_name
    wanted = union(*(select(column).where(name == catalog.name) for column, name in zip(columns, named, strict=True)))
    with Session(catalog.engine) as session:
        return [(namespace,) for namespace in session.execute(wanted).scalars()]


def tables_of(catalog: Catalog) -> list[Table]:
    """All tables of a catalog. Their names have two parts."""
    found = []
    for namespace in namespaces_of(catalog):
        for *_, name in catalog.list_tables(namespace):
            table = catalog.load_table((*namespace, name))
            table._identifier = ".".join(namespace), name
            found.append(table)
    return found


def new_table(catalog: Catalog, name: TableName, schema: Schema, order: SortOrder, spec: PartitionSpec,
              properties: Mapping[str, str]) -> Transaction:
    """Return a transaction that creates a table, in an existing namespace, with columns of these numbers: pyiceberg and
    its catalogs would give them others. A SQL catalog would put it into the folder of its name, also where characters
    have a meaning in paths."""
    location, warehouse = None, catalog.properties.get(WAREHOUSE_LOCATION)
    if isinstance(catalog, SqlCatalog) and warehouse and not all(map(_PLAIN.fullmatch, name)):
        location = join(warehouse, folder_of_table(*name))
    staged = catalog.create_table_transaction(name, schema, location, properties=dict(properties))._table
    metadata = staged.metadata.model_copy(update={
        "schemas": [schema], "current_schema_id": schema.schema_id, "last_column_id": schema.highest_field_id,
        "sort_orders": [order], "default_sort_order_id": order.order_id, "partition_specs": [spec],
        "default_spec_id": 0, "last_partition_id": spec.last_assigned_field_id})
    return CreateTableTransaction(StagedTable(name, metadata, staged.metadata_location, staged.io, catalog))


def partition_spec(schema: Schema, column: int, transform: str,
                   field_id: int = PARTITION_FIELD_ID_START) -> PartitionSpec:
    """Return the partitions of a table by a transform of a column, given by its number."""
    field = PartitionField(column, field_id, parse_transform(transform), "unnamed")
    name = _visit_partition_field(schema, field, _PartitionNameGenerator())
    names = {column.name for column in schema.fields if transform != "identity" or column.field_id != field.source_id}
    while name in names:
        name += "_"
    return PartitionSpec(field.model_copy(update={"name": name}), spec_id=0)


def _divided(now: TableMetadata, schema: Schema, spec: PartitionSpec) -> list[Any]:
    """Return the updates that make these the partitions of a table, if they are not, by numbers of its own."""
    def by(one: PartitionSpec) -> list[tuple[int, str]]:
        return [(field.source_id, str(field.transform)) for field in one.fields]

    if by(now.spec()) == by(spec):
        return []
    known = [same.spec_id for same in now.specs().values() if by(same) == by(spec)]
    number, made = known[0] if known else 1 + max(now.specs()), PartitionSpec(spec_id=0)
    for field in spec.fields:
        made = partition_spec(schema, field.source_id, str(field.transform),
                              1 + (now.last_partition_id or PARTITION_FIELD_ID_START - 1))
    added = [] if known else [AddPartitionSpecUpdate(spec=PartitionSpec(*made.fields, spec_id=number))]
    return [*added, SetDefaultSpecUpdate.model_validate({"action": "set-default-spec", "spec-id": number})]


def evolve(transaction: Transaction, schema: Schema, order: SortOrder, spec: PartitionSpec) -> bool:
    """Make these the columns, the order and the partitions of the table, if they are not; true if the columns were
    others."""
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
    updates += _divided(now, schema, spec)
    if updates:
        transaction._apply(tuple(updates))
    return is_new


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
