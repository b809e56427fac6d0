"""The metrics of a `sync`, for probes and for Prometheus.

A file is replaced after each check of the archive, whether there was anything new or not, so that a probe can see
from its age that the process hangs or is gone. Its JSON document:

    {"job": "sync", "output": the lake, "state": "following" | "failing" | "ended", "checked": seconds since 1970,
     "lag": seconds or null, "rounds", "changes", "bytes_written", "failures": counts since the start,
     "last": the last round (round.py)}

`lag` is 0 when a check found nothing new, else how far the last version was behind when its round ended; while rounds
fail, it grows with the clock.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from applier.jobs.sync.round import Round
from applier.jobs.telemetry.figures import Figure, position_figures
from applier.jobs.telemetry.files import write_metrics


@dataclass
class Health:
    """The rounds since the start, written to `files` after each look."""

    lake: str
    files: Sequence[str] = ()
    state: str = "following"
    rounds: int = 0
    changes: int = 0
    bytes_written: int = 0
    failures: int = 0
    last: Round = field(default_factory=Round)
    lag: float | None = None

    def seen(self, done: Round | None) -> None:
        """Note what a look at the archive led to; None: there was nothing new."""
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
            self.bytes_written += done.bytes_written
        self._write(now)

    def ended(self) -> None:
        """Note that the job has ended."""
        self.state = "ended"
        self._write(time.time())

    def _write(self, now: float) -> None:
        if self.files:
            write_metrics(self.files, "sync", self.lake, self._figures(now), {
                "state": self.state, "checked": now, "lag": self.lag, "rounds": self.rounds, "changes": self.changes,
                "bytes_written": self.bytes_written, "failures": self.failures, "last": self.last.document()})

    def _figures(self, now: float) -> list[Figure]:
        return [
            Figure("up", "gauge", "1 while rounds succeed, 0 after one that failed and after the end",
                   int(self.state == "following")),
            Figure("checked_timestamp_seconds", "gauge", "when the archive was looked at last", now),
            Figure("lag_seconds", "gauge", "how far the lake is behind the archive, 0 where that has nothing new",
                   self.lag),
            Figure("version", "gauge", "the lake's version", self.last.version),
            *position_figures(self.last.position, self.last.timestamp),
            Figure("round_seconds", "gauge", "how long the last round took", self.last.seconds),
            Figure("rounds_total", "counter", "rounds that made or published a version", self.rounds),
            Figure("changes_total", "counter", "row changes that were applied", self.changes),
            Figure("written_bytes_total", "counter", "size of the files that were written", self.bytes_written),
            Figure("failures_total", "counter", "rounds that failed", self.failures)]
