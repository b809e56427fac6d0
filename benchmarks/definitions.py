"""What DDL costs: a column added to a large table in the middle of a log, and the plan for an archive full of DDL."""

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from benchmarks.measure import Cost, Family, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_ROWS, _FULL_MEGABYTES, _CHUNK = 10_000_000, 440.0, 500_000
TABLES, _ROUNDS = 200, 4
_COLUMNS = "id BIGINT NOT NULL PRIMARY KEY, k INT NOT NULL, c VARCHAR(20) NOT NULL"
_CHANGES = ("ADD COLUMN n{0} INT NOT NULL DEFAULT 7", "MODIFY k BIGINT", "ADD INDEX i{0} (k)",
            "ADD COLUMN (a{0} DATETIME, b{0} VARCHAR(30) DEFAULT 'x')")


def definitions(bench: Bench) -> list[Table]:
    """An ALTER of a large table against writing it once, and the plan of 1,000 statements."""
    rows = max(10_000, int(_ROWS * min(1.0, bench.megabytes / _FULL_MEGABYTES)))
    rewritten, altered = in_child(added_column, bench.folder, rows)
    adding = Table(
        "A column added in the middle of a log",
        f"A table of {rows:,} rows as the base, in one process, without Spark. Written once: a log that updates a row "
        "in each hundred, so that every file is written again. With a column: the same after an ALTER TABLE that adds "
        "one. CPU seconds.",
        ["log", "seconds", "CPU seconds", "÷ written once"],
        [["written once", number(rewritten.wall), number(rewritten.cpu), "–"],
         ["with a column", number(altered.wall), number(altered.cpu), ratio(altered.cpu, rewritten.cpu)]],
    )
    seconds = in_child(planned, bench.folder)
    planning = Table(
        "An archive full of DDL",
        f"The plan of a replay, in the driver: {TABLES * (_ROUNDS + 1):,} statements of DDL over {TABLES} tables, "
        "with rows in all of them from the start.",
        ["statements", "tables", "plan, seconds"],
        [[f"{TABLES * (_ROUNDS + 1):,}", str(TABLES), number(seconds)]],
    )
    return [adding, planning]


def added_column(folder: str, rows: int) -> tuple[Cost, Cost]:
    """The costs of both logs, on a base made of a first one; the best of some runs."""
    place = Path(folder) / "added"
    place.mkdir()
    table = _definition(f"CREATE TABLE d.t ({_COLUMNS})")
    wider = _definition(f"CREATE TABLE d.t ({_COLUMNS}, n INT NOT NULL DEFAULT 7)")
    first = str(place / "binlog.000001")
    with BinlogWriter(first) as log:
        log.query("CREATE DATABASE d CHARACTER SET utf8mb4")
        log.query(table.to_sql())
        for start in range(0, rows, _CHUNK):
            with log.transaction():
                log.rows(RowChanges(table, after=_rows(np.arange(start, min(rows, start + _CHUNK)))))
        plain = log.rotate(place / "binlog.000002")
        _update(plain, table, rows, {})
        plain.close()
    (place / "other").mkdir()
    with BinlogWriter(place / "other" / "binlog.000002", executed=_transactions(rows)) as log:
        log.query("ALTER TABLE d.t ADD COLUMN n INT NOT NULL DEFAULT 7", "d")
        _update(log, wider, rows, {"n": 8})
    base = str(place / "base")
    replay_with(ThisProcess(1), ReplayOptions((first,), base))
    return tuple(min((_replayed(base, str(file), place / "out") for _ in range(3)), key=lambda cost: cost.cpu)
                 for file in (place / "binlog.000002", place / "other" / "binlog.000002"))


def planned(folder: str) -> float:
    """Seconds of the plan, the best of some runs."""
    place = Path(folder) / "planned"
    place.mkdir()
    with BinlogWriter(place / "binlog.000001") as log:
        log.query("CREATE DATABASE d CHARACTER SET utf8mb4")
        for turn in range(_ROUNDS + 1):
            for table in range(TABLES):
                sql = f"ALTER TABLE d.t{table} {_CHANGES[turn - 1].format(turn)}" if turn else \
                    f"CREATE TABLE d.t{table} ({_COLUMNS})"
                log.query(sql, "d")
                if not turn:
                    with log.transaction():
                        created = _definition(f"CREATE TABLE d.t{table} ({_COLUMNS})")
                        log.rows(RowChanges(created, after=_rows(np.arange(1))))
    log = (str(place / "binlog.000001"),)
    runs = []
    for _ in range(3):
        runs.append(replay_with(ThisProcess(1), ReplayOptions(log, str(place / "out"))).seconds["plan"])
        shutil.rmtree(place / "out")
    return min(runs)


def _definition(sql: str):
    [change] = parse_statement(sql, server_charset="utf8mb4")
    return change.definition


def _rows(keys: np.ndarray) -> dict[str, pa.Array]:
    numbers = pa.array(keys)
    return {"id": numbers, "k": pa.array(keys % 1000, pa.int32()), "c": numbers.cast(pa.string())}


def _update(log: BinlogWriter, table, rows: int, more: dict[str, int]) -> None:
    """A row of each hundred gets another k."""
    keys = np.arange(0, rows, 100)
    added = {name: pa.array(np.full(len(keys), 7), pa.int32()) for name in more}
    before = _rows(keys) | added
    after = before | {"k": pa.array(keys % 1000 + 1, pa.int32())}
    with log.transaction():
        log.rows(RowChanges(table, before=before, after=after))


def _transactions(rows: int) -> int:
    """Those of the first file: two statements, and one for each chunk."""
    return 2 + -(-rows // _CHUNK)


def _replayed(base: str, file: str, output: Path) -> Cost:
    shutil.rmtree(output, ignore_errors=True)
    with Family() as family:
        replay_with(ThisProcess(1), ReplayOptions((file,), os.fspath(output), base=base))
    return family.cost
