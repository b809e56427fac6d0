"""The events of one foreign key, by value: the affected values of parents, and the effect of each event."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.apply.foreign_keys import watched_kernel as k
from applier.apply.foreign_keys.parent_changes import ParentChanges, changed
from applier.apply.foreign_keys.parent_events_kernel import ENTRY, FREE, KNOWN, find_values, index_values
from applier.apply.search.row_part_encoder import RowPartEncoder
from applier.apply.spec import ParentLink
from applier.schema.definition import table_schema
from applier.schema.foreign_keys import CASCADE, RESTRICT
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes


class EventLink:
    """The events of one foreign key: where the events of each value are, int64[values + 1], and the events as
    watched_kernel reads them."""

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
        """Index the distinct values, which are encoded."""
        _, offsets, data = strings.buffers()
        offsets = np.frombuffer(offsets, np.int64)[strings.offset:strings.offset + len(strings) + 1] \
            if len(strings) else np.zeros(1, np.int64)
        self._known = KeyBytes(offsets, np.frombuffer(data or b"", np.uint8))
        self._table = np.full(4 << max(3, len(strings).bit_length()), FREE, ENTRY)
        self._record: np.ndarray = np.array(
            (address_of(self._table), len(self._table) - 1, address_of(offsets), address_of(self._known.data)), KNOWN)
        index_values(len(strings), address_of(self._record))

    def find(self, keys: KeyBytes, numbers: np.ndarray) -> None:
        """Fill `numbers` (int64[n], of any stride) with the numbers of these values; -1 for values without an event."""
        find_values(len(keys), address_of(keys.offsets), address_of(keys.data), address_of(self._record),
                    address_of(numbers), numbers.strides[0])

    def number_of(self, key: bytes) -> int:
        """Return the number of one value."""
        found = np.empty(1, np.int64)
        self.find(KeyBytes(np.array([0, len(key)], np.int64), np.frombuffer(key + bytes(8), np.uint8)), found)
        return int(found[0])
