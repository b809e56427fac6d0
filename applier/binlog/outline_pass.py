"""One pass over a file: runs the kernel, and reads in Python the few events that a plan needs in words.

That is the file's head (format, GTIDs executed before it), ROTATE, statements, and what cannot be applied.
"""

import ctypes
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from applier.binlog.blockers import what_blocks
from applier.binlog.compressed import Inflater
from applier.binlog.events import (
    Event,
    parse_execute_load_query,
    parse_gtid,
    parse_query,
    parse_rotate,
    read_event,
    read_event_at,
    read_format,
)
from applier.binlog.format import HEADER_LENGTH, IN_USE_FLAG, MARIADB_ALTER_WITHOUT_EFFECT, EventType, event_name
from applier.binlog.gtid import GtidSet
from applier.binlog.mapping import map_file
from applier.binlog.outline import Blocker, Outline, PreparedGroup, Split, Statement, TableUse, XaDecision
from applier.binlog.outline_kernel import walk
from applier.binlog.outline_recording import (
    AFTER_COLUMNS,
    BAD_CHECKSUM,
    BAD_LENGTH,
    BLOCKED,
    BLOCKED_SAVEPOINT,
    BODY,
    BODY_LENGTH,
    CUT_SHORT,
    DONE,
    FILE_EVENT,
    FIRST_POSITION,
    FIRST_START,
    FIRST_TIME,
    GROUP_START,
    GROUP_STATE,
    LACKED_COLUMNS,
    LAST_END,
    LAST_GTID,
    LAST_TIME,
    N_EVENTS,
    N_GROUPS,
    N_INFLATED,
    N_ROW_BYTES,
    N_ROW_EVENTS,
    N_SAMPLES,
    NEED_CONTENTS,
    NEED_MEMORY,
    NEED_ROOM,
    NOTES,
    OUTSIDE,
    PARTIAL,
    POSITION,
    ROWS_BYTES,
    ROWS_EVENTS,
    SAMPLE_BYTES,
    SAMPLES,
    SPLIT_TABLES,
    SPLITS,
    STOPPED,
    TABLES,
    UNMAPPED_TABLE,
    VOIDS,
    WITHIN,
    XA_DECIDED,
    XA_PREPARED,
    Recording,
)
from applier.binlog.outline_tables import PARTIAL_IMAGES, PARTIAL_VALUES
from applier.binlog.stop import StopCondition
from applier.binlog.xa import parse_xa_decision, parse_xa_prepare
from applier.errors import CORRUPT_EVENT, LOG_GAP, ArchiveError, EncryptedBinlog, UsageError

_FIRST_ROOM = 256
_HEAD = (EventType.FORMAT_DESCRIPTION, EventType.PREVIOUS_GTIDS, EventType.GTID_LIST, EventType.START_ENCRYPTION)


@dataclass
class _Result:
    """A pass of the kernel: what it ended with, and what it wrote down."""

    code: int
    recording: Recording

    def __getitem__(self, field: int) -> int:
        return int(self.recording.state[field])

    @property
    def within_group(self) -> bool:
        return self[GROUP_STATE] != OUTSIDE


