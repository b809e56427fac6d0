# mypy: allow-untyped-defs, no-check-untyped-defs
"""Versions of rows while the log is walked: each step ends the version that its old pointer leads to, and begins one.

A pointer finds its version in an open-addressed table of version numbers. Those below `at_first` are the rows that were
there at first, whose pointers are their numbers.
"""

import numpy as np

from applier.apply.index.pointer_kernel import traced_at
from applier.binlog.rows.change_records import UPDATE
from applier.jobs.changes.groups_kernel import group_at
from keysearch.memory import always_inline, kernel, load_i64, prefetch, store_i64
from keysearch.records import struct

INSERT, UPDATED, DELETE = range(3)
"""What a step does."""
NO_STEP = -1
"""In place of a step: none has ended the version."""

POINTER, BEGINS, ENDS, BEGUN_AT, ENDED_AT = range(5)
"""The words of a version: the pointer to the row, which steps began and ended it, and, where they are wanted, their
places. A step is a commit and, in KIND_BITS below it, what it does."""
KIND_BITS = 8

STATE, state_at, _ = struct("versions of a unit", **dict.fromkeys((
    "versions", "words", "n", "at_first", "table", "mask"), np.int64))
"""The array of versions, how many words each has, how many there are, and how many of these were there at first; the
table, and its last entry's number. An entry is 0, or the number of a version and 1 below a tag, the upper bits of its
pointer's hash: of other pointers' entries, versions are not looked at."""

_NUMBER = (1 << 40) - 1
_TAG = -1 << 40
_AHEAD = 8


@always_inline
def _version(state, number):
    return state.versions + 8 * state.words * number


@always_inline
def _hash(pointer):
    word = np.uint64(pointer) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(word ^ (word >> np.uint64(32)))


@always_inline
def _home(state, pointer):
    """The address of the entry where a pointer is looked for first."""
    return state.table + 8 * (_hash(pointer) & state.mask)


@always_inline
def _entry(state, pointer):
    """The address of the entry of a pointer, or of the empty one where it would go."""
    entry, last, tag = _home(state, pointer), state.table + 8 * state.mask, _hash(pointer) & _TAG
    while True:
        known = load_i64(entry)
        if known == 0 or (known & _TAG == tag and load_i64(_version(state, (known & _NUMBER) - 1)) == pointer):
            return entry
        entry = entry + 8 if entry < last else state.table


@always_inline
def _number(entry):
    """The number of an entry's version; below 0 where there is none."""
    return (load_i64(entry) & _NUMBER) - 1


@always_inline
def _put(state, number):
    """Have a version's pointer lead to it."""
    pointer = load_i64(_version(state, number))
    store_i64(_entry(state, pointer), _hash(pointer) & _TAG | (number + 1))


@always_inline
def _ask_for_version(state, pointer):
    """Ask for the version that a pointer likely leads to, whose entry has been asked for."""
    if pointer >= state.at_first:
        prefetch(_version(state, _number(_home(state, pointer))))


@kernel
def take_steps(traced, n, kinds, places, causes, starts, first_commit, first_place, state_address):
    """Take n steps (the address of pointer_kernel.TRACED) of changes with these kinds and offsets of events; steps that
    foreign keys made are of `causes`. `starts` are the offsets of the file's event groups, whose commits are numbered
    from `first_commit` on; `first_place` is the place of offset 0. There has to be room.

    The number of steps taken: less than n where one ends a version that is not there."""
    state = state_at(state_address)
    with_places, group = state.words > ENDED_AT, np.int64(-1)
    for i in range(n):
        if i + 2 * _AHEAD < n:
            ahead = traced_at(traced, i + 2 * _AHEAD)
            prefetch(_home(state, ahead.old))
            prefetch(_home(state, ahead.new))
            _ask_for_version(state, traced_at(traced, i + _AHEAD).old)
        step = traced_at(traced, i)
        change, old, new = step.change, step.old, step.new
        is_update = old >= 0 and new >= 0
        if change >= 0:
            place = places[change]
            is_update = is_update or kinds[change] == UPDATE
        else:
            place = causes[-1 - change]
        group = group_at(starts, place, group)
        commit = (first_commit + group) << KIND_BITS
        if old >= 0:
            number = old if old < state.at_first else _number(_entry(state, old))
            if number < 0:
                return i
            version = _version(state, number)
            store_i64(version + 8 * ENDS, commit | (UPDATED if is_update else DELETE))
            if with_places:
                store_i64(version + 8 * ENDED_AT, first_place + place)
        if new >= 0:
            version = _version(state, state.n)
            store_i64(version, new)
            store_i64(version + 8 * BEGINS, commit | (UPDATED if is_update else INSERT))
            store_i64(version + 8 * ENDS, NO_STEP)
            if with_places:
                store_i64(version + 8 * BEGUN_AT, first_place + place)
                store_i64(version + 8 * ENDED_AT, NO_STEP)
            _put(state, state.n)
            state.n += 1
    return n


@kernel
def index_versions(state_address):
    """Put the versions into the table, which is empty."""
    state = state_at(state_address)
    for number in range(state.at_first, state.n):
        if number + _AHEAD < state.n:
            prefetch(_home(state, load_i64(_version(state, number + _AHEAD))))
        _put(state, number)
