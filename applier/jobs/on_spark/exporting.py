"""An export whose files are written by Spark's tasks."""

from collections.abc import Sequence

from applier.engine.spark import session
from applier.engine.spark.stages import map_tasks
from applier.io.progress import Progress
from applier.jobs import warm
from applier.jobs.exporting.job import OnProgress, export_snapshot
from applier.jobs.exporting.task import Exported, ExportTask, export_file
from applier.options import ExportOptions


def export(options: ExportOptions, master: str, progress: Progress) -> list[Exported]:
    """Export a snapshot, a task a file; returns the files. Raises ApplierError, and publishes nothing then."""
    warm.ensure(progress.note)  # otherwise workers would all compile

    def run(tasks: Sequence[ExportTask], on_progress: OnProgress) -> list[Exported]:
        spark = session.start_in_background(master).result()
        return map_tasks(spark, export_file, tasks, on_progress=on_progress)

    return export_snapshot(options, progress, run)
