"""Records what real servers make of the sessions in `sessions.py`: `python -m
tests.recorded.sessions.record_sessions URL=FOLDER…` with mysql://USER@HOST:PORT and the folder of the server's logs,
those of FOUND with the word `found`, `found_mysql`, `mariadb`, `codes`, `structure`, `texts` or `expressions`; with
names, only these sessions. The tables of a session "…-on-a-replica" are those of a replica, whose URL follows the
folder behind another "=".

recorded.jsonl.gz, found.jsonl.gz and so on hold a line for each session and server: {"name", "server": the server's
version, "log": its binlog in base64, "tables": {"DB.TABLE": [[its columns' names and types], [its rows' cells, as
real_server has them]]}}.
Statements that a server refuses are left out of its session.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.recorded.differential.server_cells import cell
from tests.recorded.sessions.sessions import FOUND, SESSIONS
from tests.support.folders import RECORDED as FOLDERS

RECORDED = FOLDERS / "sessions" / "recorded.jsonl.gz"
_SHOWN = {"float": "CAST(CAST({} AS DOUBLE) AS CHAR)", "double": "CAST({} * 1e0 AS CHAR)",
          **dict.fromkeys(("date", "datetime", "timestamp", "time", "decimal"), "CAST({} AS CHAR)")}


def record(url: str, folder: Path, replica: str, sessions: dict[str, list[str]], names: list[str]) -> Iterator[dict]:
    """The sessions on the server at a URL, all or those with these names; on a replica, those named after it."""
    import pymysql

    def connect(url: str = url) -> pymysql.Connection:
        place = urlsplit(url)
        return pymysql.connect(host=place.hostname, port=place.port, user=place.username or "root", charset="utf8mb4",
                               password=place.password or "", autocommit=True)

    for name, statements in sessions.items():
        if names and name not in names:
            continue
        with connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            [[version]] = cursor.fetchall()
            cursor.execute("RESET MASTER" if "MariaDB" in version else "RESET BINARY LOGS AND GTIDS")
        with connect() as connection, connection.cursor() as cursor:
            for statement in ["SET timestamp = 1700000000", "SET time_zone = '+00:00'", "CREATE DATABASE d", "USE d",
                              *statements]:
                try:
                    cursor.execute(statement)
                except pymysql.MySQLError as error:
                    print(f"{version[:7]} {name}: {error}: {statement}", file=sys.stderr)
        with connect() as connection, connection.cursor() as cursor:
            cursor.execute("FLUSH BINARY LOGS")
            cursor.execute("SET time_zone = '+00:00', sql_mode = '', sql_log_bin = 0")
            if name.endswith("-on-a-replica"):
                cursor.execute("SELECT @@gtid_binlog_pos")
                [[end]] = cursor.fetchall()
                with connect(replica) as other, other.cursor() as on_replica:
                    replicate(on_replica, url, end)
                    tables = {f"d.{table}": held(on_replica, table) for table in tables_of(on_replica)}
            else:
                tables = {f"d.{table}": held(cursor, table) for table in tables_of(cursor)}
            log = sorted(folder.glob("binlog.0*"))[0].read_bytes()
            cursor.execute("DROP DATABASE d")
        yield {"name": name, "server": version, "log": base64.b64encode(log).decode(), "tables": tables}


def replicate(cursor, source: str, end: str) -> None:
    """Make a server of MariaDB apply all that a source has logged, up to a GTID."""
    place = urlsplit(source)
    for statement in ["STOP SLAVE", "DROP DATABASE IF EXISTS d", "SET GLOBAL gtid_slave_pos = ''",
                      f"CHANGE MASTER TO MASTER_HOST = '{place.hostname}', MASTER_PORT = {place.port}, MASTER_USER = "
                      f"'{place.username or 'root'}', MASTER_USE_GTID = slave_pos", "START SLAVE",
                      f"SELECT MASTER_GTID_WAIT('{end}', 30)", "STOP SLAVE", "SET time_zone = '+00:00', sql_mode = ''"]:
        cursor.execute(statement)


def tables_of(cursor) -> list[str]:
    """The tables of the database d."""
    cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd' AND "
                   "table_type <> 'SEQUENCE' ORDER BY 1")
    return [table for table, in cursor.fetchall()]


def held(cursor, table: str) -> list:
    """A table's stored columns and its rows."""
    cursor.execute("SELECT column_name, column_type, extra FROM information_schema.columns WHERE table_schema = 'd' "
                   f"AND table_name = '{table}' ORDER BY ordinal_position")
    columns = [[name, kind] for name, kind, extra in cursor.fetchall() if "VIRTUAL" not in extra]
    picks = [_pick(kind).format(f"`{name}`") for name, kind in columns]
    cursor.execute(f"SELECT {', '.join(picks)} FROM d.`{table}`")
    return [columns, [[cell(kind, value) for (_, kind), value in zip(columns, row, strict=True)]
                      for row in cursor.fetchall()]]


def _pick(kind: str) -> str:
    """How a column's value is asked for. A DOUBLE(M,D) is the double that a SELECT shows."""
    if kind.startswith("double("):
        return "CAST(CAST({} AS CHAR) * 1e0 AS CHAR)"
    return _SHOWN.get(kind.partition("(")[0], "{}")


def main(words: list[str]) -> None:
    servers = [[*word.split("="), ""][:3] for word in words if "=" in word]
    names = [word for word in words if "=" not in word and word not in FOUND]
    sessions, recorded = SESSIONS, RECORDED
    for found in FOUND.keys() & words:
        sessions, recorded = FOUND[found], RECORDED.with_name(f"{found}.jsonl.gz")
    made = [case for url, folder, replica in servers for case in record(url, Path(folder), replica, sessions, names)]
    if names and recorded.exists():
        again = {(case["name"], case["server"]) for case in made}
        kept = [json.loads(line) for line in gzip.open(recorded, "rt")]
        made = [case for case in kept if (case["name"], case["server"]) not in again] + made
    lines = "".join(json.dumps(case) + "\n" for case in sorted(made, key=lambda case: (case["name"], case["server"])))
    recorded.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(f"{len(made)} sessions are in {recorded}")


if __name__ == "__main__":
    main(sys.argv[1:])
