"""The whole job, from binlog files to a published snapshot. Every function runs in a process of its own."""

import os
import shutil
import sys

from applier.engine.spark import session
from applier.options import ReplayOptions
from benchmarks.measure import Cost, Family, command

MASTER = "local[2]"
ON_SPARK, HERE = ("--engine", "spark", "--master", MASTER), ("--engine", "local")
_RUNS = 3


def cold(files: tuple[str, ...], folder: str, engine: tuple[str, ...] = ON_SPARK) -> Cost:
    """The command line, as from a shell: interpreter, kernels and, on Spark, Java start with it; the best of some runs.
    """
    return min((_command_line(files, folder, engine) for _ in range(_RUNS)), key=lambda cost: cost.wall)


def once(files: tuple[str, ...], folder: str, options: tuple[str, ...]) -> Cost:
    """One run of the command line with these options."""
    return _command_line(files, folder, options)


def _command_line(files: tuple[str, ...], folder: str, engine: tuple[str, ...]) -> Cost:
    binlogs = [word for file in files for word in ("--binlogs", file)]
    program = [sys.executable, "-m", "applier"]
    output = _fresh(folder)
    with Family() as family:
        command([*program, "replay", *binlogs, "--output", output, *engine])
    return family.cost


def warm(files: tuple[str, ...], folder: str) -> Cost:
    """In a Spark session that has done the same before; the best of some runs."""
    spark = session.start(MASTER)
    try:
        _run(files, folder)
        return min((_measured(files, folder) for _ in range(_RUNS)), key=lambda cost: cost.wall)
    finally:
        spark.stop()


def plain(files: tuple[str, ...], folder: str, exec_mode: str = "strict") -> Cost:
    """The same tasks on threads of this process; Spark is not even started."""
    from applier.engine.executor import ThisProcess
    from applier.jobs.replay.job import replay_with

    def run() -> Cost:
        output = _fresh(folder)
        with Family() as family:
            replay_with(ThisProcess(2), ReplayOptions(binlogs=files, output=output, route="walk",
                                                       exec_mode=exec_mode))
        return family.cost

    run()
    return min((run() for _ in range(_RUNS)), key=lambda cost: cost.cpu)


def _measured(files: tuple[str, ...], folder: str) -> Cost:
    with Family() as family:
        _run(files, folder)
    return family.cost


def _run(files: tuple[str, ...], folder: str) -> None:
    from applier.io.progress import Silent
    from applier.jobs.on_engine import replaying

    replaying.replay(ReplayOptions(binlogs=files, output=_fresh(folder), master=MASTER, route="walk"), Silent())


def _fresh(folder: str) -> str:
    """A place for a snapshot, with what a run before left there taken away."""
    output = os.path.join(folder, "snapshot")
    shutil.rmtree(output, ignore_errors=True)
    return output
