"""Applies the units of a plan, by the cheaper route, and reports which change stopped a replay."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass

from applier.apply.tasks import Applied, PlanAgain, Refused, TaskOutcome, UnitResult, outcome_of
from applier.apply.witnessed import Witnessed, together
from applier.binlog.outline.outline import Outline
from applier.engine.executor import Executor, OnProgress
from applier.errors import ApplierError, ReplayStopped, SchemaError
from applier.io.progress import Progress
from applier.plan.planned import PlannedVersion
from applier.plan.span import LogSpan
from applier.plan.stops.stop_error import first_of, with_key, with_transaction
from applier.plan.tasks import by_route, core_seconds, log_segments, prefers_shuffle, split_tasks, walking_tasks
from applier.plan.witness import WitnessResult
from applier.plan.witness_results import with_differences

Dividing = Callable[[Collection[str]], list[PlannedVersion]]
"""Plans the units, given the tables (db.table) whose rows moved between units."""


@dataclass(frozen=True)
class AppliedPlan:
    """A plan whose units are applied, by `route`."""

    versions: list[PlannedVersion]
    results: list[UnitResult]
    route: str

    @property
    def witnessed(self) -> Witnessed:
        """The results of comparing before-images with rows."""
        return together(result.witnessed for result in self.results)


def apply_plan(executor: Executor, progress: Progress, span: LogSpan, divided: Dividing, route: str,
               timed: Callable[[str], AbstractContextManager[None]], witness: WitnessResult) -> AppliedPlan:
    """Plan and apply by `route`, "auto" for the cheaper one; plan again if idempotent mode moves rows between units,
    which only the log's rows show. `witness` has the results of comparing before-images in earlier passes. Raises the
    error of the first change in the log that was refused."""
    moving: frozenset[str] = frozenset()
    while True:
        versions = divided(moving)
        with timed("apply"):
            applying = _Applying(executor, progress, span, versions, route)
            outcome = applying.outcome()
        match outcome:
            case Applied():
                return AppliedPlan(versions, list(outcome.results), applying.route)
            case Refused():
                error = _first_refused(outcome, span, versions)
                raise with_differences(error, outcome.witnessed, witness, span.outlines)
            case PlanAgain():
                moving |= outcome.tables


def _located(error: ApplierError, outline: Outline) -> ApplierError:
    """Add to a refused change's error its transaction, and before its hint the position to stop at before it."""
    hint, error.hint = error.hint, None
    return with_transaction(error, outline, hint) if hint else with_transaction(error, outline)


def _first_refused(refused: Refused, span: LogSpan, versions: list[PlannedVersion]) -> ApplierError:
    """Return the error of the first change in the log that was refused, with its key and its transaction, or of a
    statement before it."""
    order = {outline.uri: number for number, outline in enumerate(span.outlines)}
    first = first_of(refused.errors, order)
    if isinstance(first, SchemaError):
        return first
    number, known = order[first.file or ""], (item.version for item in versions)
    return _located(with_key(first, number, span.outlines[number], known), span.outlines[number])


class _Applying:
    """One plan, and the route for it."""

    def __init__(self, executor: Executor, progress: Progress, span: LogSpan, versions: list[PlannedVersion],
                 route: str):
        self._executor, self._progress = executor, progress
        self.versions = versions
        self._segments = log_segments(span, versions)
        self._tasks = walking_tasks(self._segments, versions, executor.cores)
        self._one_disk = executor.shared_directory is not None
        if route == "auto":
            route = "shuffle" if prefers_shuffle(span, self._tasks, versions, self._one_disk) else "walk"
        self.route = route

    def outcome(self) -> TaskOutcome:
        """Apply all units."""
        units = [unit for item in self.versions if not item.succeeded for unit in item.units]
        if units:
            self._executor.expect(core_seconds(self._tasks, self.versions, self.route, self._one_disk))
        self._progress.phase(f"apply ({self.route})", len(units), "units")

        def on_progress(done: int, total: int) -> None:
            self._progress.update(len(units) * done // max(1, total))

        if not units:
            outcomes: list[TaskOutcome] = []
        elif self.route == "walk":
            outcomes = self._executor.walk(self._tasks, on_progress)
        else:
            try:
                outcomes = self._shuffle(on_progress)
            except ReplayStopped:  # of one split, while another may have an earlier one: a walk finds the first
                outcomes = self._executor.walk(self._tasks, on_progress)
        outcome = outcome_of(outcomes)
        if isinstance(outcome, Applied):
            self._progress.update(len(units), sum(result.changes for result in outcome.results))
        return outcome

    def _shuffle(self, on_progress: OnProgress) -> list[TaskOutcome]:
        keyed, walked = by_route(self.versions)
        outcomes: list[TaskOutcome] = []
        if keyed:
            units = sorted((unit for item in keyed if not item.succeeded for unit in item.units),
                           key=lambda unit: unit.number)
            outcomes += self._executor.shuffle(split_tasks(self._segments, keyed), units, on_progress)
        if walked:
            outcomes += self._executor.walk(walking_tasks(self._segments, walked, self._executor.cores), on_progress)
        return outcomes
