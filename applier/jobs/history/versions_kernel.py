# mypy: allow-untyped-defs, no-check-untyped-defs
"""Versions of rows: steps are kept while the log is walked; sorted by row, each version ends with the next
step of its row.
"""

import numpy as np

from applier.apply.index.pointer_kernel import NO_ROW, traced_at
from applier.binlog.rows.change_records import UPDATE
from applier.jobs.changes.event_groups.groups_kernel import group_at
from applier.jobs.history.commits_kernel import KIND_BITS
from keysearch.memory import always_inline, kernel, load_i64, prefetch, store_i64
from keysearch.records import struct

INSERT, UPDATED, DELETE = range(3)
"""The kind of a step."""
NO_STEP = -1
"""In place of the step that ends a version: the version has not ended."""

POINTER, STEP, ROW, CHANGE, POSITION = range(5)
"""The words of a step: the pointer to the row that begins with it (NO_ROW: none), the commit and the kind of change
(commits_kernel.KIND_BITS), the row's number, the change's number (change_records.SEQ_BITS), and, if wanted, its
position."""
BEGINS, ENDS, BEGUN_BY, ENDED_BY, BEGUN_AT, ENDED_AT = range(6)
"""The edges of a version: the steps that began and ended it, the numbers of these changes, and, if wanted, the
positions of both."""

STATE, state_at, _ = struct("steps of a unit", **dict.fromkeys(("words", "n_words", "n"), np.int64))
"""The address of the words of steps, how many each has, and how many steps there are."""

_AHEAD = 16


@always_inline
def _step(state, number):
    return state.words + 8 * state.n_words * number


@always_inline
def _add(state, row, pointer, step, seq, position):
    """One more step; there must be room."""
    at = _step(state, state.n)
    store_i64(at, pointer)
    store_i64(at + 8 * STEP, step)
    store_i64(at + 8 * ROW, row)
    store_i64(at + 8 * CHANGE, seq)
    if state.n_words > POSITION:
        store_i64(at + 8 * POSITION, position)
    state.n += 1


@kernel
def take_steps(traced, n, kinds, positions, seqs, causes, cause_seqs, starts, first_commit, first_position,
               state_address):
    """Take n steps (the address of pointer_kernel.TRACED) of changes with these kinds, offsets of events and numbers;
    steps that foreign keys made are of `causes`, and are numbered on from these (row_steps.take_steps). `starts` are
    the offsets of the file's event groups, whose commits are numbered from `first_commit` on; `first_position` is the
    position of offset 0 as a number. There must be room for twice as many, since a step that gives a row another number
    ends one version and begins another."""
    state, group, last, made_before = state_at(state_address), np.int64(-1), np.int64(0), np.int64(0)
    for i in range(n):
        step = traced_at(traced, i)
        change, old, new = step.change, step.old, step.new
        made_before = made_before + 1 if change == last else np.int64(0)
        last = change
        is_update = old >= 0 and new >= 0
        if change >= 0:
            position, seq = positions[change], seqs[change]
            is_update = is_update or kinds[change] == UPDATE
        else:
            position, seq = causes[-1 - change], cause_seqs[-1 - change] + 1 + made_before
        group = group_at(starts, position, group)
        what = UPDATED if is_update else INSERT if new >= 0 else DELETE
        made = (first_commit + group) << KIND_BITS | what
        if old >= 0 and (new < 0 or step.old_row != step.new_row):
            _add(state, step.old_row, NO_ROW, made, seq, first_position + position)
        if new >= 0:
            _add(state, step.new_row, new, made, seq, first_position + position)


@kernel
def end_versions(order, state_address, last, last_change, last_position, pointers, edges):
    """The versions of rows, given all steps in the order of their rows (int64[n], their numbers, ascending for one
    row): pointers to them (int64[n]) and their edges (int64[n, 4], or 6 with positions). A version ends with the next
    step of its row, the last one with the step `last`. Leaves in `order` the numbers of the steps that begin the
    versions.

    Returns the number of versions; below 0 if a step ends a version that does not exist."""
    state, n, row, is_there = state_at(state_address), 0, np.int64(0), False
    with_positions = state.n_words > POSITION
    for i in range(len(order)):
        if i + _AHEAD < len(order):
            prefetch(_step(state, order[i + _AHEAD]))
        at = _step(state, order[i])
        own, pointer, step = load_i64(at + 8 * ROW), load_i64(at), load_i64(at + 8 * STEP)
        if is_there and row == own:
            edges[n - 1, ENDS], edges[n - 1, ENDED_BY] = step, load_i64(at + 8 * CHANGE)
            if with_positions:
                edges[n - 1, ENDED_AT] = load_i64(at + 8 * POSITION)
        elif pointer == NO_ROW:
            return np.int64(-1)
        row, is_there = own, pointer != NO_ROW
        if is_there:
            pointers[n], edges[n, BEGINS], edges[n, ENDS], order[n] = pointer, step, last, order[i]
            edges[n, BEGUN_BY], edges[n, ENDED_BY] = load_i64(at + 8 * CHANGE), last_change
            if with_positions:
                edges[n, BEGUN_AT], edges[n, ENDED_AT] = load_i64(at + 8 * POSITION), last_position
            n += 1
    return n


@kernel
def number_keys(keys, stride, order):
    """Fill `order` with numbers that ascend with keys (the address of int64, `stride` bytes apart), and for equal keys
    in their order: a key, less the smallest one, and below it, in some bits, its number. Returns these bits; below 0 if
    both do not fit into an integer."""
    n, bits = len(order), 0
    while n >> bits:
        bits += 1
    least = most = load_i64(keys) if n else np.int64(0)
    for i in range(n):
        key = load_i64(keys + stride * i)
        least, most = min(least, key), max(most, key)
    if np.uint64(most) - np.uint64(least) >= np.uint64(1) << np.uint64(63 - bits):
        return np.int64(-1)
    for i in range(n):
        order[i] = (load_i64(keys + stride * i) - least) << bits | i
    return np.int64(bits)
