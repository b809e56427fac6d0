"""What an increment costs by how many rows it changes, where they are, and how large the snapshot's files are."""

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.writer.writer import BinlogWriter
from benchmarks.archive import Archive, SbtestTable, filled_table
from benchmarks.measure import Cost, Family, best, in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES = 2_000_000, 440.0
_SIZES = (16, 32, 64, 128, 256)


def increments(bench: Bench) -> list[Table]:
    """The costs of replays on a base, and of reading all of it, by the size of its files."""
    rows = max(20_000, int(_ROWS * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    archive, deltas = in_child(_logs, bench.folder, rows)
    table = Table(
        "Increments",
        f"A table of {rows:,} rows of 190 bytes as the base, with files of about so many MB (--target-file-size); logs "
        "that update some of its rows. In one process, without Spark: seconds, and MB of new files. Read: all columns "
        "of the base, by pyarrow in one thread.",
        ["files", "files of the base", "base, CPU s", *(f"{delta}, s" for delta in deltas),
         *(f"{delta}, MB" for delta in deltas), "read, CPU s"],
    )
    for megabytes in _SIZES:
        base, count, costs, read = in_child(_measured, bench.folder, archive, deltas, megabytes)
        table.rows.append([f"{megabytes} MB", str(count), number(base.cpu), *(number(cost.wall) for cost, _ in costs),
                           *(number(size / 1e6) for _, size in costs), number(read.cpu)])
    return [table]


def _logs(folder: str, rows: int) -> tuple[str, dict[str, str]]:
    """The log that fills the table, and the logs that may follow it by what they change."""
    random = np.random.default_rng(7)
    file, table, done = filled(f"{folder}/increments", rows, random)
    newest, anywhere = np.arange(rows - rows // 1000, rows), np.sort(random.choice(rows, rows // 1000, replace=False))
    chosen = {"one row": newest[:1], "0.1 % newest": newest, "0.1 % anywhere": anywhere,
              "1 % anywhere": np.arange(0, rows, 100)}
    return file, {what: delta(f"{folder}/increments/{number}", table, keys, done)
                              for number, (what, keys) in enumerate(chosen.items())}


def filled(folder: str, rows: int, random: np.random.Generator) -> tuple[str, SbtestTable, int]:
    """A log that fills a table with this many rows: its path, the table, and how many transactions it has."""
    archive = Archive(folder, 1)
    archive.file_bytes = None
    table = filled_table(archive, "t", "int", ", PRIMARY KEY (id)", rows, random)
    done = archive.log.executed
    archive.log.close()
    return archive.files[0], table, done


def delta(folder: str, table: SbtestTable, keys: np.ndarray, executed: int, number: int = 2) -> str:
    """Write the log that follows one of this many transactions, and updates the rows with these keys; its path. The
    table stays as it was. `number`: the file's."""
    os.makedirs(folder)
    k = table.k.copy()
    with BinlogWriter(f"{folder}/binlog.{number:06d}", executed=executed) as log:
        for part in np.array_split(keys, -(-len(keys) // 1000)):
            with log.transaction():
                log.rows(table.update_k(part, True))
    table.k = k
    return log.path


def _measured(folder: str, archive: str, deltas: dict[str, str],
              megabytes: int) -> tuple[Cost, int, list[tuple[Cost, int]], Cost]:
    """The base's cost, how many files it has, each delta's cost and bytes of new files, and the cost of a read."""
    base, out = f"{folder}/increments/base", Path(folder) / "increments" / "out"
    shutil.rmtree(base, ignore_errors=True)
    with Family() as family:
        replay_with(ThisProcess(1), ReplayOptions((archive,), base, file_bytes=megabytes << 20))
    [table] = manifest.load(base).tables
    old = {file.digest for file in table.files}

    def replay(log: str) -> tuple[Cost, int]:
        shutil.rmtree(out, ignore_errors=True)
        with Family() as family:
            replay_with(ThisProcess(1), ReplayOptions((log,), str(out), base=base, file_bytes=megabytes << 20))
        [new] = manifest.load(str(out)).tables
        return family.cost, sum(file.bytes for file in new.files if file.digest not in old)

    costs = [min((replay(log) for _ in range(3)), key=lambda run: run[0].wall) for log in deltas.values()]
    files = [f"{base}/{file.path}" for file in table.files]
    return family.cost, len(files), costs, best(lambda: [pq.read_table(file, use_threads=False) for file in files], 2)
