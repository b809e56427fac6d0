"""Parses statements of a log or a schema file to schema changes: the first words select the grammar for the rest."""

from collections.abc import Mapping
from dataclasses import replace

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import ClientCharsets
from applier.mysql.character_sets.collations import DEFAULT, DEFAULT_COLLATIONS, Charset, with_default
from applier.schema.allowed import check_word
from applier.schema.ddl.alter_actions import IgnoreConflicts
from applier.schema.ddl.alter_grammar import parse_actions
from applier.schema.ddl.create_table import TableWords, charset_of_words, parse_charset, parse_table, resolve_table
from applier.schema.ddl.cursor import Cursor, StatementContext
from applier.schema.ddl.dml import DML, parse_dml
from applier.schema.ddl.index_grammar import parse_create_index, parse_drop_index
from applier.schema.ddl.object_names import named_objects, object_names, stored_objects
from applier.schema.ddl.schema_changes import (
    AlterDatabase,
    AlterTable,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    DropDatabase,
    DropTable,
    Ignored,
    Other,
    RenameTables,
    SchemaChange,
    SessionChange,
    TableName,
    TruncateTable,
)
from applier.schema.definition import SEQUENCE, TableDefinition
from applier.sql.literal_charsets import introduced
from applier.sql.tokens import Token, tokenize

# Objects of CREATE, ALTER and DROP besides tables, indexes, sequences and databases.
_OBJECTS = frozenset({
    "VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "USER", "ROLE", "SERVER", "TABLESPACE", "LOGFILE", "PACKAGE",
    "RESOURCE", "REFERENCE", "INSTANCE", "LIBRARY", "PREPARE", "CATALOG",
})
# Statements about sessions, transactions, accounts and the server itself.
_NO_TABLES = frozenset({
    "SET", "FLUSH", "ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "CHECKSUM", "GRANT", "REVOKE", "LOCK", "UNLOCK",
    "INSTALL", "UNINSTALL", "SHUTDOWN", "RESET", "PURGE", "XA", "SAVEPOINT", "RELEASE", "BEGIN", "COMMIT", "ROLLBACK",
    "START", "STOP", "CHANGE", "KILL", "CACHE", "SHOW", "DESCRIBE", "EXPLAIN", "BACKUP", "CLONE", "RESTART", "SIGNAL",
    "DEALLOCATE", "PREPARE", "GET", "HELP",
})


def parse_statement(
    sql: str,
    *,
    default_database: str | None = None,
    sql_mode: str = "",
    flavour: str = "mysql",
    server_charset: Charset | str | None = None,
    databases: Mapping[str, Charset] | None = None,
    time_zone: str = "+00:00",
    explicit_timestamps: bool = True,
    default_collations: Mapping[str, str] | None = None,
    rewrites: Mapping[str, str] | None = None,
    inline_references: bool = False,
    keeps_checks: bool = True,
    compiled_defaults: bool = True,
    sorts_descending: bool = True,
    keeps_wide: bool = True,
    timestamp_us: int = 0,
    folds_names: bool = False,
    charsets: ClientCharsets | None = None,
    foreign_key_checks: bool = True,
    lc_time_names: int = 0,
    check_constraint_checks: bool = True,
    database_tokens: set[Token] | None = None,
) -> list[SchemaChange]:
    """Return the changes that one statement makes, in order; an empty list for comments only.

    `server_charset` and `databases` are what a table inherits its character set from; `time_zone` is the zone of
    TIMESTAMP defaults, `explicit_timestamps` the server's explicit_defaults_for_timestamp, `default_collations` the
    collations of character sets that are named without one, if not the usual ones. `rewrites` has other names for
    databases, the default one and those that the statement names (AP-FILT); `inline_references`, `keeps_checks`,
    `compiled_defaults`, `sorts_descending` and `keeps_wide` depend on the server's version and are, like `folds_names`
    and `timestamp_us`, as in StatementContext; `charsets` are the character sets of literals, by default UTF-8;
    `foreign_key_checks`, `lc_time_names` and `check_constraint_checks` are what its session says; `database_tokens`
    gets the tokens that name a database. A CREATE TABLE that cannot be parsed becomes `Other` with the reason, so that
    the caller can decide whether it matters; text that is not even a statement (an open quote, no table's name) raises
    SchemaError.
    """
    defaults = DEFAULT_COLLATIONS[flavour] | dict(default_collations or {})
    if not isinstance(server_charset, Charset):
        server_charset = with_default(server_charset or "utf8mb4", defaults)
    rewrites = rewrites or {}
    context = StatementContext(flavour, sql_mode, None, server_charset, databases or {}, time_zone,
                               explicit_timestamps, defaults, rewrites, inline_references, keeps_checks,
                               compiled_defaults, sorts_descending, keeps_wide, timestamp_us, folds_names,
                               charsets or ClientCharsets(), foreign_key_checks, lc_time_names,
                               check_constraint_checks)
    if default_database is not None:
        context = replace(context, default_database=context.database_named(default_database))
    tokens = introduced(tokenize(sql, sql_mode=sql_mode, flavour=flavour), sql, context.charsets)
    cursor = Cursor(tokens, context, database_tokens)
    if cursor.at_end:
        return []
    if cursor.accept("SET", "STATEMENT"):  # MariaDB: variables for one statement
        while not cursor.accept("FOR"):
            cursor.next()
    return [_parse(cursor, sql)]


