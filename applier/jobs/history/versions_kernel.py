# mypy: allow-untyped-defs, no-check-untyped-defs
"""Versions of rows: steps are kept while the log is walked; in the order of their rows, each version ends with the next
step of its row.
"""

import numpy as np

from applier.apply.index.pointer_kernel import NO_ROW, traced_at
from applier.binlog.rows.change_records import UPDATE
from applier.jobs.changes.groups_kernel import group_at
from applier.jobs.history.commits_kernel import KIND_BITS
from keysearch.memory import always_inline, kernel, load_i64, prefetch, store_i64
from keysearch.records import struct

INSERT, UPDATED, DELETE = range(3)
"""What a step does."""
NO_STEP = -1
"""In place of a step: none has ended the version."""

POINTER, BEGINS, ENDS, BEGUN_AT, ENDED_AT = range(5)
"""The words of a step, and of the version that it begins: the pointer to the row (NO_ROW: it begins none), the step
(commits_kernel.KIND_BITS), the one that ended the version (until that is known, the row's number), and, where they are
wanted, the places of both."""

STATE, state_at, _ = struct("steps of a unit", **dict.fromkeys(("words", "n_words", "n"), np.int64))
"""The address of the words of steps, how many each has, and how many steps there are."""

_AHEAD = 16


@always_inline
def _step(state, number):
    return state.words + 8 * state.n_words * number


@always_inline
def _add(state, row, pointer, step, place):
    """One more step; there has to be room."""
    at = _step(state, state.n)
    store_i64(at, pointer)
    store_i64(at + 8 * BEGINS, step)
    store_i64(at + 8 * ENDS, row)
    if state.n_words > ENDED_AT:
        store_i64(at + 8 * BEGUN_AT, place)
        store_i64(at + 8 * ENDED_AT, NO_STEP)
    state.n += 1


@kernel
def take_steps(traced, n, kinds, places, causes, starts, first_commit, first_place, state_address):
    """Take n steps (the address of pointer_kernel.TRACED) of changes with these kinds and offsets of events; steps that
    foreign keys made are of `causes`. `starts` are the offsets of the file's event groups, whose commits are numbered
    from `first_commit` on; `first_place` is the place of offset 0. There has to be room for twice as many, as one that
    gives a row another number ends the one and begins the other."""
    state, group = state_at(state_address), np.int64(-1)
    for i in range(n):
        step = traced_at(traced, i)
        change, old, new = step.change, step.old, step.new
        is_update = old >= 0 and new >= 0
        if change >= 0:
            place = places[change]
            is_update = is_update or kinds[change] == UPDATE
        else:
            place = causes[-1 - change]
        group = group_at(starts, place, group)
        what = UPDATED if is_update else INSERT if new >= 0 else DELETE
        made = (first_commit + group) << KIND_BITS | what
        if old >= 0 and (new < 0 or step.old_row != step.new_row):
            _add(state, step.old_row, NO_ROW, made, first_place + place)
        if new >= 0:
            _add(state, step.new_row, new, made, first_place + place)


@kernel
def end_versions(order, state_address, last, last_place):
    """Have each version end with the next step of its row, given all steps in the order of their rows (int64[n], their
    numbers, ascending for one row), and what nothing ends with the step `last`. Leaves in `order` the numbers of those
    that begin a version, as they come.

    How many these are; below 0 where a step ends a version that is not there."""
    state, n, before, row = state_at(state_address), 0, np.int64(0), np.int64(0)
    with_places = state.n_words > ENDED_AT
    for i in range(len(order)):
        if i + _AHEAD < len(order):
            prefetch(_step(state, order[i + _AHEAD]))
        at = _step(state, order[i])
        own, begins = load_i64(at + 8 * ENDS), load_i64(at) != NO_ROW
        if before and row == own:
            store_i64(before + 8 * ENDS, load_i64(at + 8 * BEGINS))
            if with_places:
                store_i64(before + 8 * ENDED_AT, load_i64(at + 8 * BEGUN_AT))
        elif not begins:
            return np.int64(-1)
        before, row = at if begins else np.int64(0), own
        if begins:
            store_i64(at + 8 * ENDS, last)
            if with_places:
                store_i64(at + 8 * ENDED_AT, last_place)
            order[n] = order[i]
            n += 1
    return n
