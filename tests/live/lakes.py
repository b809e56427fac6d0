"""A lake follows a running server under random DML and DDL, and every reader finds in it what the server held.

    python -m tests.live.lakes mysql://root@127.0.0.1:3306 mariadb://root@127.0.0.1:3307 --seconds 600 --merge-on-read

Beside each server, this many seconds of work. A URL is as in real_replicas, of a server whose data is nobody's: its
databases and its log are dropped. It has GTIDs and row format. Needs no files of the server.

Several connections write: random DDL (made_ddl), families of tables (made_families), traffic on large tables
(made_traffic). `applier archive` and `applier sync`, with Iceberg and, if the lake has whole files, Delta, run beside
the server as programs of their own; at times one of them is killed, asked to end, or loses its connection, and starts
again; `applier compact` of a lake that merges on read runs and is killed, too. At random times the writers wait until
the lake has a version at just the server's GTID set, and all rows are kept; while they continue, that version is
compared, as applier, its views in DuckDB, pyiceberg, DuckDB, Polars, deltalake and Spark read it (lake_readers). In the
end `fsck` finds no damage in the lake and in the catalog.

A history of DDL that is refused, as LIMITS says, is left out from there on, and another one begins.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pymysql

import applier
from applier.binlog.events.gtid import GtidSet
from tests.live.lake_programs import Programs, catalog_of
from tests.live.lake_readers import ServerState, compare
from tests.live.lake_writers import HistoryWriter, TrafficWriter
from tests.recorded.differential.ddl_histories import Recorder
from tests.recorded.differential.made_ddl import History
from tests.recorded.differential.made_families import Family
from tests.recorded.differential.real_replicas import Server
from tests.support import delta_readers, iceberg_readers
from tests.support.real_server import Wanted, rows_of

SYSTEM = "('mysql', 'sys', 'information_schema', 'performance_schema')"
KINDS = [History, History, History, Family]
CONNECTIONS = 4
"""Of made_traffic."""
CHECK_SECONDS = 4.0, 15.0
"""The shortest and the longest time between comparisons."""


class Run:
    """Work beside one server."""

    def __init__(self, url: str, seed: int, folder: Path, *, merges: bool):
        self._merges = merges
        self.url, self.folder, self.seed = url, folder, seed
        self.server, self.choose = Server(url), random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._numbers = 0
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        self._pending: Future[list[str]] | None = None
        self._state: ServerState | None = None

    def run(self, seconds: float) -> None:
        """Write for this many seconds. Raises AssertionError where it cannot continue."""
        self._new_server()
        self.programs = Programs(self.server, self.folder, merges=self._merges)
        self.writers = [self._history(kind) for kind in KINDS]
        self.writers += [TrafficWriter(self.url, self.seed * 1000 + number, number) for number in range(CONNECTIONS)]
        for writer in self.writers:
            writer.start()
        written, last = 0.0, time.monotonic()
        try:
            is_there = False
            while written < seconds or not is_there:
                time.sleep(self.choose.uniform(*CHECK_SECONDS))
                if self.choose.random() < 0.3:
                    self.counts[self.programs.disturb(self.choose)] += 1
                written += time.monotonic() - last
                is_there = self._check()
                last = time.monotonic()
            self._compared()
            self.programs.end()
            self._wrong([f"fsck: {line}" for line in
                         applier.fsck(self.folder / "lake", iceberg=catalog_of(self.folder)).damaged])
        finally:
            self.programs.kill()
            for writer in self.writers:
                writer.ended.set()
            for writer in self.writers:
                writer.join(30)
            self.counts["rounds"] += len(self.programs.rounds)
            self.counts["steps"] += sum(writer.done for writer in self.writers)
            self._pool.shutdown()

    def _new_server(self) -> None:
        for _, length, _, xid in self.server.run("XA RECOVER"):  # what holds locks since a run that was killed
            with contextlib.suppress(pymysql.err.MySQLError):  # MariaDB says that it has been rolled back
                self.server.run(f"XA ROLLBACK x'{(xid.encode() if isinstance(xid, str) else xid)[:int(length)].hex()}'")
        for name, in self.server.run(f"SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN "
                                     f"{SYSTEM}"):
            self.server.run(f"DROP DATABASE `{name}`")
        self.server.run("RESET BINARY LOGS AND GTIDS" if self.server.flavour == "mysql" else "RESET MASTER")

    def _history(self, kind: type) -> HistoryWriter:
        self._numbers += 1
        return HistoryWriter(self.url, kind, self.seed * 1000 + self._numbers, self._numbers)

    def _check(self) -> bool:
        """Have the writers wait, and keep what the server holds until it is compared; False if `sync` had to begin
        again."""
        with contextlib.ExitStack() as waiting:
            for writer in self.writers:
                waiting.enter_context(writer.lock)
            if failed := [writer.failed for writer in self.writers if writer.failed]:
                raise AssertionError("a writer has ended: " + "; ".join(failed))
            gtids = GtidSet.parse(self.server.run("SELECT @@GLOBAL.gtid_executed" if self.server.flavour == "mysql" else
                                                  "SELECT @@GLOBAL.gtid_binlog_pos")[0][0].replace("\n", ""))
            version = self.programs.version_at(gtids)
            if version is None:
                self._refused()
                return False
            wanted = self._held()
            self._compared()
            self.counts["versions"] += 1
            before, catalog = self._state, iceberg_readers.catalog(self.folder)
            metadata = {name: catalog.load_table(tuple(name.split(".", 1))).metadata_location
                        for name in iceberg_readers.names(self.folder)}
            delta = dict.fromkeys(wanted, 0) if self._merges else self._delta(wanted)
            read = set() if before is None else {name for name in wanted if (metadata.get(name), delta[name]) == (
                before.metadata.get(name), before.delta.get(name))}
            state = ServerState(version, wanted, metadata, delta, read, self.counts["versions"] % 8 == 0)
            self._state = state
        self._pending = self._pool.submit(compare, self.folder, state)
        return True

    def _refused(self) -> None:
        """Leave out the history of a table that cannot be followed, and begin another one."""
        error = self.programs.refused()
        database = re.match(r"h\d+", error.get("table") or "")
        if database is None:
            raise AssertionError(f"sync has ended: {error}")
        # MySQL logs the definition of a CREATE ... SELECT in UTF-8, as of the client's character set:
        # replicas stop, too.
        is_replicas = error["errno"] == 1146 and not error["table"].isascii()
        is_replicas |= error["errno"] == 1032 and self._is_deleted_twice(error["table"], error["gtid"])
        is_limit = error["errno"] is None or "of a row's key has no value" in error["message"] or is_replicas
        if is_limit:
            self.counts["refused"] += 1
            print(f"  refused: {error['message'][:160]}", flush=True)
        else:
            self._wrong([f"sync stopped at {error}"])
        [old] = [writer for writer in self.writers if getattr(writer, "database", None) == database[0]]
        old.ended.set()
        self.writers.remove(old)
        new = self._history(self.choose.choice(KINDS))
        new.start()
        self.writers.append(new)
        self.programs.go_on_without(database[0])

    def _is_deleted_twice(self, table: str, gtid: str) -> bool:
        """Return whether MySQL's log has a row twice in one event of deletes, as LIMITS says: replicas stop, too."""
        deleted = applier.changes(self.folder / "archive", table, base=self.folder / "lake", gtids=gtid).to_arrow()
        rows = [str([value for name, value in row.items() if not name.startswith("_")])
                for row in deleted.to_pylist() if row["_change_type"] == "delete"]
        return self.server.flavour == "mysql" and len(set(rows)) < len(rows)

    def _held(self) -> Wanted:
        """All tables of the server, but those that are left out, with their rows."""
        recorder, found = Recorder(self.server, range(0)), {}
        self.server.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        for database, table in self.server.run(
                f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN {SYSTEM} "
                "AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"):
            if database not in self.programs.ignored:
                columns, rows = recorder.held(database, table)
                found[f"{database}.{table}"] = columns, rows_of(rows)
        self.server.run("COMMIT")
        return found

    def _delta(self, wanted: Wanted) -> dict[str, int]:
        return {name: delta_readers.version(delta_readers.place(self.folder / "delta", *name.split(".", 1)))
                for name in wanted}

    def _compared(self) -> None:
        if self._pending is not None:
            self._wrong(self._pending.result())
            self._pending = None

    def _wrong(self, lines: list[str]) -> None:
        self.wrong += lines
        for line in lines:
            print(f"{self.server.flavour}, seed {self.seed}: {line[:2000]}", flush=True)


def main(words: list[str]) -> int:
    """Say what was found; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.live.lakes", description=__doc__.partition("\n")[0])
    parser.add_argument("urls", nargs="+", metavar="URL", help="mysql://USER@HOST:PORT or mariadb://…")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long writers write (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first server; the next one has the next")
    parser.add_argument("--merge-on-read", action="store_true", help="the lake merges on read")
    asked = parser.parse_args(words)
    wrong, lock = list[str](), threading.Lock()

    def one(number: int, url: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="live-lake-"))
        done = Run(url, asked.seed + number, folder, merges=asked.merge_on_read)
        try:
            done.run(asked.seconds)
        except Exception:
            done.wrong.append(traceback.format_exc())
        with lock:
            print(f"{done.server.flavour}: {dict(done.counts)}", *done.wrong,
                  f"kept in {folder}" if done.wrong else "no difference", sep="\n  ", flush=True)
            wrong.extend(done.wrong)
        if not done.wrong:
            shutil.rmtree(folder)

    threads = [threading.Thread(target=one, args=[number, url]) for number, url in enumerate(asked.urls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
