"""Reads rows events as columns: the changes of the selected tables of a binlog, a batch at a time, in commit order.

    ChangeReader    walks a file and hands each table's changes to that table's `TableBinding`
    TableBinding    which columns of which image of one table a consumer reads, and the batch for them
    ChangeBatch     up to `rows` changes: kind, location in the log, both images, pointer to the after-image

The contents of a batch are valid until the next one of the same table: buffers are reused, since fresh memory costs
more in page faults than the decoding. A column that is missing in the image is NULL and `absent`; a logged NULL is only
NULL.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from applier.binlog.events.compression.compressed import Inflater
from applier.binlog.events.compression.inflated import InflatedEvents
from applier.binlog.events.format import HEADER_LENGTH
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.outline.left_out import unpack_ranges
from applier.binlog.rows import change_records as k
from applier.binlog.rows.change_batch import ChangeBatch as ChangeBatch
from applier.binlog.rows.change_batch import Changes as Changes
from applier.binlog.rows.change_batch import DecodedChanges as DecodedChanges
from applier.binlog.rows.change_batch import ImageLayout as ImageLayout
from applier.binlog.rows.change_batch import ImageLayouts as ImageLayouts
from applier.binlog.rows.changes_kernel import walk
from applier.binlog.rows.layout import NO_NULLS, ColumnPlan, ImageBuffers, ImageProgram
from applier.binlog.rows.table_ids import TableIds
from applier.errors import ApplierError, ArchiveError
from applier.io.mapping import MappedFile
from applier.mysql.wire_types import WireType
from keysearch.addresses import address_of

INSERT, UPDATE, DELETE = k.INSERT, k.UPDATE, k.DELETE
_OF_A_WALK = ("row_at", "detail", "layout", "partial_bits", "event", "content", "contents_left", "contents_end",
              "inner", "within", "inner_offset", "digest", "out_from", "out_to")
"""The fields of the kernel's state that are 0 at the start of a walk."""
BATCH_BYTES = 64 << 20
"""A batch is handed over when one of its string columns has this many bytes; a single row may have more."""
_DAMAGED = "the file is damaged; copy it again from the server"


@dataclasses.dataclass
class TableBinding:
    """What a consumer reads of one table.

    `plans` says how each column of the log's images is read, `before` and `after` how each is output (None: not wanted;
    else its plan in `plans`, or a variant of that). `take` is called with each batch when it is full or the walk ends.
    A JSON diff is absent; with `raw_diffs`, its bytes are the value. `before_images`: keep the memory of before-images
    like that of after-images. `hashes`: compute the hashes of both images. `in_one`: both images go to the same
    buffers, in log order; `before` is then the same as `after`.
    """

    plans: list[ColumnPlan]
    before: list[ColumnPlan | None]
    after: list[ColumnPlan | None]
    take: Callable[[ChangeBatch], None]
    rows: int = 4096
    raw_diffs: bool = False
    before_images: bool = False
    in_one: bool = False
    hashes: bool = False

    def __post_init__(self) -> None:
        after = ImageBuffers(self.after, 2 * self.rows if self.in_one else self.rows)
        before = after if self.in_one else ImageBuffers(self.before, self.rows)
        self.batch = ChangeBatch(before, after, self.rows)
        self.batch.record["hashes"] = self.hashes
        self.layouts = ImageLayouts(self.plans)

    def flush(self, file: MappedFile) -> None:
        """Hand over the batch, and empty it."""
        if self.batch.n:
            self.batch.file = file
            self.take(self.batch)
        self.batch.reset()


class _BoundTable:
    """A distinct table map: its binding, and the layouts seen so far with their variants."""

    def __init__(self, table_map: TableMap, binding: TableBinding, computes_omitted: bool):
        self.table_map, self.binding, self._computes_omitted = table_map, binding, computes_omitted
        self.json_columns = [column for column, kind in enumerate(table_map.types) if kind == WireType.JSON]
        self._kept: list[object] = []
        self._layouts: list[ImageLayout] = []
        self._records = np.empty(0, k.LAYOUT)
        self._variants: dict[int, np.ndarray] = {}

    def add_layout(self, bitmap: bytes) -> None:
        """Compile the programs for images with this bitmap of present columns."""
        columns = len(self.table_map.types)
        bits = int.from_bytes(bitmap, "little")
        present = [column for column in range(columns) if bits >> column & 1]
        binding, stored = self.binding, np.frombuffer(bitmap, np.uint8).copy()
        programs = [ImageProgram(binding.plans, present, buffers)
                    for buffers in (binding.batch.before, binding.batch.after)]
        self._kept += [stored, *programs]
        layout = ImageLayout(tuple(present), computes_omitted=self._computes_omitted)
        before, after = (program.address for program in programs)
        record = address_of(stored), binding.layouts.number(layout), before, after, 0, 0, 0
        self._records = np.append(self._records, np.array([record], k.LAYOUT))
        self._layouts.append(layout)

    def add_variant(self, layout: int, bitmap: bytes) -> None:
        """Compile the program for after-images of the layout whose record is at this address, with this bitmap of
        partial JSON columns. The bit of a column that is missing in the image has no meaning."""
        number, binding = (layout - address_of(self._records)) // k.LAYOUT_BYTES, self.binding
        bits, stored = int.from_bytes(bitmap, "little"), np.frombuffer(bitmap, np.uint8).copy()
        present = self._layouts[number].present
        diffs = tuple(column for bit, column in enumerate(self.json_columns) if bits >> bit & 1 and column in present)
        program = ImageProgram(binding.plans, present, binding.batch.after, () if binding.raw_diffs else diffs)
        layout_of_diffs = ImageLayout(present, diffs, self._computes_omitted)
        record = address_of(stored), binding.layouts.number(layout_of_diffs), 0, program.address, 0, 0, 0
        known = self._variants.get(number, np.empty(0, k.LAYOUT))
        variants = self._variants[number] = np.append(known, np.array([record], k.LAYOUT))
        self._kept += [stored, program]
        for field, value in (("variants", address_of(variants)), ("n_variants", len(variants)), ("last_variant", 0)):
            self._records[field][number] = value

    def record(self) -> tuple[int, ...]:
        wanted = k.WITH_BEFORE_IMAGES if self.binding.before_images else 1
        return (wanted, len(self.table_map.types), address_of(self.binding.batch.record), address_of(self._records),
                len(self._records), 0, 0, len(self.json_columns))


