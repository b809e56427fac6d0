"""A lake follows a real server under random DML and DDL, and every reader finds in it what the server held.

As `python -m tests.recorded.differential.real_lakes SECONDS SEED URL…`: beside each server, this many seconds of work.
A URL is as in real_replicas, of a server on this machine whose data is nobody's: its databases and its log are dropped.

Several connections write: random DDL (made_ddl), families of tables (made_families), traffic on large tables
(made_traffic). `applier archive` and `applier sync`, with both formats, run beside the server as programs of their own;
at times one of them is killed, asked to end, or loses its connection, and begins again. At random times the writers
wait until the lake has a version at just the server's GTID set, and all rows are kept; while they continue, that
version is compared, as pyiceberg, DuckDB, Polars, deltalake and Spark read it, and as its files are.

A history of DDL that is refused, as LIMITS says, is left out from there on, and another one begins.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
from pyiceberg.table import Table

import applier
from applier.binlog.events.gtid import GtidSet
from applier.snapshot import manifest
from tests.recorded.differential.ddl_histories import Recorder
from tests.recorded.differential.made_ddl import History
from tests.recorded.differential.made_families import Family
from tests.recorded.differential.made_traffic import Traffic
from tests.recorded.differential.real_replicas import Server
from tests.support import delta_readers, iceberg_readers
from tests.support.folders import ROOT
from tests.support.real_server import Wanted, differences_of, read_differences, rows_of

SYSTEM = "('mysql', 'sys', 'information_schema', 'performance_schema')"
KINDS = [History, History, History, Family]
CONNECTIONS = 4
"""Of made_traffic."""
CHECK_SECONDS, PATIENCE_SECONDS = (4.0, 15.0), 180.0
KEEP = 300
"""Versions: a comparison reads one that a running sync may not expire meanwhile."""


class Writer(threading.Thread):
    """A connection that takes steps, one at a time under its lock, until it `ended`."""

    def __init__(self, url: str, pauses: random.Random):
        super().__init__(daemon=True)
        self.lock, self.ended, self.done, self.failed = threading.Lock(), threading.Event(), 0, ""
        self.server, self._pauses = Server(url), pauses
        self.work = self.server.connect()

    def run(self) -> None:
        """Steps, with waits between."""
        try:
            while not self.ended.wait(self._pauses.choice([0.0, 0.01, 0.05, 0.3])):
                with self.lock:
                    self.step()
                    self.done += 1
        except Exception:
            self.failed = traceback.format_exc()

    def step(self) -> None:
        """One step, after which no transaction is open."""
        raise NotImplementedError


class HistoryWriter(Writer):
    """A history in a database of its own, and one beside it."""

    def __init__(self, url: str, kind: type, seed: int, number: int):
        super().__init__(url, random.Random(seed))
        self.database = f"h{number}"
        self._recorder = Recorder(self.server, range(seed, seed + 1), lambda seed, flavour, _: kind(
            seed, flavour, self.database))
        self._cursor = self.work.cursor()
        self._cursor.execute("SET sql_log_bin = 1, time_zone = '+02:00'")
        if self.server.flavour == "mariadb":
            self._cursor.execute("SET system_versioning_alter_history = KEEP")
        self._cursor.execute(f"CREATE DATABASE {self.database} CHARACTER SET utf8mb4")

    def step(self) -> None:
        self._recorder.step(self._cursor, self._recorder.histories[0])


class TrafficWriter(Writer):
    """One of the connections that share the database `w`."""

    def __init__(self, url: str, seed: int, number: int):
        super().__init__(url, random.Random(seed))
        self._traffic = Traffic(seed, self.server.flavour, "w", number)
        self._cursor = self.work.cursor()
        self._cursor.execute("SET sql_log_bin = 1, time_zone = '+00:00'")
        for statement in self._traffic.first():
            self._cursor.execute(statement)

    def step(self) -> None:
        for statement in self._traffic.step():
            with contextlib.suppress(pymysql.err.MySQLError):
                self._cursor.execute(statement)


@dataclass(frozen=True)
class ServerState:
    """What the server held at a GTID set, and how the version is read that stands there: locations of Iceberg's
    metadata, and versions of Delta's tables. Those that readers `read` at the state before are as they were."""

    version: int
    wanted: Wanted
    metadata: dict[str, str]
    delta: dict[str, int]
    read: set[str]
    with_spark: bool


