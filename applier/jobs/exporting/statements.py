"""The SQL around the rows: sessions, definitions, the statements that load a file.

MariaDB sequences that provide defaults of columns are created before their tables. A snapshot keeps no state of
sequences. A sequence that provides a table's integer key starts after the highest
key; others start at 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from applier.columns.table_key import IntKey, table_key
from applier.jobs.exporting.text_kernel import BYTES
from applier.mysql.character_sets.collations import Charset
from applier.mysql.client_sql import HEAD, for_clients
from applier.mysql.types import quote_name, quote_text
from applier.schema.definition import TableDefinition
from applier.schema.schema_file import create_database, object_comments
from applier.schema.stored_object import StoredObject
from applier.schema.table_parts import Column
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.manifest import BinlogPosition, DatabaseEntry
from applier.sql.tokens import Token, tokenize

_FUNCTIONS = ("NEXTVAL", "LASTVAL", "SETVAL")


def sequences_sql(tables: Iterable[tuple[TableDefinition, Sequence[FileEntry]]]) -> list[str]:
    """Return CREATE SEQUENCE for each sequence that these tables name, given the files of their rows."""
    firsts: dict[tuple[str, str], int] = {}
    for definition, files in tables:
        for column, name in named_sequences(definition):
            firsts[name] = max(firsts.get(name, 1), _behind(definition, column, files))
    return [f"CREATE SEQUENCE IF NOT EXISTS {quote_name(database)}.{quote_name(name)} START WITH {first};\n"
            for (database, name), first in firsts.items()]


def named_sequences(definition: TableDefinition) -> Iterable[tuple[str, tuple[str, str]]]:
    """Return each sequence that a table names, behind the column whose default does. A name without a database is of
    the table's."""
    if definition.flavour == "mariadb":
        for column in definition.columns:
            if column.default is not None and column.default.kind == "expression":
                for name in _named(tokenize(column.default.text, flavour="mariadb"), definition.database):
                    yield column.name, name


def _named(tokens: Sequence[Token], database: str) -> Iterable[tuple[str, str]]:
    """Return the sequences that an expression names: NEXTVAL([database.]name), NEXT VALUE FOR [database.]name."""
    for number, token in enumerate(tokens):
        if token.kind != "word":
            continue
        words = [other.text.upper() for other in tokens[number:number + 3]]
        if words[0] in _FUNCTIONS and words[1:2] == ["("]:
            first = number + 2
        elif words in (["NEXT", "VALUE", "FOR"], ["PREVIOUS", "VALUE", "FOR"]):
            first = number + 3
        else:
            continue
        if tokens[first + 1].text == ".":
            yield tokens[first].text, tokens[first + 2].text
        else:
            yield database, tokens[first].text


def _behind(definition: TableDefinition, column: str, files: Sequence[FileEntry]) -> int:
    """Return the first number behind a column's values, where the rows are sorted by it; else 1."""
    key = table_key(definition)
    if not isinstance(key, IntKey) or key.names != (column,):
        return 1
    return max((file.max_key + key.bias + 1 for file in files if isinstance(file.max_key, int)), default=1)


STRICT = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
"""The sql_mode for loading: a value that does not fit is an error; invalid dates, and 0 for AUTO_INCREMENT, are kept.
"""
LENIENT = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
"""The sql_mode for an ENUM's empty value, which strict mode refuses."""
_SESSION = f"""\
SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = '{STRICT}';
SET foreign_key_checks = 0;
SET unique_checks = 0;
"""


_WITH_TIMES = "/*M!101100 SET system_versioning_insert_history = 1 */;\n"
"""MariaDB accepts the times of a versioned table's rows from 10.11 on; earlier versions refuse them."""


def session(definition: TableDefinition | None = None, *, head: str = HEAD) -> str:
    """Return the start of every file, so that each can be loaded by itself; `definition` is of the table whose rows it
    has. The head of files that are loaded together with LOAD DATA is CHARSET."""
    start = head + _SESSION
    return start if definition is None or definition.versioning is None else start + _WITH_TIMES


def loaded_columns(definition: TableDefinition) -> list[Column]:
    """Return the columns that rows have values for: invisible ones included, generated ones not."""
    return [column for column in definition.columns if not column.generated]


