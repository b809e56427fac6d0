"""The effects of parents' changes on the rows of a table, by the values of its foreign keys. These *events* are all
known before the table's own changes are applied; rows of its units wait for them (see watched_kernel)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.foreign_keys import watched_kernel as k
from applier.apply.foreign_keys.event_links import EventLink
from applier.apply.foreign_keys.parent_changes import FILE_SHIFT, ParentChanges
from applier.apply.foreign_keys.parent_events_kernel import count_passed
from applier.apply.foreign_keys.watched_index_kernel import apply_watched_bytes, apply_watched_ints
from applier.apply.index import pointer_kernel
from applier.apply.index.store.row_parts import EncodedRowPart
from applier.apply.search.change_keys import times_of
from applier.apply.search.key_search import KeySearch
from applier.apply.search.keyed_changes import KeyedChanges
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.spec import KeyRange, ParentLink, UnitSpec
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import INSERT, ChangeBatch, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of, pointers_to
from applier.binlog.rows.layout import ColumnPlan
from applier.schema.definition import TableDefinition, table_schema
from keysearch.addresses import address_of

_CHUNK_ROWS, _FIRST_ROOM = 1 << 16, 1 << 10


class ParentEvents:
    """The events for one table, and the values of its rows among those of events.

    `take` examines a batch of the table's changes. After it, `turns`, `values` and `nexts` are the inputs of a unit's
    kernels (watched_kernel) for the batch, and `n_watched` is the number of its rows that will be watched. `given` has
    rows with the values that events set, NULL in other columns, and only NULL in the first row.
    """

    def __init__(self, definition: TableDefinition, links: tuple[ParentLink, ...],
                 changes: Mapping[int, ParentChanges]):
        numbers = [(changes[link.version], turns) for link, turns in
                   zip(links, _turns([changes[link.version] for link in links]), strict=True)]
        self._positions = np.empty(1 + max((int(turns.max(initial=-1)) for _, turns in numbers), default=-1), np.int64)
        for part, turns in numbers:
            self._positions[turns] = part.positions
        also = tuple(link.part for link in links)
        self._parts = RowPartEncoder(dataclasses.replace(definition, keys=()), by_content=False, also=also)
        self._links, rows = [], 1
        for link, (part, turns) in zip(links, numbers, strict=True):
            self._links.append(EventLink(link, self._parts, part, turns, rows))
            rows += len(self._links[-1].given)
        self.given = self._given_rows(definition)
        self.records: np.ndarray = np.array([(link.column, address_of(link.starts), address_of(link.events))
                                             for link in self._links], k.LINK)
        self._watch = np.zeros((), k.WATCH)
        self._watch["n_links"], self._watch["links"] = len(links), address_of(self.records)
        self.n_watched = self.file = 0
        self.turns: np.ndarray | None = None

    @property
    def n(self) -> int:
        """The number of events, of all links."""
        return sum(len(link.events) for link in self._links)

    @property
    def columns(self) -> list[int]:
        """The columns with foreign keys."""
        return [link.column for link in self._links]

    def _given_rows(self, definition: TableDefinition) -> pa.Table:
        schema, total = table_schema(definition), 1 + sum(len(link.given) for link in self._links)
        columns = {field.name: pa.nulls(total, field.type) for field in schema}
        for link in self._links:
            name = definition.columns[link.column].name
            kind, end = schema.field(name).type, link.first_given + len(link.given)
            columns[name] = pa.concat_arrays([pa.nulls(link.first_given, kind), link.given.cast(kind),
                                              pa.nulls(total - end, kind)])
        return pa.Table.from_arrays(list(columns.values()), schema=schema)

    # ---- rows of a batch, and of a base

    def wanted(self, plans: list[ColumnPlan], others: list[ColumnPlan | None]) -> list[ColumnPlan | None]:
        """Return the additional columns to decode from after-images."""
        return [own or other for own, other in zip(self._parts.wanted(plans), others, strict=True)]

    def take(self, batch: ChangeBatch, table_map: TableMap) -> None:
        """Examine a batch of changes of the file with the number `file`."""
        positions = np.ascontiguousarray(batch.positions)
        self.turns = np.empty(batch.n, np.int64)
        count_passed(batch.n, address_of(positions), self.file << FILE_SHIFT, address_of(self._positions),
                     len(self._positions), address_of(self.turns))
        inserted = np.zeros(batch.n_after, np.bool_)
        inserted[batch.after_rows[batch.kinds == INSERT]] = True
        inputs = self._parts.of_images(batch.after, batch.n_after, table_map,
                                        lambda: times_of(batch, batch.after_rows, batch.n_after), inserted)
        self.values = self._find(inputs, batch.n_after, inserted)
        self.nexts = np.full(batch.n_after, k.NEVER, np.int64)
        rows = np.ascontiguousarray(batch.after_rows)
        self.n_watched = k.find_nexts(address_of(self._watch), batch.n, address_of(self.turns), address_of(rows),
                                      address_of(self.values), address_of(self.nexts))

    def base_rows(self, rows: pa.Table) -> Iterator[tuple[int, int]]:
        """Examine rows from before all events, several thousand at a time. Yields (the number of the first row, the
        number of rows); `values`, `nexts` and `n_watched` are then those of these rows."""
        for start in range(0, rows.num_rows, _CHUNK_ROWS):
            part = rows.slice(start, _CHUNK_ROWS)
            inputs = [EncodedRowPart(keys) for keys in self._parts.of_rows(part)]
            self.values = self._find(inputs, part.num_rows, np.ones(part.num_rows, np.bool_))
            self.nexts = np.empty(part.num_rows, np.int64)
            self.n_watched = k.find_nexts(address_of(self._watch), part.num_rows, 0, 0, address_of(self.values),
                                          address_of(self.nexts))
            yield start, part.num_rows

    def _find(self, inputs: list[EncodedRowPart], rows: int, inserted: np.ndarray) -> np.ndarray:
        """Return the values of images, or of rows of the base: int64[rows, links]. An insert has the default of a
        column that is missing in its image (DEF-R1b); an update does not set the column."""
        values = np.empty((rows, len(self._links)), np.int64)
        for number, (link, given) in enumerate(zip(self._links, inputs, strict=True)):
            column = values[:, number]
            link.find(given.keys, column)
            if given.absent is not None:
                if given.default is not None:
                    column[given.absent & inserted] = link.number_of(given.default)
                column[given.absent & ~inserted] = k.NO_VALUE
        return values

    def search(self, spec: UnitSpec) -> WatchedSearch:
        """Return the access method of a unit of the table, whose units are ranges of one key (plan.cascades)."""
        assert isinstance(spec.search, KeyRange), "rows that change by value are found by one key"
        return WatchedSearch(spec, spec.search, self)


def _turns(parts: list[ParentChanges]) -> list[np.ndarray]:
    """Return a number for each change, ascending in commit order over all parts. A change in several parts has the same
    number in each."""
    positions, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("positions", "rows"))
    order = np.lexsort([rows, positions])
    new = np.ones(len(order), np.int64)
    new[:1] = 0
    new[1:] = (np.diff(positions[order]) != 0) | (np.diff(rows[order]) != 0)
    turns = np.empty(len(order), np.int64)
    turns[order] = np.cumsum(new)
    return np.split(turns, np.cumsum([len(part.positions) for part in parts])[:-1])


class WatchedSearch(KeySearch):
    """The access method by one key with watched rows, which wait for `events`: those of the table, in a task that may
    have several of its units."""

    kernels = MappingProxyType({"int": apply_watched_ints, "bytes": apply_watched_bytes})

    def __init__(self, spec: UnitSpec, rows: KeyRange, events: ParentEvents):
        super().__init__(spec, rows)
        self._events, self._first_given = events, 0
        self._records = np.empty(_FIRST_ROOM, k.record_type(len(events.columns)))
        self._watch = np.zeros((), k.WATCH)
        self._watch["free"], self._watch["n_links"] = -1, len(events.columns)
        self._watch["links"] = address_of(events.records)

    def prepare(self, changes: KeyedChanges[Any], layouts: ImageLayouts) -> None:
        super().prepare(changes, layouts)
        self.index.watch(self._receive())

    def _receive(self) -> int:
        """Prepare for the rows that `events` has examined. Returns the address of the kernels' record; 0 if no row is
        watched."""
        used = int(self._watch["used"])
        if not used and not self._events.n_watched:
            return 0
        while len(self._records) < used + self._events.n_watched:
            self._records = np.concatenate([self._records, np.empty_like(self._records)])
        self._watch["records"] = address_of(self._records)
        self._watch["values"], self._watch["nexts"] = address_of(self._events.values), address_of(self._events.nexts)
        if self._events.turns is not None:
            self._watch["turns"] = address_of(self._events.turns)
        return address_of(self._watch)

    def seed(self, rows: pa.Table) -> None:
        self._watch["first_given"] = self._first_given = rows.num_rows
        pointers = np.arange(rows.num_rows)
        for first, count in self._events.base_rows(rows):
            if self._events.n_watched:
                k.watch_base(self._receive(), count, first, address_of(pointers))
        self._seed(rows, pointers)

    def end(self) -> int:
        self._watch["records"] = address_of(self._records)
        k.pass_all(address_of(self._watch))
        return int(self._watch["made"])

    def pointers(self) -> np.ndarray:
        """Return pointers to the remaining rows like `KeySearch.pointers`, after `end`. Rows with values that events
        set have column pointers, which come after the existing ones."""
        pointers, column_pointers = super().pointers(), self.index.column_pointers
        at = np.flatnonzero(layouts_of(pointers) == k.WATCHED_ID)
        if not len(at):
            return pointers
        records = self._records[addresses_of(pointers[at])]
        gone = records["next_turn"] == k.IS_GONE
        left, records = at[~gone], records[~gone]
        rows, used = column_pointers.by_column(records["pointer"]), self.index.column_pointers_used
        for number, column in enumerate(self._events.columns):
            given = records["values"]["given_row"][:, number]
            rows[:, column] = np.where(given != k.NOT_GIVEN, self._first_given + given, rows[:, column])
        column_pointers.pointers = np.concatenate([column_pointers.pointers[:used], rows])
        pointers[left] = pointers_to(pointer_kernel.COLUMN_POINTERS_ID, used + np.arange(len(left)))
        return np.delete(pointers, at[gone])
