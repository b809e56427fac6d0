"""Changes of small rows, for the reference replica and for an index of the engine.

A change is (kind, before-image, after-image, the number of the unique key that its row is searched by, None for what
the before-image holds); images are tuples of small numbers, NULL is None, a column that an image omits is `...`.
"""

from types import SimpleNamespace

import numpy as np

from applier.apply.index.key_index import ByteIndex, ImageKeys, IntIndex
from applier.apply.search.conflicts import ROW_GONE
from applier.binlog.rows.changes import DELETE, INSERT, ImageLayout, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of, pointers_to
from keysearch.keybytes import KeyBytes
from tests.support.replica import Column, Key, Refused, Table

DEFAULT = 9
"""The default of a column that an insert omits."""


class Stopped(Exception):
    """The change's number, and the number of the unique key with the duplicate or None."""


class Replica:
    """The reference replica (replica.py) of a table of such rows. unique: columns of each unique key, of which the
    first is the primary key if the table is `clustered`; the others may hold NULL."""

    def __init__(self, unique, clustered, idempotent, rows=(), columns=3):
        primary = unique[0] if clustered else ()
        self.keys = [Key("PRIMARY KEY" if columns is primary else "UNIQUE KEY", tuple(map(str, columns)))
                     for columns in unique]
        self.table = Table("t", [Column(str(c), "", c not in primary, DEFAULT) for c in range(columns)], self.keys,
                           idempotent, rows=list(map(named, rows)))
        self.noted = []

    def apply(self, changes):
        """Apply changes; `noted` has the number of each suppressed change, and of the unique key with the duplicate, or
        ROW_GONE."""
        self.noted = []
        for number, (_, before, after, _) in enumerate(changes):
            self.table.suppressed.clear()
            try:
                self.table.apply(*(None if image is None else named(image) for image in (before, after)))
            except Refused as refused:
                raise Stopped(number, refused.key and self.keys.index(refused.key)) from None
            self.noted += [[number, ROW_GONE if each.key is None else self.keys.index(each.key)]
                           for each in self.table.suppressed]

    @property
    def rows(self):
        """In the order in which they came."""
        return [list(row.values()) for row in self.table.rows]

    @property
    def rows_by_place(self):
        """In the order of the primary key, if there is one."""
        return [list(row.values()) for row in sorted(self.table.rows, key=self.table.place)]


def named(row):
    """A row or an image, by column."""
    return {str(c): value for c, value in enumerate(row) if value is not ...}


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
                images[j] = pointers_to(layout, len(self.images))
                self.images[int(images[j])] = after
                afters.append(after)
        batch = SimpleNamespace(n=len(changes), kinds=np.array([change[0] for change in changes], np.uint8),
                                before_rows=before_rows, after_rows=after_rows, images=images)
        return self.feed(batch, befores, afters, bys)

    def run(self, batch):
        """Have the index apply a batch that it was given."""
        conflict = self.index.run(batch)
        self.index.finish_batch(batch)
        return conflict

    def rows(self, *order_by):
        rows = self.index.column_pointers.by_column(self.index.pointers(*order_by)).tolist()
        return [[self.value(pointer, column) for column, pointer in enumerate(row)] for row in rows]

    def value(self, pointer, column):
        row = self.base[pointer] if layouts_of(pointer) == 0 else self.images[pointer]
        return DEFAULT if row[column] is ... else row[column]


class KeyEngine(Engine):
    """An index by column 0, of keys of a form ("int", "bytes") from `low` to before `high`."""

    def __init__(self, form, columns, idempotent, rows=(), low=None, high=None):
        super().__init__(columns, rows)
        self.form = form
        if form == "bytes":
            low, high = (None if bound is None else key(bound) for bound in (low, high))
        self.index = (IntIndex if form == "int" else ByteIndex)(columns, low, high, idempotent=idempotent)
        if rows:
            self.index.seed(self.encoded([row[0] for row in rows]), np.arange(len(rows)))

    def encoded(self, values):
        return np.array(values, np.int64) if self.form == "int" else keys(values)

    def feed(self, batch, befores, afters, bys):
        old = np.full(len(afters), -1)
        old[batch.after_rows[batch.after_rows >= 0]] = batch.before_rows[batch.after_rows >= 0]
        absent = np.array([after[0] is ... for after in afters], np.bool_)
        new = [after[0] if after[0] is not ... else DEFAULT if old[row] < 0 else befores[old[row]][0]
               for row, after in enumerate(afters)]
        before, after = self.encoded([before[0] for before in befores]), self.encoded(new)
        kept = None
        if self.form == "int" and absent.any():
            after[absent & (old >= 0)] = 77  # nothing that counts: an update without a key keeps it
            kept = np.packbits(absent & (old >= 0), bitorder="little")
        self.index.prepare(batch, self.layouts, ImageKeys(before, after, kept))
        return self.run(batch)


def key(value):
    return b"\0" if value is None else b"\1" + bytes([value]) * (1 + 7 * (value % 3))


def keys(values):
    texts = [key(value) for value in values]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    data = np.frombuffer(b"".join(texts) + bytes(32), np.uint8)
    return KeyBytes(offsets, data[:offsets[-1]])
