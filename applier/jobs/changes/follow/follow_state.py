"""The progress of a follower, in a local file that is replaced atomically: which batches it has handed out, and which
of these were acknowledged.

    {"format_version": 3, "acknowledged": 12, "log": {…},
     "offered": [["binlog.000003", 1234, "0-1-5", "blake2b-128:…", 1773484200]]}

`log` is the checkpoint (applier.jobs.changes.checkpoint) at the end of the last acknowledged batch, in a manifest's
format, or null before the first one; `offered` are the ends of later batches, with the GTIDs executed there, which name
the end in the log of another server, too, and the log's tail there and the time of the last group, which tell whether a
log is another one. A batch is recorded here before it is
handed out, so that after a crash the same batches come again, with the same numbers and ends.
"""

from __future__ import annotations

import fcntl
import glob
import os
from dataclasses import dataclass
from types import TracebackType
from typing import Annotated, Any

import orjson

from applier.errors import AnotherRun, ApplierError, SnapshotError, UsageError, reason
from applier.io.disk.new_files import new_output
from applier.io.resolver import is_uri
from applier.io.typed_json import Count, Mismatch, build, loads
from applier.snapshot import manifest
from applier.snapshot.files.file_entries import Digest
from applier.snapshot.manifest import Snapshot
from applier.version import __version__

_FORMAT_VERSION = 3
_Version = Annotated[int, lambda number: "" if 0 < number <= _FORMAT_VERSION else
                     f"is {number}, and this version reads up to {_FORMAT_VERSION}"]
End = tuple[str, int, str, str | None, int | None]
"""The end of a batch, as BinlogPosition has it: a file, an offset, the GTID set there ("" without GTIDs, or in a state
of version 1), tail and timestamp (None if they are unknown, or in an earlier version)."""
_Offered = tuple[str, Count, str, Digest | None, Count | None] | tuple[str, Count, str] | tuple[str, Count]


@dataclass(frozen=True)
class _Document:
    format_version: _Version
    created_by: str
    acknowledged: Count
    offered: tuple[_Offered, ...]
    log: Any


class FollowState:
    """The state in a file, or, without a path, of this process only. A context manager, which one process at a time can
    enter: it holds a lock, of a file beside it, that the kernel drops however the process ends."""

    def __init__(self, path: str | None) -> None:
        if path is not None and is_uri(path):
            raise UsageError("the state must be a file of this machine", file=path)
        self.acknowledged, self.offered = 0, list[End]()
        self.log: Snapshot | None = None
        self._path, self._lock, self._log_json = path, -1, b"null"

    def __enter__(self) -> FollowState:
        if self._path is not None:
            try:
                self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for partial in glob.glob(f"{glob.escape(self._path)}.partial.*"):  # of a run that was killed
                    os.unlink(partial)
                self._load(self._path)
            except BlockingIOError:
                os.close(self._lock)
                raise AnotherRun("another process follows with this state", file=self._path,
                                 hint="stop it, or give another file") from None
            except OSError as error:
                raise UsageError(f"cannot read or write the state: {reason(error)}", file=self._path) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:
        if self._lock >= 0:
            os.close(self._lock)

    def offer(self, end: End) -> None:
        """Note that a batch with this end is handed out. Raises UsageError where the file cannot be written."""
        self.offered.append(end)
        self._write()

    def acknowledge(self, number: int, log: Snapshot) -> None:
        """Note that the batches up to a number are done; `log` is the checkpoint of the end of the last one."""
        del self.offered[:number - self.acknowledged]
        self.acknowledged = number
        self.advance(log)

    def advance(self, log: Snapshot) -> None:
        """Skip everything up to a checkpoint that is later than the acknowledged one."""
        self.log, self._log_json = log, log.to_json()
        self._write()

    def _load(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                text = file.read()
        except FileNotFoundError:
            return
        try:
            found = build(_Document, loads(text))
            self.acknowledged = found.acknowledged
            self.offered = [(*end[:2], *end[2:], *("", None, None)[len(end) - 2:]) for end in found.offered]
            if found.log is not None:
                self._log_json = orjson.dumps(found.log)
                self.log = manifest.from_json(found.log, "")
        except (Mismatch, ApplierError) as error:
            what = error if isinstance(error, Mismatch) else error.message
            raise SnapshotError(f"the state is damaged: {what}", file=path,
                                hint="restore the file, or remove it and say where to begin (after)") from error

    def _write(self) -> None:
        if self._path is None:
            return
        document = {"format_version": _FORMAT_VERSION, "created_by": f"applier {__version__}",
                    "acknowledged": self.acknowledged, "offered": self.offered, "log": orjson.Fragment(self._log_json)}
        try:
            with new_output(self._path, replaces=True) as partial, open(partial, "wb") as file:
                file.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
        except OSError as error:
            raise UsageError(f"cannot write the state: {reason(error)}", file=self._path) from error
