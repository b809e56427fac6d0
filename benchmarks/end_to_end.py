"""The whole job, from binlog files to a published snapshot. Every function runs in a process of its own."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any
from unittest.mock import patch

from applier.options import ReplayOptions
from applier.spark import session
from benchmarks.measure import Cost, Family, command

MASTER = "local[2]"
_WARM_RUNS = 3


def cold(files: tuple[str, ...], folder: str) -> Cost:
    """The command line, as from a shell: interpreter, Java and kernels start with it."""
    output = _fresh(folder)
    program = [sys.executable, "-c", "from applier.cli import console; console()"]
    with Family() as family:
        command(
            [
                *program,
                "replay",
                *(part for file in files for part in ("--binlogs", file)),
                "--output",
                output,
                "--master",
                MASTER,
            ]
        )
    return family.cost


def warm(files: tuple[str, ...], folder: str) -> Cost:
    """In a Spark session that has done the same before; the best of some runs."""
    spark = session.start(MASTER)
    try:
        _run(files, folder)
        return min((_measured(files, folder) for _ in range(_WARM_RUNS)), key=lambda cost: cost.wall)
    finally:
        spark.stop()


def plain(files: tuple[str, ...], folder: str) -> Cost:
    """The same tasks one after another in this process; Spark is not even started."""
    nobody: Future[None] = Future()
    nobody.set_result(None)
    with (
        patch.object(session, "start_in_background", lambda *_, **__: nobody),
        patch("applier.spark.stages.map_tasks", _one_after_another),
    ):
        _run(files, folder)
        return min((_measured(files, folder) for _ in range(_WARM_RUNS)), key=lambda cost: cost.cpu)


def _one_after_another(_: Any, function: Callable[[Any], Any], items: Iterable[Any], **__: Any) -> list[Any]:
    return [function(item) for item in items]


def _measured(files: tuple[str, ...], folder: str) -> Cost:
    with Family() as family:
        _run(files, folder)
    return family.cost


def _run(files: tuple[str, ...], folder: str) -> None:
    from applier.replay import replay

    replay(ReplayOptions(binlogs=files, output=_fresh(folder), master=MASTER, route="walk"))


def _fresh(folder: str) -> str:
    """A place for a snapshot, with what a run before left there taken away."""
    output = os.path.join(folder, "snapshot")
    shutil.rmtree(output, ignore_errors=True)
    return output
