"""What is measured, section by section: each gives the tables that it fills."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from subprocess import CalledProcessError
from typing import TypeVar

from benchmarks import end_to_end, peers, stages
from benchmarks.measure import Cost, best, in_child
from benchmarks.report import Table, number, ratio
from benchmarks.workloads import Workload, make

Result = TypeVar("Result")


@dataclass
class Bench:
    """One sitting: where its files are, how large, which peers there are; `rows`: of the large table that changes are
    scattered over. Workloads are made when first asked for."""

    folder: str
    megabytes: float
    given: tuple[Workload, ...] = ()
    server: str | None = None
    mysqlbinlog: str | None = None
    rows: int = 1_000_000
    _made: dict[tuple[str, float], Workload] = field(default_factory=dict)

    def workload(self, name: str, megabytes: float | None = None) -> Workload:
        """A workload of the sitting's size, or of another one."""
        size = megabytes or self.megabytes
        if (name, size) not in self._made:
            folder = os.path.join(self.folder, f"{size:g}")
            os.makedirs(folder, exist_ok=True)
            self._made[name, size] = make(name, size, folder)
        return self._made[name, size]

    @cached_property
    def readers(self) -> dict[str, list[str]]:
        return peers.find_readers(self.mysqlbinlog)

    @property
    def applying_reader(self) -> list[str] | None:
        """The reader whose output the server gets: MySQL's, where it is there; None where there is no server."""
        if not self.server:
            return None
        return self.readers.get("mysqlbinlog -v") or self.readers.get("mariadb-binlog -v")


def reading(bench: Bench) -> list[Table]:
    """Outline and decode, against tools that print rows."""
    names = [*bench.readers, "python-mysql-replication"]
    table = Table(
        "Reading a log",
        "MB/s of one core's CPU time. Outline: headers, CRC32, event groups. Decode: both images of "
        "all rows as Arrow columns, CRC32 checked, against tools that print rows.",
        ["log", "MB", "outline", "decode", "M images/s", *names, *(f"decode ÷ {name}" for name in names)],
    )
    logs = bench.given or tuple(map(bench.workload, ("oltp", "bulk", "types", "minimal")))
    for log in logs:
        outlined = in_child(stages.outline, log.files)
        decoded, images = in_child(stages.decode, log.files)
        ours = log.size / decoded.cpu / 1e6
        others = [_read_with(program, log) for program in bench.readers.values()]
        others.append(_read_with_python(log))
        table.rows.append(
            [
                log.name,
                number(log.size / 1e6),
                number(log.size / outlined.cpu / 1e6),
                number(ours),
                number(images / decoded.cpu / 1e6),
                *map(number, others),
                *(ratio(ours, other) for other in others),
            ]
        )
    return [table]


def applying(bench: Bench) -> list[Table]:
    """Finding rows and moving pointers; and the same work by engines that are given columns."""
    rates = Table(
        "Applying",
        "Million row changes a second of one core's CPU time, onto tables that begin empty: finding rows "
        "by key and moving pointers, and with all rows that are left gathered (decoded, in key order).",
        ["changes", "M changes", "apply", "apply and gather"],
    )
    for what, name in (
        ("integer key, full images", "oltp"),
        ("integer key, partial images", "minimal"),
        ("byte key, full images", "uuid"),
    ):
        applied, gathered, changes = in_child(stages.apply, bench.workload(name).files)
        rates.rows.append(
            [
                what,
                number(changes / 1e6),
                number(changes / applied.cpu / 1e6),
                number(changes / (applied.cpu + gathered.cpu) / 1e6),
            ]
        )
    engines = Table(
        "One table's changes to its rows",
        "CPU milliseconds of one core. This project begins with keys and has to "
        "decode the rows that are left; the others are given all changes as columns.",
        ["log", "changes", "this", *peers.ENGINES, *(f"{name} ÷ this" for name in peers.ENGINES)],
    )
    files = bench.workload("oltp").files
    ours, changes = in_child(stages.one_table, files, "sbtest1")
    others = [_engine(name, files) for name in peers.ENGINES]
    engines.rows.append(
        [
            "oltp, sbtest1",
            f"{changes:,}",
            number(ours.cpu * 1e3),
            *map(number, others),
            *(ratio(other, ours.cpu * 1e3) for other in others),
        ]
    )
    return [rates, engines]


