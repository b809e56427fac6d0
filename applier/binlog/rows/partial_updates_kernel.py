# mypy: allow-untyped-defs, no-check-untyped-defs
"""Measures the length of a column's values in images of the log."""

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT
from applier.binlog.rows.value_kernel import little_endian
from keysearch.memory import kernel, load_u8

_ADDRESS = (np.int64(1) << IMAGE_ID_SHIFT) - 1


@kernel
def value_lengths(pointers, column, present, sizes, lengths):
    """Write the sizes of a column's values, without length prefixes, to `lengths`, given pointers to images with the
    column; 0 for NULL. present: bool[layouts, columns]; sizes: int64[columns, 2], bytes of a value, or of its length
    prefix."""
    for i in range(pointers.shape[0]):
        layout, nulls = pointers[i] >> IMAGE_ID_SHIFT, pointers[i] & _ADDRESS
        n_present = np.int64(0)
        for other in range(present.shape[1]):
            n_present += present[layout, other]
        at, bit, length = nulls + ((n_present + 7) >> 3), np.int64(0), np.int64(0)
        for other in range(column + 1):
            if not present[layout, other]:
                continue
            length = np.int64(0)
            if load_u8(nulls + (bit >> 3)) >> np.uint8(bit & 7) & 1 == 0:
                length, prefix = sizes[other, 0], sizes[other, 1]
                if prefix:
                    length = np.int64(little_endian(at, prefix))
                at += prefix + length
            bit += 1
        lengths[i] = length
