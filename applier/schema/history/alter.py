"""Applies ALTER TABLE to a table's definition as the server does: all actions at once, by the names from before.

Source: MySQL manual, "ALTER TABLE Statement"; judged by SHOW CREATE TABLE of both servers.

Keys follow their columns, as do foreign keys and constraints. Changes of partitions may remove rows (MySQL manual,
"ALTER TABLE Partition Operations"; MariaDB's "ALTER TABLE")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from applier.errors import NotComputable, SchemaError
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.schema.checks import (
    Check,
    enforced,
    renamed_table_checks,
    resolve_checks,
    with_expressions,
    without_checks,
)
from applier.schema.ddl.alter_actions import (
    AddCheck,
    AddForeignKey,
    AddKey,
    AddPartitions,
    AlterAction,
    ChangeColumn,
    CoalescePartitions,
    DropCheck,
    DropForeignKey,
    DropKey,
    DropPartitions,
    EmptyTable,
    EnforceCheck,
    ExchangePartition,
    IgnoreConflicts,
    PartitionBy,
    PartitionFromTable,
    PartitionToTable,
    RenameKey,
    RenameTo,
    ReorganizePartitions,
    RewritePartitions,
    SetKeyVisible,
    SetOptions,
    TruncatePartitions,
    Unfollowed,
    of_kind,
)
from applier.schema.ddl.create_table import check_labels
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.key_grammar import in_server_order, keys_again, resolve_keys, useful_prefix
from applier.schema.ddl.versioned_tables import altered_versioning, with_row_times
from applier.schema.definition import TableDefinition
from applier.schema.engines import counts_rows, has_foreign_keys, holds_rows
from applier.schema.foreign_keys import (
    ForeignKey,
    ForeignKeyWords,
    pointed_anew,
    renamed_table,
    resolve_foreign_keys,
    with_columns_renamed,
    without_keys,
)
from applier.schema.history.alter_columns import ColumnChanges, defines_again, same_name, with_names
from applier.schema.partitions import Partitioning, PartRows
from applier.schema.table_options import with_options
from applier.schema.table_parts import Column, Default, Key, KeyPart
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate, no_columns
from applier.sql.literal_charsets import as_rewritten
from applier.sql.sql_modes import with_escapes_as_text


def altered_keys(definition: TableDefinition, actions: Sequence[AlterAction], renames: Mapping[str, str],
                 columns: Sequence[Column], of_foreign_keys: Sequence[ForeignKeyWords]) -> tuple[Key, ...]:
    """The keys that stay, with their columns that stay, then the added ones, and those `of_foreign_keys`, as of
    resolve_keys. `columns` are the new columns, `renames` new names by the old ones in lower case."""
    own = keys_again(definition.keys, definition.columns) if defines_again(actions) else definition.keys
    before = {folded(key.name): key for key in in_server_order(own, definition.columns)}
    for drop in of_kind(actions, DropKey):
        # An unknown name belongs to an index that the server made for a foreign key, or to another
        # constraint.
        before.pop(folded(drop.name), None)
    names = {folded(rename.old): rename.new for rename in of_kind(actions, RenameKey)}
    visible = {folded(action.name): action.visible for action in of_kind(actions, SetKeyVisible)}
    kept = []
    for name, key in before.items():
        parts = tuple(part for part in (_followed(part, key.kind, renames, columns) for part in key.parts) if part)
        if parts:
            kept.append(replace(key, name=names.get(name, key.name), parts=parts,
                                visible=visible.get(name, key.visible)))
    return resolve_keys([action.words for action in of_kind(actions, AddKey)], kept, columns, of_foreign_keys)


def _followed(part: KeyPart, kind: str, renames: Mapping[str, str], columns: Sequence[Column]) -> KeyPart | None:
    """A key's part after the ALTER: with its column's new name; None if the column is dropped; the whole column, if the
    new type cannot have a prefix or is no longer than it."""
    if part.column is None:
        changed = {old: new for old, new in renames.items() if not same_name(old, new)}
        return replace(part, expression=with_names(part.expression or "", changed)) if changed else part
    name = renames.get(folded(part.column))
    if name is None:
        return None
    column = next(column for column in columns if same_name(column.name, name))
    return replace(part, column=column.name, length=useful_prefix(part.length, column, kind))


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


def altered_partitions(before: Partitioning | None,
                       actions: Sequence[AlterAction]) -> tuple[Partitioning | None, PartRows | None]:
    """The partitioning afterwards, and the rows that are removed. A statement has at most one action on partitions. If
    the partitions are unknown, as in an older program's base, actions that only divide rows again change nothing."""
    known = None if before is None or before.other else before
    for action in actions:
        match action:
            case PartitionBy(partitioning):
                return partitioning, None
            case ExchangePartition() | PartitionToTable() | PartitionFromTable():
                raise SchemaError("EXCHANGE and CONVERT concern two tables, not one")
            case DropPartitions() | TruncatePartitions() if known is None:
                verb = "DROP" if isinstance(action, DropPartitions) else "TRUNCATE"
                raise SchemaError(f"{verb} PARTITION of a table whose partitions are not known")
            case _ if known is None:
                continue
            case DropPartitions(names, if_exists):
                if if_exists:
                    names = tuple(name for name in names if known.has(name))
                return known.without(names), known.rows_of(names)
            case TruncatePartitions(names):
                return known, known.rows_of(names)
            case AddPartitions(partitions, count, if_not_exists):
                if if_not_exists:
                    partitions = tuple(partition for partition in partitions if not known.has(partition.name))
                return known.with_as_many_more(count) if count else known.with_more(partitions), None
            case CoalescePartitions(count):
                return known.with_as_many_more(-count), None
            case ReorganizePartitions(names, into):
                return known.reorganized(names, into), None
    return before, None


