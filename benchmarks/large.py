"""An archive that is larger than what one pass would be given: its time and memory by where it runs."""

import tempfile
from pathlib import Path

from benchmarks import end_to_end
from benchmarks.measure import Cost, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench
from tests.support.spark_servers import cluster

_TIMES, _PASSES = 50, 6


def large(bench: Bench) -> list[Table]:
    """One replay each: in this process, in one pass and in several; on Spark with one core and two, and on a cluster of
    two workers with one core each, without and with a directory that they share."""
    log = bench.workload("large", _TIMES * bench.megabytes)
    table = Table(
        "A large archive",
        f"{log.size / 1e9:.1f} GB of sysbench's changes to 8 tables, in {len(log.files)} files; the command line, from "
        "start to published snapshot, once each. Memory: private, of all Python processes together, at its peak.",
        ["run", "seconds", "MB/s", "CPU seconds", "memory, MB", "local[1] ÷ this"],
    )
    size = -(-log.size // _PASSES >> 20) + 1
    runs = {
        "--engine local": _run(log.files, bench.folder, "--engine", "local"),
        f"--engine local --pass-bytes {size}M": _run(log.files, bench.folder, "--engine", "local", "--pass-bytes",
                                                     f"{size}M"),
        "local[1]": _run(log.files, bench.folder, "--master", "local[1]"),
        "local[2]": _run(log.files, bench.folder, "--master", "local[2]"),
    }
    with tempfile.TemporaryDirectory(dir=bench.folder) as nodes, cluster(Path(nodes), {}, {}) as master:
        for option in [(), ("--shared-dir", nodes)]:
            there = _run(log.files, bench.folder, "--master", master, *option)
            name = " ".join(["cluster of two workers", *option[:1]])
            runs[name] = Cost(0, there.wall)  # what they use is not this process's
    one = runs["local[1]"].wall
    for name, cost in runs.items():
        table.rows.append([name, number(cost.wall), number(log.size / cost.wall / 1e6), number(cost.cpu or None),
                           number(cost.memory_of_all / 1e6 or None), ratio(one, cost.wall)])
    return [table]


def _run(files: tuple[str, ...], folder: str, *options: str) -> Cost:
    cost: Cost = in_child(end_to_end.once, files, folder, options)
    return cost
