"""A replay whose tasks run in Spark.

A session that runs in this process already is used as it is; else one is started in the background, while the archive
is outlined, and left for the next call. Workers would compile kernels side by side, so all are compiled before.
"""

from applier import warm
from applier.options import ReplayOptions
from applier.progress import Progress
from applier.replay import replay_with
from applier.result import ReplayResult
from applier.spark import session
from applier.spark.executor import OnSpark


def replay(options: ReplayOptions, progress: Progress) -> list[ReplayResult]:
    """Make one snapshot, or one at each of `options.snapshot_at`. Raises ApplierError, and publishes nothing then."""
    starting = session.start_in_background(options.master)
    warm.ensure(progress.note)
    executor = OnSpark(starting, options.master)
    if options.snapshot_at:
        from applier import snapshots_at  # most replays do without, and all wait for what is imported

        return snapshots_at.replay_with(executor, options, progress)
    return [replay_with(executor, options, progress)]
