"""Attempts of tasks that do not count, as Spark has them: a second one beside the first, as under speculation, and one
that continues after the job has ended, as of an executor that was cut off."""

from collections.abc import Callable, Sequence

from applier.engine.executor import ThisProcess


class Attempts:
    """Attempts at tasks. Each task is done twice, and the first outcome counts."""

    def __init__(self) -> None:
        self._late: list[Callable[[], object]] = []

    @property
    def n(self) -> int:
        """How many calls `run_again` makes."""
        return len(self._late)

    def twice(self, function: Callable) -> object:
        """Call a function twice, and return the first outcome."""
        counts = function()
        function()
        self._late.append(function)
        return counts

    def run_again(self) -> int:
        """Do all tasks once more, after their job; returns how many could write nothing."""
        failed = 0
        for function in self._late:
            try:
                function()
            except Exception:  # whatever it is that the job's end has taken from them
                failed += 1
        return failed

    def tasks(self, function: Callable, items: Sequence, *_: object) -> list:
        """A runner of an export's or a history's tasks."""
        return [self.twice(lambda item=item: function(item)) for item in items]


class LateAttempts(ThisProcess):
    """Runs a replay's tasks on threads, with late attempts."""

    has_late_attempts = True

    def __init__(self, cores: int = 1) -> None:
        super().__init__(cores)
        self.attempts = Attempts()

    def walk(self, tasks, on_progress):
        return self.attempts.twice(lambda: ThisProcess.walk(self, tasks, on_progress))

    def shuffle(self, splits, units, on_progress):
        return self.attempts.twice(lambda: ThisProcess.shuffle(self, splits, units, on_progress))