def _parse(cursor: Cursor, sql: str) -> SchemaChange:
    word = cursor.keyword
    if word in _DDL:
        return _DDL[word](cursor, sql)
    if word == "LOAD" and cursor.ahead("LOAD", "INDEX"):
        return Ignored("LOAD INDEX")
    if word in DML or word == "(":
        return parse_dml(cursor, sql)
    if cursor.accept("USE"):
        return SessionChange(database=cursor.context.named(cursor.name()))
    if cursor.accept("SET"):
        return _set(cursor)
    if word in _NO_TABLES:
        names = named_objects(cursor)
        return Ignored(word, names, options=tuple(token.keyword for token in cursor.tokens[cursor.index:]))
    return Other(word or cursor.token.text, None, sql, "an unknown statement")


def _create(cursor: Cursor, sql: str) -> SchemaChange:
    cursor.expect("CREATE")
    or_replace = cursor.accept("OR", "REPLACE")
    if cursor.accept("TEMPORARY", "TABLE") or cursor.accept("TEMPORARY", "SEQUENCE"):
        return Ignored("CREATE TEMPORARY TABLE")
    if cursor.accept("TABLE"):
        return _create_table(cursor, sql, or_replace)
    if cursor.accept_any("DATABASE", "SCHEMA"):
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        name = cursor.database_name()
        return CreateDatabase(name, _database_charset(cursor, cursor.context.server), if_not_exists, or_replace)
    if cursor.accept("SEQUENCE"):
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        definition = TableDefinition(*cursor.table_name(), (), engine=SEQUENCE, flavour=cursor.context.flavour)
        return CreateTable(definition, if_not_exists, or_replace)
    if index := parse_create_index(cursor):
        return AlterTable(index[0], (index[1],), cursor.context)
    return _object("CREATE", cursor, sql)


def _create_table(cursor: Cursor, sql: str, or_replace: bool) -> SchemaChange:
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    database, name = cursor.table_name()
    bracket = cursor.accept("(", "LIKE")
    if bracket or cursor.accept("LIKE"):
        return CreateTableLike((database, name), cursor.table_name(), if_not_exists, or_replace,
                               cursor.context)
    try:
        words = parse_table(cursor)
        if words.selects:
            raise SchemaError("CREATE TABLE … SELECT as a statement: its rows are not in the log")
        definition = resolve_table(words, database, name, cursor.context)
    except SchemaError as error:
        return Other("CREATE TABLE", ((database, name),), sql, error.message, creates=True)
    return CreateTable(definition, if_not_exists, or_replace, words.charset in (None, DEFAULT)
                       and words.collation in (None, DEFAULT))


def _database_charset(cursor: Cursor, inherited: Charset) -> Charset:
    words = TableWords()
    while not cursor.at_end:
        if not parse_charset(cursor, words):
            cursor.next()  # ENCRYPTION = 'N', COMMENT 'x', READ ONLY = 1
    try:
        above = cursor.context.server if cursor.context.compiled_defaults else inherited
        found = charset_of_words(words, inherited, above, cursor.context)
    except KeyError as error:
        raise cursor.error(f"the character set {error} is not known") from None
    check_word(found.collation, "a collation")
    return found


