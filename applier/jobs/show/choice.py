"""Prints the events of chosen tables: a kernel chooses them (EV-ANN), and an EventPrinter prints them."""

import numpy as np

from applier.binlog.events.events import Query, RowsHeader, encrypted
from applier.binlog.events.format import EventType
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.rows_event_kernel import ALL_ONES, DUMMY_TABLE_ID
from applier.io.mapping import MappedFile
from applier.jobs.show.event_walk import EventWalk
from applier.jobs.show.kernels import walk_records as r
from applier.jobs.show.kernels.choice_kernel import Role, choose
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
        self._ranges = np.zeros(FIRST_RANGES, r.RANGE)

    def print(self, start: int, end: int, shown_from: int) -> None:
        """Print the tables' events in [start, end), from `shown_from` on; `start` must be where a group, or the file,
        begins. Raises ArchiveError where the file is damaged, after all events before that."""
        self._printer.learn(start, end, shown_from)
        self._walk.set(choose_from=shown_from << r.INNER_BITS, verdict=Role.UNKNOWN, text_start=-1, is_chosen=0)
        self._use_ranges(0)
        while start < end:
            self._walk.begin(r.range_of(start, min(end, start + CHUNK_BYTES)))
            try:
                self._choose()
            finally:
                self._print_chosen()
            start = self._walk.position

    def _choose(self) -> None:
        """Choose events in a range, at least until there is no room for more and no payload has begun."""
        while (status := self._walk.run(choose)) != r.Status.DONE:
            if status == r.Status.NEED_VERDICT:
                self._walk.set(verdict=self._verdict())
            elif self._walk.get("inner") or self._n_ranges("chosen_end") == 0:
                self._make_room()
            else:
                return

    def _role_of(self, table: TableMap) -> Role:
        return Role.CHOSEN if self._tables.wanted(table.database, table.table) else Role.OTHER

    def _verdict(self) -> Role:
        """Return the role of an event that the kernel cannot classify. Raises ArchiveError if it is malformed."""
        event = self._walk.event()
        if event.type == EventType.START_ENCRYPTION and not self._mapped.is_decrypted:
            raise encrypted(self._mapped.uri, event.position)
        content = event.content
        if isinstance(content, RowsHeader) and content.table_id not in (DUMMY_TABLE_ID, ALL_ONES):
            raise self._walk.corrupt("a rows event whose table map is not there")
        if event.type == EventType.QUERY:
            length = int.from_bytes(event.body[_CONTEXT_AT - 2:_CONTEXT_AT], "little")
            self._context = np.frombuffer(bytes(event.body[_CONTEXT_AT:_CONTEXT_AT + length]), np.uint8)
            self._walk.set(context=(address_of(self._context), length))
        if isinstance(content, Query):
            return statement_role(content, self._tables, event.format.flavour)
        return Role.FRAME_END if event.type == EventType.XA_PREPARE else Role.OTHER

    def _print_chosen(self) -> None:
        """Print the chosen ranges; ranges that wait for a decision move to the front."""
        chosen, count = self._n_ranges("chosen_end"), self._n_ranges("ranges_out")
        if chosen:
            self._printer.print_ranges(self._ranges[:chosen])
            self._ranges[:count - chosen] = self._ranges[chosen:count].copy()
        self._use_ranges(count - chosen)

    def _n_ranges(self, end: str) -> int:
        return (self._walk.get(end) - address_of(self._ranges)) // r.RANGE_BYTES

    def _make_room(self) -> None:
        chosen, count = self._n_ranges("chosen_end"), self._n_ranges("ranges_out")
        self._ranges = np.concatenate([self._ranges, np.zeros_like(self._ranges)])
        self._use_ranges(count)
        self._walk.set(chosen_end=address_of(self._ranges) + r.RANGE_BYTES * chosen)

    def _use_ranges(self, waiting: int) -> None:
        address = address_of(self._ranges)
        self._walk.set(room=address, chosen_end=address, ranges_out=address + r.RANGE_BYTES * waiting,
                       room_end=address + self._ranges.nbytes)
