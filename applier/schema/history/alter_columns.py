"""How an ALTER TABLE changes a table's columns, and their new names."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import CodedText, encoded, label_bytes
from applier.mysql.character_sets.collations import Charset
from applier.mysql.names import folded
from applier.mysql.type_registry import Family
from applier.schema.ddl.alter_actions import (
    AddColumn,
    AddKey,
    AlterAction,
    ChangeColumn,
    ConvertCharset,
    DropColumn,
    EmptyTable,
    RenameColumn,
    RenameTo,
    RewritePartitions,
    SetColumnVisible,
    SetDefault,
    SetOptions,
    SetVersioning,
    TruncatePartitions,
    of_kind,
)
from applier.schema.ddl.column_grammar import (
    old_timestamps,
    resolve_column,
    resolve_default,
    with_first_timestamp,
)
from applier.schema.ddl.create_table import TableWords, charset_of_words
from applier.schema.ddl.cursor import StatementContext
from applier.schema.ddl.type_grammar import converted_type, modified_type, resolve_type
from applier.schema.ddl.versioned_tables import drops_times
from applier.schema.defaults import read_again
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Default
from applier.schema.undecodable import default_as_bytes, shown_members
from applier.sql.casting.texts import WIDE
from applier.sql.tokens import Token, render, tokenize


@dataclass
class ColumnChanges:
    """Works out the columns of one ALTER. `actions` are those that change something, `charset` is the table's after the
    statement. After `columns` was called, `renames` has the new names, and `kept_defaults`, by column, an expression as
    MariaDB computes it once, for rows that it copies, and as it keeps it."""

    definition: TableDefinition
    actions: Sequence[AlterAction]
    context: StatementContext
    charset: Charset = field(init=False)
    table_charset: Charset = field(init=False)
    _silent: set[str] = field(default_factory=set, init=False)
    renames: dict[str, str] = field(default_factory=dict)  # the columns that stay: new names by old ones in lower case
    kept_defaults: dict[str, tuple[Default | None, Default]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        definition = self.definition
        self.charset = Charset(definition.charset, definition.collation or definition.charset)
        words = TableWords()
        for options in of_kind(self.actions, SetOptions):
            words.charset, words.collation = options.charset or words.charset, options.collation or words.collation
        database = self.context.database_charset(definition.database)
        if words.charset or words.collation:
            self.charset = charset_of_words(words, self.charset, database, self.context)
        self.converts = next(of_kind(self.actions, ConvertCharset), None)
        self.table_charset = self.charset
        if self.converts is not None:
            self.charset = self.converts.charset or self.context.named_default(database)
            if not self._names_charset_last(self.converts):
                self.table_charset = self.charset
        self.actions = [action for action in self.actions if not self._is_void(action)]
        if self.context.flavour == "mariadb":
            self.actions = self._modified_where_added()
        if not self.context.explicit_timestamps:
            self._silent = old_timestamps([action.words for action in self.actions
                                           if isinstance(action, AddColumn | ChangeColumn)])

    def _modified_where_added(self) -> list[AlterAction]:
        """Return the actions; a column that the statement itself adds and MODIFYs is added in its modified form."""
        added = {folded(action.words.name) for action in of_kind(self.actions, AddColumn)}
        again = {folded(action.old) for action in of_kind(self.actions, ChangeColumn)
                 if folded(action.old) in added and not self._has(action.old)}
        kept = [action for action in self.actions
                if not (isinstance(action, AddColumn) and folded(action.words.name) in again)]
        return [AddColumn(action.words, action.position)
                if isinstance(action, ChangeColumn) and folded(action.old) in again else action for action in kept]

    def _is_void(self, action: AlterAction) -> bool:
        """True for IF EXISTS of a missing column, IF NOT EXISTS of an existing one."""
        match action:
            case AddColumn(words, _, True):
                return self._has(words.name)
            case ChangeColumn(name, _, _, True) | DropColumn(name, True) | RenameColumn(name, _, True):
                return not self._has(name)
            case SetDefault(name, _, True):
                return not self._has(name)
            case AddKey(words) if words.if_not_exists:
                name = words.name or words.parts[0].column or ""
                return any(same_name(key.name, name) for key in self.definition.keys)
        return False

    def _has(self, name: str) -> bool:
        return any(same_name(column.name, name) for column in self.definition.columns)

    def _old(self, name: str) -> int:
        try:
            return self.definition.column_index(name)
        except KeyError:
            raise SchemaError(f"it names column {name}, which the table does not have") from None

    def columns(self) -> list[tuple[Column, int | None]]:
        """The new columns with their sources: first those that stay, then others are added or moved among them, in
        turn."""
        changes = {self._old(change.old): change for change in of_kind(self.actions, ChangeColumn)}
        renames = {self._old(rename.old): rename.new for rename in of_kind(self.actions, RenameColumn)}
        renames |= {number: change.words.name for number, change in changes.items()}
        dropped = {self._old(drop.name) for drop in of_kind(self.actions, DropColumn)}
        versioning = self.definition.versioning
        if any(not switch.on for switch in of_kind(self.actions, SetVersioning)):
            dropped |= self._hidden()
        elif versioning is not None and drops_times(versioning, self.actions):
            dropped -= {self._old(versioning.row_start), self._old(versioning.row_end)}
        columns: list[tuple[Column, int | None]] = []
        for number, column in enumerate(self.definition.columns):
            if number in dropped:
                continue
            self.renames[folded(column.name)] = renames.get(number, column.name)
            changed = changes.get(number)
            columns.append((self._set_too(self._resolved(changed, column)) if changed else
                            self._kept(column, renames.get(number)), number))
        for action in self.actions:
            if isinstance(action, AddColumn):
                _put(columns, (self._set_too(self._resolved(action)), None), action.position)
            elif isinstance(action, ChangeColumn) and action.position is not None:
                number = self._old(action.old)
                moved = next(entry for entry in columns if entry[1] == number)
                columns.remove(moved)
                _put(columns, moved, action.position)
        columns.sort(key=lambda entry: not self._is_generated_key(*entry))  # it stays first, whatever else is FIRST
        names_times = any(add.words.row_time for add in of_kind(self.actions, AddColumn))
        hidden = set() if names_times else self._hidden()
        columns.sort(key=lambda entry: entry[1] in hidden)
        made = with_first_timestamp([self._follow_renames(column, source) for column, source in columns], self._silent)
        return [(column, source) for column, (_, source) in zip(made, columns, strict=True)]

    def _hidden(self) -> set[int]:
        """The columns of a versioned table that no statement names; they stay last."""
        versioning, columns = self.definition.versioning, self.definition.columns
        return {number for number, column in enumerate(columns) if versioning is not None
                and versioning.hides(column.name)}

    def _is_generated_key(self, column: Column, source: int | None) -> bool:
        """Return whether a column is MySQL's generated invisible primary key (manual: "Generated Invisible Primary
        Keys"), which only InnoDB knows."""
        engines = [self.definition.engine, *(options.engine for options in of_kind(self.actions, SetOptions))]
        if any((engine or "InnoDB").lower() != "innodb" for engine in engines):
            return False
        return source == 0 and column.name == "my_row_id" and column.invisible and column.auto_increment

    def _kept(self, column: Column, new_name: str | None) -> Column:
        if new_name is not None:
            column = replace(column, name=new_name)
        if defines_again(self.actions):
            column = read_again(column, self.context.flavour)
        if self.converts is not None and self.charset.charset == "binary" and column.type.base in ("char", "varchar"):
            column = replace(column, default=default_as_bytes(column.default, column.type))
        return self._converted(self._as_set(column, new_name))

    def _set_too(self, column: Column) -> Column:
        """A column that MariaDB adds or modifies, and sets in the same statement."""
        if column.default is not None and column.default.kind == "now":  # which stays, as it fills the rows
            return column
        return self._as_set(column, None)

    def _as_set(self, column: Column, new_name: str | None) -> Column:
        """A column as other actions set it."""
        for action in self.actions:
            if isinstance(action, SetDefault) and self._is(action.column, column, new_name):
                default = resolve_default(action.default, column.type, self.context)
                on_update = None if self.context.flavour == "mariadb" else column.on_update
                column = replace(column, default=default, on_update=on_update)
            elif isinstance(action, SetColumnVisible) and self._is(action.column, column, new_name):
                column = replace(column, invisible=not action.visible)
        return column

    @staticmethod
    def _is(name: str, column: Column, new_name: str | None) -> bool:
        return same_name(name, column.name) or (new_name is not None and same_name(name, new_name))

    def _resolved(self, action: AddColumn | ChangeColumn, old: Column | None = None) -> Column:
        """A column as the statement asks for it, where it is not new with the one that was there before."""
        words = action.words
        of_default = words.type.binary_collation and not (words.type.charset or words.type.collation)
        if self.converts is not None and of_default and self.table_charset != self.charset:  # CONVERT leaves it so
            return resolve_column(words, self.table_charset, self.context, in_primary_key=False)
        is_of_bytes = "binary" in (words.type.charset, words.type.collation)
        if self.converts is not None and words.type.members and not is_of_bytes:  # read in the table's new set
            words = replace(words, type=replace(words.type, charset=None, collation=None, binary_collation=False))
        of_bytes = self.context.flavour == "mariadb" and self.table_charset.charset == "binary"  # as CONVERT leaves it
        column = resolve_column(words, self.table_charset if of_bytes else self.charset, self.context,
                                in_primary_key=False)
        if words.kept_default is not None:
            self.kept_defaults[column.name] = column.default, words.kept_default
        converted = self._converted(column)
        is_longest = column.type.base in ("longtext", "longblob")
        if self.converts is not None and self.context.flavour == "mysql" and old and not (
                words.type.arguments or is_longest):
            return replace(converted, type=modified_type(converted.type, old.type))
        if self.converts is None or column.type.entry.family is not Family.TEXT:
            return converted
        asked = replace(words.type, charset=None, collation=None, binary_collation=False)
        sized = resolve_type(asked, self.charset, self.context.default_collations)  # by the set that it gets
        return replace(converted, type=replace(converted.type, base=sized.base, length=sized.length))

    def _names_charset_last(self, converts: ConvertCharset) -> bool:
        """True if the table gets another default than the character set that its columns are converted to: from MariaDB
        10.9 on wherever CHARACTER SET or COLLATE stands in the statement, else behind CONVERT."""
        named = [position for position, action in enumerate(self.actions)
                 if isinstance(action, SetOptions) and (action.charset or action.collation)]
        anywhere = self.context.flavour == "mariadb" and self.context.compiled_defaults
        return bool(named) and (anywhere or self.actions.index(converts) < named[-1])

    def _converted(self, column: Column) -> Column:
        if self.converts is None:
            return column
        made = converted_type(column.type, self.charset)
        members = shown_members(made.members, made.charset, self.context.flavour)
        before, after = str(column.type.charset), str(made.charset)
        if self.context.flavour == "mysql" and made.charset in WIDE and any(
                isinstance(new, CodedText) or label_bytes(old, before) != encoded(new, after)
                for old, new in zip(column.type.members, members, strict=True)):
            raise SchemaError(f"a label of {column.name} has bytes that are not text in {made.charset}")
        return replace(column, type=replace(made, members=members))

    def _follow_renames(self, column: Column, source: int | None) -> Column:
        """Rename columns in the expressions of columns that stay."""
        changed = {old: new for old, new in self.renames.items() if not same_name(old, new)}
        if not changed or source is None:
            return column
        if column.expression is not None:
            column = replace(column, expression=with_names(column.expression, changed))
        if column.default is not None and column.default.kind == "expression":
            column = replace(column, default=Default("expression", with_names(column.default.text, changed)))
        if column.check is not None:
            column = replace(column, check=with_names(column.check, changed))
        return column


