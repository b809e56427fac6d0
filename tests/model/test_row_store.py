"""A row store against a replica that is a list of rows: unique keys, searches by content, both exec modes.

Rules: FIND, FIND-ROWS, IDX-R1, DEF-R1b, DEF-R2, APP-R5 to APP-R7, AP-IDEM.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.apply.index.store.row_parts import EncodedRowPart, Search
from applier.apply.index.store.row_store import RowStore
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE
from tests.support.examples import examples
from tests.support.row_list import DEFAULT, Engine, Replica, Stopped, key, keys


class StoreEngine(Engine):
    """A row store; `ranked`: rows equal in what is searched by may differ elsewhere."""

    def __init__(self, columns, unique, clustered, idempotent, rows=(), ranked=False):
        super().__init__(columns, rows)
        self.ranked = ranked
        self.index = RowStore(columns, columns, unique, clustered=clustered, idempotent=idempotent,
                              rows_at=None)
        if rows:
            self.index.seed(len(rows), [keys([row[c] for row in rows]) for c in range(columns)])

    def feed(self, batch, befores, afters, bys):
        ways, patterns = [], []
        for before, by in zip(befores, bys, strict=True):
            parts = tuple(c for c, value in enumerate(before) if value is not ...)
            search = Search(unique=by) if by is not None else Search(parts=parts, ranked=self.ranked)
            if search not in ways:
                ways.append(search)
            patterns.append(ways.index(search))
        self.index.prepare(batch, self.layouts, self.inputs(befores), self.inputs(afters),
                           np.array(patterns, np.uint8), ways)
        return self.run(batch)

    def inputs(self, images):
        return [EncodedRowPart(keys([0 if image[c] is ... else image[c] for image in images]),
                           np.array([image[c] is ... for image in images], np.bool_), key(DEFAULT))
                for c in range(self.columns)]


SHAPES = {  # columns of each unique key, and whether the first is the clustered one
    "no key": ([], False), "primary": ([(0,)], True), "primary and unique": ([(0,), (1,)], True),
    "three": ([(0,), (1, 2), (2,)], True), "nullable unique": ([(1,)], False),
}
VALUES = st.integers(0, 3)


@st.composite
def histories(draw):
    unique, clustered = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    not_null = {0}
    nullable = st.none() | VALUES
    row = st.tuples(*[VALUES if c in not_null else nullable for c in range(3)])
    base = Replica(unique, clustered, True)
    base.apply([(INSERT, None, one, None) for one in draw(st.lists(row, max_size=6))])
    rows = list(map(tuple, base.rows_by_place))
    changes = []
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from((INSERT, INSERT, UPDATE, UPDATE, DELETE)))
        before, after, by = None, None, None
        if kind != INSERT:
            before = draw(st.sampled_from(rows) if rows and draw(st.booleans()) else row)
            hidden = draw(st.lists(st.integers(0, 2), max_size=2)) if draw(st.booleans()) else []
            before = tuple(... if c in hidden else value for c, value in enumerate(before))
            by = 0 if clustered and before[0] is not ... else None
        if kind != DELETE:
            hidden = draw(st.lists(st.integers(0, 2), max_size=2)) if draw(st.booleans()) else []
            after = tuple(... if c in hidden else value for c, value in enumerate(draw(row)))
        changes.append((kind, before, after, by))
    cut = draw(st.integers(0, len(changes)))
    return unique, clustered, rows, [part for part in (changes[:cut], changes[cut:]) if part]


@pytest.mark.parametrize("idempotent", [False, True])
@settings(max_examples=examples(200))
@given(history=histories())
def test_as_a_list_of_rows(idempotent, history):
    unique, clustered, rows, batches = history
    partial = any(before and ... in before for changes in batches for _, before, _, _ in changes)
    replica = Replica(unique, clustered, idempotent, rows)
    engine = StoreEngine(3, unique, clustered, idempotent, rows, ranked=partial)
    for changes in batches:
        try:
            replica.apply(changes)
        except Stopped as stopped:
            number, taken = stopped.args
            conflict = engine.apply(changes)
            assert (conflict.change, conflict.duplicate) == (number, taken is not None)
            assert taken is None or engine.index.unique_met == taken
            assert engine.index.live == len(replica.rows)
            return  # nobody reads the rows of a unit that stopped: what the change would have made may stand in them
        assert engine.apply(changes) is None
        assert engine.index.noted.tolist() == replica.noted
    assert engine.index.live == len(replica.rows)
    expected = replica.rows
    if partial or clustered:
        assert engine.rows() == expected
    else:  # rows that are alike in all columns change places
        assert Counter(map(tuple, engine.rows())) == Counter(map(tuple, expected))
    if clustered:
        assert engine.rows(unique[0]) == replica.rows_by_place
    emptied = StoreEngine(3, unique, clustered, idempotent, rows, ranked=partial)
    for changes in batches:
        emptied.apply(changes)
    if replica.rows:  # each is found by each index, and nothing else is there
        gone = [(DELETE, tuple(values), None, 0 if clustered and number % 2 else None)
                for number, values in enumerate(reversed(replica.rows))]
        assert emptied.apply(gone) is None and emptied.index.noted.tolist() == []
    assert (emptied.index.live, emptied.rows()) == (0, [])


def test_room_grows_with_the_rows():
    """Slots, buckets, records and notes all start small; deleted rows' records are forgotten."""
    n = 5000
    replica, engine = Replica([(0,)], True, True, columns=2), StoreEngine(2, [(0,)], True, True)
    wide = [(i % 251, i // 251) for i in range(n)]
    inserts = [(INSERT, None, row, None) for row in wide]
    assert engine.apply(inserts) is None
    replica.apply(inserts)
    assert engine.index.noted.tolist() == replica.noted and len(replica.noted) > 1000
    for _ in range(4):
        changes = [(DELETE, tuple(values), None, 0) for values in replica.rows]
        changes += [(INSERT, None, row, None) for row in wide[:251]]
        assert engine.apply(changes) is None
        replica.apply(changes)
    assert engine.rows() == replica.rows


@pytest.mark.parametrize("more, left", [(0, [[1, 2], [1, 8], [1, 9]]), (1, [[1, 8], [1, 9]]), (3, [])])
def test_rows_between_others_of_one_key_go(more, left):
    """Their neighbours find each other; the next row gets their place. `more` go in the end, the first ones there."""
    engine = StoreEngine(2, [], False, False, ranked=True)
    assert engine.apply([(INSERT, None, (1, i), None) for i in range(6)]) is None
    assert engine.apply([(DELETE, (1, 4), None, None), (DELETE, (1, 0), None, None)]) is None
    assert engine.apply([(UPDATE, (1, ...), (1, 7), None)]) is None  # an index by the first column
    for gone in (3, 7, 5):
        assert engine.apply([(DELETE, (1, gone), None, None)]) is None
    assert engine.apply([(INSERT, None, (1, 8), None), (INSERT, None, (1, 9), None)]) is None
    if more:
        assert engine.apply([(DELETE, (1, ...), None, None)] * more) is None
    assert (engine.index.live, engine.rows()) == (len(left), left)


def test_many_equal_rows():
    """Rows that are alike in all columns are as good as each other: each change takes one of them."""
    engine = StoreEngine(2, [], False, False)
    assert engine.apply([(INSERT, None, (1, 2), None)] * 20_000) is None
    assert engine.apply([(DELETE, (1, 2), None, None)] * 19_999) is None
    assert engine.rows() == [[1, 2]]
    conflict = engine.apply([(DELETE, (1, 2), None, None)] * 2)
    assert (conflict.change, conflict.duplicate) == (1, False)
