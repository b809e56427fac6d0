"""What changes do to rows, step by step, with the whole rows before and after each: for change feeds and histories.

An index keeps the pointers of each step (pointer_kernel.TRACED). A batch at a time, what they lead to is read here,
each row once, though it is what one step made and what the next one began with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from applier.apply.index.pointer_kernel import NO_ROW
from applier.apply.output.rows import RowGatherer
from applier.binlog.rows.changes import UPDATE, Changes


@dataclasses.dataclass(frozen=True)
class Causes:
    """Where changes of several tables are, in commit order: offsets of their events, and rows in these."""

    places: np.ndarray
    rows: np.ndarray


NO_CAUSES = Causes(np.empty(0, np.int64), np.empty(0, np.int32))


@dataclasses.dataclass(frozen=True)
class RowSteps:
    """Steps in commit order, arrays of n: the change's number in its batch (below 0: foreign keys made it), the offset
    of its event and the row in that; whether it is part of an update; which row of `values` was there `before`, and
    which one is `after` it (NO_ROW: none)."""

    changes: np.ndarray
    places: np.ndarray
    rows: np.ndarray
    is_update: np.ndarray
    before: np.ndarray
    after: np.ndarray
    values: pa.Table

    @property
    def by_foreign_keys(self) -> np.ndarray:
        """Whether the log does not have the change: bool[n]."""
        made: np.ndarray = self.changes < 0
        return made


def read_steps(traced: np.ndarray, gatherer: RowGatherer, batch: Changes | None, causes: Causes) -> RowSteps:
    """The steps that an index has kept of a batch. Those that foreign keys made are numbered by `causes`."""
    changes, n = traced["change"], len(traced)
    distinct, which = np.unique(np.concatenate([traced["old"], traced["new"]]), return_inverse=True)
    which = which.reshape(-1) - int(np.searchsorted(distinct, 0))
    values = pa.concat_tables([gatherer.schema.empty_table(), *gatherer.batches(distinct[distinct >= 0])])
    return RowSteps(changes.copy(), *origins(traced, batch, causes), which[:n], which[n:], values)


def origins(traced: np.ndarray, batch: Changes | None, causes: Causes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of steps: the offsets of their events, the rows in these, and whether they are parts of updates."""
    changes = traced["change"]
    places, rows, own = np.empty(len(traced), np.int64), np.empty(len(traced), np.int32), changes >= 0
    is_update = (traced["old"] >= 0) & (traced["new"] >= 0)
    if batch is not None:
        places[own], rows[own] = batch.places[changes[own]], batch.rows[changes[own]]
        is_update[own] |= batch.kinds[changes[own]] == UPDATE
    places[~own], rows[~own] = causes.places[-1 - changes[~own]], causes.rows[-1 - changes[~own]]
    return places, rows, is_update


def merged(parts: Sequence[RowSteps]) -> RowSteps:
    """The steps that one batch made in several units, in commit order. A row that moves from one to another is there
    before it is here."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(part.values.num_rows for part in parts)])
    columns = {name: np.concatenate([getattr(part, name) for part in parts])
               for name in ("changes", "places", "rows", "is_update")}
    for name in ("before", "after"):
        columns[name] = np.concatenate([np.where(getattr(part, name) < 0, NO_ROW, getattr(part, name) + start)
                                        for part, start in zip(parts, starts.tolist(), strict=False)])
    order = np.argsort(2 * columns["changes"] + (columns["before"] < 0), kind="stable")
    return RowSteps(**{name: column[order] for name, column in columns.items()},
                    values=pa.concat_tables([part.values for part in parts]))
