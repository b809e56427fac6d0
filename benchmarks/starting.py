"""What each verb takes from the shell where its work is small: how long people wait before anything happens."""

import os
import shutil
import sys
from collections.abc import Sequence

from benchmarks.end_to_end import HERE, ON_SPARK
from benchmarks.measure import Cost, Family, command
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_MEGABYTES, _RUNS = 2.0, 3
_PROGRAM = (sys.executable, "-m", "applier")


def starting(bench: Bench) -> list[Table]:
    """Each verb with compiled kernels, and a replay that has to compile them."""
    log = bench.workload("oltp", _MEGABYTES)
    snapshot, output, cache = (os.path.join(bench.folder, "start", name) for name in ("base", "output", "cache"))
    binlogs = [word for file in log.files for word in ("--binlogs", file)]
    replay = ["replay", *binlogs, "--output", output]
    _run(["replay", *binlogs, "--output", snapshot, *HERE])
    size = f"{log.size / 1e6:.0f} MB"
    verbs = {
        "--version": ["--version"],
        "status": ["status", snapshot],
        "verify": ["verify", snapshot],
        "locate": ["locate", *binlogs, "--datetime", "2020-01-01"],
        "explain": ["explain", *binlogs],
        f"show, {os.path.getsize(log.files[0]) / 1e6:.1f} MB": ["show", log.files[0]],
        f"replay, {size}, --engine local": [*replay, *HERE],
        f"replay, {size}, local[2]": [*replay, *ON_SPARK],
        f"export, {size}, --engine local": ["export", snapshot, "--output", output, "--engine", "local"],
    }
    table = Table(
        "From the shell",
        "Small work, from the command to its end. Compiling: what the first replay on a machine takes where no wheel "
        "has brought compiled kernels.",
        ["applier", "seconds", "CPU seconds"],
    )
    costs = {verb: min((_fresh(words, output) for _ in range(_RUNS)), key=lambda cost: cost.wall)
             for verb, words in verbs.items()}
    costs[f"replay, {size}, --engine local, compiling"] = _fresh([*replay, *HERE], output,
                                                                 ["env", f"XDG_CACHE_HOME={cache}"])
    table.rows = [[verb, number(cost.wall), number(cost.cpu)] for verb, cost in costs.items()]
    return [table]


def _fresh(words: Sequence[str], output: str, before: Sequence[str] = ()) -> Cost:
    shutil.rmtree(output, ignore_errors=True)
    return _run(words, before)


def _run(words: Sequence[str], before: Sequence[str] = ()) -> Cost:
    """With Spark, or processes that compile, all of them count; watching them takes time of its own."""
    if not before and not {*ON_SPARK} <= {*words}:
        return command([*_PROGRAM, *words])
    with Family() as family:
        command([*before, *_PROGRAM, *words])
    return family.cost
