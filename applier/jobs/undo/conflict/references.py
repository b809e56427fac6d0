"""Rows that cannot be removed because others refer to them now, and rows whose parent rows others have changed since.

Foreign keys held before the chosen transactions. So violations have arisen since: a row inserted since
refers to one to be removed, or the parent of a row to be restored is gone (UNDO-REF).
If the row had existed, its foreign key would have changed or deleted it together with its parent row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.history.commits import KIND_BITS, NEVER
from applier.jobs.undo.rows_to_undo import RowsToUndo
from applier.jobs.undo.trace.row_keys import read_columns, row_keys
from applier.mysql.names import folded
from applier.mysql.types import arrow_type
from applier.options.running import FORCE, OF_COLUMNS
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import CASCADE, RESTRICT, SET_NULL, ForeignKey
from applier.schema.table_parts import Column


class References:
    """The foreign keys between tables that are undone."""

    def __init__(self, tables: Mapping[TableName, RowsToUndo]) -> None:
        self._all = [_Reference(rows, tables[key.database, key.table], key) for rows in tables.values()
                     for key in rows.table.definition.foreign_keys if (key.database, key.table) in tables]

    def leave_broken(self) -> bool:
        """Leave the rows that foreign keys keep from being undone, and change those that follow their parent rows;
        return whether there were some."""
        found = [one.leave_broken() for one in self._all if one.own]
        return any(found)


@dataclass(frozen=True)
class _KeyChanges:
    """The steps by others that deleted parent rows, or gave them other keys, in log order: keys before, the
    sequence numbers of commits, and where the rows are afterwards (below 0: nowhere)."""

    keys: pa.Array
    commits: np.ndarray
    sequence: np.ndarray
    units: np.ndarray
    new: np.ndarray

    def __len__(self) -> int:
        return len(self.commits)

    def are_updates(self, numbers: np.ndarray) -> np.ndarray:
        """Return which of these changes (-1: none) gave rows other keys: bool[n]."""
        found: np.ndarray = np.append(self.new, -1)[numbers] >= 0
        return found

    def commits_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return the commits of these changes (-1: none, whose commit is NEVER)."""
        found: np.ndarray = np.append(self.commits, NEVER)[numbers]
        return found

    def first(self, keys: pa.Array, since: np.ndarray) -> np.ndarray:
        """Return the first change of each of these keys among those from a number on: int64[n] (-1: none)."""
        if not len(self) or not len(keys):
            return np.full(len(keys), -1)
        indices = pa.concat_arrays([self.keys, keys]).dictionary_encode().indices
        codes = indices.fill_null(-1).to_numpy().astype(np.int64)
        own, asked, n = codes[:len(self)], codes[len(self):], len(self) + 1
        order = np.lexsort((np.arange(len(self)), own))
        numbers = np.searchsorted(own[order] * n + order, asked * n + since)
        found = order[np.minimum(numbers, len(self) - 1)]
        return np.where((asked >= 0) & (numbers < len(self)) & (own[found] == asked), found, -1)


