"""What a second core gives where the log is in memory, so that nothing waits for the disk."""

import os

from benchmarks import end_to_end
from benchmarks.measure import in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_TIMES, _TURNS = 8, 3


def second_core(bench: Bench) -> list[Table]:
    """The command line on one core and on two, in this process and on Spark; and what starting alone takes."""
    log, small = bench.workload("large", _TIMES * bench.megabytes), bench.workload("oltp", 1)
    table = Table(
        "A second core",
        f"{log.size / 1e9:.1f} GB of sysbench's changes to 8 tables, in memory; the command line, from start to "
        f"published snapshot, seconds, by turns, the best of {_TURNS}. Start: the same with 1 MB. Besides the start: "
        "the ratio of what is left without it.",
        ["engine", "start", "one core", "two cores", "one ÷ two", "besides the start"],
    )
    for name, one, two, cores in (("local", ("--engine", "local"), ("--engine", "local"), 1),
                                  ("spark", ("--master", "local[1]"), ("--master", "local[2]"), 2)):
        runs = (2, small.files, two), (2, log.files, two), (cores, log.files, one)
        turns = [[in_child(_on_cores, number_of, files, bench.folder, options) for number_of, files, options in runs]
                 for _ in range(_TURNS)]
        start, on_two, on_one = map(min, zip(*turns, strict=True))
        table.rows.append([name, number(start), number(on_one), number(on_two), ratio(on_one, on_two),
                           ratio(on_one - start, on_two - start)])
    return [table]


def _on_cores(cores: int, files: tuple[str, ...], folder: str, options: tuple[str, ...]) -> float:
    """Seconds of a run that may use so many cores, of files that memory has."""
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:cores])
    for path in files:
        with open(path, "rb") as file:
            while file.read(1 << 24):
                pass
    return end_to_end.once(files, folder, options).wall
