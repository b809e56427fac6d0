"""Applies partial updates of JSON to documents as text, whole columns at once.

Where an UPDATE changes parts of a document, MySQL logs diffs of it (WL#2955), and a replica applies these to its own
document. Here documents are the text that MySQL prints, and stay text: only the containers that a diff's path leads
through are read, all else is copied as it stands.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from jsondiff.columns import bytes_and_offsets, validity_buffer
from jsondiff.diff import CORRUPT_DIFF, CORRUPT_EVENT, NOT_APPLICABLE
from jsondiff.kernels import apply_kernel as kernel
from jsondiff.kernels.apply_records import NODE, STATE, VALUES, Status
from jsondiff.kernels.binary_kernel import TEXT_BYTES_MORE, TEXT_BYTES_PER_BYTE, documents_to_text
from jsondiff.kernels.path_kernel import LEG
from jsondiff.kernels.wire_kernel import find_documents
from jsondiff.values import INVALID_TEXT, KEY_TOO_BIG, MAX_DEPTH, TOO_DEEP
from keysearch.addresses import address_of

_MEANING = {
    Status.NOT_JSON: (INVALID_TEXT, "the document is not JSON as MySQL prints it"),
    Status.BAD_FORMAT: (CORRUPT_EVENT, "a length points past the end of the diffs"),
    Status.BAD_OPERATION: (CORRUPT_DIFF, "its operation is unknown"),
    Status.BAD_PATH: (CORRUPT_DIFF, "its path is malformed, or may lead to several places"),
    Status.BAD_DATA: (CORRUPT_DIFF, "its data is not binary JSON"),
    Status.ON_NULL: (NOT_APPLICABLE, "the document is NULL"),
    Status.ON_ROOT: (NOT_APPLICABLE, "a diff cannot concern the whole document"),
    Status.NOT_THERE: (NOT_APPLICABLE, "the document does not have what its path leads to"),
    Status.IS_THERE: (NOT_APPLICABLE, "the document has the member that it would insert"),
    Status.TOO_DEEP: (TOO_DEEP, f"the document would be nested deeper than {MAX_DEPTH} levels"),
    Status.LONG_NAME: (KEY_TOO_BIG, "the name of a member has more than 65535 bytes"),
}
_BUFFER = {Status.HEAP_FULL: "heap", Status.NODES_FULL: "nodes", Status.SLOTS_FULL: "slots", Status.OUT_FULL: "out"}
_MAX_TEXT = _MAX_HEAP = 2**31 - 1
SLACK = 4096


@dataclass(frozen=True)
class Applied:
    """The results for n documents.

    texts: pa.string(), NULL for a document that was NULL and stayed so, and for one whose diffs failed. failed:
    int64[n], the index in `diffs` of the first value that could not be applied, or -1. numbers: int64[n], the 0-based
    number of the diff in that value, or -1. codes: uint8[n], its error, for `explain`; 0 for none."""

    texts: pa.Array
    failed: np.ndarray
    numbers: np.ndarray
    codes: np.ndarray


def explain(code: int) -> tuple[int, str]:
    """Return MySQL's error number and text for a code of Applied.codes that is not 0.

    1610: the bytes of the diffs contradict themselves (JD-SAFE1). 3649: an operation, a path or data that is invalid.
    3648: a diff that does not fit the document (JD-SAFE2, JD-NULL). 3157 and 3151: no server stores the result. 3140:
    the document is not JSON."""
    return _MEANING[Status(code)]


def apply_diffs(documents: pa.Array, diffs: pa.Array, chains: np.ndarray, bases: np.ndarray | None = None) -> Applied:
    """Apply to each document a chain of partial updates, one after another.

    documents: n texts as MySQL prints them (string or large_string), or NULL. diffs: column values of the log without
    their four bytes of length, each zero or more diffs (binary or large_binary, none NULL). chains: int64[n + 1];
    document i takes diffs[chains[i]:chains[i + 1]]. bases: int64[n]; where bases[i] is not -1, but below i, these come
    to what that document becomes, and documents[i] does not count. None: nowhere.

    A document without diffs is copied without being read. A value without diffs turns NULL into JSON null, and changes
    nothing else. Each value's diffs apply as a whole or not at all; if they do not, the document's chain ends. The
    texts are what a MySQL server would print, byte for byte. Raises OverflowError if they are more than 2 GB."""
    text, offsets = bytes_and_offsets(documents)
    values = _read_values(diffs)
    chains = np.array(chains, np.int64)
    n = len(documents)
    if len(chains) != n + 1 or chains[0] < 0 or chains[-1] > len(diffs) or (chains[1:] < chains[:-1]).any():
        raise ValueError(f"chains must be {n + 1} indices into {len(diffs)} diffs that do not decrease")
    bases = np.full(n, -1) if bases is None else np.ascontiguousarray(bases, np.int64)
    if len(bases) != n or (bases < -1).any() or (bases >= np.arange(n)).any():
        raise ValueError(f"bases must be {n} indices of documents before each")
    valid = documents.is_valid().to_numpy(zero_copy_only=False)
    kinds = (np.bool_, np.uint8, np.int64, np.int64)
    results = kernel.Results(np.zeros(n + 1, np.int64), *(np.zeros(n, kind) for kind in kinds))
    longest, more = int(np.diff(offsets).max(initial=0)), 4 * int(np.diff(values.offsets).max(initial=0))
    buffers: dict[str, np.ndarray] = {
        "heap": np.empty(2 * longest + more + SLACK, np.uint8),
        "nodes": np.empty(longest // 16 + SLACK, NODE),
        "slots": np.empty(longest // 16 + SLACK, np.int32),
        "out": np.empty(int(offsets[-1] - offsets[0]) + longest + len(values.texts) + SLACK, np.uint8),
    }
    legs = np.empty(MAX_DEPTH, LEG)
    [state] = states = np.zeros(1, STATE)
    state["values"], state["legs"] = values.record(), address_of(legs)
    documents = kernel.Documents(text, offsets, valid, chains, bases)
    while True:
        for name, buffer in buffers.items():
            owner = state if name == "out" else state["tree"]
            owner[name], owner[f"{name}_room"] = address_of(buffer), len(buffer)
        status = kernel.apply_chains(documents, address_of(states), results)
        if status == Status.DONE:
            return Applied(_texts(results, buffers["out"][: results.offsets[n]]),
                           results.failed, results.numbers, results.codes)
        name = _BUFFER[status]
        buffers[name] = enlarged(buffers[name], int(state["out_used"]) if name == "out" else 0, 2 * len(buffers[name]))
        if len(buffers["heap"]) > _MAX_HEAP:
            raise OverflowError("a document and its diffs are more than 2 GB")


@dataclass(frozen=True)
class _Values:
    """Column values of the log, and the text of the binary documents in them, as arrays. The fields are those of
    apply_records.VALUES."""

    bytes: np.ndarray
    offsets: np.ndarray
    first_documents: np.ndarray
    texts: np.ndarray
    spans: np.ndarray
    is_bad: np.ndarray

    def record(self) -> np.ndarray:
        """The record of these, VALUES[]."""
        return np.array(tuple(address_of(getattr(self, name)) for name in VALUES.names or ()), VALUES)


def _read_values(diffs: pa.Array) -> _Values:
    """Read column values of the log, and decode the binary documents in them."""
    data, offsets = bytes_and_offsets(diffs)
    firsts = np.empty(len(offsets), np.int64)
    bounds = np.zeros(2 * len(offsets) + 1, np.int64)
    count = find_documents(data, offsets, firsts, bounds)
    if 2 * count + 1 > len(bounds):
        bounds = np.zeros(2 * count + 1, np.int64)
        find_documents(data, offsets, firsts, bounds)
    bounds = bounds[: 2 * count + 1]
    is_document = np.zeros(2 * count, np.bool_)  # the bytes between two documents are taken as a NULL
    is_document[1::2] = True
    is_bad = np.zeros(count, np.bool_)
    ends = np.zeros(2 * count + 1, np.int64)
    texts = np.empty(2 * int(offsets[-1] - offsets[0]) + 8 * TEXT_BYTES_MORE, np.uint8)
    row = written = 0
    while True:
        row, written, error = documents_to_text(data, bounds, is_document, row, texts, written, ends)
        if row == 2 * count:
            return _Values(data, offsets, firsts, texts, ends[1:], is_bad)
        if error:
            is_bad[row // 2] = True
            row += 1
            ends[row] = written
        else:
            needed = TEXT_BYTES_PER_BYTE * int(bounds[row + 1] - bounds[row]) + TEXT_BYTES_MORE
            texts = enlarged(texts, written, max(2 * len(texts), written + needed))


def enlarged(buffer: np.ndarray, used: int, size: int) -> np.ndarray:
    """A buffer with the first `used` items of another, and room for `size`."""
    larger = np.empty((size, *buffer.shape[1:]), buffer.dtype)
    larger[:used] = buffer[:used]
    return larger


def _texts(results: kernel.Results, text: np.ndarray) -> pa.Array:
    if len(text) > _MAX_TEXT:
        raise OverflowError(f"{len(text)} bytes of JSON text do not fit into one column; apply fewer diffs at once")
    buffers = [validity_buffer(results.valid), pa.py_buffer(results.offsets.astype(np.int32)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(results.valid), buffers)
