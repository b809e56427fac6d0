# mypy: allow-untyped-defs, no-check-untyped-defs
"""What the outline's kernels read and write: records of int64 fields, by address.

A pass has one record, the state. It holds the limits of the pass, its counters, the group that is open, and the
addresses and sizes of the arrays that take what is found. Kernels get its address only: arrays as arguments would
cost more than the work on an event. All positions are offsets in the file; what is within a compressed event has its
position, and where it has to be looked at again, it is copied and found by an address relative to the file's.
"""

from enum import IntEnum

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from applier.binlog.events.format import MOST_COLUMNS, FormatDescription
from applier.binlog.events.gtid import GtidSet
from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, inline


class Status(IntEnum):
    """What a pass ends with, or pauses for."""

    DONE = 0
    NEED_ROOM = 1
    STOPPED = 2
    CUT_SHORT = 3
    BAD_LENGTH = 4
    BAD_CHECKSUM = 5
    BAD_EVENT = 6
    UNMAPPED_TABLE = 7
    NEED_CONTENTS = 8
    """It pauses for what a compressed event holds."""
    NEED_MEMORY = 9
    """It pauses for memory to keep some of that in."""


# Group states, see outline_kernel.
OUTSIDE, ANNOUNCED, STANDALONE, TRANSACTION, ROWS = range(5)

# The fields of the state.
(
    # the file, what of it is read, and where to stop
    BASE, END, HEADER_BYTES, CHECKSUM_BYTES, VERIFY, WANTED_SPLIT, STOP_TIME, GTIDS_TO_STOP,
    POSITION, N_EVENTS, N_GROUPS, N_ROW_EVENTS, N_ROW_BYTES, FIRST_START, FIRST_TIME, LAST_END, LAST_TIME, LAST_GTID,
    # the group that is open, and the split
    GROUP_STATE, GROUP_START, GROUP_TIME, GROUP_ROW_EVENTS, GROUP_GTID, GROUP_SOURCE, GROUP_NUMBER, GROUP_SERVER,
    GROUP_XID, SPLIT_START,
    # of the split: the digest of its events so far, and up to the end of its last group; the CRC32 of the event
    DIGEST, LAST_DIGEST, EVENT_CRC,
    SOURCE_SLOTS, ROOM_SOURCE_SLOTS, TABLE_SLOTS, ROOM_TABLE_SLOTS, NOTED,
    # compressed events: the next of what was inflated (address) and how much is left of it, the event in it (address, 0
    # before the first), whether one has begun, their bytes, and memory for what must be kept of them
    CONTENT, CONTENTS_LEFT, INNER, WITHIN, N_INFLATED, KEPT_AT, KEPT_END, KEPT_WANTED,
    _ARRAYS,
) = range(45)  # fmt: skip
# Arrays of records, three fields each: how many are used, the address of the first, how many there is room for.
(
    NOTES, SPLITS, SPLIT_TABLES, VOIDS, SAVEPOINTS, SOURCES, RUNS, TABLES, TABLE_IDS, STOP_GTIDS, GROUPS, STATE_LENGTH,
) = range(_ARRAYS, _ARRAYS + 36, 3)  # fmt: skip

# A note: what Python has to look at. Its event is at its position, or, where it was compressed, at an address relative
# to the file's. Its GTID event is at position 0 where it has none, its table use is -1.
NOTE_KIND, NOTE_POSITION, NOTE_EVENT, NOTE_GROUP, NOTE_GTID, NOTE_TABLE, NOTE_LENGTH = range(7)
STATEMENT, FILE_EVENT, BLOCKED, BLOCKED_SAVEPOINT, XA_PREPARED, XA_DECIDED = range(6)

SPLIT_FIRST, SPLIT_END, SPLIT_DIGEST, SPLIT_LENGTH = range(4)
SPLIT_TABLE_SPLIT, SPLIT_TABLE_USE, SPLIT_TABLE_BYTES, SPLIT_TABLE_LENGTH = range(4)
VOID_START, VOID_END, VOID_LENGTH = range(3)

# A savepoint of the group that is open: where its name is, where what follows it starts, and the group's rows events
# before it.
SAVEPOINT_NAME, SAVEPOINT_NAME_LENGTH, SAVEPOINT_END, SAVEPOINT_ROW_EVENTS, SAVEPOINT_LENGTH = range(5)

# A table id of the log (plus one), the table use it stands for, and the number of the group that mapped it.
ID_PLUS_ONE, ID_USE, ID_GROUP, ID_LENGTH = range(4)

# A source of GTIDs: a UUID, the tag's length and the tag, or a MariaDB domain, as 56 bytes that end with zeros.
SOURCE_BYTES = 56
TAG_AT, MOST_TAG_BYTES = 16, 32
SOURCE_RUN, SOURCE_LENGTH = 7, 8  # after the bytes: its latest run, plus one

