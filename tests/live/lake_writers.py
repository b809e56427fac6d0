"""Connections that write random rows and DDL to a server, for the live run of lakes."""

from __future__ import annotations

import contextlib
import random
import threading
import traceback

import pymysql

from tests.recorded.differential.ddl_histories import Recorder
from tests.recorded.differential.made_traffic import Traffic
from tests.recorded.differential.real_replicas import Server


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
        # an ALTER gives up: it may wait for a prepared XA transaction, whose writer may have to wait for a comparison
        self._cursor.execute("SET sql_log_bin = 1, time_zone = '+00:00', lock_wait_timeout = 5")
        for statement in self._traffic.first():
            self._cursor.execute(statement)

    def step(self) -> None:
        for statement in self._traffic.step():
            with contextlib.suppress(pymysql.err.MySQLError):
                self._cursor.execute(statement)
