"""Makes several snapshots in one pass over an archive.

Each is the base of the next, so every file of the log is outlined and applied once (a file with a position inside is
outlined in parts), and a file that does not change between two of them is stored once. They are published together:

    OUTPUT/
      _snapshots.json              [{path, file, offset, gtid_set, timestamp}, …] in log order, written last
      binlog.000003-1234/          each a whole snapshot, named after its position
"""

from __future__ import annotations

import dataclasses

import orjson

from applier.binlog.archive.archive import open_archive
from applier.engine.executor import Executor
from applier.io.progress import Progress, Silent
from applier.jobs.replay.job import replay_staged
from applier.jobs.replay.result import ReplayResult
from applier.options import ReplayOptions
from applier.plan.stops.stop_position import in_order
from applier.snapshot import manifest
from applier.snapshot.publish import begin


def replay_with(executor: Executor, options: ReplayOptions, progress: Progress | None = None) -> list[ReplayResult]:
    """Replay an archive to each of `options.snapshot_at`, with tasks run by `executor`. Raises ApplierError, and
    publishes nothing then."""
    if options.lake is not None:
        return _versions(executor, options, options.lake, progress or Silent())
    results, listing = [], []
    with begin(options.output) as folder:
        archive = open_archive(list(options.binlogs), with_gap=True)
        positions = in_order(options.snapshot_at, archive, lambda tasks: executor.outline(tasks, lambda *_: None))
        now = then = dataclasses.replace(options, snapshot_at=())
        for stop in positions:
            path = f"{stop[0]}-{stop[1]}"
            staged, published = folder.within(path)
            now = dataclasses.replace(now, stop_position=stop, output=staged)
            then = dataclasses.replace(now, base=then.base, output=published)
            results.append(replay_staged(executor, now, then, progress or Silent(),
                                         is_last=stop == positions[-1]))
            position = manifest.load(staged).position
            listing.append({"path": path, "file": position.file, "offset": position.offset,
                            "gtid_set": position.gtid_set, "timestamp": position.timestamp})
            now = dataclasses.replace(now, base=staged, schema=None, start_position=None, reapply=False)
            then = dataclasses.replace(then, base=published)
        folder.commit_folder(orjson.dumps(listing, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return results


def _versions(executor: Executor, options: ReplayOptions, lake: str, progress: Progress) -> list[ReplayResult]:
    """Yield a version of the lake at each position, published one after the other: those before an error stay."""
    archive, results = open_archive(list(options.binlogs), with_gap=True), list[ReplayResult]()
    now = dataclasses.replace(options, snapshot_at=())
    positions = in_order(options.snapshot_at, archive, lambda tasks: executor.outline(tasks, lambda *_: None))
    for stop in positions:
        now = dataclasses.replace(now, stop_position=stop)
        results.append(replay_staged(executor, now, now, progress, is_last=stop == positions[-1]))
        now = dataclasses.replace(now, base=None, schema=None, start_position=None, reapply=False)
    return results
