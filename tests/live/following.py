"""A follower of a running server that is killed at random times: `python -m tests.live.following URL [KILLS]`.

The server is written to by several sessions: transactions, XA transactions that stay prepared for a while, ADD and
DROP COLUMN, TRUNCATE, new binlogs. `applier changes --follow --source` copies its log and writes batches; it is killed
and started again, and files that it no longer needs are removed. What it wrote is then applied line by line, in the
order of the batches: each row must be as its change says, and in the end the rows must be the server's. So each
change came once, and in the order of commits.

A run makes and drops a database of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql

from tests.live.live_server import LiveServer

DATABASE = "followed"
TABLES = ("a", "b")
WRITERS = 4
COLUMNS = "id", "n", "s"


@contextmanager
def suppress_deadlocks() -> Iterator[None]:
    """Let a session end with a deadlock, after which another one continues."""
    try:
        yield
    except pymysql.OperationalError as error:
        if error.args[0] not in (1205, 1213):
            raise


class Writer(threading.Thread):
    """Writes rows whose ids are its own, until it is asked to stop."""

    def __init__(self, server: LiveServer, number: int, stopped: threading.Event) -> None:
        super().__init__()
        self._server, self._number, self._stopped = server, number, stopped
        self._chance = random.Random(number)
        self._xid = 0
        self.transactions = 0
        self.error: BaseException | None = None

    def run(self) -> None:
        """Write."""
        try:
            while not self._stopped.is_set():
                with self._server.connect() as connection, connection.cursor() as cursor, suppress_deadlocks():
                    self._write(cursor)
        except BaseException as error:
            self.error = error

    def _write(self, cursor: Any) -> None:
        cursor.execute(f"USE {DATABASE}")
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")  # few locks of others' rows
        while not self._stopped.is_set():
            self._transaction(cursor)
            self.transactions += 1

    def _transaction(self, cursor: Any) -> None:
        chance = self._chance
        is_xa = chance.random() < 0.3
        xid = f"'x{self._number}-{self._xid}'"
        self._xid += 1
        cursor.execute(f"XA START {xid}" if is_xa else "BEGIN")
        for _ in range(chance.randint(1, 6)):
            table, id = chance.choice(TABLES), chance.randrange(200) * WRITERS + self._number
            own = ", ".join(map(str, range(self._number, id + 1, 40)))
            cursor.execute(chance.choice([
                f"REPLACE INTO {table} (id, n, s) VALUES ({id}, {chance.randrange(1000)}, 'it''s {id}')",
                f"INSERT INTO {table} (id, n, s) VALUES ({id}, 0, NULL) ON DUPLICATE KEY UPDATE n = n + 1",
                f"UPDATE {table} SET n = n + 1 WHERE id IN ({own})",
                f"DELETE FROM {table} WHERE id = {id}"]))
        if not is_xa:
            cursor.execute(chance.choice(["COMMIT"] * 5 + ["ROLLBACK"]))
            return
        cursor.execute(f"XA END {xid}")
        cursor.execute(f"XA PREPARE {xid}")
        self._stopped.wait(chance.random() ** 3)
        cursor.execute(f"XA {chance.choice(['COMMIT'] * 5 + ['ROLLBACK'])} {xid}")


def change_definitions(server: LiveServer, stopped: threading.Event) -> None:
    """Change tables and begin binlogs, until it is asked to stop."""
    chance, number = random.Random(), 0
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"USE {DATABASE}")
        while not stopped.wait(chance.random() * 3):
            table, number = chance.choice(TABLES), number + 1
            for sql in chance.choice([
                    ["FLUSH BINARY LOGS"], ["FLUSH BINARY LOGS"], [f"TRUNCATE TABLE {table}"],
                    [f"ALTER TABLE {table} ADD COLUMN c{number} INT DEFAULT {number} AFTER id",
                     f"ALTER TABLE {table} DROP COLUMN c{number}"],
                    [f"CREATE TABLE {table}_new LIKE {table}", f"DROP TABLE {table}_new"]]):
                cursor.execute(sql)


class Follower:
    """Runs of a follower, in a folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._command = [sys.executable, "-m", "applier", "changes", "--binlogs", f"{folder}/log", "--follow",
                         "--source", url, "--state", f"{folder}/state", "--every", "0.1s", "--tables",
                         ",".join(f"{DATABASE}.{table}" for table in TABLES), "--output", f"{folder}/sink"]

    def run(self, seconds: float) -> None:
        """A run that is killed a while after it wrote its first batch."""
        with subprocess.Popen(self._command, stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            if not run.stdout.readline():
                raise AssertionError(f"the follower ended with exit code {run.wait()}")
            time.sleep(seconds)
            os.kill(run.pid, signal.SIGKILL)

    def finish(self) -> None:
        """A run to the end of the log."""
        subprocess.run([*self._command, "--until-now"], check=True, stdout=subprocess.DEVNULL)

    def purge(self) -> int:
        """Remove files that the state is past; how many."""
        state = self._folder / "state"
        known = json.loads(state.read_bytes())["log"] if state.exists() else None
        if known is None:
            return 0
        needed = min(known["position"]["file"], *(entry["file"] for entry in known["prepared"]), "~")
        files = [file for file in (self._folder / "log").iterdir() if "." in file.name and file.name < needed]
        for file in files:
            if not file.name.startswith(("_", ".")):
                file.unlink()
        return len(files)

    def rows(self) -> tuple[int, dict[str, dict[int, tuple[Any, ...]]]]:
        """Return how many changes were written, and the rows that they lead to, by table and id. Raises AssertionError
        for a change that does not fit."""
        tables: dict[str, dict[int, tuple[Any, ...]]] = {table: {} for table in TABLES}
        last, n_changes = dict.fromkeys(TABLES, (0, 0)), 0
        for batch in sorted((self._folder / "sink").iterdir()):
            for table in TABLES:
                for line in (batch / DATABASE / table / "changes.jsonl").open() if (
                        batch / DATABASE / table).exists() else ():
                    change = json.loads(line)
                    at, n_changes = (change["commit_version"], change["seq"]), n_changes + 1
                    assert last[table] < at, f"{batch.name}: {line} comes after {last[table]}"
                    last[table] = at
                    _apply(tables[table], change)
        return n_changes, tables


def _apply(rows: dict[int, tuple[Any, ...]], change: dict[str, Any]) -> None:
    before, after = ((None if image is None else tuple(image[name] for name in COLUMNS))
                     for image in (change["before"], change["after"]))
    if change["op"] == "truncate":
        rows.clear()
    if before is not None:
        assert rows.pop(before[0], None) == before, f"{change} finds another row"
    if after is not None:
        assert after[0] not in rows, f"{change} comes twice"
        rows[after[0]] = after


def main(url: str, kills: int) -> None:
    """Write and follow."""
    server, stopped, chance = LiveServer(url), threading.Event(), random.Random()
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
        for table in TABLES:
            cursor.execute(f"CREATE TABLE {DATABASE}.{table} (id INT PRIMARY KEY, n INT, s VARCHAR(50)) ENGINE=InnoDB")
    writers = [Writer(server, number, stopped) for number in range(WRITERS)]
    changing = threading.Thread(target=change_definitions, args=(server, stopped))
    with tempfile.TemporaryDirectory(prefix="following-") as folder:
        place = server.place
        follower = Follower(Path(folder), f"mysql://{place.username}@{place.hostname}:{place.port}")
        for thread in (*writers, changing):
            thread.start()
        purged, began = 0, time.monotonic()
        try:
            for _ in range(kills):
                follower.run(chance.random() ** 2)
                purged += follower.purge()
        finally:
            stopped.set()
            for thread in (*writers, changing):
                thread.join()
        for error in filter(None, (writer.error for writer in writers)):
            raise error
        follower.finish()
        n_changes, found = follower.rows()
        with server.connect() as connection, connection.cursor() as cursor:
            for table in TABLES:
                cursor.execute(f"SELECT id, n, s FROM {DATABASE}.{table}")
                wanted = {int(id): (int(id), int(n), s) for id, n, s in cursor.fetchall()}
                assert found[table] == wanted, f"{table} differs"
            cursor.execute(f"DROP DATABASE {DATABASE}")
        n_batches = len([*(Path(folder) / "sink").iterdir()])
    print(f"{server.flavour} {'.'.join(map(str, server.version))}: {kills} kills in {time.monotonic() - began:.0f} s, "
          f"{sum(writer.transactions for writer in writers):,} transactions, {n_changes:,} changes in {n_batches:,} "
          f"batches, {purged} files purged: each change came once, and the rows are the server's")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 200)
    except pymysql.Error as error:
        sys.exit(f"the server: {error}")
