"""The proof: both archives are replayed, from the same base, and the snapshots and all changes compared."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.io.progress import Progress
from applier.io.temporary import temporary_directory
from applier.jobs.diff.job import diff
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.jobs.rewrite.changes_proof import compare_changes
from applier.jobs.rewrite.result import Proof
from applier.options import DiffOptions, ReplayOptions
from applier.snapshot import manifest

_HINT = "this is a defect; nothing is written"


class Replays:
    """Replays of an archive and of what is written of it. The first is made before anything is written, since what
    cannot be replayed cannot be proven."""

    def __init__(self, base: str | None, progress: Progress) -> None:
        self._base, self._progress = base, progress
        self._folder = TemporaryDirectory(prefix="applier-rewrite-", dir=temporary_directory())
        self._made: list[ReplayResult] = []
        self._binlogs: list[tuple[str, ...]] = []
        self.notes: list[str] = []  # of the proof, for people

    def __enter__(self) -> Replays:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def add(self, binlogs: tuple[str, ...]) -> ReplayResult:
        """Replay an archive. Raises ApplierError where a replica would stop."""
        output = os.path.join(self._folder.name, str(len(self._made)))
        options = ReplayOptions(binlogs, output, self._base)
        self._binlogs.append(binlogs)
        self._made.append(replay_with(ThisProcess(os.cpu_count() or 1), options, self._progress))
        return self._made[-1]

    def proof(self) -> Proof:
        """Compare both. Raises ApplierError if they are not the same."""
        before, after = self._made
        if before.gtid_set != after.gtid_set:
            raise ApplierError(f"the rewritten archive executes {after.gtid_set}, not {before.gtid_set}", hint=_HINT)
        for of, what in ((_changes, "changes"), (_prepared, "prepared transactions")):
            if of(before) != of(after):
                raise ApplierError(f"the rewritten archive has other {what}", hint=_HINT)
        compared = diff(DiffOptions(before.snapshot, after.snapshot), self._progress)
        for table in compared.tables.values():
            if not table.same or table.definitions[0] != table.definitions[1]:
                raise ApplierError("the rewritten archive leaves other rows", table=table.full_name, hint=_HINT)
        first, second = self._binlogs
        self.notes += compare_changes(first, second, self._base, self._progress)
        return Proof(len(compared.tables), sum(table.rows_after for table in compared.tables.values()), after.changes,
                     after.gtid_set, after.position)


def _changes(result: ReplayResult) -> dict[str, tuple[int, ...]]:
    """How many changes there were, by table and kind."""
    return {table.full_name: (table.inserts, table.updates, table.deletes, table.by_foreign_keys)
            for table in result.tables}


def _prepared(result: ReplayResult) -> list[str]:
    """The XA transactions that are prepared at the end."""
    return sorted(entry.xid for entry in manifest.load(result.snapshot).prepared)
