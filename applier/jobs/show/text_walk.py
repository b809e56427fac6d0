"""Prints ranges of a file as text: frequent events by a kernel, all others one by one.

A table's rows are printed by the kernel where it knows the form of all of its columns; others come from a RowReader,
about a megabyte of events at a time. What is compressed is inflated for the kernel.
"""

import collections
import ctypes
import itertools
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import numpy as np

from applier.binlog.archive.reader import FileEvent, file_events
from applier.binlog.events.compressed import Inflater
from applier.binlog.events.compressed_kernel import CONTENT_END, CONTENT_START
from applier.binlog.events.events import Query, encrypted, read_format
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap, parse_table_map
from applier.binlog.rows.layout import plan_column
from applier.binlog.rows.table_ids import TableIds
from applier.errors import ApplierError, ArchiveError
from applier.io.mapping import MappedFile
from applier.jobs.show.context import quoted
from applier.jobs.show.event_time import event_time
from applier.jobs.show.kernels import value_kernel as v
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.kernels.events_text_kernel import walk
from applier.jobs.show.kernels.json_value_kernel import STACK_BYTES
from applier.jobs.show.rows import OLD_TEMPORAL, RowReader, ShownEvent
from applier.jobs.show.text import TextPrinter
from applier.mysql.wire_types import WireType

FIRST_BYTES = 1 << 20
_GUARD = 256
_AFTER = 64
"""Bytes after a text that may be read."""
_CHUNK_BYTES = 1 << 20
_MOST_ASKED = 4
"""How often an event may ask for texts of seconds before it is printed without the kernel."""
_BROKEN = 1 << 40
"""No second from here on has a time that can be printed."""

_OPERATIONS: dict[int, int] = {
    **dict.fromkeys((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG), v.INTEGER),
    WireType.YEAR: v.YEAR, WireType.FLOAT: v.FLOAT, WireType.DOUBLE: v.DOUBLE, WireType.NEWDECIMAL: v.DECIMAL,
    WireType.BIT: v.BITS, WireType.SET: v.SET, WireType.ENUM: v.ENUM, WireType.DATE: v.DATE, WireType.NEWDATE: v.DATE,
    WireType.DATETIME2: v.DATETIME2, WireType.TIMESTAMP2: v.TIMESTAMP2, WireType.TIME2: v.TIME2,
    WireType.DATETIME: v.OLD_DATETIME, WireType.TIME: v.OLD_TIME, WireType.TIMESTAMP: v.OLD_TIMESTAMP,
    WireType.VECTOR: v.VECTOR, WireType.JSON: v.JSON,
    **dict.fromkeys(
        (WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.TINY_BLOB, WireType.MEDIUM_BLOB,
         WireType.LONG_BLOB, WireType.BLOB, WireType.GEOMETRY, WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED),
        v.STRING),
}  # fmt: skip
_WITH_ROWS = frozenset((23, 24, 25, 30, 31, 32, 39, EventType.TRANSACTION_PAYLOAD, *range(166, 172)))
_SAID_EVERY_TIME = {"xid", "microseconds", "invoker_user", "updated_databases", "unread"}
_CONTEXT_AT = 13
"""Where a QUERY's status variables begin in its body."""
_VERBS = "INSERT INTO {}\n### SET\n", "UPDATE {}\n### WHERE\n", "DELETE FROM {}\n### WHERE\n"


