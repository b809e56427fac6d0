"""Verifying a snapshot: its files, and the sums of its rows, which a server answers, too."""

import os
from tempfile import TemporaryDirectory

from applier.engine.executor import ThisProcess
from applier.io.progress import Silent
from applier.jobs.replay.job import replay_with
from applier.jobs.verify.files import verify
from applier.jobs.verify.plan import plan
from applier.jobs.verify.sums import sums_of
from applier.options import ReplayOptions
from applier.snapshot import manifest
from benchmarks.measure import best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_RUNS = 3


def verifying(bench: Bench) -> list[Table]:
    """Digests, and sums by both hashes, beside DuckDB's hash of the same rows."""
    table = Table(
        "Verifying a snapshot",
        "M rows a second of one core's CPU time, Parquet read and all. Files: digests, counts, keys. Sums: a hash of "
        "each value and of each row, by range of the key. DuckDB: the sum of an MD5 of each row's values as text.",
        ["tables of", "M rows", "columns", "files", "sums, crc32", "sums, sha2", "DuckDB", "crc32 ÷ DuckDB"],
    )
    for name in ("oltp", "types"):
        rows, columns, files, crc32, sha2, duckdb = in_child(_verified, bench.workload(name).files)
        table.rows.append([name, number(rows / 1e6), columns,
                           *(number(rows / seconds / 1e6) for seconds in (files, crc32, sha2, duckdb)),
                           ratio(duckdb, crc32)])
    return [table]


def _verified(files: tuple[str, ...]) -> tuple[int, str, float, float, float, float]:
    """Rows, the columns of the tables, and CPU seconds of each way."""
    with TemporaryDirectory() as place:
        folder = os.path.join(place, "snapshot")
        replay_with(ThisProcess(), ReplayOptions(files, folder))
        snapshot = manifest.load(folder)
        columns = sorted({len(table.definition.columns) for table in snapshot.tables})
        ways = (lambda: verify(folder), lambda: sums_of(plan(snapshot, hash="crc32"), Silent()),
                lambda: sums_of(plan(snapshot, hash="sha2"), Silent()), lambda: _with_duckdb(folder, snapshot))
        return (sum(table.rows for table in snapshot.tables), ", ".join(map(str, columns)),
                *(best(way, _RUNS).cpu for way in ways))


def _with_duckdb(folder: str, snapshot: manifest.Snapshot) -> None:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    for table in snapshot.tables:
        files = [os.path.join(folder, file.path) for file in table.files]
        columns = ", ".join(f'"{column.name}"' for column in table.definition.columns)
        connection.execute(f"SELECT count(*), sum(md5_number(concat_ws(',', {columns})) % 4294967296) "
                           "FROM read_parquet($files)", {"files": files}).fetchall()
