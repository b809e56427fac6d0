"""The result of one round of `sync`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from applier.binlog.locating.place import Executed, Timed
from applier.errors import ApplierError
from applier.jobs.publish.result import Published
from applier.jobs.telemetry.figures import error_document


@dataclass(frozen=True, kw_only=True)
class Round(Timed, Executed):
    """One round: the lake's position after it, at version 0 while it has none, whether it made that version, and the
    work.

    `timestamp` is when the last event group of the version was written, in seconds since 1970; `lag` how long after
    that the round ended, in seconds, 0 where the archive had nothing new, None without a timestamp. `files_written` are
    those of tables, of `bytes_written`. `published` has an entry for each format that was brought to this version.
    `expired` is how many versions were removed. `seconds` is the time that the round took. `error` is the error of a
    failed round: a later one repeats its work.
    """

    version: int = 0
    is_new: bool = False
    position: str = ""
    gtid_set: str = ""
    timestamp: int | None = None
    changes: int = 0
    files_written: int = 0
    files_kept: int = 0
    bytes_written: int = 0
    published: tuple[Published, ...] = ()
    expired: int = 0
    seconds: float = 0.0
    lag: float | None = None
    notes: tuple[str, ...] = ()
    error: ApplierError | None = None

    def document(self) -> dict[str, Any]:
        """Return the round as JSON."""
        return {
            "version": self.version, "position": self.position, "gtid_set": self.gtid_set, "timestamp": self.timestamp,
            "changes": self.changes, "files_written": self.files_written, "files_kept": self.files_kept,
            "bytes_written": self.bytes_written,
            "published": [published.catalog for published in self.published], "expired": self.expired,
            "seconds": round(self.seconds, 3), "lag": None if self.lag is None else round(self.lag, 3),
            "notes": list(self.notes),
            "error": None if self.error is None else error_document(self.error),
        }