class ChangeReader:
    """Decodes the row changes of one file for the tables that `bind` selects.

    `bind(table_map)` is called once per distinct table map, and returns a TableBinding (which several table maps may
    share) or None. `checksum`: events end with a CRC32. `keep` is called with the memory of images of compressed
    events; without it these are valid for one batch only. Events in the ranges `left_out` (left_out.pack_ranges), which
    are whole groups, are skipped. `computes_omitted`: see FormatDescription.
    """

    def __init__(self, file: MappedFile, bind: Callable[[TableMap], TableBinding | None], *, checksum: bool,
                 header_length: int = HEADER_LENGTH, keep: Callable[[MappedFile], None] | None = None,
                 left_out: bytes = b"", computes_omitted: bool = True):
        self.file, self._bind, self._computes_omitted = file, bind, computes_omitted
        self._left_out = unpack_ranges(left_out)
        self._header_bytes = header_length
        self._checksum_bytes = 4 if checksum else 0
        self._tables: list[_BoundTable | None] = []
        self._bodies: dict[bytes, tuple[int, np.ndarray]] = {}  # number of the table map, and the body at an address
        self._records = np.zeros(16, k.TABLE)
        self._ids = TableIds()
        self._state = np.zeros((), k.STATE)
        self._state["base"], self._state["file_end"] = file.address, file.address + file.size
        self._state["header_bytes"], self._state["checksum_bytes"] = header_length, self._checksum_bytes
        self._images = np.zeros((), k.IMAGES)
        self._state["no_nulls"], self._state["images"] = address_of(NO_NULLS), address_of(self._images)
        self._buffers = InflatedEvents(file.uri, file.address, keep)
        self._inflater: Inflater | None = None

    def walk(self, start: int, end: int) -> None:
        """Decode the events in [start, end), offsets of whole events. Batches that are not full wait for `flush`.

        Raises ArchiveError (1610) with file and position for bytes that contradict each other.
        """
        for _ in self.steps(start, end):
            pass

    def steps(self, start: int, end: int, digests: bool = False) -> Iterator[None]:
        """Like `walk`, but pause after handing over each full batch. `digests`: compare checksums, if there are any,
        and compute the digest of the events, which is in `digest` at the end."""
        state = self._state
        for field in _OF_A_WALK:
            state[field] = 0
        state["position"], state["table"], state["digests"] = start, -1, digests
        passed = int(np.searchsorted(self._left_out[:, 1], start, side="right"))
        state["left_out"] = address_of(self._left_out) + passed * self._left_out.itemsize * 2
        state["left_out_end"] = address_of(self._left_out) + self._left_out.nbytes
        if not 0 <= start <= end <= self.file.size:
            raise ArchiveError(f"bytes {start}–{end} are not in the file", file=self.file.uri, position=start)
        state["end"] = end
        while True:
            state["tables"], state["ids"] = address_of(self._records), self._ids.address
            state["ids_mask"] = self._ids.mask
            status = walk(address_of(state))
            if status == k.Status.DONE:
                return
            if status == k.Status.NEW_TABLE_MAP:
                self._add_table_map(self._get("event"))
            elif status == k.Status.NEW_LAYOUT:
                self._add_layout(self._get("table"), self._get("detail"))
            elif status == k.Status.NEW_VARIANT:
                self._add_variant(self._bound(self._get("table")), self._get("partial_bits"))
            elif status == k.Status.BATCH_FULL:
                self._bound(self._get("table")).binding.flush(self.file)
                yield
            elif status == k.Status.NO_ROOM:
                self._make_room(self._bound(self._get("table")))
            elif status == k.Status.NEED_CONTENTS:
                self._inflate(end)
            elif status == k.Status.BUFFER_FULL:
                self._next_buffer()
                yield
            else:
                self._raise(status)

    @property
    def digest(self) -> int:
        """The digest of the events that were walked last, if it was requested."""
        return self._get("digest")

    def _get(self, field: str) -> int:
        """Return a field of the kernel's state."""
        return int(self._state[field])

    def flush(self) -> None:
        """Hand over every batch that is not empty."""
        seen: set[int] = set()
        for table in self._tables:
            if table is not None and id(table.binding) not in seen:
                seen.add(id(table.binding))
                table.binding.flush(self.file)

    def _inflate(self, end: int) -> None:
        """Inflate the compressed event at the cursor, and some of the following ones."""
        inflater = self._inflater = self._inflater or Inflater(self.file, self._header_bytes, self._checksum_bytes)
        inflater.advance(self._get("position"), end, within=self._get("within") != 0)
        self._state["content"], self._state["contents_left"] = address_of(inflater.contents), len(inflater.contents)
        self._state["contents_end"], self._state["inner"] = inflater.memory_end, 0

    def _next_buffer(self) -> None:
        if not self._buffers.is_kept:
            self.flush()
        buffer = self._buffers.next(self._get("wanted_bytes"))
        self._state["buffer"], self._state["buffer_end"] = buffer.address, buffer.address + buffer.size

    def _event_size(self) -> int:
        """Return the size of the event at the cursor, bounded by the file's end, even if the event changed meanwhile.
        """
        event, size = self._get("event"), int.from_bytes(ctypes.string_at(self._get("event") + 9, 4), "little")
        return size if self._get("within") else min(size, self.file.address + self.file.size - event)

    def _add_table_map(self, address: int) -> None:
        end = self._event_size() - (0 if self._get("within") else self._checksum_bytes)
        event = ctypes.string_at(address, end)[self._header_bytes:]
        table_id, body = int.from_bytes(event[:6], "little"), event[6:]
        if body not in self._bodies:
            self._bodies[body] = self._bind_table(body, self._get("position")), np.frombuffer(body, np.uint8)
        number, stored = self._bodies[body]
        self._ids.set(table_id, number, stored)

    def _bind_table(self, body: bytes, position: int) -> int:
        try:
            table_map = parse_table_map(body)
            binding = self._bind(table_map)
        except ApplierError as error:
            raise error.at(file=self.file.uri, position=position) from None
        table = None if binding is None else _BoundTable(table_map, binding, self._computes_omitted)
        self._tables.append(table)
        number = len(self._tables) - 1
        if number == len(self._records):
            self._records = np.concatenate([self._records, np.zeros_like(self._records)])
        if table is not None:
            self._records[number] = table.record()
        return number

    def _bound(self, number: int) -> _BoundTable:
        """Return the selected table at which the kernel has stopped."""
        table = self._tables[number]
        assert table is not None
        return table

    def _add_layout(self, number: int, address: int) -> None:
        table = self._bound(number)
        length = (len(table.table_map.types) + 7) // 8
        with self._located(table):
            table.add_layout(ctypes.string_at(address, length))
        self._records[number] = table.record()

    def _add_variant(self, table: _BoundTable, address: int) -> None:
        length, batch = (len(table.json_columns) + 7) // 8, table.binding.batch
        with self._located(table):
            table.add_variant(self._get("layout"), ctypes.string_at(address, length))
        batch.before.rewind(batch.n_before)

    @contextmanager
    def _located(self, table: _BoundTable) -> Iterator[None]:
        """Add the position of the event at the cursor to errors."""
        try:
            yield
        except ApplierError as error:
            raise error.at(file=self.file.uri, position=self._get("position"), table=table.table_map.name) from None

    def _make_room(self, bound: _BoundTable) -> None:
        """Handle a row at the cursor that did not fit into a string buffer: empty the batch if it has much data, or
        else make room for the whole rows event."""
        batch = bound.binding.batch
        if batch.n and max(batch.before.room, batch.after.room) >= BATCH_BYTES:
            bound.binding.flush(self.file)
            return
        longest = self._event_size() - self._get("row_at")
        with self._located(bound):
            batch.before.make_room(batch.n_before, longest)
            batch.after.make_room(batch.n_after, longest)

    def _raise(self, status: int) -> None:
        position, table = self._get("position"), None
        message: dict[int, str] = {
            k.Status.BAD_LENGTH: "an event with an impossible length",
            k.Status.BAD_CHECKSUM: "an event whose checksum has changed since it was outlined",
            k.Status.UNKNOWN_TABLE: "a rows event without a table map",
            k.Status.BAD_ROWS: f"row {self._get('detail') + 1} of a rows event contradicts its own lengths",
        }
        if status == k.Status.BAD_ROWS:
            table = self._bound(self._get("table")).table_map.name
        raise ArchiveError(message[status], file=self.file.uri, position=position, table=table, errno=1610,
                           hint=_DAMAGED)
