"""What the changes of its parents do to the rows of a table, by the values of its foreign keys: *events*, all known
before the table's own changes are applied (see watched_kernel)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from applier.apply.foreign_keys.parent_changes import FILE_SHIFT, ParentChanges, changed
from applier.apply.foreign_keys.parent_events_kernel import (
    ENTRY,
    FREE,
    KNOWN,
    count_passed,
    find_values,
    index_values,
)
from applier.apply.index import watched_kernel as k
from applier.apply.index.row_parts import EncodedRowPart
from applier.apply.search.change_keys import times_of
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.spec import ParentLink
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import INSERT, ChangeBatch
from applier.binlog.rows.layout import ColumnPlan
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.foreign_keys import CASCADE, RESTRICT
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes

_CHUNK_ROWS = 1 << 16


class ParentEvents:
    """The events for one table, and its rows' values among those that events are about.

    `take` looks at a batch of the table's changes; then `turns`, `values` and `nexts` say of it what a unit's kernels
    need (watched_kernel), and `n_watched` how many of its rows will be watched. `given` has rows that hold the values
    which events give, NULL elsewhere, and in the first one alone.
    """

    def __init__(self, definition: TableDefinition, links: tuple[ParentLink, ...],
                 changes: Mapping[int, ParentChanges]):
        numbers = [(changes[link.version], turns) for link, turns in
                   zip(links, _turns([changes[link.version] for link in links]), strict=True)]
        self._places = np.empty(1 + max((int(turns.max(initial=-1)) for _, turns in numbers), default=-1), np.int64)
        for part, turns in numbers:
            self._places[turns] = part.places
        also = tuple(link.part for link in links)
        self._parts = RowPartEncoder(dataclasses.replace(definition, keys=()), by_content=False, also=also)
        self._links, rows = [], 1
        for link, (part, turns) in zip(links, numbers, strict=True):
            self._links.append(_Link(link, self._parts, part, turns, rows))
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
        """How many events there are, of all links."""
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
        """What to decode of after-images, given what is decoded of them anyway."""
        return [own or other for own, other in zip(self._parts.wanted(plans), others, strict=True)]

    def take(self, batch: ChangeBatch, table_map: TableMap) -> None:
        """Look at a batch of changes, of the file whose number `file` is."""
        places = np.ascontiguousarray(batch.places)
        self.turns = np.empty(batch.n, np.int64)
        count_passed(batch.n, address_of(places), self.file << FILE_SHIFT, address_of(self._places), len(self._places),
                     address_of(self.turns))
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
        """Look at rows that were there before all events, some thousand at a time: (the number of the first, how many).
        Then `values`, `nexts` and `n_watched` are about them."""
        for start in range(0, rows.num_rows, _CHUNK_ROWS):
            part = rows.slice(start, _CHUNK_ROWS)
            inputs = [EncodedRowPart(keys) for keys in self._parts.of_rows(part)]
            self.values = self._find(inputs, part.num_rows, np.ones(part.num_rows, np.bool_))
            self.nexts = np.empty(part.num_rows, np.int64)
            self.n_watched = k.find_nexts(address_of(self._watch), part.num_rows, 0, 0, address_of(self.values),
                                          address_of(self.nexts))
            yield start, part.num_rows

    def _find(self, inputs: list[EncodedRowPart], rows: int, inserted: np.ndarray) -> np.ndarray:
        """The values of images, or of rows of the base: int64[rows, links]. An insert has the default of a column that
        its image lacks (DEF-R1b), an update says nothing of it."""
        values = np.empty((rows, len(self._links)), np.int64)
        for number, (link, given) in enumerate(zip(self._links, inputs, strict=True)):
            column = values[:, number]
            link.find(given.keys, column)
            if given.absent is not None:
                if given.default is not None:
                    column[given.absent & inserted] = link.number_of(given.default)
                column[given.absent & ~inserted] = k.NO_VALUE
        return values


class _Link:
    """The events of one foreign key: where they are by value, int64[values + 1], and as watched_kernel reads them."""

    def __init__(self, link: ParentLink, parts: RowPartEncoder, changes: ParentChanges, turns: np.ndarray, first: int):
        self.column, self.first_given = link.column, first
        nothing = pa.nulls(0, table_schema(link.parent).field(link.parent.columns[link.parent_column].name).type)
        before, after = (values.get(link.parent_column, nothing) for values in (changes.before, changes.after))
        moves = ~changes.deletes & changed(before, after)
        counts = (changes.deletes & (link.on_delete != RESTRICT)) | (moves & (link.on_update != RESTRICT))
        chosen = np.flatnonzero(counts & np.asarray(before.is_valid()))
        deletes, picks = changes.deletes[chosen], pa.array(chosen)
        takes_new = ~deletes & (link.on_update == CASCADE)
        self.given = after.take(pa.array(chosen[takes_new]))
        keys = pa.concat_arrays([parts.encoded(link.part, column).to_arrow()
                                 for column in (before.take(picks), self.given)]).dictionary_encode()
        self._set_values(keys.dictionary)
        numbers = np.asarray(keys.indices, np.int64)
        own = numbers[:len(chosen)]
        events = np.zeros(len(chosen), k.EVENT)
        events["turn"] = turns[chosen]
        events["gives"] = np.where(deletes & (link.on_delete == CASCADE), k.DELETES, k.NO_VALUE)
        new = np.where(np.asarray(self.given.is_valid()), numbers[len(chosen):], k.NO_VALUE)
        events["gives"][takes_new] = new
        events["given_row"][takes_new] = first + np.arange(len(self.given))
        order = np.lexsort([events["turn"], own])
        self.events = events[order]
        self.starts = np.searchsorted(own[order], np.arange(len(self._known) + 1)).astype(np.int64)

    def _set_values(self, strings: pa.LargeBinaryArray) -> None:
        """Index the distinct values, as they are encoded."""
        _, offsets, data = strings.buffers()
        offsets = np.frombuffer(offsets, np.int64)[strings.offset:strings.offset + len(strings) + 1] \
            if len(strings) else np.zeros(1, np.int64)
        self._known = KeyBytes(offsets, np.frombuffer(data or b"", np.uint8))
        self._table = np.full(4 << max(3, len(strings).bit_length()), FREE, ENTRY)
        self._record: np.ndarray = np.array(
            (address_of(self._table), len(self._table) - 1, address_of(offsets), address_of(self._known.data)), KNOWN)
        index_values(len(strings), address_of(self._record))

    def find(self, keys: KeyBytes, numbers: np.ndarray) -> None:
        """Fill `numbers` (int64[n], of any stride) with the values' numbers, -1 for those that no event is about."""
        find_values(len(keys), address_of(keys.offsets), address_of(keys.data), address_of(self._record),
                    address_of(numbers), numbers.strides[0])

    def number_of(self, key: bytes) -> int:
        """The number of one value."""
        found = np.empty(1, np.int64)
        self.find(KeyBytes(np.array([0, len(key)], np.int64), np.frombuffer(key + bytes(8), np.uint8)), found)
        return int(found[0])


def _turns(parts: list[ParentChanges]) -> list[np.ndarray]:
    """A number for each change, ascending in commit order over all parts, the same where it is the same change."""
    places, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("places", "rows"))
    order = np.lexsort([rows, places])
    new = np.ones(len(order), np.int64)
    new[:1] = 0
    new[1:] = (np.diff(places[order]) != 0) | (np.diff(rows[order]) != 0)
    turns = np.empty(len(order), np.int64)
    turns[order] = np.cumsum(new)
    return np.split(turns, np.cumsum([len(part.places) for part in parts])[:-1])
