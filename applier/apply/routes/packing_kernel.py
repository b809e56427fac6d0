# mypy: allow-untyped-defs, no-check-untyped-defs
"""Copies many byte ranges: images from the log, and columns into and from payloads."""

import numpy as np

from keysearch.memory import copy_bytes, kernel


@kernel
def copy_parts(addresses, lengths, offsets, target):
    """Copy parts: lengths[i] bytes from addresses[i] to target + offsets[i]."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], np.int64(lengths[i]))
