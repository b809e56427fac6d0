"""Keys of tables: as written, and as the server keeps them, with its own names and in its order.

Source: MySQL manual, "CREATE TABLE Statement" and "CREATE INDEX Statement"; MariaDB's "CREATE TABLE".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from applier.errors import SchemaError
from applier.mysql.names import folded
from applier.mysql.type_registry import Family
from applier.mysql.types import BINARY, TEXT
from applier.schema.ddl.constraint_grammar import option_value
from applier.schema.ddl.cursor import Cursor
from applier.schema.foreign_keys import ForeignKeyWords
from applier.schema.table_options import KEY_OPTIONS, with_options
from applier.schema.table_parts import Column, Key, KeyPart

_BYTES_OF_POINT, _BYTES_OF_GEOMETRY = 25, 8
"""How much of a value a key is over, where a statement does not say it."""


@dataclass(slots=True)
class KeyWords:
    """A key as written; the server names those that have no name."""

    kind: str
    name: str | None
    parts: list[KeyPart]
    visible: bool = True
    options: list[tuple[str, str]] = field(default_factory=list)
    if_not_exists: bool = False


def accept_key(cursor: Cursor) -> str | None:
    """Skip the words that begin a key; returns its kind, or None if something else begins."""
    if cursor.accept("PRIMARY", "KEY"):
        return "primary"
    word = cursor.accept_any("UNIQUE", "FULLTEXT", "SPATIAL", "KEY", "INDEX", "VECTOR")
    if not word:
        return None
    if word not in ("KEY", "INDEX"):
        cursor.accept_any("KEY", "INDEX")
    return "key" if word in ("KEY", "INDEX") else word.lower()


def parse_key(cursor: Cursor, kind: str, constraint: str | None) -> KeyWords:
    """Parse the words after a key's first ones, up to the comma or parenthesis after it."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = None
    if not cursor.ahead("(") and not cursor.ahead("USING") and not cursor.ahead("TYPE"):
        name = cursor.name()
    return parse_key_after_name(cursor, kind, name or constraint, if_not_exists=if_not_exists)


def parse_key_after_name(cursor: Cursor, kind: str, name: str | None, *, if_not_exists: bool) -> KeyWords:
    """Parse the words after a key's name."""
    options = parse_algorithm(cursor)
    key = KeyWords(kind, name, parse_parts(cursor), options=options, if_not_exists=if_not_exists)
    parse_key_options(cursor, key)
    return key


def parse_algorithm(cursor: Cursor) -> list[tuple[str, str]]:
    """Parse USING or TYPE before a key's columns."""
    if not cursor.accept_any("USING", "TYPE"):
        return []
    return [("USING", option_value(cursor, "USING", KEY_OPTIONS))]


def parse_key_options(cursor: Cursor, key: KeyWords) -> None:
    """Parse the options after a key's columns."""
    while cursor.keyword not in (",", ")") and not cursor.at_end and cursor.keyword not in ("PARTITION", "REMOVE"):
        token = cursor.next()
        word = token.keyword or token.text.upper()
        if word in ("INVISIBLE", "IGNORED"):
            key.visible = False
        elif word == "WITH":
            cursor.expect("PARSER")
            key.options.append(("PARSER", option_value(cursor, "PARSER", KEY_OPTIONS)))
        elif word == "NOT":
            cursor.expect("IGNORED")
        elif word != "VISIBLE":
            cursor.accept("=")
            if (name := "USING" if word == "TYPE" else word) in KEY_OPTIONS:
                key.options.append((name, option_value(cursor, name, KEY_OPTIONS)))
            else:  # CLUSTERING = YES, ENGINE_ATTRIBUTE = '…', …
                cursor.next()


def parse_parts(cursor: Cursor) -> list[KeyPart]:
    """Return a key's columns, prefixes and expressions in parentheses."""
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
    is_descending = cursor.accept_any("ASC", "DESC") == "DESC" and cursor.context.sorts_descending
    return KeyPart(name, length, is_descending, expression)


