"""An export whose files are written in this process or by Spark's tasks."""

from __future__ import annotations

from collections.abc import Sequence

from applier.engine import compiling
from applier.engine.choice import choose, choose_by_work
from applier.io.progress import Progress
from applier.jobs.exporting.job import OnProgress, export_snapshot, on_threads
from applier.jobs.exporting.task import Exported, ExportTask, export_file
from applier.options import ExportOptions

EXPORT_NANOSECONDS = 8.0
"""CPU per byte of a snapshot's files."""


def export(options: ExportOptions, progress: Progress) -> list[Exported]:
    """Export a snapshot, a task a file; returns the files. Raises ApplierError, and publishes nothing then."""

    def run(tasks: Sequence[ExportTask], on_progress: OnProgress) -> list[Exported]:
        chosen = choose(options)
        if chosen.engine == "auto":
            chosen = choose_by_work(sum(task.file.bytes for task in tasks) * EXPORT_NANOSECONDS / 1e9)
        if chosen.why:
            progress.note(str(chosen))
        if chosen.engine == "local":
            return on_threads(tasks, on_progress)
        return _on_spark(options.master, tasks, on_progress)

    compiling.ensure("export", progress)
    return export_snapshot(options, progress, run)


def _on_spark(master: str | None, tasks: Sequence[ExportTask], on_progress: OnProgress) -> list[Exported]:
    from applier.engine.spark import running, session
    from applier.engine.spark.stages import map_tasks

    with running.explain_spark_errors():
        return map_tasks(session.start_in_background(master).result(), export_file, tasks, on_progress=on_progress)