def insert_head(definition: TableDefinition, *, replaces: bool = False) -> bytes:
    """Return INSERT … VALUES, or REPLACE, with a line's end, for rows to follow. Raises SchemaError for a name that a
    client could misread."""
    names = ",".join(quote_name(column.name) for column in loaded_columns(definition))
    words = f"{'REPLACE' if replaces else 'INSERT'} INTO {_full_name(definition)} ({names}) VALUES\n"
    return for_clients(words).encode()


def load_data(definition: TableDefinition, path: str, modes: Sequence[int], lenient: bool, *,
              replaces: bool = False) -> str:
    """Return the statements that load a TSV file of rows; `modes` are those of the kernel, one for each column. Rows
    whose keys exist are skipped, with a warning, as LOCAL means, or replace the existing rows. Raises as above."""
    targets, assignments = [], []
    for number, (column, mode) in enumerate(zip(loaded_columns(definition), modes, strict=True)):
        name = quote_name(column.name)
        if mode != BYTES and column.type.base != "bit":
            targets.append(name)
            continue
        targets.append(f"@c{number}")
        value = f"UNHEX(@c{number})" if mode == BYTES else f"CAST(@c{number} AS UNSIGNED)"
        assignments.append(f"{name} = {value}")
    how = "REPLACE " if replaces else ""
    statement = (f"LOAD DATA LOCAL INFILE {quote_text(path)} {how}INTO TABLE {_full_name(definition)} "
                 "CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' "
                 f"({','.join(targets)})")
    if assignments:
        statement += " SET " + ", ".join(assignments)
    before = _WITH_TIMES if definition.versioning is not None else ""
    return in_mode(f"{before}{for_clients(statement)};\n", lenient)


def in_mode(statements: str, lenient: bool) -> str:
    """Return statements, wrapped in a mode that accepts an ENUM's empty value if that is needed."""
    return f"SET sql_mode = '{LENIENT}';\n{statements}SET sql_mode = '{STRICT}';\n" if lenient else statements


def schema_sql(position: BinlogPosition, databases: Iterable[DatabaseEntry],
               definitions: Iterable[TableDefinition], *, sequences: Sequence[str] = (), if_not_exists: bool = False,
               head: str = HEAD, objects: Iterable[StoredObject] = ()) -> str:
    """Return the position of the rows, and CREATE DATABASE, the statements that make `sequences`, and CREATE TABLE for
    all of them; existing tables are an error, or stay unchanged. Comments on `objects` follow. Raises SchemaError for a
    name or a text that a client could misread."""
    parts = [f"{create_database(entry.name, Charset(entry.charset, entry.collation))};\n" for entry in databases]
    parts += sequences
    parts += [f"\n{_in_its_database(definition)}{definition.to_sql(if_not_exists=if_not_exists)};\n"
              for definition in definitions]
    made = for_clients("".join(parts))
    return head + _position_comments(position) + _SESSION + "\n" + made + object_comments(objects)


def _in_its_database(definition: TableDefinition) -> str:
    """USE, where a default may name a sequence of the table's database."""
    return f"USE {quote_name(definition.database)};\n" if any(named_sequences(definition)) else ""


def _position_comments(position: BinlogPosition) -> str:
    """Return the rows' server and position, as comments like a dump's: `applier import` reads them."""
    names = {"mysql": "MySQL", "mariadb": "MariaDB"}
    lines = [f"-- Server version {names[position.flavour]}\n"] if position.flavour in names else []
    if position.file:
        words = "MASTER TO MASTER" if position.flavour == "mariadb" else "REPLICATION SOURCE TO SOURCE"
        name = "SOURCE" if words.startswith("REPLICATION") else "MASTER"
        lines.append(f"-- CHANGE {words}_LOG_FILE={quote_text(position.file)}, {name}_LOG_POS={position.offset};\n")
    if position.gtid_set:
        gtids = "".join(position.gtid_set.split())
        lines.append(f"-- SET GLOBAL gtid_slave_pos='{gtids}';\n" if position.flavour == "mariadb" else
                     f"-- SET @@GLOBAL.GTID_PURGED='{gtids}';\n")
    return "".join(lines)


def _full_name(definition: TableDefinition) -> str:
    return f"{quote_name(definition.database)}.{quote_name(definition.name)}"
