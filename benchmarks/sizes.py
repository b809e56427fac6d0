"""How the time of a replay grows: with the size of the log, and on a base with the number of changed rows."""

import os

import numpy as np

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from benchmarks import end_to_end
from benchmarks.increments import delta, filled
from benchmarks.line_plot import Line, plot
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES = 2_000_000, 440.0
_ENGINES = {"--engine local": end_to_end.HERE, "local[2]": end_to_end.ON_SPARK}


def sizes(bench: Bench) -> list[Table]:
    """Seconds of the command line, by megabytes of log and by changed rows."""
    return [_by_log(bench), _by_delta(bench)]


def _by_log(bench: Bench) -> Table:
    logs = [bench.workload("oltp", round(bench.megabytes / 4**n, 1)) for n in reversed(range(4))]
    seconds = {engine: [in_child(end_to_end.cold, log.files, bench.folder, options).wall for log in logs]
               for engine, options in _ENGINES.items()}
    megabytes = [log.size / 1e6 for log in logs]
    lines = [Line(engine, list(zip(megabytes, times))) for engine, times in seconds.items()]
    return Table(
        "By the size of the log", "oltp, from the shell to the published snapshot, seconds.",
        ["engine", *(f"{size:.0f} MB" for size in megabytes)],
        [[engine, *map(number, times)] for engine, times in seconds.items()],
        ("log_size.svg", plot("A replay, from the shell to the snapshot", "MB of log", "seconds", lines)))


def _by_delta(bench: Bench) -> Table:
    rows = max(20_000, int(_ROWS * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    base, deltas = in_child(_logs, bench.folder, rows)
    seconds = [in_child(end_to_end.cold, (log,), bench.folder, ("--base", base, *end_to_end.HERE)).wall
               for log in deltas.values()]
    return Table(
        "By the number of changed rows",
        f"A base of {rows:,} rows of 190 bytes, and a log that updates so many of them, which are anywhere in it; from "
        "the shell to the published snapshot, seconds.",
        ["engine", *(f"{count:,}" for count in deltas)], [["--engine local", *map(number, seconds)]],
        ("delta_size.svg", plot(f"An increment on {rows:,} rows, from the shell to the snapshot", "changed rows",
                                "seconds", [Line("--engine local", list(zip(deltas, seconds)))])))


def _logs(folder: str, rows: int) -> tuple[str, dict[int, str]]:
    """The base, and the logs that may follow it by how many rows they change."""
    random = np.random.default_rng(11)
    place = os.path.join(folder, "sizes")
    file, table, done = filled(place, rows, random)
    base = os.path.join(place, "base")
    replay_with(ThisProcess(2), ReplayOptions((file,), base))
    counts = [count for count in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000) if count <= rows // 2]
    return base, {count: delta(os.path.join(place, str(count)), table,
                               np.sort(random.choice(rows, count, replace=False)), done) for count in counts}
