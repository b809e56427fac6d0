"""Rows that no single key finds: tables without a key, keys that are not unique, idempotent mode."""

from benchmarks import end_to_end, peers, stages
from benchmarks.measure import Cost, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench
from benchmarks.workloads import Workload

_SERVER_CHANGES = {"keyed": 3000, "keyless": 60, "alike": 3000}
"""What a server is given of each log behind the rows. Without a key it goes through the whole table for each change."""
_ROWS = (
    ("integer primary key", "keyed", "strict", "keyed"),
    ("no key", "keyless", "strict", "keyed"),
    ("a key with 100 rows a value", "alike", "strict", None),
    ("primary key, a mix with inserts", "oltp", "strict", "oltp"),
    ("the same, 1 % conflicts, idempotent mode", "conflicts", "idempotent", "oltp"),
)
"""What the tables have, log, mode, and the log whose strict replay it is compared with."""


def searching(bench: Bench) -> list[Table]:
    """Whole replays in one plain process, beside the same work on a table with an integer primary key."""
    parts = ", ".join(f"{name} {count:,}" for name, count in _SERVER_CHANGES.items())
    table = Table(
        "Rows that no single key finds",
        "A whole replay in one process: the first file fills the table, the second changes its rows (in the last two "
        "logs, a mix of both). ÷: CPU a change against the log named. `mysqlbinlog | mysql`: wall time of the first "
        f"file and of the first changes of the second ({parts}), scaled to all of them by what a change took.",
        ["tables", "log", "M changes", "CPU s", "seconds", "CPU a change ÷", "`mysqlbinlog | mysql` s",
         "`mysqlbinlog | mysql` ÷ this"],
    )
    each: dict[str, float] = {}
    for what, name, exec_mode, other in _ROWS:
        log = bench.workload(name)
        changes = in_child(stages.count_changes, log.files)
        cost: Cost = in_child(end_to_end.plain, log.files, bench.folder, exec_mode)
        each[name] = cost.cpu / changes
        server = _of_server(bench, log) if name in _SERVER_CHANGES else None
        table.rows.append([
            what, name, number(changes / 1e6), number(cost.cpu), number(cost.wall),
            f"{other}: {ratio(each[name], each[other])}" if other else "–",
            number(server), ratio(server, cost.wall),
        ])
    return [table]


def _of_server(bench: Bench, log: Workload) -> float | None:
    """Seconds that a server takes for the log, as far as a part of it tells; None without a server."""
    reader = bench.applying_reader
    if reader is None:
        return None
    transactions = peers.count_transactions(log.files[1])
    changes = in_child(stages.count_changes, log.files[1:])
    measured = min(transactions, max(1, _SERVER_CHANGES[log.name] * transactions // changes))
    cost = peers.estimate_with_server(reader, bench.server, log.files, log.database, (measured, transactions))
    return cost.wall
