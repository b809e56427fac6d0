"""The change feed of a table, read as record batches and by DuckDB, and written for other programs."""

import os
import time
from collections.abc import Callable, Generator, Iterator
from tempfile import TemporaryDirectory
from typing import Any

import applier
from applier.apply.tables.traced_rows import TracedRows
from applier.apply.tables.unit import UnitApplier
from applier.binlog.rows import changes as rows_changes
from applier.jobs.change_files.job import write_changes
from applier.jobs.changes.log import ReadLog
from applier.options import ChangeFilesOptions, ChangesOptions
from applier.options.making import CHANGE_FORMATS
from applier.schema.table_filter import TableFilter
from benchmarks import peers
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_QUERY = "SELECT count(*), sum(k), max(length(c)), max(pad), max(_gtid), max(_commit_version) FROM feed"


def changes(bench: Bench) -> list[Table]:
    """The feed of the only table of a log, and of one of eight tables."""
    table = Table(
        "Reading changes",
        "applier.changes of one table, full images, all columns: million rows of the feed (an update has two) a second "
        "of one core's CPU time. Batches: record batches with memory of their own. DuckDB: a query of them that reads "
        "four of the table's columns and GTIDs, on one thread. Complete: the same changes applied to what was there "
        "before, whole rows. History: million versions of rows, by key. History ÷ parts: its CPU time, divided by that "
        "of what no history can omit: event groups, walking the rows events, applying them, decoding rows in key "
        "order.",
        ["log", "MB", "M rows", "outline, CPU s", "batches", "DuckDB", "complete", "history", "history ÷ parts"],
    )
    for name, what in (("single", "all of its table"), ("oltp", "one of 8 tables")):
        log = bench.workload(name)
        rows, opened, read, queried = in_child(_measured, log.files, "bench.sbtest1")
        versions, complete, traced = in_child(_traced, log.files, "bench.sbtest1")
        whole, parts = in_child(_in_parts, log.files, "bench.sbtest1")
        table.rows.append([f"{name}, {what}", number(log.size / 1e6), number(rows / 1e6), number(opened.cpu),
                           number(rows / read.cpu / 1e6), number(rows / queried.cpu / 1e6),
                           number(rows / complete.cpu / 1e6), number(versions / traced.cpu / 1e6),
                           ratio(whole, parts)])
    files = bench.workload("single").files
    return [table, _writing(files), _following(files)]


def _writing(files: tuple[str, ...]) -> Table:
    """What writing a table's changes costs, in each format."""
    table = Table(
        "Writing changes",
        "applier changes of one table, full images, to /dev/null: outline, decoding and writing, in one core's CPU "
        "time. MB are of what is written.",
        ["format", "MB", "CPU s", "MB a CPU second", "M changes a CPU second"],
    )
    for format in CHANGE_FORMATS:
        rows, size, cost = in_child(written, files, ("bench", "sbtest1"), format)
        table.rows.append([format, number(size / 1e6), number(cost.cpu), number(size / cost.cpu / 1e6),
                           number(rows / cost.cpu / 1e6)])
    return table


def _following(files: tuple[str, ...]) -> Table:
    """What following costs, beside python-mysql-replication, whose rows are Python's."""
    table = Table(
        "Following changes",
        "applier.follow of one table, full images, from an empty state, acknowledging each batch: million images a "
        "second of one core's CPU time, as Arrow and as Python's dicts; and python-mysql-replication over a server's "
        "packets, which makes dicts.",
        ["reader", "M images a CPU second", "÷ python-mysql-replication"],
    )
    try:
        cost, size = peers.read_with_python(files)
    except ImportError:
        cost, size = None, 0
    for name, as_python in (("batches", False), ("dicts", True)):
        rows, read = in_child(_followed, files, as_python)
        speed = rows / read.cpu
        known = None if cost is None else rows / sum(map(os.path.getsize, files)) * size / cost.cpu
        table.rows.append([name, number(speed / 1e6), "" if known is None else number(speed / known)])
    if cost is not None:
        table.rows.append(["python-mysql-replication", number(known / 1e6), "1"])
    return table


