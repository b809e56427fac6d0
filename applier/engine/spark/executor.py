"""The stages of a replay as Spark jobs.

Python workers of a local master share the driver's machine, so there files are outlined on threads of the driver while
Java starts: the kernels hold no lock. On a cluster tasks outline them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import pyarrow as pa

from applier.apply.routes.shuffle import Sent, apply_payloads, split_payloads
from applier.apply.routes.task import apply_by_walking
from applier.apply.spec import UnitSpec
from applier.apply.tasks import ApplyTasks, LogSegment, SplitTasks, TaskOutcome, TaskShare, split_of, task_of
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.engine.executor import OnProgress, ThisProcess, outline_all
from applier.engine.room import spilling_directory
from applier.engine.spark import running
from applier.engine.spark.scratch import Scratch, shared_scratch
from applier.engine.spark.session import wait_for
from applier.engine.spark.settings import is_local
from applier.engine.spark.stages import map_tasks, shuffle_tasks
from applier.io.disk.temporary import spill_directory
from applier.io.printable import shown_size

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUP_BYTES, GROUP_FILES = 64 << 20, 32
"""What one task outlines, unless it is one file: a Spark task costs 14 ms. Tasks are sized by work, not by the current
cores: more executors may come."""


class OnSpark:
    """Runs tasks in a session that may still be starting; `say` is called when they wait for that. `shared_dir` is a
    directory that this machine and all workers share."""

    has_late_attempts = True

    def __init__(self, session: Future[SparkSession], master: str | None, say: Callable[[str], None],
                 shared_dir: str | None = None):
        self._session, self._master, self._say, self._shared_dir = session, master, say, shared_dir

    @property
    def cores(self) -> int:
        named = re.fullmatch(r"local\[(\d+)(?:,\s*\d+)?\]", self._master or "")
        if named:
            return int(named[1])
        if self._master == "local":
            return 1
        if is_local(self._master):
            return os.cpu_count() or 1
        return running.parallelism(wait_for(self._session, self._say))

    @property
    def shared_directory(self) -> str | None:
        return self._shared_dir or (spilling_directory() if is_local(self._master) else None)

    def expect(self, core_seconds: float) -> None:
        pass

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        if is_local(self._master):
            return ThisProcess(self.cores).outline(tasks, on_progress)
        groups = groups_by_work(tasks)

        def progress(done: int, total: int) -> None:
            on_progress(len(tasks) * done // total, len(tasks))

        with running.explain_spark_errors():
            spark = wait_for(self._session, self._say)
            name = f"outline {_counted(len(tasks), 'file')} of {shown_size(sum(task.size for task in tasks))}"
            found = map_tasks(spark, outline_all, groups, name=name,
                              on_progress=running.noting_no_executors(spark, progress, self._say))
        return [outline for of_group in found for outline in of_group]

    def walk(self, tasks: ApplyTasks, on_progress: OnProgress) -> list[TaskOutcome]:
        segments = tasks.segments  # with the function, which goes to a machine once, and not with each task

        def walk_log(share: TaskShare) -> TaskOutcome:
            return apply_by_walking(task_of(segments, share))

        with running.explain_spark_errors():
            units = [unit for share in tasks.shares for of_version in share.units.values() for unit in of_version]
            spark = wait_for(self._session, self._say)
            return map_tasks(spark, walk_log, tasks.shares, name=_applied(units, "walk", segments),
                             on_progress=running.noting_no_executors(spark, on_progress, self._say))

    def shuffle(self, splits: SplitTasks, units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        by_version = splits.units
        chains = [unit.chain for unit in units]  # sources first: pickling would follow them recursively

        def split_log(segments: tuple[LogSegment, ...]) -> Iterator[Sent]:
            return split_payloads(split_of(by_version, segments))

        def apply_changes(number: int, payloads: Iterator[pa.Buffer]) -> TaskOutcome:
            return apply_payloads(chains[number][-1], payloads)

        spark = wait_for(self._session, self._say)
        with running.explain_spark_errors(), self._exchange(spark) as shared:
            name = _applied(units, "shuffle", (segment for part in splits.parts for segment in part))
            return shuffle_tasks(spark, split_log, splits.parts, apply_changes, len(units), shared=shared, name=name,
                                 on_progress=running.noting_no_executors(spark, on_progress, self._say))

    def _exchange(self, spark: SparkSession) -> AbstractContextManager[str | None]:
        """The directory in which one shuffle leaves its changes; None if Spark carries them."""
        if self._shared_dir is not None:
            return shared_scratch(self._shared_dir)
        return Scratch(_local_directory(spark)) if is_local(self._master) else nullcontext()


def _applied(units: Sequence[UnitSpec], route: str, segments: Iterable[LogSegment]) -> str:
    """Return the name of the job that applies units from log segments, for Spark's UI."""
    tables = {unit.definition.full_name for unit in units}
    whose = min(tables) if len(tables) == 1 else _counted(len(tables), "table")
    n_bytes = sum(segment.end - segment.start for segment in segments)
    return f"apply {_counted(len(units), 'unit')} of {whose} ({route}, {shown_size(n_bytes)} of log)"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def groups_by_work(tasks: Sequence[OutlineTask]) -> list[list[OutlineTask]]:
    """The tasks in their order, in groups of GROUP_FILES and GROUP_BYTES at most, or of one task."""
    groups: list[list[OutlineTask]] = []
    n_bytes = 0
    for task in tasks:
        n_bytes += task.size
        if not groups or len(groups[-1]) == GROUP_FILES or n_bytes > GROUP_BYTES:
            groups.append([])
            n_bytes = task.size
        groups[-1].append(task)
    return groups


def _local_directory(spark: SparkSession) -> str | None:
    """Return the directory in which a local session keeps data that does not fit in memory; None for the system's
    directory."""
    return spill_directory() or spark.sparkContext.getConf().get("spark.local.dir")