def rewritten_partitions(before: Partitioning | None, actions: Sequence[AlterAction]) -> tuple[str, ...] | None:
    """The names of the partitions whose rows a statement writes anew without a copy of the whole table; None if they
    are not known."""
    if before is None:
        return ()
    for action in actions:
        match action:
            case ReorganizePartitions(names) | RewritePartitions(names):
                return names or before.names
            case CoalescePartitions(count) | AddPartitions(count=count) if count:
                return None if before.method.startswith("LINEAR") else before.names
    return ()


def with_columns_of_partitions(partitioning: Partitioning, renames: Mapping[str, str]) -> Partitioning:
    """The partitioning by columns that have other names now, as MariaDB allows; `renames` as of altered_keys."""
    changed = {old: new for old, new in renames.items() if not same_name(old, new)}
    if not changed:
        return partitioning
    expression = partitioning.expression
    return replace(partitioning, columns=tuple(changed.get(folded(name), name) for name in partitioning.columns),
                   expression=None if expression is None else with_names(expression, changed),
                   subpartition_by=with_names(partitioning.subpartition_by, changed))


@dataclass(frozen=True)
class Altered:
    """A definition after an ALTER. `sources[i]` is the number of the old column that became the i-th new one, None for
    an added one; `emptied`: no row is left; `removed`: the rows that are removed, by the old definition;
    `rewritten` as of `rewritten_partitions`, and whether the statement `repairs` these partitions;
    `first_number`: the next number of AUTO_INCREMENT, 0 if the statement does not give it; `ignores`: the details of
    ALTER IGNORE; `says_stored`: a STORED column that stays is defined by the statement, as it was or not;
    `kept_defaults`: of columns whose defaults MariaDB computes once where it copies the rows, and
    otherwise by the expression that it keeps: both, by name."""

    definition: TableDefinition
    sources: tuple[int | None, ...]
    emptied: bool = False
    removed: PartRows | None = None
    first_number: int = 0
    ignores: IgnoreConflicts | None = None
    kept_defaults: Mapping[str, tuple[Default | None, Default]] = field(default_factory=dict)
    rewritten: tuple[str, ...] | None = ()
    repairs: bool = False
    says_stored: bool = False

    def in_place(self, definition: TableDefinition) -> TableDefinition:
        """The definition with the defaults that it keeps if no row is copied."""
        return replace(definition, columns=tuple(
            replace(column, default=self.kept_defaults[column.name][1])
            if column.name in self.kept_defaults and column.default == self.kept_defaults[column.name][0]
            and _fits(self.kept_defaults[column.name][1], column, definition) else column
            for column in definition.columns))


