"""Changes in a shuffle: Arrow record batches, in commit order, for one unit (EV-MAT).

    kind    uint8     0 insert, 1 update, 2 delete
    place   int64     offset in the file of the rows event
    row     int32     number of the row in the event, from 0
    time    uint32    when the event was made, in seconds since 1970
    before  struct    the key's columns of the before-image as in a snapshot (an integer key: one int64); NULL in
                      inserts
    after   struct    the same of the after-image, with missing columns filled in; NULL in deletes
    layout  int32     which columns `image` has: a number in the metadata's list of layouts
    image   binary    the after-image as the log has it, decoded only if its row remains at the end; NULL in deletes.
                      An empty one takes one byte, so that each has a distinct address

Where before-images are compared with rows, `image` has both images as they follow each other in the log, and there is

    before_layout, before_length    int32     the layout of the before-image, and its bytes; 0 in inserts
    after_at                        int32     where in `image` the after-image begins
    before_hash, after_hash         uint32    the hashes of both images

Metadata of the schema (JSON under b"changes"): id of the table's version, uri of the file, table map body (hex),
layouts (present columns, those of them that are diffs, and whether computes_omitted).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from applier.apply.index.key_index import ImageKeys
from applier.apply.routes import payload_kernel
from applier.apply.search.keyed_changes import KeyColumns, KeyedChanges, KeyTexts
from applier.binlog.rows.changes import DELETE, INSERT, ChangeBatch, ImageLayout, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of, pointers_to
from applier.columns.table_key import TableKey
from applier.io.mapping import MappedFile
from keysearch.addresses import address_of

_METADATA = b"changes"
_WITNESS_NAMES = ("before_layout", "before_length", "after_at", "before_hash", "after_hash")
_NAMES = ("kind", "place", "row", "time", "before", "after", "layout", "image")


def payload_batch(batch: ChangeBatch, picks: np.ndarray, before: list[pa.Array], after: list[pa.Array], *,
                  before_images: bool = False) -> pa.RecordBatch:
    """The changes `picks` (int64: numbers in the batch), given the columns of their keys by image row; with
    `before_images`, these are sent, too."""
    kinds = batch.kinds[picks]
    inserts, deletes = kinds == INSERT, kinds == DELETE
    pointers, lengths = batch.images[picks], batch.image_lengths[picks]
    columns = [
        pa.array(kinds), pa.array(batch.places[picks]), pa.array(batch.rows[picks]),
        pa.array(batch.times[picks]),
        _struct(before, batch.before_rows[picks], inserts), _struct(after, batch.after_rows[picks], deletes),
        pa.array(layouts_of(pointers).astype(np.int32))]
    if not before_images:
        return pa.record_batch([*columns, _images(pointers, lengths, deletes)], names=_NAMES)
    befores, before_lengths = batch.before_images[picks], batch.before_lengths[picks]
    first = np.where(inserts, pointers, befores)
    after_at = np.where(deletes, before_lengths, addresses_of(pointers) - addresses_of(first)).astype(np.int32)
    columns += [_images(first, after_at + lengths, np.zeros(len(picks), np.bool_)),
                pa.array(np.where(inserts, 0, layouts_of(befores)).astype(np.int32)),
                pa.array(np.where(inserts, 0, before_lengths).astype(np.int32)), pa.array(after_at),
                pa.array(batch.before_hashes[picks]), pa.array(batch.after_hashes[picks])]
    return pa.record_batch(columns, names=[*_NAMES, *_WITNESS_NAMES])


def _struct(columns: list[pa.Array], rows: np.ndarray, without: np.ndarray) -> pa.StructArray:
    chosen = pa.array(rows, mask=without)
    return pa.StructArray.from_arrays([column.take(chosen) for column in columns],
                                      names=[str(i) for i in range(len(columns))], mask=pa.array(without))


def _images(pointers: np.ndarray, lengths: np.ndarray, without: np.ndarray) -> pa.LargeBinaryArray:
    offsets = np.zeros(len(pointers) + 1, np.int64)
    np.cumsum(np.where(without, 0, np.maximum(lengths, 1)), out=offsets[1:])
    data = np.zeros(int(offsets[-1]), np.uint8)
    payload_kernel.copy_images(addresses_of(pointers), lengths, offsets, address_of(data))
    valid = pa.array(~without).buffers()[1]
    return pa.Array.from_buffers(pa.large_binary(), len(pointers), [valid, pa.py_buffer(offsets), pa.py_buffer(data)])


def to_buffer(batches: list[pa.RecordBatch], uri: str, body: bytes, layouts: ImageLayouts,
              version: int = 0) -> pa.Buffer:
    """One payload: an Arrow stream of batches of one version of a table of one file."""
    known = {"version": version, "uri": uri, "table_map": body.hex(),
             "layouts": [dataclasses.astuple(layout) for layout in layouts.known]}
    schema = batches[0].schema.with_metadata({_METADATA: orjson.dumps(known)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        for batch in batches:
            stream.write_batch(batch.replace_schema_metadata(schema.metadata))
    return sink.getvalue()


@dataclasses.dataclass(frozen=True, eq=False)
class _PayloadMemory(MappedFile):
    """A payload's bytes, which are not a file's, with the places in the file that its images are from."""

    batches: list[pa.RecordBatch]

    def position_of(self, address: int) -> int:
        """The place of the rows event whose image lies at an address."""
        for batch in self.batches:
            _, offsets, data = batch.column("image").buffers()
            if data is not None and data.address <= address < data.address + data.size:
                starts = np.frombuffer(offsets, np.int64)[:batch.num_rows]
                row = int(np.searchsorted(starts, address - data.address, side="right")) - 1
                return int(batch.column("place")[row].as_py())
        raise ValueError(f"no image of the payload lies at {address}")


@dataclasses.dataclass
class Payload:
    """A payload that arrived: its metadata, and its batches over the buffer's own memory."""

    version: int
    uri: str
    table_map: bytes
    layouts: list[ImageLayout]
    batches: list[pa.RecordBatch]
    memory: MappedFile

    @classmethod
    def read(cls, buffer: pa.Buffer) -> Payload:
        """Read a payload without copying it."""
        with pa.ipc.open_stream(buffer) as stream:
            known = orjson.loads(stream.schema.metadata[_METADATA])
            batches = list(stream)
        data = np.frombuffer(buffer, np.uint8)
        memory = _PayloadMemory(known["uri"], buffer.size, data, address_of(data), batches)
        layouts = [ImageLayout(tuple(present), tuple(diffs), computed) for present, diffs, computed in known["layouts"]]
        return cls(known["version"], known["uri"], bytes.fromhex(known["table_map"]), layouts, batches, memory)


