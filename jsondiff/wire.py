"""Diffs in the binlog format, in the after-image of a PARTIAL_UPDATE_ROWS event (WL#2955, section 4; JD-WIRE).

    column  = length (4 bytes), diff*
    diff    = operation (1 byte), length, path, and unless the operation is REMOVE: length, document
    length  = a byte up to 250, or 252, 253 or 254 and then 2, 3 or 8 bytes (net_field_length)

All little-endian. The document is binary JSON. The functions below take and return diffs without the column's length in
front.
"""

from collections.abc import Iterable

from jsondiff.decode import decode as decode_document
from jsondiff.diff import CORRUPT_DIFF, CORRUPT_EVENT, NOT_APPLICABLE, Diff, DiffError, Operation
from jsondiff.diff import apply as apply_diffs
from jsondiff.encode import encode as encode_document
from jsondiff.path import PathError, parse
from jsondiff.values import DocumentError

_WIDTHS = {252: 2, 253: 3, 254: 8}


def decode(data: bytes) -> list[Diff]:
    """Return the diffs of one column's value.

    Raises DiffError: 1610 if a length is invalid (JD-SAFE1), 3649 if an operation is unknown, a path does not lead to
    one value, or data is not a document (JD-SAFE2)."""
    diffs: list[Diff] = []
    at = 0
    while at < len(data):
        diff, at = _diff(data, at, len(diffs) + 1)
        diffs.append(diff)
    return diffs


def encode(diffs: Iterable[Diff]) -> bytes:
    """The diffs as one column's value. Raises DocumentError for values that no document has, ValueError for an unknown
    operation."""
    out = bytearray()
    for diff in diffs:
        out.append(Operation(diff.operation))
        parts = [str(diff.path).encode()]
        if diff.operation != Operation.REMOVE:
            parts.append(encode_document(diff.value))
        for part in parts:
            out += packed_length(len(part)) + part
    return bytes(out)


def apply(document: bytes | None, data: bytes) -> bytes:
    """The binary document after a column's diffs. None is SQL's NULL, to which no diff applies; but a statement that
    changed nothing logs an empty list of diffs, and then a replica turns NULL into JSON's null.

    Raises DiffError (JD-SAFE1, JD-SAFE2, JD-NULL), and DocumentError if the document is malformed."""
    diffs = decode(data)
    if document is None:
        if diffs:
            raise DiffError("the document is NULL", NOT_APPLICABLE, 1, str(diffs[0].path))
        document = b""
    return encode_document(apply_diffs(decode_document(document), diffs))


def packed_length(length: int) -> bytes:
    """A length as net_store_length writes it."""
    if length <= 250:
        return bytes([length])
    lead = next(lead for lead, width in _WIDTHS.items() if length < 1 << 8 * width)
    return bytes([lead]) + length.to_bytes(_WIDTHS[lead], "little")


def _diff(data: bytes, at: int, number: int) -> tuple[Diff, int]:
    """Read the diff at this offset, the number-th: (it, its end)."""
    if data[at] > Operation.REMOVE:
        raise DiffError(f"operation {data[at]} is not known", CORRUPT_DIFF, number)
    operation = Operation(data[at])
    written, at = _counted(data, at + 1, number)
    try:
        path = parse(written.decode())
    except (UnicodeDecodeError, PathError) as reason:
        why = reason if isinstance(reason, PathError) else "not UTF-8"
        text = written.decode("utf-8", "backslashreplace")
        raise DiffError(f"{text} is no path that a diff can have: {why}", CORRUPT_DIFF, number, text) from None
    if operation == Operation.REMOVE:
        return Diff(operation, path), at
    document, at = _counted(data, at, number)
    try:
        return Diff(operation, path, decode_document(document)), at
    except DocumentError as reason:
        what = f"the value for {path} is no document: {reason.what}"
        raise DiffError(what, CORRUPT_DIFF, number, str(path)) from None


def _counted(data: bytes, at: int, number: int) -> tuple[bytes, int]:
    """Read bytes with their length in front: (they, their end)."""
    first = data[at] if at < len(data) else 255
    width = _WIDTHS.get(first, 0)
    start = at + 1 + width
    length = int.from_bytes(data[at + 1 : start], "little") if width else first
    if first in (251, 255) or start > len(data) or length > len(data) - start:
        raise DiffError("a length points past the end of the diffs", CORRUPT_EVENT, number)
    return data[start : start + length], start + length
