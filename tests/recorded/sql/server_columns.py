"""How the recorders beside this module ask a real server for generated columns, and write what it holds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@contextmanager
def computing(url: str) -> Iterator[tuple[Any, str]]:
    """Yield a cursor of the server at a URL (mysql://USER@HOST:PORT) in an empty database, which is dropped afterwards,
    and the server's version. The session writes no log, has an empty sql_mode, and is in UTC."""
    import pymysql

    place = urlsplit(url)
    with pymysql.connect(host=place.hostname, port=place.port, user=place.username or "root", charset="utf8mb4",
                         password=place.password or "", autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        [[version]] = cursor.fetchall()
        cursor.execute("SET SESSION sql_log_bin = 0, sql_mode = '', time_zone = '+00:00'")
        cursor.execute("CREATE DATABASE computed CHARACTER SET utf8mb4")
        cursor.execute("USE computed")
        yield cursor, version
        cursor.execute("DROP DATABASE computed")


def make_base(cursor: Any, columns: dict[str, str], rows: Iterable[list[Any]]) -> None:
    """Make the table `base` of columns, by name and type, with rows numbered `k`."""
    defined = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    cursor.execute(f"CREATE TABLE base (k INT PRIMARY KEY AUTO_INCREMENT, {defined})")
    for row in rows:
        cursor.execute(f"INSERT INTO base ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(row))})", row)


def shown(kind: str) -> str:
    """The value g as text that tells it exactly."""
    if kind.startswith(("VARBINARY", "BLOB")):
        return "HEX(g)"
    if kind.startswith(("FLOAT", "DOUBLE")):
        return "CAST(CAST(g AS DOUBLE) AS CHAR)"
    return "CAST(g + 0 AS CHAR)" if kind.startswith("BIT") else "CAST(g AS CHAR CHARACTER SET utf8mb4)"


def write(recorded: Path, cases: Iterable[dict[str, Any]]) -> None:
    """Write cases, one JSON document a line."""
    lines = [json.dumps(case, ensure_ascii=False) + "\n" for case in cases]
    recorded.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{len(lines)} columns are in {recorded}")