def defines_again(actions: Sequence[AlterAction]) -> bool:
    """True if a server writes the table's definition again: for all actions but renaming the table, and
    emptying or repairing partitions."""
    return not all(isinstance(action, RenameTo | TruncatePartitions | EmptyTable)
                   or (isinstance(action, RewritePartitions) and action.repairs) for action in actions)


def same_name(a: str, b: str) -> bool:
    """True if two columns, or two keys, have the same name to the server."""
    return folded(a) == folded(b)


def _put(columns: list[tuple[Column, int | None]], entry: tuple[Column, int | None], position: str | None) -> None:
    if position is None:
        columns.append(entry)
    elif position == "":
        columns.insert(0, entry)
    else:
        after = next((i for i, (column, _) in enumerate(columns) if same_name(column.name, position)), None)
        if after is None:
            raise SchemaError(f"a column is placed after {position}, which the table does not have")
        columns.insert(after + 1, entry)


def with_names(expression: str, renames: dict[str, str]) -> str:
    """An expression with the new names of its columns."""
    tokens = tokenize(expression)
    renamed = []
    for token, following in pairwise(tokens):
        is_function = token.kind == "word" and following.text == "("
        if token.kind in ("word", "name") and folded(token.text) in renames and not is_function:
            token = Token("name", renames[folded(token.text)], token.start, token.end)
        renamed.append(token)
    return render(renamed)
