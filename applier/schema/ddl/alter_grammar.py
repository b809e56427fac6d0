"""ALTER TABLE: the text after the name becomes a list of actions.

Clauses that touch neither rows nor definitions (LOCK, ENABLE KEYS) give no action; those that only have the server
define the table again (FORCE, ORDER BY, ALGORITHM=COPY) give one that sets no option. Source: MySQL manual, "ALTER
TABLE Statement" of 5.6 to 9.7; MariaDB's "ALTER TABLE".
"""

from applier.mysql.character_sets.collations import (
    DEFAULT,
    Charset,
    charset_name,
    charset_of,
    collation_in,
    collation_name,
    with_default,
)
from applier.schema.ddl.alter_actions import (
    AddCheck,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterAction,
    ChangeColumn,
    ConvertCharset,
    DropCheck,
    DropColumn,
    DropForeignKey,
    DropKey,
    EnforceCheck,
    PartitionBy,
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
from applier.schema.ddl.column_grammar import ColumnWords, parse_column, parse_default
from applier.schema.ddl.constraint_grammar import parse_check, parse_foreign_key
from applier.schema.ddl.create_table import TableWords, parse_charset, parse_option
from applier.schema.ddl.cursor import Cursor
from applier.schema.ddl.key_grammar import KeyWords, accept_key, parse_key
from applier.schema.ddl.partition_grammar import (
    PARTITION_ACTIONS,
    parse_add,
    parse_convert,
    parse_drop,
    parse_partition_by,
    parse_truncate,
)
from applier.schema.ddl.versioned_tables import parse_period
from applier.schema.table_parts import KeyPart


def parse_actions(cursor: Cursor) -> tuple[AlterAction, ...]:
    """Everything after the name in an ALTER TABLE; SchemaError where the grammar is unknown."""
    actions: list[AlterAction] = []
    while not cursor.at_end:
        actions += _parse_action(cursor)
        if cursor.ahead("PARTITION", "BY") or cursor.ahead("REMOVE", "PARTITIONING"):
            continue  # may follow without a comma
        if not cursor.accept(","):
            if not cursor.at_end and not _at_option(cursor):
                raise cursor.error("a comma was expected")
    return tuple(actions)


def _parse_action(cursor: Cursor) -> list[AlterAction]:
    word = cursor.keyword
    if word in _ACTIONS and not cursor.ahead(word, "="):
        start = cursor.index
        cursor.next()
        if (found := _ACTIONS[word](cursor)) is not None:
            return found
        cursor.index = start
    return _options(cursor)


def _add(cursor: Cursor) -> list[AlterAction]:
    if cursor.accept("PARTITION"):
        return parse_add(cursor)
    if cursor.ahead("PERIOD", "FOR"):
        parse_period(cursor)
        return []
    if cursor.accept("SYSTEM", "VERSIONING"):
        return [SetVersioning(True)]
    constraint, if_not_exists = None, False
    if (constrained := cursor.accept("CONSTRAINT")) and cursor.keyword not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        constraint = cursor.name()
    if cursor.ahead("CHECK"):
        return [AddCheck(parse_check(cursor, constraint, if_not_exists=if_not_exists))]
    if cursor.accept("FOREIGN", "KEY"):
        return [AddForeignKey(parse_foreign_key(cursor, constraint))]
    if constrained or cursor.keyword in ("PRIMARY", "UNIQUE", "FULLTEXT", "SPATIAL", "KEY", "INDEX", "VECTOR"):
        start = cursor.index
        if kind := accept_key(cursor):
            return [AddKey(parse_key(cursor, kind, constraint))]
        cursor.index = start
    cursor.accept("COLUMN")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    if cursor.accept("("):
        return _added_list(cursor, if_not_exists)
    words = parse_column(cursor)
    return [AddColumn(words, _position(cursor), if_not_exists), *_own_actions(words, cursor, if_not_exists)]


def _added_list(cursor: Cursor, if_not_exists: bool) -> list[AlterAction]:
    """ADD COLUMN (a INT, KEY (a), …)"""
    actions: list[AlterAction] = []
    while True:
        if kind := accept_key(cursor):
            actions.append(AddKey(parse_key(cursor, kind, None)))
        elif cursor.ahead("CHECK"):
            actions.append(AddCheck(parse_check(cursor)))
        else:
            words = parse_column(cursor)
            actions += [AddColumn(words, None, if_not_exists), *_own_actions(words, cursor, if_not_exists)]
        if not cursor.accept(","):
            cursor.expect(")")
            return actions


def _own_actions(words: ColumnWords, cursor: Cursor, if_not_exists: bool = False) -> list[AlterAction]:
    """The keys and constraints that a column's own words ask for."""
    keys: list[AlterAction] = []
    if words.key is not None:
        keys.append(AddKey(KeyWords(words.key, None, [KeyPart(words.name)], if_not_exists=if_not_exists)))
    if words.references is not None:
        keys.append(AddForeignKey(words.references))
    if cursor.context.flavour == "mysql":
        keys += map(AddCheck, words.checks)
    return keys


def _position(cursor: Cursor) -> str | None:
    if cursor.accept("FIRST"):
        return ""
    return cursor.name() if cursor.accept("AFTER") else None


def _modify(cursor: Cursor) -> list[AlterAction]:
    cursor.accept("COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    words = parse_column(cursor)
    return [ChangeColumn(words.name, words, _position(cursor), if_exists), *_own_actions(words, cursor)]


def _change(cursor: Cursor) -> list[AlterAction]:
    cursor.accept("COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    old = cursor.name()
    words = parse_column(cursor)
    return [ChangeColumn(old, words, _position(cursor), if_exists), *_own_actions(words, cursor)]


def _drop(cursor: Cursor) -> list[AlterAction]:
    if cursor.accept("PRIMARY", "KEY"):
        return [DropKey("PRIMARY")]
    if cursor.accept("FOREIGN", "KEY"):
        cursor.accept("IF", "EXISTS")
        return [DropForeignKey(cursor.name())]
    if cursor.accept("PARTITION"):
        return parse_drop(cursor)
    if cursor.ahead("PERIOD", "FOR"):
        parse_period(cursor)
        return []
    if cursor.accept("SYSTEM", "VERSIONING"):
        return [SetVersioning(False)]
    if word := cursor.accept_any("INDEX", "KEY", "CONSTRAINT", "CHECK"):
        cursor.accept("IF", "EXISTS")
        name = cursor.name()
        if word == "CONSTRAINT":
            return [DropKey(name), DropForeignKey(name), DropCheck(name)]
        return [DropCheck(name)] if word == "CHECK" else [DropKey(name)]
    cursor.accept("COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name()
    cursor.accept_any("RESTRICT", "CASCADE")
    return [DropColumn(name, if_exists)]


def _alter(cursor: Cursor) -> list[AlterAction]:
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        name, hides = cursor.name(), cursor.accept("NOT")
        cursor.expect("ENFORCED")
        return [EnforceCheck(name, not hides)]
    if cursor.accept_any("INDEX", "KEY"):
        cursor.accept("IF", "EXISTS")
        name, hides = cursor.name(), not cursor.accept("NOT")
        word = cursor.accept_any("VISIBLE", "INVISIBLE", "IGNORED")
        if not word:
            raise cursor.error("VISIBLE or INVISIBLE was expected")
        return [SetKeyVisible(name, word == "VISIBLE" or (word == "IGNORED" and not hides))]
    cursor.accept("COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    column = cursor.name()
    if cursor.accept("DROP", "DEFAULT"):
        return [SetDefault(column, None, if_exists)]
    cursor.expect("SET")
    if word := cursor.accept_any("VISIBLE", "INVISIBLE"):
        return [SetColumnVisible(column, word == "VISIBLE")]
    cursor.expect("DEFAULT")
    return [SetDefault(column, parse_default(cursor), if_exists)]


def _rename(cursor: Cursor) -> list[AlterAction]:
    if cursor.accept("COLUMN"):
        if_exists = cursor.accept("IF", "EXISTS")
        old = cursor.name()
        cursor.expect("TO")
        return [RenameColumn(old, cursor.name(), if_exists)]
    if cursor.accept_any("INDEX", "KEY"):
        cursor.accept("IF", "EXISTS")
        old = cursor.name()
        cursor.expect("TO")
        return [RenameKey(old, cursor.name())]
    cursor.accept_any("TO", "AS", "=")
    return [RenameTo(*cursor.table_name())]


def _convert(cursor: Cursor) -> list[AlterAction]:
    if cursor.ahead("PARTITION") or cursor.ahead("TABLE"):
        return parse_convert(cursor)
    cursor.expect("TO")
    if not (cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET")):
        cursor.expect("CHARSET")
    name = None if cursor.accept("DEFAULT") else charset_name(cursor.word_or_string())
    collation = None
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        collation = collation_name(cursor.word_or_string())
    charset = name or (collation and charset_of(collation))
    if charset is None:
        return [ConvertCharset(None)]
    try:
        found = with_default(charset, cursor.context.default_collations)
    except KeyError:
        raise cursor.error(f"the character set {charset} is not known") from None
    own = found.collation if collation in (None, DEFAULT) else collation_in(found.charset, collation)
    return [ConvertCharset(Charset(found.charset, own))]


def _order(cursor: Cursor) -> list[AlterAction]:
    """ORDER BY: the physical order of rows, which changes none of them; the table is defined again."""
    cursor.expect("BY")
    while True:
        cursor.name()
        while cursor.accept("."):
            cursor.name()
        cursor.accept_any("ASC", "DESC")
        if not cursor.accept(","):
            return [SetOptions()]


def _of_partitions(cursor: Cursor) -> list[AlterAction] | None:
    """REORGANIZE PARTITION and other actions on partitions; None if the word begins none."""
    word = cursor.tokens[cursor.index - 1].keyword
    return PARTITION_ACTIONS[word](cursor) if cursor.accept("PARTITION") else None


def _remove(cursor: Cursor) -> list[AlterAction]:
    cursor.expect("PARTITIONING")
    return [PartitionBy(None)]


def _tablespace(cursor: Cursor) -> list[AlterAction] | None:
    if cursor.accept("TABLESPACE"):
        return [Unfollowed("the table's file is taken away or replaced, and its rows with it")]
    word = cursor.tokens[cursor.index - 1].keyword
    if not cursor.accept("PARTITION"):
        return None
    _skip_to_end(cursor)
    return [Unfollowed(f"{word} PARTITION: a partition's file is taken away or replaced, and its rows with it")]


def _force(cursor: Cursor) -> list[AlterAction]:
    """The server defines the table again, as if an option were set."""
    return [SetOptions()]


def _one_word(cursor: Cursor) -> list[AlterAction]:
    """ENABLE and DISABLE KEYS; WITH and WITHOUT VALIDATION; WAIT n, NOWAIT."""
    cursor.accept_any("KEYS", "VALIDATION")
    return []


def _wait(cursor: Cursor) -> list[AlterAction]:
    cursor.number()
    return _parse_action(cursor) if not cursor.at_end else []


def _nowait(cursor: Cursor) -> list[AlterAction]:
    return _parse_action(cursor) if not cursor.at_end else []


def _skip_to_end(cursor: Cursor) -> None:
    while not cursor.at_end:
        cursor.next()


def _at_option(cursor: Cursor) -> bool:
    """Table options, which may follow each other without commas."""
    return cursor.token.kind in ("word", "name")


def _options(cursor: Cursor) -> list[AlterAction]:
    if cursor.accept("ALGORITHM"):
        return _algorithm(cursor)
    if cursor.accept("LOCK"):
        cursor.accept("=")
        cursor.next()
        return []
    words = TableWords()
    if not parse_charset(cursor, words):
        parse_option(cursor, words)
    while not cursor.at_end and parse_charset(cursor, words):
        pass
    return [SetOptions(words.charset, words.collation, words.engine, words.auto_increment, tuple(words.options))]


def _algorithm(cursor: Cursor) -> list[AlterAction]:
    """The last ALGORITHM counts: COPY defines the table again, in MariaDB only if something else is asked for."""
    cursor.accept("=")
    word = cursor.next().keyword
    is_heeded = cursor.context.flavour == "mysql" or any(token.keyword in ("RENAME", "KEYS") for token in cursor.tokens)
    return [SetOptions()] if word == "COPY" and is_heeded and not cursor.has_behind("ALGORITHM") else []


_ACTIONS = {
    "ADD": _add, "MODIFY": _modify, "CHANGE": _change, "DROP": _drop, "ALTER": _alter, "RENAME": _rename,
    "CONVERT": _convert, "ORDER": _order, "PARTITION": parse_partition_by, "TRUNCATE": parse_truncate,
    "DISCARD": _tablespace, "IMPORT": _tablespace, "FORCE": _force, "ENABLE": _one_word, "DISABLE": _one_word,
    "REMOVE": _remove, "WITH": _one_word, "WITHOUT": _one_word, "WAIT": _wait, "NOWAIT": _nowait,
} | dict.fromkeys(PARTITION_ACTIONS, _of_partitions)
