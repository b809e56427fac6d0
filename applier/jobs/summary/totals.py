"""Adds up the counts of splits. Memory depends on the number of tables and servers, and not on the length of the log:
only the largest transactions are kept, and time steps become longer if there are too many."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from applier.binlog.rows.changes import DELETE, INSERT, UPDATE
from applier.jobs.summary.counting import Counted, SplitCounts
from applier.jobs.summary.figures import (
    WIDTHS,
    RowCounts,
    ServerCounts,
    TableCounts,
    TableRows,
    ThreadCounts,
    TimeCounts,
    widths_from,
)
from applier.jobs.summary.who import KINDS, NO_THREAD, no_threads, summed, with_most_rows

MOST_STEPS, MOST_ENTRIES, MOST_THREADS = 1440, 100_000, 100_000
"""The most steps in time; of these by table; of threads, of which those with the fewest rows are forgotten."""
Key = TypeVar("Key")
Counts = TypeVar("Counts", bound=TableRows)


class Totals:
    """The sums of all splits that were added, in log order."""

    def __init__(self, top: int, most_steps: int = MOST_STEPS, most_entries: int = MOST_ENTRIES) -> None:
        self._top, self._most_steps, self._most_entries = top, most_steps, most_entries
        self.transactions, self.seconds_each = 0, WIDTHS[0]
        self._tables: dict[str, np.ndarray] = {}
        self._times: dict[tuple[int, str], np.ndarray] = {}
        self._servers: dict[int, np.ndarray] = {}
        self._threads, self.forgot_threads = no_threads(), False
        self.largest: list[Counted] = []
        self.unsure: set[str] = set()
        self.n_of_threads = self.n_without_thread = 0

    def add(self, counts: SplitCounts) -> None:
        """Add a split, which comes after those before it."""
        self.transactions += counts.transactions
        self.unsure |= counts.unsure
        self.n_of_threads += counts.n_of_threads
        self.n_without_thread += counts.n_without_thread
        _add(self._tables, counts.tables)
        _add(self._servers, counts.servers)
        self._add_threads(counts.threads)
        self._add_times({(60 * minute, name): rows for (minute, name), rows in counts.times.items()})
        self.largest = heapq.nlargest(self._top, [*self.largest, *counts.largest], key=lambda one: one.rows)
        while self._is_too_fine():
            self._lengthen()

    @property
    def rows(self) -> RowCounts:
        """All row changes."""
        return RowCounts(*kinds(sum((counts[:KINDS] for counts in self._tables.values()), np.zeros(KINDS, np.int64))))

    def tables(self) -> tuple[TableCounts, ...]:
        """By table, the most rows first."""
        return by_rows(
            TableCounts(*kinds(counts), table=name, transactions=int(counts[KINDS]), bytes=int(counts[KINDS + 1]),
                        partial_updates=int(counts[KINDS + 2]), documents=int(counts[KINDS + 3]),
                        bytes_saved=int(counts[KINDS + 4]))
            for name, counts in self._tables.items())

    def by_time(self) -> tuple[TimeCounts, ...]:
        """By time and table."""
        return tuple(TimeCounts(*kinds(rows), time=time, table=name)
                     for (time, name), rows in sorted(self._times.items()))

    def servers(self) -> tuple[ServerCounts, ...]:
        """By server."""
        return tuple(ServerCounts(*kinds(counts), server_id=server_id, transactions=int(counts[KINDS]))
                     for server_id, counts in sorted(self._servers.items()))

    def threads(self) -> tuple[ThreadCounts, ...]:
        """Return the threads with the most rows, as many as there are largest transactions."""
        known = self._threads[self._threads["thread_id"] != NO_THREAD]
        return tuple(ThreadCounts(*kinds(one["counts"]), server_id=int(one["server_id"]),
                                  thread_id=int(one["thread_id"]), transactions=int(one["counts"][KINDS]))
                     for one in with_most_rows(known, self._top))

    def _add_threads(self, threads: np.ndarray) -> None:
        self._threads = summed(np.concatenate([self._threads, threads]))
        if len(self._threads) > MOST_THREADS:
            self._threads, self.forgot_threads = with_most_rows(self._threads, MOST_THREADS // 2), True

    def _step(self, time: int) -> int:
        return time - time % self.seconds_each

    def _is_too_fine(self) -> bool:
        steps = len({time for time, _ in self._times})
        return steps > self._most_steps or (len(self._times) > self._most_entries and steps > 1)

    def _lengthen(self) -> None:
        self.seconds_each = next(width for width in widths_from(self.seconds_each) if width > self.seconds_each)
        finer, self._times = self._times, {}
        self._add_times(finer)

    def _add_times(self, counts: Mapping[tuple[int, str], np.ndarray]) -> None:
        """Several of these may be in one step."""
        for (time, name), rows in counts.items():
            _add(self._times, {(self._step(time), name): rows})


def kinds(counts: np.ndarray) -> tuple[int, int, int]:
    """Return the numbers of inserts, updates and deletes."""
    return int(counts[INSERT]), int(counts[UPDATE]), int(counts[DELETE])


def by_rows(tables: Iterable[Counts]) -> tuple[Counts, ...]:
    """Return the tables, those with the most rows first."""
    return tuple(sorted(tables, key=lambda table: (-table.rows, table.table)))


def _add(sums: dict[Key, np.ndarray], more: Mapping[Key, np.ndarray]) -> None:
    for key, counts in more.items():
        sums[key] = sums[key] + counts if key in sums else counts
