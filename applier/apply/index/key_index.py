"""An index of a unit's rows by one key: the memory around the kernels of `key_index_kernel`.

    IntIndex     a key is an int64 (one integer column)
    ByteIndex    a key is a byte string (keysearch.keybytes)

At the end, both list the remaining rows in key order.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import Generic

import numpy as np

from applier.apply.index import byte_keys_kernel, int_keys_kernel
from applier.apply.index.key_index_kernel import apply_bytes, apply_ints
from applier.apply.index.status import Status
from applier.apply.index.unit_index import UnitIndex, growth
from applier.apply.index.witness.image_witness import ImageWitness
from applier.apply.index.witness.witness_kernel import NO_HASH
from applier.binlog.rows.changes import Changes, ImageLayouts
from applier.columns.table_key import Encoded
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes
from keysearch.numba_private import Kernel

FIRST_KEYS = 1 << 8


@dataclasses.dataclass(frozen=True)
class ImageKeys(Generic[Encoded]):
    """The keys of a batch's before- and after-images, by row. `absent` is a bitmap of the after-images without a key,
    whose rows keep theirs (None: all have one)."""

    before: Encoded
    after: Encoded
    absent: np.ndarray | None = None


class KeyIndex(UnitIndex[Changes], Generic[Encoded]):
    """An open-addressed table. Half of the entries are always free: their second word is -1."""

    _table: np.ndarray

    @abstractmethod
    def seed(self, keys: Encoded, pointers: np.ndarray) -> None:
        """Insert the rows of the base, whose keys are distinct: pointers[i] (int64[n]) leads to the row of key i."""

    @abstractmethod
    def add(self, keys: Encoded, pointers: np.ndarray) -> None:
        """Insert more rows of the base, whose keys no change had; arguments as of `seed`."""

    @abstractmethod
    def prepare(self, batch: Changes, layouts: ImageLayouts, keys: ImageKeys[Encoded]) -> None:
        """Take a batch and the keys of its images."""

    @abstractmethod
    def in_range(self, keys: ImageKeys[Encoded], rows: np.ndarray) -> np.ndarray:
        """Return which after-images, by row (int64[n]), have a key in the unit's range: bool[n]."""

    @abstractmethod
    def pointers(self) -> np.ndarray:
        """Return pointers to the remaining rows, int64[n] in the order of their keys. The index cannot be used
        afterwards."""

    def _receive(self, batch: Changes, layouts: ImageLayouts) -> None:
        super()._receive(batch, layouts)
        if self._get("keys") == 0:
            self._make_room_for_first(batch.n)

    @abstractmethod
    def _make_room_for_first(self, keys: int) -> None:
        """Make room for this many keys in an empty index."""

    def _new_table(self, entries: int) -> None:
        self._table = np.full((entries, 2), -1, np.int64)
        self._describe(table=address_of(self._table), mask=entries - 1, key_room=entries // 2)


def entries_for(keys: int) -> int:
    """Return the number of entries for twice this many keys: a power of two."""
    return 2 << int(keys).bit_length()


class IntIndex(KeyIndex[np.ndarray]):
    """An index by int64 keys from `low` to before `high` (None: no bound)."""

    def __init__(self, columns: int, low: int | None = None, high: int | None = None, *, idempotent: bool = False,
                 kernel: Kernel = apply_ints):
        super().__init__(columns, int_keys_kernel.INDEX, kernel, idempotent=idempotent)
        limits = np.iinfo(np.int64)
        self._describe(low=limits.min if low is None else low, last=limits.max if high is None else high - 1)
        self._new_table(2 * FIRST_KEYS)

    def seed(self, keys: np.ndarray, pointers: np.ndarray) -> None:
        n, keys = len(keys), np.ascontiguousarray(keys)
        self._new_table(max(2 * FIRST_KEYS, entries_for(n)))
        int_keys_kernel.seed_ints(n, address_of(keys), address_of(pointers), self.address)
        self._set(keys=n, live=n)

    def add(self, keys: np.ndarray, pointers: np.ndarray) -> None:
        n, keys = len(keys), np.ascontiguousarray(keys)
        if self._get("keys") + n > self._known("key_room"):
            self._move_to(max(2 * FIRST_KEYS, entries_for(self.live + n)))
        int_keys_kernel.seed_ints(n, address_of(keys), address_of(pointers), self.address)
        self._set(keys=self._get("keys") + n, live=self.live + n)

    def prepare(self, batch: Changes, layouts: ImageLayouts, keys: ImageKeys[np.ndarray]) -> None:
        self._describe(before_keys=address_of(keys.before), after_keys=address_of(keys.after),
                       after_absent=0 if keys.absent is None else address_of(keys.absent))
        self._receive(batch, layouts)

    def in_range(self, keys: ImageKeys[np.ndarray], rows: np.ndarray) -> np.ndarray:
        after = keys.after[rows]
        inside: np.ndarray = (after >= self._known("low")) & (after <= self._known("last"))
        return inside if keys.absent is None else inside & (np.unpackbits(keys.absent, bitorder="little")[rows] == 0)

    def _make_room_for_first(self, keys: int) -> None:
        if 2 * keys > len(self._table):
            self._new_table(entries_for(keys))

    def _grow(self, status: int) -> None:
        self._move_to(len(self._table) * (growth(len(self._table)) if 4 * self.live > len(self._table) else 1))

    def _move_to(self, entries: int) -> None:
        """Move the live keys to a table with this many entries."""
        old, hashes = self._table, self._hashes
        self._new_table(entries)
        self._set(keys=int_keys_kernel.copy_live_ints(address_of(old), address_of(hashes), len(old), self.address))

    def _new_table(self, entries: int) -> None:
        super()._new_table(entries)
        self._hashes = np.empty(entries if self.witness is not None else 0, np.uint32)
        self._describe(hashes=address_of(self._hashes) if self.witness is not None else 0)

    def compare_images(self, witness: ImageWitness) -> None:
        super().compare_images(witness)
        self._new_table(len(self._table))

    def pointers(self) -> np.ndarray:
        keys, pointers = np.empty(self.live, np.int64), np.empty(self.live, np.int64)
        int_keys_kernel.list_ints(address_of(self._table), len(self._table), address_of(keys), address_of(pointers))
        self._table, self._hashes = np.empty(0), np.empty(0, np.uint32)
        return pointers[np.argsort(keys)]


class ByteIndex(KeyIndex[KeyBytes]):
    """An index by byte strings from `low` to before `high` (None: no bound)."""

    def __init__(self, columns: int, low: bytes | None = None, high: bytes | None = None, *,
                 idempotent: bool = False, kernel: Kernel = apply_bytes):
        super().__init__(columns, byte_keys_kernel.INDEX, kernel, idempotent=idempotent)
        self._low, self._high = low, high
        self._bounds = {name: np.frombuffer(bound, np.uint8)
                        for name, bound in (("low", low), ("high", high)) if bound}
        for name, bound in self._bounds.items():
            self._describe(**{name: address_of(bound), f"{name}_length": len(bound)})
        self._hashes = np.empty((byte_keys_kernel.BLOCK, 2), np.uint64)
        self._likely = np.empty(byte_keys_kernel.BLOCK, np.int64)
        self._describe(hashes=address_of(self._hashes), likely=address_of(self._likely))
        self._slots = np.empty(FIRST_KEYS, byte_keys_kernel.SLOT)
        self._buffer = np.empty(32 * FIRST_KEYS, np.uint8)
        self._rehash(2 * FIRST_KEYS)

    def seed(self, keys: KeyBytes, pointers: np.ndarray) -> None:
        n = len(keys)
        self._slots = np.empty(max(FIRST_KEYS, 2 * n), byte_keys_kernel.SLOT)
        self._slots["start"][:n], self._slots["length"][:n] = keys.offsets[:-1], np.diff(keys.offsets)
        self._slots["pointer"][:n], self._slots["row"][:n], self._slots["hash"][:n] = pointers, np.arange(n), NO_HASH
        self._describe(next_row=n)
        self._buffer = np.concatenate([keys.data, np.empty(32 * FIRST_KEYS, np.uint8)])
        self._set(keys=n, live=n, buffer_used=len(keys.data))
        self._rehash(max(2 * FIRST_KEYS, entries_for(n)))

    def add(self, keys: KeyBytes, pointers: np.ndarray) -> None:
        n, used, bytes_used, row = len(keys), self._get("keys"), self._get("buffer_used"), self._known("next_row")
        if used + n > len(self._slots):
            self._slots = np.concatenate([self._slots[:used], np.empty(max(used, n) + n, self._slots.dtype)])
        new = self._slots[used:used + n]
        new["start"], new["length"] = bytes_used + keys.offsets[:-1], np.diff(keys.offsets)
        new["pointer"], new["row"], new["hash"] = pointers, np.arange(row, row + n), NO_HASH
        self._describe(next_row=row + n)
        self._buffer = np.concatenate([self._buffer[:bytes_used], keys.data[:keys.offsets[-1]],
                                       np.empty(32 * FIRST_KEYS, np.uint8)])
        self._set(keys=used + n, live=self.live + n, buffer_used=bytes_used + int(keys.offsets[-1]))
        self._rehash(max(len(self._table), entries_for(used + n)))

    def prepare(self, batch: Changes, layouts: ImageLayouts, keys: ImageKeys[KeyBytes]) -> None:
        self._keys, before, after = keys, keys.before, keys.after
        self._describe(before_offsets=address_of(before.offsets), before_data=address_of(before.data),
                       after_offsets=address_of(after.offsets), after_data=address_of(after.data))
        self._receive(batch, layouts)

    def in_range(self, keys: ImageKeys[KeyBytes], rows: np.ndarray) -> np.ndarray:
        low, high = self._low, self._high
        return np.array([(low is None or keys.after[row] >= low) and (high is None or keys.after[row] < high)
                         for row in rows.tolist()], np.bool_)

    def _make_room_for_first(self, keys: int) -> None:
        if keys > len(self._slots):
            self._slots = np.empty(1 << int(keys).bit_length(), byte_keys_kernel.SLOT)
            self._rehash(2 * len(self._slots))

    def _grow(self, status: int) -> None:
        if 2 * self.live < self._get("keys"):
            self._compact_tombstones()
        elif status == Status.BUFFER_FULL:
            least = self._get("buffer_used") + len(self._keys.after.data)
            self._set_buffer(np.concatenate([self._buffer, np.empty(max(len(self._buffer), least), np.uint8)]))
        else:
            more = growth(len(self._table))
            self._slots = np.concatenate([self._slots, np.empty((more - 1) * len(self._slots), self._slots.dtype)])
            self._rehash(more * len(self._table))

    def _compact_tombstones(self) -> None:
        """Free the entries of deleted keys, so that memory grows with the rows and not with the changes."""
        slots, buffer = self._live_slots(), np.empty_like(self._buffer)
        offsets = np.zeros(len(slots) + 1, np.int64)
        np.cumsum(slots["length"], out=offsets[1:])
        byte_keys_kernel.gather_keys(np.ascontiguousarray(slots["start"]), offsets, address_of(self._buffer),
                                     address_of(buffer))
        slots["start"] = offsets[:-1]
        self._slots[:len(slots)], self._buffer = slots, buffer
        self._set(keys=len(slots), buffer_used=int(offsets[-1]))
        self._rehash(len(self._table))

    def _live_slots(self) -> np.ndarray:
        slots: np.ndarray = self._slots[:self._get("keys")]
        live: np.ndarray = slots[slots["pointer"] >= 0]
        return live

    def _set_buffer(self, buffer: np.ndarray) -> None:
        self._buffer = buffer
        self._describe(buffer=address_of(buffer), buffer_room=len(buffer))

    def _rehash(self, entries: int) -> None:
        """Make a table with this many entries for the current slots and buffer."""
        self._new_table(entries)
        self._set_buffer(self._buffer)
        self._describe(slots=address_of(self._slots), key_room=min(entries // 2, len(self._slots)))
        byte_keys_kernel.index_slots(self._get("keys"), self.address)

    def pointers(self) -> np.ndarray:
        slots = self._live_slots()
        keys = _KeyViews(np.ascontiguousarray(slots["start"]), np.ascontiguousarray(slots["length"]), self._buffer)
        pointers: np.ndarray = slots["pointer"][keys.order()]
        self._table, self._slots, self._buffer = (
            array[:0].copy() for array in (self._table, self._slots, self._buffer))
        return pointers


@dataclasses.dataclass(frozen=True)
class _KeyViews:
    """Distinct byte strings anywhere in a buffer: `starts` and `lengths` are int64[n]."""

    starts: np.ndarray
    lengths: np.ndarray
    buffer: np.ndarray

    def order(self) -> np.ndarray:
        """Return their numbers in memcmp order. Sorts by the first eight bytes as one number, in case of ties by the
        next eight, and so on, which is much cheaper than comparing strings. A prefix comes before the longer string."""
        words: list[np.ndarray] = []
        longest = int(self.lengths.max(initial=0))
        while True:
            words.insert(0, np.empty(len(self.starts), np.uint64))
            skip = 8 * (len(words) - 1)
            byte_keys_kernel.key_words(self.starts, self.lengths, address_of(self.buffer), skip, words[0])
            if 8 * len(words) >= longest:
                return np.lexsort([self.lengths, *words])
            order = np.lexsort(words) if len(words) > 1 else np.argsort(words[0])
            ties = np.ones(max(0, len(order) - 1), np.bool_)
            for word in words:
                ties &= word[order[1:]] == word[order[:-1]]
            if not ties.any():
                return order
