"""Tables that rows of a table depend on: by foreign keys, or because DDL gave them rows of each other."""

from __future__ import annotations

from collections.abc import Callable

from applier.errors import SchemaError
from applier.plan.cascades import cascades_of
from applier.plan.span import LogSpan, Wanted
from applier.plan.used_tables import used_tables
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import TableVersion


def closure(history: SchemaHistory, table: TableName,
             step: Callable[[SchemaHistory, set[TableName]], set[TableName]]) -> set[TableName]:
    """Return a table, and those that come to it in any number of steps."""
    names = {table}
    while not (more := step(history, names)) <= names:
        names |= more
    return names


def related(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """Return the tables whose changes may change rows of these tables, or that rows of theirs come from or go to."""
    return parents(history, names) | sources(history, names) | _successors(history, names)


def sources(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """Return the tables that DDL gave these tables rows of."""
    versions = {version.id: version.definition for version in history.versions()}
    found = (versions[source.version] for name in names for version in versions_of(history, name)
             for source in version.sources)
    return {(definition.database, definition.name) for definition in found}


def _successors(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """Return the tables that DDL gave rows of these tables."""
    own = {version.id for name in names for version in versions_of(history, name)}
    return {(version.definition.database, version.definition.name) for version in history.versions()
            if any(source.version in own for source in version.sources)}


def parents(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """Return the tables that cascading foreign keys of these tables refer to."""
    return {(key.database, key.table) for name in names for version in versions_of(history, name)
            for key in version.definition.foreign_keys if key.cascades}


def versions_of(history: SchemaHistory, table: TableName) -> list[TableVersion]:
    """Return all definitions that a name had."""
    return [version for version in history.versions()
            if (version.definition.database, version.definition.name) == table]


def only(*names: TableName) -> Wanted:
    """Return a filter for these tables."""
    return lambda database, table: (database, table) in names


def refuse_foreign_keys(span: LogSpan, history: SchemaHistory, table: TableName) -> None:
    """Raise SchemaError if foreign keys change rows of the table, which the log does not contain (AP-FK)."""
    names = closure(history, table, parents)
    if names == {table} and not parents(history, names):
        return
    cascades = cascades_of(history, used_tables(span, history, only(*names)), idempotent=False,
                           compressed=span.has_compressed_rows)
    if any(version.id in cascades for version in versions_of(history, table)):
        raise SchemaError("foreign keys change rows of this table, and the log does not contain these changes",
                          table=".".join(table),
                          hint="replay these logs to get the rows; to get only the changes in the log, ignore "
                               "foreign keys")
