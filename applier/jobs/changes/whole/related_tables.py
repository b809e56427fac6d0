"""Tables that rows of a table depend on: by foreign keys, or because DDL gave them rows of each other."""

from __future__ import annotations

from collections.abc import Callable

from applier.plan.span import Wanted
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import TableVersion


def closure(history: SchemaHistory, table: TableName,
             step: Callable[[SchemaHistory, set[TableName]], set[TableName]]) -> set[TableName]:
    """A table, and those that come to it in any number of steps."""
    names = {table}
    while not (more := step(history, names)) <= names:
        names |= more
    return names


def related(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """The tables whose changes may change rows of these tables, or that rows of theirs come from or go to."""
    return parents(history, names) | sources(history, names) | _successors(history, names)


def sources(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """The tables that DDL gave these tables rows of."""
    versions = {version.id: version.definition for version in history.versions()}
    found = (versions[source.version] for name in names for version in versions_of(history, name)
             for source in version.sources)
    return {(definition.database, definition.name) for definition in found}


def _successors(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """The tables that DDL gave rows of these tables."""
    own = {version.id for name in names for version in versions_of(history, name)}
    return {(version.definition.database, version.definition.name) for version in history.versions()
            if any(source.version in own for source in version.sources)}


def parents(history: SchemaHistory, names: set[TableName]) -> set[TableName]:
    """The tables that cascading foreign keys of these tables refer to."""
    return {(key.database, key.table) for name in names for version in versions_of(history, name)
            for key in version.definition.foreign_keys if key.cascades}


def versions_of(history: SchemaHistory, table: TableName) -> list[TableVersion]:
    """All definitions that a name had."""
    return [version for version in history.versions()
            if (version.definition.database, version.definition.name) == table]


def only(*names: TableName) -> Wanted:
    """What wants these tables."""
    return lambda database, table: (database, table) in names
