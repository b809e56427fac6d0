# mypy: allow-untyped-defs, no-check-untyped-defs
"""Writes text at an address. Like all writers of text, this one returns where its text ends; the caller has made room.
(Numbers are written by jsondiff.kernels.numbers.)"""

import numpy as np

from keysearch.memory import inline, store_u8


@inline
def put_byte(out, byte):
    store_u8(out, np.uint8(byte))
    return out + 1
