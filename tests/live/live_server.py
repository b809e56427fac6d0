"""A running server: statements, what its tables hold, and its log."""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pymysql
from pymysql.constants import ER

from tests.live.random_history import Column
from tests.live.sessions import encoding_after
from tests.recorded.differential.made_partitions import Parted
from tests.recorded.differential.server_cells import cell
from tests.support.real_server import Wanted, rows_of

_NOT_LOGGED = "SET sql_mode = '', time_zone = '+00:00', sql_log_bin = 0, foreign_key_checks = 0"
_MIXES = (ER.CANT_AGGREGATE_2COLLATIONS, ER.CANT_AGGREGATE_3COLLATIONS, ER.CANT_AGGREGATE_NCOLLATIONS)
TABLES = "table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"


class LiveServer:
    """A server by its URL, mysql://USER@HOST:PORT or mariadb://…, after which the root of its files comes behind a "+",
    for a server in a chroot."""

    def __init__(self, url: str):
        url, _, self.root = url.partition("+")
        self.place = urlsplit(url)
        self.flavour = self.place.scheme
        self._look = self.connect(_NOT_LOGGED)
        version = self.run("SELECT VERSION()")[0][0]
        self.version = tuple(map(int, re.findall(r"\d+", version)[:3]))
        self.zones = bool(self.run("SELECT CONVERT_TZ('2024-01-01', '+00:00', 'Europe/Rome')")[0][0])
        self.system_time_zone = {"UTC": "+00:00"}.get(zone := self.run("SELECT @@system_time_zone")[0][0], zone)
        self.name_case = int(self.run("SELECT @@lower_case_table_names")[0][0])
        self.unreadable = set[str]()
        """Tables whose rows this server could not show."""

    def connect(self, first: str | None = None) -> pymysql.Connection:
        place = self.place
        return pymysql.connect(host=place.hostname or "127.0.0.1", port=place.port or 3306, charset="utf8mb4",
                               user=place.username or "root", password=place.password or "", autocommit=True, conv={},
                               init_command=first)

    def run(self, sql: str) -> list[tuple]:
        """The rows of a statement that is not logged."""
        self._look.ping(reconnect=True)  # a history may crash a server
        with self._look.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def new_log(self) -> Path:
        """Begin a binlog; the path of the one that has ended."""
        log = self.position()[0]
        self.run("FLUSH BINARY LOGS")
        base = self.run("SELECT @@log_bin_basename")[0][0]
        return Path(self.root + str(Path(base).with_name(log)))

    def position(self) -> tuple[str, int]:
        what = "BINARY LOG" if self.flavour == "mysql" else "MASTER"
        name, position = self.run(f"SHOW {what} STATUS")[0][:2]
        return name, int(position)

    def forget_logs(self) -> None:
        """Remove all binlogs but the newest: where there are thousands, each new one takes a while."""
        self.run(f"PURGE BINARY LOGS TO '{self.position()[0]}'")

    def drop(self, database: str) -> None:
        """Drop a history's databases, and end the prepared transactions that lock their tables."""
        for *_, xid in self.run("XA RECOVER"):  # text, or bytes of MariaDB
            with suppress(pymysql.MySQLError):  # rolled back since
                self.run(f"XA ROLLBACK X'{(xid if isinstance(xid, bytes) else xid.encode()).hex()}'")
        for name in (database, f"{database}_b"):
            self.run(f"DROP DATABASE IF EXISTS {name}")

    # ---- what tables are like

    def columns(self, database: str) -> dict[str, list[Column]]:
        found: dict[str, list[Column]] = {}
        for table, name, kind, generated in self.run(
                "SELECT table_name, column_name, column_type, COALESCE(generation_expression, '') FROM "
                f"information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) WHERE "
                f"table_schema = '{database}' AND {TABLES} ORDER BY table_name, ordinal_position"):
            found.setdefault(quoted(table), []).append(Column.of(name, kind, generated))
        return found

    def keys(self, database: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table, name in self.run("SELECT DISTINCT table_name, index_name FROM information_schema.statistics WHERE "
                                    f"table_schema = '{database}' ORDER BY 1, 2"):
            found.setdefault(quoted(table), []).append(quoted(name))
        return found

    def parted(self, database: str) -> dict[str, Parted]:
        found: dict[str, Parted] = {}
        for table, method, by, name, values, part in self.run(
                "SELECT table_name, partition_method, partition_expression, partition_name, partition_description, "
                f"subpartition_name FROM information_schema.partitions WHERE table_schema = '{database}' AND "
                "partition_method <> 'SYSTEM_TIME' ORDER BY table_name, partition_ordinal_position, "
                "subpartition_ordinal_position"):
            parted = found.setdefault(quoted(table), Parted(method, by or ""))
            if name not in parted.names:
                parted.names.append(name)
                parted.values.append(values or "")
            parted.subpartitions += [part] * (part is not None)
        return found

    def has_zero_dates(self, database: str, table: str, columns: list[Column]) -> bool:
        """True if a snapshot has null where the table has a date with a zero in it, or if this connection cannot tell,
        as of a VIRTUAL column whose literals have other collations in it."""
        dates = [column.name for column in columns if column.kind.startswith(("date", "timestamp"))]
        where = " OR ".join(f"CAST({name} AS CHAR) LIKE '%-00%' OR CAST({name} AS CHAR) LIKE '0000%'" for name in dates)
        try:
            return bool(dates and self.run(f"SELECT 1 FROM {database}.{table} WHERE {where} LIMIT 1"))
        except pymysql.OperationalError as error:
            if error.args[0] not in _MIXES:
                raise
            return True

    def held(self, database: str) -> Wanted:
        """The tables of a database and of the one beside it, as real_server.differences_of takes them."""
        found = {}
        for schema, name in self.run("SELECT table_schema, table_name FROM information_schema.tables WHERE "
                                     f"{TABLES} AND table_schema IN ('{database}', '{database}_b')"):
            named = name.replace("'", "''").replace("\\", "\\\\")
            columns = [list(row) for row in self.run(
                f"SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = '{schema}' AND "
                f"table_name = '{named}' AND extra NOT LIKE '%VIRTUAL%' ORDER BY ordinal_position")]
            if not columns:  # of rows that have no stored column a snapshot has none
                found[f"{schema}.{name}"] = [], rows_of([])
                continue
            shown = ", ".join(_shown(quoted(column), kind) for column, kind in columns)
            try:
                rows = self.run(f"SELECT {shown} FROM {schema}.{quoted(name)}")
            except (UnicodeDecodeError, pymysql.MySQLError):
                self.unreadable.add(f"{schema}.{name}")  # labels that are not text, or it cannot open the table
                continue
            found[f"{schema}.{name}"] = columns, rows_of([
                [_cell(kind, value) for (_, kind), value in zip(columns, row, strict=True)] for row in rows])
        return found


class Recording:
    """A connection on which a history happens."""

    def __init__(self, server: LiveServer):
        self._connection, self._encoding = server.connect(), "utf-8"
        self._connection.use_unicode = False  # nobody reads results, which may be no text

    def run(self, statement: str) -> bool:
        """True if the server took it."""
        try:
            self._connection.query(statement.encode(self._encoding, "replace"))
        except pymysql.MySQLError:
            return False
        self._encoding = encoding_after(statement, self._encoding)
        return True

    def close(self) -> None:
        self._connection.close()


def _shown(name: str, kind: str) -> str:
    if kind.startswith("double("):  # the one that a SELECT shows
        return f"CAST({name} AS CHAR) * 1e0"
    return f"HEX({name})" if kind.startswith("vector") else name + " * 1e0" * kind.startswith(("float", "double"))


def _cell(kind: str, value: str | bytes | None) -> object:
    if kind.startswith("vector") and value is not None:
        return tuple(repr(number) for number, in struct.iter_unpack("<f", bytes.fromhex(str(value))))
    if kind.startswith(("enum", "set")) and isinstance(value, bytes):  # of the character set binary
        return value.decode(errors="replace").replace("\ufffd", "?")
    return cell(kind, value)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
