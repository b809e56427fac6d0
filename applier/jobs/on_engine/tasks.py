"""Tasks of a job that run where `--engine` says, once the amount of work is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from applier.engine.choice import Locations, choose, choose_by_work
from applier.engine.threads import map_on_threads
from applier.io.disk import full_disk
from applier.io.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def have_late_attempts(options: Locations) -> bool:
    """Return whether attempts of the tasks that `run` runs may continue after other attempts have replaced them."""
    return choose(options).engine != "local"


def run(options: Locations, progress: Progress, name: str, function: Callable[[Item], Result], items: Sequence[Item],
        core_seconds: float, on_progress: Callable[[int, int], None]) -> list[Result]:
    """Apply `function` to every item, on threads of this process or as Spark's tasks; results are in the order of the
    items. `name` is the job's name in Spark's UI. Raises the ApplierError of the first item that has one."""
    chosen = choose(options)
    if chosen.engine == "auto":
        chosen = choose_by_work(core_seconds)
    if chosen.why:
        progress.note(str(chosen))
    if chosen.engine == "local":
        with full_disk.explained():
            return map_on_threads(function, items, os.cpu_count() or 1, on_progress)
    from applier.engine.spark import running, session
    from applier.engine.spark.stages import map_tasks

    with running.explain_spark_errors():
        spark = session.wait_for(session.start_in_background(options.master, options.conf), progress.note)
        return map_tasks(spark, function, items, name=name,
                         on_progress=running.noting_no_executors(spark, on_progress, progress.note))
