"""The limits of servers on a table's definition, checked wherever one is made: parsed, loaded, or derived from others.

Definitions come from logs, dumps and manifests, which anybody may have written, and go into SQL for a client. So text
that is printed unquoted is a plain word, a number, or an expression that ends where it should; and quoted text is text.
Source: MySQL manual, "Schema Object Names" and "Identifier Length Limits"; MariaDB's "Identifier Names".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from applier.errors import SchemaError
from applier.io.printable import printable
from applier.mysql.types import BASES, ColumnType
from applier.schema.foreign_keys import ForeignKey
from applier.schema.partitions import PARTITION_OPTIONS, Partitioning
from applier.schema.table_options import KEY_OPTIONS, NAME, NUMBER, TABLE_OPTIONS, TEXT, Options
from applier.schema.table_parts import Column, Key, TableParts
from applier.schema.versioning import Versioning
from applier.sql.tokens import tokenize

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]{1,20}")
_BYTES = re.compile(r"(?:[0-9a-f]{2})*")
_NOW = re.compile(r"CURRENT_TIMESTAMP(?:\([0-9]\))?")
_ROTATION = re.compile(r"|LIMIT [0-9]+|INTERVAL .+")
_LONGEST_NAME = 64
_OLD_NAME = "#mysql50#"
"""The prefix of names that a server before 5.1 encoded; it does not count."""
_SIGNS = frozenset("(),.+-*/%&|^~!=<>@:{}?[]")
"""The signs that an expression may contain. No ";" and no "\\", after which a client would read commands."""
_METHODS = frozenset({"RANGE", "LIST", "RANGE COLUMNS", "LIST COLUMNS", "HASH", "LINEAR HASH", "KEY", "LINEAR KEY",
                      "SYSTEM_TIME", ""})
_KEYS = frozenset({"primary", "unique", "key", "fulltext", "spatial", "vector"})
_ACTIONS = frozenset({"CASCADE", "SET NULL", "RESTRICT"})
_DEFAULTS = frozenset({"null", "string", "local", "number", "bytes", "now", "expression"})


def is_word(text: Any) -> bool:
    """Return whether a text is a word of ASCII letters, digits and "_", as names of engines, character sets and
    collations are."""
    return isinstance(text, str) and _WORD.fullmatch(text) is not None


def check_definition(table: TableParts) -> None:
    """Raise SchemaError if no server has such a table, naming the part that is wrong."""
    try:
        _table(table)
    except SchemaError as error:
        raise error.at(table=f"{table.database}.{table.name}") from None


def check_word(text: str | None, what: str) -> None:
    """Raise SchemaError unless the value is None or a plain word."""
    if text is not None and not is_word(text):
        raise _refused(what, text)


def check_name(name: str, what: str) -> None:
    """Raise SchemaError unless servers accept the name for a database, a table or a part of one."""
    check_text(name, what)
    if not name or "\0" in name or len(name.removeprefix(_OLD_NAME)) > _LONGEST_NAME:
        raise _refused(what, name)


def check_text(text: str, what: str) -> None:
    """Raise SchemaError unless the value is a string without undecodable bytes."""
    if not isinstance(text, str):
        raise _refused(what, text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SchemaError(f"{what} has bytes that are not text: {_shown(text)}") from None


def check_sql(text: str, what: str, flavour: str) -> None:
    """Raise SchemaError unless the SQL is one expression or a list of them: without comments, and not ending inside a
    literal or parentheses, or continuing after them."""
    check_text(text, what)
    depth, end = 0, 0
    if "\0" in text:
        raise _refused(what, text)
    try:
        tokens = tokenize(text, flavour=flavour)
    except SchemaError:
        raise _refused(what, text) from None
    for number, token in enumerate(tokens):
        between, end = text[end:token.start], token.end
        if between.strip(" "):
            raise _refused(what, text)
        if token.kind != "sign":
            continue
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        is_null = token.text == "\\" and tokens[number + 1].text == "N" and tokens[number + 1].start == token.end
        if depth < 0 or not (token.text in _SIGNS or is_null or "\x9f" < token.text < "\ufffe"):
            raise _refused(what, text)
    if depth:
        raise _refused(what, text)


def _table(table: TableParts) -> None:
    check_name(table.database, "the name of a database")
    check_name(table.name, "the name of a table")
    check_word(table.charset, "a character set")
    check_word(table.collation, "a collation")
    check_word(table.engine, "a storage engine")
    _number(table.first_number, "AUTO_INCREMENT")
    if table.flavour not in ("mysql", "mariadb"):
        raise _refused("a kind of server", table.flavour)
    for column in table.columns:
        _column(column, table.flavour)
    for key in table.keys:
        _key(key, table.flavour)
    for foreign_key in table.foreign_keys:
        _foreign_key(foreign_key)
    for check in table.checks:
        check_text(check.name, "the name of a constraint")  # names that servers make may be longer
        check_sql(check.expression, "a constraint", table.flavour)
        _one_of(check.enforced, (False, True), "a constraint")
    _options(table.options, TABLE_OPTIONS, "an option of a table")
    if table.partitioning is not None:
        _partitioning(table.partitioning, table.flavour)
    if table.versioning is not None:
        _versioning(table.versioning)


def _column(column: Column, flavour: str) -> None:
    check_name(column.name, "the name of a column")
    _type(column.type)
    check_text(column.comment, "a comment")
    _one_of(column.generated, (None, "stored", "virtual"), "a kind of generated column")
    if column.expression is not None:
        check_sql(column.expression, "an expression", flavour)
    if column.check is not None:
        check_sql(column.check, "a constraint", flavour)
    if column.on_update is not None:
        _match(_NOW, column.on_update, "ON UPDATE")
    if (default := column.default) is None:
        return
    _one_of(default.kind, _DEFAULTS, "a kind of default")
    if default.kind == "expression":
        check_sql(default.text, "a default", flavour)
    elif default.kind in _PATTERNS:
        _match(_PATTERNS[default.kind], default.text, "a default")
    else:
        check_text(default.text, "a default")


_PATTERNS = {"number": _NUMBER, "bytes": _BYTES, "now": _NOW}
"""The form of a default's text, by its kind."""


