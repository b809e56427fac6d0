# mypy: allow-untyped-defs, no-check-untyped-defs
"""Typed records that the kernels that apply diffs share, and their statuses."""

from enum import IntEnum

import numpy as np

from jsondiff.kernels.wire_kernel import DIFF
from keysearch.memory import inline
from keysearch.records import struct


class Status(IntEnum):
    """DONE, or which buffer is too short, or the error in a document, a diff, or the resulting document."""

    DONE = 0
    HEAP_FULL = 1
    NODES_FULL = 2
    SLOTS_FULL = 3
    OUT_FULL = 4
    NOT_JSON = 5
    BAD_FORMAT = 6
    BAD_PATH = 7
    BAD_DATA = 8
    ON_NULL = 9
    ON_ROOT = 10
    NOT_THERE = 11
    IS_THERE = 12
    TOO_DEEP = 13
    LONG_NAME = 14
    BAD_OPERATION = 15


@inline
def is_full(status):
    """Return whether a buffer is too short."""
    return Status.HEAP_FULL <= status <= Status.OUT_FULL


TREE, tree_at, _ = struct("tree", **dict.fromkeys((
    "heap", "nodes", "slots", "heap_room", "nodes_room", "slots_room", "heap_used", "nodes_used", "slots_used",
    "n_diffs"), np.int64))
"""A document (tree_kernel.py): addresses of its buffers; how many bytes, NODEs and slots these have room for; how many
are in use; how many diffs were applied since the document was loaded."""

NODE, _, node_at = struct("node", **dict.fromkeys((
    "start", "end", "key", "key_length", "children", "n_children", "room"), np.int32))
"""A value: its text is start:end in the heap. A member has its key there, without escapes. `children` is the first slot
of its children, UNREAD if it is only a text, and `room` how many slots are reserved for them."""
UNREAD = -1

VALUES, _, _ = struct("values", **dict.fromkeys(("bytes", "offsets", "first_documents", "texts", "spans", "is_bad"),
                                                np.int64))
"""Column values of the log, by addresses: their bytes; int64s, where each value begins in these; int64s, the number of
each one's first document; the text of all documents in them; a SPAN for each document; a byte for each, 1 if it is not
binary JSON."""

SPAN, _, span_at = struct("span", start=np.int64, end=np.int64)
"""Where a document is in the texts of VALUES."""

STATE, state_at, _ = struct("state", tree=TREE, values=VALUES, diff=DIFF, **dict.fromkeys((
    "legs", "out", "out_room", "out_used", "row"), np.int64))
"""The state of applying a chain of diffs. `diff` is the current one and `legs` the address of MAX_DEPTH LEGs of its
path; `out` is the output for texts, `out_used` bytes so far; `row` is the current document."""
