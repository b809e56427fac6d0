"""A replica that is a list of rows, and what feeds an index of the engine with the same changes.

A change is (kind, before-image, after-image, the number of the unique key that its row is searched by, None for what
the before-image holds); images are tuples of small numbers, NULL is None, a column that an image lacks is `...`.
"""

from types import SimpleNamespace

import numpy as np

from applier.apply.index.pointer_kernel import PATCH_ID, ROW_GONE
from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.changes import DELETE, INSERT, ImageLayout, ImageLayouts
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
        self.noted.append([number, ROW_GONE if what is None else what])

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
    """An index of the engine (`index`), fed with images that are tuples; a pointer is an image's number. `feed` gives
    it a batch, its images, and by which unique key each before-image is searched."""

    def __init__(self, columns, rows=()):
        self.columns, self.layouts, self.images = columns, ImageLayouts([None] * columns), {}
        self.base = [tuple(row) for row in rows]

    def apply(self, changes):
        before_rows, after_rows, images = (np.full(len(changes), -1, kind) for kind in (np.int32, np.int32, np.int64))
        befores, afters, bys = [], [], []
        for j, (kind, before, after, by) in enumerate(changes):
            if kind != INSERT:
                before_rows[j] = len(befores)
                befores.append(before)
                bys.append(by)
            if kind != DELETE:
                after_rows[j] = len(afters)
                layout = self.layouts.number(
                    ImageLayout(tuple(c for c, value in enumerate(after) if value is not ...)))
                images[j] = layout << IMAGE_ID_SHIFT | len(self.images)
                self.images[int(images[j])] = after
                afters.append(after)
        batch = SimpleNamespace(n=len(changes), kinds=np.array([change[0] for change in changes], np.uint8),
                                before_rows=before_rows, after_rows=after_rows, images=images)
        return self.feed(batch, befores, afters, bys)

    def rows(self, *order_by):
        found = []
        for pointer in self.index.pointers(*order_by).tolist():
            if pointer >> IMAGE_ID_SHIFT == PATCH_ID:
                pointers = self.index.patches.pointers[pointer & (1 << IMAGE_ID_SHIFT) - 1].tolist()
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
