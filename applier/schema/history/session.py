"""The session that a statement ran in, as its QUERY event describes it: the statement's meaning depends on it."""

from collections.abc import Mapping
from typing import Any, Protocol

from applier.errors import SchemaError
from applier.mysql.character_sets.client_charsets import ClientCharsets
from applier.mysql.character_sets.client_codecs import CLIENT_CODECS
from applier.mysql.character_sets.collations import by_id, charset_of

# The sql_modes that change how a statement reads, by their bits in the QUERY event (Q_SQL_MODE_CODE).
_SQL_MODES = {1: "REAL_AS_FLOAT", 2: "PIPES_AS_CONCAT", 4: "ANSI_QUOTES", 1 << 20: "NO_BACKSLASH_ESCAPES",
              1 << 29: "HIGH_NOT_PRECEDENCE"}
# MariaDB's modes in which words, brackets or an empty text mean something else; MySQL's modes of these bits meant no
# more than their parts, or other things.
_MARIADB_MODES = {1 << 9: "ORACLE", 1 << 10: "MSSQL", 1 << 12: "MAXDB", 1 << 32: "EMPTY_STRING_IS_NULL"}
# MariaDB's modes in which CREATE TABLE … SELECT is logged without the table's character set.
_MARIADB_MODES |= {1 << 8: "POSTGRESQL", 1 << 11: "DB2", 1 << 14: "NO_TABLE_OPTIONS", 1 << 16: "MYSQL323",
                   1 << 17: "MYSQL40", 1 << 18: "ANSI"}
# Modes that change how ALTER converts values: the bits from 32 on differ between the servers.
_VALUE_MODES = {1 << 19: "NO_AUTO_VALUE_ON_ZERO", 1 << 21: "STRICT_TRANS_TABLES", 1 << 22: "STRICT_ALL_TABLES",
                1 << 23: "NO_ZERO_IN_DATE", 1 << 24: "NO_ZERO_DATE", 1 << 25: "ALLOW_INVALID_DATES",
                1 << 31: "PAD_CHAR_TO_FULL_LENGTH"}
_FRACTION_MODES = {"mysql": (1 << 32, "TIME_TRUNCATE_FRACTIONAL"), "mariadb": (1 << 34, "TIME_ROUND_FRACTIONAL")}
_EXPLICIT_TIMESTAMPS = 1 << 24  # MariaDB's flags2, from 10.10 on; MySQL has a status variable of its own
_NO_CHECKS = 1 << 15  # the same; 10.5 does not log check_constraint_checks, and its replicas check


class LoggedStatement(Protocol):
    """A QUERY event, as the outline keeps it."""

    sql: str | bytes
    database: str
    context: dict[str, Any]
    timestamp: int


def text_of(statement: LoggedStatement) -> str:
    """A statement as text; bytes that are none in its character set are kept as surrogates."""
    sql = statement.sql
    return sql.decode("utf-8", "surrogateescape") if isinstance(sql, bytes) else sql


def timestamp_us(statement: LoggedStatement) -> int:
    """When a statement ran, in microseconds UTC."""
    return statement.timestamp * 1_000_000 + int(statement.context.get("microseconds", 0))


def parse_arguments(statement: LoggedStatement, flavour: str, rewrites: Mapping[str, str],
                    system_time_zone: str | None) -> dict[str, Any]:
    """Return the context of a statement from its event, as arguments of `parse_statement`. Raises SchemaError for a
    context that no server logs."""
    return {"default_database": statement.database or None, "rewrites": rewrites,
            "timestamp_us": timestamp_us(statement), "charsets": _charsets(statement),
            **session_of(statement.context, flavour, system_time_zone)}


def sets_replicas_zone(statement: LoggedStatement, flavour: str) -> bool:
    """True if a replica computes generated columns of later rows in the statement's time zone: MariaDB's does, until
    another statement that depends on its zone."""
    return flavour == "mariadb" and "time_zone" in statement.context


def _charsets(statement: LoggedStatement) -> ClientCharsets:
    """The character sets of a statement's literals. Bytes that are not text in the client's set are read as UTF-8."""
    try:
        client, connection = statement.context["charset_client"], statement.context["charset_connection"]
        database = statement.context.get("charset_database", 0)
        return ClientCharsets("utf-8" if isinstance(statement.sql, bytes) else CLIENT_CODECS.get(client, "utf-8"),
                              by_id(client).charset, by_id(connection).charset,
                              by_id(database).charset if database else "")
    except KeyError:
        return ClientCharsets()  # an old log, or a collation of MariaDB's that only its name tells


def session_of(context: Mapping[str, Any], flavour: str, system_time_zone: str | None = None) -> dict[str, Any]:
    """Return the context of a QUERY's text from its status variables (EV-CTX), as arguments of `parse_statement`. A log
    does not name the SYSTEM time zone: that is `system_time_zone`, if it is known."""
    collation = context.get("default_collation_for_utf8mb4")
    if flavour == "mysql":
        # MySQL writes the collation from 8.0 on, which is when explicit timestamps became the default, too.
        collations = {"utf8mb4": "utf8mb4_general_ci" if collation is None else _collation(collation)}
        explicit = context.get("explicit_defaults_for_timestamp", collation is not None)
    else:
        # MariaDB writes them from 11.3 on, if there are any: the ids of a set's own default and of what it is here.
        collations = {charset: _collation(said) for own, said in context.get("character_set_collations", ())
                      if (charset := charset_of(_collation(own))) is not None}
        explicit = context.get("flags2", 0) & _EXPLICIT_TIMESTAMPS
    zone = context.get("time_zone", "SYSTEM")
    mode = context.get("sql_mode", 0)
    modes = _SQL_MODES | _VALUE_MODES | dict([_FRACTION_MODES[flavour]])
    if flavour == "mariadb":
        modes |= _MARIADB_MODES
    session = {
        "sql_mode": ",".join(name for bit, name in modes.items() if mode & bit),
        "time_zone": zone if zone.upper() != "SYSTEM" or system_time_zone is None else system_time_zone,
        "explicit_timestamps": bool(explicit),
        "default_collations": collations,
        "lc_time_names": int(context.get("lc_time_names", 0)),
        "foreign_key_checks": bool(context.get("foreign_key_checks", True)),
        "check_constraint_checks": flavour == "mysql" or not context.get("flags2", 0) & _NO_CHECKS,
    }
    try:
        return session | {"server_charset": by_id(context["charset_server"])}
    except KeyError:
        return session  # an old log, or a collation of MariaDB's that only its name tells


def _collation(collation_id: int) -> str:
    try:
        return by_id(collation_id).collation
    except KeyError:
        raise SchemaError(f"a statement's context has a collation number that no server knows: {collation_id}",
                          hint="the file is damaged, or newer than this program") from None