class ArrivedBatch:
    """A record batch of a payload as an index takes it (Changes)."""

    def __init__(self, batch: pa.RecordBatch, payload: Payload, layouts: ImageLayouts):
        self.n, self.file = batch.num_rows, payload.memory
        self.kinds = np.ascontiguousarray(batch.column("kind"))
        self.places, self.rows = np.asarray(batch.column("place")), np.asarray(batch.column("row"))
        self.times = np.asarray(batch.column("time"))
        self.before, self.after = batch.column("before"), batch.column("after")
        numbers = np.arange(self.n, dtype=np.int32)
        self.before_rows = np.where(self.kinds == INSERT, np.int32(-1), numbers)
        self.after_rows = np.where(self.kinds == DELETE, np.int32(-1), numbers)
        local = np.asarray(batch.column("layout"))
        numbering = np.array([0, *(layouts.number(layout) for layout in payload.layouts[1:])], np.int64)
        image = batch.column("image")
        offsets = np.frombuffer(image.buffers()[1], np.int64)[:self.n]
        data = image.buffers()[2]
        address = data.address if data is not None else 0  # of deletes alone
        starts = address + offsets
        layout, self.before_lengths, after_at, self.before_hashes, self.after_hashes = (
            np.asarray(batch.column(name)) if name in batch.schema.names else np.zeros(self.n, np.int32)
            for name in _WITNESS_NAMES)
        self.before_images = np.where(self.kinds == INSERT, np.int64(-1), pointers_to(numbering[layout], starts))
        pointers = pointers_to(numbering[np.maximum(local, 0)], starts + after_at)
        self.images = np.where(self.kinds == DELETE, np.int64(-1), pointers)

    @property
    def key_columns(self) -> KeyColumns:
        """The key's columns of both images, by change."""
        before, after = ([struct.field(i) for i in range(struct.type.num_fields)]
                         for struct in (self.before, self.after))
        return before, after


class ArrivedKeys:
    """Reads the keys of arrived batches of a table with one key."""

    def __init__(self, key: TableKey):
        self._key = key

    def of_batch(self, batch: ArrivedBatch) -> KeyedChanges[Any]:
        """Return a batch with its keys."""
        before, after = (self._key.encode([_filled(column) for column in columns]) for columns in batch.key_columns)
        return KeyedChanges(batch=batch, keys=ImageKeys[Any](before, after),
                            texts=KeyTexts(self._key, lambda: batch.key_columns))


def _filled(column: pa.Array) -> pa.Array:
    """The column without its NULLs: where a change has no such image stands zero or nothing, and nobody looks at it."""
    return pa.Array.from_buffers(column.type, len(column), [None, *column.buffers()[1:]], offset=column.offset)
