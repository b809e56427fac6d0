"""Gathering rows: values from the base, from images and by column, in chunks that memory can hold."""

import pytest

from applier.apply.output import image_reader, rows
from tests.support.replica_model import ABSENT, INSERT, UPDATE, Event, Table, apply, model

WIDE = Table("id int PRIMARY KEY, a longtext, b longtext, d date", ["int", "blob4", "blob4", "date"],
             (0, None, None, None), (0,))
ALL = (1, 1, 1, 1)


def long(number, size):
    return bytes((97 + number % 26,)) * size


@pytest.fixture
def chunks(monkeypatch):
    """Chunks of at most 2000 bytes a column; a list of how many rows each had."""
    monkeypatch.setattr(rows, "CHUNK_ROWS", 16)
    monkeypatch.setattr(image_reader, "CHUNK_BYTES", 2000)
    sizes, batches = [], rows.RowGatherer.batches

    def noted(self, pointers):
        for table in batches(self, pointers):
            sizes.append(table.num_rows)
            yield table

    monkeypatch.setattr(rows.RowGatherer, "batches", noted)
    return sizes


def shown(table, found):
    return sorted(table.shown(row) for row in found.values())


def test_long_values_make_chunks_smaller(tmp_path, chunks):
    """A column's strings stay within what a chunk may take; a single row may take more; then chunks grow again."""
    sizes = [10] * 20 + [900] * 8 + [50_000] + [10] * 40
    events = [Event(INSERT, None, ALL, [(None, (n, long(n, size), b"", None))]) for n, size in enumerate(sizes)]
    found = apply(WIDE, events, tmp_path)
    assert sorted(found.rows) == shown(WIDE, model(WIDE, [], events))
    assert sum(chunks) == len(sizes) and 1 in chunks and max(chunks[chunks.index(1):]) > 4
    at = 0
    for rows_of_chunk in chunks:
        assert sum(sizes[at:at + rows_of_chunk]) <= 2000 or rows_of_chunk == 1
        at += rows_of_chunk


def test_long_values_by_column(tmp_path, chunks):
    """DEF-R2: rows of several images each, whose chunks must be smaller too."""
    base = [(n, long(n, 300), long(n, 5), None) for n in range(20)]
    events = [Event(INSERT, None, ALL, [(None, (n, long(n, 700), long(n, 1), None)) for n in range(20, 30)]),
              Event(UPDATE, (1, 0, 0, 0), (0, 0, 1, 0), [
                  ((n, ABSENT, ABSENT, ABSENT), (ABSENT, ABSENT, long(n + 1, 400), ABSENT)) for n in range(0, 30, 2)])]
    found = apply(WIDE, events, tmp_path, base=base)
    assert sorted(found.rows) == shown(WIDE, model(WIDE, base, events))
    assert max(chunks) < 16


def test_rows_of_the_base_and_of_images_side_by_side(tmp_path, chunks):
    """In key order, whichever way a row came."""
    base = [(n, long(n, 3), None, None) for n in range(0, 200, 2)]
    events = [Event(INSERT, None, ALL, [(None, (n, None, long(n, 3), None)) for n in range(1, 100, 4)]),
              Event(UPDATE, ALL, ALL, [((n, long(n, 3), None, None), (n, b"new", b"", None)) for n in range(0, 60, 6)])]
    found = apply(WIDE, events, tmp_path, base=base)
    assert found.rows == shown(WIDE, model(WIDE, base, events))


def test_columns_of_a_table_of_one_column(tmp_path):
    """No column but the key, and images that have nothing else to say."""
    table = Table("id int PRIMARY KEY DEFAULT 4", ["int"], (4,), (0,))
    events = [Event(INSERT, None, (1,), [(None, (n,)) for n in (3, 1, 2)]),
              Event(INSERT, None, (0,), [(None, (ABSENT,))]),
              Event(UPDATE, (1,), (0,), [((1,), (ABSENT,))])]
    assert apply(table, events, tmp_path).rows == [(1,), (2,), (3,), (4,)]