def resolve_keys(words: Iterable[KeyWords], before: Sequence[Key], columns: Sequence[Column],
                 of_foreign_keys: Iterable[ForeignKeyWords] = ()) -> tuple[Key, ...]:
    """Return the keys that the server makes of `words` and of those that exist `before`, in its order;
    `of_foreign_keys`: of an engine without these it makes indexes, where no other key starts with their columns.

    Raises SchemaError for a key on a column that the table does not have.
    """
    by_name = {folded(column.name): column for column in columns}
    keys = list(before)
    for key in words:
        keys.append(_resolve_key(key, keys, by_name))
    for foreign in of_foreign_keys:
        if not any(_starts_with(key, foreign.columns) for key in keys):
            index = KeyWords("key", foreign.name, [KeyPart(column) for column in foreign.columns])
            keys.append(_resolve_key(index, keys, by_name))
    return in_server_order(keys, columns)


def _starts_with(key: Key, columns: Sequence[str]) -> bool:
    parts = [folded(part.column) for part in key.parts if part.column is not None and part.length is None]
    return key.kind in ("primary", "unique", "key") and len(parts) == len(key.parts) and \
        parts[:len(columns)] == [folded(column) for column in columns]


def _resolve_key(words: KeyWords, before: list[Key], columns: dict[str, Column]) -> Key:
    parts = tuple(_resolve_part(part, words.kind, columns) for part in words.parts)
    if words.kind == "primary":
        return Key("PRIMARY", words.kind, parts, words.visible, with_options((), words.options))
    name = words.name or _free_name(parts[0].column or "functional_index", {folded(key.name) for key in before})
    return Key(name, words.kind, parts, words.visible, with_options((), words.options))


def _resolve_part(part: KeyPart, kind: str, columns: dict[str, Column]) -> KeyPart:
    if part.column is None:
        return part
    column = columns.get(folded(part.column))
    if column is None:
        raise SchemaError(f"a key is on column {part.column}, which the table does not have")
    return replace(part, column=column.name, length=useful_prefix(part.length, column, kind))


def useful_prefix(length: int | None, column: Column, kind: str) -> int | None:
    """Return the length of a prefix in a key of this kind; None if it covers the whole column (as information_schema's
    SUB_PART shows). A POINT always has one, but in a spatial key."""
    if kind in ("fulltext", "spatial", "vector"):
        return None
    if column.type.entry.family is Family.GEOMETRY:
        return _BYTES_OF_POINT if length is None and column.type.base == "point" else length
    if column.type.base not in TEXT | BINARY:
        return None
    whole = column.type.length
    return None if length is None or (whole is not None and length >= whole) else length


def keys_again(keys: Iterable[Key], columns: Sequence[Column]) -> tuple[Key, ...]:
    """Return a table's keys as MariaDB makes them from its definition: a key over a whole geometry, which was a hash of
    it, is then one over its first bytes (seen on 10.5 and 11.8)."""
    whole = {column.name for column in columns if column.type.entry.family is Family.GEOMETRY}
    return tuple(replace(key, parts=tuple(
        replace(part, length=_BYTES_OF_GEOMETRY) if part.length is None and part.column in whole else part
        for part in key.parts)) if key.kind == "unique" else key for key in keys)


def in_server_order(keys: Iterable[Key], columns: Sequence[Column]) -> tuple[Key, ...]:
    """Sort keys as the server keeps them: the primary key, unique keys without nullable columns, other unique keys,
    plain keys, full-text keys; otherwise in the order of creation. ALTER TABLE starts from that order."""
    nullable = {column.name for column in columns if column.nullable}
    virtual = {column.name for column in columns if column.generated == "virtual"}

    def rank(key: Key) -> tuple[bool, ...]:
        unique = key.kind in ("primary", "unique")
        has_null = any(part.column is None or part.column in nullable for part in key.parts)
        has_prefix = any(part.length is not None for part in key.parts)
        is_virtual = any(part.column in virtual for part in key.parts)
        return (key.kind != "primary", not unique, unique and has_null, unique and is_virtual, unique and has_prefix,
                key.kind == "fulltext")

    return tuple(sorted(keys, key=rank))


def _free_name(column: str, taken: set[str]) -> str:
    """Name a key without a name after its first column, with _2, _3, … if that is taken, or is PRIMARY."""
    taken = taken | {"primary"}
    candidates = [column, *(f"{column}_{number}" for number in range(2, 100))]
    return next(name for name in candidates if folded(name) not in taken)