def _alter(cursor: Cursor, sql: str) -> SchemaChange:
    cursor.expect("ALTER")
    if cursor.accept_any("DATABASE", "SCHEMA"):
        name = cursor.context.default_database if _at_charset(cursor) else cursor.database_name()
        if name is None:
            raise cursor.error("there is no default database")
        return AlterDatabase(name, _database_charset(cursor, cursor.context.database_charset(name)))
    ignores = False
    while word := cursor.accept_any("ONLINE", "OFFLINE", "IGNORE"):
        ignores |= word == "IGNORE"
    if cursor.accept("SEQUENCE"):
        return Ignored("ALTER SEQUENCE", object_names(cursor, "ALTER", "SEQUENCE"))
    if cursor.accept("TABLE"):
        cursor.accept("IF", "EXISTS")
        table = cursor.table_name()
        sorts = cursor.has_behind("ORDER", "BY")
        try:
            actions = parse_actions(cursor)
            if ignores:
                actions += (IgnoreConflicts(cursor.context.check_constraint_checks, sorts),)
            return AlterTable(table, actions, cursor.context)
        except SchemaError as error:
            return Other("ALTER TABLE", (table,), sql, error.message)
    return _object("ALTER", cursor, sql)


def _at_charset(cursor: Cursor) -> bool:
    """Return whether an ALTER DATABASE continues with a character set, without a name."""
    start = cursor.index
    found = parse_charset(cursor, TableWords())
    cursor.index = start
    return found


def _drop(cursor: Cursor, sql: str) -> SchemaChange:
    cursor.expect("DROP")
    if cursor.accept("TEMPORARY"):
        return Ignored("DROP TEMPORARY TABLE")
    if cursor.accept_any("TABLE", "TABLES"):
        cursor.accept("IF", "EXISTS")
        return DropTable(_table_names(cursor))
    if cursor.accept_any("DATABASE", "SCHEMA"):
        cursor.accept("IF", "EXISTS")
        return DropDatabase(cursor.database_name())
    if cursor.accept("SEQUENCE"):
        cursor.accept("IF", "EXISTS")
        return DropTable(_table_names(cursor))
    if index := parse_drop_index(cursor):
        return AlterTable(index[0], (index[1],), cursor.context)
    return _object("DROP", cursor, sql)


def _truncate(cursor: Cursor, sql: str) -> SchemaChange:
    cursor.expect("TRUNCATE")
    cursor.accept("TABLE")
    return TruncateTable(cursor.table_name())


def _rename(cursor: Cursor, sql: str) -> SchemaChange:
    cursor.expect("RENAME")
    if not cursor.accept_any("TABLE", "TABLES"):
        return Ignored("RENAME USER")
    cursor.accept("IF", "EXISTS")
    pairs = []
    while True:
        old = cursor.table_name()
        while not cursor.accept("TO"):
            cursor.next()  # WAIT n, NOWAIT
        pairs.append((old, cursor.table_name()))
        if not cursor.accept(","):
            return RenameTables(tuple(pairs))


def _object(verb: str, cursor: Cursor, sql: str) -> SchemaChange:
    """Parse CREATE, ALTER or DROP of an object other than a table: DEFINER, ALGORITHM and other words may stand before
    its kind."""
    for index, token in enumerate(cursor.tokens[cursor.index:], cursor.index + 1):
        if token.keyword in _OBJECTS:
            cursor.index = index
            objects, if_not_exists = stored_objects(cursor, verb, token.keyword), cursor.ahead("IF", "NOT", "EXISTS")
            return Ignored(f"{verb} {token.keyword}", object_names(cursor, verb, token.keyword), objects, if_not_exists)
        if token.keyword in ("TABLE", "AS"):
            break
    return Other(verb, None, sql, f"{verb} of an unknown object")


def _set(cursor: Cursor) -> SchemaChange:
    """Apply a SET: sql_mode and time_zone matter to later statements of a schema file."""
    found: dict[str, str] = {}
    while not cursor.at_end:
        token = cursor.next()
        if token.keyword in ("SQL_MODE", "TIME_ZONE") and (cursor.accept("=") or cursor.accept(":", "=")):
            if cursor.token.kind == "string":
                found[token.keyword.lower()] = cursor.string()
            elif cursor.accept("DEFAULT"):
                found[token.keyword.lower()] = "" if token.keyword == "SQL_MODE" else "+00:00"
    return SessionChange(**found) if found else Ignored("SET")


def _table_names(cursor: Cursor) -> tuple[TableName, ...]:
    tables = [cursor.table_name()]
    while cursor.accept(","):
        tables.append(cursor.table_name())
    return tuple(tables)


_DDL = {"CREATE": _create, "ALTER": _alter, "DROP": _drop, "TRUNCATE": _truncate, "RENAME": _rename}
