"""Later changes by others to the rows that chosen transactions touched, even if no row is left (UNDO-CHAIN).

A row is identified by its key. A row that others created again with this key, and changed or deleted, was touched,
although it is another row to a server. A row to be restored also has its other unique keys, by which others may have
created it again. A row of a table without a key is identified by all of its values: a later change or delete of an
equal row touched it, because it would have been among these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from applier.columns.table_key import table_key
from applier.jobs.undo.trace.chains import Chains
from applier.jobs.undo.trace.row_keys import Keys, keys_by, unique_keys, whole_rows
from applier.jobs.undo.trace.traced_table import TracedTable

CHANGED, DELETED, CREATED_AGAIN = "changed since", "deleted since", "created again and deleted since"
SAME_KEY = "created again with the same {} since"
EMPTIED = "its table or partition was emptied or dropped since"
EQUAL_ROW = "an equal row was changed or deleted since"
_AT_ONCE = 1 << 20


class LaterChanges:
    """The changes by others to n chains since then, whose last commits by others it advances: numbers of `reasons` in
    `why`; whether that was `not_to_the_row` itself, which is unchanged or did not exist; and whether another row `has`
    its key now (bool[n] each)."""

    def __init__(self, table: TracedTable, chains: Chains) -> None:
        n = len(chains)
        self.chains, self.reasons = chains, [CHANGED]
        self.why, self.not_to_the_row, self.has_key = np.zeros(n, np.int64), np.zeros(n, bool), np.zeros(n, bool)
        self._last = chains.last_steps_by_others
        self._set(np.flatnonzero((self._last >= 0) & (chains.now < 0)), DELETED)
        for uses in _uses(table, chains):
            self._add(uses)

    def touch(self, which: np.ndarray, commit: int, reason: str) -> None:
        """Others would have touched these chains (bool[n]) by a commit, the last one unless a later one is known."""
        self.not_to_the_row |= which
        newer = np.flatnonzero(which & (self.chains.last_later < commit))
        self.chains.last_later[newer] = commit
        self._set(newer, reason)

    def number(self, reason: str) -> int:
        """Return the number of a reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        return self.reasons.index(reason)

    def _set(self, which: np.ndarray, reason: str) -> None:
        self.why[which] = self.number(reason)

    def _add(self, uses: _Uses) -> None:
        """Add uses of a key, unless others did something to the row itself later."""
        steps, last = self.chains.steps, uses.last
        self.not_to_the_row[uses.chains] = True
        self.has_key[uses.chains[uses.is_used_now]] = True
        was_deleted, newer = self._last[uses.chains] >= 0, last > self._last[uses.chains]
        which, last, now = uses.chains[newer], last[newer], uses.is_used_now[newer]
        self._last[which], self.chains.last_later[which] = last, steps.commits[last]
        if not uses.key:
            self._set(which, EQUAL_ROW)
            return
        again = uses.tells_rows_apart & (self.chains.now[which] < 0) & (steps.new[last] < 0) & (steps.moves[last] < 0)
        self._set(which[again], CREATED_AGAIN)
        self._set(which[~again], f"another row had its {uses.key} since")
        self._set(which[now], f"another row has its {uses.key} now")
        came_back = now & uses.tells_rows_apart & (self.chains.now[which] < 0)
        self._set(which[came_back], SAME_KEY.format(uses.key))
        self._set(which[came_back & was_deleted[newer]], f"deleted, and {SAME_KEY.format(uses.key)}")


@dataclass(frozen=True)
class _Uses:
    """Chains whose key others have used since: the numbers of their last steps, and whether a row has it now. Without a
    key it has no name."""

    key: str
    tells_rows_apart: bool
    chains: np.ndarray
    last: np.ndarray
    is_used_now: np.ndarray


def _uses(table: TracedTable, chains: Chains) -> Iterator[_Uses]:
    """Yield the key that tells rows apart first, then other unique keys, of rows that are to come back."""
    key, was_there = table_key(table.definition), chains.before >= 0
    if key is None:
        yield from _used("", False, chains, was_there, whole_rows(table))
    own = None if key is None else key.choice.name
    for one in sorted(unique_keys(table.definition), key=lambda one: one.name != own):
        which = was_there | chains.touched_later if one.name == own else was_there & (chains.now < 0)
        yield from _used(one.name, one.name == own, chains, which, keys_by(table, one))


def _used(name: str, tells_rows_apart: bool, chains: Chains, which: np.ndarray, keys: Keys) -> Iterator[_Uses]:
    numbers, steps = np.flatnonzero(which), chains.steps
    others = np.flatnonzero(~steps.chosen)
    if not len(numbers) or not len(others := others[others > chains.first[numbers].min()]):
        return
    own = keys(*chains.known(numbers)).dictionary_encode()
    known = np.asarray(own.is_valid())
    numbers, codes = numbers[known], own.indices.drop_null().to_numpy()
    used, users = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    holders = np.full(len(own.dictionary), -1)
    for pointers in (steps.old, steps.new) if name else (steps.old,):
        have = others[pointers[others] >= 0]
        for start in range(0, len(have), _AT_ONCE):
            part = have[start:start + _AT_ONCE]
            indexes = pc.index_in(keys(steps.units[part], pointers[part]), value_set=own.dictionary, skip_nulls=True)
            used.append(indexes.drop_null().to_numpy())
            users.append(part[np.asarray(indexes.is_valid())])
            if pointers is steps.new:
                is_last = ~chains.followed[users[-1]]
                holders[used[-1][is_last]] = users[-1][is_last]
    last = _last_of_others(np.concatenate(used), np.concatenate(users), codes, numbers, chains)
    later, holder = last > chains.first[numbers], holders[codes]
    has_key = (holder >= 0) & (chains.of_step[holder] != numbers)
    yield _Uses(name, tells_rows_apart, numbers[later], last[later], has_key[later])


def _last_of_others(used: np.ndarray, users: np.ndarray, codes: np.ndarray, numbers: np.ndarray,
                    chains: Chains) -> np.ndarray:
    """Return, for each of these chains with its key's code, the last of the steps `users`, which used keys of these
    codes, that is not of the chain itself: int64[n] (-1: none)."""
    last, second = np.full((2, int(codes.max(initial=-1)) + 1), -1)
    np.maximum.at(last, used, users)
    is_other = chains.of_step[users] != chains.of_step[last[used]]
    np.maximum.at(second, used[is_other], users[is_other])
    found: np.ndarray = np.where(chains.of_step[last[codes]] != numbers, last[codes], second[codes])
    return found
