"""Row events as columns: the changes of the wanted tables of a binlog, a batch at a time, in commit order.

    ChangeReader    walks a file and hands each table's changes to that table's `TableBinding`
    TableBinding    which columns of which image a consumer wants of one table, and the batch they come in
    ChangeBatch     up to `rows` changes: kind, place in the log, before-image, after-image, pointer to the after-image

What a batch holds is good until the next one of the same table: its buffers are used again (fresh memory costs more in
page faults than the decoding does). A column that the image does not have is NULL and `absent`; a NULL is just NULL.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from applier.binlog import changes_kernel as k
from applier.binlog.layout import NO_NULLS, ColumnPlan, ImageBuffers, ImageProgram
from applier.binlog.mapping import MappedFile
from applier.binlog.table_map import TableMap, parse_table_map
from applier.errors import ApplierError, ArchiveError, UnsupportedEvent

INSERT, UPDATE, DELETE = k.INSERT, k.UPDATE, k.DELETE
BATCH_BYTES = 64 << 20
"""A batch whose string columns have room for so much is handed over when one is full; a single row may take more."""
_DAMAGED = "the file is damaged; copy it again from the server"


class ImageLayouts:
    """The distinct after-image layouts of one table, numbered from 1 on: what the upper bits of image pointers mean."""

    def __init__(self, plans: list[ColumnPlan]):
        self.plans = plans
        self.present: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, present: tuple[int, ...]) -> int:
        found = self._numbers.get(present)
        if found is None:
            found = self._numbers[present] = len(self.present)
            self.present.append(present)
        return found


class ChangeBatch:
    """Changes of one table. Arrays of `n` entries: `kinds` (uint8: INSERT, UPDATE, DELETE), `places` (int64: offset in
    the file of the rows event), `rows` (int32: row in the event), `before_rows` and `after_rows` (int32: the row of
    `before` and `after` with this change's image, -1 if it has none), `images` (int64: pointer to the after-image, -1
    if there is none) and `image_lengths` (int32: its bytes)."""

    def __init__(self, before: ImageBuffers, after: ImageBuffers, rows: int):
        self.before, self.after, self.file = before, after, None
        self._arrays = [np.empty(rows, kind) for kind in
                        (np.uint8, np.int64, np.int32, np.int32, np.int32, np.int64, np.int32)]
        self.record = np.zeros(k.BATCH_WORDS, np.int64)
        self.record[k.CAPACITY // 8] = rows
        self.record[k.KINDS // 8:k.IMAGE_LENGTHS // 8 + 1] = [array.ctypes.data for array in self._arrays]

    @property
    def n(self) -> int:
        return int(self.record[k.N // 8])

    @property
    def n_before(self) -> int:
        return int(self.record[k.N_BEFORE // 8])

    @property
    def n_after(self) -> int:
        return int(self.record[k.N_AFTER // 8])

    @property
    def zero_dates(self) -> int:
        """Dates in the wanted columns of both images that became null because they are no day."""
        return int(self.record[k.ZERO_DATES // 8])

    @property
    def kinds(self) -> np.ndarray:
        return self._arrays[0][:self.n]

    @property
    def places(self) -> np.ndarray:
        return self._arrays[1][:self.n] - self.file.address

    @property
    def rows(self) -> np.ndarray:
        return self._arrays[2][:self.n]

    @property
    def before_rows(self) -> np.ndarray:
        return self._arrays[3][:self.n]

    @property
    def after_rows(self) -> np.ndarray:
        return self._arrays[4][:self.n]

    @property
    def images(self) -> np.ndarray:
        return self._arrays[5][:self.n]

    @property
    def image_lengths(self) -> np.ndarray:
        return self._arrays[6][:self.n]

    def reset(self) -> None:
        self.before.reset()
        self.after.reset()
        self.record[[k.N // 8, k.N_BEFORE // 8, k.N_AFTER // 8, k.ZERO_DATES // 8]] = 0


@dataclasses.dataclass
class TableBinding:
    """What a consumer wants of one table.

    `plans` says how each column of the log's images is read, `before` and `after` what comes out for each (None: not
    wanted; a plan of `plans`, or a variant of it). `take` is called with each batch when it is full or the walk ends.
    """

    plans: list[ColumnPlan]
    before: list[ColumnPlan | None]
    after: list[ColumnPlan | None]
    take: Callable[[ChangeBatch], None]
    rows: int = 4096

    def __post_init__(self) -> None:
        self.batch = ChangeBatch(ImageBuffers(self.before, self.rows), ImageBuffers(self.after, self.rows), self.rows)
        self.layouts = ImageLayouts(self.plans)

    def flush(self, file: MappedFile) -> None:
        """Hand over what is in the batch, and empty it."""
        if self.batch.n:
            self.batch.file = file
            self.take(self.batch)
        self.batch.reset()


class _BoundTable:
    """One distinct table map: its binding, and the layouts met so far."""

    def __init__(self, table_map: TableMap, binding: TableBinding):
        self.table_map, self.binding = table_map, binding
        self._kept: list[object] = []
        self._records = np.zeros((0, k.LAYOUT_BYTES // 8), np.int64)

    def add_layout(self, bitmap: bytes) -> None:
        """Compile the programs for images with this bitmap of present columns."""
        columns = len(self.table_map.types)
        bits = int.from_bytes(bitmap, "little")
        present = [column for column in range(columns) if bits >> column & 1]
        binding, stored = self.binding, np.frombuffer(bitmap, np.uint8).copy()
        programs = [ImageProgram(binding.plans, present, buffers)
                    for buffers in (binding.batch.before, binding.batch.after)]
        self._kept += [stored, *programs]
        number = binding.layouts.number(tuple(present))
        if number > k.MAX_IMAGE_ID:
            raise ArchiveError(f"more than {number - 1} row layouts", table=self.table_map.name)
        row = [stored.ctypes.data, number, *(program.address for program in programs), 0, 0, 0, 0]
        self._records = np.vstack([self._records, np.array([row], np.int64)])

    def record(self) -> list[int]:
        return [1, len(self.table_map.types), self.binding.batch.record.ctypes.data, self._records.ctypes.data,
                len(self._records), 0, 0, 0]


class ChangeReader:
    """Decodes the row changes of one file for the tables that `bind` wants.

    `bind(table_map)` is called once for each distinct table map: a TableBinding (which several table maps may share) or
    None. `checksum` says that events end with a CRC32, `verify` that it is compared (the outline has done so before).
    """

    def __init__(self, file: MappedFile, bind: Callable[[TableMap], TableBinding | None], *, checksum: bool,
                 verify: bool = False):
        self.file, self._bind = file, bind
        self._checksum_bytes, self._verify = 4 if checksum else 0, verify and checksum
        self._tables: list[_BoundTable | None] = []
        self._numbers: dict[bytes, int] = {}
        self._records = np.zeros((16, k.TABLE_WORDS), np.int64)
        self._ids = np.full((256, 4), -1, np.int64)
        self._n_ids = 0
        self._state = np.zeros(4, np.int64)

    def walk(self, start: int, end: int) -> None:
        """Decode the events in [start, end), offsets of whole events. Batches that are not full wait for `flush`.

        Raises ArchiveError (1610) with file and position where bytes contradict each other.
        """
        for _ in self.steps(start, end):
            pass

    def steps(self, start: int, end: int) -> Iterator[None]:
        """`walk`, pausing whenever a batch was full and has been handed over."""
        state = self._state
        state[:] = start, 0, -1, 0
        if not 0 <= start <= end <= self.file.size:
            raise ArchiveError(f"bytes {start}–{end} are not in the file", file=self.file.uri, position=start)
        safe_end = self.file.address + self.file.size
        while True:
            status = k.walk(self.file.address, end, safe_end, state.ctypes.data, self._records.ctypes.data,
                            self._ids.ctypes.data, len(self._ids) - 1, self._checksum_bytes, self._verify,
                            NO_NULLS.ctypes.data)
            if status == k.DONE:
                return
            if status == k.NEW_TABLE_MAP:
                self._add_table_map(self._word(k.POSITION))
            elif status == k.NEW_LAYOUT:
                self._add_layout(self._word(k.TABLE), self._word(k.DETAIL) - self.file.address)
            elif status == k.BATCH_FULL:
                self._tables[self._word(k.TABLE)].binding.flush(self.file)
                yield
            elif status == k.NO_ROOM:
                self._make_room(self._tables[self._word(k.TABLE)])
            else:
                self._raise(status)

    def _word(self, word: int) -> int:
        """A word of the kernel's state."""
        return int(self._state[word // 8])

    def flush(self) -> None:
        """Hand over every batch that has something in it."""
        seen: set[int] = set()
        for table in self._tables:
            if table is not None and id(table.binding) not in seen:
                seen.add(id(table.binding))
                table.binding.flush(self.file)

    def _add_table_map(self, position: int) -> None:
        data = self.file.array
        size = int.from_bytes(data[position + 9:position + 13].tobytes(), "little")
        table_id = int.from_bytes(data[position + 19:position + 25].tobytes(), "little")
        end = position + size - self._checksum_bytes
        body = data[position + 25:end].tobytes()
        number = self._numbers.get(body)
        if number is None:
            number = self._numbers[body] = self._bind_table(body, position)
        if self._n_ids * 2 >= len(self._ids):
            self._grow_ids()
        slot = self._slot(table_id)
        self._n_ids += int(self._ids[slot, 0] == -1)
        self._ids[slot] = table_id, number, position + 25, len(body)

    def _bind_table(self, body: bytes, position: int) -> int:
        try:
            table_map = parse_table_map(body)
            binding = self._bind(table_map)
        except ApplierError as error:
            raise error.at(file=self.file.uri, position=position) from None
        self._tables.append(None if binding is None else _BoundTable(table_map, binding))
        number = len(self._tables) - 1
        if number == len(self._records):
            self._records = np.vstack([self._records, np.zeros_like(self._records)])
        if binding is not None:
            self._records[number] = self._tables[number].record()
        return number

    def _slot(self, table_id: int) -> int:
        mask = len(self._ids) - 1
        slot = (table_id * 0x9E3779B97F4A7C15 % (1 << 64) >> 40) & mask
        while self._ids[slot, 0] not in (-1, table_id):
            slot = (slot + 1) & mask
        return slot

    def _grow_ids(self) -> None:
        old = self._ids[self._ids[:, 0] != -1]
        self._ids = np.full((4 * len(self._ids), 4), -1, np.int64)
        for entry in old:
            self._ids[self._slot(int(entry[0]))] = entry

    def _add_layout(self, number: int, offset: int) -> None:
        table = self._tables[number]
        length = (len(table.table_map.types) + 7) // 8
        table.add_layout(self.file.array[offset:offset + length].tobytes())
        self._records[number] = table.record()

    def _make_room(self, bound: _BoundTable) -> None:
        """The row at the cursor did not fit into a string buffer: empty the batch if it holds much, else more room for
        all that the row's event may hold."""
        batch, position = bound.binding.batch, self._word(k.POSITION)
        if batch.n and max(batch.before.room, batch.after.room) >= BATCH_BYTES:
            bound.binding.flush(self.file)
            return
        size = int.from_bytes(self.file.array[position + 9:position + 13].tobytes(), "little")
        longest = size - self._word(k.ROW_AT)
        try:
            batch.before.make_room(batch.n_before, longest)
            batch.after.make_room(batch.n_after, longest)
        except UnsupportedEvent as error:
            raise error.at(file=self.file.uri, position=position, table=bound.table_map.name) from None

    def _raise(self, status: int) -> None:
        position, table = self._word(k.POSITION), None
        message = {k.BAD_LENGTH: "an event with an impossible length",
                   k.BAD_CHECKSUM: "an event whose checksum does not match",
                   k.UNKNOWN_TABLE: "a rows event whose table map is not there",
                   k.BAD_ROWS: f"row {self._word(k.DETAIL) + 1} of a rows event contradicts its own lengths"}
        if status == k.BAD_ROWS:
            table = self._tables[self._word(k.TABLE)].table_map.name
        raise ArchiveError(message[status], file=self.file.uri, position=position, table=table, errno=1610,
                           hint=_DAMAGED)
