"""Rows that a foreign key deletes with their parents, which the log does not have."""

from benchmarks import end_to_end, peers, stages
from benchmarks.changed_rows import CHILDREN
from benchmarks.measure import in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_SERVER_DELETES = 3000
"""What a server is given of the parents that are deleted."""


def cascades(bench: Bench) -> list[Table]:
    """A log that fills two tables and deletes a tenth of the parents, beside a server whose engine cascades."""
    log = bench.workload("cascades")
    deletes = peers.count_transactions(log.files[1])
    changes = in_child(stages.count_changes, log.files) + CHILDREN * deletes
    measured = min(deletes, _SERVER_DELETES)
    server = None
    if bench.server and "mariadb-binlog -v" in bench.readers and peers.is_mariadb(bench.server):
        server = peers.estimate_with_server([peers.MARIADB_BINLOG], bench.server, log.files, log.database,
                                            (measured, deletes))
    table = Table(
        "Rows that foreign keys delete",
        f"{10 * deletes:,} parents with {CHILDREN} children each are inserted, {log.size / 1e6:.0f} MB of log, and a "
        f"tenth of the parents is deleted, one a transaction, and {CHILDREN * deletes:,} children with them. "
        "Cold: the command line, from start to published snapshot. Warm: in a Spark session that has run it before. "
        "Plain: the same tasks in one process without Spark. `mariadb-binlog | mariadb`: all inserts and the first "
        f"{measured:,} deletes, scaled to all of them.",
        ["run", "seconds", "CPU seconds", "M rows a second", "worker MB", "`mariadb-binlog | mariadb` ÷ this"],
    )
    runs = (
        ("cold, local[2]", in_child(end_to_end.cold, log.files, bench.folder)),
        ("warm, local[2]", in_child(end_to_end.warm, log.files, bench.folder)),
        ("plain, one process", in_child(end_to_end.plain, log.files, bench.folder)),
        ("mariadb-binlog | mariadb", server),
    )
    for name, cost in runs:
        if cost is not None:
            table.rows.append([name, number(cost.wall), number(cost.cpu or None), number(changes / cost.wall / 1e6),
                               number(cost.memory / 1e6 or None), ratio(server.wall, cost.wall) if server else "–"])
    return [table]
