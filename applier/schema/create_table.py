"""CREATE TABLE: columns, keys and options become a table definition.

Source: MySQL manual, "CREATE TABLE Statement"; MariaDB's "CREATE TABLE". sqlglot's parser is not used here: it refuses
POINT columns, INET6, COMPRESSED, FLOAT UNSIGNED and more, and forgets FLOAT(24), CHAR BYTE and what keys say.
"""

from dataclasses import dataclass, field

from applier.errors import SchemaError
from applier.schema.collations import Charset, charset_name, charset_of, collation_name, with_default
from applier.schema.column_grammar import (
    ColumnWords,
    old_timestamps,
    parse_column,
    resolve_column,
    skip_check,
    skip_references,
)
from applier.schema.cursor import Cursor, StatementContext
from applier.schema.definition import Key, KeyPart, TableDefinition
from applier.schema.schema_changes import TableName


@dataclass(slots=True)
class _KeyWords:
    """A key as written; the server names those that have no name."""

    kind: str
    name: str | None
    parts: list[KeyPart]
    visible: bool = True


@dataclass(slots=True)
class TableWords:
    """What is between a CREATE TABLE's parentheses, and the options after them."""

    columns: list[ColumnWords] = field(default_factory=list)
    keys: list[_KeyWords] = field(default_factory=list)
    charset: str | None = None
    collation: str | None = None
    engine: str | None = None
    selects: bool = False


def parse_table(cursor: Cursor) -> TableWords:
    """Everything after the name in a CREATE TABLE that is not LIKE; SchemaError where the grammar is not known."""
    table = TableWords()
    if cursor.ahead("(") and not cursor.ahead("(", "SELECT") and not cursor.ahead("(", "WITH"):
        cursor.expect("(")
        _parse_item(cursor, table)
        while cursor.accept(","):
            _parse_item(cursor, table)
        cursor.expect(")")
    _parse_options(cursor, table)
    return table


def _parse_item(cursor: Cursor, table: TableWords) -> None:
    """A column, a key or a constraint."""
    constraint = None
    if cursor.accept("CONSTRAINT") and cursor.keyword not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        constraint = cursor.name()
    if cursor.ahead("PERIOD", "FOR"):
        raise cursor.error("system-versioned and application-time period tables cannot be replayed yet")
    if cursor.ahead("CHECK"):
        skip_check(cursor)
    elif cursor.accept("FOREIGN", "KEY"):
        if not cursor.ahead("("):
            cursor.name()
        cursor.parenthesised()
        cursor.expect("REFERENCES")
        skip_references(cursor)
    elif kind := _accept_key(cursor):
        table.keys.append(_parse_key(cursor, kind, constraint))
    elif cursor.accept("LIKE"):
        raise cursor.error("LIKE stands alone")
    else:
        column = parse_column(cursor)
        table.columns.append(column)
        if column.key:
            table.keys.append(_KeyWords(column.key, None, [KeyPart(column.name)]))


def _accept_key(cursor: Cursor) -> str | None:
    if cursor.accept("PRIMARY", "KEY"):
        return "primary"
    if cursor.ahead("VECTOR", "KEY") or cursor.ahead("VECTOR", "INDEX"):
        cursor.index += 2
        return "vector"
    word = cursor.accept_any("UNIQUE", "FULLTEXT", "SPATIAL", "KEY", "INDEX")
    if not word:
        return None
    if word not in ("KEY", "INDEX"):
        cursor.accept_any("KEY", "INDEX")
    return "key" if word in ("KEY", "INDEX") else word.lower()


def _parse_key(cursor: Cursor, kind: str, constraint: str | None) -> _KeyWords:
    cursor.accept("IF", "NOT", "EXISTS")
    name = None
    if not cursor.ahead("(") and not cursor.ahead("USING") and not cursor.ahead("TYPE"):
        name = cursor.name()
    if cursor.accept_any("USING", "TYPE"):
        cursor.next()
    key = _KeyWords(kind, name or constraint, _parse_parts(cursor))
    while cursor.keyword not in (",", ")"):
        word = cursor.next().keyword
        if word in ("INVISIBLE", "IGNORED"):
            key.visible = False
        elif word == "WITH":
            cursor.expect("PARSER")
            cursor.next()
        elif word == "NOT":
            cursor.expect("IGNORED")
        elif word != "VISIBLE":  # USING BTREE, COMMENT 'x', KEY_BLOCK_SIZE = 0, CLUSTERING = YES, …
            cursor.accept("=")
            cursor.next()
    return key


def parse_plain_index(cursor: Cursor) -> tuple[TableName, Key] | None:
    """[FULLTEXT | SPATIAL] INDEX name … ON table (parts) …, after CREATE; None where it is something else.

    Such an index decides nothing about rows that a key finds; a UNIQUE one may, so it is not one of them.
    """
    start = cursor.index
    kind = (cursor.accept_any("FULLTEXT", "SPATIAL") or "key").lower()
    if not cursor.accept("INDEX"):
        cursor.index = start
        return None
    cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name()
    if cursor.accept_any("USING", "TYPE"):
        cursor.next()
    cursor.expect("ON")
    table = cursor.table_name()
    parts = tuple(_parse_parts(cursor))
    visible = not any(token.keyword in ("INVISIBLE", "IGNORED") for token in cursor.tokens[cursor.index:])
    return table, Key(name, kind, parts, visible)


