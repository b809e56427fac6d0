"""Partial updates of JSON applied to documents as text, for whole columns at once.

Where an UPDATE changes parts of a document, MySQL logs diffs of it (WL#2955), and a replica applies these to what it
has. Here the documents are the text that MySQL prints, and stay text: only the containers that a diff's path leads
through are looked into, all else is copied as it stands. The slow and obvious way is wire.apply.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jsondiff import apply_kernel as kernel
from jsondiff import tree_kernel as tree
from jsondiff.binary_kernel import TEXT_BYTES_MORE, TEXT_BYTES_PER_BYTE, documents_to_text
from jsondiff.columns import bytes_and_offsets, validity_buffer
from jsondiff.diff import CORRUPT_EVENT, NOT_APPLICABLE
from jsondiff.values import INVALID_TEXT, KEY_TOO_BIG, MAX_DEPTH, TOO_DEEP
from jsondiff.wire_kernel import find_documents
from keysearch.addresses import address_of

_MEANING = {
    tree.NOT_JSON: (INVALID_TEXT, "the document is not JSON as MySQL prints it"),
    kernel.BAD_FORMAT: (CORRUPT_EVENT, "an operation is unknown, or a length points past the end of the diffs"),
    kernel.BAD_PATH: (NOT_APPLICABLE, "its path is none, or none to one place"),
    kernel.BAD_DATA: (NOT_APPLICABLE, "its data is not binary JSON"),
    kernel.ON_NULL: (NOT_APPLICABLE, "the document is NULL"),
    kernel.ON_ROOT: (NOT_APPLICABLE, "a diff cannot concern the whole document"),
    kernel.NOT_THERE: (NOT_APPLICABLE, "the document does not have what its path leads to"),
    kernel.IS_THERE: (NOT_APPLICABLE, "the document has the member that it would insert"),
    kernel.TOO_DEEP: (TOO_DEEP, f"the document would be nested deeper than {MAX_DEPTH} levels"),
    kernel.LONG_NAME: (KEY_TOO_BIG, "the name of a member has more than 65535 bytes"),
}
_MAX_TEXT = _MAX_HEAP = 2**31 - 1
SLACK = 4096


@dataclass(frozen=True)
class Applied:
    """What became of n documents.

    texts: pa.string(), NULL for a document that was NULL and stayed so, and for one whose diffs failed.
    failed: int64[n], the index in `diffs` of the first value that could not be applied, -1 where all were.
    numbers: int64[n], which of the diffs in that value it was, from 0 on, or -1.
    codes: uint8[n], what was wrong with it, for `explain`; 0 where nothing was."""

    texts: pa.Array
    failed: np.ndarray
    numbers: np.ndarray
    codes: np.ndarray


def explain(code: int) -> tuple[int, str]:
    """MySQL's error number and what is wrong, for a code of Applied.codes but 0.

    1610: the bytes of the diffs contradict themselves (JD-SAFE1). 3648: an invalid path or invalid data, or that the
    document does not go with (JD-SAFE2, JD-NULL). 3157 and 3151: a result that no server stores. 3140: the document."""
    return _MEANING[code]


def apply_diffs(documents: pa.Array, diffs: pa.Array, chains: np.ndarray) -> Applied:
    """Applies to each document a chain of partial updates, one after another.

    documents: n texts as MySQL prints them (string or large_string), or NULL. diffs: column values of the log without
    their four bytes of length, each zero or more diffs (binary or large_binary, none NULL). chains: int64[n + 1];
    document i takes diffs[chains[i]:chains[i + 1]].

    A document without diffs is passed on unseen. A value of no diffs makes JSON null of NULL, and changes nothing else.
    Each value's diffs apply as a whole or not at all, and where they do not, the document's chain ends. The texts are
    what a MySQL server would print, byte for byte. Raises OverflowError if they are more than 2 GB."""
    text, offsets = bytes_and_offsets(documents)
    values = _read_values(diffs)
    chains = np.array(chains, np.int64)
    n = len(documents)
    if len(chains) != n + 1 or chains[0] < 0 or chains[-1] > len(diffs) or (chains[1:] < chains[:-1]).any():
        raise ValueError(f"chains must be {n + 1} indices into {len(diffs)} diffs that do not decrease")
    valid = documents.is_valid().to_numpy(zero_copy_only=False)
    kinds = (np.bool_, np.uint8, np.int64, np.int64)
    results = kernel.Results(np.zeros(n + 1, np.int64), *(np.zeros(n, kind) for kind in kinds))
    longest, more = int(np.diff(offsets).max(initial=0)), 4 * int(np.diff(values.offsets).max(initial=0))
    buffers: list[np.ndarray] = [
        np.empty(2 * longest + more + SLACK, np.uint8),
        np.empty((longest // 16 + SLACK, tree.NODE_FIELDS), np.int32),
        np.empty(longest // 16 + SLACK, np.int32),
    ]  # in the order of a tree's fields: heap, nodes, slots
    scratch = np.empty(kernel.SCRATCH_BYTES, np.uint8)
    out = np.empty(int(offsets[-1] - offsets[0]) + longest + len(values.texts) + SLACK, np.uint8)
    row = to = 0
    while True:
        fields = _tree_of(buffers)
        row, to = kernel.apply_chains(
            text, offsets, valid, values.fields(), chains, row, fields, scratch, out, to, results
        )
        if row == n:
            break
        short = fields[tree.SHORT]
        if short == tree.OUT:
            out = enlarged(out, to, 2 * len(out))
        else:
            buffers[short] = enlarged(buffers[short], 0, 2 * len(buffers[short]))
        if len(buffers[tree.HEAP]) > _MAX_HEAP:
            raise OverflowError("a document and its diffs are more than 2 GB")
    return Applied(_texts(results, out[:to]), results.failed, results.numbers, results.codes)


@dataclass(frozen=True)
class _Values:
    """Column values of the log, and the text of the binary documents in them: what apply_kernel calls their fields."""

    values: np.ndarray
    offsets: np.ndarray
    firsts: np.ndarray
    texts: np.ndarray
    ends: np.ndarray
    bad: np.ndarray

    def fields(self) -> np.ndarray:
        arrays = self.values, self.offsets, self.firsts, self.texts, self.ends, self.bad
        return np.array([address_of(array) for array in arrays], np.int64)


def _tree_of(buffers: list[np.ndarray]) -> np.ndarray:
    """The fields of an empty tree."""
    fields = np.zeros(tree.TREE_FIELDS, np.int64)
    fields[: tree.HEAP_ROOM] = [address_of(buffer) for buffer in buffers]
    fields[tree.HEAP_ROOM : tree.HEAP_USED] = [len(buffer) for buffer in buffers]
    return fields


def _read_values(diffs: pa.Array) -> _Values:
    """Column values of the log, with the binary documents in them as text."""
    data, offsets = bytes_and_offsets(diffs)
    firsts = np.empty(len(offsets), np.int64)
    bounds = np.zeros(2 * len(offsets) + 1, np.int64)
    count = find_documents(data, offsets, firsts, bounds)
    if 2 * count + 1 > len(bounds):
        bounds = np.zeros(2 * count + 1, np.int64)
        find_documents(data, offsets, firsts, bounds)
    bounds = bounds[: 2 * count + 1]
    is_document = np.zeros(2 * count, np.bool_)  # what is between two of them is as if it were NULL
    is_document[1::2] = True
    bad = np.zeros(count, np.bool_)
    ends = np.zeros(2 * count + 1, np.int64)
    texts = np.empty(2 * int(offsets[-1] - offsets[0]) + 8 * TEXT_BYTES_MORE, np.uint8)
    row = written = 0
    while True:
        row, written, error = documents_to_text(data, bounds, is_document, row, texts, written, ends)
        if row == 2 * count:
            return _Values(data, offsets, firsts, texts, ends, bad)
        if error:
            bad[row // 2] = True
            row += 1
            ends[row] = written
        else:
            needed = TEXT_BYTES_PER_BYTE * int(bounds[row + 1] - bounds[row]) + TEXT_BYTES_MORE
            texts = enlarged(texts, written, max(2 * len(texts), written + needed))


def enlarged(buffer: np.ndarray, used: int, size: int) -> np.ndarray:
    """A buffer of this size, with the first `used` items of the one given."""
    larger = np.empty((size, *buffer.shape[1:]), buffer.dtype)
    larger[:used] = buffer[:used]
    return larger


def _texts(results: kernel.Results, text: np.ndarray) -> pa.Array:
    if len(text) > _MAX_TEXT:
        raise OverflowError(f"{len(text)} bytes of JSON text do not fit into one column; apply fewer diffs at once")
    buffers = [validity_buffer(results.valid), pa.py_buffer(results.offsets.astype(np.int32)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(results.valid), buffers)
