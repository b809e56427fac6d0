"""The rows of a table to be undone, while conflicts are searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.table_key import table_key
from applier.jobs.history.commits import NEVER
from applier.jobs.undo.kept_columns import GivenValues, kept_columns
from applier.jobs.undo.later_changes import EMPTIED, LaterChanges
from applier.jobs.undo.losses import Loss
from applier.jobs.undo.partitions_back import otherwise, with_partitions_back
from applier.jobs.undo.trace.chains import chains
from applier.jobs.undo.trace.replaced_rows import replaced_rows
from applier.jobs.undo.trace.row_keys import encoded, read_columns
from applier.jobs.undo.trace.traced_table import TracedTable
from applier.jobs.undo.where import chosen_rows
from applier.options.running import FORCE, OF_COLUMNS
from applier.schema.table_parts import Column


class RowsToUndo:
    """The chains of a table, of rows for which `where` is true; its `definition` then, and the statements that make
    dropped `partitions` again; which of them are `undone` (bool[n]), and, for the others, why not: numbers in
    `reasons`, and the commits `by` which that came about (NEVER: a row of the undo itself). For some, another row
    `has_key` now (bool[n]).

    Rows that others have changed since are undone as `on_conflict` says: whole with FORCE, and with OF_COLUMNS without
    the columns that they changed: those in `kept` (bool[n, columns]; None: of no row) stay, and `by_others` has the
    values that others gave those which the transactions changed again later. `partly` are those that are undone
    although others have changed them, and `given` the values of columns that follow a parent's row.
    """

    def __init__(self, table: TracedTable, on_conflict: str, where: str | None = None) -> None:
        steps = replace(table.steps, replaces=replaced_rows(table))
        self.table, self.chains, self.on_conflict = table, chains(steps, table.carried), on_conflict
        if where is not None and len(self.chains):
            self.chains = self.chains.part(chosen_rows(table, self.chains, where))
        changes = LaterChanges(table, self.chains)
        for number, since in enumerate(table.losses):
            if not since.is_chosen:
                loss = otherwise(since.loss, table.losses[:number])
                changes.touch(self._would_be_lost(loss, since.n_units), since.commit, EMPTIED)
        self.number, self.reasons = changes.number, changes.reasons
        self.why, self.has_key = changes.why, changes.has_key
        later, self.kept, self.by_others = self.chains.touched_later, None, GivenValues()
        self.undone = ~later
        if on_conflict == FORCE:  # a row that others have inserted since is not one that the transactions inserted
            self.undone = ~(self.has_key & (self.chains.before < 0) & (self.chains.now < 0))
        elif on_conflict == OF_COLUMNS and later.any():
            can_be, self.kept, self.by_others = kept_columns(table, self.chains)
            self.undone |= can_be & ~changes.not_to_the_row
        self.partly = later & self.undone
        self.given = GivenValues()
        self.definition, self.partitions = with_partitions_back(table.definition, table.losses)
        self.by = np.where(self.undone, NEVER, self.chains.last_later)

    def _would_be_lost(self, loss: Loss, n_units: int) -> np.ndarray:
        """Return the chains whose rows, as before the chosen steps, others would have removed; they are in the first
        units: bool[n]."""
        found = self.chains
        lost = (found.before >= 0) & (found.before_units < n_units)
        which = np.flatnonzero(lost)
        lost[which] = self.table.are_lost(found.before_units[which], found.before[which], loss)
        return lost

    @property
    def own_key(self) -> str | None:
        """The name of the key that tells the table's rows apart."""
        key = table_key(self.table.definition)
        return None if key is None else key.choice.name

    def leave(self, which: np.ndarray, reason: str, by: np.ndarray) -> None:
        """Do not undo these chains, by their numbers."""
        self.undone[which] = self.partly[which] = False
        self.why[which], self.by[which] = self.number(reason), by

    def follow(self, which: np.ndarray, reason: str, by: np.ndarray, given: dict[str, pa.Array]) -> None:
        """Undo these chains, by their numbers, although others have changed the rows to which they refer: with these
        values, one for each of them, instead of the previous ones."""
        self.partly[which] = True
        self.why[which], self.chains.last_later[which] = self.number(reason), by
        n, numbers = len(self.chains), np.full(len(self.chains), -1)
        numbers[which] = np.arange(len(which))
        is_given = numbers >= 0
        for name, values in given.items():
            were_given, known = self.given.get(name, (np.zeros(n, np.bool_), pa.nulls(n, values.type)))
            self.given[name] = were_given | is_given, pc.if_else(
                pa.array(is_given), values.take(pa.array(numbers, mask=~is_given)), known)

    @property
    def are_given(self) -> np.ndarray:
        """Which chains have values instead of those before: bool[n]."""
        found = np.zeros(len(self.chains), np.bool_)
        for which, _ in self.given.values():
            found |= which & self.undone
        return found

    def with_given(self, which: np.ndarray, names: Sequence[str], values: list[pa.Array]) -> list[pa.Array]:
        """Return the previous values of these chains, by their numbers, with those of others and the given ones in
        their place."""
        for given in (self.by_others, self.given):
            values = [pc.if_else(pa.array(given[name][0][which]), given[name][1].take(pa.array(which)), array)
                      if name in given else array for name, array in zip(names, values, strict=True)]
        return values

    def keys_back(self, which: np.ndarray, columns: Sequence[Column], prefixes: Sequence[int | None]) -> pa.Array:
        """Return the keys that these chains, by their numbers, have as they come back (row_keys.encoded)."""
        names, parts, done = [column.name for column in columns], list[list[pa.Array]](), 0
        for arrays in read_columns(self.table, names, self.chains.before_units[which], self.chains.before[which]):
            parts.append(self.with_given(which[done:done + len(arrays[0])], names, arrays))
            done += len(arrays[0])
        return encoded(self.table.definition, columns, prefixes, parts)

    @property
    def others(self) -> np.ndarray:
        """Return the steps that made existing rows that stay: of rows that are not undone."""
        steps, chain = self.chains.steps, self.chains.of_step
        of_undone = np.zeros(len(steps), np.bool_)
        of_undone[chain >= 0] = self.undone[chain[chain >= 0]]
        return np.flatnonzero(~of_undone & (steps.new >= 0) & ~self.chains.followed)

    @property
    def back(self) -> np.ndarray:
        """Return the chains whose rows exist again, or differently."""
        return np.flatnonzero(self.undone & (self.chains.before >= 0))