def _parse_parts(cursor: Cursor) -> list[KeyPart]:
    cursor.expect("(")
    parts = [_parse_part(cursor)]
    while cursor.accept(","):
        parts.append(_parse_part(cursor))
    cursor.expect(")")
    return parts


def _parse_part(cursor: Cursor) -> KeyPart:
    if cursor.ahead("("):
        name, length, expression = None, None, cursor.expression()
    else:
        name, length, expression = cursor.name(), None, None
        if cursor.accept("("):
            length = cursor.number()
            cursor.expect(")")
    direction = cursor.accept_any("ASC", "DESC")
    return KeyPart(name, length, direction == "DESC", expression)


def _parse_options(cursor: Cursor, table: TableWords) -> None:
    """Table options, partitions (rows are logged as for other tables), and the sign of a CREATE … SELECT."""
    while not cursor.at_end:
        if cursor.accept("START", "TRANSACTION") or cursor.accept(","):
            continue  # MySQL logs CREATE … SELECT so: the rows follow as events of the same group
        if cursor.keyword in ("AS", "SELECT", "IGNORE", "REPLACE", "VALUES", "TABLE", "("):
            table.selects = True
            return
        if cursor.accept("PARTITION", "BY"):
            while not cursor.at_end and cursor.keyword not in ("SELECT", "AS", "START", "IGNORE", "REPLACE"):
                cursor.parenthesised() if cursor.ahead("(") else cursor.next()
        elif cursor.ahead("WITH"):
            if not cursor.accept("WITH", "SYSTEM", "VERSIONING"):
                table.selects = True  # a common table expression
                return
            raise cursor.error("system-versioned tables cannot be replayed yet")
        elif not parse_charset(cursor, table):
            _parse_option(cursor, table)


def parse_charset(cursor: Cursor, target: TableWords) -> bool:
    """[DEFAULT] CHARACTER SET [=] x or [DEFAULT] COLLATE [=] x, of a table or a database."""
    start = cursor.index
    cursor.accept("DEFAULT")
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET"):
        cursor.accept("=")
        target.charset = charset_name(cursor.word_or_string())
    elif cursor.accept("COLLATE"):
        cursor.accept("=")
        target.collation = collation_name(cursor.word_or_string())
    else:
        cursor.index = start
        return False
    return True


def _parse_option(cursor: Cursor, table: TableWords) -> None:
    word = cursor.next()
    if word.keyword in ("DATA", "INDEX"):
        cursor.expect("DIRECTORY")
    if word.kind not in ("word", "name"):
        raise cursor.error("a table option was expected", word)
    cursor.accept("=")
    if word.keyword in ("ENGINE", "TYPE"):
        table.engine = cursor.word_or_string()
    elif cursor.ahead("("):
        cursor.parenthesised()
    else:
        cursor.next()


def charset_of_words(words: TableWords, inherited: Charset, utf8mb4: str) -> Charset:
    """The default character set that the words say, else the inherited one; KeyError if it is unknown."""
    charset = words.charset or (words.collation and charset_of(words.collation))
    found = with_default(charset, utf8mb4) if charset else inherited
    return Charset(found.charset, words.collation) if words.collation else found


def resolve_table(words: TableWords, database: str, name: str, context: StatementContext) -> TableDefinition:
    """The definition that the server makes of the words: inherited character sets, NOT NULL keys, names of keys."""
    try:
        charset = charset_of_words(words, context.database_charset(database), context.utf8mb4_collation)
    except KeyError as error:
        raise SchemaError(f"the table has the character set {error}, which is not known") from None
    if not context.explicit_timestamps:
        old_timestamps(words.columns)
    primary = {part.column.casefold()
               for key in words.keys if key.kind == "primary" for part in key.parts if part.column}
    columns = tuple(resolve_column(column, charset, context, in_primary_key=column.name.casefold() in primary)
                    for column in words.columns)
    spelling = {column.name.casefold(): column.name for column in columns}
    keys: list[Key] = []
    for key in words.keys:
        keys.append(_resolve_key(key, keys, spelling))
    return TableDefinition(database, name, columns, tuple(keys), charset.charset, charset.collation, words.engine,
                           context.flavour)


def _resolve_key(words: _KeyWords, before: list[Key], spelling: dict[str, str]) -> Key:
    parts = []
    for part in words.parts:
        if part.column is not None and part.column.casefold() not in spelling:
            raise SchemaError(f"a key is on column {part.column}, which the table does not have")
        column = None if part.column is None else spelling[part.column.casefold()]
        parts.append(KeyPart(column, part.length, part.descending, part.expression))
    if words.kind == "primary":
        name = "PRIMARY"
    else:
        name = words.name or _free_name(parts[0].column or "functional_index", {key.name.casefold() for key in before})
    return Key(name, words.kind, tuple(parts), words.visible)


def _free_name(column: str, taken: set[str]) -> str:
    """A key without a name is named for its first column, with _2, _3, … where that is taken."""
    candidates = [column, *(f"{column}_{number}" for number in range(2, 100))]
    return next(name for name in candidates if name.casefold() not in taken)
