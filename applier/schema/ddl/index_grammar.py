"""CREATE INDEX and DROP INDEX, which are ALTER TABLEs of one action. Source: MySQL manual, "CREATE INDEX Statement"."""

from applier.schema.ddl.alter_actions import AddKey, DropKey
from applier.schema.ddl.cursor import Cursor
from applier.schema.ddl.key_grammar import KeyWords, parse_algorithm, parse_key_options, parse_parts


def parse_create_index(cursor: Cursor) -> tuple[tuple[str, str], AddKey] | None:
    """Parse [UNIQUE | …] INDEX name … ON table (parts) …, after CREATE. Return (table, action); None for another
    statement."""
    start = cursor.index
    cursor.accept_any("ONLINE", "OFFLINE")
    kind = (cursor.accept_any("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR") or "key").lower()
    if not cursor.accept("INDEX"):
        cursor.index = start
        return None
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.name()
    algorithm = parse_algorithm(cursor)
    cursor.expect("ON")
    table = cursor.table_name()
    if cursor.accept("WAIT"):
        cursor.number()
    cursor.accept("NOWAIT")
    key = KeyWords(kind, name, parse_parts(cursor), options=algorithm, if_not_exists=if_not_exists)
    parse_key_options(cursor, key)
    return table, AddKey(key)


def parse_drop_index(cursor: Cursor) -> tuple[tuple[str, str], DropKey] | None:
    """Parse INDEX name ON table …, after DROP. Return (table, action); None for another statement."""
    start = cursor.index
    cursor.accept_any("ONLINE", "OFFLINE")
    if not cursor.accept("INDEX"):
        cursor.index = start
        return None
    cursor.accept("IF", "EXISTS")
    name = cursor.name()
    cursor.expect("ON")
    return cursor.table_name(), DropKey(name)
