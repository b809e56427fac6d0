# mypy: allow-untyped-defs, no-check-untyped-defs
"""Typed records that the outline's kernels read and write.

A pass has one record, the state: the limits of the pass, its counters, the open group, and the addresses and sizes of
the arrays for the results. Kernels get only its address: arrays as arguments would cost more than the work on an event.
All positions are offsets in the file. Events within a compressed event have its position; events that are needed again
are copied, and found by an address relative to the file's.
"""

from collections import defaultdict
from collections.abc import Mapping
from enum import IntEnum

import numpy as np

from applier.binlog.events.format import MOST_COLUMNS, FormatDescription
from applier.binlog.events.gtid import GtidSet, Interval
from applier.binlog.outline.kernels.outline_rule import (
    BY_GTID,
    BY_SERVER,
    LEFT_OUT_GTIDS,
    SOURCE_BYTES,
    domain_of,
    rule_records,
    source_bytes,
    source_text,
)
from applier.binlog.outline.left_out import LeavingOut, pack_ranges
from keysearch.addresses import address_of
from keysearch.memory import copy_bytes, inline
from keysearch.records import offset, struct


class Status(IntEnum):
    """How a pass ends, or why it pauses."""

    DONE = 0
    NEED_ROOM = 1
    STOPPED = 2
    CUT_SHORT = 3
    BAD_LENGTH = 4
    BAD_CHECKSUM = 5
    BAD_EVENT = 6
    UNMAPPED_TABLE = 7
    NEED_CONTENTS = 8
    """Paused: needs the contents of a compressed event."""
    NEED_MEMORY = 9
    """Paused: needs memory to keep a part of a compressed event."""


# Group states, see outline_kernel.
OUTSIDE, ANNOUNCED, STANDALONE, TRANSACTION, ROWS = range(5)

ARRAY, _, _ = struct("array", used=np.int64, start=np.int64, room=np.int64)
"""An array of records: the number of used ones, the address of the first, and the number that fit."""
STATE, state_at, _ = struct("state", **dict.fromkeys((
    # the file, the part of it that is read, and where to stop
    "base", "end", "header_bytes", "checksum_bytes", "verify", "wanted_split", "stop_time", "gtids_to_stop",
    "position", "n_events", "n_groups", "n_row_events", "n_row_bytes", "first_start", "first_time", "last_end",
    "last_time", "last_gtid",
    # the group that is open, and the split
    "group_state", "group_start", "group_time", "group_row_events", "group_gtid", "group_source", "group_number",
    "group_server", "group_xid", "group_thread", "split_start",
    # of the split: the digest of its events so far, and up to the end of its last group; the CRC32 of the event
    "digest", "last_digest", "event_crc",
    "source_slots", "room_source_slots", "table_slots", "room_table_slots", "noted",
    # compressed events: the next of what was inflated (address) and how much is left of it, the event in it (address, 0
    # before the first), whether one has begun, their bytes, and memory for the parts that must be kept
    "content", "contents_left", "inner", "within", "n_inflated", "kept_at", "kept_end", "kept_wanted",
    # statements behind rows events
    "n_row_statements",
    # groups that are left out: by what, and whether the servers of the rule are those that are not; whether the open
    # group is; how many are, with how many rows events; how many the base has executed; the source and server that were
    # looked up last (plus one; unchanged), and their intervals in the rule
    "leaves_out", "other_servers", "group_left_out", "n_left_out", "n_left_out_rows", "n_executed", "rule_known",
    "rule_server", "rule_first", "rule_end"), np.int64),
    **dict.fromkeys((
        "notes", "splits", "split_tables", "rolled_back", "savepoints", "sources", "runs", "tables", "table_ids",
        "stop_gtids", "groups", "row_statements", "rule_sources", "rule_intervals", "rule_servers", "left_out",
        "left_out_gtids"), ARRAY))

NOTE, note_view, note_at = struct("note", **dict.fromkeys((
    "kind", "position", "event", "group", "gtid", "table"), np.int64))
"""A note for Python. Its event is at its position, or, if it was compressed, at an address relative to the file's.
Without a GTID event that position is 0, without a table its use is -1."""
STATEMENT, FILE_EVENT, BLOCKED, BLOCKED_SAVEPOINT, XA_PREPARED, XA_DECIDED = range(6)

SPLIT, split_view, _ = struct("split", first=np.int64, end=np.int64, digest=np.int64)
SPLIT_TABLE, split_table_view, _ = struct("table in a split", split=np.int64, use=np.int64)
RANGE, range_view, _ = struct("range", start=np.int64, end=np.int64)
SAVEPOINT, _, savepoint_at = struct("savepoint", **dict.fromkeys((
    "name_at", "name_length", "end", "row_events"), np.int64))
"""A savepoint of the open group: the address of its name, the end of its event, and the number of the group's rows
events before it."""
TABLE_ID, _, table_id_entry = struct("table id", plus_one=np.int64, use=np.int64, group=np.int64)
"""A table id of the log (plus one), the table use that it stands for, and the number of the group that mapped it."""

