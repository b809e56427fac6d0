"""Converts the kernel's notes to an outline: tables, splits, statements, unreplayable events, XA.

These few events are read in Python, once per kind or statement.

Sequences: MariaDB logs a row of a sequence's table whenever it reserves numbers, also directly before an ALTER TABLE
that adds a column with NEXTVAL as its default. A replica continues after the reserved ones.

For events that cannot be applied, this module knows why they stop a replay."""

from __future__ import annotations

import itertools
import re
import struct
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable

import numpy as np

from applier.binlog.events.events import (
    Event,
    encrypted,
    parse_execute_load_query,
    parse_query,
    parse_rotate,
    parse_rows_header,
)
from applier.binlog.events.format import CHECKSUM_LENGTH, HEADER_LENGTH, MARIADB_ALTER_WITHOUT_EFFECT, EventType
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.events.xa import parse_xa_decision, parse_xa_prepare
from applier.binlog.outline.kernels.outline_recording import (
    BLOCKED,
    BLOCKED_SAVEPOINT,
    FILE_EVENT,
    SAMPLE_BITS,
    SAMPLE_BYTES,
    XA_DECIDED,
    XA_PREPARED,
    Recording,
)
from applier.binlog.outline.kernels.outline_tables import MAY_CASCADE, PARTIAL_IMAGES, PARTIAL_VALUES
from applier.binlog.outline.outline import (
    Outline,
    PreparedGroup,
    Relevance,
    Split,
    Statement,
    TableUse,
    UnreplayableEvent,
    XaDecision,
)
from applier.binlog.outline.outlined_file import OutlinedFile
from applier.binlog.outline.samples import Samples, chosen
from applier.errors import LOG_GAP, SAVEPOINT_DOES_NOT_EXIST, ArchiveError
from applier.mysql.sequences import SequenceState
from applier.mysql.wire_types import WireType

_LOAD_DATA = (EventType.LOAD, EventType.EXEC_LOAD, EventType.NEW_LOAD)


_NEWER = {172: "PARTIAL_ROW_DATA of a newer MariaDB"}


def stops_always(event: Event) -> bool:
    """Return True if a replica stops when it reads the event, not only if it would execute it: its consequences are
    unknown (EV-IGN, EV-INC)."""
    return event.type == EventType.INCIDENT or event.name.startswith("UNKNOWN")


def unreplayable_events(kind: int, event: Event, name: str, *, of_table: bool) -> tuple[str, int | None, str]:
    """Return why the replay stops at this event of the named file, with MySQL's error number and a hint. `of_table`:
    the event concerns one table only."""
    later = "stop before this group with --stop-position" + (
        ", or leave the table out with --ignore-tables" if of_table else
        f"; to continue after it, make a new base there, or give one: --start-position {name}:POSITION")
    if kind == BLOCKED_SAVEPOINT:
        return "ROLLBACK TO a savepoint that its transaction does not have", SAVEPOINT_DOES_NOT_EXIST, later
    if event.type == EventType.INCIDENT and not event.server_id:  # applier.io.relayed_kernel
        return ("the relay logs lack what the source logged up to here: the replica had it already, or was told to "
                "leave it out", LOG_GAP, "give the relay logs before them, too; or continue after it, with a base that "
                f"has it: --start-position {name}:{event.position + event.size}")
    if event.type == EventType.INCIDENT:
        return "an INCIDENT: the server says that events may be missing here", 1590, "make a new base from the server"
    if event.type in _LOAD_DATA:
        return "LOAD DATA in statement format", None, "a row applier needs binlog_format=ROW on the source"
    if event.name.startswith("UNKNOWN"):
        known = f" ({_NEWER[event.type]})" if event.type in _NEWER else ""
        return f"an event of type {event.type}{known}, which is unknown and must not be skipped", None, later
    return f"a {event.name} event", None, later


MANY, LONG = 64, 64 << 10
"""Up to this number of statements and of bytes, the statements of a file are kept without a check, which would cost
more."""


class RelevantStatements:
    """Adds statements to an outline whose rolled-back ranges are known, in log order; without `relevance`, all
    statements.

    Statements that were rolled back, or may still be (in groups that begin at the positions of `prepared`), are added
    unchanged: plan.log handles them differently."""

    def __init__(self, outline: Outline, relevance: Relevance | None, prepared: Collection[int]) -> None:
        self._outline, self._relevance, self._prepared = outline, relevance, prepared
        self._rolled_back = Ranges(outline.rolled_back)
        self._stopped = False

    def add(self, statement: Statement) -> None:
        """Add a statement, its beginning, or a count, or skip it."""
        outline = self._outline
        if self._stopped:
            return  # no history comes this far
        if self._relevance is None or (len(outline.statements) < MANY and len(statement.sql) <= LONG) \
                or statement.group_start in self._prepared or statement.position in self._rolled_back:
            outline.statements.append(statement)
            return
        found = self._relevance.of(statement, outline.format.flavour)
        if found.skipped is not None:
            table, kind = found.skipped
            outline.skipped.setdefault(table, Counter())[kind] += 1
        if found.is_needed:
            statement.sql = statement.sql if found.sql is None else found.sql
            outline.statements.append(statement)
        self._stopped = found.stops


