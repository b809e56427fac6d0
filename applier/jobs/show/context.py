"""The context of statements (EV-CTX), as SETs that are printed when they change, as mysqlbinlog does; without the
thread, which the kernel prints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from applier.binlog.events.events import Query

_VARIABLES = {
    "foreign_key_checks": "foreign_key_checks", "unique_checks": "unique_checks", "sql_mode": "sql_mode",
    "auto_increment_increment": "auto_increment_increment", "auto_increment_offset": "auto_increment_offset",
    "charset_client": "character_set_client", "charset_connection": "collation_connection",
    "charset_server": "collation_server", "charset_database": "collation_database", "time_zone": "time_zone",
    "lc_time_names": "lc_time_names", "explicit_defaults_for_timestamp": "explicit_defaults_for_timestamp",
    "default_collation_for_utf8mb4": "default_collation_for_utf8mb4",
    "sql_require_primary_key": "sql_require_primary_key", "default_table_encryption": "default_table_encryption",
}  # fmt: skip
_SQL_AUTO_IS_NULL, _NOT_AUTOCOMMIT = 1 << 14, 1 << 19
"""Bits of flags2."""
_SAID_EVERY_TIME = {"xid", "microseconds", "invoker_user", "updated_databases", "unread"}
_SUPPRESS_USE = 0x8
"""In a QUERY's header: it does not depend on the default database."""


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


class Context:
    """The context of the last statement that was shown."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self.database = ""

    def use(self, database: str, flags: int) -> Iterator[str]:
        """The USE for a statement's default database, if it changed and the statement needs one."""
        if database and database != self.database and not flags & _SUPPRESS_USE:
            self.database = database
            yield f"use {quoted(database)}/*!*/;"

    def changes(self, context: Mapping[str, Any]) -> Iterator[str]:
        """A SET for each variable that changed. Character sets are ids of their collations."""
        now: dict[str, Any] = {variable: context[name] for name, variable in _VARIABLES.items() if name in context}
        if isinstance(flags := context.get("flags2"), int):
            now["sql_auto_is_null"] = int(bool(flags & _SQL_AUTO_IS_NULL))
            now["autocommit"] = int(not flags & _NOT_AUTOCOMMIT)
        for variable, value in now.items():
            if self._known.get(variable) != value:
                text = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else value
                yield f"SET @@session.{variable}={text}/*!*/;"
        self._known |= now


@dataclass(frozen=True)
class Settings:
    """What is printed of a statement's context: at the end of its header line, before its time, at the end of that, and
    after it."""

    title: str
    use: str
    micros: str
    lines: str


def settings(query: Query, flags: int, context: Context) -> tuple[Settings, bool]:
    """What is printed of a statement's context, and whether it is in force for those that follow: if not, the next one
    says it again."""
    title = f"\tXid = {xid}" if isinstance(xid := query.context.get("xid"), int) else ""
    micros = query.context.get("microseconds")
    lines = [*context.changes(query.context), *_remarks(query.context)]
    fraction = f".{micros:06d}" if isinstance(micros, int) and micros else ""
    said = Settings(title, "".join(f"{line}\n" for line in context.use(query.database, flags)), fraction,
                    "".join(f"{line}\n" for line in lines))
    return said, not _SAID_EVERY_TIME & query.context.keys()


def _remarks(context: Mapping[str, Any]) -> Iterator[str]:
    """What is no session variable: who a statement ran as, which other databases it changed, what could not be read."""
    if "invoker_user" in context:
        yield f"# invoker: {context['invoker_user']}@{context.get('invoker_host', '')}"
    if context.get("updated_databases"):
        yield f"# databases: {', '.join(context['updated_databases'])}"
    if "unread" in context:
        yield f"# context that is not known: {context['unread'].hex()}"
