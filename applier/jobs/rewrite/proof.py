"""The proof: both archives are replayed, from the same base, and the snapshots and all changes compared."""

from __future__ import annotations

import os
from collections.abc import Callable
from tempfile import TemporaryDirectory

from applier.binlog.events.gtid import GtidSet
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.io.progress import Progress
from applier.io.temporary import temporary_directory
from applier.jobs.diff.job import diff
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.jobs.rewrite.changes_proof import compare_changes
from applier.jobs.rewrite.result import Proof
from applier.options import DiffOptions, ReplayOptions, RewriteOptions
from applier.snapshot import manifest

_HINT = "this is a bug in applier; nothing was written"


class Replays:
    """Replays of an archive and of what is written of it. The first is made before anything is written, since what
    cannot be replayed cannot be proven."""

    def __init__(self, options: RewriteOptions, progress: Progress) -> None:
        self._options, self._progress = options, progress
        self._folder = TemporaryDirectory(prefix="applier-rewrite-", dir=temporary_directory())
        self._made: list[ReplayResult] = []
        self.notes: list[str] = []  # of the proof, for people

    def __enter__(self) -> Replays:
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def original(self) -> ReplayResult:
        """Replay the archive, with its filters. Raises ApplierError where a replica would stop."""
        return self._add(self._options.replaying)

    def rewritten(self, binlogs: tuple[str, ...]) -> ReplayResult:
        """Replay what was written, without filters."""
        self._output = binlogs
        return self._add(lambda output: ReplayOptions(binlogs, output, self._options.base))

    def _add(self, options: Callable[[str], ReplayOptions]) -> ReplayResult:
        output = os.path.join(self._folder.name, str(len(self._made)))
        self._made.append(replay_with(ThisProcess(os.cpu_count() or 1), options(output), self._progress))
        return self._made[-1]

    def proof(self) -> Proof:
        """Compare both. Raises ApplierError if they are not the same."""
        (before, after), options = self._made, self._options
        if not _executes_as(before.gtid_set, after.gtid_set, options):
            raise ApplierError(f"the rewritten archive executes {after.gtid_set}, not {before.gtid_set}", hint=_HINT)
        for of, what in ((_changes, "changes"), (_prepared, "prepared transactions")):
            if of(before) != of(after):
                raise ApplierError(f"the rewritten archive has different {what}", hint=_HINT)
        compared = diff(DiffOptions(before.snapshot, after.snapshot, options.filter), self._progress)
        for table in compared.tables.values():
            if not table.same or table.definitions[0] != table.definitions[1]:
                raise ApplierError("the rewritten archive produces different rows", table=table.full_name, hint=_HINT)
        self.notes += compare_changes(options, self._output, self._progress)
        return Proof(len(compared.tables), sum(table.rows_after for table in compared.tables.values()), after.changes,
                     after.gtid_set, after.position)


def _executes_as(before: str, after: str, options: RewriteOptions) -> bool:
    """True if both execute the same. MariaDB has no GTIDs of groups that a filter empties."""
    first, second = GtidSet.parse(before), GtidSet.parse(after)
    return before == after or bool(options.filters and first.domains and not second.subtract(first))


def _changes(result: ReplayResult) -> dict[str, tuple[int, ...]]:
    """How many changes there were, by table and kind."""
    return {table.full_name: (table.inserts, table.updates, table.deletes, table.by_foreign_keys)
            for table in result.tables}


def _prepared(result: ReplayResult) -> list[str]:
    """The XA transactions that are prepared at the end."""
    return sorted(entry.xid for entry in manifest.load(result.snapshot).prepared)