def _followed(files: tuple[str, ...], as_python: bool) -> tuple[int, Cost]:
    def read() -> int:
        rows = 0
        with TemporaryDirectory() as folder:
            for found in applier.follow(files, "bench.sbtest1", state=f"{folder}/state", until_now=True,
                                        batch_bytes="16M"):
                for batch in found["bench.sbtest1"]:
                    rows += len(batch.to_pylist()) if as_python else batch.num_rows
                found.acknowledge()
        return rows

    return read(), best(read, 1 if as_python else 3)


def written(files: tuple[str, ...], name: tuple[str, str], format: str) -> tuple[int, int, Cost]:
    """Return how many rows or lines were written, their bytes, and the cost."""
    options = ChangeFilesOptions(ChangesOptions(files), "-", format, TableFilter((name,)))
    with open(os.devnull, "wb") as nowhere:
        cost = best(lambda: write_changes(options, nowhere))
    rows = sum(write_changes(options, counted := _Counted()).rows.values())
    return rows, counted.size, cost


class _Counted:
    """A stream that counts its bytes."""

    closed = False

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:
        """Count the bytes."""
        self.size += len(memoryview(data))
        return len(data)

    def tell(self) -> int:
        """Return how many there were."""
        return self.size

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """Nothing is open."""

    def readable(self) -> bool:
        """It is written alone."""
        return False

    def writable(self) -> bool:
        """It is written alone."""
        return True

    def seekable(self) -> bool:
        """It is written alone."""
        return False


def _measured(files: tuple[str, ...], table: str) -> tuple[int, Cost, Cost, Cost]:
    """Return how many rows there are, and the costs of outlining, of reading, and of a query."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    feed = applier.changes(files, table)
    connection.register("feed", feed)
    rows = sum(batch.num_rows for batch in feed)
    return (rows, best(lambda: applier.changes(files, table), 3),
            best(lambda: sum(batch.num_rows for batch in feed)), best(lambda: connection.sql(_QUERY).fetchall()))


def _traced(files: tuple[str, ...], table: str) -> tuple[int, Cost, Cost]:
    """Return how many versions of rows there are, and the costs of reading complete changes, and the history."""
    feed, history = applier.changes(files, table, complete=True), applier.history(files, table)
    versions = sum(batch.num_rows for batch in history)
    return (versions, best(lambda: sum(batch.num_rows for batch in feed)),
            best(lambda: sum(batch.num_rows for batch in history)))


class _Stopwatch:
    """The CPU time of calls that are not within each other."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time counted; of a generator, that of its steps."""
        def timed(*arguments: Any, **named: Any) -> Any:
            found = self._timed(lambda: function(*arguments, **named))
            return self._steps(found) if isinstance(found, Generator) else found

        return timed

    def _steps(self, steps: Generator[Any]) -> Iterator[Any]:
        end = object()
        while (found := self._timed(lambda: next(steps, end))) is not end:
            yield found

    def _timed(self, act: Callable[[], Any]) -> Any:
        began = time.process_time()
        try:
            return act()
        finally:
            self.seconds += time.process_time() - began


def _in_parts(files: tuple[str, ...], table: str) -> tuple[float, float]:
    """Return the CPU seconds of a history, and those of its unavoidable parts in the same run, of the run with the
    lowest ratio. To be run in a process of its own, whose functions it replaces."""
    watch = _Stopwatch()
    for owner, name in ((ReadLog, "groups"), (rows_changes, "walk"), (UnitApplier, "take"), (TracedRows, "at")):
        setattr(owner, name, watch.call(getattr(owner, name)))
    history, runs = applier.history(files, table), list[tuple[float, float]]()
    for _ in range(6):
        watch.seconds, began = 0.0, time.process_time()
        for _ in history:
            pass
        runs.append((time.process_time() - began, watch.seconds))
    return min(runs[1:], key=lambda run: run[0] / run[1])
