"""What it costs to publish a snapshot in a catalog of Iceberg and as tables of Delta, and an increment on top of it."""

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
from applier.snapshot import manifest
from benchmarks.increments import delta, filled
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES, _FILES = 2_000_000, 440.0, 64
_CHANGED = 100
_RUNS = 3


def publishing(bench: Bench) -> list[Table]:
    """A table of many files: all of them registered, and after an increment those that changed replaced."""
    rows = max(20_000, int(_ROWS * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    table = Table(
        "Publishing in Iceberg and Delta",
        f"A table of {rows:,} rows of 190 bytes, published in a SQLite catalog of Iceberg, and as a table of Delta on "
        f"the same disk; then {_CHANGED} of its rows are updated, and the snapshot after that is published. Seconds of "
        "publishing alone, beside those of the replay that made the snapshot, in one process; pyiceberg: its own "
        "add_files of the same files.",
        ["what", "files", "new", "MB new", "replay, s", "Iceberg, s", "Delta, s", "pyiceberg, s"],
    )
    table.rows += in_child(_measured, f"{bench.folder}/publishing", rows)
    return [table]


def _measured(folder: str, rows: int) -> list[list[str]]:
    random = np.random.default_rng(7)
    file, table, done = filled(f"{folder}/log", rows, random)
    chosen = {"the newest rows": np.arange(rows - _CHANGED, rows),
              "rows anywhere": np.sort(random.choice(rows, _CHANGED, replace=False))}
    size = rows * 190 // _FILES // 2  # of what is compressed
    base, lines = f"{folder}/base", list[list[str]]()
    seconds = _replay(file, base, size)
    [known] = manifest.load(base).tables
    lines.append(["all of it", f"{len(known.files)}", f"{len(known.files)}", number(known.bytes / 1e6), number(seconds),
                  *_formats(folder, [base]), number(_best(partial(_add_files, folder, base)))])
    for what, keys in chosen.items():
        log, out = delta(f"{folder}/{what}", table, keys, done), f"{folder}/{what}/out"
        seconds = _replay(log, out, size, base)
        published = _publish(folder, [base, out])
        [result] = published.tables
        lines.append([what, f"{result.files}", f"{result.files_added}", number(result.bytes_added / 1e6),
                      number(seconds), *_formats(folder, [base, out]), ""])
    return lines


def _replay(log: str, output: str, size: int, base: str | None = None) -> float:
    began = time.perf_counter()
    replay_with(ThisProcess(1), ReplayOptions((log,), output, base=base, file_bytes=size))
    return time.perf_counter() - began


def _formats(folder: str, snapshots: list[str]) -> list[str]:
    """The seconds that the last of some snapshots takes in Iceberg, and in Delta."""
    return [number(_best(partial(publish, folder, snapshots))) for publish in (_publish, _publish_delta)]


def _publish(folder: str, snapshots: list[str]) -> applier.Published:
    """The last of some snapshots that are published in a new catalog of Iceberg."""
    place = _new(f"{folder}/lake")
    return [applier.publish(snapshot, iceberg=f"sqlite:///{place}/catalog.db") for snapshot in snapshots][-1]


def _publish_delta(folder: str, snapshots: list[str]) -> applier.Published:
    """The last of some snapshots that are published as new tables of Delta."""
    place = _new(f"{folder}/delta")
    return [applier.publish(snapshot, delta=place) for snapshot in snapshots][-1]


def _new(place: str) -> str:
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    return place


def _add_files(folder: str, snapshot: str) -> float:
    """How long pyiceberg takes to register the same files."""
    place = f"{folder}/lake"
    published = _publish(folder, [snapshot])
    catalog = load_catalog("default", type="sql", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}")
    [name] = [table.name for table in published.tables]
    known = catalog.load_table(name)
    columns = (field.model_copy(update={"required": False}) for field in known.schema().fields)
    made = catalog.create_table(f"{name}_again", Schema(*columns))  # where one is required, add_files refuses the files
    files = known.inspect.files()["file_path"].to_pylist()
    began = time.perf_counter()
    made.add_files(files)
    return time.perf_counter() - began


def _best(work: Callable[[], float | applier.Published]) -> float:
    """The least of some runs' seconds."""
    found = [work() for _ in range(_RUNS)]
    return min(run.seconds if isinstance(run, applier.Published) else run for run in found)
