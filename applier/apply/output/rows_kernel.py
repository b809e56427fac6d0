# mypy: allow-untyped-defs, no-check-untyped-defs
"""Decodes the row images to which pointers lead, one output row per pointer, in the order of the pointers."""

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.image_kernel import FULL, read_image
from keysearch.memory import kernel, prefetch

_AHEAD = 16


@kernel
def decode_images(pointers, ends, programs, start, zero_dates, no_nulls):
    """Decode images start … n of `pointers`. Returns n if all were decoded, FULL - row if a string buffer is full, or
    else the number of the CORRUPT row.

    `ends` has the end of the memory that contains each image (its event was checked by the walk), `programs` the
    address of the image program of each layout number. `zero_dates` is the address of a counter.
    """
    mask = (np.int64(1) << IMAGE_ID_SHIFT) - 1
    n = pointers.shape[0]
    row = start
    while row < n:
        if row + _AHEAD < n:
            ahead = pointers[row + _AHEAD] & mask
            prefetch(ahead)
            prefetch(ahead + 64)
            prefetch(ahead + 128)
            prefetch(ahead + 192)
        pointer = pointers[row]
        done = read_image(pointer & mask, ends[row], ends[row], programs[pointer >> IMAGE_ID_SHIFT], row, zero_dates,
                          no_nulls)
        if done < 0:
            return FULL - row if done == FULL else row
        row += 1
    return n