class OutlinePass:
    """The pass over one file; `outline` is its only use."""

    def __init__(self, uri: str, stop: StopCondition, split_bytes: int, verify: bool) -> None:
        self.uri, self.name, self.stop = uri, os.path.basename(uri.rstrip("/")), stop
        self.mapped = map_file(uri)
        self.format = read_format(self.mapped)
        self.split_bytes, self.verify = max(int(split_bytes), 1), verify
        self.previous_gtids = GtidSet()
        self.head_end = 4  # after the events that say what the file is
        self.head_events = 0
        self._read_head()

    def outline(self, start: int | None) -> Outline:
        """The file's outline; see outline.outline_file."""
        begin, before, size = self.head_end, GtidSet(), self.mapped.size
        if start is not None and start > begin:
            before, begin = self._skip_to(start), start
        offset = self.stop.offset_in(self.name)
        if offset is not None and offset > size:
            raise UsageError(f"the stop position {offset} is past the end of {self.name}, which has {size} bytes")
        limit = size if offset is None else max(offset, begin)
        missing = self.stop.gtid_set.subtract(self.previous_gtids.union(before)) if self.stop.gtid_set else None
        if missing is not None and not missing:
            limit, offset = begin, begin
        result = self._walk(begin, limit, missing or GtidSet(), self.stop.datetime)
        stopped = result.code == STOPPED or offset is not None
        torn_at, torn_what = None, None
        if limit == size and (result.code == CUT_SHORT or result.within_group) and result.code != STOPPED:
            torn_at, torn_what = self._tear(result)
        if result.within_group:  # what is in the open group does not count
            result = self._walk(begin, result[LAST_END], GtidSet(), stop_time=None)
        gtids = before.followed_by(self._executed(result))
        outline = Outline(
            self.uri, self.name, size, self.format, None, self.previous_gtids, gtids,
            start=result[FIRST_START] if result[FIRST_START] >= 0 else result[LAST_END], end=result[LAST_END],
            torn=torn_at is not None, torn_at=torn_at, torn_what=torn_what, stopped=stopped,
            n_groups=result[N_GROUPS], n_events=result[N_EVENTS] + self.head_events, n_row_events=result[N_ROW_EVENTS],
            row_bytes=result[N_ROW_BYTES], inflated_bytes=result[N_INFLATED],
        )  # fmt: skip
        if outline.n_groups:
            outline.first_timestamp, outline.last_timestamp = result[FIRST_TIME], result[LAST_TIME]
            outline.last_gtid = self._gtid_at(result[LAST_GTID])
        self._add_recorded(outline, result)
        self._add_notes(outline, result.recording.used(result.recording.notes, NOTES))
        return outline

    # ---- the kernel

    def _walk(self, begin: int, end: int, stop_gtids: GtidSet, stop_time: int | None, n_groups: int = 0) -> _Result:
        """Walk [begin, end), or up to where the stop set or time says. Raises ArchiveError for what is corrupt."""
        n_splits = (end - begin) // self.split_bytes + 2
        room = _FIRST_ROOM
        while True:
            recording = Recording(room, n_splits, stop_gtids, n_groups * room // _FIRST_ROOM)
            recording.set_limits(self.mapped.address, begin, end, self.format, self.verify, self.split_bytes, stop_time)
            result = self._run(recording, end)
            if result.code != NEED_ROOM:
                break
            room *= 4
        if result.code in (DONE, STOPPED, CUT_SHORT):
            return result
        raise self._corrupt(result)

    def _run(self, recording: Recording, end: int) -> _Result:
        """Run the kernel, and inflate for it what is compressed."""
        inflater = Inflater(self.mapped, self.format.header_length, self.format.checksum_length)
        while True:
            result = _Result(walk(recording.address), recording)
            if result.code == NEED_CONTENTS:
                inflater.advance(result[POSITION], end, within=result[WITHIN] != 0)
                recording.set_contents(inflater.contents)
            elif result.code == NEED_MEMORY:
                recording.add_memory()
            else:
                return result

    def _skip_to(self, start: int) -> GtidSet:
        """The transactions before `start`, which must be a place between two groups."""
        result = self._walk(self.head_end, min(start, self.mapped.size), GtidSet(), stop_time=None)
        if result.code != DONE or result.within_group or start > self.mapped.size:
            raise ArchiveError(
                "the replay cannot go on from here: no event group starts at this position",
                file=self.uri,
                position=start,
                errno=LOG_GAP,
                hint="is the base snapshot of this archive, and is the file the one that it was made from?",
            )
        return self._executed(result)

    def _executed(self, result: _Result) -> GtidSet:
        return result.recording.executed(self.format.flavour == "mariadb")

    def _corrupt(self, result: _Result) -> ArchiveError:
        position = result[POSITION]
        event = self.mapped.array[position : position + HEADER_LENGTH].tobytes()
        name, size = event_name(event[4]), int.from_bytes(event[9:13], "little")
        what = {
            BAD_LENGTH: f"a {name} event of {size} bytes is impossible",
            BAD_CHECKSUM: f"the checksum of a {name} event does not match",
            UNMAPPED_TABLE: f"a {name} event is for a table that no table map in its group names",
        }.get(result.code, f"a {name} event does not hold what it must")
        return ArchiveError(
            what,
            file=self.uri,
            position=position,
            errno=CORRUPT_EVENT,
            hint=f"copy the file again from the server, or stop before it: --stop-position "
            f"{self.name}:{result[LAST_END]}",
        )

    def _tear(self, result: _Result) -> tuple[int, str]:
        """Where and how the file was cut short. Raises ArchiveError where it is not cut but corrupt."""
        position = result[POSITION]
        if result.code != CUT_SHORT:
            return result[GROUP_START], "the last event group has no end"
        header = self.mapped.array[position : position + HEADER_LENGTH].tobytes()
        if len(header) < HEADER_LENGTH:
            return position, "the file ends within an event's header"
        size, end_log_pos = (int.from_bytes(header[at : at + 4], "little") for at in (9, 13))
        if end_log_pos and end_log_pos != (position + size) & 0xFFFFFFFF:
            raise ArchiveError(
                f"a {event_name(header[4])} event of {size} bytes goes past the end of the file, which its "
                f"end position {end_log_pos} does not",
                file=self.uri,
                position=position,
                errno=CORRUPT_EVENT,
                hint=f"to stop before it: --stop-position {self.name}:{result[LAST_END]}",
            )
        return position, f"the file ends within a {event_name(header[4])} event"

    # ---- the file's head

    def _read_head(self) -> None:
        """The format description and what follows it directly. Events that are cut short are left to the kernel."""
        while self.head_end + HEADER_LENGTH <= self.mapped.size:
            at = self.head_end
            header = self.mapped.array[at : at + HEADER_LENGTH].tobytes()
            size = int.from_bytes(header[9:13], "little")
            if header[4] not in _HEAD or at + size > self.mapped.size:
                return
            event = self._read(at)
            if event.type == EventType.START_ENCRYPTION:
                raise self._encrypted(at)
            if event.type == EventType.PREVIOUS_GTIDS:
                self.previous_gtids = GtidSet.from_previous_gtids_event(bytes(event.body))
            elif event.type == EventType.GTID_LIST:
                self.previous_gtids = GtidSet.from_gtid_list_event(bytes(event.body))
            self.head_end = at + size
            self.head_events += 1

    def _encrypted(self, position: int) -> EncryptedBinlog:
        return EncryptedBinlog(
            "the binlog is encrypted",
            file=self.uri,
            position=position,
            hint="copy it from the server with mariadb-binlog --read-from-remote-server --raw",
        )

    def _read(self, position: int) -> Event:
        """An event outside the kernel's way, with its checksum verified here."""
        event = read_event(self.mapped, position, self.format)
        if self.verify and self.format.checksum:
            data = bytearray(self.mapped.array[position : position + event.size].tobytes())
            if event.type == EventType.FORMAT_DESCRIPTION:
                data[17] &= ~IN_USE_FLAG
            if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:], "little"):
                raise ArchiveError(
                    f"the checksum of a {event.name} event does not match",
                    file=self.uri,
                    position=position,
                    errno=CORRUPT_EVENT,
                )
        return event

    def _gtid_at(self, position: int) -> str | None:
        if not position:
            return None
        event = read_event(self.mapped, position, self.format)
        return parse_gtid(event.type, event.body, event.server_id).text

    # ---- what was recorded

    def _add_recorded(self, outline: Outline, result: _Result) -> None:
        recording = result.recording
        for row in recording.used(recording.tables, TABLES):
            outline.tables.append(TableUse(
                self._bytes_at(row[BODY], row[BODY_LENGTH]), row[FIRST_POSITION], row[ROWS_EVENTS],
                row[ROWS_BYTES], bool(row[PARTIAL] & PARTIAL_IMAGES), _number(row[AFTER_COLUMNS:LACKED_COLUMNS]),
                _number(row[LACKED_COLUMNS:]), bool(row[PARTIAL] & PARTIAL_VALUES),
                [self._sample(place) for place in row[SAMPLES : SAMPLES + row[N_SAMPLES]]],
            ))  # fmt: skip
        outline.splits = [Split(start, end, {}) for start, end in recording.used(recording.splits, SPLITS)]
        for split, use, n_bytes in recording.used(recording.split_tables, SPLIT_TABLES):
            outline.splits[split].tables[use] = n_bytes
        outline.voids = [(start, end) for start, end in recording.used(recording.voids, VOIDS)]

    def _bytes_at(self, place: int, length: int) -> bytes:
        """What the kernel found or kept, by an address relative to the file's."""
        return ctypes.string_at(self.mapped.address + place, length)

    def _size_at(self, place: int) -> int:
        return int.from_bytes(self._bytes_at(place + 9, 4), "little")

    def _sample(self, place: int) -> bytes:
        return self._bytes_at(place, min(self._size_at(place), SAMPLE_BYTES))

    def _add_notes(self, outline: Outline, notes: list[list[int]]) -> None:
        for kind, position, place, group_start, gtid_position, table in notes:
            end = position + self._size_at(position)
            event = self._read(position) if place == position else self._kept_event(place, position)
            if kind == FILE_EVENT:
                self._add_file_event(outline, event)
                continue
            gtid = self._gtid_at(gtid_position)
            if kind == XA_PREPARED:
                xid = self._placed(event, parse_xa_prepare, event.body).xid
                outline.prepared.append(PreparedGroup(group_start, end, xid, gtid))
                continue
            if kind in (BLOCKED, BLOCKED_SAVEPOINT):
                what, errno, hint = what_blocks(kind, event)
                outline.blockers.append(
                    Blocker(position, group_start, what, errno, hint, gtid, table if table >= 0 else None)
                )
                continue
            parse = parse_execute_load_query if event.type == EventType.EXECUTE_LOAD_QUERY else parse_query
            query = self._placed(event, parse, event.body)
            if kind == XA_DECIDED:
                xid, commits = self._placed(event, parse_xa_decision, query.sql)
                outline.decisions.append(XaDecision(position, xid, commits, gtid))
                continue
            if query.context.get("gtid_flags_extra", 0) & MARIADB_ALTER_WITHOUT_EFFECT:
                continue
            outline.statements.append(Statement(
                position, end, group_start, query.text, query.database, query.context, event.timestamp, gtid,
            ))  # fmt: skip

    def _kept_event(self, place: int, position: int) -> Event:
        """An event from within the compressed one at a position."""
        return read_event_at(self._bytes_at(place, self._size_at(place)), position, self.format)

    def _placed(self, event: Event, parse: Callable[[Any], Any], data: Any) -> Any:
        """What a parser makes of an event's data; an error names the event's place."""
        try:
            return parse(data)
        except ArchiveError as reason:
            raise reason.at(file=self.uri, position=event.position) from None

    def _add_file_event(self, outline: Outline, event: Event) -> None:
        if event.type == EventType.ROTATE:
            outline.next_file = parse_rotate(event.body).next_file
        elif event.type == EventType.START_ENCRYPTION:
            raise self._encrypted(event.position)
        else:
            raise ArchiveError(
                "a second format description within a file",
                file=self.uri,
                position=event.position,
                hint="this may be a relay log; give the source's own binlogs",
            )


def _number(words: list[int]) -> int:
    """Words of 64 bits, the lowest first, as one number."""
    return sum((word & 0xFFFFFFFFFFFFFFFF) << 64 * i for i, word in enumerate(words) if word)
