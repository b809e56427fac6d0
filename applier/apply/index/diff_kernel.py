# mypy: allow-untyped-defs, no-check-untyped-defs
"""JSON diffs of updates: each is a *node*, which leads to the previous value of its column.

A column's pointer to a node and the nodes before it form a chain down to a value in an image or in the base. A node has
at most one successor, since one row holds its pointer at a time. Nodes are never freed: a replica stops at a diff that
does not fit even if the row is overwritten or deleted later.
"""

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import kernel
from keysearch.records import struct

DIFF_ID = MAX_IMAGE_ID + 2
"""The layout number that marks a pointer to a node."""

NODE, _, node_at = struct("node", **dict.fromkeys(("previous", "image", "column", "position", "row"), np.int64))
"""The pointer to the previous value, the image that contains the diff, its column, and the change: the offset of its
event in the file, and its row."""


@kernel
def chain_lengths(pointers, nodes, lengths, bases):
    """Write the number of nodes of each pointer's chain to `lengths`. Pointers ascend. A chain ends at the top of an
    earlier chain, whose number then is its base (-1: none)."""
    mask = (1 << IMAGE_ID_SHIFT) - 1
    for i in range(pointers.shape[0]):
        pointer, length, base = pointers[i], 0, -1
        if i and pointer == pointers[i - 1]:
            base = i - 1
        while base < 0 and pointer >> IMAGE_ID_SHIFT == DIFF_ID:
            pointer = nodes[pointer & mask].previous
            length += 1
            low, high = 0, i
            while low < high:
                middle = (low + high) // 2
                if pointers[middle] < pointer:
                    low = middle + 1
                else:
                    high = middle
            if low < i and pointers[low] == pointer:
                base = low
        lengths[i], bases[i] = length, base


@kernel
def list_chains(pointers, nodes, offsets, numbers, bases):
    """Write the numbers of each chain's nodes, the oldest first, to numbers[offsets[i]:offsets[i + 1]]; `pointers`
    becomes the pointers below the oldest nodes, over all bases."""
    mask = (1 << IMAGE_ID_SHIFT) - 1
    for i in range(pointers.shape[0]):
        pointer, at = pointers[i], offsets[i + 1]
        while at > offsets[i]:
            at -= 1
            numbers[at] = pointer & mask
            pointer = nodes[pointer & mask].previous
        pointers[i] = pointer if bases[i] < 0 else pointers[bases[i]]