class Ranges:
    """The positions in ranges [start, end), which may overlap."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, position: int) -> bool:
        offset = bisect_right(self._starts, position) - 1
        return offset >= 0 and position < self._ends[offset]


_ASKS = re.compile(r"\s*ALTER\b.*\b(NEXTVAL\s*\(|NEXT\s+VALUE\s+FOR\b)", re.IGNORECASE | re.DOTALL)
_TYPES = (*[WireType.LONGLONG] * 6, WireType.TINY, WireType.LONGLONG)
_FORMATS = "qqqqqqbq"
"""A sequence's row: the next number that is not reserved, the smallest, the largest and the first one, the step, how
many are reserved at once, whether it cycles, and how often it has. A minimal image has the first and the last one."""


def states_before(statement: Statement, outline: Outline, file: OutlinedFile) -> tuple[SequenceState, ...]:
    """Return the states of sequences before a statement that uses them, by their last rows in the file."""
    if outline.format.flavour != "mariadb" or not isinstance(statement.sql, str) or not _ASKS.match(statement.sql):
        return ()
    shaped = {number for number, use in enumerate(outline.tables) if parse_table_map(use.body).types == _TYPES}
    found: dict[tuple[str, str], SequenceState] = {}
    for split in reversed(list(outline.splits)):
        if split.start < statement.position and shaped.intersection(split.tables) and not found:
            found = _last_rows(file, split.start, min(split.end, statement.position))
    return tuple(found.values())


def _last_rows(file: OutlinedFile, start: int, end: int) -> dict[tuple[str, str], SequenceState]:
    """Return the last row of each sequence in [start, end)."""
    maps: dict[int, TableMap] = {}
    found: dict[tuple[str, str], SequenceState] = {}
    position = start
    while position < end:
        kind, size = file.mapped.array[position + 4], file.size_at(position)
        if kind == EventType.TABLE_MAP:
            body = bytes(file.read(position).body)
            maps[int.from_bytes(body[:6], "little")] = parse_table_map(body[6:])
        elif kind == EventType.WRITE_ROWS_V1:
            body = bytes(file.read(position).body)
            header = parse_rows_header(kind, body)
            table = maps.get(header.table_id)
            if table is not None and table.types == _TYPES and header.after is not None and header.after[0] & 1:
                has = [header.after[0] >> column & 1 for column in range(len(_TYPES))]
                row = struct.Struct("<x" + "".join(itertools.compress(_FORMATS, has)))
                rows = body[header.rows_offset:]
                if rows and len(rows) % row.size == 0:
                    values = row.unpack_from(rows, len(rows) - row.size)
                    limits = (values[1], values[2], values[4]) if all(has) else ()
                    found[table.database, table.table] = SequenceState(
                        table.database, table.table, position, values[0], *limits)
        position += size
    return found


_MOST_WEIGHT = (1 << 32) - 1
_FIELDS = 9, 17
"""Where a header has the length and the position of its event."""


def add_recorded(outline: Outline, file: OutlinedFile, recording: Recording, sample_bytes: int | None,
                 relevance: Relevance | None) -> None:
    """Fill in tables, with at most `sample_bytes` of samples, splits, rolled-back ranges, and the contents of notes, of
    which only relevant statements are kept. Raises ArchiveError for events that an archive must not contain."""
    tables = recording.used("tables")
    for row in tables:
        partial = int(row["partial"])
        outline.tables.append(TableUse(
            file.bytes_at(int(row["body"]), int(row["body_length"])), int(row["first_position"]),
            int(row["rows_events"]), int(row["rows_bytes"]), bool(partial & PARTIAL_IMAGES),
            _number(row["after_columns"]), _number(row["lacked_columns"]), bool(partial & PARTIAL_VALUES),
            bool(partial & MAY_CASCADE),
        ))  # fmt: skip
    outline.samples = _samples(file, tables, sample_bytes)
    splits = recording.used("splits").tolist()
    used = np.zeros((len(splits), len(tables)), np.bool_)
    offsets = recording.used("split_tables")
    used[offsets["split"], offsets["use"]] = True
    for (start, end, digest), bits in zip(splits, np.packbits(used, axis=1, bitorder="little"), strict=True):
        outline.splits.append(Split(start, end, bits.tobytes(), digest, file.format.checksum,
                                    file.format.header_length))
    outline.rolled_back = recording.used("rolled_back").tolist()
    _add_notes(outline, file, recording.used("notes"), relevance)
    outline.pack()


def _samples(file: OutlinedFile, tables: np.ndarray, n_bytes: int | None) -> Samples:
    """Return the beginnings of rows events, without their checksums, each after a header of 19 bytes. The header has in
    place of the length the number of bytes of rows events that it stands for, and in place of the position its
    length."""
    offsets = [row["samples"][: int(row["n_samples"])].astype(np.int64) >> SAMPLE_BITS for row in tables]
    sizes = [file.sizes_at(of_table) for of_table in offsets]
    kept, times = chosen([np.minimum(of_table, SAMPLE_BYTES).tolist() for of_table in sizes], n_bytes, file.name)
    counts = [len(numbers) for numbers in kept]
    if not sum(counts):
        return Samples(firsts=array("I", [0] * (len(counts) + 1)))
    offset, size = (np.concatenate([of_table[numbers] for of_table, numbers in zip(values, kept, strict=True)
                                    if numbers]) for values in (offsets, sizes))
    stride = np.repeat(tables["stride"].astype(np.int64), counts)
    weights = np.minimum(times * np.maximum(size, stride), _MOST_WEIGHT)
    has_checksum = file.format.checksum & (offset >= 0) & (offset < file.mapped.size)
    lengths = size - np.where(has_checksum, CHECKSUM_LENGTH, 0)
    excess, taken = file.format.header_length - HEADER_LENGTH, np.minimum(lengths, SAMPLE_BYTES)
    data, starts = file.gathered(offset, taken), np.cumsum(taken) - taken
    fields = np.stack([weights, lengths - excess], axis=1).astype("<u4").view(np.uint8)
    data[starts[:, None] + np.arange(*_FIELDS)] = fields
    if excess:
        places = np.arange(len(data)) - np.repeat(starts, taken)
        data = data[(places < HEADER_LENGTH) | (places >= file.format.header_length)]
    ends, firsts = np.cumsum(taken - excess).tolist(), np.cumsum(counts).tolist()
    return Samples(data.tobytes(), array("L", [0, *ends]), array("I", [0, *firsts]))


def _add_notes(outline: Outline, file: OutlinedFile, notes: np.ndarray, relevance: Relevance | None) -> None:
    prepared = frozenset(notes["group"][notes["kind"] == XA_PREPARED].tolist())
    statements = RelevantStatements(outline, relevance, prepared)
    for kind, position, offset, group_start, gtid_position, table in map(np.void.tolist, notes):
        end = position + file.size_at(position)
        event = file.read(position) if offset == position else file.kept_event(offset, position)
        if kind == FILE_EVENT:
            _add_file_event(outline, file, event)
            continue
        gtid = file.gtid_at(gtid_position)
        if kind == XA_PREPARED:
            xid = file.located(event, parse_xa_prepare, event.body).xid
            outline.prepared.append(PreparedGroup(group_start, end, xid, gtid))
            continue
        if kind in (BLOCKED, BLOCKED_SAVEPOINT):
            what, errno, hint = unreplayable_events(kind, event, file.name, of_table=table >= 0)
            outline.unreplayable.append(UnreplayableEvent(position, group_start, what, errno, hint, gtid,
                                            table if table >= 0 else None, stops_always(event)))
            continue
        parse = parse_execute_load_query if event.type == EventType.EXECUTE_LOAD_QUERY else parse_query
        query = file.located(event, parse, event.body)
        if kind == XA_DECIDED:
            xid, commits = file.located(event, parse_xa_decision, query.sql)
            outline.decisions.append(XaDecision(position, xid, commits, gtid))
            continue
        if query.context.get("gtid_flags_extra", 0) & MARIADB_ALTER_WITHOUT_EFFECT:
            continue
        statement = Statement(position, end, group_start, query.text, query.database, query.context, event.timestamp,
                              gtid)
        statement.sequences = states_before(statement, outline, file)
        statements.add(statement)


def _add_file_event(outline: Outline, file: OutlinedFile, event: Event) -> None:
    if event.type == EventType.ROTATE:
        outline.next_file = parse_rotate(event.body).next_file
    elif event.type == EventType.START_ENCRYPTION:
        raise encrypted(file.uri, event.position)
    else:
        raise ArchiveError(
            "a second format description within a file",
            file=file.uri,
            position=event.position,
            hint="this may be a relay log; give the source's own binlogs",
        )


def _number(bitmap: np.ndarray) -> int:
    """Return a bitmap of columns, the lowest first, as one number."""
    return int.from_bytes(bitmap.tobytes(), "little")
