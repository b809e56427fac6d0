"""Packs rows column by column for many receivers at a time, and unpacks them: the contents of a payload.

    int32       number of rows, one or more
    int32       length of the header
    header      what the receiver has to know to read the rows; most payloads that reach it have the same one
    columns     of each column its values one after the other; of strings their lengths (int32)
    strings     of each column of strings its bytes; those of the last column, the images, are not moved by `unpacked`

No value is NULL: another column says which rows have no value. Values are not aligned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from applier.apply.routes import packing_kernel
from keysearch.addresses import address_of

_FIXED = np.dtype([("rows", np.int32), ("header", np.int32)])
MESSAGE_BYTES = 16 << 20
"""The most bytes of payloads that are packed together, unless a single one is larger."""


@dataclass(frozen=True)
class Rows:
    """Rows to pack: columns, and images by address and length in `memory`."""

    columns: list[pa.Array]
    addresses: np.ndarray
    lengths: np.ndarray
    memory: object

    @property
    def n_bytes(self) -> int:
        """The approximate size of the rows."""
        return int(sum(column.nbytes for column in self.columns) + self.lengths.sum())


class Unpacked:
    """The rows of payloads with the same header: columns, and the images' locations in the payloads' own memory."""

    def __init__(self, types: Sequence[pa.DataType], payloads: Sequence[pa.Buffer], rows: Sequence[int], header: int):
        counts = np.array(rows, np.int64)
        at = np.array([address_of(payload) for payload in payloads], np.int64) + _FIXED.itemsize + header
        ends = np.cumsum(counts)
        firsts, self.n = ends - counts, int(ends[-1])
        found: list[np.ndarray] = []
        for width in [*map(_width, types), _LENGTH]:
            values = np.empty(self.n, _dtype(width))
            _copy(at, counts * width, firsts * width, values)
            at = at + counts * width
            found.append(values)
        self.columns: list[pa.Array] = []
        for type_, values in zip(types, found, strict=False):
            if not _is_string(type_):
                self.columns.append(pa.Array.from_buffers(type_, self.n, [None, pa.py_buffer(values)]))
                continue
            lengths = values.view(np.int32)
            offsets, sizes = _offsets(lengths), np.add.reduceat(lengths, firsts, dtype=np.int64)
            data = np.empty(int(offsets[-1]), np.uint8)
            _copy(at, sizes, offsets[firsts], data)
            at = at + sizes
            self.columns.append(pa.Array.from_buffers(
                type_, self.n, [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]))
        self.lengths = found[-1].view(np.int32)
        offsets = _offsets(self.lengths)[:-1]
        self.addresses: np.ndarray = offsets + np.repeat(at - offsets[firsts], counts)


def header_of(payload: pa.Buffer) -> tuple[int, bytes]:
    """Return the number of a payload's rows, and its header."""
    rows, length = np.frombuffer(payload, np.int32, 2).tolist()
    return rows, memoryview(payload)[_FIXED.itemsize:_FIXED.itemsize + length].tobytes()