def _fits(kept: Default, column: Column, definition: TableDefinition) -> bool:
    """False for an expression without columns whose value the column cannot hold: MariaDB leaves the default as it was
    computed once."""
    session = Session(definition.flavour, literals=definition.charset, collation=definition.collation)
    try:
        made = evaluate(kept.text, no_columns, 1, session)
        assigned(made, column.type, session)
    except (KeyError, NotComputable):
        return True
    try:
        assigned(made, column.type, session, strict=True)
    except NotComputable:
        return False
    return True


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
    engines = [options.engine for options in of_kind(actions, SetOptions) if options.engine]
    engine = engines[-1] if engines else definition.engine
    foreign = [add.words for add in of_kind(changes.actions, AddForeignKey)]
    foreign, indexed = (foreign, []) if has_foreign_keys(engine) else ([], foreign)
    keys = altered_keys(definition, changes.actions, changes.renames, [column for column, _ in columns], indexed)
    primary = {part.column for key in keys if key.kind == "primary" for part in key.parts}
    made = tuple(_not_null(column) if column.name in primary else column for column, _ in columns)
    if defines_again(actions):
        check_labels(made, context)
    altered = replace(
        definition, columns=made, keys=in_server_order(keys, made), charset=changes.table_charset.charset,
        collation=changes.table_charset.collation, engine=engine,
        foreign_keys=altered_foreign_keys(definition, changes.actions, changes.renames, foreign),
        options=with_options(definition.options, (pair for options in of_kind(actions, SetOptions)
                                                  for pair in options.others)))
    altered = replace(altered, checks=altered_checks(definition, changes.actions, changes.renames, context))
    for renamed in of_kind(actions, RenameTo):
        altered = moved(altered, renamed.database, renamed.table)
    if altered.stored_columns and not definition.stored_columns:
        raise SchemaError("the table had no stored columns, so it is not known how many rows it has")
    partitioning, removed = altered_partitions(definition.partitioning, actions)
    if partitioning is not None and not any(True for _ in of_kind(actions, PartitionBy)):
        partitioning = with_columns_of_partitions(partitioning, changes.renames)
    said = [option.auto_increment for option in of_kind(actions, SetOptions) if option.auto_increment]
    kept = _kept_number(definition, changes.renames)
    altered = replace(altered, partitioning=partitioning, versioning=versioning)
    if not counts_rows(altered):
        kept = 1
    emptied = not holds_rows(definition) or not holds_rows(altered) or any(True for _ in of_kind(actions, EmptyTable))
    return Altered(replace(altered, first_number=said[-1] if said else kept),
                   tuple(source for _, source in columns), emptied, removed, said[-1] if said else 0,
                   next(of_kind(actions, IgnoreConflicts), None), changes.kept_defaults,
                   rewritten_partitions(definition.partitioning, actions),
                   any(action.repairs for action in of_kind(actions, RewritePartitions)),
                   any(change.words.generated == "stored" for change in of_kind(changes.actions, ChangeColumn)))


def _kept_number(definition: TableDefinition, renames: Mapping[str, str]) -> int:
    """The next number that a server takes over from the table as it was: 1, if the AUTO_INCREMENT column is dropped."""
    dropped = any(column.auto_increment and folded(column.name) not in renames for column in definition.columns)
    return definition.first_number if counts_rows(definition) and not dropped else 1


def written_again(definition: TableDefinition, context: StatementContext) -> TableDefinition:
    """A table with its expressions as a server reads and writes them for CREATE TABLE … LIKE and for most actions of
    ALTER TABLE (`defines_again`): MySQL in the session's sql_mode (seen on 9.7), MariaDB 10.5 in utf8mb3."""
    if not context.keeps_wide:
        return _with_expressions(definition, as_rewritten)
    if definition.flavour == "mysql" and "NO_BACKSLASH_ESCAPES" in context.sql_mode:
        return _with_expressions(definition, with_escapes_as_text)
    return definition


def _with_expressions(definition: TableDefinition, change: Callable[[str], str]) -> TableDefinition:
    columns = tuple(replace(
        column, expression=None if column.expression is None else change(column.expression),
        default=Default("expression", change(column.default.text))
        if column.default is not None and column.default.kind == "expression" else column.default)
        for column in definition.columns)
    keys = tuple(replace(key, parts=tuple(
        part if part.expression is None else replace(part, expression=change(part.expression))
        for part in key.parts)) for key in definition.keys)
    return replace(definition, columns=columns, keys=keys, checks=with_expressions(definition.checks, change))


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
