"""One pass over a file: runs the kernel, and reads in Python the few events that a plan needs in words.

That is the file's head (format, GTIDs executed before it), ROTATE, statements, and what cannot be applied.
"""

import os
import zlib
from dataclasses import dataclass

from applier.binlog.events import (
    Event,
    Query,
    parse_gtid,
    parse_query,
    parse_query_compressed,
    parse_rotate,
    read_event,
    read_format,
)
from applier.binlog.format import HEADER_LENGTH, IN_USE_FLAG, EventType, event_name
from applier.binlog.gtid import GtidSet
from applier.binlog.mapping import map_file
from applier.binlog.outline import Blocker, Outline, Split, Statement, TableUse
from applier.binlog.outline_kernel import walk
from applier.binlog.outline_recording import (
    AFTER_COLUMNS,
    BAD_CHECKSUM,
    BAD_LENGTH,
    BLOCKED,
    BLOCKED_SAVEPOINT,
    BLOCKED_XA,
    BODY,
    BODY_LENGTH,
    COMPRESSED_STATEMENT,
    CUT_SHORT,
    DONE,
    FILE_EVENT,
    FIRST_POSITION,
    FIRST_START,
    FIRST_TIME,
    GROUP_START,
    GROUP_STATE,
    LAST_END,
    LAST_GTID,
    LAST_TIME,
    N_EVENTS,
    N_GROUPS,
    N_ROW_BYTES,
    N_ROW_EVENTS,
    N_SAMPLES,
    NEED_ROOM,
    NOTES,
    OUTSIDE,
    PARTIAL,
    POSITION,
    ROWS_BYTES,
    ROWS_EVENTS,
    SAMPLES,
    SPLIT_TABLES,
    SPLITS,
    STOPPED,
    TABLES,
    UNMAPPED_TABLE,
    VOIDS,
    Recording,
)
from applier.binlog.stop import StopCondition
from applier.errors import CORRUPT_EVENT, LOG_GAP, ArchiveError, EncryptedBinlog, UsageError

_SAMPLE_BYTES = 4096
_FIRST_ROOM = 256
_LOAD_DATA = (EventType.LOAD, EventType.EXEC_LOAD, EventType.NEW_LOAD, EventType.EXECUTE_LOAD_QUERY)
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
        outline = Outline(
            self.uri, self.name, size, self.format, None, self.previous_gtids, before.union(self._executed(result)),
            start=result[FIRST_START] if result[FIRST_START] >= 0 else result[LAST_END], end=result[LAST_END],
            torn=torn_at is not None, torn_at=torn_at, torn_what=torn_what, stopped=stopped,
            n_groups=result[N_GROUPS], n_events=result[N_EVENTS] + self.head_events, n_row_events=result[N_ROW_EVENTS],
            row_bytes=result[N_ROW_BYTES],
        )  # fmt: skip
        if outline.n_groups:
            outline.first_timestamp, outline.last_timestamp = result[FIRST_TIME], result[LAST_TIME]
            outline.last_gtid = self._gtid_at(result[LAST_GTID])
        self._add_recorded(outline, result)
        self._add_notes(outline, result.recording.used(result.recording.notes, NOTES))
        return outline

    # ---- the kernel

    def _walk(self, begin: int, end: int, stop_gtids: GtidSet, stop_time: int | None) -> _Result:
        """Walk [begin, end), or up to where the stop set or time says. Raises ArchiveError for what is corrupt."""
        n_splits = (end - begin) // self.split_bytes + 2
        room = _FIRST_ROOM
        while True:
            recording = Recording(room, n_splits, stop_gtids)
            recording.set_limits(self.mapped.address, begin, end, self.format, self.verify, self.split_bytes, stop_time)
            result = _Result(walk(recording.address), recording)
            if result.code != NEED_ROOM:
                break
            room *= 4
        if result.code in (DONE, STOPPED, CUT_SHORT):
            return result
        raise self._corrupt(result)

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
        recording, array = result.recording, self.mapped.array
        for row in recording.used(recording.tables, TABLES):
            outline.tables.append(TableUse(
                array[row[BODY] : row[BODY] + row[BODY_LENGTH]].tobytes(), row[FIRST_POSITION], row[ROWS_EVENTS],
                row[ROWS_BYTES], bool(row[PARTIAL]), _number(row[AFTER_COLUMNS:]),
                [self._sample(position) for position in row[SAMPLES : SAMPLES + row[N_SAMPLES]]],
            ))  # fmt: skip
        outline.splits = [Split(start, end, {}) for start, end in recording.used(recording.splits, SPLITS)]
        for split, use, n_bytes in recording.used(recording.split_tables, SPLIT_TABLES):
            outline.splits[split].tables[use] = n_bytes
        outline.voids = [(start, end) for start, end in recording.used(recording.voids, VOIDS)]

    def _sample(self, position: int) -> bytes:
        size = int.from_bytes(self.mapped.array[position + 9 : position + 13].tobytes(), "little")
        return self.mapped.array[position : position + min(size, _SAMPLE_BYTES)].tobytes()

    def _add_notes(self, outline: Outline, notes: list[list[int]]) -> None:
        for kind, position, group_start, gtid_position, table in notes:
            event = self._read(position)
            if kind == FILE_EVENT:
                self._add_file_event(outline, event)
                continue
            gtid = self._gtid_at(gtid_position)
            if kind in (BLOCKED, BLOCKED_SAVEPOINT, BLOCKED_XA):
                what, errno, hint = _blocked(kind, event)
                outline.blockers.append(
                    Blocker(position, group_start, what, errno, hint, gtid, table if table >= 0 else None)
                )
                continue
            query = self._query(kind, event)
            word = bytes(query.sql[:12]).upper()
            if kind == COMPRESSED_STATEMENT and word.startswith((b"SAVEPOINT ", b"ROLLBACK TO ")):
                if word.startswith(b"ROLLBACK"):
                    what, errno, hint = _blocked(BLOCKED_SAVEPOINT, event)
                    outline.blockers.append(Blocker(position, group_start, what, errno, hint, gtid))
                continue
            outline.statements.append(Statement(
                position, position + event.size, group_start, query.text, query.database, query.context,
                event.timestamp, gtid,
            ))  # fmt: skip

    def _query(self, kind: int, event: Event) -> Query:
        try:
            return parse_query_compressed(event.body) if kind == COMPRESSED_STATEMENT else parse_query(event.body)
        except ArchiveError as reason:
            raise ArchiveError(
                reason.message, file=self.uri, position=event.position, errno=reason.mysql_errno
            ) from None

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


def _blocked(kind: int, event: Event) -> tuple[str, int | None, str]:
    """What stops the replay at this event, MySQL's error number, and what to do."""
    later = "stop before this group with --stop-position, or leave the table out with --ignore-tables"
    if kind == BLOCKED_XA:
        return f"an XA transaction ({parse_query(event.body).sql[:80].decode('utf-8', 'replace')})", None, later
    if kind == BLOCKED_SAVEPOINT:
        return "ROLLBACK TO SAVEPOINT takes back rows that were logged", None, later
    if event.type == EventType.INCIDENT:
        return "an INCIDENT: the server says that events may be missing here", 1590, "make a new base from the server"
    if event.type in _LOAD_DATA:
        return "LOAD DATA in statement format", None, "a row applier needs binlog_format=ROW on the source"
    if event.name.startswith("UNKNOWN"):
        return f"an event of type {event.type}, which is not known and must not be passed over", None, later
    return f"a {event.name} event", None, later