class TextWalk:
    """Prints one file; `write` takes the bytes, some at a time."""

    def __init__(self, mapped: MappedFile, write: Callable[[bytes], object]) -> None:
        self._mapped, self._write = mapped, write
        self._format = read_format(mapped)
        self._printer, self._rows = TextPrinter(), RowReader(mapped, self._format)
        self._inflater = Inflater(mapped, self._format.header_length, self._format.checksum_length)
        self._known: dict[bytes, tuple[int, np.ndarray]] = {}  # a table map's number, and its body at an address
        self._tables: list[list[np.ndarray]] = []
        self._state = np.zeros(r.STATE_WORDS, np.int64)
        self._table_records = np.zeros((16, r.TABLE_BYTES // 8), np.int64)
        self._ids = TableIds()
        self._texts, self._moments = _fixed_texts(), np.full((r.N_MOMENTS, r.MOMENT_BYTES), 255, np.uint8)
        self._context = self._database = np.zeros(0, np.uint8)
        self._set(r.HEADER_BYTES, self._format.header_length)
        self._set(r.CHECKSUM_BYTES, self._format.checksum_length)
        self._set(r.AS_MYSQL, self._format.flavour == "mysql")
        self._set(r.TEXTS, self._texts.ctypes.data)
        self._set(r.MOMENTS, self._moments.ctypes.data)
        self._set(r.CONTEXT_LENGTH, -1)
        self._use_room(FIRST_BYTES)
        self._use_document(FIRST_BYTES)
        self._stack = np.zeros(STACK_BYTES, np.uint8)
        self._set(r.STACK, self._stack.ctypes.data)

    def print(self, start: int, end: int, shown_from: int) -> None:
        """Print the events in [start, end) from `shown_from` on; `start` must be where a group, or the file, begins.
        Raises ArchiveError where the file is damaged, after what comes before that."""
        first = self.learn(start, end, shown_from)
        self.print_ranges(np.array([[first, end]]))

    def learn(self, start: int, end: int, shown_from: int) -> int:
        """See the table maps in [start, end) that come before what is shown. Gives where that begins."""
        for event in file_events(self._mapped, start, end):
            if event.position >= shown_from:
                return event.position
            self._see_map(event)
        return end

    def print_ranges(self, ranges: np.ndarray) -> None:
        """Print the events in some ranges (int64[n, 2]: start, end); it has seen the maps of all their tables."""
        self._set(r.RANGE, ranges.ctypes.data)
        self._set(r.RANGES_END, ranges.ctypes.data + ranges.nbytes)
        self._set(r.POSITION, int(ranges[0, 0]))
        asked = 0
        while True:
            place = self._get(r.POSITION), self._get(r.INNER)
            self._set(r.TABLES, self._table_records.ctypes.data)
            self._set(r.IDS, self._ids.address)
            self._set(r.IDS_MASK, self._ids.mask)
            status = walk(self._mapped.address, self._state.ctypes.data)
            asked = asked + 1 if (self._get(r.POSITION), self._get(r.INNER)) == place else 0
            if status == r.DONE:
                self._flush()
                return
            if status == r.FULL and not self._flush():  # one event or row is larger than all the room
                self._use_room(2 * len(self._room))
            elif status == r.NEED_DOCUMENT:
                self._use_document(self._get(r.WANTED_BYTES))
            if status == r.NEW_TABLE:
                status = self._add_table(ctypes.string_at(self._get(r.DETAIL), self._get(r.WANTED_BYTES)))
            elif status == r.NEED_MOMENT:
                status = self._add_moment(self._get(r.DETAIL), asked)
            end = int(ranges[(self._get(r.RANGE) - ranges.ctypes.data) // ranges.strides[0], 1])
            if status == r.NEED_CONTENTS:
                status = self._inflate(self._get(r.POSITION), end)
            if status == r.NEED_PYTHON:
                self._flush()
                if not self._print_inner(self._get(r.POSITION), end):
                    self._print_some(self._get(r.POSITION), end)

    # ---- what the kernel asks for

    def _get(self, word: int) -> int:
        return int(self._state[word // 8])

    def _set(self, word: int, value: int) -> None:
        self._state[word // 8] = value

    def _use_room(self, size: int) -> None:
        self._room = np.empty(size + _GUARD, np.uint8)
        self._set(r.OUT, self._room.ctypes.data)
        self._set(r.OUT_END, self._room.ctypes.data + size)

    def _use_document(self, size: int) -> None:
        self._document = np.empty(size + _GUARD, np.uint8)
        self._set(r.DOCUMENT, self._document.ctypes.data)
        self._set(r.DOCUMENT_BYTES, size)

    def _flush(self) -> bool:
        """Hand over what is printed; whether that was anything."""
        length = self._get(r.OUT) - self._room.ctypes.data
        if length:
            self._write(self._room[:length].tobytes())
            self._set(r.OUT, self._room.ctypes.data)
        return length > 0

    def _add_moment(self, second: int, asked: int) -> int:
        if asked > _MOST_ASKED or not 0 <= second < _BROKEN:
            return r.NEED_PYTHON
        local = datetime.fromtimestamp(second, UTC).astimezone()
        zone = (local.tzname() or "").encode()[:60]
        entry = self._moments[second % r.N_MOMENTS]
        entry[r.SECOND:r.SHORT] = np.frombuffer(second.to_bytes(8, "little"), np.uint8)
        for place, text in ((r.SHORT, event_time(second).encode()), (r.LONG, f"{local:%Y-%m-%d %H:%M:%S}".encode()),
                            (r.ZONE_LENGTH, len(zone).to_bytes(8, "little")), (r.ZONE, zone)):
            entry[place:place + len(text)] = np.frombuffer(text, np.uint8)
        return r.DONE

    def _add_table(self, event: bytes) -> int:
        """Have the kernel know a table map, by its event's body."""
        table_id, body = int.from_bytes(event[:6], "little"), event[6:]
        if body not in self._known:
            try:
                self._add_record(parse_table_map(body))
            except ApplierError:
                return r.NEED_PYTHON
            self._known[body] = len(self._tables) - 1, np.frombuffer(body, np.uint8)
        self._ids.set(table_id, *self._known[body])
        return r.DONE

    def _add_record(self, table: TableMap) -> None:
        """The record of a table, and what its addresses lead to."""
        name = f"{quoted(table.database)}.{quoted(table.table)}"
        said = [*(f"### {verb.format(name)}" for verb in _VERBS), f"Table_map: {name} mapped to number "]
        texts, lengths = [_bytes(text) for text in said], [len(_bytes(text)) - _AFTER for text in said]
        columns = _columns(table) if self._is_plain(table) else None
        record = np.zeros(r.TABLE_BYTES // 8, np.int64)
        record[r.IS_PLAIN // 8], record[r.N_COLUMNS // 8] = columns is not None, len(table.types)
        record[r.LINES // 8:r.LINES // 8 + 3] = [text.ctypes.data for text in texts[:3]]
        record[r.LINE_LENGTHS // 8:r.LINE_LENGTHS // 8 + 3] = lengths[:3]
        record[r.TITLE // 8], record[r.TITLE_LENGTH // 8] = texts[3].ctypes.data, lengths[3]
        if columns is not None:
            record[r.COLUMNS // 8] = columns[0].ctypes.data
            texts += columns
        self._tables.append(texts)
        if len(self._tables) > len(self._table_records):
            self._table_records = np.vstack([self._table_records, np.zeros_like(self._table_records)])
        self._table_records[len(self._tables) - 1] = record

    def _is_plain(self, table: TableMap) -> bool:
        undecidable = self._format.flavour == "mariadb" and not OLD_TEMPORAL.isdisjoint(table.types)
        return not undecidable and all(kind in _OPERATIONS for kind in table.types)

    def _inflate(self, position: int, end: int) -> int:
        """Have the kernel know what is in the compressed event at a position, or more of it, and in some after it."""
        inflater, within = self._inflater, self._get(r.INNER) != 0
        try:
            inflater.advance(position, end, within)
        except ArchiveError:
            return r.NEED_PYTHON
        self._set(r.CONTENT, inflater.contents.ctypes.data)
        self._set(r.CONTENTS_LEFT, len(inflater.contents))
        if within:
            self._set(r.INNER, int(inflater.contents[0, CONTENT_START]))
        return r.DONE

    # ---- what the kernel does not print

    def _print_inner(self, position: int, end: int) -> bool:
        """One event within a payload, where there is such a one and it has no rows."""
        address = self._get(r.INNER)
        if not address:
            return False
        contents = self._inflater.contents
        content = (self._get(r.CONTENT) - contents.ctypes.data) // contents.strides[0]
        data = ctypes.string_at(address, int(contents[content, CONTENT_END]) - address)
        size = int.from_bytes(data[9:13], "little")
        if not self._format.header_length <= size <= len(data) or data[4] in _WITH_ROWS:
            return False
        event = next(file_events(self._mapped, position, end)).inner(data[:size])
        self._print_each([ShownEvent(event, [])])
        collections.deque(self._printer.end(), 0)  # the kernel says where the payload ends
        self._set(r.INNER, address + size)
        self._set(r.INNER_NUMBER, self._get(r.INNER_NUMBER) + 1)
        return True

    def _print_some(self, position: int, end: int) -> None:
        """The event at a position; if it has rows, about a megabyte of events from there on."""
        event = next(file_events(self._mapped, position, end))
        events = iter([event])
        if event.type in _WITH_ROWS:
            self._learn_tables(position)
            events = itertools.takewhile(lambda later: later.position < position + _CHUNK_BYTES,
                                         file_events(self._mapped, position, end))
        inner, all_shown = self._get(r.INNER_NUMBER) if self._get(r.INNER) else -1, self._rows.shown(events)
        after = self.print_events(itertools.dropwhile(
            lambda shown: shown.event.position == position and (shown.number or 0) <= inner, all_shown))
        self._set(r.POSITION, after or position + event.size)
        for word in (r.ROW_AT, r.IN_MAPS, r.INNER):
            self._set(word, 0)

    def print_events(self, events: Iterable[ShownEvent]) -> int:
        """Print some without the kernel. Gives where the last one ends."""
        after = self._print_each(events)
        self._put(self._printer.end())
        return after

    def _print_each(self, events: Iterable[ShownEvent]) -> int:
        self._printer.context.thread = self._get(r.THREAD)
        after = 0
        for shown in events:
            self._put(self._printer.lines(shown))
            if shown.event.type == EventType.START_ENCRYPTION:
                raise encrypted(self._mapped.uri, shown.event.position)
            self._see(shown.event)
            after = shown.event.position + (shown.event.within or shown.event).size
        return after

    def _learn_tables(self, position: int) -> None:
        """Have the RowReader know the newest table maps before a position."""
        maps = self._get(r.MAPS_AT)
        if 0 < maps < position:
            for event in file_events(self._mapped, maps, position):
                if event.type != EventType.TABLE_MAP:
                    break
                self._rows.learn(event)

    def _see(self, event: FileEvent) -> None:
        """Have the kernel know what an event changes that was printed without it."""
        self._see_map(event)
        if isinstance(event.content, Query):
            self._see_context(event, event.content)

    def _see_map(self, event: FileEvent) -> None:
        is_map = event.type == EventType.TABLE_MAP and event.within is None
        if is_map:
            self._add_table(bytes(event.body))
            if not self._get(r.IN_MAPS):
                self._set(r.MAPS_AT, event.position)
        self._set(r.IN_MAPS, int(is_map))

    def _see_context(self, event: FileEvent, query: Query) -> None:
        """What a statement ran in is in force for those that follow; one that says more says it every time."""
        length = int.from_bytes(event.body[11:13], "little")
        is_query = event.type in (EventType.QUERY, EventType.QUERY_COMPRESSED)
        is_plain = is_query and not _SAID_EVERY_TIME & query.context.keys()
        self._context = _bytes(bytes(event.body[_CONTEXT_AT:_CONTEXT_AT + length]))
        self._database = _bytes(self._printer.context.database)
        self._set(r.CONTEXT, self._context.ctypes.data)
        self._set(r.CONTEXT_LENGTH, length if is_plain else -1)
        self._set(r.DATABASE, self._database.ctypes.data)
        self._set(r.DATABASE_LENGTH, len(self._database) - _AFTER)
        self._set(r.THREAD, query.thread_id)

    def _put(self, lines: Iterator[str]) -> None:
        self._write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def _bytes(text: str | bytes) -> np.ndarray:
    """A text at an address, with bytes after it that may be read."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return np.frombuffer(data + bytes(_AFTER), np.uint8)


def _fixed_texts() -> np.ndarray:
    texts = np.zeros((len(r.TEXTS_OF_KERNEL), r.TEXT_BYTES), np.uint8)
    for entry, text in zip(texts, r.TEXTS_OF_KERNEL, strict=True):
        entry[0] = len(text)
        entry[8:8 + len(text)] = np.frombuffer(text.encode(), np.uint8)
    return texts


def _columns(table: TableMap) -> list[np.ndarray]:
    """The records of a table's columns, and the texts before their values."""
    records = np.zeros((len(table.types), v.COLUMN_BYTES // 8), np.int64)
    prefixes = np.zeros((len(table.types), 32), np.uint8)
    for number, (kind, metadata) in enumerate(zip(table.types, table.metadata)):
        plan, prefix = plan_column(kind, metadata), f"###   @{number + 1}=".encode()
        prefixes[number, :len(prefix)] = np.frombuffer(prefix, np.uint8)
        width = plan.need if plan.is_bytes else plan.width
        words = _OPERATIONS[kind], metadata, width, prefixes[number].ctypes.data, len(prefix)
        records[number, :len(words)] = words
    return [records, prefixes]
