"""One run of a job, as monitoring sees it: metrics files when it ends and while it works, lineage events at both ends.

    with telemetry("replay", inputs, output, metrics, lineage) as run:
        ...
        run.did(outcome)

A run that fails writes its files, too, with `success` 0 and the error, and a FAIL event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from applier.engine import left_out
from applier.errors import need
from applier.jobs.telemetry.figures import Figure, Outcome, error_document, position_figures
from applier.jobs.telemetry.files import write_metrics

EVERY_SECONDS = 10.0
"""How often a job that continues replaces its metrics files."""


class Run:
    """A run, and what it did so far."""

    def __init__(self, job: str, output: str, metrics: Sequence[str]) -> None:
        self._job, self._output, self._metrics = job, output, metrics
        self._started, self._began = time.time(), time.monotonic()
        self._due = self._began + EVERY_SECONDS
        self.outcome = Outcome()

    def did(self, outcome: Outcome) -> None:
        """Note what the run has done."""
        self.outcome = outcome

    def does(self, outcome: Callable[[], Outcome]) -> None:
        """Write the metrics files of a run that continues, every ten seconds. Cheap; may be called often."""
        if self._metrics and time.monotonic() >= self._due:
            self._due = time.monotonic() + EVERY_SECONDS
            self.did(outcome())
            self.write("running", None)

    def write(self, state: str, error: BaseException | None) -> None:
        """Replace the metrics files. `state` is "running", "done" or "failed"."""
        now, seconds, outcome = time.time(), time.monotonic() - self._began, self.outcome
        figures = [
            Figure("success", "gauge", "0 after a run that failed, else 1", int(error is None)),
            Figure("start_timestamp_seconds", "gauge", "start of the run, in seconds since 1970", self._started),
            Figure("written_timestamp_seconds", "gauge", "time of these figures, in seconds since 1970", now),
            Figure("duration_seconds", "gauge", "duration of the run", seconds),
            *position_figures(outcome.position, outcome.timestamp), *outcome.figures]
        write_metrics(self._metrics, self._job, self._output, figures,
                      {"state": state, "started": self._started, "written": now, "seconds": seconds,
                       "error": None if error is None else error_document(error), **outcome.document})


@contextmanager
def telemetry(job: str, inputs: Sequence[str], output: str, metrics: Sequence[str] = (),
              lineage: str | None = None) -> Iterator[Run]:
    """Run a job whose figures are written to the files `metrics`, and whose lineage goes to `lineage`, a URL or a file.

    `inputs` and `output` are paths or URIs. Raises UsageError without openlineage if there is a `lineage`.
    """
    if lineage is not None:
        left_out.open_again()  # the package needs dateutil and yaml
        need("openlineage", "lineage")
        from applier.jobs.telemetry.lineage import Lineage

        events = Lineage(job, inputs, output, lineage)
        events.started()
    run = Run(job, output, metrics)
    try:
        yield run
    except BaseException as error:
        run.write("failed", error)
        if lineage is not None:
            events.failed(run.outcome, error)
        raise
    run.write("done", None)
    if lineage is not None:
        events.completed(run.outcome)
