"""Column definitions: a type, and attributes in whatever order they were written.

Source: MySQL manual, "CREATE TABLE Statement" and "Data Type Default Values"; MariaDB's "CREATE TABLE".
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import CodedText, introduced_charset
from applier.mysql.character_sets.collations import Charset
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.mysql.type_registry import TYPES
from applier.mysql.types import ColumnType
from applier.schema.checks import CheckWords, is_text, json_check
from applier.schema.ddl.constraint_grammar import parse_check, parse_references
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.schema.ddl.temporal_defaults import kept_literal
from applier.schema.ddl.type_grammar import TypeWords, parse_type, resolve_type
from applier.schema.defaults import TEMPORAL_LITERALS, is_temporal_literal, of_temporal_literal
from applier.schema.foreign_keys import ForeignKeyWords
from applier.schema.table_parts import Column, Default
from applier.schema.undecodable import in_column, shown, shown_members
from applier.sql.grammar import has_columns, is_literal
from applier.sql.literal_charsets import as_kept
from applier.sql.tokens import Token, render

_NOW = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_AFTER_A_COLUMN = (",", ")", "FIRST", "AFTER", "PARTITION", "REMOVE")
# Attributes of storage, with one value each, that change nothing about a column's values.
_STORAGE = ("COLUMN_FORMAT", "STORAGE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE")


@dataclass(slots=True)
class ColumnWords:
    """A column as written: `key` is "primary" or "unique" where the column says so itself, `references` its foreign
    key, `checks` are its CHECK constraints; `kept_default` is a default's expression as the server keeps it, where
    `default` may be its value, computed once. For system versioning: `row_time` is START or END of a column that has
    one of a row's times, `versioned` says whether its changes make versions, None if the column does not say."""

    name: str
    type: TypeWords
    nullable: bool | None = None
    default: Default | None = None
    kept_default: Default | None = None
    on_update: str | None = None
    auto_increment: bool = False
    generated: str | None = None
    expression: str | None = None
    invisible: bool = False
    comment: str = ""
    key: str | None = None
    references: ForeignKeyWords | None = None
    checks: list[CheckWords] = field(default_factory=list)
    row_time: str | None = None
    versioned: bool | None = None


def parse_column(cursor: Cursor) -> ColumnWords:
    """Parse the column definition at the cursor, up to what follows it: a comma, a parenthesis, a position (of
    ALTER)."""
    column = ColumnWords(cursor.name(), parse_type(cursor))
    if column.type.serial:
        column.nullable, column.auto_increment, column.key = False, True, "unique"
    while cursor.keyword not in _AFTER_A_COLUMN and not cursor.at_end:
        if not column.type.accept_attribute(cursor):
            _parse_attribute(cursor, column)
    return column


def _parse_attribute(cursor: Cursor, column: ColumnWords) -> None:
    if cursor.accept("NOT", "NULL"):
        column.nullable = False
    elif cursor.accept("NULL"):
        column.nullable = True
    elif cursor.accept("SERIAL", "DEFAULT", "VALUE"):
        column.nullable, column.auto_increment, column.key = False, True, "unique"
    elif cursor.accept("DEFAULT"):
        start = cursor.index
        column.default = (_literal_in_parentheses(cursor) if column.type.base == "timestamp" else None) or \
            parse_default(cursor, is_long=TYPES[column.type.base].prefix > 0)
        if column.default.kind == "expression" and cursor.context.flavour == "mariadb" \
                and not _is_one_literal(column.default.text):
            kept = cursor.sql_of(cursor.tokens[start:cursor.index])
            if kept not in (column.default.text, f"({column.default.text})"):
                column.kept_default = Default("expression", kept)
    elif cursor.accept("ON", "UPDATE"):
        column.on_update = _now(cursor)
    elif cursor.accept("AUTO_INCREMENT"):
        column.nullable, column.auto_increment = False, True
    elif cursor.accept("PRIMARY", "KEY") or cursor.accept("PRIMARY") or cursor.accept("KEY"):
        column.key = "primary"
    elif cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        column.key = column.key or "unique"
    elif cursor.accept("COMMENT"):
        column.comment = cursor.string()
    elif cursor.accept("WITH", "SYSTEM", "VERSIONING"):
        column.versioned = True
    elif cursor.accept("WITHOUT", "SYSTEM", "VERSIONING"):
        column.versioned = False
    elif cursor.accept_any("INVISIBLE", "VISIBLE"):
        column.invisible = cursor.tokens[cursor.index - 1].keyword == "INVISIBLE"
    elif cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS"):
        _parse_generated(cursor, column)
    elif cursor.accept("REFERENCES"):
        references = parse_references(cursor, None, (column.name,))
        if cursor.context.inline_references:  # otherwise they are parsed and ignored
            column.references = references
    elif cursor.ahead("CONSTRAINT") or cursor.ahead("CHECK"):
        named = cursor.accept("CONSTRAINT") and not cursor.ahead("CHECK")
        column.checks.append(parse_check(cursor, cursor.name() if named else None))
    elif cursor.accept_any(*_STORAGE):
        cursor.accept("=")
        cursor.next()
    elif not cursor.accept("NOT", "SECONDARY"):
        raise cursor.error(f"an unknown attribute of a column (column {column.name})")


