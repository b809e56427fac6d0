"""CREATE TABLE: columns, keys and options become a table definition.

Source: MySQL manual, "CREATE TABLE Statement"; MariaDB's "CREATE TABLE". sqlglot's parser is not used here: it refuses
POINT columns, INET6, COMPRESSED, FLOAT UNSIGNED and more, and forgets FLOAT(24), CHAR BYTE and what keys say.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import label_bytes
from applier.mysql.character_sets.collations import (
    DEFAULT,
    Charset,
    charset_name,
    charset_of,
    collation_in,
    collation_name,
    with_default,
)
from applier.mysql.names import folded
from applier.schema.checks import CheckWords, resolve_checks
from applier.schema.ddl.column_grammar import (
    ColumnWords,
    old_timestamps,
    parse_column,
    resolve_column,
    with_first_timestamp,
)
from applier.schema.ddl.constraint_grammar import option_value, parse_check, parse_foreign_key
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.schema.ddl.key_grammar import KeyWords, accept_key, parse_key, resolve_keys
from applier.schema.ddl.partition_grammar import parse_partitioning
from applier.schema.ddl.versioned_tables import created_versioning, hidden_columns, parse_period
from applier.schema.definition import SEQUENCE, TableDefinition
from applier.schema.engines import engine_name, has_foreign_keys
from applier.schema.foreign_keys import ForeignKeyWords, resolve_foreign_keys
from applier.schema.partitions import Partitioning
from applier.schema.table_options import TABLE_OPTIONS, with_options
from applier.schema.table_parts import Column, KeyPart

_WITHOUT_CHARSET = frozenset({"ANSI", "DB2", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_TABLE_OPTIONS", "ORACLE",
                              "POSTGRESQL"})
"""The sql_modes of MariaDB in which the server shows a table without its character set."""


@dataclass(slots=True)
class TableWords:
    """The text between a CREATE TABLE's parentheses, and the options after them."""

    columns: list[ColumnWords] = field(default_factory=list)
    keys: list[KeyWords] = field(default_factory=list)
    foreign_keys: list[ForeignKeyWords] = field(default_factory=list)
    checks: list[CheckWords] = field(default_factory=list)
    charset: str | None = None
    collation: str | None = None
    engine: str | None = None
    auto_increment: int | None = None
    partitioning: Partitioning | None = None
    versioned: bool = False
    sequence: bool = False
    selects: bool = False
    options: list[tuple[str, str]] = field(default_factory=list)


def parse_table(cursor: Cursor) -> TableWords:
    """Parse everything after the name in a CREATE TABLE that is not LIKE; SchemaError where the grammar is unknown."""
    table = TableWords()
    if cursor.ahead("(") and not cursor.ahead("(", "SELECT") and not cursor.ahead("(", "WITH"):
        cursor.expect("(")
        parse_item(cursor, table)
        while cursor.accept(","):
            parse_item(cursor, table)
        cursor.expect(")")
    _parse_options(cursor, table)
    return table


def parse_item(cursor: Cursor, table: TableWords) -> None:
    """Parse a column, a key or a constraint."""
    constraint = None
    if cursor.accept("CONSTRAINT") and cursor.keyword not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        constraint = cursor.name()
    if cursor.ahead("PERIOD", "FOR"):
        parse_period(cursor)
    elif cursor.ahead("CHECK"):
        table.checks.append(parse_check(cursor, constraint))
    elif cursor.accept("FOREIGN", "KEY"):
        table.foreign_keys.append(parse_foreign_key(cursor, constraint))
    elif kind := accept_key(cursor):
        table.keys.append(parse_key(cursor, kind, constraint))
    elif cursor.accept("LIKE"):
        raise cursor.error("LIKE stands alone")
    else:
        column = parse_column(cursor)
        table.columns.append(column)
        if column.key:
            table.keys.append(KeyWords(column.key, None, [KeyPart(column.name)]))
        if cursor.context.flavour == "mysql":
            table.checks += column.checks
        if column.references is not None:
            table.foreign_keys.append(column.references)


def _parse_options(cursor: Cursor, table: TableWords) -> None:
    """Parse table options, partitions, and the beginning of a CREATE … SELECT."""
    while not cursor.at_end:
        if cursor.accept("START", "TRANSACTION") or cursor.accept(","):
            continue  # MySQL logs CREATE … SELECT so: the rows follow as events of the same group
        if cursor.keyword in ("AS", "SELECT", "IGNORE", "REPLACE", "VALUES", "TABLE", "("):
            table.selects = True
            return
        if cursor.accept("PARTITION", "BY"):
            table.partitioning = parse_partitioning(cursor)
        elif cursor.ahead("WITH"):
            if not cursor.accept("WITH", "SYSTEM", "VERSIONING"):
                table.selects = True  # a common table expression
                return
            table.versioned = True
        elif not parse_charset(cursor, table):
            parse_option(cursor, table)


