"""APP-R5 to APP-R7, AP-IDEM, FIND-ROWS: every two changes of keys, one after the other, against a list of rows."""

import itertools

import pytest

from applier.binlog.rows.changes import DELETE, INSERT, UPDATE
from tests.support.row_list import KeyEngine, Replica, Stopped

ROWS = [(1, 10), (2, 20)]
KEYS = (1, 2, 3)
CHANGES = [*((INSERT, None, (key, 5), None) for key in KEYS), *((DELETE, (key, ...), None, 0) for key in KEYS),
           *((UPDATE, (old, ...), (new, 7), 0) for old in KEYS for new in KEYS)]


def after(replica, changes):
    """What the changes note, and in strict mode which of them stops (its number, whether a key is taken); the rows."""
    try:
        replica.apply(changes)
    except Stopped as stopped:
        number, taken = stopped.args
        return number, taken is not None
    return replica.noted, replica.rows_by_place


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("form", ["int", "bytes"])
def test_two_changes(form, idempotent):
    for changes in itertools.product(CHANGES, repeat=2):
        engine = KeyEngine(form, 2, idempotent, ROWS)
        if (conflict := engine.apply(changes)) is not None:
            found = conflict.change, conflict.duplicate
        else:
            found = engine.index.noted.tolist(), engine.rows()
        assert found == after(Replica([(0,)], True, idempotent, ROWS, 2), changes), changes
