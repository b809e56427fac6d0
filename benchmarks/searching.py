"""Rows that no single key finds: tables without a key, keys that are not unique, idempotent mode."""

from benchmarks import end_to_end, peers, stages
from benchmarks.measure import Cost, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench
from benchmarks.workloads import Workload

_SERVER_MEGABYTES = 3.0
"""What a server is given of each log: without a key it looks through the whole table for each change, so its time a
change grows with the table, and this is its best."""


def searching(bench: Bench) -> list[Table]:
    """Whole replays in one plain process, beside the same work on a table with an integer primary key."""
    table = Table(
        "Rows that no single key finds",
        "CPU of a whole replay in one process, a million changes; against the same work on tables with an integer "
        f"primary key, and against `mysqlbinlog | mysql` on a log of {_SERVER_MEGABYTES:g} MB (wall time a change).",
        ["tables", "changes", "CPU s a million changes", "÷ primary key", "`mysqlbinlog | mysql` ÷ this"],
    )
    plain = _of(bench, "oltp", "strict")
    rows = (
        ("integer primary key", "oltp", "strict"),
        ("no key", "keyless", "strict"),
        ("a key with 100 rows a value", "alike", "strict"),
        ("idempotent mode, 1 % conflicts", "conflicts", "idempotent"),
    )
    for what, name, exec_mode in rows:
        ours = plain if name == "oltp" else _of(bench, name, exec_mode)
        server = _of_server(bench, name) if exec_mode == "strict" else None
        table.rows.append([what, number(_changes(bench.workload(name)) / 1e6), number(ours), ratio(ours, plain),
                           ratio(server, ours) if server is not None else "–"])
    return [table]


def _of(bench: Bench, name: str, exec_mode: str) -> float:
    """CPU seconds a million changes."""
    log = bench.workload(name)
    cost: Cost = in_child(end_to_end.plain, log.files, bench.folder, exec_mode)
    return cost.cpu / _changes(log) * 1e6


def _of_server(bench: Bench, name: str) -> float | None:
    """Seconds a million changes, as far as a prefix of the log tells; None without a server."""
    reader = bench.readers.get("mysqlbinlog -v") or bench.readers.get("mariadb-binlog -v")
    if not bench.server or reader is None:
        return None
    log = bench.workload(name, _SERVER_MEGABYTES)
    return peers.apply_with_server(reader, bench.server, log.files, "bench").wall / _changes(log) * 1e6


def _changes(log: Workload) -> int:
    return in_child(stages.count_changes, log.files)
