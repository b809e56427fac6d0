"""The job: write every version of a table's rows as Parquet, one range of keys per task.

    DIR/DB/TABLE/closed-0000-….parquet   versions that have ended; no later log changes them
    DIR/DB/TABLE/open-0000-….parquet     versions that are valid at the end of the log
    DIR/_history.json                    the table, the position, and the files; written last
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.tasks import LogSegment, TaskShare, task_of
from applier.errors import ReplayStopped
from applier.io.progress import Progress
from applier.io.resolver import resolve
from applier.jobs.change_files.tables import row_file
from applier.jobs.history.job import Histories, RowHistory
from applier.jobs.history.listing import MANIFEST, HistoryFile, HistoryFiles
from applier.plan.stops.stop_error import first_of
from applier.schema.ddl.schema_changes import TableName
from applier.snapshot.attempts import all_written_at
from applier.snapshot.publish import begin
from applier.snapshot.writer import TableTarget


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A replica would have stopped at this."""

    error: ReplayStopped


Outcome = tuple[HistoryFile, ...] | Stopped
OnProgress = Callable[[int, int], None]
Runner = Callable[[Callable[[TaskShare], Outcome], Sequence[TaskShare], float, OnProgress], list[Outcome]]
"""Has a function called for every share; the number is of core seconds that all take."""


@dataclass(frozen=True)
class _Parts:
    """The data that all tasks share."""

    histories: Histories
    segments: tuple[LogSegment, ...]
    table: TableName
    target: TableTarget

    def write(self, share: TaskShare) -> Outcome:
        """Write the versions of a share's ranges."""
        files: list[HistoryFile] = []
        try:
            for number, batches in self.histories.by_range(task_of(self.segments, share)):
                files += self._write(number, batches)
        except ReplayStopped as error:
            return Stopped(error=error)
        return tuple(files or self._write(0, iter(())))

    def _write(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[HistoryFile]:
        filesystem, root = resolve(self.target.root)
        attempt = uuid.uuid4().hex[:8]  # of a task that a cluster runs twice, each writes files of its own
        paths = [f"{self.target.folder}/{kind}-{number:04d}-{attempt}.parquet" for kind in ("closed", "open")]
        rows, histories = [0, 0], self.histories
        with ExitStack() as stack:
            sinks = [stack.enter_context(filesystem.open_output_stream(f"{root}/{self.target.written_at(path)}",
                                                                       compression=None)) for path in paths]
            writers = [stack.enter_context(row_file("parquet", sink, histories.schema, histories.log.columns,
                                                    self.table)) for sink in sinks]
            for batch in batches:
                is_open = pc.is_null(batch.column("_to_seq"))
                for number, wanted in enumerate((pc.invert(is_open), is_open)):
                    if (part := batch.filter(wanted)).num_rows:
                        writers[number].add(part)
                        rows[number] += part.num_rows
        for number, path in enumerate(paths):
            yield HistoryFile(path, rows[number], is_open=number == 1)


def write_history(history: RowHistory, output: str, cores: int, run: Runner, progress: Progress, *,
                  late_attempts: bool = False) -> HistoryFiles:
    """Write a directory, which is created atomically; `late_attempts` as in `begin`. Raises ApplierError; of what a
    replica would stop at, the first in the log."""
    histories, tasks, seconds = history.in_parts(cores)
    shares = [share for share in tasks.shares if not histories.log.versions.keys().isdisjoint(share.units)]
    with begin(output, late_attempts=late_attempts) as staging:
        parts = _Parts(histories, tasks.segments, history.table, staging.target(*history.table))
        progress.phase("history", len(shares), "tasks")
        outcomes = run(parts.write, shares or [TaskShare({}, frozenset())], seconds,
                       lambda done, _: progress.update(done))
        if stops := [outcome.error for outcome in outcomes if isinstance(outcome, Stopped)]:
            raise first_of(stops, {file.uri: number for number, file in histories.log.files.items()})
        files = tuple(file for outcome in outcomes if not isinstance(outcome, Stopped) for file in outcome)
        staging.finish_attempts(all_written_at(file.file for file in files))
        position = history.ends_at
        made = HistoryFiles(".".join(history.table), str(position), position.gtid_set, history.key, files)
        staging.commit_files([file.file for file in files], {}, MANIFEST,
                             orjson.dumps(asdict(made), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return made
