"""What it costs to publish a snapshot in a catalog of Iceberg and as tables of Delta, and an increment on top of it."""

import logging
import os
import shutil
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema

import applier
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot.lakes import version_uri
from benchmarks.increments import delta, filled
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES, _FILES = 10_000_000, 440.0, 64
_CHANGED = 100
_RUNS = 3


def publishing(bench: Bench) -> list[Table]:
    """A table of many files: all of them registered, and after an increment those that changed replaced."""
    rows = max(20_000, int(_ROWS * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    table = Table(
        "Publishing in Iceberg and Delta",
        f"A lake with a table of {rows:,} rows of 190 bytes, published in a SQLite catalog of Iceberg, and as one of "
        f"Delta on the same disk; then {_CHANGED} of its rows are updated, and the version after that is published. "
        "Seconds of publishing alone, beside those of the replay that made the version, in one process; pyiceberg: its "
        "own add_files of the same files.",
        ["what", "files", "new", "MB new", "replay, s", "Iceberg, s", "Delta, s", "pyiceberg, s"],
    )
    table.rows += in_child(_measured, f"{bench.folder}/publishing", rows)
    return [table]


def _measured(folder: str, rows: int) -> list[list[str]]:
    random = np.random.default_rng(7)
    file, table, done = filled(f"{folder}/log", rows, random)
    logs = {"all of it": file}
    for what, keys in (("the newest rows", np.arange(rows - _CHANGED, rows)),
                       ("rows anywhere", np.sort(random.choice(rows, _CHANGED, replace=False)))):
        logs[what] = delta(f"{folder}/{what}", table, keys, done + len(logs) - 1, len(logs) + 1)
    lines = list[list[str]]()
    for version, (what, log) in enumerate(logs.items(), 1):
        seconds = _replay(log, f"{folder}/lake", rows * 190 // _FILES // 3)  # of what is compressed, after whole groups
        [result] = _publish(folder, version).tables
        lines.append([what, f"{result.files}", f"{result.files_added}", number(result.bytes_added / 1e6),
                      number(seconds), number(_best(partial(_publish, folder, version))),
                      number(_best(partial(_publish_delta, folder, version))),
                      number(_best(partial(_add_files, folder))) if version == 1 else ""])
    return lines


def _replay(log: str, lake: str, size: int) -> float:
    began = time.perf_counter()
    replay_with(ThisProcess(1), ReplayOptions((log,), lake=lake, file_bytes=size))
    return time.perf_counter() - began


def _publish(folder: str, version: int) -> applier.Published:
    """A version that is published in a new catalog of Iceberg, after those before it."""
    place = _new(f"{folder}/iceberg")
    return [applier.publish(uri, iceberg=f"sqlite:///{place}/catalog.db", warehouse=place)
            for uri in _versions(folder, version)][-1]


def _publish_delta(folder: str, version: int) -> applier.Published:
    """A version that is published as new tables of Delta, after those before it."""
    place = _new(f"{folder}/delta")
    return [applier.publish(uri, delta=place) for uri in _versions(folder, version)][-1]


def _versions(folder: str, last: int) -> list[str]:
    return [version_uri(f"{folder}/lake", number) for number in range(1, last + 1)]


def _new(place: str) -> str:
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    return place


def _add_files(folder: str) -> float:
    """How long pyiceberg takes to register the same files."""
    place = f"{folder}/iceberg"
    published = _publish(folder, 1)
    catalog = load_catalog("default", type="sql", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}")
    [name] = [table.name for table in published.tables]
    known = catalog.load_table(name)
    columns = (field.model_copy(update={"required": False}) for field in known.schema().fields)
    made = catalog.create_table(f"{name}_again", Schema(*columns))  # where one is required, add_files refuses the files
    files = known.inspect.files()["file_path"].to_pylist()
    logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # a line for each column of each file without statistics
    began = time.perf_counter()
    made.add_files(files)
    return time.perf_counter() - began


def _best(work: Callable[[], float | applier.Published]) -> float:
    """The least of some runs' seconds."""
    found = [work() for _ in range(_RUNS)]
    return min(run.seconds if isinstance(run, applier.Published) else run for run in found)
