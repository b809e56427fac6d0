"""Rows that are not as the chosen transactions left them, or cannot be restored, and the transactions responsible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from applier.errors import UndoRefused
from applier.jobs.exporting.cells import texts_of
from applier.jobs.history.commits import KIND_BITS
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.jobs.undo.trace.chains import Chains
from applier.jobs.undo.trace.traced_table import TracedTable
from applier.options.running import OF_COLUMNS

MOST_LISTED = 1000
"""Of a table's conflicts."""
_COLUMNS_SHOWN, _SHOWN = 3, 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


LEFT, NOT_RESTORED, ALREADY_GONE = "left as it is", "not restored", "already gone"
UNDONE_ANYWAY, UNDONE_IN_PART = "undone anyway", "undone but for what was changed since"


@dataclass(frozen=True)
class Conflict:
    """A row that is not undone, or undone in part, or the reason why nothing is undone: its table, its key (or first
    values) as text, the reason, the transaction that caused it: the last one's GTID (None: the log has none), its time
    (None for a row of the undo itself) and its end, as FILE:POS, and the outcome for the row: it is unchanged, not
    restored, already gone, or undone anyway."""

    table: str
    row: tuple[tuple[str, str], ...]
    what: str
    gtid: str | None
    time: datetime | None
    position: str | None
    outcome: str

    def __str__(self) -> str:
        row = ", ".join(f"{name}={value}" for name, value in self.row)
        by = self.gtid or f"the transaction that ends at {self.position}"
        who = "" if self.time is None else f" by {by} at {self.time:%Y-%m-%d %H:%M:%S}Z"
        return f"{self.table} {row}: {self.what}{who}"


def refusal(conflicts: tuple[Conflict, ...], counts: dict[str, int], notes: Iterable[str] = ()) -> UndoRefused:
    """Return the error for these conflicts, and how many each table has, with more notes for the user."""
    total = sum(counts.values())
    by_table = ", ".join(f"{count:,} in {name}" for name, count in counts.items())
    lines = [str(conflict) for conflict in conflicts[:_SHOWN]]
    if total > len(lines):
        lines.append(f"… and {total - len(lines):,} more")
    found = UndoRefused(f"others have changed rows since, or have their keys: {total:,} rows, {by_table}; nothing is "
                        "written",
                        hint="also undo those transactions, or undo only the other rows (--on-conflict skip), or "
                             "only the columns that were not changed later (--on-conflict columns)")
    found.conflicts, found.listed = conflicts, (*lines, *notes)
    return found


def conflicts(rows: RowsToUndo, key: tuple[str, ...]) -> list[Conflict]:
    """Return the first of a table's rows that are not undone."""
    found = np.flatnonzero(~rows.undone)
    not_there = np.where(rows.chains.before[found] >= 0, NOT_RESTORED,
                         np.where(rows.has_key[found], LEFT, ALREADY_GONE))
    return _listed(rows, key, found, rows.by, np.where(rows.chains.now[found] >= 0, LEFT, not_there))


def undone_anyway(rows: RowsToUndo, key: tuple[str, ...]) -> list[Conflict]:
    """Return the first of a table's rows that others have changed since, and that are undone anyway."""
    found = np.flatnonzero(rows.partly)
    in_part = rows.are_given[found] | (rows.on_conflict == OF_COLUMNS)
    is_gone = (rows.chains.now[found] < 0) & (rows.chains.before[found] < 0)
    return _listed(rows, key, found, rows.chains.last_later,
                   np.where(is_gone, ALREADY_GONE, np.where(in_part, UNDONE_IN_PART, UNDONE_ANYWAY)))


def _listed(rows: RowsToUndo, key: tuple[str, ...], found: np.ndarray, by: np.ndarray,
            outcomes: np.ndarray) -> list[Conflict]:
    """Return the first of these chains, with the last commits that were in their way."""
    table, found = rows.table, found[:MOST_LISTED]
    if not len(found):
        return []
    times, sequence, gtids, _ = table.commits.columns(by[found][:, None] << KIND_BITS, 0)
    shown = key or tuple(column.name for column in table.definition.stored_columns[:_COLUMNS_SHOWN])
    return [Conflict(table.definition.full_name, row, rows.reasons[why], gtid.as_py(),
                     None if time.value is None else _EPOCH + timedelta(microseconds=time.value),
                     None if version.as_py() is None else table.position_of(version.as_py()), outcome)
            for row, why, gtid, time, version, outcome in zip(
                _rows(table, rows.chains, found, shown, whole=bool(key)), rows.why[found].tolist(), gtids, times,
                sequence, outcomes[:MOST_LISTED].tolist(), strict=True)]


def _rows(table: TracedTable, chains: Chains, found: np.ndarray,
          names: tuple[str, ...], *, whole: bool) -> list[tuple[tuple[str, str], ...]]:
    """Return the values of rows before the chosen transactions, or of those that these made: the `whole` values, or
    their beginnings."""
    units, pointers = chains.known(found)
    columns: dict[str, list[str]] = {name: [] for name in names}
    for read in table.read(units, pointers, np.full(len(pointers), -1), list(names)):
        rows = read.values.take(pa.array(read.before))
        for name in names:
            texts = texts_of(table.definition.column(name), rows.column(name).combine_chunks())
            columns[name] += [_text(value, whole=whole) for value in texts.to_pylist()]
    return [tuple(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _text(value: object, *, whole: bool) -> str:
    if value is None:
        return "NULL"
    text = f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)
    return text if whole or len(text) <= 60 else f"{text[:59]}…"