def parse_charset(cursor: Cursor, target: TableWords) -> bool:
    """Parse [DEFAULT] CHARACTER SET [=] x or [DEFAULT] COLLATE [=] x, of a table or a database. Return whether there
    was one."""
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


def parse_option(cursor: Cursor, table: TableWords) -> None:
    """Parse one table option into `table`, where options that are not kept are left out. Raises SchemaError if it is
    none."""
    word = cursor.next()
    if word.keyword in ("DATA", "INDEX"):
        cursor.expect("DIRECTORY")
    if word.kind not in ("word", "name"):
        raise cursor.error("a table option was expected", word)
    cursor.accept("=")
    if word.keyword in ("ENGINE", "TYPE"):
        table.engine = engine_name(cursor.word_or_string())
    elif word.keyword == "SEQUENCE":
        table.sequence = cursor.next().text.upper() in ("1", "YES")
    elif word.keyword == "AUTO_INCREMENT":
        table.auto_increment = cursor.number()
    elif (name := word.text.upper()) in TABLE_OPTIONS:
        table.options.append((name, option_value(cursor, name, TABLE_OPTIONS)))
    elif cursor.ahead("("):
        cursor.parenthesised()
    else:
        cursor.next()


def charset_of_words(words: TableWords, inherited: Charset, above: Charset, context: StatementContext) -> Charset:
    """Return the default character set that the words name, else the inherited one; KeyError if it is unknown. `above`
    is that of the table's database, or the server's, which MariaDB's CHARACTER SET DEFAULT means."""
    if words.charset == DEFAULT:
        found = context.named_default(above)
    elif words.collation == DEFAULT and not words.charset and not context.compiled_defaults:
        return above
    else:
        charset = words.charset or (words.collation and charset_of(words.collation))
        found = with_default(charset, context.default_collations) if charset else inherited
    if words.collation == DEFAULT:
        return with_default(found.charset, context.default_collations) if words.charset != DEFAULT else found
    return Charset(found.charset, collation_in(found.charset, words.collation)) if words.collation else found


def resolve_table(words: TableWords, database: str, name: str, context: StatementContext) -> TableDefinition:
    """Return the definition that the server makes of the words: inherited character sets, NOT NULL keys, names of
    keys."""
    try:
        inherited = context.database_charset(database)
        charset = charset_of_words(words, inherited, inherited, context)
    except KeyError as error:
        raise SchemaError(f"the table has the unknown character set {error}") from None
    silent = set() if context.explicit_timestamps else old_timestamps(words.columns)
    primary = {folded(part.column)
               for key in words.keys if key.kind == "primary" for part in key.parts if part.column}
    columns = tuple(with_first_timestamp(
        [resolve_column(column, charset, context, in_primary_key=folded(column.name) in primary)
         for column in words.columns], silent))
    check_labels(columns, context)
    versioning = created_versioning(words.columns, all_are=words.versioned)
    columns += hidden_columns(versioning)
    foreign, indexed = (words.foreign_keys, []) if has_foreign_keys(words.engine) else ([], words.foreign_keys)
    keys = resolve_keys(words.keys, (), columns, indexed)
    checks = resolve_checks(words.checks, (), name, context.flavour) if context.keeps_checks else ()
    return TableDefinition(database, name, columns, keys, charset.charset, charset.collation,
                           SEQUENCE if words.sequence else words.engine,
                           context.flavour, resolve_foreign_keys(foreign, (), database, name),
                           words.partitioning, versioning, words.auto_increment or 1, checks,
                           with_options((), words.options), _may_lack_charsets(words, database, context))


def check_labels(columns: Iterable[Column], context: StatementContext) -> None:
    """Raise SchemaError for an ENUM or SET that has a label twice, as MySQL does in strict mode whenever it writes a
    definition (seen on 9.7): a replica may read labels that the source distinguishes as question marks. Labels of
    different bytes, which CONVERT TO CHARACTER SET leaves, are not the same."""
    if context.flavour != "mysql" or "STRICT" not in context.sql_mode:
        return
    for column in columns:
        known = set[bytes]()
        for label in column.type.members:
            data = label_bytes(label, column.type.charset or "utf8mb4")
            if data in known:
                raise SchemaError(f"column {column.name}, {column.type.base.upper()}, has the value {label!r} twice",
                                  errno=_EQUAL_LABELS)
            known.add(data)


_EQUAL_LABELS = 1291


def _may_lack_charsets(words: TableWords, database: str, context: StatementContext) -> bool:
    """Return whether this may be a CREATE TABLE … SELECT of MariaDB's, logged in a sql_mode in which that does not name
    the table's character set, and in some its columns'. Replicas take the database's, and text as the bytes that the
    log has (seen on 10.11). Where the database's is not known, the log's columns still have to agree with the guess."""
    return (context.flavour == "mariadb" and database in context.databases and words.charset is None
            and words.collation is None and not _WITHOUT_CHARSET.isdisjoint(context.sql_mode.split(",")))
