"""The names of objects in statements that change no table: filters of replication go by them.

Statements that the grammar does not follow have no names here.
"""

from applier.errors import SchemaError
from applier.schema.ddl.cursor import Cursor
from applier.schema.stored_object import NamedObject

Names = tuple[tuple[str, str | None], ...]
"""Database and name; None as the name means the database as a whole, or an object of it that is not a table."""
_STORED = ("VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE")
_TABLES = ("ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "CHECKSUM")


def named_objects(cursor: Cursor) -> Names:
    """Parse the tables of a statement of maintenance, and the objects of GRANT and REVOKE."""
    try:
        verb = cursor.next().keyword
        if verb in _TABLES:
            cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL")
            return _list(cursor) if cursor.accept_any("TABLE", "TABLES") else ()
        return _granted(cursor) if verb in ("GRANT", "REVOKE") else ()
    except SchemaError:
        return ()


def object_names(cursor: Cursor, verb: str, kind: str) -> Names:
    """Parse the names of the objects of CREATE, ALTER or DROP; the cursor is after the kind."""
    try:
        if not cursor.accept("IF", "NOT", "EXISTS"):
            cursor.accept("IF", "EXISTS")
        if kind in ("VIEW", "SEQUENCE"):
            return _list(cursor) if verb == "DROP" else (cursor.table_name(),)
        if kind == "TRIGGER" and verb == "CREATE":
            cursor.qualified_name()
            while not cursor.accept("ON"):
                cursor.next()
            return (cursor.table_name(),)
        if kind in ("TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"):
            cursor.accept("BODY")
            return ((cursor.table_name()[0], None),)
    except SchemaError:
        pass
    return ()


def stored_objects(cursor: Cursor, verb: str, kind: str) -> tuple[NamedObject, ...]:
    """Return the views, triggers, routines and events that CREATE, ALTER or DROP of a kind is about; the cursor is
    after the kind, and stays there."""
    start = cursor.index
    if kind not in _STORED:
        return ()
    try:
        if not cursor.accept("IF", "NOT", "EXISTS"):
            cursor.accept("IF", "EXISTS")
        if cursor.accept("BODY"):
            kind = "PACKAGE BODY"
        if kind == "TRIGGER" and verb == "CREATE":
            (database, name), words = cursor.qualified_name(), list[str]()
            while not cursor.accept("ON"):
                words.append(cursor.next().text.upper())
            table = cursor.table_name()
            return (NamedObject(kind, database or table[0], name, table, " ".join(words)),)
        names = _list(cursor) if verb == "DROP" else (cursor.table_name(),)
        return tuple(NamedObject(kind, database, name) for database, name in names if name is not None)
    except SchemaError:
        return ()
    finally:
        cursor.index = start


def _list(cursor: Cursor) -> Names:
    names = [cursor.table_name()]
    while cursor.accept(","):
        names.append(cursor.table_name())
    return tuple(names)


def _granted(cursor: Cursor) -> Names:
    """Return the names in `ON db.table`, `ON db.*` or `ON *`: none for accounts, roles and `*.*`."""
    depth = 0
    while not (depth == 0 and cursor.accept("ON")):
        if cursor.at_end:
            return ()
        depth += {"(": 1, ")": -1}.get(cursor.keyword, 0)
        cursor.next()
    kind = cursor.accept_any("TABLE", "FUNCTION", "PROCEDURE", "PACKAGE")
    if cursor.ahead("*"):
        return ()
    at = cursor.index
    if cursor.tokens[at + 1].text == "." and cursor.tokens[at + 2].text == "*":
        return ((cursor.database_name(), None),)
    database, name = cursor.table_name()
    return ((database, name if kind in ("", "TABLE") else None),)