def packed(rows: list[Rows], receivers: np.ndarray, header: bytes,
           payload_bytes: int) -> Iterator[tuple[np.ndarray, pa.BinaryArray]]:
    """Yield the payloads of rows, given the receiver of each row (numbers from 0 on), for many receivers at a time: the
    receiver of each payload, ascending, and the payloads. Each receiver's rows keep their order. A payload larger than
    `payload_bytes` has a single row."""
    order = np.argsort(receivers.astype(np.min_scalar_type(int(receivers.max(initial=0)))), kind="stable")
    receivers = receivers[order]
    values, strings = [], []
    memory: list[list[pa.Buffer | None]] = []  # of the strings, whose addresses are valid while its owners live
    for number, column in enumerate(rows[0].columns):
        arrays = [some.columns[number] for some in rows]
        if _is_string(column.type):
            lengths = np.concatenate([np.diff(_offsets_of(array)) for array in arrays])[order].astype(np.int32)
            texts = [array.buffers()[2] for array in arrays]
            memory.append(texts)
            starts = [_starts_of(array, text) for array, text in zip(arrays, texts, strict=True)]
            strings.append((np.concatenate(starts)[order], lengths))
            values.append(lengths)
        else:
            values.append(np.concatenate([_values_of(array) for array in arrays])[order])
    lengths = np.concatenate([some.lengths for some in rows])[order].astype(np.int32)
    strings.append((np.concatenate([some.addresses for some in rows])[order], lengths))
    values.append(lengths)
    width = sum(column.itemsize for column in values)
    ends = np.cumsum(width + sum((lengths.astype(np.int64) for _, lengths in strings), np.zeros(len(order), np.int64)))
    begins = np.concatenate([[0], ends[:-1]])
    of_receiver = np.flatnonzero(np.diff(receivers, prepend=-1))
    within = begins - np.repeat(begins[of_receiver], np.diff(of_receiver, append=len(order)))
    firsts = np.flatnonzero((np.diff(receivers, prepend=-1) != 0) | (np.diff(within // payload_bytes, prepend=0) != 0))
    edges = np.append(firsts, len(order))
    sizes = np.diff(np.append(begins[firsts], ends[-1:])) + _FIXED.itemsize + len(header)
    messages = np.flatnonzero(np.diff((np.cumsum(sizes) - sizes) // MESSAGE_BYTES, prepend=-1))
    for first, end in pairwise([*messages.tolist(), len(firsts)]):
        yield (receivers[firsts[first:end]],
               _message(header, values, strings, edges[first:end + 1], sizes[first:end]))


def _message(header: bytes, values: list[np.ndarray], strings: list[tuple[np.ndarray, np.ndarray]],
             edges: np.ndarray, sizes: np.ndarray) -> pa.BinaryArray:
    """Return the payloads of the rows between `edges`, one after the other in memory."""
    counts, offsets = np.diff(edges), _offsets(sizes)
    target, at, n = np.empty(int(offsets[-1]), np.uint8), offsets[:-1], len(counts)
    heads = np.empty(n, _FIXED)
    heads["rows"], heads["header"] = counts, len(header)
    _copy(address_of(heads) + np.arange(n) * _FIXED.itemsize, np.full(n, _FIXED.itemsize), at, target)
    at = at + _FIXED.itemsize
    text = np.frombuffer(header, np.uint8)
    _copy(np.full(n, address_of(text)), np.full(n, len(header)), at, target)
    at = at + len(header)
    for column in values:
        _copy(address_of(column) + edges[:-1] * column.itemsize, counts * column.itemsize, at, target)
        at = at + counts * column.itemsize
    rows = slice(int(edges[0]), int(edges[-1]))
    for addresses, all_lengths in strings:
        lengths = all_lengths[rows]
        before = _offsets(lengths)
        firsts = before[edges[:-1] - edges[0]]
        _copy(addresses[rows], lengths, before[:-1] + np.repeat(at - firsts, counts), target)
        at = at + np.diff(np.append(firsts, before[-1]))
    return pa.Array.from_buffers(pa.binary(), n, [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(target)])


_LENGTH = 4


def _copy(addresses: np.ndarray, lengths: np.ndarray, offsets: np.ndarray, target: np.ndarray) -> None:
    packing_kernel.copy_parts(addresses.astype(np.int64), lengths.astype(np.int32), offsets.astype(np.int64),
                              address_of(target))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    """Return where consecutive parts of these lengths begin, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _is_string(type_: pa.DataType) -> bool:
    return type_ in (pa.string(), pa.binary())


def _width(type_: pa.DataType) -> int:
    return _LENGTH if _is_string(type_) else type_.bit_width // 8


def _dtype(width: int) -> np.dtype:
    return np.dtype(f"u{width}" if width in (1, 2, 4, 8) else f"V{width}")


def _values_of(column: pa.Array) -> np.ndarray:
    values = np.frombuffer(column.buffers()[1] or b"", _dtype(_width(column.type)))
    return values[column.offset:column.offset + len(column)]


def _offsets_of(column: pa.Array) -> np.ndarray:
    """Return the offsets of a column of strings; a NULL has no bytes."""
    return np.frombuffer(column.buffers()[1] or bytes(_LENGTH), np.int32)[column.offset:column.offset + len(column) + 1]


def _starts_of(column: pa.Array, data: pa.Buffer | None) -> np.ndarray:
    """Return the addresses of a column's strings, which are in `data`."""
    return _offsets_of(column)[:-1].astype(np.int64) + (0 if data is None else address_of(data))
