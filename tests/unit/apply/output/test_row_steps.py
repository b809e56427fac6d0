"""Rows before and after steps are read some at a time: as many as have about WINDOW_BYTES."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from applier.apply.output import row_steps
from applier.apply.output.row_steps import NO_CAUSES, NO_ROW, TRACED, Causes, StepReader, give_back, take_steps
from tests.support.examples import examples

WINDOW = 4096
CHUNK = 3 * WINDOW


class Unit:
    """Pointers are numbers of rows, which have so many bytes each; a chunk of several rows has CHUNK at most."""

    def __init__(self, sizes, steps):
        self.sizes, self.given_back = np.array(sizes, np.int64), []
        self.steps = np.array([(*step, NO_ROW, NO_ROW) for step in steps], TRACED)

    def take_steps(self):
        steps, self.steps = self.steps, self.steps[:0]
        return steps

    def give_back(self, pointers):
        self.given_back += pointers[pointers != NO_ROW].tolist()

    def traced_rows(self):
        return self

    def at(self, pointers, columns):
        assert columns == ["row"]
        while len(pointers):
            n = max(1, int(np.searchsorted(np.cumsum(self.sizes[pointers]), CHUNK, side="right")))
            some, pointers = pointers[:n].tolist(), pointers[n:]
            yield pa.table({"row": some, "bytes": [b"x" * int(self.sizes[pointer]) for pointer in some]})


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(row_steps, "WINDOW_BYTES", WINDOW)


def read_all(unit, steps):
    """What was there before and after each step, and of each window its steps or rows, and bytes."""
    read, sizes = [], []
    for window in StepReader([unit], ["row"]).read(steps):
        rows = [*window.values["row"].to_pylist(), NO_ROW]
        read += zip(window.steps.positions.tolist(), [rows[old] for old in window.before],
                    [rows[new] for new in window.after], strict=True)
        sizes.append((min(len(window.steps), len(rows) - 1), int(unit.sizes[rows[:-1]].sum())))
    return read, sizes


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=60), st.data())
def test_all_steps_are_read_in_order(small_windows, of_rows, data):
    now, found, made = [NO_ROW] * 5, [], 0
    for number, (row, ends) in enumerate(of_rows):
        new = NO_ROW if ends and now[row] != NO_ROW else made
        found.append((-1 - number, now[row], new))  # as foreign keys make them: positions are those of the causes
        now[row], made = new, made + (new != NO_ROW)
    unit = Unit(data.draw(st.lists(st.sampled_from([1, 1000, 5000, CHUNK + 1]), min_size=made, max_size=made)), found)
    positions = np.arange(len(found))
    steps = take_steps([unit], None, Causes(positions, positions.astype(np.int32), positions << 8))
    read, sizes = read_all(unit, steps)
    assert read == [(number, old, new) for number, (_, old, new) in enumerate(found)]
    assert all(n == 1 or size <= CHUNK for n, size in sizes)
    give_back([unit], steps)
    assert sorted(unit.given_back) == sorted(old for _, old, _ in found if old != NO_ROW)


def test_windows_have_about_so_many_bytes(small_windows):
    unit = Unit([400] * 2000, [(-1 - number, NO_ROW, number) for number in range(2000)])
    positions = np.arange(2000)
    _, sizes = read_all(unit, take_steps([unit], None, Causes(positions, positions.astype(np.int32), positions << 8)))
    assert all(WINDOW / 2 < size <= WINDOW for _, size in sizes[1:-1])


def test_steps_of_several_units_are_in_commit_order():
    """A row that moves is there before it is here."""
    class Batch:
        positions, rows, kinds = np.array([10, 20, 30]), np.array([0, 1, 2], np.int32), np.array([0, 1, 2])
        seqs = positions << 8

    one = Unit([8] * 4, [(1, 0, NO_ROW), (2, 1, NO_ROW)])
    other = Unit([8] * 4, [(0, NO_ROW, 0), (1, NO_ROW, 1)])
    steps = take_steps([other, one], Batch, NO_CAUSES)
    assert list(zip(steps.changes, steps.units, steps.positions, steps.is_update, strict=True)) == [
        (0, 0, 10, False), (1, 1, 20, True), (1, 0, 20, True), (2, 1, 30, False)]
    assert steps.seqs.tolist() == [10 << 8, 20 << 8, 20 << 8, 30 << 8]


def test_changes_that_foreign_keys_make_are_numbered_from_their_cause_on():
    unit = Unit([8] * 4, [(-1, NO_ROW, 0), (-1, NO_ROW, 1), (-3, 0, NO_ROW), (-3, 1, 2), (-3, NO_ROW, 3)])
    causes = Causes(np.array([10, 10, 20]), np.array([0, 1, 0], np.int32), np.array([100, 200, 300]))
    assert take_steps([unit], None, causes).seqs.tolist() == [101, 102, 301, 302, 303]


def test_units_without_steps_are_not_asked():
    """They would read their rows of a base."""
    class Untouched(Unit):
        def traced_rows(self):
            raise AssertionError("it has no steps")

    units = [Untouched([], []), Unit([8], [(-1, NO_ROW, 0)])]
    steps = take_steps(units, None, Causes(np.array([10]), np.array([0], np.int32), np.array([70])))
    [read] = StepReader(units, ["row"]).read(steps)
    assert (read.before.tolist(), read.after.tolist()) == ([NO_ROW], [0])
