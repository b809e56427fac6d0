"""Health files of a `sync`, for probes and for Prometheus.

A file is replaced after each check of the archive, whether there was anything new or not, so that a probe can see
from its age that the process hangs or is gone:

    FILE.json   {"state": "following" | "failing" | "ended", "checked": seconds since 1970, "lag": seconds or null,
                 "rounds", "changes", "failures": counts since the start, "last": the last round (round.py)}
    FILE.prom   the same figures as Prometheus' text format, for the textfile collector of its node exporter

`lag` is 0 when a check found nothing new, else how far the last version was behind when its round ended; while rounds
fail, it grows with the clock.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import orjson

from applier.errors import ArchiveError, reason
from applier.jobs.sync.round import Round

_PROMETHEUS = ".prom"


@dataclass
class Health:
    """The rounds since the start, written to `files` after each look."""

    files: Sequence[str] = ()
    state: str = "following"
    rounds: int = 0
    changes: int = 0
    failures: int = 0
    last: Round = field(default_factory=Round)
    lag: float | None = None

    def seen(self, done: Round | None) -> None:
        """Note what a look at the archive led to; None: there was nothing new. Raises ArchiveError if a file cannot be
        written."""
        now = time.time()
        if done is None:
            self.state, self.lag = "following", 0.0
        elif done.error is not None:
            behind = None if done.timestamp is None else max(0.0, now - done.timestamp)
            self.state, self.lag, self.last = "failing", behind, done
            self.failures += 1
        else:
            self.state, self.lag, self.last = "following", done.lag, done
            self.rounds += 1
            self.changes += done.changes
        self._write(now)

    def ended(self) -> None:
        """Note that the job has ended. Raises ArchiveError if a file cannot be written."""
        self.state = "ended"
        self._write(time.time())

    def _write(self, now: float) -> None:
        for file in self.files:
            text = self._prometheus(now) if file.endswith(_PROMETHEUS) else self._json(now)
            hidden = f"{file}.{uuid.uuid4().hex}"
            try:
                with open(hidden, "xb") as stream:
                    stream.write(text)
                os.replace(hidden, file)
            except OSError as error:
                with suppress(OSError):
                    os.unlink(hidden)
                raise ArchiveError(f"the file of --health cannot be written: {reason(error)}", file=file) from error

    def _json(self, now: float) -> bytes:
        known = {"state": self.state, "checked": now, "lag": self.lag, "rounds": self.rounds, "changes": self.changes,
                 "failures": self.failures, "last": self.last.document()}
        return orjson.dumps(known, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def _prometheus(self, now: float) -> bytes:
        figures = [
            ("up", "gauge", "1 while rounds succeed, 0 after one that failed and after the end",
             int(self.state == "following")),
            ("checked_timestamp_seconds", "gauge", "when the archive was looked at last", now),
            ("lag_seconds", "gauge", "how far the lake is behind the archive, 0 where that has nothing new", self.lag),
            ("version", "gauge", "the lake's version", self.last.version),
            ("position_timestamp_seconds", "gauge", "when its last event group was written: old, too, where nothing "
             "comes into the archive", self.last.timestamp),
            ("round_seconds", "gauge", "how long the last round took", self.last.seconds),
            ("rounds_total", "counter", "rounds that made or published a version", self.rounds),
            ("changes_total", "counter", "row changes that were applied", self.changes),
            ("failures_total", "counter", "rounds that failed", self.failures),
        ]
        return "".join(f"# HELP applier_sync_{name} {text}\n# TYPE applier_sync_{name} {kind}\n"
                       f"applier_sync_{name} {value}\n"
                       for name, kind, text, value in figures if value is not None).encode()
