"""The payload (packing) of a shuffle: changes for one unit, in commit order (EV-MAT), as columns

    kind         uint8     0 insert, 1 update, 2 delete
    position     int64     offset in the file of the rows event
    row          int32     number of the row in the event, from 0
    time         uint32    when the event was made, in seconds since 1970
    layout       int32     the columns of the after-image: a number in the header's list of layouts
    before …               the key's columns of the before-image as a snapshot has them (an integer key: one int64);
                           zero or empty in inserts
    after …                those of the after-image, with missing columns filled in; zero or empty in deletes

and images: the after-image as logged, which is decoded only if its row remains at the end; empty in deletes. An empty
image takes one byte, so that each has its own address.

If before-images are compared with rows, the images are both images, as they follow each other in the log, and there are

    before_layout, before_length    int32     the layout of the before-image, and its bytes; 0 in inserts
    after_at                        int32     where in the images the after-image begins
    before_hash, after_hash         uint32    the hashes of both images

The header (JSON): id of the table's version, uri of the file, table map body (hex), layouts (present columns, those of
them that are diffs, and computes_omitted), and whether there are before-images.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.key_index import ImageKeys
from applier.apply.routes import packing_kernel
from applier.apply.routes.packing import Rows, Unpacked, header_of
from applier.apply.search.keyed_changes import KeyColumns, KeyedChanges, KeyTexts
from applier.binlog.rows.changes import DELETE, INSERT, ChangeBatch, ImageLayout, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of, pointers_to
from applier.columns.table_key import IntKey, TableKey
from applier.io.mapping import MappedFile
from applier.mysql.types import arrow_type
from applier.schema.definition import TableDefinition
from keysearch.addresses import address_of

_TYPES = (pa.uint8(), pa.int64(), pa.int32(), pa.uint32(), pa.int32())
_WITNESS_TYPES = (pa.int32(), pa.int32(), pa.int32(), pa.uint32(), pa.uint32())
_N, _PLACE = len(_TYPES), 1


def key_types(key: TableKey, definition: TableDefinition) -> list[pa.DataType]:
    """Return the types of the key's columns of an image."""
    if isinstance(key, IntKey):
        return [pa.int64()]
    return [arrow_type(definition.columns[column].type) for column in key.columns]


def column_types(keys: list[pa.DataType], before_images: bool) -> list[pa.DataType]:
    """Return the types of a payload's columns, given those of the key's columns of an image."""
    return [*_TYPES, *keys, *keys, *(_WITNESS_TYPES if before_images else ())]


def rows_to_send(batch: ChangeBatch, picks: np.ndarray, before: list[pa.Array], after: list[pa.Array], *,
                 before_images: bool = False) -> Rows:
    """Return the changes `picks` (int64: numbers in the batch) as rows to send, given the columns of their keys by
    image row. `before_images`: send these, too."""
    kinds = batch.kinds[picks]
    inserts, deletes = kinds == INSERT, kinds == DELETE
    pointers, lengths = batch.images[picks], batch.image_lengths[picks]
    columns = [pa.array(kinds), pa.array(batch.positions[picks]), pa.array(batch.rows[picks]),
               pa.array(batch.times[picks]), pa.array(layouts_of(pointers).astype(np.int32)),
               *_of_images(before, batch.before_rows[picks], inserts),
               *_of_images(after, batch.after_rows[picks], deletes)]
    if not before_images:
        return _with_images(columns, pointers, np.where(deletes, 0, lengths), deletes)
    befores, before_lengths = batch.before_images[picks], batch.before_lengths[picks]
    first = np.where(inserts, pointers, befores)
    after_at = np.where(deletes, before_lengths, addresses_of(pointers) - addresses_of(first)).astype(np.int32)
    columns += [pa.array(np.where(inserts, 0, layouts_of(befores)).astype(np.int32)),
                pa.array(np.where(inserts, 0, before_lengths).astype(np.int32)), pa.array(after_at),
                pa.array(batch.before_hashes[picks]), pa.array(batch.after_hashes[picks])]
    return _with_images(columns, first, after_at + lengths, np.zeros(len(picks), np.bool_))


def _of_images(columns: list[pa.Array], rows: np.ndarray, without: np.ndarray) -> list[pa.Array]:
    chosen = pa.array(rows, mask=without)
    return [column.take(chosen) for column in columns]


def _with_images(columns: list[pa.Array], pointers: np.ndarray, lengths: np.ndarray, without: np.ndarray) -> Rows:
    """Return the rows with copies of their images, whose memory may be freed before they are sent."""
    room = np.where(without, 0, np.maximum(lengths, 1)).astype(np.int64)
    ends = np.cumsum(room)
    data = np.zeros(int(ends[-1]), np.uint8)
    packing_kernel.copy_parts(addresses_of(pointers), lengths.astype(np.int32), ends - room, address_of(data))
    return Rows(columns, address_of(data) + ends - room, room, data)