class _Reference:
    """A foreign key of `children` to `parents`, with the columns of both sides; none where rows do not have them."""

    def __init__(self, children: RowsToUndo, parents: RowsToUndo, key: ForeignKey) -> None:
        self.children, self.parents, self.key = children, parents, key
        self.own, self.referenced = _columns(children.table.definition, parents.table.definition, key)

    def leave_broken(self) -> bool:
        """Leave rows, or change those that follow; return whether there were some."""
        gone = _gone(self.parents, self.referenced)
        found, back = self._keep_referenced(gone), self.children.back
        refer = self.children.keys_back(back, self.own, [None] * len(self.own))
        lost, change = _are_in(refer, gone), self._changes.first(refer, self._since[back])
        change[self._referred_all_the_time(back, refer)] = -1
        is_changed, is_update = change >= 0, self._changes.are_updates(change)
        parent = f"its parent row in {self.parents.table.definition.full_name}"
        for which, event, action, what in (
                (~is_changed, "DELETE", self.key.on_delete, "no longer exists"),
                (is_changed & ~is_update, "DELETE", self.key.on_delete, "was deleted since"),
                (is_update, "UPDATE", self.key.on_update, "got another key since")):
            broken = np.flatnonzero(which & (lost | (is_changed & (action != RESTRICT))))
            if len(broken):
                reason = f"{parent} {what}" + f" (ON {event} {action})" * (action != RESTRICT)
                may_follow = action == SET_NULL or (event, action) == ("UPDATE", CASCADE)
                found |= self._act(back[broken], change[broken], lost[broken], reason, action if may_follow else None)
        return found

    def _act(self, which: np.ndarray, change: np.ndarray, lost: np.ndarray, reason: str, action: str | None) -> bool:
        """Apply the action of the foreign key to these rows, or leave them; return whether something was done. With
        FORCE, they refer to whatever parent row has the key."""
        children, mode, by = self.children, self.children.on_conflict, self._changes.commits_of(change)
        as_before = ~lost & (mode == FORCE)
        children.follow(which[as_before], reason, by[as_before], {})
        which, change, by = which[~as_before], change[~as_before], by[~as_before]
        if action is None or mode not in (FORCE, OF_COLUMNS):
            children.leave(which, reason, by)
        elif len(which):
            children.follow(which, reason, by, self._values(action, change))
            self._since[which] = change + 1
        return bool(len(which))

    def _values(self, action: str, change: np.ndarray) -> dict[str, pa.Array]:
        """Return the values that the foreign key gives to rows."""
        types = [arrow_type(column.type) for column in self.own]
        if action == SET_NULL:
            return {column.name: pa.nulls(len(change), type) for column, type in zip(self.own, types, strict=True)}
        names = [column.name for column in self.referenced]
        parts = list(read_columns(self.parents.table, names, self._changes.units[change], self._changes.new[change]))
        return {column.name: pa.chunked_array(values).cast(type).combine_chunks() for column, type, values in
                zip(self.own, types, zip(*parts, strict=True), strict=True)}

    @cached_property
    def _changes(self) -> _KeyChanges:
        steps = self.parents.chains.steps
        numbers = np.flatnonzero(~steps.chosen & (steps.old >= 0))
        units, new = steps.units.copy(), steps.new.copy()
        ends, begins = (np.flatnonzero((steps.moves >= 0) & (side >= 0)) for side in (steps.old, steps.new))
        begins = begins[np.argsort(steps.moves[begins])]
        begins = begins[np.searchsorted(steps.moves[begins], steps.moves[ends])]
        units[ends], new[ends] = steps.units[begins], steps.new[begins]
        keys = _keys(self.parents, self.referenced, steps.units[numbers], steps.old[numbers])
        stay = np.flatnonzero(new[numbers] >= 0)
        after = _keys(self.parents, self.referenced, units[numbers[stay]], new[numbers[stay]])
        is_change = np.ones(len(numbers), np.bool_)
        is_change[stay] = ~np.asarray(pc.equal(keys.take(pa.array(stay)), after).fill_null(False))
        numbers, keys = numbers[is_change], keys.filter(pa.array(is_change))
        sequence = _sequence(self.parents, steps.commits[numbers])
        order = np.argsort(sequence, kind="stable")
        numbers = numbers[order]
        return _KeyChanges(keys.take(pa.array(order)), steps.commits[numbers], sequence[order], units[numbers],
                           new[numbers])

    @cached_property
    def _since(self) -> np.ndarray:
        """The number of the first change that may be one of each child's parent row after the child's first chosen
        step."""
        chains = self.children.chains
        first = _sequence(self.children, chains.steps.commits[chains.first])
        return np.searchsorted(self._changes.sequence, first, side="right")

    def _referred_all_the_time(self, back: np.ndarray, refer: pa.Array) -> np.ndarray:
        """Return which rows have the same parent row now: changes by others to that row applied to these rows, too."""
        chains, same = self.children.chains, np.zeros(len(back), np.bool_)
        there = np.flatnonzero(chains.now[back] >= 0)
        now = _keys(self.children, self.own, chains.now_units[back[there]], chains.now[back[there]])
        same[there] = np.asarray(pc.equal(now, refer.take(pa.array(there))).fill_null(False))
        return same

    def _keep_referenced(self, gone: pa.Array) -> bool:
        """Leave the parent rows that others refer to now; return whether there are some."""
        children, parents = self.children, self.parents
        leaving = np.flatnonzero(parents.undone & (parents.chains.now >= 0))
        if not len(gone) or not len(leaving):
            return False
        others, steps = children.others, children.chains.steps
        refer = _keys(children, self.own, steps.units[others], steps.new[others])
        now = _keys(parents, self.referenced, parents.chains.now_units[leaving], parents.chains.now[leaving])
        used = pc.index_in(now, value_set=refer, skip_nulls=True)
        kept = np.flatnonzero(np.asarray(used.is_valid()) & _are_in(now, gone))
        by = steps.commits[others[used.take(pa.array(kept)).to_numpy()]]
        parents.leave(leaving[kept], f"rows of {children.table.definition.full_name} refer to it now", by)
        return bool(len(kept))


def _sequence(rows: RowsToUndo, commits: np.ndarray) -> np.ndarray:
    """Return the commits' sequence numbers, which ascend over all tables."""
    found: np.ndarray = rows.table.commits.columns(commits[:, None] << KIND_BITS, 0)[1].to_numpy()
    return found


def _columns(child: TableDefinition, parent: TableDefinition,
             key: ForeignKey) -> tuple[list[Column], list[Column]]:
    """Return the columns of both sides; none where rows do not have them."""
    primary = () if parent.primary_key is None else parent.primary_key.parts
    names = key.referenced or tuple(part.column or "" for part in primary)
    found = [[column for name in of_side for column in definition.stored_columns
              if folded(column.name) == folded(name)]
             for definition, of_side in ((child, key.columns), (parent, names))]
    return (found[0], found[1]) if len(found[0]) == len(found[1]) == len(key.columns) else ([], [])


def _gone(parents: RowsToUndo, columns: list[Column]) -> pa.Array:
    """Return the keys that rows had since the first chosen transaction, and that none has afterwards."""
    chains, steps = parents.chains, parents.chains.steps
    ended, leaving = np.flatnonzero(steps.old >= 0), np.flatnonzero(parents.undone & (chains.now >= 0))
    others = parents.others
    had = _keys(parents, columns, np.concatenate([steps.units[ended], chains.now_units[leaving]]),
                np.concatenate([steps.old[ended], chains.now[leaving]]))
    have = pa.concat_arrays([parents.keys_back(parents.back, columns, [None] * len(columns)),
                             _keys(parents, columns, steps.units[others], steps.new[others])])
    had = had.unique().drop_null()
    return had.filter(pc.invert(pc.is_in(had, value_set=have)))


def _keys(rows: RowsToUndo, columns: list[Column], units: np.ndarray, pointers: np.ndarray) -> pa.Array:
    return row_keys(rows.table, columns, [None] * len(columns), units, pointers)


def _are_in(keys: pa.Array, values: pa.Array) -> np.ndarray:
    return np.asarray(pc.and_(keys.is_valid(), pc.is_in(keys, value_set=values)))