def parquet(bench: Bench) -> list[Table]:
    """The snapshot's writer against pyarrow's defaults."""
    table = Table(
        "Writing Parquet",
        "MB/s of Arrow data, one core's CPU time.",
        ["rows of", "MB", "this", "pyarrow's defaults", "this ÷ defaults"],
    )
    for name, source in (("oltp", "sbtest1"), ("types", "types")):
        ours, plain, size = in_child(stages.parquet, bench.workload(name).files, source)
        table.rows.append(
            [
                f"{name}, {source}",
                number(size / 1e6),
                number(size / ours.cpu / 1e6),
                number(size / plain.cpu / 1e6),
                ratio(plain.cpu, ours.cpu),
            ]
        )
    return [table]


def replaying(bench: Bench) -> list[Table]:
    """From binlog files to a published snapshot."""
    [log, *_] = bench.given or (bench.workload("oltp"),)
    cold = in_child(end_to_end.cold, log.files, bench.folder)
    shuffled = in_child(end_to_end.cold, log.files, bench.folder, (*end_to_end.ON_SPARK, "--route", "shuffle"))
    here = in_child(end_to_end.cold, log.files, bench.folder, end_to_end.HERE)
    warm = in_child(end_to_end.warm, log.files, bench.folder)
    plain = in_child(end_to_end.plain, log.files, bench.folder)
    server = None
    if (reader := bench.applying_reader) is not None:
        server = peers.apply_with_server(reader, bench.server, log.files, log.database)
    table = Table(
        "From binlogs to a snapshot",
        f"{log.name}, {log.size / 1e6:.0f} MB. Cold: the command line, from start to "
        "published snapshot, by engine. Warm: in a Spark session that has run it before. Plain: the same tasks in a "
        "process that has run them before, without Spark. Worker: the private memory of the largest Python worker.",
        ["run", "seconds", "MB/s", "CPU seconds", "worker MB", "`mysqlbinlog | mysql` ÷ this"],
    )
    runs: list[tuple[str, Cost | None]] = [
        ("cold, --engine local", here),
        ("cold, local[2]", cold),
        ("cold, local[2], --route shuffle", shuffled),
        ("warm, local[2]", warm),
        ("plain, one process", plain),
        ("mysqlbinlog | mysql", server),
    ]
    for name, cost in runs:
        if cost is not None:
            table.rows.append(
                [
                    name,
                    number(cost.wall),
                    number(log.size / cost.wall / 1e6),
                    number(cost.cpu or None),
                    number(cost.memory / 1e6 or None),
                    ratio(server.wall, cost.wall) if server else "–",
                ]
            )
    around = Table(
        "CPU around the core",
        "What Spark adds to the work itself: CPU of all processes of a warm run, against the "
        "same tasks in one plain process.",
        ["log", "Spark", "plain", "Spark ÷ plain"],
        [[log.name, number(warm.cpu), number(plain.cpu), ratio(warm.cpu, plain.cpu)]],
    )
    return [table, around]


def _read_with(program: list[str], log: Workload) -> float | None:
    """MB/s; None for a program that does not take the log (MariaDB's knows no JSON columns)."""
    try:
        return log.size / peers.read_with(program, log.files).cpu / 1e6
    except CalledProcessError as error:
        print(f"{program[0]} does not read {log.name}: {error.stderr.strip()[-300:]}", file=sys.stderr)
        return None


def _read_with_python(log: Workload) -> float | None:
    cost = _if_installed(peers.read_with_python, log.files)
    return None if cost is None else cost[1] / cost[0].cpu / 1e6


def _engine(name: str, files: tuple[str, ...]) -> float | None:
    cost = _if_installed(apply_with, name, files)
    return None if cost is None else cost.cpu * 1e3


def apply_with(name: str, files: tuple[str, ...]) -> Cost:
    """One engine's cost of one table's changes; to be run in a process of its own."""
    return best(peers.ENGINES[name](stages.decoded_changes(files, "sbtest1")), 3)


def _if_installed(function: Callable[..., Result], *arguments: object) -> Result | None:
    try:
        return in_child(function, *arguments)
    except ImportError:
        return None
