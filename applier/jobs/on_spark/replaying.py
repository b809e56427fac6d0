"""A replay whose tasks run in Spark.

A session that exists in this process is used as it is; else one is started in the background while the archive is
outlined, and kept for the next call. Workers would compile kernels at the same time, so all are compiled first.
"""

from applier.engine.spark import session
from applier.engine.spark.executor import OnSpark
from applier.io.progress import Progress
from applier.jobs import warm
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions


def replay(options: ReplayOptions, progress: Progress) -> list[ReplayResult]:
    """Make one snapshot, or one at each of `options.snapshot_at`. Raises ApplierError, and publishes nothing then."""
    starting = session.start_in_background(options.master)
    warm.ensure(progress.note)
    executor = OnSpark(starting, options.master)
    if options.snapshot_at:
        from applier.jobs.replay import snapshots_at  # most replays do not need it, and all wait for imports

        return snapshots_at.replay_with(executor, options, progress)
    return [replay_with(executor, options, progress)]
