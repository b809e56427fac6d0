"""JSON documents that diffs of the log have changed since an image had them (JD-WIRE).

They are made from the bytes of the log, since a snapshot's text does not show all types; one by one in Python, like
everything that makes binary documents.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from applier.apply.index.diff_kernel import DIFF_ID
from applier.apply.index.diff_nodes import DiffNodes
from applier.apply.tables.logged_table import TableReading
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.jobs.rewrite.kernels import records as r
from applier.jobs.rewrite.kernels.fill_kernel import find_column
from jsondiff import wire
from keysearch.addresses import address_of

_PREFIX_BYTES = 4
"""Of a JSON value in an image."""
Value = tuple[int, int]
"""An address and a length, with the prefix."""


class LoggedDocuments:
    """The documents of a version of a table. For each row, the newest one that was needed is kept."""

    def __init__(self, reading: TableReading, columns: np.ndarray, values: np.ndarray) -> None:
        self._reading, self._columns, self._values = reading, columns, values
        self._made: dict[DiffNodes, dict[int, bytes | None]] = {}

    def set(self, wanted: np.ndarray, nodes: DiffNodes, kinds: np.ndarray, where: np.ndarray,
            lengths: np.ndarray) -> list[object]:
        """Set the addresses of the documents, by image, change and column, for which pointers to nodes stand; return
        the objects to keep as long as these are used."""
        kept = list[object]()
        for column in np.flatnonzero(wanted.any(axis=(0, 1))).tolist():
            at = wanted[:, :, column]
            numbers, which = np.unique(addresses_of(where[:, :, column][at]), return_inverse=True)
            made = self._documents(column, numbers.tolist(), nodes)
            joined = np.frombuffer(b"".join(one or b"" for one in made) or bytes(1), np.uint8)
            sizes = np.array([len(one or b"") for one in made], np.int64)
            which = which.reshape(-1)
            kinds[:, :, column][at] = np.where(sizes > 0, r.IN_MEMORY, r.ABSENT)[which]
            where[:, :, column][at] = (address_of(joined) + np.cumsum(sizes) - sizes)[which]
            lengths[:, :, column][at] = sizes[which]
            kept.append(joined)
        return kept

    def set_of_images(self, wanted: np.ndarray, images: Sequence[np.ndarray], kinds: np.ndarray, where: np.ndarray,
                      lengths: np.ndarray) -> list[object]:
        """Set, by change and column, the addresses of the documents that diffs in the second images make of those in
        the first ones; return the objects to keep as long as these are used."""
        kept = list[object]()
        for column in np.flatnonzero(wanted.any(axis=0)).tolist():
            rows = np.flatnonzero(wanted[:, column])
            found = self._found(column, [pointer for of in images for pointer in of[rows].tolist()])
            pairs = zip(found[:len(rows)], found[len(rows):], strict=True)
            made = [_prefixed(wire.apply(_bytes(before)[_PREFIX_BYTES:], _bytes(diff)[_PREFIX_BYTES:]))
                    if before[1] > 0 else b"" for before, diff in pairs]
            joined = np.frombuffer(b"".join(made) or bytes(1), np.uint8)
            sizes = np.array([len(one) for one in made], np.int64)
            kinds[rows, column] = np.where(sizes > 0, r.IN_MEMORY, r.ABSENT)
            where[rows, column], lengths[rows, column] = address_of(joined) + np.cumsum(sizes) - sizes, sizes
            kept.append(joined)
        return kept

    def _documents(self, column: int, numbers: Sequence[int], nodes: DiffNodes) -> list[bytes | None]:
        """Return the values of a column for these nodes; None for a node without an image below it."""
        made = self._made.setdefault(nodes, {})
        chains, pointers = list[list[int]](), list[int]()
        begun = set(made)
        for number in numbers:
            chain = list[int]()
            while number not in begun:
                begun.add(number)
                chain.append(number)
                previous, image = nodes.link(number)
                pointers += [image, previous if self._is_value(column, previous) else image]
                if layouts_of(previous) != DIFF_ID:
                    break
                number = addresses_of(previous)
            chains.append(chain[::-1])
        found = iter(self._found(column, pointers))
        values = {number: (next(found), next(found)) for chain in chains for number in reversed(chain)}
        for number in (number for chain in chains for number in chain):
            previous, _ = nodes.link(number)
            diff, root = values[number]
            if layouts_of(previous) == DIFF_ID:
                before = made[addresses_of(previous)]
            else:
                before = _bytes(root) if self._is_value(column, previous) else None
            made[number] = None if before is None else _prefixed(wire.apply(before[_PREFIX_BYTES:], _bytes(diff)[
                _PREFIX_BYTES:]))
        wanted = [made[number] for number in numbers]
        for number in values:
            made.pop(addresses_of(nodes.link(number)[0]) if layouts_of(nodes.link(number)[0]) == DIFF_ID else -1, None)
        return wanted

    def _is_value(self, column: int, pointer: int) -> bool:
        """Return whether a pointer leads to an image with a document, or NULL."""
        number, known = layouts_of(pointer), self._reading.layouts.known
        return 0 < number < len(known) and column in known[number].present and column not in known[number].diffs

    def _found(self, column: int, pointers: Sequence[int]) -> list[Value]:
        """Return where a column is in images."""
        n_columns, known = len(self._columns), self._reading.layouts.known
        present = np.zeros((len(known), n_columns), np.bool_)
        for number, layout in enumerate(known):
            present[number, list(layout.present)] = True
        bitmaps = np.packbits(present, axis=1, bitorder="little")
        addresses, lengths = np.zeros((2, len(pointers)), np.int64)
        find_column(np.array(pointers, np.int64), column, address_of(bitmaps), address_of(self._columns), n_columns,
                    address_of(self._values), addresses, lengths)
        return list(zip(addresses.tolist(), lengths.tolist(), strict=True))


def _bytes(value: Value) -> bytes:
    """Return a value with its prefix; nothing for NULL."""
    address, length = value
    return ctypes.string_at(address, length) if length > 0 else b""


def _prefixed(document: bytes) -> bytes:
    return len(document).to_bytes(_PREFIX_BYTES, "little") + document
