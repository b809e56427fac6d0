# mypy: allow-untyped-defs, no-check-untyped-defs
"""JSON diffs that updates brought: each is a *node*, which leads to what its column held before.

A column's pointer to a node and the nodes before it are a chain down to a value in an image or in the base. A node has
at most one after it, since one row holds its pointer at a time. Nodes are never freed: a replica stops at a diff that
does not fit even where the row is overwritten or deleted later.
"""

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT, MAX_IMAGE_ID
from keysearch.memory import kernel
from keysearch.records import struct

DIFF_ID = MAX_IMAGE_ID + 2
"""The layout number that marks a pointer to a node."""

NODE, _, node_at = struct("node", **dict.fromkeys(("previous", "image", "column", "place", "row"), np.int64))
"""The pointer that it is on top of, the image it is in, its column, and the change's place (the offset of its event
in the file) and row."""


@kernel
def chain_lengths(pointers, nodes, lengths):
    """How many nodes each pointer's chain has."""
    mask = (1 << IMAGE_ID_SHIFT) - 1
    for i in range(pointers.shape[0]):
        pointer, length = pointers[i], 0
        while pointer >> IMAGE_ID_SHIFT == DIFF_ID:
            pointer = nodes[pointer & mask].previous
            length += 1
        lengths[i] = length


@kernel
def list_chains(pointers, nodes, offsets, numbers):
    """The numbers of each chain's nodes, the oldest first, into numbers[offsets[i]:offsets[i + 1]]; `pointers` becomes
    what the oldest is on top of."""
    mask = (1 << IMAGE_ID_SHIFT) - 1
    for i in range(pointers.shape[0]):
        pointer, at = pointers[i], offsets[i + 1]
        while at > offsets[i]:
            at -= 1
            numbers[at] = pointer & mask
            pointer = nodes[pointer & mask].previous
        pointers[i] = pointer
