"""A unit as a link of a chain: the units, of a table's versions, whose rows end up in one unit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from applier.apply.output.counted_rows import (
    counting_column,
    may_count_on,
    number_after,
    numbers_whole_table,
)
from applier.apply.output.misplaced_rows import Misplaced
from applier.apply.search.unit_search import UnitSearch
from applier.apply.spec import Altered, Exchanged, FromBase, RowOrigin, Stored, UnitSpec, in_order_of_rows
from applier.apply.tables.rows_before import rows_before
from applier.apply.tables.unit_memory import UnitMemory
from applier.apply.tasks import PlanAgain, Refused
from applier.binlog.rows.changes import DELETE, INSERT
from applier.columns.alter.scan_order import (
    Arrivals,
    appends,
    follows_arrival,
    frees_by_updates,
    has_fixed_rows,
    is_written_anew,
)
from applier.errors import ReplayStopped, SchemaError
from applier.io.mapping import MappedFile
from applier.schema.key_infos import clustered_key, is_innodb


class UnitLink(ABC):
    """A unit of one version, in its relation to earlier versions. `sources` are the units of `spec.sources`, whose rows
    pass to this one; all their changes come before. Without a `search` there was no change, and the rows pass through.
    `stop` is the reason why this version stopped. `next_number` is where AUTO_INCREMENT continues in a column that the
    log does not have, 0 if there is none. `misplaced` are rows apart from the others, whom no change finds, once the
    others were taken."""

    def __init__(self, spec: UnitSpec, sources: Sequence[Self] = ()):
        self.spec, self.sources = spec, tuple(sources)
        self.search: UnitSearch[Any] | None = None
        self.stop: Refused | PlanAgain | None = None
        self.next_number = self.by_foreign_keys = 0
        self.misplaced: Misplaced = {}
        self._files: list[MappedFile] = []
        self._passed: pa.Table | None = None  # the rows before the first change, if they were requested
        self._has_rows = False  # earlier versions' rows, none of which was stopped, are here or were passed on
        self._was_changed: bool | None = None  # once the rows were given away
        self._arrivals: Arrivals | None = None
        self._began_with_one = self._is_unordered = False  # as far as is known; or without any row
        self._ranks_before: np.ndarray | None = None
        self._counter_before: int | None = None  # as in RowsOfSource, before the changes
        self._highest: int | None = 0  # number of AUTO_INCREMENT that a change gave to a row
        self._still_counts = False  # a column that lost AUTO_INCREMENT
        self._has_freed = self._has_filled = False  # room of rows, in an engine that appends

    @cached_property
    def _memory(self) -> UnitMemory:
        return UnitMemory(self.spec.definition, self._files, self.spec.time_zone)

    def links(self, ends: Callable[[Self], bool] = lambda _: False) -> list[Self]:
        """Return the units whose rows end up in this one, which is the last, each after its sources. A unit for which
        `ends` is true is included, but not its sources."""
        return in_order_of_rows(self, lambda link: link.sources, ends)

    # ---- its stop

    @property
    def is_stopped(self) -> bool:
        """True if a change of this or an earlier version was refused; no later one is applied."""
        if self.stop is None and not self._has_rows:
            return any(link.stop is not None for link in self.links(lambda link: link._has_rows))
        return self.stop is not None

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Convert the error of a statement to a stop of the unit, as for a change that cannot be applied: other units
        may have to stop earlier."""
        try:
            yield
        except (SchemaError, ReplayStopped) as error:
            if error.file is None or error.position is None:  # not something of the log
                raise
            self.stop = Refused(errors=(error,))

    # ---- the rows before the first change

    @property
    def rows_at_first(self) -> pa.Table:
        """The rows from before the first change."""
        if self.search is not None:
            return self._memory.base
        with self.refusing():
            self._passed = self._rows_before()
            return self._passed
        return self._memory.base  # a statement was refused: there are stops

    def _rows_before(self) -> pa.Table:
        if self._passed is None:
            self._pass_rows_on()
            return self._taken()
        return self._passed

    def _taken(self) -> pa.Table:
        """Take the rows of the sources."""
        taken = rows_before(self.spec, self.sources)
        self.misplaced, self._is_unordered, self._ranks_before = taken.misplaced, taken.is_unordered, taken.ranks
        self._counter_before = taken.counter
        self._still_counts = _still_counts(self.spec.origin, self.sources)
        self._began_with_one = taken.rows.num_rows <= 1 and not self.misplaced
        return taken.rows

    def _pass_rows_on(self) -> None:
        """Pass rows on through versions without changes, from the first one on: each takes them from the previous one,
        so their number does not matter."""
        for link in self.links(lambda link: link.search is not None or link._passed is not None):
            if link is not self and link.search is None and link._passed is None and link._was_changed is None:
                link._passed = link._taken()

    # ---- the rows that are left

    @abstractmethod
    def rows(self) -> Iterator[pa.Table]:
        """Yield the remaining rows, in the order in which they are written, several thousand at a time. They can be
        read only once, except in a group, in which several units take them."""

    @property
    @abstractmethod
    def ranks(self) -> np.ndarray | None:
        """The ranks of the rows by their arrival, int64[n]; None if they are unknown. To be called after `rows`."""

    @property
    def arrivals(self) -> Arrivals:
        """Return what is known about the rows' order of arrival. To be called before the rows are taken."""
        for link in self.links(lambda link: link._arrivals is not None):
            if link._arrivals is None:
                link._arrivals = link._own_arrivals()
        assert self._arrivals is not None, "it is the last of its links"
        return self._arrivals

    @property
    def counter(self) -> int | None:
        """As in RowsOfSource."""
        definition, begun = self.spec.definition, self._counter_before
        if begun is None or (self.search is None and not self.by_foreign_keys):
            return begun if counting_column(definition) is None or numbers_whole_table(definition) else None
        index = self.search.index if self.search is not None else None
        inserted, updated, deleted = (index.inserted, index.updated, index.deleted) if index is not None else (0, 0, 0)
        if counting_column(definition) is None:
            return None if self._still_counts and (inserted or updated or self.by_foreign_keys) else begun
        if self.by_foreign_keys or self._highest is None or not self.spec.counts or \
                not numbers_whole_table(definition) or (definition.partitioning is not None and (updated or deleted)):
            return None
        if not self.spec.sources and 1 < definition.first_number <= self._highest and (updated or deleted):
            return None  # a statement may have lowered it to this number since
        return max(begun, number_after(self._highest, definition)) if self._highest else begun

    @property
    def has_lost_order(self) -> bool:
        """Return whether rows lost a key that had them in an order other than the server's, once they are taken."""
        return any(link._is_unordered for link in self.links())

    def _own_arrivals(self) -> Arrivals:
        """Return what is known about the rows' order of arrival, if that is known for earlier versions."""
        index = None if self.search is None else self.search.index
        is_updated = bool(self.by_foreign_keys) or (index is not None and index.updated > 0)
        inserted = 0 if index is None else index.inserted
        before = [source._arrivals for source in self.sources if source._arrivals is not None]
        origin = self.spec.origin
        had_room = any(rows.has_room for rows in before) or isinstance(origin, FromBase | Exchanged)
        if isinstance(origin, Altered) and is_written_anew(origin.conversion):
            had_room = False
        has_filled = appends(self.spec.definition) and (
            (self._has_filled and not self._knows_places) or (inserted > 0 and had_room))
        in_order = self._is_in_order(before, is_updated) and not has_filled
        has_room = not is_innodb(self.spec.definition) and (had_room or self._has_freed)
        return Arrivals(in_order=in_order, has_room=has_room)

    @property
    def _knows_places(self) -> bool:
        """Return whether it is known which freed room a row fills: the one freed last, if all rows have one length."""
        search = self.spec.search
        return isinstance(search, Stored) and not search.by_content and not self.spec.idempotent and \
            not self.spec.is_touched and follows_arrival(self.spec.definition) and has_fixed_rows(self.spec.definition)

    def _is_in_order(self, before: Sequence[Arrivals], is_updated: bool) -> bool:
        """Return whether the rows, or those of each partition, are in the server's order, if it appends new ones."""
        definition, origin = self.spec.definition, self.spec.origin
        if is_innodb(definition) and clustered_key(definition) is not None:
            return True  # the key sorts them
        if self.spec.may_misplace or self._is_unordered or not (is_innodb(definition) or appends(definition)):
            return False
        if definition.partitioning is not None and is_updated:
            return False  # an update may put a row behind those of another partition
        if self._began_with_one:
            return True
        if isinstance(origin, FromBase):
            return origin.in_order and is_innodb(definition)
        if isinstance(origin, Altered) and origin.conversion.sorts_rows:
            return False
        return all(rows.in_order for rows in before)

    def _note_room(self, kinds: np.ndarray) -> None:
        """Note which of some changes (uint8[n]) free room, and whether rows fill it, in an engine that appends."""
        definition = self.spec.definition
        if not appends(definition):
            return
        freeing = np.flatnonzero(kinds != INSERT if frees_by_updates(definition) else kinds == DELETE)
        inserts = np.flatnonzero(kinds == INSERT)
        self._has_filled |= len(inserts) > 0 and (self._has_freed or (len(freeing) > 0 and freeing[0] < inserts[-1]))
        self._has_freed |= len(freeing) > 0

    @property
    def is_changed(self) -> bool:
        """True if the rows differ from those of the base. A row that moves in from another unit is counted there."""
        link: UnitLink = self
        while (known := link._changed_here) is None:
            link = link.sources[0]
        return known

    @property
    def _changed_here(self) -> bool | None:
        """Like `is_changed`; None if it depends on the previous version."""
        if self._was_changed is not None:
            return self._was_changed
        if self.search is not None:
            index = self.search.index
            changes = self.by_foreign_keys or index.inserted or index.updated or index.deleted
            if changes or index.live != self._memory.base.num_rows:
                return True
        match self.spec.origin:
            case Exchanged():
                return True
            case Altered() as altered:
                return None if altered.keeps_rows and not altered.unit.may_misplace else True
            case _:
                return self.spec.is_part or bool(self.spec.shared_files)  # which other units may change


def _still_counts(origin: RowOrigin, sources: Sequence[UnitLink]) -> bool:
    """Return whether new values of a column that lost AUTO_INCREMENT may move the table's counter."""
    return isinstance(origin, Altered) and (may_count_on(origin.conversion) or (
        any(source._still_counts for source in sources) and not origin.conversion.asks_for_copy))
