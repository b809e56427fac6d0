"""Applies filters to the statements in an archive: keep them, remove them, or rename databases in them (RW-FILT).

A replica with filters ignores a statement as a whole if it ignores one of its tables. Here a DROP TABLE or RENAME TABLE
of several tables keeps the unfiltered ones, as a replay does, and a table whose new name is filtered is dropped.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from applier.binlog.events.query import Query, parse_execute_load_query, parse_query, sql_offset
from applier.binlog.events.xa import parse_xa_decision
from applier.errors import ApplierError, UnsupportedStatement
from applier.mysql.character_sets.client_codecs import CLIENT_CODECS
from applier.mysql.names import folded
from applier.mysql.types import quote_name
from applier.schema.ddl.alter_actions import RenameTo
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import (
    AlterDatabase,
    AlterTable,
    CreateDatabase,
    CreateTable,
    CreateTableLike,
    Dml,
    DropDatabase,
    DropTable,
    Ignored,
    Other,
    RenameTables,
    SchemaChange,
    TableName,
    TruncateTable,
)
from applier.schema.history.session import parse_arguments
from applier.schema.table_filter import TableFilter
from applier.sql.tokens import Token

THREAD_BYTES = 8
"""The beginning of a QUERY's body: the thread and the execution time. The decision about a statement does not depend on
them."""
_POST_HEADER = struct.Struct("<BHH")
_UPDATED_DATABASES = 12
_CONTROL = re.compile(rb"(?i)(SAVEPOINT|ROLLBACK)\b")


class Action(IntEnum):
    """The role of a statement in its group: its content, control of the transaction, the transaction's beginning or
    end; or that it is dropped."""

    KEEP = 0
    CONTROL = 1
    BEGIN = 2
    END = 3
    DROP = 4


@dataclass
class _Statement:
    """A QUERY event as parse_arguments takes it."""

    sql: str | bytes
    database: str
    context: dict[str, Any]
    timestamp: int = 0


class StatementFilter:
    """Decides about statements, in log order. `emptied` are the XA transactions that have prepared nothing,
    which are not committed, either. `keeps_names` counts, by kind, statements that still name a database by its old
    name."""

    def __init__(self, flavour: str, table_filter: TableFilter, rewrites: Sequence[tuple[str, str]], *,
                 folds_names: bool) -> None:
        self._flavour, self._filter, self._folds_names = flavour, table_filter, folds_names
        self._rewrites = {folded(old) if folds_names else old: folded(new) if folds_names else new
                          for old, new in rewrites}
        self.keeps_names: dict[str, int] = {}
        self.emptied = set[str]()

    def renamed(self, database: str) -> str:
        """Return the database's name in the output."""
        return self._rewrites.get(folded(database) if self._folds_names else database, database)

    def keeps(self, database: str, table: str) -> bool:
        """Return whether a table's rows are in the output; the names are those of the archive."""
        return self._filter.keeps(self.renamed(database), folded(table) if self._folds_names else table)

    def of(self, body: bytes) -> tuple[Action, bytes | None]:
        """Decide about a QUERY, by its body; return also its new body, without the first THREAD_BYTES, if it gets one.
        Raises ApplierError if a statement cannot be divided."""
        query = parse_query(body)
        action, text = _control(query.sql), query.sql
        if _is_xa_decision(query.sql):
            action = self._decision(query.sql)
        elif action is None:
            action, text = self._statement(query)
        if action is Action.DROP:
            return action, None
        changed = self._with_names(body, text, query)
        return action, None if changed == body else changed[THREAD_BYTES:]

    def of_load(self, body: bytes) -> Action:
        """Decide about an EXECUTE_LOAD_QUERY. If it stays, a replay has stopped at it."""
        return self._statement(parse_execute_load_query(body))[0]

    def _decision(self, sql: bytes) -> Action:
        """XA COMMIT or XA ROLLBACK: of nothing, it goes."""
        xid, _ = parse_xa_decision(sql)
        if xid not in self.emptied:
            return Action.KEEP
        self.emptied.discard(xid)
        return Action.DROP

    def _statement(self, query: Query) -> tuple[Action, bytes]:
        """Decide about a statement that is no control of transactions."""
        charset = query.context.get("charset_client")
        codec = CLIENT_CODECS.get(charset, "utf-8") if isinstance(charset, int) else "utf-8"
        try:
            sql = query.sql.decode(codec)
        except UnicodeDecodeError:
            codec, sql = "utf-8", query.sql.decode("utf-8", "surrogateescape")
        tokens = set[Token]()
        try:
            changes = parse_statement(sql, flavour=self._flavour, folds_names=self._folds_names, database_tokens=tokens,
                                      **parse_arguments(_Statement(sql, query.database, query.context),
                                                        self._flavour, self._rewrites, None))
        except ApplierError:
            return Action.KEEP, query.sql  # no statement that a replay, which was made before, depends on
        if len(changes) != 1:
            return Action.KEEP, query.sql
        action, made = self._decided(changes[0], sql)
        if action is Action.DROP:
            return action, b""
        if made is None:
            made = self._renamed_in(sql, tokens)
            if isinstance(changes[0], Ignored | Other | Dml):
                self._note_names(changes[0], made)
        return action, made.encode(codec, "surrogateescape" if codec == "utf-8" else "strict")

    def _decided(self, change: SchemaChange, sql: str) -> tuple[Action, str | None]:
        """Return whether a statement stays, and its text if only a part of it does."""
        match change:
            case CreateDatabase(name) | AlterDatabase(name) | DropDatabase(name):
                return self._if_all([(name, None)])
            case CreateTable(definition):
                return self._if_all([(definition.database, definition.name)])
            case CreateTableLike(table, source):
                if self._has(table) and not self._has(source):
                    raise _divided(sql, f"the table {_dotted(source)}, which the output does not have")
                return self._if_all([table])
            case TruncateTable(table):
                return self._if_all([table])
            case AlterTable(table, actions):
                renames = [(table, (action.database, action.table)) for action in actions
                           if isinstance(action, RenameTo)]
                return self._renaming(tuple(renames), sql) if renames else self._if_all([table])
            case RenameTables(pairs):
                return self._renaming(pairs, sql)
            case DropTable(tables):
                left = [table for table in tables if self._has(table)]
                if left and len(left) < len(tables):
                    return Action.KEEP, f"DROP TABLE IF EXISTS {', '.join(map(_quoted, left))}"
                return self._if_all(left or list(tables))
            case Ignored(_, names):
                return self._if_all(names)
            case Other(_, tables) | Dml(_, tables):
                return self._if_all(tables or ())
        return Action.KEEP, None

    def _renaming(self, pairs: Sequence[tuple[TableName, TableName]], sql: str) -> tuple[Action, str | None]:
        stays = [(self._has(old), self._has(new)) for old, new in pairs]
        if any(new and not old for old, new in stays):
            raise _divided(sql, "a table that the output does not have under its old name")
        if all(old == new for old, new in stays):
            left = [pair for pair, (old, _) in zip(pairs, stays, strict=True) if old]
            if left and len(left) < len(pairs):
                return Action.KEEP, "RENAME TABLE " + ", ".join(f"{_quoted(old)} TO {_quoted(new)}"
                                                                for old, new in left)
            return (Action.KEEP if left else Action.DROP), None
        if any(old and new for old, new in stays):
            raise _divided(sql, "tables that stay in the output and tables that leave it")
        gone = [old for (old, _), (stayed, _) in zip(pairs, stays, strict=True) if stayed]
        return Action.KEEP, f"DROP TABLE {', '.join(map(_quoted, gone))}"

    def _has(self, table: TableName) -> bool:
        return self._filter.keeps(*table)

    def _if_all(self, names: Sequence[tuple[str, str | None]]) -> tuple[Action, str | None]:
        """Return KEEP if the output has everything that a statement names, else DROP, as a replica would."""
        return (Action.KEEP if all(self._filter.keeps(*name) for name in names) else Action.DROP), None

    def _renamed_in(self, sql: str, tokens: set[Token]) -> str:
        """Return a statement with the new names of databases in it."""
        if not self._rewrites:
            return sql
        parts, at = [], 0
        for token in sorted(tokens, key=lambda token: token.start):
            if (new := self.renamed(token.text)) != token.text:
                parts += [sql[at:token.start], quote_name(new)]
                at = token.end
        return "".join([*parts, sql[at:]])

    def _note_names(self, change: Ignored | Other | Dml, sql: str) -> None:
        """Count a statement that has an old name somewhere: not all of its names are parsed."""
        if any(re.search(rf"(?<![\w$]){re.escape(old)}`?\s*\.", sql) for old in self._rewrites):
            what = change.what if isinstance(change, Ignored) else change.kind
            self.keeps_names[what] = self.keeps_names.get(what, 0) + 1

    def _with_names(self, body: bytes, sql: bytes, query: Query) -> bytes:
        """Return a QUERY's body with another text, and new names for its default database and for those that it says it
        changes."""
        _, error, context_length = _POST_HEADER.unpack_from(body, THREAD_BYTES)
        at = THREAD_BYTES + _POST_HEADER.size
        context = self._context(body[at:at + context_length], query.context.get("updated_databases"))
        database = self._default(body[at + context_length:sql_offset(body) - 1])
        return b"".join([body[:THREAD_BYTES], _POST_HEADER.pack(len(database), error, len(context)), context, database,
                         b"\0", sql])

    def _context(self, context: bytes, databases: object) -> bytes:
        """Status variables with new names of the databases that a statement changes."""
        if not self._rewrites or not isinstance(databases, list) or not databases:
            return context
        names = [name.encode("utf-8", "surrogateescape") for name in databases]
        old, new = (bytes([_UPDATED_DATABASES, len(names)]) + b"".join(name + b"\0" for name in known)
                    for known in (names, [*map(self._encoded, names)]))
        return context.replace(old, new, 1)

    def _encoded(self, database: bytes) -> bytes:
        return self.renamed(database.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _default(self, database: bytes) -> bytes:
        """Return the default database of a statement that stays: none instead of one that the output does not have."""
        name = self.renamed(database.decode("utf-8", "surrogateescape"))
        return name.encode("utf-8", "surrogateescape") if name and self._filter.keeps(name, None) else b""


def _control(sql: bytes) -> Action | None:
    """Return the role of a text that only controls a transaction; None for any other."""
    word = sql.upper()
    if word == b"BEGIN":
        return Action.BEGIN
    if word in (b"COMMIT", b"ROLLBACK"):
        return Action.END
    if _CONTROL.match(sql):
        return Action.CONTROL
    return Action.CONTROL if word.startswith(b"XA ") else None


def _is_xa_decision(sql: bytes) -> bool:
    return sql[:9].upper() == b"XA COMMIT" or sql[:11].upper() == b"XA ROLLBACK"


def is_xa(body: bytes) -> bool:
    """Return whether a QUERY decides an XA transaction: the answer depends on the groups before."""
    return _is_xa_decision(body[sql_offset(body):sql_offset(body) + 11])


def _divided(sql: str, what: str) -> ApplierError:
    return UnsupportedStatement(f"a statement needs {what}: {sql[:100]}",
                                hint="keep both tables, or leave out both")


def _dotted(table: TableName) -> str:
    return ".".join(table)


def _quoted(table: TableName) -> str:
    return ".".join(map(quote_name, table))
