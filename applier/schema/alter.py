"""ALTER TABLE applied to a table's definition, as the server does it: all actions at once, by the names from before.

Source: MySQL manual, "ALTER TABLE Statement"; judged by SHOW CREATE TABLE of both servers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from applier.errors import SchemaError
from applier.schema.alter_actions import (
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterAction,
    ChangeColumn,
    ConvertCharset,
    DropColumn,
    DropForeignKey,
    DropKey,
    EmptyTable,
    RenameColumn,
    RenameKey,
    RenameTo,
    SetColumnVisible,
    SetDefault,
    SetKeyVisible,
    SetOptions,
    SetVersioning,
    Unfollowed,
)
from applier.schema.alter_partitions import altered_partitions
from applier.schema.collations import Charset
from applier.schema.column_grammar import old_timestamps, resolve_column, resolve_default
from applier.schema.create_table import TableWords, charset_of_words
from applier.schema.cursor import StatementContext
from applier.schema.definition import Column, Default, Key, KeyPart, TableDefinition
from applier.schema.foreign_keys import (
    ForeignKey,
    pointed_anew,
    renamed_table,
    resolve_foreign_keys,
    with_columns_renamed,
    without_keys,
)
from applier.schema.key_grammar import in_server_order, resolve_keys, useful_prefix
from applier.schema.partitions import PartRows
from applier.schema.tokens import Token, render, tokenize
from applier.schema.type_grammar import converted_type
from applier.schema.versioned_tables import altered_versioning, hidden_columns

Action = TypeVar("Action")


@dataclass(frozen=True)
class Altered:
    """A definition after an ALTER. `sources[i]` is the number of the old column that the i-th new one was, None for an
    added one; `emptied`: no row is left; `removed`: which rows are not, by the old definition;
    `first_number`: from where an added AUTO_INCREMENT column numbers the rows."""

    definition: TableDefinition
    sources: tuple[int | None, ...]
    emptied: bool = False
    removed: PartRows | None = None
    first_number: int = 1


def alter(definition: TableDefinition, actions: Sequence[AlterAction], context: StatementContext) -> Altered:
    """The definition that the server makes of one by the actions of a statement.

    Raises SchemaError where an action cannot be followed, or is about a column that the table does not have.
    """
    if unfollowed := next(_of(actions, Unfollowed), None):
        raise SchemaError(unfollowed.what)
    work = _Work(definition, actions, context)
    columns = work.columns()
    versioning = altered_versioning(definition.versioning, work.actions, work.renames)
    if versioning is not None and definition.versioning is None:
        columns += [(column, None) for column in hidden_columns(versioning)]
    keys = work.keys([column for column, _ in columns])
    primary = {part.column for key in keys if key.kind == "primary" for part in key.parts}
    made = tuple(_not_null(column) if column.name in primary else column for column, _ in columns)
    renamed = next(_of(actions, RenameTo), None)
    altered = replace(
        definition, columns=made, keys=in_server_order(keys, made), charset=work.charset.charset,
        collation=work.charset.collation, engine=next((o.engine for o in _of(actions, SetOptions) if o.engine),
                                                      definition.engine), foreign_keys=work.foreign_keys(made))
    if renamed is not None:
        altered = moved(altered, renamed.database, renamed.table)
    partitioning, removed = altered_partitions(definition.partitioning, actions)
    said = [option.auto_increment for option in _of(actions, SetOptions) if option.auto_increment]
    return Altered(replace(altered, partitioning=partitioning, versioning=versioning,
                           first_number=said[-1] if said else definition.first_number),
                   tuple(source for _, source in columns), any(True for _ in _of(actions, EmptyTable)), removed,
                   said[-1] if said else 1)


def moved(definition: TableDefinition, database: str, name: str) -> TableDefinition:
    """The table under another name; references to itself go with it."""
    old, keys = (definition.database, definition.name), renamed_table(definition.foreign_keys, definition.name, name)
    return replace(definition, database=database, name=name,
                   foreign_keys=pointed_anew(keys, old, (database, name), {}))


def _of(actions: Iterable[AlterAction], kind: type[Action]) -> Iterable[Action]:
    return (action for action in actions if isinstance(action, kind))


def _not_null(column: Column) -> Column:
    """A column of a primary key: NOT NULL, and so without NULL as its default."""
    default = None if column.default == Default("null") else column.default
    return replace(column, nullable=False, default=default)


@dataclass
class _Work:
    """One ALTER on its way: columns first, then keys, which follow them."""

    definition: TableDefinition
    actions: Sequence[AlterAction]
    context: StatementContext
    charset: Charset = field(init=False)
    renames: dict[str, str] = field(default_factory=dict)  # old names, in lower case, of what stays: the new ones

    def __post_init__(self) -> None:
        definition = self.definition
        self.charset = Charset(definition.charset, definition.collation or definition.charset)
        words = TableWords()
        for options in _of(self.actions, SetOptions):
            words.charset, words.collation = options.charset or words.charset, options.collation or words.collation
        if words.charset or words.collation:
            self.charset = charset_of_words(words, self.charset, self.context.default_collations)
        self.converts = next(_of(self.actions, ConvertCharset), None)
        if self.converts is not None:
            self.charset = self.converts.charset or self.context.database_charset(definition.database)
        self.actions = [action for action in self.actions if not self._is_void(action)]
        if not self.context.explicit_timestamps:
            old_timestamps([action.words for action in self.actions if isinstance(action, AddColumn | ChangeColumn)])

    def _is_void(self, action: AlterAction) -> bool:
        """IF EXISTS of what is not there, IF NOT EXISTS of what is."""
        match action:
            case AddColumn(words, _, True):
                return self._has(words.name)
            case ChangeColumn(name, _, _, True) | DropColumn(name, True) | RenameColumn(name, _, True):
                return not self._has(name)
            case SetDefault(name, _, True):
                return not self._has(name)
            case AddKey(words) if words.if_not_exists:
                name = words.name or words.parts[0].column or ""
                return any(_same(key.name, name) for key in self.definition.keys)
        return False

    def foreign_keys(self, columns: Sequence[Column]) -> tuple[ForeignKey, ...]:
        """The foreign keys after the statement; `columns` and `renames` are known by then."""
        own = self.definition.database, self.definition.name
        dropped = [drop.name for drop in _of(self.actions, DropForeignKey)]
        kept = without_keys(self.definition.foreign_keys, dropped, self.renames)
        kept = pointed_anew(with_columns_renamed(kept, self.renames), own, own, self.renames)
        return resolve_foreign_keys([add.words for add in _of(self.actions, AddForeignKey)], kept, *own)

    def _has(self, name: str) -> bool:
        return any(_same(column.name, name) for column in self.definition.columns)

    def _old(self, name: str) -> int:
        try:
            return self.definition.column_index(name)
        except KeyError:
            raise SchemaError(f"it is about column {name}, which the table does not have") from None

    # ---- columns

    def columns(self) -> list[tuple[Column, int | None]]:
        """The new columns with their sources: those that stay, among which then, in turn, others are added or moved."""
        changes = {self._old(change.old): change for change in _of(self.actions, ChangeColumn)}
        renames = {self._old(rename.old): rename.new for rename in _of(self.actions, RenameColumn)}
        renames |= {number: change.words.name for number, change in changes.items()}
        dropped = {self._old(drop.name) for drop in _of(self.actions, DropColumn)}
        if any(not switch.on for switch in _of(self.actions, SetVersioning)):
            dropped |= self._hidden()
        columns: list[tuple[Column, int | None]] = []
        for number, column in enumerate(self.definition.columns):
            if number in dropped:
                continue
            self.renames[column.name.casefold()] = renames.get(number, column.name)
            changed = changes.get(number)
            columns.append((self._resolved(changed) if changed else self._kept(column, renames.get(number)), number))
        for action in self.actions:
            if isinstance(action, AddColumn):
                _put(columns, (self._resolved(action), None), action.place)
            elif isinstance(action, ChangeColumn) and action.place is not None:
                number = self._old(action.old)
                moved = next(entry for entry in columns if entry[1] == number)
                columns.remove(moved)
                _put(columns, moved, action.place)
        columns.sort(key=lambda entry: not self._is_generated_key(*entry))  # which stays first, whatever comes FIRST
        hidden = self._hidden()
        columns.sort(key=lambda entry: entry[1] in hidden)
        return [(self._follow_renames(column, source), source) for column, source in columns]

    def _hidden(self) -> set[int]:
        """The columns of a versioned table that no statement names; they stay last."""
        versioning, columns = self.definition.versioning, self.definition.columns
        return {number for number, column in enumerate(columns) if versioning is not None
                and versioning.hides(column.name)}

    def _is_generated_key(self, column: Column, source: int | None) -> bool:
        """Whether a column is MySQL's generated invisible primary key (manual: "Generated Invisible Primary Keys")."""
        return source == 0 and column.name == "my_row_id" and column.invisible and column.auto_increment

    def _kept(self, column: Column, new_name: str | None) -> Column:
        if new_name is not None:
            column = replace(column, name=new_name)
        for action in self.actions:
            if isinstance(action, SetDefault) and self._is(action.column, column, new_name):
                default = resolve_default(action.default, column.type, self.context)
                on_update = None if self.context.flavour == "mariadb" else column.on_update
                column = replace(column, default=default, on_update=on_update)
            elif isinstance(action, SetColumnVisible) and self._is(action.column, column, new_name):
                column = replace(column, invisible=not action.visible)
        return self._converted(column)

    @staticmethod
    def _is(name: str, column: Column, new_name: str | None) -> bool:
        return _same(name, column.name) or (new_name is not None and _same(name, new_name))

    def _resolved(self, action: AddColumn | ChangeColumn) -> Column:
        column = resolve_column(action.words, self.charset, self.context, in_primary_key=False)
        converted = self._converted(column)
        if converted.type.base.endswith("text"):
            return replace(converted, type=replace(converted.type, base=column.type.base))  # as it was asked for
        return converted

    def _converted(self, column: Column) -> Column:
        if self.converts is None:
            return column
        return replace(column, type=converted_type(column.type, self.charset))

    def _follow_renames(self, column: Column, source: int | None) -> Column:
        """Expressions of columns that stay name other columns as they are called now."""
        changed = {old: new for old, new in self.renames.items() if not _same(old, new)}
        if not changed or source is None:
            return column
        if column.expression is not None:
            column = replace(column, expression=_with_names(column.expression, changed))
        if column.default is not None and column.default.kind == "expression":
            column = replace(column, default=Default("expression", _with_names(column.default.text, changed)))
        return column

    # ---- keys

    def keys(self, columns: list[Column]) -> tuple[Key, ...]:
        """The keys that stay, with the columns that stay, then the added ones."""
        before = {key.name.casefold(): key for key in in_server_order(self.definition.keys, self.definition.columns)}
        for drop in _of(self.actions, DropKey):
            # A name that is not known is that of an index that the server made for a foreign key, or (`maybe`) of
            # another constraint.
            before.pop(drop.name.casefold(), None)
        names = {rename.old.casefold(): rename.new for rename in _of(self.actions, RenameKey)}
        visible = {action.name.casefold(): action.visible for action in _of(self.actions, SetKeyVisible)}
        kept = []
        for name, key in before.items():
            parts = tuple(part for part in (self._followed(part, key.kind, columns) for part in key.parts) if part)
            if parts:
                kept.append(Key(names.get(name, key.name), key.kind, parts, visible.get(name, key.visible)))
        return resolve_keys([action.words for action in _of(self.actions, AddKey)], kept, columns)

    def _followed(self, part: KeyPart, kind: str, columns: list[Column]) -> KeyPart | None:
        """A key's part after the ALTER: under its column's new name, None where the column is dropped; whole, where the
        new type cannot have a prefix or is no longer than it."""
        if part.column is None:
            changed = {old: new for old, new in self.renames.items() if not _same(old, new)}
            return replace(part, expression=_with_names(part.expression or "", changed)) if changed else part
        name = self.renames.get(part.column.casefold())
        if name is None:
            return None
        column = next(column for column in columns if _same(column.name, name))
        return replace(part, column=column.name, length=useful_prefix(part.length, column))


def _same(a: str, b: str) -> bool:
    return a.casefold() == b.casefold()


def _put(columns: list[tuple[Column, int | None]], entry: tuple[Column, int | None], place: str | None) -> None:
    if place is None:
        columns.append(entry)
    elif place == "":
        columns.insert(0, entry)
    else:
        after = next((i for i, (column, _) in enumerate(columns) if _same(column.name, place)), None)
        if after is None:
            raise SchemaError(f"a column comes after {place}, which the table does not have")
        columns.insert(after + 1, entry)


def _with_names(expression: str, renames: dict[str, str]) -> str:
    """An expression whose columns are called by their new names."""
    tokens = tokenize(expression)
    renamed = []
    for token, following in pairwise(tokens):
        is_function = token.kind == "word" and following.text == "("
        if token.kind in ("word", "name") and token.text.casefold() in renames and not is_function:
            token = Token("name", renames[token.text.casefold()], token.start, token.end)
        renamed.append(token)
    return render(renamed)
