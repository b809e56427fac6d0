"""Records the log of a server that two connections write to in turns.

    python -m tests.recorded.threads.record_threads mysql://root@127.0.0.1:3306 DATADIR FOLDER [SETTING ...]

A setting is a statement that both connections run first. A folder has the log, binlog.000001, and threads.json: the
ids of the two connections. The server's log is emptied before.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pymysql

FIRST, SECOND = range(2)
STEPS = [
    (FIRST, "CREATE DATABASE d"), (FIRST, "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))"),
    (FIRST, "INSERT INTO d.t VALUES (1, 'a'), (2, 'b'), (3, 'c')"), (SECOND, "UPDATE d.t SET v = 'x' WHERE id = 2"),
    (SECOND, "CREATE TABLE d.u (id INT PRIMARY KEY)"), (FIRST, "DELETE FROM d.t WHERE id = 3"), (SECOND, "BEGIN"),
    (SECOND, "INSERT INTO d.t VALUES (4, 'd')"), (SECOND, "INSERT INTO d.u VALUES (9)"), (SECOND, "COMMIT"),
    (SECOND, "XA START 'one'"), (SECOND, "UPDATE d.t SET v = 'y' WHERE id = 1"), (SECOND, "XA END 'one'"),
    (SECOND, "XA PREPARE 'one'"), (SECOND, "XA COMMIT 'one'"), (FIRST, "INSERT INTO d.t VALUES (5, 'e')")]


def main(server: str, datadir: str, folder: str, *settings: str) -> None:
    """Run the steps, and write the folder."""
    place = urlsplit(server)
    connections = [pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username or "root",
                                   autocommit=True) for _ in range(2)]
    cursors = [connection.cursor() for connection in connections]
    cursors[FIRST].execute("SELECT VERSION()")
    is_mariadb = "MariaDB" in cursors[FIRST].fetchone()[0]
    cursors[FIRST].execute("DROP DATABASE IF EXISTS d")
    cursors[FIRST].execute("RESET MASTER" if is_mariadb else "RESET BINARY LOGS AND GTIDS")
    for cursor in cursors:
        for setting in settings:
            cursor.execute(setting)
    for number, statement in STEPS:
        cursors[number].execute(statement)
    cursors[FIRST].execute("FLUSH BINARY LOGS")
    Path(folder).mkdir()
    shutil.copyfile(Path(datadir) / "binlog.000001", Path(folder) / "binlog.000001")
    threads = [connection.thread_id() for connection in connections]
    (Path(folder) / "threads.json").write_text(json.dumps(threads) + "\n")
    print(f"{folder}: threads {threads}")


if __name__ == "__main__":
    main(*sys.argv[1:])
