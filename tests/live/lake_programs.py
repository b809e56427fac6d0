"""`applier archive` and `applier sync` as programs of their own beside a server, for the live run of lakes: they are
killed, ended and cut off at random times, and started again."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pymysql

from applier.binlog.events.gtid import GtidSet
from applier.jobs.publish.iceberg.commits import COMPLETE
from applier.jobs.publish.states import POSITION
from tests.recorded.differential.real_replicas import Server
from tests.support import iceberg_readers
from tests.support.folders import ROOT

PATIENCE_SECONDS = 180.0
KEEP = 300
"""Versions: a comparison reads one that a running sync may not expire meanwhile."""


def catalog_of(folder: Path) -> str:
    """The catalog of Iceberg in the folder of a run."""
    return f"sqlite:///{folder}/catalog.db"


class Programs:
    """`archive` and `sync`, and the rounds that `sync` reported."""

    def __init__(self, server: Server, folder: Path, *, merges: bool):
        self._server, self._folder, self._merges = server, folder, merges
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
            "sync", "--binlogs", f"{folder}/archive", "--lake", f"{folder}/lake", "--every", "1s", "--keep", str(KEEP),
            "--iceberg", catalog_of(folder), *(["--merge-on-read"] if self._merges else ["--delta", f"{folder}/delta"]),
            "--json-log", "--metrics", f"{folder}/health.json", "--target-file-size", "1M", "--system-time-zone",
            "+00:00",
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
        what = choose.choice(["kill sync", "kill sync", "end sync", "kill archive", "end archive", "cut archive",
                              *["compact", "kill compact"] * self._merges])
        if what.endswith("compact"):
            process = self._begun("compact", f"{self._folder}/lake")
            if what == "kill compact":
                time.sleep(choose.uniform(0.5, 3.0))
                process.kill()
            if (code := process.wait(120)) not in (0, 75, -9):
                raise AssertionError(f"{what}: exit code {code}")
            return what
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
        """Return whether all formats stand there: the last round may have been one of a run that was killed after
        it."""
        catalog = iceberg_readers.catalog(self._folder)
        said = map(catalog.load_namespace_properties, catalog.list_namespaces())
        if not any((one.get(POSITION), one.get(COMPLETE)) == (position, "true") for one in said):
            return False
        if self._merges:
            return True
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
