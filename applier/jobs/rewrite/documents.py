"""Turns updated documents into the diffs that lead from the old ones to the new ones (JD-ENC).

Documents are compared in Python, one by one, like everything that makes diffs.
"""

from __future__ import annotations

import ctypes

import numpy as np

from jsondiff import wire
from jsondiff.compute import diff
from jsondiff.decode import decode
from jsondiff.encode import encode
from jsondiff.values import DocumentError
from keysearch.addresses import address_of

_PREFIX_BYTES = 4
"""Of a JSON value in an image."""


class DocumentDiffs:
    """The diffs of an event's pairs of documents (PAIR[n]), whose records get their addresses; valid as long as this
    object is. `saved` is how many bytes less they are than the new documents."""

    def __init__(self, pairs: np.ndarray) -> None:
        made = [_diffs(*map(_document, (pair["old"], pair["new"]), (pair["old_length"], pair["new_length"])))
                for pair in pairs]
        self._memory = np.frombuffer(b"".join(made) or bytes(1), np.uint8)
        self.pairs, lengths = pairs, np.array([len(value) for value in made], np.int64)
        pairs["diffs"] = np.where(lengths > 0, address_of(self._memory) + np.cumsum(lengths) - lengths, 0)
        pairs["diffs_length"] = lengths
        self.saved = int((pairs["new_length"] - lengths)[lengths > 0].sum())


def _document(address: int, length: int) -> bytes:
    return ctypes.string_at(int(address) + _PREFIX_BYTES, int(length) - _PREFIX_BYTES)


def _diffs(old: bytes, new: bytes) -> bytes:
    """Return the diffs as a value in an image; nothing where they would be no less than the new document, or do not
    lead to it, types included."""
    try:
        wanted = decode(new)
        found = diff(decode(old), wanted)
        if not found or len(value := wire.encode(found)) >= len(new) or wire.apply(old, value) != encode(wanted):
            return b""
    except (DocumentError, ValueError):
        return b""
    return len(value).to_bytes(_PREFIX_BYTES, "little") + value
