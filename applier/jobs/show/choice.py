"""Prints the events of chosen tables: a kernel chooses them (EV-ANN), and an EventPrinter prints them."""

import numpy as np

from applier.binlog.events.events import Query, RowsHeader, encrypted
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID
from applier.io.mapping import MappedFile
from applier.jobs.show.event_walk import EventWalk
from applier.jobs.show.kernels import choice_kernel as k
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.printing import EventPrinter
from applier.jobs.show.tables import statement_role
from applier.schema.table_filter import TableFilter
from keysearch.addresses import address_of

CHUNK_BYTES = 16 << 20
"""How far the choice is ahead of the printing."""
FIRST_RANGES = 4096
"""Ranges at a time."""
_CONTEXT_AT = 13
"""Where a QUERY's status variables begin in its body; their length is in the two bytes before."""


class TableChoice:
    """Has an EventPrinter print the events of chosen tables in ranges of a file."""

    def __init__(self, mapped: MappedFile, tables: TableFilter, printer: EventPrinter) -> None:
        self._mapped, self._tables, self._printer = mapped, tables, printer
        self._walk = EventWalk(mapped, self._role_of, inflates_all=False)
        self._context = np.zeros(0, np.uint8)
        self._ranges = np.zeros((FIRST_RANGES, 2), np.int64)

    def print(self, start: int, end: int, shown_from: int) -> None:
        """Print the tables' events in [start, end), from `shown_from` on; `start` must be where a group, or the
        file, begins. Raises ArchiveError where the file is damaged, after what comes before that."""
        self._printer.learn(start, end, shown_from)
        for word, value in ((r.CHOOSE_FROM, shown_from << r.INNER_BITS), (r.VERDICT, k.UNKNOWN), (r.TEXT_START, -1),
                            (r.IS_CHOSEN, 0)):
            self._walk.set(word, value)
        self._use_ranges(0)
        while start < end:
            self._walk.begin(np.array([[start, min(end, start + CHUNK_BYTES)]]) << r.INNER_BITS)
            try:
                self._choose()
            finally:
                self._print_chosen()
            start = self._walk.position

    def _choose(self) -> None:
        """Choose events in a range, at least until there is no room for more and no payload has begun."""
        while (status := self._walk.run(k.choose)) != r.DONE:
            if status == r.NEED_VERDICT:
                self._walk.set(r.VERDICT, self._verdict())
            elif self._walk.get(r.INNER) or self._n_ranges(r.CHOSEN_END) == 0:
                self._make_room()
            else:
                return

    def _role_of(self, table: TableMap) -> int:
        return k.CHOSEN if self._tables.wanted(table.database, table.table) else k.OTHER

    def _verdict(self) -> int:
        """The role of an event that the kernel cannot classify. Raises ArchiveError if it is malformed."""
        event = self._walk.event()
        if event.type == EventType.START_ENCRYPTION:
            raise encrypted(self._mapped.uri, event.position)
        content = event.content
        if isinstance(content, RowsHeader) and content.table_id not in (DUMMY_TABLE_ID, ALL_ONES):
            raise self._walk.corrupt("a rows event whose table map is not there")
        if event.type == EventType.QUERY:
            length = int.from_bytes(event.body[_CONTEXT_AT - 2:_CONTEXT_AT], "little")
            self._context = np.frombuffer(bytes(event.body[_CONTEXT_AT:_CONTEXT_AT + length]), np.uint8)
            self._walk.set(r.CONTEXT, address_of(self._context))
            self._walk.set(r.CONTEXT_LENGTH, length)
        if isinstance(content, Query):
            return statement_role(content, self._tables, event.format.flavour)
        return k.FRAME_END if event.type == EventType.XA_PREPARE else k.OTHER

    def _print_chosen(self) -> None:
        """Print the chosen ranges; ranges that wait for a decision move to the front."""
        chosen, count = self._n_ranges(r.CHOSEN_END), self._n_ranges(r.RANGES_OUT)
        if chosen:
            self._printer.print_ranges(self._ranges[:chosen])
            self._ranges[:count - chosen] = self._ranges[chosen:count].copy()
        self._use_ranges(count - chosen)

    def _n_ranges(self, end: int) -> int:
        return (self._walk.get(end) - address_of(self._ranges)) // 16

    def _make_room(self) -> None:
        chosen, count = self._n_ranges(r.CHOSEN_END), self._n_ranges(r.RANGES_OUT)
        self._ranges = np.vstack([self._ranges, np.zeros_like(self._ranges)])
        self._use_ranges(count)
        self._walk.set(r.CHOSEN_END, address_of(self._ranges) + 16 * chosen)

    def _use_ranges(self, waiting: int) -> None:
        address = address_of(self._ranges)
        for word, value in ((r.ROOM, address), (r.CHOSEN_END, address), (r.RANGES_OUT, address + 16 * waiting),
                            (r.ROOM_END, address + self._ranges.nbytes)):
            self._walk.set(word, value)
