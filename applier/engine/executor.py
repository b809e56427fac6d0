"""Where the tasks of a plan run. The job knows this protocol; applier.engine.spark implements it on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from applier.apply.routes.shuffle import apply_payloads, split_payloads
from applier.apply.routes.task import apply_by_walking
from applier.apply.spec import UnitSpec
from applier.apply.tasks import ApplyTask, SplitTask, TaskOutcome
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.outline_pass import outline_file

OnProgress = Callable[[int, int], None]


class Executor(Protocol):
    """Runs the stages of a replay. Results come in the order of the tasks; `on_progress(done, total)` counts tasks."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time, as far as that is known before they run."""
        ...

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        """Outline files. Raises ArchiveError."""

    def walk(self, tasks: Sequence[ApplyTask], on_progress: OnProgress) -> list[TaskOutcome]:
        """The walk route."""

    def shuffle(self, splits: Sequence[SplitTask], units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        """The shuffle route; units are numbered from 0 in their order."""


class ThisProcess:
    """Runs one task after another in this process: the measure of Spark's overhead, and no Java is needed."""

    def __init__(self, cores: int = 1):
        self.cores = cores

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        return [outline_file(task.uri, start=task.start, stop=task.stop) for task in tasks]

    def walk(self, tasks: Sequence[ApplyTask], on_progress: OnProgress) -> list[TaskOutcome]:
        return [apply_by_walking(task) for task in tasks]

    def shuffle(self, splits: Sequence[SplitTask], units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        payloads = sorted((payload for split in splits for payload in split_payloads(split)), key=lambda p: p[:2])
        return [apply_payloads(unit, [(split, buffer) for number, split, buffer in payloads if number == unit.number])
                for unit in units]
