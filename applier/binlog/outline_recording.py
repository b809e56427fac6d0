"""The arrays that the outline's kernels write: one `Recording` a pass over a file. Positions are offsets in the file."""

from typing import NamedTuple

import numpy as np

from applier.binlog.format import FormatDescription
from applier.binlog.gtid import GtidSet

# What a pass ends with.
DONE, NEED_ROOM, STOPPED, CUT_SHORT, BAD_LENGTH, BAD_CHECKSUM, BAD_EVENT, UNMAPPED_TABLE = range(8)

# Group states, see outline_kernel.
OUTSIDE, ANNOUNCED, STANDALONE, TRANSACTION, ROWS = range(5)

# Recording.state
(
    POSITION, N_EVENTS, N_GROUPS, N_ROW_EVENTS, ROW_BYTES,
    GROUP_STATE, GROUP_START, GROUP_TIME, GROUP_ROW_EVENTS, GROUP_GTID, GROUP_SOURCE, GROUP_NUMBER, GROUP_SERVER,
    FIRST_START, LAST_END, FIRST_TIME, LAST_TIME, LAST_GTID,
    SPLIT_START, N_SPLITS, N_SPLIT_TABLES, N_NOTES, N_VOIDS, N_RUNS, N_SOURCES, N_TABLES, N_TABLE_IDS,
    GTIDS_TO_STOP,
    STATE_LENGTH,
) = range(29)  # fmt: skip

# Recording.notes: kind, position, group start, position of the group's GTID event (0: none), table use (-1: none)
STATEMENT, COMPRESSED_STATEMENT, FILE_EVENT, BLOCKED, BLOCKED_XA, BLOCKED_SAVEPOINT = range(6)
NOTE_LENGTH = 5

# Recording.tables: a row for each distinct table map
(
    BODY, BODY_LENGTH, FIRST_POSITION, ROWS_EVENTS, ROWS_BYTES, PARTIAL, STRIDE, N_SAMPLES, SPLIT_BYTES, NOTED_TYPES, TABLE_LENGTH
) = range(11)  # fmt: skip

# Recording.table_ids: a hash table of (table id + 1, table use, number of the group that mapped it)
TABLE_ID_LENGTH = 3

MOST_COLUMNS = 4096
N_SAMPLES_KEPT = 64
SOURCE_LENGTH = 56
"""A GTID's source: UUID 16 bytes and tag length 1 byte and tag, or a MariaDB domain in the first 4 bytes; zeros follow."""
TAG_AT = 16
MOST_TAG_BYTES = 32
NEVER = np.int64(1 << 62)


class Recording(NamedTuple):
    """What a pass has found. Counts of used rows are in `state`."""

    state: np.ndarray  # int64[STATE_LENGTH]
    notes: np.ndarray  # int64[n, NOTE_LENGTH]
    noted: np.ndarray  # uint8[256 + 2]: blockers of this event type are noted already
    splits: np.ndarray  # int64[n, 2]: start, end
    split_tables: np.ndarray  # int64[n, 3]: split, table use, bytes
    voids: np.ndarray  # int64[n, 2]: start, end
    sources: np.ndarray  # uint8[n, SOURCE_LENGTH]
    source_slots: np.ndarray  # int64[power of two]: hash table of source index + 1
    source_run: np.ndarray  # int64[n]: each source's latest run
    runs: np.ndarray  # int64[n, 3]: source, first, last; MariaDB: domain's source, server id, number
    tables: np.ndarray  # int64[n, TABLE_LENGTH]
    table_slots: np.ndarray  # int64[power of two]: hash table of table use + 1, by the table map's body
    table_ids: np.ndarray  # int64[power of two, TABLE_ID_LENGTH]
    after_columns: np.ndarray  # uint8[n, MOST_COLUMNS // 8]
    samples: np.ndarray  # int64[n, N_SAMPLES_KEPT]: positions of rows events