class Programs:
    """`archive` and `sync`, and the rounds that `sync` reported."""

    def __init__(self, server: Server, folder: Path):
        self._server, self._folder = server, folder
        self.rounds: list[dict[str, Any]] = []
        self.ignored: list[str] = []
        self._news = threading.Condition()
        self._log = open(folder / "programs.log", "w")
        self.archive, self.sync = self._archiving(), self._following()

    def _archiving(self) -> subprocess.Popen[str]:
        place = self._server.place
        return self._begun("archive", "--source", f"mysql://{place.username}@{place.hostname}:{place.port}", "--output",
                           str(self._folder / "archive"))

    def _following(self) -> subprocess.Popen[str]:
        folder = self._folder
        begun = self._begun(
            "sync", "--binlogs", f"{folder}/archive", "--lake", f"{folder}/lake", "--every", "1s", "--iceberg",
            f"sqlite:///{folder}/catalog.db", "--delta", f"{folder}/delta", "--keep", str(KEEP), "--json-log",
            "--health", f"{folder}/health.json", "--target-file-size", "1M", "--system-time-zone", "+00:00",
            *(["--ignore-tables", ",".join(self.ignored)] if self.ignored else []))
        threading.Thread(target=self._listen, args=[begun], daemon=True).start()
        return begun

    def _begun(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", "applier", *words], cwd=ROOT, text=True, stderr=self._log,
                                stdout=subprocess.PIPE if words[0] == "sync" else self._log)

    def _listen(self, of: subprocess.Popen[str]) -> None:
        for line in of.stdout:
            with self._news:
                self.rounds.append(json.loads(line))
                self._news.notify_all()
        of.wait()
        with self._news:
            self._news.notify_all()

    def disturb(self, choose: random.Random) -> str:
        """Kill one of both, ask it to end, or take its connection away; it begins again."""
        what = choose.choice(["kill sync", "kill sync", "end sync", "kill archive", "end archive", "cut archive"])
        if what == "cut archive":
            for number, in self._server.run(
                    "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'"):
                with contextlib.suppress(pymysql.err.MySQLError):
                    self._server.run(f"KILL {number}")
            return what
        is_sync = what.endswith("sync")
        process = self.sync if is_sync else self.archive
        process.send_signal(signal.SIGKILL if what.startswith("kill") else signal.SIGTERM)
        code = process.wait(120)
        # 1: it had ended by itself; -15: it had not begun
        if code not in ((-9, 1) if what == "kill sync" else (-9,) if what.startswith("kill") else (0, 1, -15)):
            raise AssertionError(f"{what}: exit code {code}")
        time.sleep(choose.choice([0, 0, 3]))
        if not is_sync:
            self.archive = self._archiving()
        elif code != 1:  # a refusal, of which `refused` tells
            self.sync = self._following()
        return what

    def version_at(self, gtids: GtidSet) -> int | None:
        """Wait for the round after which lake and formats stand at a GTID set; None if `sync` has ended."""
        until = time.monotonic() + PATIENCE_SECONDS
        with self._news:
            while time.monotonic() < until:
                last = self.rounds[-1] if self.rounds else None
                if last and last["error"] is None and GtidSet.parse(last["gtid_set"]) == gtids and \
                        self._published(last["position"]):
                    return last["version"]
                if self.sync.poll() is not None:
                    return None
                if self.archive.poll() is not None:
                    raise AssertionError(f"archive has ended with {self.archive.poll()}")
                self._news.wait(0.2)
        raise AssertionError(f"the lake is not at {gtids} after {PATIENCE_SECONDS} seconds, but at {last}")

    def _published(self, position: str) -> bool:
        """Return whether both formats stand there: the last round may have been one of a run that was killed after
        it."""
        marker = self._folder / "delta/_applier.json"
        return marker.exists() and (known := json.loads(marker.read_text()))["position"] == position and \
            known["complete"]

    def refused(self) -> dict[str, Any]:
        """Why `sync` has ended by itself. Raises AssertionError for any other reason than a table."""
        health = self._folder / "health.json"
        last = json.loads(health.read_text())["last"]["error"] if health.exists() else None
        if self.sync.wait(60) != 1 or last is None:
            raise AssertionError(f"sync has ended with {self.sync.wait()}, see {self._log.name}")
        return last

    def go_on_without(self, database: str) -> None:
        """Follow again, without a history."""
        self.ignored += [database, database + "b"]
        self.sync = self._following()

    def end(self) -> None:
        """End both. Raises AssertionError where one does not end well."""
        for process in (self.sync, self.archive):
            process.send_signal(signal.SIGTERM)
            code = process.wait(120)
            if code:
                raise AssertionError(f"{process.args[3]} ended with {code}")

    def kill(self) -> None:
        for process in (self.sync, self.archive):
            process.kill()


