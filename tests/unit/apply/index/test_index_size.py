"""Keys that come and go: an index is as large as what lives in it at a time."""

import numpy as np
import pytest

from applier.apply.index import column_pointers, key_index
from applier.apply.tables import table_walk
from tests.support.replica_model import ABSENT, DELETE, INSERT, UPDATE, Event, Table, apply, model

TEXT = Table("k varbinary(255), a int, PRIMARY KEY (k)", ["varchar(255)", "int"], (b"", None), (0,))
INT = Table("id bigint, a int, PRIMARY KEY (id)", ["bigint", "int"], (0, None), (0,))


@pytest.mark.parametrize("table, key", [(TEXT, lambda n: b"%06d" % n * (1 + n % 5)), (INT, lambda n: n)])
def test_a_queue_does_not_grow_with_all_that_went_through_it(tmp_path, monkeypatch, table, key):
    """A hundred rows at a time, five thousand in all."""
    monkeypatch.setattr(key_index, "FIRST_KEYS", 64)
    monkeypatch.setattr(table_walk, "BATCH_ROWS", 128)
    sizes, full = [], np.full

    def noted(shape, *arguments):
        sizes.append(shape)
        return full(shape, *arguments)

    monkeypatch.setattr(key_index.np, "full", noted)
    events = []
    for first in range(0, 5_000, 100):
        events.append(Event(INSERT, None, (1, 1), [(None, (key(n), n)) for n in range(first, first + 100)]))
        if first:
            gone = [((key(n), ABSENT), None) for n in range(first - 100, first)]
            events.append(Event(DELETE, (1, 0), None, gone))
    found = apply(table, events, tmp_path)
    assert len(found.rows) == 100 and sorted(found.rows) == sorted(model(table, [], events).values())
    assert max(shape[0] for shape in sizes if isinstance(shape, tuple)) <= 2048


def test_deleted_rows_leave_their_column_pointers_to_others(tmp_path, monkeypatch):
    """Updates with one column give each row some: of a hundred rows at a time, five thousand in all."""
    rooms, make_larger = [], column_pointers.ColumnPointers.grow

    def noted(pointers):
        make_larger(pointers)
        rooms.append(len(pointers.pointers))

    monkeypatch.setattr(column_pointers.ColumnPointers, "grow", noted)
    events = []
    for first in range(0, 5_000, 100):
        numbers = range(first, first + 100)
        events.append(Event(INSERT, None, (1, 1), [(None, (n, 0)) for n in numbers]))
        events.append(Event(UPDATE, (1, 0), (0, 1), [((n, ABSENT), (ABSENT, n)) for n in numbers]))
        events.append(Event(DELETE, (1, 0), None, [((n, ABSENT), None) for n in numbers[:-1]]))
    found = apply(INT, events, tmp_path)
    assert sorted(found.rows) == [(n, n) for n in range(99, 5_000, 100)]
    assert 50 < max(rooms) <= 512
