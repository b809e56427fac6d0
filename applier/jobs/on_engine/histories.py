"""A history whose files are written in this process or by Spark's tasks."""

from __future__ import annotations

import os
from functools import partial

from applier.engine.choice import choose
from applier.io.progress import Progress
from applier.jobs.history.files import write_history
from applier.jobs.history.job import RowHistory
from applier.jobs.history.listing import HistoryFiles
from applier.jobs.on_engine import tasks
from applier.options import HistoryFilesOptions


def write(history: RowHistory, options: HistoryFilesOptions, progress: Progress) -> HistoryFiles:
    """Write a directory of all versions. Raises ApplierError, and publishes nothing then."""
    return write_history(history, options.output, _cores(options, progress),
                         partial(tasks.run, options, progress, f"history of {'.'.join(history.table)}"), progress,
                         late_attempts=tasks.have_late_attempts(options))


def _cores(options: HistoryFilesOptions, progress: Progress) -> int:
    """Return the number of tasks that run at a time; an estimate if Spark has not started."""
    if choose(options).engine != "spark":
        return os.cpu_count() or 1
    from applier.engine.spark import session
    from applier.engine.spark.executor import OnSpark

    started = session.start_in_background(options.master, options.conf)
    return OnSpark(started, session.master_in_use(options.master), progress.note).cores
