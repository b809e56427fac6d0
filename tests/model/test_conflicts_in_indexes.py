"""Conflicts in an index by one key, against a replica that is a list of rows, and as a row store has them.

Rules: APP-R5 to APP-R7, AP-IDEM, DEF-R1b, DEF-R2, FIND-ROWS.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.apply.search.conflicts import ROW_GONE
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE
from tests.support.row_list import KeyEngine, Replica, Stopped

VALUES = st.integers(0, 5)
ROWS = st.tuples(VALUES, st.none() | VALUES, VALUES)


@st.composite
def histories(draw):
    """(base rows, batches of changes): images lack any columns, but before-images have the key."""
    rows = draw(st.lists(ROWS, max_size=4, unique_by=lambda row: row[0]))
    changes = []
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from((INSERT, INSERT, UPDATE, UPDATE, DELETE)))
        hidden = draw(st.lists(st.integers(0, 2), max_size=2)) if draw(st.booleans()) else []
        after = tuple(... if c in hidden else value for c, value in enumerate(draw(ROWS)))
        if kind == UPDATE and set(after[1:]) != {...} and draw(st.booleans()):  # one that assigns nothing gets nowhere
            after = (draw(st.sampled_from([..., after[0]])), *after[1:])
        changes.append((kind, draw(ROWS) if kind != INSERT else None, after if kind != DELETE else None, 0))
    cut = draw(st.integers(0, len(changes)))
    return rows, [part for part in (changes[:cut], changes[cut:]) if part]


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("form", ["int", "bytes"])
@given(histories())
def test_as_a_list_of_rows(form, idempotent, history):
    rows, batches = history
    replica, engine = Replica([(0,)], True, idempotent, rows), KeyEngine(form, 3, idempotent, rows)
    for changes in batches:
        try:
            replica.apply(changes)
        except Stopped as stopped:
            number, taken = stopped.args
            conflict = engine.apply(changes)
            assert (conflict.change, conflict.duplicate, conflict.moves) == (number, taken is not None, False)
            return
        assert engine.apply(changes) is None
        assert engine.index.noted.tolist() == replica.noted
    assert engine.index.live == len(replica.rows)
    assert engine.rows() == replica.rows_by_place


@pytest.mark.parametrize("form", ["int", "bytes"])
def test_room_for_conflicts_grows(form):
    """A batch of nothing but conflicts: each is noted once, in its order, whatever the room is for at first."""
    n, engine = 3000, KeyEngine(form, 1, True, [(1,)])
    changes = [[(INSERT, None, (1,), None), (DELETE, (2,), None, 0), (UPDATE, (3,), (4,), 0)][j % 3] for j in range(n)]
    assert engine.apply(changes) is None
    assert engine.index.noted.tolist() == [[j, 0 if j % 3 == 0 else ROW_GONE] for j in range(n)]
    assert engine.apply([(DELETE, (1,), None, 0)]) is None and not len(engine.index.noted)
    assert (engine.index.inserted, engine.index.updated, engine.index.deleted) == (1000, 0, 1)


@pytest.mark.parametrize("form", ["int", "bytes"])
def test_a_unit_takes_what_is_in_its_range(form):
    """Conflicts beyond its bounds are other units'; an update over a bound is refused from either side, as the rows of
    both decide the outcome."""
    changes = [(INSERT, None, (1,), None), (DELETE, (5,), None, 0), (DELETE, (2,), None, 0), (INSERT, None, (6,), None),
               (INSERT, None, (6,), None)]
    for low, high, noted in ((None, 4, [[2, ROW_GONE]]), (4, None, [[1, ROW_GONE], [4, 0]])):
        engine = KeyEngine(form, 1, True, low=low, high=high)
        assert engine.apply(changes) is None
        assert engine.index.noted.tolist() == noted
        for move in ((1, 6), (6, 1), (2, 5), (5, 2)):
            conflict = engine.apply([(INSERT, None, (3,), None), (UPDATE, move[:1], move[1:], 0)])
            assert (conflict.change, conflict.moves) == (1, True)
