"""A row store against a replica that is a list of rows: unique keys, searches by content, both exec modes.

Rules: FIND, FIND-ROWS, IDX-R1, DEF-R1b, DEF-R2, APP-R5 to APP-R7, AP-IDEM.
"""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.apply.pointer_kernel import PATCH_ID
from applier.apply.row_store import NotedConflict, PieceInput, RowStore, Search
from applier.binlog.change_records import IMAGE_ID_SHIFT
from applier.binlog.changes import DELETE, INSERT, UPDATE, ImageLayout, ImageLayouts
from keysearch.keybytes import KeyBytes

DEFAULT = 9
"""What a column has that an insert leaves out."""


class Stopped(Exception):
    """The model's: the change's number, the unique key that is taken or None, and the rows at that point."""


class Replica:
    """Rows in the table's order: [values by column, number of arrival]. unique: columns of each unique key."""

    def __init__(self, unique, clustered, idempotent, rows=()):
        self.unique, self.clustered, self.idempotent = unique, clustered, idempotent
        self.rows = [[list(row), i] for i, row in enumerate(rows)]
        self.arrived = len(self.rows)
        self.noted = []

    def apply(self, changes):
        self.noted = []
        for number, (kind, before, after, by) in enumerate(changes):
            if kind == INSERT:
                self.insert(number, after)
                continue
            row = self.find(before, by)
            if row is None:
                self.conflict(number, None)
            elif kind == DELETE:
                self.rows.remove(row)
            else:
                values = overlay(after, row[0])
                taken, _ = self.taken(values, row)
                if taken is not None:
                    self.conflict(number, taken)
                else:
                    row[0] = values

    def conflict(self, number, what):
        if not self.idempotent:
            raise Stopped(number, what)
        self.noted.append(NotedConflict(number, what))

    def find(self, before, by):
        columns = [c for c, value in enumerate(before) if value is not ...] if by is None else self.unique[by]
        found = [row for row in self.rows if all(row[0][c] == before[c] for c in columns)]
        return min(found, key=self.place, default=None)

    def place(self, row):
        return [(row[0][c] is not None, row[0][c]) for c in self.unique[0]] if self.clustered else row[1]

    def taken(self, values, own=None):
        for number, columns in enumerate(self.unique):
            if any(values[c] is None for c in columns):
                continue
            for row in self.rows:
                if row is not own and all(row[0][c] == values[c] for c in columns):
                    return number, row
        return None, None

    def insert(self, number, after):
        basis = [DEFAULT] * len(after)
        while True:
            values = overlay(after, basis)
            taken, row = self.taken(values)
            if taken is None:
                self.rows.append([values, self.arrived])
                self.arrived += 1
                return
            self.conflict(number, taken)
            if taken == len(self.unique) - 1:
                row[0] = overlay(after, row[0])
                return
            basis = row[0]
            self.rows.remove(row)


def overlay(after, old):
    return [kept if value is ... else value for value, kept in zip(after, old, strict=True)]


class Engine:
    """The store, fed with images that are tuples; a pointer is an image's number."""

    def __init__(self, columns, unique, clustered, idempotent, rows=(), ranked=False):
        self.columns, self.layouts, self.ranked = columns, ImageLayouts([None] * columns), ranked
        self.images = {}
        self.store = RowStore(columns, columns, unique, clustered=clustered, idempotent=idempotent)
        if rows:
            self.store.seed(len(rows), [keys([row[c] for row in rows]) for c in range(columns)])
        self.base = [tuple(row) for row in rows]

    def apply(self, changes):
        n = len(changes)
        before_rows, after_rows, images = (np.full(n, -1, kind) for kind in (np.int32, np.int32, np.int64))
        befores, afters, ways, patterns = [], [], [], []
        for j, (kind, before, after, by) in enumerate(changes):
            if kind != INSERT:
                before_rows[j] = len(befores)
                pieces = tuple(c for c, value in enumerate(before) if value is not ...)
                search = Search(unique=by) if by is not None else Search(pieces=pieces, ranked=self.ranked)
                if search not in ways:
                    ways.append(search)
                patterns.append(ways.index(search))
                befores.append(before)
            if kind != DELETE:
                after_rows[j] = len(afters)
                layout = self.layouts.number(
                    ImageLayout(tuple(c for c, value in enumerate(after) if value is not ...)))
                images[j] = layout << IMAGE_ID_SHIFT | len(self.images)
                self.images[int(images[j])] = after
                afters.append(after)
        batch = SimpleNamespace(n=n, kinds=np.array([change[0] for change in changes], np.uint8),
                                before_rows=before_rows, after_rows=after_rows, images=images)
        return self.store.apply(batch, self.layouts, self.inputs(befores), self.inputs(afters),
                                np.array(patterns, np.uint8), ways)

    def inputs(self, images):
        return [PieceInput(keys([0 if image[c] is ... else image[c] for image in images]),
                           np.array([image[c] is ... for image in images], np.bool_), key(DEFAULT))
                for c in range(self.columns)]

    def rows(self, order_by=()):
        found = []
        for pointer in self.store.pointers(order_by).tolist():
            if pointer >> IMAGE_ID_SHIFT == PATCH_ID:
                pointers = self.store.patches.pointers[pointer & (1 << IMAGE_ID_SHIFT) - 1].tolist()
            else:
                pointers = [pointer] * self.columns
            found.append([self.value(p, c) for c, p in enumerate(pointers)])
        return found

    def value(self, pointer, column):
        row = self.base[pointer] if pointer >> IMAGE_ID_SHIFT == 0 else self.images[pointer]
        return DEFAULT if row[column] is ... else row[column]