# A run of transactions of a source, without gaps. MariaDB: a domain's last server id and number.
RUN_SOURCE, RUN_FIRST, RUN_LAST, RUN_LENGTH = range(4)

# A group, where a pass keeps a record of each: its source and number (-1 without a GTID), its server (MariaDB), and the
# number of its XID event (-1 without one).
(
    ENTRY_START, ENTRY_END, ENTRY_TIME, ENTRY_SOURCE, ENTRY_NUMBER, ENTRY_SERVER, ENTRY_XID, ENTRY_LENGTH,
) = range(8)  # fmt: skip

# What the stop set wants of a source (as above): the numbers; MariaDB: is the domain there yet?
STOP_FIRST, STOP_LAST, STOP_REACHED, STOP_LENGTH = range(7, 11)

# A table use: what a distinct table map is used for. Then N_SAMPLES_KEPT positions, and a bitmap of columns.
N_SAMPLES_KEPT, SAMPLE_BYTES = 64, 4096
(
    BODY, BODY_LENGTH, FIRST_POSITION, ROWS_EVENTS, ROWS_BYTES, PARTIAL, STRIDE, N_SAMPLES, SPLIT_BYTES, SAMPLES,
) = range(10)  # fmt: skip
AFTER_COLUMNS = SAMPLES + N_SAMPLES_KEPT
LACKED_COLUMNS = AFTER_COLUMNS + MOST_COLUMNS // 64
TABLE_LENGTH = LACKED_COLUMNS + MOST_COLUMNS // 64

NEVER = 1 << 62
_KEPT_BYTES = 1 << 20
NOTED_KINDS = 257  # 256 event types, and ROLLBACK TO a savepoint that is not there


# The operations on fields are LLVM IR: as functions they would be compiled anew for every field that is a constant.
_WORD = ir.IntType(64)


def _field(builder: ir.IRBuilder, record: ir.Value, field: ir.Value) -> ir.Value:
    return builder.gep(builder.inttoptr(record, _WORD.as_pointer()), [field])


@intrinsic
def get(typing_context, record, field):
    """A field of the record at an address."""

    def generate(context, builder, signature, arguments):
        return builder.load(_field(builder, *arguments), align=8)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def put(typing_context, record, field, value):
    """Set a field of the record at an address."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _field(builder, *arguments[:2]), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def increase(typing_context, record, field, by):
    """Add to a field of the record at an address."""

    def generate(context, builder, signature, arguments):
        place = _field(builder, *arguments[:2])
        builder.store(builder.add(builder.load(place, align=8), arguments[2]), place, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def at(typing_context, state, array, length, index):
    """The address of a record in one of the state's arrays, whose records have `length` fields."""

    def generate(context, builder, signature, arguments):
        state, array, length, index = arguments
        start = builder.load(_field(builder, state, builder.add(array, ir.Constant(_WORD, 1))), align=8)
        return builder.add(start, builder.mul(builder.mul(length, index), ir.Constant(_WORD, 8)))

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@inline
def append(state, array, length):
    """The address of a new record at an array's end; 0 where the array is full."""
    used = get(state, array)
    if used == get(state, array + 2):
        return np.int64(0)
    increase(state, array, 1)
    return at(state, array, length, used)


@inline
def kept(state, address, length):
    """Where bytes of an event are found later, relative to BASE: copied where the event was compressed."""
    if get(state, WITHIN) != 0:
        copy_bytes(get(state, KEPT_AT), address, length)
        address = get(state, KEPT_AT)
        increase(state, KEPT_AT, length)
    return address - get(state, BASE)


