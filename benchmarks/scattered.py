"""What a round of a lake costs if its changes are scattered over a large table: a lake of whole files, and one that
merges on read, in turns."""

import time
from pathlib import Path
from statistics import median

import numpy as np

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from benchmarks.increments import delta, filled
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_CHANGED = 100, 10_000
_ROUNDS = 3
_FILE_BYTES = 16 << 20
_KINDS = {"whole files": False, "merge on read": True}


def scattered(bench: Bench) -> list[Table]:
    """CPU time and bytes of rounds, by how many rows they update."""
    table = Table(
        "Scattered changes",
        f"A table of {bench.rows:,} rows of 190 bytes in a lake (--target-file-size 16M), and rounds that update rows "
        f"anywhere in it: CPU seconds of one process, and MB of all files that a round adds to the lake, medians of "
        f"{_ROUNDS} rounds of each kind of lake in turns.",
        ["rows updated", "MB of log", "MB of the table", "files",
         *(f"{kind}, {what}" for kind in _KINDS for what in ("CPU s", "MB"))],
    )
    log, rounds = in_child(_logs, bench.folder, bench.rows)
    table.rows += in_child(_measured, bench.folder, log, rounds)
    return [table]


def _logs(folder: str, rows: int) -> tuple[str, list[tuple[int, str]]]:
    """The log that fills the table, and those of the rounds after it, with how many rows each updates. The first one
    warms up."""
    random, place = np.random.default_rng(13), f"{folder}/scattered"
    file, table, done = filled(place, rows, random)
    logs = []
    for number_of_file, count in enumerate([_CHANGED[0], *(count for count in _CHANGED for _ in range(_ROUNDS))], 2):
        keys = np.sort(random.choice(rows, count, replace=False))
        path = delta(f"{place}/{number_of_file}", table, keys, done, number_of_file)
        table.k[keys] += 1
        done += -(-count // 1000)
        logs.append((count, path))
    return file, logs


def _measured(folder: str, log: str, rounds: list[tuple[int, str]]) -> list[list[str]]:
    """The table's rows."""
    lakes = {kind: f"{folder}/scattered/lake-{merges:d}" for kind, merges in _KINDS.items()}
    costs: dict[tuple[str, int], list[tuple[float, int]]] = {}
    for count, file in [(0, log), *rounds]:
        for kind, lake in lakes.items():
            before, began = _files(lake), time.process_time()
            replay_with(ThisProcess(1), ReplayOptions((file,), lake=lake, merge_on_read=_KINDS[kind],
                                                      file_bytes=_FILE_BYTES))
            cpu = time.process_time() - began
            written = sum(size for path, size in _files(lake).items() if path not in before)
            costs.setdefault((kind, count), []).append((cpu, written))
    [table] = manifest.load(f"{lakes['whole files']}/_versions/1").tables
    rows = []
    for count in _CHANGED:
        log_bytes = Path(next(file for n, file in reversed(rounds) if n == count)).stat().st_size
        last = [(median(cpu for cpu, _ in runs[-_ROUNDS:]), median(written for _, written in runs[-_ROUNDS:]))
                for runs in (costs[kind, count] for kind in _KINDS)]
        rows.append([f"{count:,}", number(log_bytes / 1e6), number(table.bytes / 1e6), str(len(table.files)),
                     *(text for cpu, written in last for text in (number(cpu), number(written / 1e6)))])
    return rows


def _files(folder: str) -> dict[Path, int]:
    """All files below a folder, and their sizes."""
    return {path: path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()}
