"""A multiset of row images against a list of rows.

Rules: FIND (a scan: equal in every column), FIND-ROWS.
"""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.apply.index import multiset
from applier.apply.index.multiset import RowMultiset
from applier.binlog.rows.changes import DELETE, INSERT, UPDATE, ImageLayout, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, pointers_to
from keysearch.addresses import address_of
from tests.support.examples import examples

LAYOUTS = ImageLayouts([None])
WHOLE = LAYOUTS.number(ImageLayout((0,)))


def batch_of(before_images, before_lengths, images, image_lengths):
    """A batch of changes with these images (-1: a change has none)."""
    kinds = np.where(before_images < 0, INSERT, np.where(images < 0, DELETE, UPDATE)).astype(np.uint8)
    rows = [np.where(pointers < 0, -1, np.cumsum(pointers >= 0) - 1).astype(np.int32)
            for pointers in (before_images, images)]
    return SimpleNamespace(n=len(images), kinds=kinds, before_rows=rows[0], after_rows=rows[1], images=images,
                           before_images=before_images, before_lengths=before_lengths, image_lengths=image_lengths)


def applied(held, batch):
    """The conflict of a batch that a multiset applies."""
    held.prepare(batch, LAYOUTS)
    return held.run(batch)


class Rows:
    """A multiset fed with byte strings, and the list of rows that it must be like: [image, arrival number from 0 on].

    Every image lies somewhere else, at any address, with other bytes behind it."""

    def __init__(self):
        self.held, self.expected, self.arrived, self.memory = RowMultiset(1), [], 0, []

    def batch(self, changes):
        pointers = [[self._placed(image) for image in images] for images in zip(*changes, strict=True)]
        lengths = [np.array([len(image or b"") for image in images], np.int32)
                   for images in zip(*changes, strict=True)]
        before, after = (np.array(addresses, np.int64) for addresses in pointers)
        return batch_of(before, lengths[0], after, lengths[1])

    def _placed(self, image):
        if image is None:
            return -1
        kept = np.frombuffer(b"?" * (len(self.memory) % 8) + image + b"behind it" * 8, np.uint8)
        self.memory.append(kept)
        return pointers_to(WHOLE, address_of(kept) + (len(self.memory) - 1) % 8)

    def apply(self, changes):
        """The number of the change whose row is missing, None if none is; asserts that the list says the same."""
        conflict = applied(self.held, self.batch(changes))
        stopped = self._expect(changes)
        assert (None if conflict is None else conflict.change) == stopped
        return stopped

    def _expect(self, changes):
        for number, (before, after) in enumerate(changes):
            if before is None:
                self.expected.append([after, self.arrived])
                self.arrived += 1
                continue
            equal = [row for row in self.expected if row[0] == before]
            if not equal:
                return number
            row = equal[0]  # a server that scans the table meets it first
            if after is None:
                self.expected.remove(row)
            else:
                row[0] = after
        return None

    def check(self):
        pointers, places = self.held.rows()
        images = [self.image(addresses_of(pointer)) for pointer in pointers.tolist()]
        assert list(zip(images, places.tolist(), strict=True)) == list(map(tuple, self.expected))
        assert self.held.live == len(self.expected) + self.held.elsewhere
        return images

    def image(self, address):
        for kept in self.memory:
            if address_of(kept) <= address < address_of(kept) + len(kept):
                return kept[address - address_of(kept):].tobytes().removesuffix(b"behind it" * 8)
        raise AssertionError("a pointer to nothing")


IMAGES = st.sampled_from([b"", b"a", b"b", b"a\0", b"12345678", b"123456789", b"x" * 40, b"x" * 40 + b"y", b"z" * 300])
CHANGES = st.tuples(st.none(), IMAGES) | st.tuples(IMAGES, IMAGES) | st.tuples(IMAGES, st.none())


@settings(max_examples=examples(60))
@given(st.lists(st.lists(CHANGES, min_size=1, max_size=30), max_size=6), st.lists(IMAGES, max_size=30))
def test_rows_are_what_a_list_of_them_would_be(batches, first):
    rows = Rows()
    for changes in [[(None, image) for image in first]] * bool(first) + batches:
        if rows.apply(changes) is not None:
            break
    rows.check()


@pytest.mark.parametrize("values", [3, 40, 1000])
def test_many_rows_come_and_go(values):
    """Few values, so that many rows are alike, and so many that the tables grow; each row is mostly there."""
    dice, rows = np.random.default_rng(values), Rows()
    with mock.patch.object(multiset, "FIRST_ROWS", 64):
        rows.held = RowMultiset(1)
    for _ in range(4):
        changes, live = [], [image for image, _ in rows.expected]
        for _ in range(700):
            new = b"%d row" % dice.integers(values)
            what = dice.integers(3) if live else 0
            old = live.pop(dice.integers(len(live))) if what else None
            changes.append((old, None if what == 2 else new))
            live += [new] if what != 2 else []
        assert rows.apply(changes) is None
        rows.check()


def test_equal_rows_cost_no_more_than_others():
    """Half a million rows that are all alike: each is found at once."""
    rows = Rows()
    rows.memory.append(np.frombuffer(b"alike", np.uint8))
    image, n = pointers_to(WHOLE, address_of(rows.memory[0])), 500_000
    pointers, none = np.full(n, image), np.full(n, -1)
    lengths, nothing = np.full(n, 5, np.int32), np.zeros(n, np.int32)
    assert applied(rows.held, batch_of(none, nothing, pointers, lengths)) is None
    assert applied(rows.held, batch_of(pointers, lengths, none, nothing)) is None
    assert (rows.held.live, rows.held.inserted, rows.held.deleted) == (0, n, n)


def test_a_batch_goes_on_behind_a_row_that_was_elsewhere():
    """It is brought with the place that it had among all rows."""
    rows = Rows()
    rows.held.begin_after(5)
    batch = rows.batch([(None, b"new"), (b"old", b"newer"), (b"new", None), (b"older", None)])
    assert applied(rows.held, batch).change == 1
    picks = np.array([1])
    rows.held.add(batch.before_images[picks], batch.before_lengths[picks], np.array([3]))
    assert rows.held.run(batch).change == 3
    [pointer], [place] = rows.held.rows()
    assert (rows.image(addresses_of(pointer)), place) == (b"newer", 3)
    assert (rows.held.live, rows.held.arrived) == (5, 6)


def test_images_that_lack_a_column_are_not_all_of_a_row():
    layouts = ImageLayouts([None, None])
    numbers = [layouts.number(layout) for layout in (ImageLayout((0, 1)), ImageLayout((0,)), ImageLayout((0, 1), (1,)))]
    held = RowMultiset(2)

    def all_in(before, after):
        pointers = (np.array([-1 if n is None else pointers_to(numbers[n], 4096)], np.int64)
                    for n in (before, after))
        return held.holds_all(SimpleNamespace(**dict(zip(("before_images", "images"), pointers, strict=True))), layouts)

    assert all_in(0, 0) and all_in(None, 0) and all_in(0, None)
    assert not any((all_in(1, 0), all_in(0, 1), all_in(None, 1), all_in(1, None), all_in(0, 2)))
