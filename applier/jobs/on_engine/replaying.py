"""A replay whose tasks run in this process or in Spark.

An existing Spark context of this process is used; otherwise one is started in the background while the archive is
outlined, and kept for the next call. Kernels are compiled first: Spark's workers would wait for each other's.
"""

from __future__ import annotations

import os

from applier.engine import compiling
from applier.engine.by_work import ByWork
from applier.engine.choice import choose
from applier.engine.executor import Executor, ThisProcess
from applier.io.progress import Progress
from applier.jobs.replay.figures import outcome
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.jobs.telemetry.run import telemetry
from applier.options import ReplayOptions


def replay(options: ReplayOptions, progress: Progress) -> list[ReplayResult]:
    """Make one snapshot, or one at each of `options.snapshot_at`. Raises ApplierError, and publishes nothing then."""
    output = options.lake or options.output
    with telemetry("replay", options.binlogs, output, options.metrics, options.lineage) as run:
        results = _replay(options, progress)
        run.did(outcome(results, output))
    return results


def _replay(options: ReplayOptions, progress: Progress) -> list[ReplayResult]:
    executor = _executor(options, progress)
    compiling.ensure("replay", progress)
    if options.snapshot_at:
        from applier.jobs.replay import snapshots_at  # most replays do not need it, and all wait for imports

        return snapshots_at.replay_with(executor, options, progress)
    return [replay_with(executor, options, progress)]


def _executor(options: ReplayOptions, progress: Progress) -> Executor:
    chosen = choose(options)
    if chosen.why:
        progress.note(str(chosen))
    if chosen.engine == "spark":
        return _on_spark(options, progress)
    cores = os.cpu_count() or 1
    if chosen.engine == "local":
        return ThisProcess(cores)
    return ByWork(cores, lambda: _on_spark(options, progress), progress.note)


def _on_spark(options: ReplayOptions, progress: Progress) -> Executor:
    from applier.engine.spark import session
    from applier.engine.spark.executor import OnSpark

    started = session.start_in_background(options.master, options.conf)
    return OnSpark(started, session.master_in_use(options.master), progress.note)
