"""Where the tasks of a plan run: in this process, or elsewhere (applier.engine.spark). The job uses this protocol."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock
from typing import Protocol, TypeVar

import pyarrow as pa

from applier.apply.routes.shuffle import apply_payloads, split_payloads
from applier.apply.routes.task import apply_by_walking
from applier.apply.spec import UnitSpec
from applier.apply.tasks import ApplyTasks, LogSegment, SplitTasks, TaskOutcome, split_of, task_of
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.outline_pass import outline_file
from applier.engine.room import free_bytes
from applier.engine.spill_buffer import SPILL_BYTES, SpillBuffer
from applier.engine.threads import map_on_threads
from applier.io import mapping
from applier.io.disk import full_disk
from applier.io.disk.temporary import temporary_directory
from applier.io.partial_copy import REQUESTS
from applier.io.resolver import is_far

OnProgress = Callable[[int, int], None]
Item = TypeVar("Item")

COPIES_PART = 4
"""The part (one of this many) of the free disk space that copies of remote files may take: each is fetched once per
run."""
ROWS_LEFT_BYTES = 128 << 20
"""Of rows in Arrow's memory: where a task leaves more, garbage is collected."""


class Executor(Protocol):
    """Runs the stages of a replay. Results come in the order of the tasks; `on_progress(done, total)` counts tasks."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time, as far as that is known before they run."""
        ...

    @property
    def on_one_disk(self) -> bool:
        """True if every task sees the files of all others, so that changes are shuffled without being sent."""
        ...

    @property
    def has_late_attempts(self) -> bool:
        """True if an attempt of a task may continue after another attempt's outcome was taken, and write files."""
        ...

    def expect(self, core_seconds: float) -> None:
        """Called before `walk` and `shuffle`: how much CPU the plan thinks that they take."""

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        """Outline files. Raises ArchiveError."""

    def walk(self, tasks: ApplyTasks, on_progress: OnProgress) -> list[TaskOutcome]:
        """The walk route."""

    def shuffle(self, splits: SplitTasks, units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        """The shuffle route; units are numbered from 0 in their order."""


class ThisProcess:
    """Runs tasks on threads of this process, `cores` at a time, and so needs no Java. Memory is bounded as on Spark:
    `cores` tasks hold as much as the plan lets a task hold, and shuffled data beyond SPILL_BYTES per core is in a
    file."""

    on_one_disk = True
    has_late_attempts = False

    def __init__(self, cores: int = 1):
        self.cores = cores

    def expect(self, core_seconds: float) -> None:
        pass

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        mapping.keep_copies(free_bytes(temporary_directory()) // COPIES_PART)
        with full_disk.explained():
            return outline_all(tasks, self.cores, on_progress)

    def walk(self, tasks: ApplyTasks, on_progress: OnProgress) -> list[TaskOutcome]:
        with full_disk.explained():
            return map_on_threads(_collecting(lambda share: apply_by_walking(task_of(tasks.segments, share))),
                                  tasks.shares, self.cores, on_progress)

    def shuffle(self, splits: SplitTasks, units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        with full_disk.explained(), SpillBuffer(SPILL_BYTES * self.cores) as spilled:
            lock = Lock()

            def send(numbered: tuple[int, tuple[LogSegment, ...]]) -> None:
                order = count()
                for units, payloads in split_payloads(split_of(splits.units, numbered[1])):
                    with lock:
                        for unit, payload in zip(units.tolist(), payloads, strict=True):
                            spilled.add((unit, numbered[0], next(order)), payload.as_buffer())

            map_on_threads(send, list(enumerate(splits.parts)), self.cores, lambda *_: None)
            arrived: dict[int, list[pa.Buffer]] = {}
            for (unit, _, _), payload in spilled.in_order():
                arrived.setdefault(unit, []).append(payload)
            return map_on_threads(_collecting(lambda unit: apply_payloads(unit, arrived.pop(unit.number, ()))), units,
                                  self.cores, on_progress)


def _collecting(function: Callable[[Item], TaskOutcome]) -> Callable[[Item], TaskOutcome]:
    """Return the function, with a garbage collection after it: the objects of a task refer to one another, and Python's
    collector counts objects, of which there are few, and not their bytes."""

    def run(item: Item) -> TaskOutcome:
        try:
            return function(item)
        finally:
            if pa.total_allocated_bytes() > ROWS_LEFT_BYTES:
                gc.collect()

    return run


def outline_all(tasks: Sequence[OutlineTask], cores: int = 1,
                on_progress: OnProgress = lambda *_: None) -> list[Outline]:
    """Outline files on several threads; remote ones with as many threads as there may be requests, which take longer
    than the work. Raises ArchiveError."""
    threads = max(cores, REQUESTS) if any(is_far(task.uri) for task in tasks) else cores
    return map_on_threads(outline, tasks, threads, on_progress)


def outline(task: OutlineTask) -> Outline:
    """Outline a file. Raises ArchiveError."""
    return outline_file(task.uri, start=task.start, stop=task.stop, sample_bytes=task.sample_bytes,
                        relevance=task.relevance, known=task.known, leaving_out=task.leaving_out,
                        split_bytes=task.split_bytes)
