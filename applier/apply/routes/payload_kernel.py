# mypy: allow-untyped-defs, no-check-untyped-defs
"""Row images copied out of the log, for a shuffle."""

import numpy as np

from keysearch.memory import copy_bytes, kernel


@kernel
def copy_images(addresses, lengths, offsets, target):
    """Copy images, lengths[i] bytes of image i from addresses[i], to offsets[i] from the address `target`."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], np.int64(lengths[i]))