def _parse_generated(cursor: Cursor, column: ColumnWords) -> None:
    if cursor.accept("ROW"):
        column.row_time, column.nullable = cursor.accept_any("START", "END"), False
        if column.type.base != "timestamp":
            raise cursor.error("system versioning by transaction numbers cannot be replayed")
        return
    column.expression = cursor.expression()
    word = cursor.accept_any("VIRTUAL", "STORED", "PERSISTENT")
    column.generated = "stored" if word in ("STORED", "PERSISTENT") else "virtual"


def parse_default(cursor: Cursor, *, is_long: bool = False) -> Default:
    """Parse the words after DEFAULT; `is_long`: of a TEXT or BLOB column. MariaDB keeps the literals of such a column,
    and expressions with columns, as text that it reads again; it computes other expressions once."""
    start = cursor.index
    default = _default(cursor)
    if cursor.context.flavour == "mysql" or default.kind not in ("string", "expression"):
        return default
    tokens = cursor.tokens[start:cursor.index]
    kept, once = cursor.sql_of(tokens), cursor.constant_of(tokens)
    if kept == once or (default.kind == "string" and not is_long):
        return default
    literal = as_kept(tokens, cursor.context.charsets, keeps_wide=cursor.context.keeps_wide)[-1]
    if default.kind == literal.kind == "string":
        return Default("string", literal.text)
    return Default("expression", kept if is_long or has_columns(kept) else once)


def _default(cursor: Cursor) -> Default:
    if cursor.accept("NULL"):
        return Default("null")
    if word := cursor.accept_any("TRUE", "FALSE"):
        return Default("number", "1" if word == "TRUE" else "0")
    if cursor.ahead("("):
        return Default("expression", cursor.expression())
    sign = cursor.accept_any("+", "-")
    token = cursor.token
    if token.kind == "number":
        cursor.next()
        return Default("number", ("-" if sign == "-" else "") + token.text)
    if token.kind == "bytes":
        cursor.next()
        if cursor.context.flavour == "mariadb" and not token.is_number:  # text where a number is needed
            return Default("expression", token.render())
        return Default("bytes", token.text)
    if token.kind == "string":
        return _text_default(cursor.literal(), cursor)
    if cursor.keyword in _NOW:
        return Default("now", _now(cursor))
    return _parse_default_words(cursor)


def _literal_in_parentheses(cursor: Cursor) -> Default | None:
    """Return a literal that MariaDB keeps as if it had no parentheses: a TIMESTAMP in the time zone of the
    statement."""
    if cursor.context.flavour == "mysql" or not cursor.ahead("("):
        return None
    start = cursor.index
    cursor.expect("(")
    with suppress(SchemaError):
        default = _literal_in_parentheses(cursor) or _default(cursor)
        if cursor.accept(")") and (default.kind in ("string", "number", "bytes") or _is_one_literal(default.text)):
            return default
    cursor.index = start
    return None


def _is_one_literal(sql: str) -> bool:
    return is_literal(sql) or is_temporal_literal(sql)


def _temporal_default(word: Token, cursor: Cursor) -> Default:
    """Return a literal with its type, which counts in columns of numbers and times; MySQL's dates are their text."""
    text = cursor.string()
    if cursor.context.flavour == "mysql" and word.keyword != "TIME":
        return Default("string", text)
    return Default("expression", render([word, Token("string", text, 0, 0)]))


def _text_default(text: str, cursor: Cursor) -> Default:
    is_null = not text and "EMPTY_STRING_IS_NULL" in cursor.context.sql_mode
    return Default("null") if is_null else Default("string", text)


