# mypy: allow-untyped-defs, no-check-untyped-defs
"""Copies of many byte ranges: images out of the log, and columns into payloads and out of them."""

import numpy as np

from keysearch.memory import copy_bytes, kernel


@kernel
def copy_parts(addresses, lengths, offsets, target):
    """Copy parts, lengths[i] bytes of part i from addresses[i], to offsets[i] from the address `target`."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], np.int64(lengths[i]))
