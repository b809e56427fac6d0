"""The rows of a table that are to be undone, while it is looked for what is in the way of them."""

from __future__ import annotations

import numpy as np

from applier.jobs.history.commits import NEVER
from applier.jobs.undo.chains import chains
from applier.jobs.undo.kept_columns import kept_columns
from applier.jobs.undo.losses import Loss
from applier.jobs.undo.partitions_back import otherwise, with_partitions_back
from applier.jobs.undo.traced_table import TracedTable
from applier.jobs.undo.where import chosen_rows
from applier.options import FORCE, OF_COLUMNS

CHANGED_SINCE = "changed since"


class RowsToUndo:
    """The chains of a table, of rows for which `where` is true; its `definition` then, and the statements that make
    dropped `partitions` again; which of them are `undone` (bool[n]), and, of the
    others, what is in the way: numbers in `reasons`, and the commits `by` which it came there (NEVER: it is a row of
    the undo itself).

    Of rows that others have changed since, what `on_conflict` says: all is undone with FORCE, and with OF_COLUMNS all
    but the columns that they changed, which `kept` has (bool[n, columns]; None: of no row).
    """

    def __init__(self, table: TracedTable, on_conflict: str, where: str | None = None) -> None:
        self.table, self.chains = table, chains(table.steps, table.carried)
        for number, since in enumerate(table.losses):
            if not since.is_chosen:
                loss = otherwise(since.loss, table.losses[:number])
                self.chains.touch(self._would_be_lost(loss, since.n_units), since.commit)
        if where is not None and len(self.chains):
            self.chains = self.chains.part(chosen_rows(table, self.chains, where))
        later, self.kept = self.chains.touched_later, None
        self.undone = ~later
        if on_conflict == FORCE:
            self.undone[:] = True
        elif on_conflict == OF_COLUMNS and later.any():
            can_be, self.kept = kept_columns(table, self.chains)
            self.undone |= can_be
        self.partly = later & self.undone
        self.definition, self.partitions = with_partitions_back(table.definition, table.losses)
        self.reasons = [CHANGED_SINCE]
        self.why = np.zeros(len(self.chains), np.int64)
        self.by = np.where(self.undone, NEVER, self.chains.last_later)

    def _would_be_lost(self, loss: Loss, n_units: int) -> np.ndarray:
        """The chains whose rows others would have taken away, as they were before the chosen steps, which are in the
        first units: bool[n]."""
        found = self.chains
        lost = (found.before >= 0) & (found.before_units < n_units)
        which = np.flatnonzero(lost)
        lost[which] = self.table.are_lost(found.before_units[which], found.before[which], loss)
        return lost

    def leave(self, which: np.ndarray, reason: str, by: np.ndarray) -> None:
        """Do not undo these chains, by their numbers."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        self.undone[which] = False
        self.why[which], self.by[which] = self.reasons.index(reason), by

    @property
    def others(self) -> np.ndarray:
        """The steps that made rows which are there now, and stay: of rows that are not undone."""
        steps, chain = self.chains.steps, self.chains.of_step
        of_undone = np.zeros(len(steps), np.bool_)
        of_undone[chain >= 0] = self.undone[chain[chain >= 0]]
        return np.flatnonzero(~of_undone & (steps.new >= 0) & ~self.chains.followed)

    @property
    def back(self) -> np.ndarray:
        """The chains whose rows are there again, or differently."""
        return np.flatnonzero(self.undone & (self.chains.before >= 0))
