"""Dumps from snapshots and snapshots from dumps, beside what a server and its own tools take for the same rows."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from applier.engine.executor import ThisProcess
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ExportOptions, ImportOptions, ReplayOptions
from benchmarks import peers
from benchmarks.measure import Cost, Family, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.sections import Bench

_RUNS = 3


def dumps(bench: Bench) -> list[Table]:
    """Export in both formats, and import of what was exported; with a server, its load of it and its own dump."""
    log = bench.workload("oltp")
    folder = os.path.join(bench.folder, "dumps")
    os.makedirs(folder, exist_ok=True)
    costs, megabytes = in_child(_ours, log.files, folder)
    server = _servers(bench.server, folder, log.database) if bench.server and log.database else {}
    table = Table(
        "Dumps",
        f"The tables that {log.name} leaves, {megabytes:.0f} MB as SQL: in one process of two threads, without Spark, "
        "into and out of a snapshot; and by a server's tools, into and out of the server. Its makers give MySQL Shell "
        "close to 3 GB/s for a dump and over 200 MB/s for a load on 44 cores (dev.mysql.com/blog-archive, "
        "mysql-shell-dump-load-part-2-benchmarks): 34 and 2.3 MB/s a thread of theirs.",
        ["work", "seconds", "MB/s", "CPU seconds", "the server's tools ÷ this"],
    )
    peer_of = {"applier export": "mysqldump", "applier export --format tsv": "mysqldump",
               "applier import": "mysql < dump"}
    for work, cost in (costs | server).items():
        theirs = server.get(peer_of.get(work, ""))
        table.rows.append([work, number(cost.wall), number(megabytes / cost.wall), number(cost.cpu or None),
                           ratio(theirs.wall, cost.wall) if theirs else "–"])
    return [table]


def _ours(files: tuple[str, ...], folder: str) -> tuple[dict[str, Cost], float]:
    """The costs by what was done, and the megabytes of the dump."""
    snapshot, sql, tsv, imported = (f"{folder}/{name}" for name in ("snapshot", "sql", "tsv", "imported"))
    replay_with(ThisProcess(2), ReplayOptions(files, snapshot))
    costs = {
        "applier export": _best(sql, lambda: export_snapshot(ExportOptions(snapshot, sql))),
        "applier export --format tsv": _best(tsv, lambda: export_snapshot(ExportOptions(snapshot, tsv, "tsv"))),
        "applier import": _best(imported, lambda: import_dump(ImportOptions(sql, imported))),
    }
    return costs, sum(file.stat().st_size for file in Path(sql).rglob("*.sql")) / 1e6


def _servers(server: str, folder: str, database: str) -> dict[str, Cost]:
    """Wall times of loading the exported SQL, as the script beside it does, and of dumping it again."""
    client, *options = peers.client(server)
    subprocess.run([client, *options, "-e", f"DROP DATABASE IF EXISTS {database}"], check=True)
    began = time.perf_counter()
    script = ["sh", f"{folder}/sql/_load.sh", *(word for word in options if word != "--binary-mode")]
    subprocess.run(script, env=os.environ | {"MYSQL": client}, check=True)
    loaded = time.perf_counter()
    dump = "mariadb-dump" if client == "mariadb" else "mysqldump"
    words = [word for word in options if word != "--binary-mode"]
    with open(f"{folder}/dump.sql", "wb") as target:
        subprocess.run([dump, *words, "--single-transaction", "--databases", database], stdout=target, check=True)
    return {"mysql < dump": Cost(0, loaded - began), "mysqldump": Cost(0, time.perf_counter() - loaded)}


def _best(output: str, work: Callable[[], object]) -> Cost:
    """The shortest of some runs, each of which makes `output`."""
    costs = []
    for _ in range(_RUNS):
        shutil.rmtree(output, ignore_errors=True)
        with Family() as family:
            work()
        costs.append(family.cost)
    return min(costs, key=lambda cost: cost.wall)
