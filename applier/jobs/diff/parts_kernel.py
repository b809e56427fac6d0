# mypy: allow-untyped-defs, no-check-untyped-defs
"""Divides rows by a hash, so that equal rows are in the same part."""

import numpy as np

from applier.kernels.byte_strings import hash_bytes
from keysearch.memory import kernel


@kernel
def part_of_rows(offsets, data, parts, out):
    """Write the number of each row's part, below `parts`: int64[n]. Row i is the bytes offsets[i] … offsets[i + 1] from
    the address `data`."""
    for row in range(out.shape[0]):
        hashed = hash_bytes(data + offsets[row], offsets[row + 1] - offsets[row])
        out[row] = np.int64(hashed >> np.uint64(33)) % parts
