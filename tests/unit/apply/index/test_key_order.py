import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from applier.apply.index.key_index import ByteIndex, IntIndex
from keysearch.keybytes import KeyBytes


def key_bytes(keys: list[bytes]) -> KeyBytes:
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    return KeyBytes(offsets, np.frombuffer(b"".join(keys) + bytes(32), np.uint8)[: offsets[-1]])


@example([bytes(7) + bytes([last]) for last in (1, 0, 3, 2)])
@given(st.lists(st.binary(max_size=40) | st.builds(bytes.__add__, st.just(bytes(33)), st.binary(max_size=3)),
                unique=True))
def test_byte_keys_come_out_in_memcmp_order(rows):
    """Rows of a unit are written sorted by the key, also where keys share their first words or end in zero bytes."""
    index = ByteIndex(1)
    index.seed(key_bytes(rows), np.arange(len(rows)))
    assert [rows[row] for row in index.pointers().tolist()] == sorted(rows)


@pytest.mark.parametrize("keys", [[], [5], [3, -1, 2**62, -(2**63)]])
def test_integer_keys_come_out_in_their_order(keys):
    index = IntIndex(1)
    index.seed(np.array(keys, np.int64), np.arange(len(keys)))
    assert [keys[row] for row in index.pointers().tolist()] == sorted(keys)
