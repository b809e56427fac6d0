"""Dealing changes out for a shuffle: which range a key is in, and row images copied out of the log."""

import numpy as np

from applier.apply.byte_index_kernel import compare_bytes
from keysearch.memory import copy_bytes, kernel


@kernel
def copy_images(addresses, lengths, offsets, target):
    """Copy images, lengths[i] bytes of image i from addresses[i], to offsets[i] from the address `target`."""
    for i in range(addresses.shape[0]):
        copy_bytes(target + offsets[i], addresses[i], np.int64(lengths[i]))


@kernel
def find_ranges(offsets, data, bound_offsets, bound_data, ranges):
    """How many of the ascending bounds each key reaches (memcmp order), so the number of its range: int64[n].

    Key i is the bytes offsets[i] … offsets[i + 1] from the address `data`; bounds likewise.
    """
    for i in range(ranges.shape[0]):
        at, length = data + offsets[i], offsets[i + 1] - offsets[i]
        low, high = 0, bound_offsets.shape[0] - 1
        while low < high:
            middle = (low + high) >> 1
            start = bound_offsets[middle]
            if compare_bytes(bound_data + start, bound_offsets[middle + 1] - start, at, length) <= 0:
                low = middle + 1
            else:
                high = middle
        ranges[i] = low
