# mypy: allow-untyped-defs, no-check-untyped-defs
"""A JSON document in a row image as `mysqlbinlog -v` prints it: its text as a string of SQL, one that is a mere string
without JSON's quotes."""

import numpy as np

from applier.jobs.show.kernels.walk_records import Status
from jsondiff.binary_kernel import FRAME_BYTES, MAX_DEPTH, TEXT_BYTES_MORE, TEXT_BYTES_PER_BYTE, put_document
from jsondiff.string_kernel import is_utf8, unescape
from keysearch.memory import inline, load_u8, store_u32

STACK_BYTES = MAX_DEPTH * FRAME_BYTES
_NULL, _QUOTE = np.uint32(int.from_bytes(b"null", "little")), 34


@inline
def put_json(at, length, limit, state):
    """The text of a document into the state's buffer: (where it begins, its length), or BAD_VALUE, or
    NEED_DOCUMENT with what it may take in `wanted_bytes`. Bytes up to `limit` may be read."""
    text = state.document
    most = length * TEXT_BYTES_PER_BYTE + TEXT_BYTES_MORE
    if most > state.document_bytes:
        state.wanted_bytes = most
        return Status.NEED_DOCUMENT, np.int64(0)
    if length == 0:
        store_u32(text, _NULL)
        return text, np.int64(4)
    end = put_document(at, at + length, limit, text, state.stack)
    if end < 0 or not is_utf8(text, end):
        state.detail = at
        state.wanted_bytes = length
        return Status.BAD_VALUE, np.int64(0)
    if load_u8(text) != _QUOTE:
        return text, end - text
    return text + 1, unescape(text + 1, end - 1, text + 1) - text - 1