def keys_of(columns: list[pa.Array], before_images: bool) -> KeyColumns:
    """Return the columns of the key of both images, among a payload's columns."""
    keys = columns[_N:len(columns) - len(_WITNESS_TYPES)] if before_images else columns[_N:]
    return keys[:len(keys) // 2], keys[len(keys) // 2:]


def chosen_keys(columns: list[pa.Array], picks: np.ndarray, before_images: bool) -> list[pa.Array]:
    """Return the key's columns of some changes (int64: their numbers), from the after-image if there is one."""
    deletes = pa.array(np.asarray(columns[0])[picks] == DELETE)
    before, after = ([column.take(pa.array(picks)) for column in of_image]
                     for of_image in keys_of(columns, before_images))
    return [pc.if_else(deletes, old, new) for old, new in zip(before, after, strict=True)]


def to_header(uri: str, body: bytes, layouts: ImageLayouts, version: int = 0, *, before_images: bool = False) -> bytes:
    """Return the header of payloads for one version of a table and one file."""
    return orjson.dumps({"version": version, "uri": uri, "table_map": body.hex(), "before_images": before_images,
                         "layouts": [dataclasses.astuple(layout) for layout in layouts.known]})


@dataclasses.dataclass(frozen=True)
class Header:
    """The header of a payload."""

    version: int
    uri: str
    table_map: bytes
    before_images: bool
    layouts: list[ImageLayout]

    @classmethod
    def read(cls, header: bytes) -> Header:
        known = orjson.loads(header)
        layouts = [ImageLayout(tuple(present), tuple(diffs), computed) for present, diffs, computed in known["layouts"]]
        return cls(known["version"], known["uri"], bytes.fromhex(known["table_map"]), known["before_images"], layouts)


@dataclasses.dataclass(frozen=True, eq=False)
class _PayloadMemory(MappedFile):
    """The memory of a payload. It is not that of the file: images were at other offsets there."""

    changes: Callable[[], Unpacked]

    def position_of(self, address: int) -> int:
        """Return the position of the rows event whose image is at an address."""
        changes = self.changes()
        row = int(np.searchsorted(changes.addresses, address, side="right")) - 1
        return int(changes.columns[_PLACE][row].as_py())


def _memory_of(uri: str, payload: pa.Buffer, changes: Callable[[], Unpacked]) -> MappedFile:
    data = np.frombuffer(payload, np.uint8)
    return _PayloadMemory(uri, payload.size, data, address_of(data), changes)


def together(payloads: Iterable[pa.Buffer], rows: int) -> Iterator[tuple[bytes, list[pa.Buffer], list[int]]]:
    """Yield groups of consecutive payloads with the same header, up to about `rows` rows, with their number of rows."""
    last, buffers, counts = b"", list[pa.Buffer](), list[int]()
    for payload in payloads:
        count, header = header_of(payload)
        if buffers and (header != last or sum(counts) >= rows):
            yield last, buffers, counts
            buffers, counts = [], []
        last = header
        buffers.append(payload)
        counts.append(count)
    if buffers:
        yield last, buffers, counts


class ArrivedBatch:
    """The changes of payloads with one header as an index takes them (Changes). Their images stay in `memory`, where
    they arrived."""

    def __init__(self, header: Header, types: list[pa.DataType], payloads: list[pa.Buffer], counts: list[int],
                 header_bytes: int, layouts: ImageLayouts):
        unpacked = Unpacked(types, payloads, counts, header_bytes)
        columns, starts = unpacked.columns, unpacked.addresses
        self.n = unpacked.n
        self.memory = [_memory_of(header.uri, payload, partial(Unpacked, types, [payload], [count], header_bytes))
                       for payload, count in zip(payloads, counts, strict=True)]
        self.file: MappedFile = self.memory[0]
        self.kinds, self.positions, self.rows, self.times, local = map(np.asarray, columns[:_N])
        self.key_columns = keys_of(columns, header.before_images)
        numbers = np.arange(self.n, dtype=np.int32)
        self.before_rows = np.where(self.kinds == INSERT, np.int32(-1), numbers)
        self.after_rows = np.where(self.kinds == DELETE, np.int32(-1), numbers)
        numbering = np.array([0, *(layouts.number(layout) for layout in header.layouts[1:])], np.int64)
        of_witness: list[np.ndarray] = [np.zeros(self.n, np.int32)] * len(_WITNESS_TYPES)
        if header.before_images:
            of_witness = [*map(np.asarray, columns[-len(_WITNESS_TYPES):])]
        layout, self.before_lengths, after_at, self.before_hashes, self.after_hashes = of_witness
        self.before_images = np.where(self.kinds == INSERT, np.int64(-1), pointers_to(numbering[layout], starts))
        pointers = pointers_to(numbering[np.maximum(local, 0)], starts + after_at)
        self.images = np.where(self.kinds == DELETE, np.int64(-1), pointers)


def keyed(key: TableKey, batch: ArrivedBatch) -> KeyedChanges[Any]:
    """Return received changes of a table with one key, with their keys."""
    before, after = map(key.encode, batch.key_columns)
    return KeyedChanges(batch=batch, keys=ImageKeys[Any](before, after), texts=KeyTexts(key, lambda: batch.key_columns))
