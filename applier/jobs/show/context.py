"""The context of statements (EV-CTX), as SETs that are printed when they change, as the servers' own programs do;
without the thread, which the kernel prints."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from applier.binlog.events.events import Query
from applier.mysql.character_sets.collations import by_id

TERMINATOR = "/*!*/;"
_SWITCHES = {
    "mysql": (("foreign_key_checks", 26, False), ("sql_auto_is_null", 14, True), ("unique_checks", 27, False),
              ("autocommit", 19, False)),
    "mariadb": (("foreign_key_checks", 26, False), ("sql_auto_is_null", 14, True), ("unique_checks", 27, False),
                ("autocommit", 19, False), ("check_constraint_checks", 15, False), ("sql_if_exists", 28, True),
                ("explicit_defaults_for_timestamp", 24, True), ("system_versioning_insert_history", 30, True)),
}  # fmt: skip
"""Variables that are bits of flags2: their bit, and their value if it is set."""
_CHARSETS = "charset_client", "charset_connection", "charset_server"
_VERSIONED = {"default_collation_for_utf8mb4": 80011, "sql_require_primary_key": 80013,
              "default_table_encryption": 80016}
_EVERY_TIME = {"xid", "microseconds", "sql_require_primary_key", "default_table_encryption", "character_set_collations"}
_FRAME = re.compile(rb"BEGIN\Z|COMMIT\Z|ROLL|SAVE|XA")
_SUPPRESS_USE = 0x8
"""In a QUERY's header: it does not depend on the default database."""


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


@dataclass
class Context:
    """The context of the last statement that was shown, of a log of this flavour."""

    flavour: str
    database: str = ""
    _known: dict[str, object] = field(default_factory=dict)
    _flags: int | None = None

    def use(self, database: str, flags: int, sql: bytes = b"") -> Iterator[str]:
        """Yield the USE for a statement's default database, if it changed and the statement needs one. After one that
        needs none, but for those that frame transactions, none is known."""
        if flags & _SUPPRESS_USE:
            self.database = self.database if _FRAME.match(sql) else ""
        elif database != self.database:
            self.database = database
            if database:
                yield f"use {quoted(database)}"

    def changes(self, context: Mapping[str, Any]) -> Iterator[str]:
        """Yield a SET for each changed variable. Character sets are ids of their collations."""
        yield from self._switches(context.get("flags2"))
        if self._is_new("sql_mode", context.get("sql_mode")):
            yield f"SET @@session.sql_mode={context['sql_mode']}"
        steps = tuple(context.get(f"auto_increment_{name}", 1) for name in ("increment", "offset"))
        if self._is_new("auto_increment", steps):
            yield "SET @@session.auto_increment_increment={}, @@session.auto_increment_offset={}".format(*steps)
        charsets = [context[name] for name in _CHARSETS if name in context]
        if charsets and self._is_new("charsets", charsets):
            yield from self._charsets(*charsets)
        if pairs := context.get("character_set_collations"):
            yield f"SET @@session.character_set_collations='{_collations(pairs)}'"
        if (zone := context.get("time_zone")) and self._is_new("time_zone", zone):
            yield f"SET @@session.time_zone='{zone}'"
        if self._is_new("lc_time_names", number := context.get("lc_time_names", 0)):
            yield f"SET @@session.lc_time_names={number}"
        if self._is_new("collation_database", number := context.get("charset_database", 0)):
            yield f"SET @@session.collation_database={number or 'DEFAULT'}"
        name = "explicit_defaults_for_timestamp"
        if name not in context:
            self._known.pop(name, None)
        elif self._is_new(name, context[name]):
            yield f"SET @@session.{name}={context[name]}"
        for name, version in _VERSIONED.items():
            if name in context and (name in _EVERY_TIME or self._is_new(name, context[name])):
                yield f"/*!{version} SET @@session.{name}={context[name]}*/"

    def _is_new(self, name: str, value: object) -> bool:
        is_new = value is not None and self._known.get(name) != value
        if is_new:
            self._known[name] = value
        return is_new

    def _switches(self, flags: int | None) -> Iterator[str]:
        if flags is None or flags == self._flags:
            return
        changed, self._flags = -1 if self._flags is None else flags ^ self._flags, flags
        said = [f"@@session.{name}={int(bool(flags >> bit & 1) == is_set)}"
                for name, bit, is_set in _SWITCHES[self.flavour]
                if changed >> bit & 1]
        yield f"SET {', '.join(said)}"

    def _charsets(self, client: int, connection: int, server: int) -> Iterator[str]:
        try:
            name = by_id(client)[0]
        except KeyError:
            name = ""
        if name:
            yield f"/*!\\C {name} */"
        shown = client if self.flavour == "mysql" else name or "Unknown"
        yield (f"SET @@session.character_set_client={shown},@@session.collation_connection={connection},"
               f"@@session.collation_server={server}")


@dataclass(frozen=True)
class Settings:
    """The printed parts of a statement's context: at the end of its header line, before its time, at the end of that,
    and after it."""

    title: str
    use: str
    micros: str
    lines: str


def settings(query: Query, flags: int, context: Context) -> tuple[Settings, bool]:
    """Return the printed parts of a statement's context, and whether they stay in force for the following statements:
    if not, the next one repeats them."""
    said_of: Mapping[str, Any] = query.context
    xid, micros = said_of.get("xid"), said_of.get("microseconds")
    title = "" if xid is None else f"\tXid = {xid}" if context.flavour == "mysql" else f"\txid={xid}"
    fraction = f".{micros:06d}" if micros else ""
    said = Settings(title, _lines(context.use(query.database, flags, query.sql)), fraction,
                    _lines(context.changes(query.context)))
    return said, not _EVERY_TIME & query.context.keys()


def _lines(statements: Iterator[str]) -> str:
    return "".join(f"{statement}{TERMINATOR}\n" for statement in statements)


def _collations(pairs: Sequence[tuple[int, int]]) -> str:
    """Return the collations that character sets have, as the variable character_set_collations has them."""
    known = [(by_id(charset)[0], by_id(collation)[1]) for charset, collation in pairs]
    return ",".join(f"{charset}={collation}" for charset, collation in known)
