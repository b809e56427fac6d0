"""Databases and the tables of a snapshot as SQL that makes them."""

from collections.abc import Iterable

from applier.errors import SchemaError
from applier.io.printable import printable
from applier.mysql.character_sets.collations import Charset
from applier.mysql.client_sql import HEAD, for_clients
from applier.mysql.types import quote_name
from applier.schema.definition import TableDefinition
from applier.schema.stored_object import StoredObject, comments

_WITHOUT_CHECKS = "SET foreign_key_checks = 0;\n\n"  # tables may refer to each other, and to those that come later


def create_database(name: str, charset: Charset | None = None) -> str:
    """Return a CREATE DATABASE IF NOT EXISTS, with the database's default character set and collation where they are
    known."""
    default = f" DEFAULT CHARACTER SET {charset.charset} COLLATE {charset.collation}" if charset is not None else ""
    return f"CREATE DATABASE IF NOT EXISTS {quote_name(name)}{default}"


def schema_file(definitions: Iterable[TableDefinition], objects: Iterable[StoredObject] = ()) -> str:
    """Return CREATE TABLE statements, in the order given, and comments on triggers, views and the like."""
    tables = list(definitions)
    before = _WITHOUT_CHECKS if any(table.foreign_keys for table in tables) else ""
    return HEAD + before + "".join(f"{_statement(table)};\n\n" for table in tables) + object_comments(
        objects)


def object_comments(objects: Iterable[StoredObject]) -> str:
    """Return comments on objects that a snapshot does not keep: the name, and the statements that created it."""
    return "".join(f"-- {printable(line)}\n" for line in comments(objects, "Not made here"))


def _statement(table: TableDefinition) -> str:
    """Return a CREATE TABLE; for a name that clients could misread the head has to do, since a snapshot has every
    table."""
    try:
        return for_clients(table.to_sql())
    except SchemaError:
        return table.to_sql()
