"""What a second core gives where the log is in memory, so that nothing waits for the disk."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from benchmarks import end_to_end
from benchmarks.measure import in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_TIMES, _TURNS = 8, 3


def second_core(bench: Bench) -> list[Table]:
    """The command line on one core and on two, in this process and on Spark; and what starting alone takes."""
    large, small = bench.workload("large", _TIMES * bench.megabytes), bench.workload("oltp", 1)
    table = Table(
        "A second core",
        f"{large.size / 1e9:.1f} GB of sysbench's changes to 8 tables, in memory; the command line, from start to "
        f"published snapshot, seconds, by turns, the best of {_TURNS}. One core: all processes, Java's among them, "
        "have one. Start: the same with 1 MB. Besides the start: the ratio of what is left without it. The machine: "
        "what two runs at once, on a core each, do in the time of one alone; no program can gain more by its second "
        "core.",
        ["engine", "start, one core", "one core", "start, two cores", "two cores", "one ÷ two", "besides the start",
         "the machine"],
    )
    for name, one, two in (("local", ("--engine", "local"), ("--engine", "local")),
                           ("spark", ("--master", "local[1]"), ("--master", "local[2]"))):
        runs = [(cores, log, options) for cores, options in ((1, one), (2, two)) for log in (small, large)]
        turns = [[*(in_child(_on_cores, slice(cores), log.files, bench.folder, options)
                    for cores, log, options in runs), _at_once(large.files, bench.folder, one)] for _ in range(_TURNS)]
        start_on_one, on_one, start_on_two, on_two, at_once = map(min, zip(*turns, strict=True))
        table.rows.append([name, number(start_on_one), number(on_one), number(start_on_two), number(on_two),
                           ratio(on_one, on_two), ratio(on_one - start_on_one, on_two - start_on_two),
                           ratio(2 * on_one, at_once)])
    return [table]


def _at_once(files: tuple[str, ...], folder: str, options: tuple[str, ...]) -> float:
    """Seconds until two runs, each on a core of its own, have ended."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        return max(pool.map(_on_cores, (slice(0, 1), slice(1, 2)), [files] * 2, [f"{folder}/0", f"{folder}/1"],
                            [options] * 2))


def _on_cores(cores: slice, files: tuple[str, ...], folder: str, options: tuple[str, ...]) -> float:
    """Seconds of a run whose processes may all use some of the cores alone, of files that memory has."""
    os.makedirs(folder, exist_ok=True)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[cores])
    for path in files:
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
    return end_to_end.once(files, folder, options).wall
