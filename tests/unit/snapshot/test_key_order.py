"""The order of a lake's rows by their keys, whole numbers and others."""

import numpy as np
import pyarrow as pa
import pytest

from applier.snapshot.lake.key_order import KeyOrder
from keysearch.keybytes import encode_keys

INTS = pa.table({"id": pa.array([3, -1, 2]), "n": [0, 0, 0]})
TEXTS = pa.table({"a": ["b", "a", "b"], "n": pa.array([1, 9, -2], pa.int32())})
BY_INT, BY_TEXT = KeyOrder(("id",), "int"), KeyOrder(("a", "n"), "bytes", ("", ""))


@pytest.mark.parametrize(("key", "rows", "order"), [(BY_INT, INTS, [1, 2, 0]), (BY_TEXT, TEXTS, [1, 2, 0])])
def test_rows_in_the_order_of_their_keys(key, rows, order):
    assert key.order(rows).tolist() == order
    with pytest.raises(ValueError, match="two rows have one key"):
        key.order(pa.concat_tables([rows, rows.slice(1, 1)]))


def test_the_number_of_bounds_that_a_key_reaches():
    """A bound is the least key of what follows it."""
    assert BY_INT.numbers(INTS, [-1, 3]).tolist() == [2, 1, 1]
    bounds = encode_keys([pa.array(["a", "b"]), pa.array([9, 0], pa.int32())], [False, False])
    assert BY_TEXT.numbers(TEXTS, [bounds[0], bounds[1]]).tolist() == [2, 1, 1]
    assert BY_INT.numbers(INTS, []).dtype == np.int64