class Run:
    """Work beside one server."""

    def __init__(self, url: str, seed: int, folder: Path):
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
        self.programs = Programs(self.server, self.folder)
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
            catalog = iceberg_readers.catalog(self.folder)
            metadata = {name: catalog.load_table(tuple(name.split(".", 1))).metadata_location
                        for name in iceberg_readers.names(self.folder)}
            delta, before = self._delta(wanted), self._state
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
        rows = [str(row | {"_row": None}) for row in deleted.to_pylist() if row["_change_type"] == "delete"]
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


def compare(folder: Path, state: ServerState) -> list[str]:
    """What readers find in a version that the server did not hold, or the other way round."""
    about, lake = f"version {state.version}", folder / "lake/_versions" / f"{state.version:010}"
    found = [f"{about}: {line}" for line in differences_of(lake, state.wanted)]
    if names := state.metadata.keys() ^ state.wanted.keys():
        found.append(f"{about}: the catalog has, or has not, {sorted(names)}")
    snapshot = manifest.load(str(lake))
    for table in snapshot.tables:
        name = f"{table.database}.{table.name}"
        if name not in state.wanted or name not in state.metadata or name in state.read:
            continue
        place = delta_readers.place(folder / "delta", table.database, table.name)
        readers = {f"Iceberg, {read.__name__}": partial(_of_iceberg, read, state.metadata[name])
                   for read in iceberg_readers.READERS}
        readers |= {f"Delta, {read.__name__}": partial(read, place, state.delta[name])
                    for read in delta_readers.READERS}
        if state.with_spark:
            readers["files, with_spark"] = partial(
                _with_spark, [f"{snapshot.root}/{file.path}" for file in table.files])
        for reader, read in readers.items():
            try:
                lines = read_differences(read(), *state.wanted[name])
            except Exception as error:
                lines = [f"it fails: {error!r}"]
            found += [f"{about}: {name}: {reader}: {line}" for line in lines]
    return found


def _of_iceberg(read: Callable[[Table], pa.Table], metadata: str) -> pa.Table:
    return read(iceberg_readers.table_at(metadata))


def _with_spark(paths: list[str]) -> pa.Table:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).config(
        "spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "1g").getOrCreate()
    return session.read.parquet(*paths).toArrow()


def main(words: list[str]) -> int:
    """Say what was found; 1 if something was wrong."""
    wrong, lock = list[str](), threading.Lock()

    def one(number: int, url: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="real-lake-"))
        done = Run(url, int(words[1]) + number, folder)
        try:
            done.run(float(words[0]))
        except Exception:
            done.wrong.append(traceback.format_exc())
        with lock:
            print(f"{done.server.flavour}: {dict(done.counts)}", *done.wrong,
                  f"kept in {folder}" if done.wrong else "no difference", sep="\n  ", flush=True)
            wrong.extend(done.wrong)
        if not done.wrong:
            shutil.rmtree(folder)

    threads = [threading.Thread(target=one, args=[number, url]) for number, url in enumerate(words[2:])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return int(bool(wrong))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
