"""Archives of very many small files: what is paid for a file, and whether that grows with their number."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.binlog.locating import search
from applier.binlog.locating.search import INDEX_NAME
from applier.binlog.locating.targets import target_of
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import SOURCE, BinlogWriter
from benchmarks.measure import in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_FILES, _FULL_MEGABYTES = 10_000, 440.0
_TRANSACTIONS = 10  # of a file
_TABLE = "CREATE TABLE d.t (id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL)"


def many_files(bench: Bench) -> list[Table]:
    """A replay's steps and a search, for a tenth of the files and for all of them."""
    count = max(200, int(_FILES * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    few, all_ = in_child(measured, bench.folder, count)
    table = Table(
        "An archive of many files",
        f"Files of {_TRANSACTIONS} transactions, in one process, without Spark; seconds of a replay's steps, and of "
        "finding the transaction in the middle of the archive: by the heads of files, then by an index, which is made "
        "once. Times growth: all of the files beside a tenth of them; 10 is linear.",
        ["step", f"{count // 10:,} files, s", f"{count:,} files, s", "times growth", "µs a file"],
    )
    for step, whole in all_.items():
        table.rows.append(
            [step, number(few[step]), number(whole), ratio(whole, few[step]), number(whole / count * 1e6)])
    return [table]


def measured(folder: str, count: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each step, for a tenth of the files and for all."""
    few, all_ = Path(folder) / "few", Path(folder) / "all"
    few.mkdir()
    all_.mkdir()
    files = _written(all_, count)
    for file in files[: count // 10]:
        os.link(file, few / file.name)
    _steps(few, count // 10)  # loads what the first run of a process loads
    return _steps(few, count // 10), _steps(all_, count)


def _written(folder: Path, count: int) -> list[Path]:
    [created] = parse_statement(_TABLE, server_charset="utf8mb4")
    files = [folder / f"binlog.{number + 1:06d}" for number in range(count)]
    log = BinlogWriter(files[0])
    log.query("CREATE DATABASE d")
    log.query(_TABLE)
    for place, file in enumerate(files):
        if place:
            log = log.rotate(file)
            log.timestamp += 60
        keys = np.arange(place * _TRANSACTIONS, (place + 1) * _TRANSACTIONS)
        rows = {"id": pa.array(keys), "k": pa.array(keys, pa.int32())}
        log.transactions([RowChanges(created.definition, after=rows)])
    log.close()
    return files


def _steps(folder: Path, count: int) -> dict[str, float]:
    (folder / INDEX_NAME).unlink(missing_ok=True)
    output = folder.parent / f"out-{time.monotonic_ns()}"
    result = replay_with(ThisProcess(1), ReplayOptions((str(folder),), str(output)))
    steps = {step: result.seconds[step] for step in ("outline", "plan", "apply")}
    target = target_of(f"{SOURCE}:{count * _TRANSACTIONS // 2}", None, None, None)
    steps["locate by heads"] = _seconds(lambda: search.locate([str(folder)], target))
    steps["index"] = _seconds(lambda: search.index(str(folder)))
    steps["locate by index"] = _seconds(lambda: search.locate([str(folder)], target))
    return steps


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