class Recording:
    """The state and the arrays of one pass. `room`: a power of two, the tables that fit; all else is in proportion.
    `n_groups`: how many groups there is room for; 0 where no record of each is kept."""

    def __init__(self, room: int, n_splits: int, stop_gtids: GtidSet, n_groups: int = 0) -> None:
        self.state = np.zeros(STATE_LENGTH, np.int64)
        self.notes = self._array(NOTES, 16 * room, NOTE_LENGTH)
        self.splits = self._array(SPLITS, n_splits, SPLIT_LENGTH)
        self.split_tables = self._array(SPLIT_TABLES, 16 * room, SPLIT_TABLE_LENGTH)
        self.voids = self._array(VOIDS, 16 * room, VOID_LENGTH)
        self._savepoints = self._array(SAVEPOINTS, 16 * room, SAVEPOINT_LENGTH)
        self.sources = self._array(SOURCES, room, SOURCE_LENGTH)
        self.runs = self._array(RUNS, 16 * room, RUN_LENGTH)
        self.tables = self._array(TABLES, room, TABLE_LENGTH)
        self._table_ids = self._array(TABLE_IDS, 16 * room, ID_LENGTH)
        self.groups = self._array(GROUPS, n_groups, ENTRY_LENGTH)
        self._slots = np.zeros((2, 2 * room), np.int64)
        for field, slots in zip((SOURCE_SLOTS, TABLE_SLOTS), self._slots, strict=True):
            self.state[field : field + 2] = address_of(slots), len(slots)
        self._memory: list[np.ndarray] = []
        self._noted = np.zeros(NOTED_KINDS, np.uint8)
        self.state[NOTED] = address_of(self._noted)
        self._set_stop_gtids(stop_gtids)

    def _array(self, field: int, rows: int, length: int) -> np.ndarray:
        array = np.zeros((rows, length), np.int64)
        self.state[field + 1 : field + 3] = address_of(array), rows
        return array

    def _set_stop_gtids(self, stop_gtids: GtidSet) -> None:
        wanted: list[tuple[str | int, int, int]] = [
            (source, first, last) for source, pairs in stop_gtids.intervals.items() for first, last in pairs]
        wanted += [(domain, number, number) for domain, (_, number) in stop_gtids.domains.items()]
        self._stop_gtids = self._array(STOP_GTIDS, len(wanted), STOP_LENGTH)
        for entry, (source, first, last) in zip(self._stop_gtids, wanted, strict=True):
            entry[:STOP_FIRST] = np.frombuffer(_source_bytes(source).ljust(SOURCE_BYTES, b"\0"), np.int64)
            entry[[STOP_FIRST, STOP_LAST]] = first, last
        self.state[STOP_GTIDS] = len(wanted)
        self.state[GTIDS_TO_STOP] = sum(last - first + 1 for _, first, last in wanted)

    def set_limits(
        self,
        base: int,
        begin: int,
        end: int,
        description: FormatDescription,
        verify: bool,
        split_bytes: int,
        stop_time: float | None,
    ) -> None:
        """Read [begin, end) of the file at address `base`; splits near `split_bytes`; stop before `stop_time`.
        `verify`: compare checksums, and make digests of the splits."""
        self.state[[BASE, POSITION, LAST_END, END]] = base, begin, begin, end
        self.state[[HEADER_BYTES, CHECKSUM_BYTES]] = description.header_length, description.checksum_length
        self.state[[VERIFY, WANTED_SPLIT]] = verify, split_bytes
        self.state[STOP_TIME] = NEVER if stop_time is None else stop_time
        self.state[[FIRST_START, SPLIT_START]] = -1

    def set_contents(self, contents: np.ndarray) -> None:
        """What an Inflater has ready; it must stay as it is until the next."""
        self.state[[CONTENT, CONTENTS_LEFT, INNER]] = address_of(contents), len(contents), 0

    def add_memory(self) -> None:
        """Memory for what must be kept of compressed events. It lives as long as this object."""
        self._memory.append(np.empty(max(_KEPT_BYTES, int(self.state[KEPT_WANTED])), np.uint8))
        start = address_of(self._memory[-1])
        self.state[[KEPT_AT, KEPT_END]] = start, start + len(self._memory[-1])

    @property
    def address(self) -> int:
        """Of the state, for the kernel. The arrays live as long as this object."""
        return address_of(self.state)

    def used(self, records: np.ndarray, array: int) -> list[list[int]]:
        """The records that were written to one of the arrays."""
        used: list[list[int]] = records[: self.state[array]].tolist()
        return used

    def executed(self, mariadb: bool) -> GtidSet:
        """The transactions of all groups that ended in this pass."""
        runs = self.used(self.runs, RUNS)
        sources = [source.tobytes() for source in self.sources[: self.state[SOURCES]]]
        if mariadb:
            domains = {
                int.from_bytes(sources[source][:4], "little"): (server, number) for source, server, number in runs
            }
            return GtidSet.from_intervals({}, domains)
        texts = [source_text(source) for source in sources]
        intervals: dict[str, list[tuple[int, int]]] = {text: [] for text in texts}
        for source, first, last in runs:
            intervals[texts[source]].append((first, last))
        return GtidSet.from_intervals(intervals)


def _source_bytes(source: str | int) -> bytes:
    if isinstance(source, int):
        return source.to_bytes(4, "little")
    uuid, _, tag = source.partition(":")
    return bytes.fromhex(uuid.replace("-", "")) + bytes([len(tag)]) + tag.encode()


def source_text(source: bytes) -> str:
    """A MySQL source's bytes as the servers write it: UUID, or UUID:tag."""
    digits = source[:TAG_AT].hex()
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    tag = source[TAG_AT + 1 : TAG_AT + 1 + source[TAG_AT]].decode("ascii", "replace")
    return f"{uuid}:{tag}" if tag else uuid
