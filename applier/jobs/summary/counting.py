"""Counts the row changes of one split: rows are walked by their widths, and no value is decoded.

It uses the reader that decodes rows elsewhere, but requests no columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from applier.binlog.events.table_map import TableMap
from applier.binlog.locating.groups import Group, GroupPass, Groups
from applier.binlog.outline.outline import Split
from applier.binlog.rows.changes import ChangeBatch, ChangeReader, TableBinding
from applier.binlog.rows.layout import ColumnPlan, plan_columns
from applier.binlog.rows.partial_updates import N_DIFFS, PartialUpdates
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.jobs.summary.who import KINDS, no_threads, server_ids_of, threads_of
from applier.mysql.wire_types import WireType

BATCHED_ROWS, LEAST_ROWS, MOST_ROWS = 1 << 18, 64, 1 << 13
"""Rows of the batches of a split's tables together; of one table's."""
_OLD_TEMPORAL = {WireType.TIMESTAMP, WireType.DATETIME, WireType.TIME}


@dataclass(frozen=True)
class CountTask:
    """A split to count: of the file `uri`, whose ranges `rolled_back` do not count unconditionally. Transactions before
    `start_time`, and those of other threads than these, if there are any, are excluded; details are read of the `top`
    largest."""

    uri: str
    split: Split
    rolled_back: tuple[tuple[int, int], ...]
    wanted: Callable[[str, str], bool]
    start_time: float
    thread_ids: tuple[int, ...]
    top: int


@dataclass(frozen=True)
class Counted:
    """A transaction with its rows by table, int64[KINDS] each."""

    rows: int
    uri: str
    group: Group
    server_id: int
    thread_id: int | None
    tables: dict[str, np.ndarray]
    rolled_back: bool


@dataclass
class SplitCounts:
    """The counts of a split. Arrays are int64: of `tables` KINDS, transactions, bytes, N_DIFFS; of `times`, by (minute
    since 1970, table), KINDS; of `servers`, by server_id, KINDS and transactions; `threads` are as in who.threads_of.
    `unsure` are tables whose rows were divided as if their times had no fractional digits, which only a definition
    says. Of its event groups, `n_of_threads` are of the wanted threads, and `n_without_thread` have none in the log."""

    transactions: int = 0
    tables: dict[str, np.ndarray] = field(default_factory=dict)
    times: dict[tuple[int, str], np.ndarray] = field(default_factory=dict)
    servers: dict[int, np.ndarray] = field(default_factory=dict)
    threads: np.ndarray = field(default_factory=no_threads)
    largest: list[Counted] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)
    n_of_threads: int = 0
    n_without_thread: int = 0


def count_split(task: CountTask) -> SplitCounts:
    """Count the row changes of a split. Raises ArchiveError for damage, UnsupportedEvent for unknown column types."""
    split = task.split
    groups_pass = GroupPass(task.uri)
    groups, is_mariadb = groups_pass.groups(split.start, split.end), groups_pass.format.flavour == "mariadb"
    mapped, unsure = map_file(task.uri, whole=False), set[str]()
    n_tables = max(1, len(split.tables))
    tables: dict[str, list[_Table]] = {}

    def bind(table_map: TableMap) -> TableBinding | None:
        if not task.wanted(table_map.database, table_map.table):
            return None
        name = f"{table_map.database}.{table_map.table}"
        if is_mariadb and not _OLD_TEMPORAL.isdisjoint(table_map.types):
            unsure.add(name)
        table = _Table(groups.starts)
        tables.setdefault(name, []).append(table)
        plans = plan_columns(table_map)
        nothing: list[ColumnPlan | None] = [None] * len(plans)
        rows = min(max(BATCHED_ROWS // n_tables, LEAST_ROWS), MOST_ROWS)
        has_documents = WireType.JSON in table_map.types
        binding = TableBinding(plans, nothing, nothing, table.take, rows, before_images=has_documents)
        if has_documents:
            table.partial_updates = PartialUpdates(plans, binding.layouts)
        return binding

    try:
        with SameBytes() as outlined:
            reader = ChangeReader(mapped, bind, checksum=split.checksum, header_length=split.header_length)
            outlined.walk(reader, split.outlined, split.start, split.end)
            reader.flush()
    except ArchiveError as error:
        if error.table in unsure:
            error.hint = "its times may have fractional digits, which only its definition says: --ignore-tables"
        raise
    found = _summed(task, groups, mapped, {name: _Runs.of(parts) for name, parts in tables.items()})
    found.unsure = unsure
    return found


class _Table:
    """Takes the changes after one table map: runs of changes of one kind in one group."""

    def __init__(self, starts: np.ndarray) -> None:
        self._starts = starts
        self.keys: list[np.ndarray] = []
        self.counts: list[np.ndarray] = []
        self.bytes: list[np.ndarray] = []
        self.diffs: list[np.ndarray] = []
        self.partial_updates: PartialUpdates | None = None

    def take(self, batch: ChangeBatch) -> None:
        groups = np.searchsorted(self._starts, batch.positions, side="right") - 1
        keys = KINDS * groups + batch.kinds
        firsts = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1])
        self.keys.append(keys[firsts])
        self.counts.append(np.diff(firsts, append=batch.n))
        lengths = batch.image_lengths.astype(np.int64) + batch.before_lengths
        self.bytes.append(np.add.reduceat(lengths, firsts))
        diffs = None if self.partial_updates is None else self.partial_updates.of(batch.images, batch.before_images)
        self.diffs.append(np.zeros((len(firsts), N_DIFFS), np.int64) if diffs is None else
                          np.add.reduceat(diffs, firsts, axis=0))


@dataclass(frozen=True)
class _Runs:
    """The runs of a table: by group and kind (KINDS * group + kind), their rows and bytes, and the counts of their JSON
    diffs by PartialUpdates."""

    keys: np.ndarray
    counts: np.ndarray
    bytes: np.ndarray
    diffs: np.ndarray

    @staticmethod
    def of(parts: list[_Table]) -> _Runs:
        def joined(name: str, empty: np.ndarray) -> np.ndarray:
            return np.concatenate([empty, *(array for part in parts for array in getattr(part, name))])

        none = np.zeros(0, np.int64)
        return _Runs(joined("keys", none), joined("counts", none), joined("bytes", none),
                     joined("diffs", np.zeros((0, N_DIFFS), np.int64)))

    def only(self, kept: np.ndarray) -> _Runs:
        """Return those of the groups that are kept (bool[groups])."""
        runs = kept[self.keys // KINDS]
        return _Runs(self.keys[runs], self.counts[runs], self.bytes[runs], self.diffs[runs])


def _summed(task: CountTask, groups: Groups, mapped: MappedFile, tables: dict[str, _Runs]) -> SplitCounts:
    times = groups.times.astype(np.int64)
    of_threads = groups.of_threads(task.thread_ids)
    wanted = (times >= task.start_time) & of_threads
    if not wanted.all():
        tables = {name: runs.only(wanted) for name, runs in tables.items()}
    tables = {name: runs for name, runs in sorted(tables.items()) if len(runs.keys)}
    found = SplitCounts(n_of_threads=int(of_threads.sum()), n_without_thread=int(groups.are_without_thread.sum()))
    by_group = np.zeros((len(groups), KINDS), np.int64)
    minutes, minute_of = np.unique(times // 60, return_inverse=True)
    for name, runs in tables.items():
        of_groups = runs.keys // KINDS
        by_group += _sums(runs.keys, runs.counts, len(groups))
        of_kinds = _sums(runs.keys % KINDS, runs.counts, 1)[0]
        found.tables[name] = np.array([*of_kinds, len(np.unique(of_groups)), runs.bytes.sum(),
                                       *runs.diffs.sum(axis=0)])
        by_minute = _sums(KINDS * minute_of[of_groups] + runs.keys % KINDS, runs.counts, len(minutes))
        for number in np.flatnonzero(by_minute.any(axis=1)).tolist():
            found.times[int(minutes[number]), name] = by_minute[number]
    rows = by_group.sum(axis=1)
    [changed] = np.nonzero(rows)
    found.transactions = len(changed)
    server_ids = server_ids_of(mapped, groups.starts)
    for server_id in np.unique(server_ids[changed]).tolist():
        own = changed[server_ids[changed] == server_id]
        found.servers[server_id] = np.array([*by_group[own].sum(axis=0), len(own)])
    found.threads = threads_of(server_ids[changed], groups.threads[changed], by_group[changed])
    largest = np.argsort(-rows, kind="stable")[:min(task.top, len(changed))].tolist()
    found.largest = [_counted(task, groups, tables, number, int(rows[number]), int(server_ids[number]))
                     for number in largest]
    return found


def _sums(positions: np.ndarray, counts: np.ndarray, n: int) -> np.ndarray:
    """Sum counts by number: int64[n, KINDS]. Floats are exact up to 2^53."""
    sums: np.ndarray = np.bincount(positions, counts, KINDS * n).astype(np.int64).reshape(n, KINDS)
    return sums


def _counted(task: CountTask, groups: Groups, tables: dict[str, _Runs], number: int, rows: int,
             server_id: int) -> Counted:
    only = np.arange(len(groups)) == number
    runs = {name: own for name, of_table in tables.items() if len((own := of_table.only(only)).keys)}
    of_tables = {name: _sums(own.keys % KINDS, own.counts, 1)[0] for name, own in runs.items()}
    group = groups[number]
    rolled_back = any(start < group.end and end > group.start for start, end in task.rolled_back)
    thread_id = int(groups.threads[number])
    return Counted(rows, task.uri, group, server_id, None if thread_id < 0 else thread_id, of_tables, rolled_back)
