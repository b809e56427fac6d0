"""Prints what is about some tables: a kernel finds it, and a TextWalk prints it.

From the first compressed transaction on, `AboutTables` chooses in what is left of a range, event by event.
"""

import collections
from collections.abc import Iterator

import numpy as np

from applier.binlog.archive.reader import FileEvent, file_events
from applier.binlog.events.contents import MappedTable
from applier.binlog.events.events import RowsHeader, encrypted, read_format
from applier.binlog.events.format import EventType
from applier.binlog.rows.table_ids import TableIds
from applier.io.mapping import MappedFile
from applier.jobs.show.kernels import choice_kernel as k
from applier.jobs.show.rows import RowReader, ShownEvent
from applier.jobs.show.tables import AboutTables
from applier.jobs.show.text_walk import TextWalk
from applier.schema.table_filter import TableFilter

CHUNK_BYTES = 16 << 20
"""How far the choice is ahead of the printing."""
FIRST_RANGES = 4096
"""Ranges at a time."""
_CONTEXT_AT = 13
"""Where a QUERY's status variables begin in its body; their length is in the two bytes before."""


class TableChoice:
    """Has a TextWalk print what is about some tables in ranges of a file."""

    def __init__(self, mapped: MappedFile, tables: TableFilter, text: TextWalk) -> None:
        self._mapped, self._tables, self._text = mapped, tables, text
        self._format = read_format(mapped)
        self._rows = RowReader(mapped, self._format, lambda table: tables.wanted(table.database, table.table))
        self._about, self._ids = AboutTables(tables), TableIds()
        self._bodies: dict[bytes, tuple[int, np.ndarray]] = {}  # whether a table map's table counts, its body
        self._state = np.zeros(k.STATE_WORDS, np.int64)
        self._set(k.FILE_BYTES, mapped.size)
        self._set(k.HEADER_BYTES, self._format.header_length)
        self._set(k.CHECKSUM_BYTES, self._format.checksum_length)
        self._set(k.CONTEXT_LENGTH, -1)
        self._ranges = np.zeros((FIRST_RANGES, 2), np.int64)

    def print(self, start: int, end: int, shown_from: int) -> None:
        """Print from [start, end) what is about the tables, from `shown_from` on; `start` must be where a group, or the
        file, begins. Raises ArchiveError where the file is damaged, after what comes before that."""
        self._text.learn(start, end, shown_from)
        self._set(k.POSITION, start)
        self._set(k.CHOOSE_FROM, shown_from)
        for word, value in ((k.VERDICT, k.UNKNOWN), (k.TEXT_START, -1), (k.IS_CHOSEN, 0)):
            self._set(word, value)
        self._use_ranges(0)
        while (position := self._get(k.POSITION)) < end:
            try:
                status = self._choose(min(end, position + CHUNK_BYTES))
            finally:
                self._print_chosen()
            if status == k.FULL and self._n_ranges() + 3 > len(self._ranges):  # all of them wait
                waiting, self._ranges = self._n_ranges(), np.vstack([self._ranges, np.zeros_like(self._ranges)])
                self._use_ranges(waiting)
            elif status == k.NEED_VERDICT:
                self._set(k.VERDICT, self._verdict(next(self._events(self._get(k.POSITION), end))))
            elif status == k.PAYLOAD:
                self._print_by_event(self._get(k.POSITION), end, shown_from)
                return

    def _choose(self, end: int) -> int:
        """Choose up to `end`, and say why it stopped."""
        while True:
            self._set(k.IDS, self._ids.address)
            self._set(k.IDS_MASK, self._ids.mask)
            status = int(k.choose(self._mapped.address, end, self._state.ctypes.data))
            if status != k.NEW_TABLE:
                return status
            [event] = self._events(self._get(k.POSITION), self._get(k.POSITION) + 1)
            mapped: MappedTable = event.content
            body = mapped.table.body
            if body not in self._bodies:
                wanted = self._tables.wanted(mapped.table.database, mapped.table.table)
                self._bodies[body] = k.CHOSEN if wanted else k.OTHER, np.frombuffer(body, np.uint8)
            self._ids.set(mapped.table_id, *self._bodies[body])

    def _verdict(self, event: FileEvent) -> int:
        """What an event is that the kernel cannot tell. Raises ArchiveError where it is malformed."""
        if event.type == EventType.START_ENCRYPTION:
            raise encrypted(self._mapped.uri, event.position)
        role = self._about.role(ShownEvent(event, []))
        if isinstance(event.content, RowsHeader):  # says so, too, if its table is not known
            collections.deque(self._rows.shown(iter([event])), 0)
        elif event.type == EventType.QUERY:
            self._set(k.CONTEXT, self._mapped.address + event.position + self._format.header_length + _CONTEXT_AT)
            self._set(k.CONTEXT_LENGTH, int.from_bytes(event.body[11:13], "little"))
        return role

    def _print_by_event(self, position: int, end: int, shown_from: int) -> None:
        """What is left, event by event."""
        text = self._get(k.TEXT_START)
        self._about.go_on(
            [ShownEvent(event, []) for start, after in self._ranges[:self._n_ranges()].tolist()
             for event in self._events(start, after)],
            [ShownEvent(event, []) for event in self._events(text, text + 1)] if text >= 0 else [],
            self._get(k.IS_CHOSEN) != 0)
        events = self._about.of(self._rows.shown(self._events(position, end)))
        self._text.print_events(shown for shown in events if shown.event.position >= shown_from)

    def _print_chosen(self) -> None:
        """Print the ranges that are chosen; those that wait go on to."""
        chosen = (self._get(k.CHOSEN_END) - self._ranges.ctypes.data) // 16
        count = self._n_ranges()
        if chosen:
            self._text.print_ranges(self._ranges[:chosen])
            self._ranges[:count - chosen] = self._ranges[chosen:count].copy()
        self._use_ranges(count - chosen)

    def _n_ranges(self) -> int:
        return (self._get(k.OUT) - self._ranges.ctypes.data) // 16

    def _use_ranges(self, waiting: int) -> None:
        address = self._ranges.ctypes.data
        for word, value in ((k.ROOM, address), (k.CHOSEN_END, address), (k.OUT, address + 16 * waiting),
                            (k.ROOM_END, address + self._ranges.nbytes)):
            self._set(word, value)

    def _events(self, start: int, end: int) -> Iterator[FileEvent]:
        return file_events(self._mapped, start, end)

    def _get(self, word: int) -> int:
        return int(self._state[word // 8])

    def _set(self, word: int, value: int) -> None:
        self._state[word // 8] = value