class Limits(NamedTuple):
    """What a pass reads, and where it stops."""

    end: int  # of the bytes that are read: no event that goes past it counts
    header_length: int
    checksum_length: int
    verify: bool
    split_bytes: int
    stop_time: int  # stop before the first group of this time or later; NEVER
    stop_sources: np.ndarray  # uint8[n, SOURCE_LENGTH]
    stop_numbers: np.ndarray  # int64[n, 3]: first, last, and for MariaDB 1 as long as the domain is not there yet


def new_recording(room: int, n_splits: int, start: int) -> Recording:
    """Empty arrays for a pass from `start`. `room`: a power of two, the tables that fit; all else in proportion."""
    state = np.zeros(STATE_LENGTH, np.int64)
    state[[POSITION, FIRST_START, LAST_END, SPLIT_START]] = start, -1, start, -1
    many = 16 * room
    return Recording(
        state, np.empty((many, NOTE_LENGTH), np.int64), np.zeros(258, np.uint8), np.empty((n_splits, 2), np.int64),
        np.empty((many, 3), np.int64), np.empty((many, 2), np.int64), np.zeros((room, SOURCE_LENGTH), np.uint8),
        np.zeros(2 * room, np.int64), np.zeros(room, np.int64), np.empty((many, 3), np.int64),
        np.zeros((room, TABLE_LENGTH), np.int64), np.zeros(2 * room, np.int64),
        np.zeros((many, TABLE_ID_LENGTH), np.int64), np.zeros((room, MOST_COLUMNS // 8), np.uint8),
        np.empty((room, N_SAMPLES_KEPT), np.int64),
    )  # fmt: skip


def new_limits(
    description: FormatDescription, end: int, verify: bool, split_bytes: int, stop_time: int | None, stop_gtids: GtidSet
) -> tuple[Limits, int]:
    """Limits of a pass, and the number of transactions (MariaDB: domains) of `stop_gtids` that are still to come."""
    numbers = [(source, first, last, 0) for source, pairs in stop_gtids.intervals.items() for first, last in pairs]
    numbers += [(domain, number, number, 1) for domain, (_, number) in stop_gtids.domains.items()]
    sources = np.zeros((len(numbers), SOURCE_LENGTH), np.uint8)
    for row, (source, *_) in zip(sources, numbers, strict=True):
        key = _source_bytes(source)
        row[: len(key)] = np.frombuffer(key, np.uint8)
    ranges = np.array([number[1:] for number in numbers], np.int64).reshape(-1, 3)
    limits = Limits(np.int64(end), np.int64(description.header_length), np.int64(description.checksum_length),
                    bool(verify and description.checksum), np.int64(split_bytes),
                    NEVER if stop_time is None else np.int64(stop_time), sources, ranges)
    return limits, sum(last - first + 1 for _, first, last, _ in numbers)


def executed(recording: Recording, mariadb: bool) -> GtidSet:
    """The transactions of all groups that ended in this pass."""
    runs = recording.runs[: recording.state[N_RUNS]].tolist()
    sources = [row.tobytes() for row in recording.sources[: recording.state[N_SOURCES]]]
    if mariadb:
        domains = {int.from_bytes(sources[source][:4], "little"): (server, number) for source, server, number in runs}
        return GtidSet.from_intervals({}, domains)
    intervals: dict[str, list[tuple[int, int]]] = {_source_text(source): [] for source in sources}
    for source, first, last in runs:
        intervals[_source_text(sources[source])].append((first, last))
    return GtidSet.from_intervals(intervals)


def _source_bytes(source: str | int) -> bytes:
    if isinstance(source, int):
        return source.to_bytes(4, "little")
    uuid, _, tag = source.partition(":")
    return bytes.fromhex(uuid.replace("-", "")) + bytes([len(tag)]) + tag.encode()


def _source_text(source: bytes) -> str:
    digits = source[:TAG_AT].hex()
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    tag = source[TAG_AT + 1 : TAG_AT + 1 + source[TAG_AT]].decode("ascii", "replace")
    return f"{uuid}:{tag}" if tag else uuid