def _parse_default_words(cursor: Cursor) -> Default:
    """Parse literals with a word in front, and what MariaDB takes without parentheses: functions and columns."""
    start = cursor.index
    word = cursor.next()
    if word.text == "{" and cursor.keyword in ("D", "T", "TS"):
        word = word._replace(kind="word", text={"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}[cursor.next().keyword])
        default = _temporal_default(word, cursor)
        cursor.expect("}")
        return default
    if word.keyword in TEMPORAL_LITERALS and cursor.token.kind == "string":
        return _temporal_default(word, cursor)
    if word.text.startswith("_") and cursor.token.kind in ("string", "bytes"):
        token, charset = cursor.next(), introduced_charset(word.text)
        if token.kind == "bytes" and charset is None:
            return Default("expression", render([word, token]))
        if token.kind == "string" or charset is None:
            return _text_default(token.text, cursor)
        return Default("string", CodedText(bytes.fromhex(token.text), charset))
    while cursor.accept("."):
        cursor.next()
    if cursor.ahead("("):
        cursor.parenthesised()
    elif word.keyword not in ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_USER", "CURRENT_ROLE"):
        column = cursor.tokens[cursor.index - 1]
        if cursor.context.flavour == "mysql" or column.kind not in ("word", "name"):
            raise cursor.error("an unknown kind of default value", word)
        return Default("expression", render([column]))
    return Default("expression", cursor.sql_of(cursor.tokens[start:cursor.index]))


def _now(cursor: Cursor) -> str:
    """Parse CURRENT_TIMESTAMP or one of its synonyms, with its precision."""
    if not cursor.accept_any(*_NOW):
        raise cursor.error("CURRENT_TIMESTAMP was expected")
    precision = render(cursor.parenthesised()) if cursor.ahead("(") else ""
    return f"CURRENT_TIMESTAMP({precision})" if precision not in ("", "0") else "CURRENT_TIMESTAMP"


def resolve_column(words: ColumnWords, table: Charset, context: StatementContext, *, in_primary_key: bool) -> Column:
    """Return the column that the server makes of the words, in a table with that character set."""
    try:
        column_type = resolve_type(words.type, table, context.default_collations)
    except KeyError as error:
        raise SchemaError(f"column {words.name} has the unknown character set {error}") from None
    nullable = words.nullable is not False and not in_primary_key
    default = resolve_default(words.default, column_type, context)
    column_type = replace(column_type, members=shown_members(column_type.members, column_type.charset, context.flavour))
    return Column(words.name, column_type, nullable, default, words.on_update, words.auto_increment, words.generated,
                  words.expression, words.invisible, shown(words.comment), check=_own_check(words, context))


def _own_check(words: ColumnWords, context: StatementContext) -> str | None:
    """Return the constraint that belongs to the column, in MariaDB; its type JSON is one."""
    if context.flavour != "mariadb" or not context.keeps_checks:
        return None
    if words.checks:
        return words.checks[-1].expression if is_text(words.checks[-1].expression) else None
    return json_check(words.name) if words.type.is_json else None


def resolve_default(default: Default | None, column_type: ColumnType, context: StatementContext) -> Default | None:
    """Return the default as a definition keeps it."""
    if context.flavour == "mysql" and default == Default("string") and (
            column_type.entry.prefix or column_type.base == "vector"):
        return None  # the server warns and ignores it
    if default is not None and default.kind == "expression":
        default = of_temporal_literal(default, column_type, Session(context.flavour, context.sql_mode))
    default = in_column(default, column_type)
    return None if default is None else kept_literal(default, column_type, context)


def old_timestamps(columns: list[ColumnWords]) -> set[str]:
    """Add the effects of explicit_defaults_for_timestamp=OFF: TIMESTAMP is NOT NULL unless it says NULL, and has a
    default. Returns the names, folded, of the columns that name no default: `with_first_timestamp` gives the first one
    another.

    Source: MySQL 5.7 manual, "explicit_defaults_for_timestamp".
    """
    silent = set()
    for column in columns:
        given = column.generated or column.row_time
        if column.type.base == "timestamp" and not given and not column.nullable:
            column.nullable = False
            if (column.default is None or column.default.kind == "null") and column.on_update is None:
                column.default = Default("string", "0000-00-00 00:00:00")
                silent.add(folded(column.name))
    return silent


def with_first_timestamp(columns: list[Column], silent: set[str]) -> list[Column]:
    """Return a table's columns; its first TIMESTAMP is set to the current time where its words say nothing."""
    first = next((column for column in columns if column.type.base == "timestamp" and not column.generated), None)
    if first is None or folded(first.name) not in silent:
        return columns
    now = "CURRENT_TIMESTAMP" + (f"({first.type.fsp})" if first.type.fsp else "")
    made = replace(first, default=Default("now", now), on_update=now)
    return [made if column is first else column for column in columns]