def _type(column_type: ColumnType) -> None:
    _one_of(column_type.base, BASES, "a data type")
    check_word(column_type.charset, "a character set")
    check_word(column_type.collation, "a collation")
    for number in (column_type.length, column_type.precision, column_type.scale, column_type.fsp, column_type.srid):
        if number is not None:
            _number(number, "a data type")
    for flag in (column_type.unsigned, column_type.zerofill, column_type.compressed):
        _one_of(flag, (False, True), "a data type")
    for member in column_type.members:
        check_text(member, "a member of ENUM or SET")


def _key(key: Key, flavour: str) -> None:
    check_name(key.name, "the name of a key")
    _one_of(key.kind, _KEYS, "a kind of key")
    for part in key.parts:
        if part.column is not None:
            check_name(part.column, "the name of a column")
        elif part.expression is not None:
            check_sql(part.expression, "an expression", flavour)
        else:
            raise SchemaError("a key's part is neither a column nor an expression")
        if part.length is not None:
            _number(part.length, "a prefix")
        _one_of(part.descending, (False, True), "an order")
    _options(key.options, KEY_OPTIONS, "an option of a key")


def _options(options: Options, kinds: Mapping[str, str], what: str) -> None:
    for name, value in options:
        _one_of(name, kinds, what)
        if kinds[name] == TEXT:
            check_text(value, what)
        elif kinds[name] == NAME:
            check_name(value, what)
        else:
            _match(_DIGITS if kinds[name] == NUMBER else _WORD, value, what)


def _foreign_key(key: ForeignKey) -> None:
    check_text(key.name, "the name of a foreign key")  # names that servers make may be longer
    for name in (*key.columns, key.database, key.table, *key.referenced):
        check_name(name, "a name")
    for action in (key.on_delete, key.on_update):
        _one_of(action, _ACTIONS, "an action of a foreign key")


def _partitioning(by: Partitioning, flavour: str) -> None:
    _one_of(by.method, _METHODS, "a way of partitioning")
    if by.method == "SYSTEM_TIME":
        _match(_ROTATION, by.expression, "a way of partitioning")
    for sql in (by.expression, by.subpartition_by, by.other):
        if sql:
            check_sql(sql, "partitioning", flavour)
    for name in by.columns:
        check_name(name, "the name of a column")
    for number in (by.start, by.step):
        if number is not None:
            _number(number, "partitioning")
    for partition in by.partitions:
        for name in (partition.name, *partition.subpartitions):
            check_name(name, "the name of a partition")
        for option, value in (pair for options in partition.options for pair in options):
            _one_of(option, PARTITION_OPTIONS, "an option of a partition")
            if PARTITION_OPTIONS[option] is str:
                _match(_DIGITS, value, "an option of a partition")
            else:
                check_text(value, "an option of a partition")
        for value in (sql for row in partition.values for sql in row):
            check_sql(value, "a partition's values", flavour)


def _versioning(versioning: Versioning) -> None:
    for name in (versioning.row_start, versioning.row_end, *versioning.without):
        check_name(name, "the name of a column")


def _number(number: Any, what: str) -> None:
    if type(number) is not int:
        raise _refused(what, number)


def _match(pattern: re.Pattern[str], text: Any, what: str) -> None:
    if not isinstance(text, str) or pattern.fullmatch(text) is None:
        raise _refused(what, text)


def _one_of(value: Any, allowed: Any, what: str) -> None:
    if value not in allowed:
        raise _refused(what, value)


def _refused(what: str, value: Any) -> SchemaError:
    return SchemaError(f"{what} has an invalid value: {_shown(value)}",
                       hint="the log, the dump or the manifest is damaged, or was not written by a server; "
                            "--ignore-tables leaves the table out")


def _shown(value: Any) -> str:
    text = printable(str(value))
    return repr(text if len(text) <= 80 else text[:79] + "…")