def key(value):
    return b"\0" if value is None else b"\1" + bytes([value]) * (1 + 7 * (value % 3))


def keys(values):
    texts = [key(value) for value in values]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    data = np.frombuffer(b"".join(texts) + bytes(32), np.uint8)
    return KeyBytes(offsets, data[:offsets[-1]])


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
    rows = [tuple(values) for values, _ in sorted(base.rows, key=base.place)]
    changes = []
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from((INSERT, INSERT, UPDATE, UPDATE, DELETE)))
        before, after, by = None, None, None
        if kind != INSERT:
            before = draw(st.sampled_from(rows) if rows and draw(st.booleans()) else row)
            if clustered and draw(st.booleans()):
                by = 0
            else:
                hidden = draw(st.lists(st.integers(0, 2), max_size=2))
                before = tuple(... if c in hidden else value for c, value in enumerate(before))
        if kind != DELETE:
            hidden = draw(st.lists(st.integers(0, 2), max_size=2)) if draw(st.booleans()) else []
            after = tuple(... if c in hidden else value for c, value in enumerate(draw(row)))
        changes.append((kind, before, after, by))
    cut = draw(st.integers(0, len(changes)))
    return unique, clustered, rows, [part for part in (changes[:cut], changes[cut:]) if part]


@pytest.mark.parametrize("idempotent", [False, True])
@settings(deadline=None, max_examples=200)
@given(history=histories())
def test_as_a_list_of_rows(idempotent, history):
    unique, clustered, rows, batches = history
    partial = any(before and ... in before for changes in batches for _, before, _, _ in changes)
    replica = Replica(unique, clustered, idempotent, rows)
    engine = Engine(3, unique, clustered, idempotent, rows, ranked=partial)
    for changes in batches:
        try:
            replica.apply(changes)
        except Stopped as stopped:
            number, taken = stopped.args
            conflict = engine.apply(changes)
            assert (conflict.change, conflict.duplicate) == (number, taken is not None)
            assert taken is None or engine.store.unique_met == taken
            break
        assert engine.apply(changes) is None
        assert engine.store.noted == replica.noted
    assert engine.store.live == len(replica.rows)
    expected = [values for values, _ in sorted(replica.rows, key=lambda row: row[1])]
    if partial or clustered:
        assert engine.rows() == expected
    else:  # rows that are alike in all columns change places
        assert Counter(map(tuple, engine.rows())) == Counter(map(tuple, expected))
    if clustered:
        assert engine.rows(unique[0]) == [values for values, _ in sorted(replica.rows, key=replica.place)]


def test_room_grows_with_the_rows():
    """Slots, buckets, records and notes all start small; deleted rows' records are forgotten."""
    n = 5000
    replica, engine = Replica([(0,)], True, True), Engine(2, [(0,)], True, True)
    wide = [(i % 251, i // 251) for i in range(n)]
    inserts = [(INSERT, None, row, None) for row in wide]
    assert engine.apply(inserts) is None
    replica.apply(inserts)
    assert engine.store.noted == replica.noted and len(replica.noted) > 1000
    for _ in range(4):
        changes = [(DELETE, tuple(values), None, 0) for values, _ in replica.rows]
        changes += [(INSERT, None, row, None) for row in wide[:251]]
        assert engine.apply(changes) is None
        replica.apply(changes)
    assert engine.rows() == [values for values, _ in replica.rows]


def test_many_equal_rows():
    """Rows that are alike in all columns are as good as each other: each change takes one of them."""
    engine = Engine(2, [], False, False)
    assert engine.apply([(INSERT, None, (1, 2), None)] * 20_000) is None
    assert engine.apply([(DELETE, (1, 2), None, None)] * 19_999) is None
    assert engine.rows() == [[1, 2]]
    conflict = engine.apply([(DELETE, (1, 2), None, None)] * 2)
    assert (conflict.change, conflict.duplicate) == (1, False)
