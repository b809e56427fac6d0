# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernels of indexes by one key (key_index_kernel) with rows that wait for later effects of foreign keys."""

from applier.apply.foreign_keys import watched_kernel
from applier.apply.index import byte_keys_kernel, int_keys_kernel
from applier.apply.index.key_index_kernel import changes_by
from applier.apply.index.pointer_kernel import state_at
from keysearch.memory import kernel

_apply_ints = changes_by(int_keys_kernel, watched_kernel)
_apply_bytes = changes_by(byte_keys_kernel, watched_kernel)


@kernel
def apply_watched_ints(n, index_address, state_address):
    return _apply_ints(n, int_keys_kernel.index_at(index_address), state_at(state_address))


@kernel
def apply_watched_bytes(n, index_address, state_address):
    return _apply_bytes(n, byte_keys_kernel.index_at(index_address), state_at(state_address))
