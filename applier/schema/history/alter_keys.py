"""How an ALTER TABLE changes a table's keys, which follow their columns, its foreign keys and its constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from applier.mysql.names import folded
from applier.schema.checks import Check, enforced, resolve_checks, with_expressions, without_checks
from applier.schema.ddl.alter_actions import (
    AddCheck,
    AddKey,
    AlterAction,
    DropCheck,
    DropForeignKey,
    DropKey,
    EnforceCheck,
    RenameKey,
    SetKeyVisible,
    of_kind,
)
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.key_grammar import in_server_order, resolve_keys, useful_prefix
from applier.schema.definition import Column, Key, KeyPart, TableDefinition
from applier.schema.foreign_keys import (
    ForeignKey,
    ForeignKeyWords,
    pointed_anew,
    resolve_foreign_keys,
    with_columns_renamed,
    without_keys,
)
from applier.schema.history.alter_columns import same_name, with_names


def altered_keys(definition: TableDefinition, actions: Sequence[AlterAction], renames: Mapping[str, str],
                 columns: Sequence[Column], of_foreign_keys: Sequence[ForeignKeyWords]) -> tuple[Key, ...]:
    """The keys that stay, with their columns that stay, then the added ones, and those `of_foreign_keys`, as of
    resolve_keys. `columns` are the new columns, `renames` new names by the old ones in lower case."""
    before = {folded(key.name): key for key in in_server_order(definition.keys, definition.columns)}
    for drop in of_kind(actions, DropKey):
        # An unknown name belongs to an index that the server made for a foreign key, or to another
        # constraint.
        before.pop(folded(drop.name), None)
    names = {folded(rename.old): rename.new for rename in of_kind(actions, RenameKey)}
    visible = {folded(action.name): action.visible for action in of_kind(actions, SetKeyVisible)}
    kept = []
    for name, key in before.items():
        parts = tuple(part for part in (_followed(part, renames, columns) for part in key.parts) if part)
        if parts:
            kept.append(replace(key, name=names.get(name, key.name), parts=parts,
                                visible=visible.get(name, key.visible)))
    return resolve_keys([action.words for action in of_kind(actions, AddKey)], kept, columns, of_foreign_keys)


def _followed(part: KeyPart, renames: Mapping[str, str], columns: Sequence[Column]) -> KeyPart | None:
    """A key's part after the ALTER: with its column's new name; None if the column is dropped; the whole column, if the
    new type cannot have a prefix or is no longer than it."""
    if part.column is None:
        changed = {old: new for old, new in renames.items() if not same_name(old, new)}
        return replace(part, expression=with_names(part.expression or "", changed)) if changed else part
    name = renames.get(folded(part.column))
    if name is None:
        return None
    column = next(column for column in columns if same_name(column.name, name))
    return replace(part, column=column.name, length=useful_prefix(part.length, column))


def altered_foreign_keys(definition: TableDefinition, actions: Sequence[AlterAction],
                         renames: Mapping[str, str], added: Sequence[ForeignKeyWords]) -> tuple[ForeignKey, ...]:
    """The foreign keys after the statement."""
    own = definition.database, definition.name
    dropped = [drop.name for drop in of_kind(actions, DropForeignKey)]
    kept = without_keys(definition.foreign_keys, dropped, renames)
    kept = pointed_anew(with_columns_renamed(kept, renames), own, own, renames)
    return resolve_foreign_keys(added, kept, *own)


def altered_checks(definition: TableDefinition, actions: Sequence[AlterAction], renames: Mapping[str, str],
                   context: StatementContext) -> tuple[Check, ...]:
    """The CHECK constraints after the statement. One whose column is dropped goes with it: servers refuse to drop a
    column that another one needs."""
    if not context.keeps_checks:
        return definition.checks
    gone = [column.name for column in definition.columns if folded(column.name) not in renames]
    checks = without_checks(definition.checks, [drop.name for drop in of_kind(actions, DropCheck)], gone)
    changed = {old: new for old, new in renames.items() if not same_name(old, new)}
    if changed:
        checks = with_expressions(checks, lambda expression: with_names(expression, changed))
    checks = enforced(checks, {folded(one.name): one.enforced for one in of_kind(actions, EnforceCheck)})
    return resolve_checks([add.words for add in of_kind(actions, AddCheck)], checks, definition.name,
                          definition.flavour)
