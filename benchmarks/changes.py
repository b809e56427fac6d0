"""The change feed of a table, read as record batches and by DuckDB."""

import applier
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_QUERY = "SELECT count(*), sum(k), max(length(c)), max(pad), max(_gtid), max(_commit_version) FROM feed"


def changes(bench: Bench) -> list[Table]:
    """The feed of the only table of a log, and of one of eight tables."""
    table = Table(
        "Reading changes",
        "applier.changes of one table, full images, all columns: million rows of the feed (an update has two) a second "
        "of one core's CPU time. Batches: record batches with memory of their own. DuckDB: a query of them that reads "
        "four of the table's columns and GTIDs, on one thread.",
        ["log", "MB", "M rows", "outline, CPU s", "batches", "DuckDB"],
    )
    for name, what in (("single", "all of its table"), ("oltp", "one of 8 tables")):
        log = bench.workload(name)
        rows, opened, read, queried = in_child(_measured, log.files, "bench.sbtest1")
        table.rows.append([f"{name}, {what}", number(log.size / 1e6), number(rows / 1e6), number(opened.cpu),
                           number(rows / read.cpu / 1e6), number(rows / queried.cpu / 1e6)])
    return [table]


def _measured(files: tuple[str, ...], table: str) -> tuple[int, Cost, Cost, Cost]:
    """How many rows there are, and the costs of outlining, of reading, and of a query."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    feed = applier.changes(files, table)
    connection.register("feed", feed)
    rows = sum(batch.num_rows for batch in feed)
    return (rows, best(lambda: applier.changes(files, table), 3),
            best(lambda: sum(batch.num_rows for batch in feed)), best(lambda: connection.sql(_QUERY).fetchall()))
