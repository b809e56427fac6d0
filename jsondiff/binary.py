"""Binary JSON, as MySQL stores and logs it, to the text that the server prints: whole columns at once.

The format is documented in binary_kernel.py. The text is the server's own, byte for byte: members in stored order,
", " and ": " between, the shortest digits of doubles, opaque values as WL#2955's documents have them.
"""

import numpy as np
import pyarrow as pa

from jsondiff.columns import bytes_and_offsets, validity_buffer
from jsondiff.kernels import binary_kernel as kernel
from jsondiff.kernels.binary_kernel import Status
from jsondiff.kernels.utf8_kernel import is_utf8

_WHAT = {
    Status.TRUNCATED: "a length or offset points past the end of its container",
    Status.UNKNOWN_TYPE: "unknown value type",
    Status.BAD_LITERAL: "a literal is neither null, true nor false",
    Status.TOO_DEEP: f"nested deeper than {kernel.MAX_DEPTH} levels",
    Status.OVERLAP: "values overlap",
    Status.BAD_DOUBLE: "a double is infinite or not a number",
    Status.BAD_OPAQUE: "a DECIMAL or temporal value is malformed",
}
_MAX_TEXT = 2**31 - 1


class JsonError(ValueError):
    """A value is not a binary JSON document. `row` is its index in the column, `what` is the error."""

    def __init__(self, what: str, row: int):
        super().__init__(what, row)
        self.what, self.row = what, row

    def __str__(self) -> str:
        return f"row {self.row} is not a valid binary JSON document: {self.what}"


def to_text(column: pa.Array) -> pa.Array:
    """Decodes a column of binary JSON documents.

    column: pa.binary() or pa.large_binary(). Returns pa.string() of the same length; NULL stays null, and a value
    without bytes is JSON's 'null', as on the server. Raises JsonError at the first bad document, OverflowError if the
    text is more than 2 GB."""
    data, offsets = bytes_and_offsets(column)
    validity = column.is_valid().to_numpy(zero_copy_only=False)
    text_offsets = np.zeros(len(column) + 1, np.int64)
    text = np.empty(2 * int(offsets[-1] - offsets[0]) + 8 * kernel.TEXT_BYTES_MORE, np.uint8)
    row = written = 0
    while True:
        row, written, error = kernel.documents_to_text(data, offsets, validity, row, text, written, text_offsets)
        if error:
            raise JsonError(_WHAT[Status(error)], row)
        if row == len(column):
            break
        needed = kernel.TEXT_BYTES_PER_BYTE * int(offsets[row + 1] - offsets[row]) + kernel.TEXT_BYTES_MORE
        larger = np.empty(max(2 * len(text), written + needed), np.uint8)
        larger[:written] = text[:written]
        text = larger
    if written > _MAX_TEXT:
        raise OverflowError(f"{written} bytes of JSON text do not fit into one column; decode fewer rows at once")
    return _checked_utf8(column, text_offsets.astype(np.int32), text[:written])


def _checked_utf8(column: pa.Array, offsets: np.ndarray, text: np.ndarray) -> pa.Array:
    """The column's text. Raises JsonError if a string of a document is not UTF-8."""
    validity = validity_buffer(column.is_valid().to_numpy(zero_copy_only=False))
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(text)]
    if not is_utf8(text):  # each document's text begins and ends with ASCII, so none continues in the next one
        values = enumerate(pa.Array.from_buffers(pa.binary(), len(column), buffers))
        bad = (row for row, value in values if value.is_valid and not _is_utf8(value.as_py()))
        raise JsonError("a string is not UTF-8", next(bad))
    return pa.Array.from_buffers(pa.string(), len(column), buffers)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
