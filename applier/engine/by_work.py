"""Runs tasks in this process as long as they are little work, else in Spark, which is started then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from applier.apply.spec import UnitSpec
from applier.apply.tasks import ApplyTasks, SplitTasks, TaskOutcome
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.engine.choice import choose_by_work
from applier.engine.executor import Executor, OnProgress, ThisProcess


class ByWork:
    """Runs tasks on threads until enough work is expected to choose Spark, and from then on in Spark. `start_spark` is
    called at most once, `say` with each choice that differs from the one before."""

    def __init__(self, cores: int, start_spark: Callable[[], Executor], say: Callable[[str], None]):
        self._executor: Executor = ThisProcess(cores)
        self._start_spark, self._say, self._engine = start_spark, say, ""

    @property
    def cores(self) -> int:
        return self._executor.cores

    @property
    def on_one_disk(self) -> bool:
        return self._executor.on_one_disk

    @property
    def has_late_attempts(self) -> bool:
        return True  # files are where Spark's tasks may write them, although it may not be chosen

    def expect(self, core_seconds: float) -> None:
        chosen = choose_by_work(core_seconds)
        if self._engine in ("spark", chosen.engine):
            return
        self._engine = chosen.engine
        self._say(str(chosen))
        if chosen.engine == "spark":
            self._executor = self._start_spark()

    def outline(self, tasks: Sequence[OutlineTask], on_progress: OnProgress) -> list[Outline]:
        return self._executor.outline(tasks, on_progress)

    def walk(self, tasks: ApplyTasks, on_progress: OnProgress) -> list[TaskOutcome]:
        return self._executor.walk(tasks, on_progress)

    def shuffle(self, splits: SplitTasks, units: Sequence[UnitSpec],
                on_progress: OnProgress) -> list[TaskOutcome]:
        return self._executor.shuffle(splits, units, on_progress)
