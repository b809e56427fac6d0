"""Applies ALTER TABLE to a table's definition as the server does: all actions at once, by the names from before.

Source: MySQL manual, "ALTER TABLE Statement"; judged by SHOW CREATE TABLE of both servers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from applier.errors import SchemaError
from applier.schema.checks import renamed_table_checks
from applier.schema.ddl.alter_actions import (
    AddForeignKey,
    AlterAction,
    EmptyTable,
    IgnoreConflicts,
    RenameTo,
    SetOptions,
    Unfollowed,
    of_kind,
)
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.key_grammar import in_server_order
from applier.schema.ddl.versioned_tables import altered_versioning, with_row_times
from applier.schema.definition import Column, Default, TableDefinition
from applier.schema.engines import has_foreign_keys, holds_rows
from applier.schema.foreign_keys import pointed_anew, renamed_table
from applier.schema.history.alter_columns import ColumnChanges
from applier.schema.history.alter_keys import altered_checks, altered_foreign_keys, altered_keys
from applier.schema.history.alter_partitions import altered_partitions
from applier.schema.partitions import PartRows
from applier.schema.table_options import with_options


@dataclass(frozen=True)
class Altered:
    """A definition after an ALTER. `sources[i]` is the number of the old column that became the i-th new one, None for
    an added one; `emptied`: no row is left; `removed`: the rows that are removed, by the old definition;
    `first_number`: where an AUTO_INCREMENT column starts to number the rows; `ignores`: the details of ALTER
    IGNORE."""

    definition: TableDefinition
    sources: tuple[int | None, ...]
    emptied: bool = False
    removed: PartRows | None = None
    first_number: int = 1
    ignores: IgnoreConflicts | None = None


def alter(definition: TableDefinition, actions: Sequence[AlterAction], context: StatementContext) -> Altered:
    """The definition that the server makes of one by the actions of a statement.

    Raises SchemaError if an action cannot be followed, or names a column that the table does not have.
    """
    if unfollowed := next(of_kind(actions, Unfollowed), None):
        raise SchemaError(unfollowed.what)
    changes = ColumnChanges(definition, actions, context)
    columns = changes.columns()
    versioning = altered_versioning(definition.versioning, changes.actions, changes.renames)
    columns = with_row_times(columns, definition, versioning)
    engine = next((options.engine for options in of_kind(actions, SetOptions) if options.engine), definition.engine)
    foreign = [add.words for add in of_kind(changes.actions, AddForeignKey)]
    foreign, indexed = (foreign, []) if has_foreign_keys(engine) else ([], foreign)
    keys = altered_keys(definition, changes.actions, changes.renames, [column for column, _ in columns], indexed)
    primary = {part.column for key in keys if key.kind == "primary" for part in key.parts}
    made = tuple(_not_null(column) if column.name in primary else column for column, _ in columns)
    renamed = next(of_kind(actions, RenameTo), None)
    altered = replace(
        definition, columns=made, keys=in_server_order(keys, made), charset=changes.table_charset.charset,
        collation=changes.table_charset.collation, engine=engine,
        foreign_keys=altered_foreign_keys(definition, changes.actions, changes.renames, foreign),
        options=with_options(definition.options, (pair for options in of_kind(actions, SetOptions)
                                                  for pair in options.others)))
    altered = replace(altered, checks=altered_checks(definition, changes.actions, changes.renames, context))
    if renamed is not None:
        altered = moved(altered, renamed.database, renamed.table)
    if altered.stored_columns and not definition.stored_columns:
        raise SchemaError("the table had no stored columns, so it is not known how many rows it has")
    partitioning, removed = altered_partitions(definition.partitioning, actions)
    said = [option.auto_increment for option in of_kind(actions, SetOptions) if option.auto_increment]
    emptied = not holds_rows(definition) or not holds_rows(altered) or any(True for _ in of_kind(actions, EmptyTable))
    return Altered(replace(altered, partitioning=partitioning, versioning=versioning,
                           first_number=said[-1] if said else definition.first_number),
                   tuple(source for _, source in columns), emptied, removed, said[-1] if said else 1,
                   next(of_kind(actions, IgnoreConflicts), None))


def moved(definition: TableDefinition, database: str, name: str) -> TableDefinition:
    """The table under another name; references to itself go with it."""
    old, keys = (definition.database, definition.name), renamed_table(definition.foreign_keys, definition.name, name)
    checks = renamed_table_checks(definition.checks, definition.name, name, definition.flavour)
    return replace(definition, database=database, name=name, checks=checks,
                   foreign_keys=pointed_anew(keys, old, (database, name), {}))


def _not_null(column: Column) -> Column:
    """A column of a primary key: NOT NULL, so NULL is not its default."""
    default = None if column.default == Default("null") else column.default
    return replace(column, nullable=False, default=default)