SOURCE, source_view, _ = struct("source", bytes=(np.uint8, (SOURCE_BYTES,)), run=np.int64)
"""A source of GTIDs (outline_rule.source_bytes), and its latest run, plus one."""
RUN, _, run_at = struct("run", source=np.int64, first=np.int64, last=np.int64)
"""Consecutive transactions of a source. MariaDB: a server id, and its last number in the domain."""
GROUP, group_view, _ = struct("group", **dict.fromkeys((
    "start", "end", "time", "source", "number", "server", "xid", "thread"), np.int64))
"""A group, if a pass records all of them: its source and number (-1 without a GTID), its server (MariaDB), the number
of its XID event (-1 without one), and the thread that ran it on the server (-1 if the log does not have it)."""
ROW_STATEMENT, row_statement_view, _ = struct("statement of rows", **dict.fromkeys((
    "position", "end", "text", "length"), np.int64))
"""The statement that made the rows events in [position, end), if a pass records all of them; `end` is NEVER if no rows
event is marked as the last one. The text is at an address relative to the file's."""
STOP, stop_view, _ = struct("stop", bytes=(np.uint8, (SOURCE_BYTES,)), first=np.int64, last=np.int64, reached=np.int64)
"""The part of the stop set of one source (given by its bytes): the numbers; MariaDB: the server id and the number, and
whether the domain has reached them."""

