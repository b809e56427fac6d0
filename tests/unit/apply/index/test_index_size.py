"""Keys that come and go: an index is as large as what lives in it at a time."""

import numpy as np
import pytest

from applier.apply.index import key_index
from applier.apply.tables import table_walk
from tests.support.replica_model import ABSENT, DELETE, INSERT, Event, Table, apply, model

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
