"""An export whose files are written in this process or by Spark's tasks."""

from __future__ import annotations

from collections.abc import Sequence

from applier.engine import compiling
from applier.io.progress import Progress
from applier.jobs.exporting.job import OnProgress, export_snapshot
from applier.jobs.exporting.task import Exported, ExportTask, export_file
from applier.jobs.on_engine import tasks
from applier.options import ExportOptions

EXPORT_NANOSECONDS = 8.0
"""CPU per byte of a snapshot's files."""


def export(options: ExportOptions, progress: Progress) -> list[Exported]:
    """Export a snapshot, one task per file; returns the files. Raises ApplierError, and publishes nothing then."""

    def run(files: Sequence[ExportTask], on_progress: OnProgress) -> list[Exported]:
        seconds = sum(task.file.bytes for task in files) * EXPORT_NANOSECONDS / 1e9
        name = f"export {len(files):,} file{'s' * (len(files) != 1)}"
        return tasks.run(options, progress, name, export_file, files, seconds, on_progress)

    compiling.ensure("export", progress)
    return export_snapshot(options, progress, run, late_attempts=tasks.have_late_attempts(options))