N_SAMPLES_KEPT, SAMPLE_BYTES, SAMPLE_BITS = 512, 512, 6
_BITMAP = (np.uint8, (MOST_COLUMNS // 8,))
TABLE, table_view, _ = struct("table use", **dict.fromkeys((
    "body", "body_length", "first_position", "rows_events", "rows_bytes", "partial", "stride", "n_samples",
    "in_split"), np.int64), samples=(np.int64, (N_SAMPLES_KEPT,)), after_columns=_BITMAP, lacked_columns=_BITMAP)
"""The uses of a distinct table map. Samples are positions. `in_split`: the open split has rows events of the table."""
SAMPLES, AFTER_COLUMNS, LACKED_COLUMNS = (
    offset(TABLE, field) for field in ("samples", "after_columns", "lacked_columns"))

NOTE_BYTES, SPLIT_RECORD, SPLIT_TABLE_BYTES, RANGE_BYTES = (kind.itemsize for kind in (NOTE, SPLIT, SPLIT_TABLE, RANGE))
SAVEPOINT_BYTES, SOURCE_RECORD, RUN_BYTES, GROUP_BYTES = (kind.itemsize for kind in (SAVEPOINT, SOURCE, RUN, GROUP))
STOP_BYTES, TABLE_BYTES, ROW_STATEMENT_BYTES = STOP.itemsize, TABLE.itemsize, ROW_STATEMENT.itemsize

NEVER = 1 << 62
_KEPT_BYTES = 1 << 20
NOTED_KINDS = 257  # 256 event types, and ROLLBACK TO a savepoint that does not exist


@inline
def append(array, size):
    """Append a record of `size` bytes to an array. Returns its address; 0 if the array is full."""
    used = array.used
    if used == array.room:
        return np.int64(0)
    array.used = used + 1
    return array.start + size * used


@inline
def kept(state, address, length):
    """Keep bytes of an event. Returns their address relative to the file; bytes of a compressed event are copied."""
    if state.within != 0:
        copy_bytes(state.kept_at, address, length)
        address = state.kept_at
        state.kept_at += length
    return address - state.base


class Recording:
    """The state and the arrays of one pass. `room`: a power of two, the number of tables that fit; all other sizes are
    in proportion. `n_groups` and `n_row_statements` are the numbers of such records that fit; 0: they are not recorded.
    `leaving_out`: which groups are excluded, and the room for them."""

    def __init__(self, room: int, n_splits: int, stop_gtids: GtidSet, n_groups: int = 0, n_row_statements: int = 0,
                 leaving_out: LeavingOut | None = None, n_left_out: int = 0) -> None:
        self.state = np.zeros((), STATE)
        self.notes = self._array("notes", 16 * room, NOTE)
        self.splits = self._array("splits", n_splits, SPLIT)
        self.split_tables = self._array("split_tables", 16 * room, SPLIT_TABLE)
        self.rolled_back = self._array("rolled_back", 16 * room, RANGE)
        self._savepoints = self._array("savepoints", 16 * room, SAVEPOINT)
        self.sources = self._array("sources", room, SOURCE)
        self.runs = self._array("runs", 16 * room, RUN)
        self.tables = self._array("tables", room, TABLE)
        self._table_ids = self._array("table_ids", 16 * room, TABLE_ID)
        self.groups = self._array("groups", n_groups, GROUP)
        self.row_statements = self._array("row_statements", n_row_statements, ROW_STATEMENT)
        self._slots = np.zeros((2, 2 * room), np.int64)
        for field, slots in zip(("source_slots", "table_slots"), self._slots, strict=True):
            self.state[field], self.state[f"room_{field}"] = address_of(slots), len(slots)
        self._memory: list[np.ndarray] = []
        self._noted = np.zeros(NOTED_KINDS, np.uint8)
        self.state["noted"] = address_of(self._noted)
        self._set_stop_gtids(stop_gtids)
        self.left_out = self._array("left_out", n_left_out, RANGE)
        self.left_out_gtids = self._array("left_out_gtids", n_left_out, LEFT_OUT_GTIDS)
        if leaving_out is not None:
            self._set_rule(leaving_out)

    def _array(self, field: str, rows: int, kind: np.dtype) -> np.ndarray:
        array = np.zeros(rows, kind)
        self.state[field] = 0, address_of(array), rows
        return array

    def _set_rule(self, rule: LeavingOut) -> None:
        self._rule = rule_records(rule)
        for field, records in self._rule.items():
            self.state[field] = len(records), address_of(records), len(records)
        self.state["leaves_out"] = BY_GTID * bool(rule.transactions or rule.executed) | BY_SERVER * rule.by_server
        self.state["other_servers"] = rule.others

    def _set_stop_gtids(self, stop_gtids: GtidSet) -> None:
        wanted: list[tuple[str | int, int, int]] = [
            (source, first, last) for source, pairs in stop_gtids.intervals.items() for first, last in pairs]
        wanted += [(domain, server, number) for domain, (server, number) in stop_gtids.domains.items()]
        self._stop_gtids = self._array("stop_gtids", len(wanted), STOP)
        for entry, (source, first, last) in zip(self._stop_gtids, wanted, strict=True):
            entry["bytes"] = np.frombuffer(source_bytes(source), np.uint8)
            entry["first"], entry["last"] = first, last
        self.state["stop_gtids"]["used"] = len(wanted)
        self.state["gtids_to_stop"] = len(stop_gtids.domains) + sum(
            last - first + 1 for pairs in stop_gtids.intervals.values() for first, last in pairs)

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
        values = {
            "base": base, "position": begin, "last_end": begin, "end": end, "header_bytes": description.header_length,
            "checksum_bytes": description.checksum_length, "verify": verify, "wanted_split": split_bytes,
            "stop_time": NEVER if stop_time is None else stop_time, "first_start": -1, "split_start": -1,
        }
        for field, value in values.items():
            self.state[field] = value

    def set_contents(self, contents: np.ndarray) -> None:
        """Set the inflated contents of an Inflater, which must stay unchanged until the next call."""
        self.state["content"], self.state["contents_left"] = address_of(contents), len(contents)
        self.state["inner"] = 0

    def add_memory(self) -> None:
        """Add memory for parts of compressed events that must be kept. Its lifetime is that of this object."""
        self._memory.append(np.empty(max(_KEPT_BYTES, int(self.state["kept_wanted"])), np.uint8))
        start = address_of(self._memory[-1])
        self.state["kept_at"], self.state["kept_end"] = start, start + len(self._memory[-1])

    @property
    def address(self) -> int:
        """The address of the state, for the kernel. The lifetime of the arrays is that of this object."""
        return address_of(self.state)

    def used(self, array: str) -> np.ndarray:
        """Return the records that were written to one of the arrays."""
        records: np.ndarray = getattr(self, array)
        return records[: int(self.state[array]["used"])]

    def source_bytes(self) -> list[bytes]:
        """Return the bytes of each source."""
        return [source.tobytes() for source in self.used("sources")["bytes"]]

    def groups_left_out(self, mariadb: bool) -> tuple[bytes, Mapping[str, tuple[Interval, ...]]]:
        """Return the ranges of excluded groups, packed, and the transactions of those that were excluded by GTID."""
        names, numbers = self.source_bytes(), defaultdict[str, list[Interval]](list)
        for source, server, first, last in self.used("left_out_gtids").tolist():
            name = f"{domain_of(names[source])}-{server}" if mariadb else source_text(names[source])
            numbers[name].append((first, last))
        ranges = self.used("left_out")
        return (pack_ranges(np.stack([ranges["start"], ranges["end"]], axis=1)),
                GtidSet.from_intervals(numbers).intervals)

    def executed(self, mariadb: bool) -> GtidSet:
        """Return the transactions of all groups that ended in this pass."""
        runs = self.used("runs").tolist()
        sources = self.source_bytes()
        if mariadb:
            newest = [runs[run - 1] for run in self.used("sources")["run"].tolist() if run]
            return GtidSet.from_groups((domain_of(sources[source]), server, number)
                                       for source, server, number in [*runs, *newest])
        texts = [source_text(source) for source in sources]
        intervals: dict[str, list[tuple[int, int]]] = {text: [] for text in texts}
        for source, first, last in runs:
            intervals[texts[source]].append((first, last))
        return GtidSet.from_intervals(intervals)
