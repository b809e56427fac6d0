"""The keys of one unit and where their rows are: hash indexes that grow, around the pointer kernels.

    IntIndex     a key is an int64 (one integer column)
    ByteIndex    a key is a byte string (keysearch.keybytes)

Both apply batches of changes in commit order, and list at the end what is left, in key order.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from applier.apply.index import byte_index_kernel, int_index_kernel
from applier.apply.index import pointer_kernel as k
from applier.apply.index.diff_nodes import DiffNodes
from applier.apply.index.status import Status
from applier.apply.index.watched_rows import WatchedRows
from applier.binlog.rows.changes import Changes, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from keysearch.addresses import address_of
from keysearch.keybytes import KeyBytes

Batch = TypeVar("Batch", bound=Changes)
ROW_GONE = k.ROW_GONE
"""In `KeyIndex.noted`: the row to change is not there."""
FIRST_KEYS = 1 << 12
FIRST_NOTED = 1 << 8
SOON_FULL = 1 << 20
"""An index of fewer entries grows fourfold: most tables that begin empty are being filled."""
NO_BOUND = np.frombuffer(b"", np.uint8)  # read-only, as bounds are: to Numba that is part of the type


@dataclasses.dataclass(frozen=True)
class Conflict:
    """The change that could not be applied: number in its batch, and whether its key is there twice or not at all;
    `moves`: neither, but its row is to go from one unit to another, and idempotent mode has to know both."""

    change: int
    duplicate: bool
    moves: bool = False


class Patches:
    """Records of rows that are made of several images: a pointer for each column. `made_of` says which
    columns a replica computes where an image has any of others (generated_columns.computed_of_images)."""

    def __init__(self, columns: int):
        self.columns = columns
        self.made_of: dict[int, frozenset[int]] = {}
        self.pointers = np.empty((16, columns), np.int64)
        self.present = np.full((1, columns + 1), k.VALUE, np.uint8)
        self._n_diffs = np.zeros(1, np.int64)  # by layout; the last is that of changes without an after-image

    def know(self, layouts: ImageLayouts) -> None:
        """Learn which columns the layouts have that came since the last call."""
        if len(layouts.known) == len(self.present):
            return
        rows = [self.present]
        for layout in layouts.known[len(self.present):]:
            row = np.zeros((1, self.columns + 1), np.uint8)
            row[0, [1 + column for column in layout.present if column < self.columns]] = k.VALUE
            row[0, [1 + column for column in layout.diffs if column < self.columns]] = k.DIFF
            has = (*layout.present, *layout.diffs)
            row[0, [1 + column for column, made_of in self.made_of.items() if column < len(layouts.plans)
                    and column not in has and not made_of.isdisjoint(has)]] = k.MADE
            row[0, 0] = (row[0, 1:] == k.VALUE).all()
            rows.append(row)
        self.present = np.concatenate(rows)
        self._n_diffs = np.append((self.present == k.DIFF).sum(axis=1), 0)

    def diffs_in(self, images: np.ndarray) -> int:
        """How many JSON diffs these after-images hold."""
        return int(self._n_diffs[layouts_of(images)].sum()) if self._n_diffs.any() else 0

    def by_column(self, pointers: np.ndarray) -> np.ndarray:
        """Where each column of these rows is: int64[n, columns]."""
        found = np.repeat(pointers[:, None], self.columns, axis=1)
        patched = layouts_of(pointers) == k.PATCH_ID
        found[patched] = self.pointers[addresses_of(pointers[patched])]
        return found

    def grow(self) -> None:
        self.pointers = np.concatenate([self.pointers, np.empty_like(self.pointers)])


class KeyIndex(ABC, Generic[Batch]):
    """What all indexes share: state, patches, and going on where a kernel ran out of room.

    idempotent: the exec mode; `noted` then has the conflicts of the last batch.
    """

    def __init__(self, columns: int, *, idempotent: bool = False):
        self._state = np.zeros((), k.STATE)
        self.patches, self.diffs = Patches(columns), DiffNodes()
        self.watched: WatchedRows | None = None
        self._set("free_patch", -1)
        self._set("patch_room", len(self.patches.pointers))
        self._noted = np.empty((FIRST_NOTED if idempotent else 0, 2), np.int64)
        if idempotent:
            self._note_in(self._noted)

    def _get(self, field: str) -> int:
        return int(self._state[field])

    def _set(self, field: str, value: int) -> None:
        self._state[field] = value

    @property
    def state_address(self) -> int:
        """Where the kernels' state is (pointer_kernel.STATE)."""
        return address_of(self._state)

    @property
    def patches_used(self) -> int:
        """How many patches there have been, free ones among them."""
        return self._get("patches")

    @property
    def live(self) -> int:
        """How many rows there are."""
        return self._get("live")

    @property
    def noted(self) -> np.ndarray:
        """The conflicts that idempotent mode suppressed in the last batch, int64[n, 2]: the number of the change, and
        of the unique key whose row it replaced (an insert) or would have duplicated (an update); ROW_GONE if the row to
        change is not there."""
        return self._noted[:self._get("n_noted")]

    def _note_in(self, room: np.ndarray) -> None:
        self._noted = room
        self._set("noted", address_of(room))
        self._set("noted_room", len(room))

    @property
    def inserted(self) -> int:
        return self._get("inserted")

    @property
    def updated(self) -> int:
        return self._get("updated")

    @property
    def deleted(self) -> int:
        return self._get("deleted")

    def _apply(self, batch: Batch, layouts: ImageLayouts) -> Conflict | None:
        self._receive(batch, layouts)
        conflict = self.run(batch)
        self.finish_batch(batch)
        return conflict

    def _receive(self, batch: Batch, layouts: ImageLayouts) -> None:
        """Get ready for a batch."""
        self.patches.know(layouts)
        if self._get("keys") == 0:
            self._begin(batch.n)
        if diffs := self.patches.diffs_in(batch.images):
            self._set("diff_nodes", self.diffs.reserve(diffs))
        if self.watched is not None:
            self._set("watch", self.watched.receive())
        self._set("next", 0)
        self._set("n_noted", 0)

    def finish_batch(self, batch: Batch) -> None:
        """Keep what the next batch would overwrite."""
        if self.patches.diffs_in(batch.images):
            self.diffs.record_batch(self._get("diffs"), batch)

    def run(self, batch: Batch) -> Conflict | None:
        """Run the kernel until all changes are applied, or one is in conflict with the rows."""
        while (status := self._run(batch)) != Status.DONE:
            if conflict := self.resolve(status):
                return conflict
        return None

    def resolve(self, status: int) -> Conflict | None:
        """Make room for what a kernel says is full; where that is not why it stopped, the conflict."""
        if status == Status.PATCHES_FULL:
            self.patches.grow()
            self._set("patch_room", len(self.patches.pointers))
        elif status == Status.CONFLICTS_FULL:
            self._note_in(np.concatenate([self._noted, np.empty_like(self._noted)]))
        elif status in (Status.INDEX_FULL, Status.ARENA_FULL):
            self._grow(status)
        elif status == Status.SPLIT_PATCH:
            raise AssertionError("a partial image moves a row between units that the plan did not keep together")
        else:
            return Conflict(self._get("next"), status == Status.DUPLICATE, status == Status.SPLIT_MOVE)
        return None

    @abstractmethod
    def _run(self, batch: Batch) -> int:
        """Run the kernel once, from the state's `next` on."""

    @abstractmethod
    def _begin(self, keys: int) -> None:
        """Make room for so many keys in an index that has none."""

    @abstractmethod
    def _grow(self, status: int) -> None:
        """Make room for what `status` says is full."""


def growth(entries: int) -> int:
    """How many times larger an index of so many entries becomes."""
    return 4 if entries < SOON_FULL else 2


def batch_addresses(batch: Changes) -> tuple[int, int, int, int]:
    """The addresses of kinds, before_rows, after_rows and images, as the kernels take them."""
    kinds, images = address_of(batch.kinds), address_of(batch.images)
    return kinds, address_of(batch.before_rows), address_of(batch.after_rows), images


class IntIndex(KeyIndex[Changes]):
    """An index of int64 keys from `low` to before `high` (None: no bound)."""

    def __init__(self, columns: int, low: int | None = None, high: int | None = None, *, idempotent: bool = False):
        super().__init__(columns, idempotent=idempotent)
        limits = np.iinfo(np.int64)
        self._low, self._last = limits.min if low is None else low, limits.max if high is None else high - 1
        self._index = np.full((2 * FIRST_KEYS, 2), int_index_kernel.EMPTY, np.int64)

    def seed(self, keys: np.ndarray, pointers: np.ndarray) -> None:
        """Put the base's rows in: int64[n], distinct; pointers[i] (int64[n]) leads to the row under keys[i]."""
        n = len(keys)
        self._index = np.full((max(2 * FIRST_KEYS, 2 << int(n).bit_length()), 2), int_index_kernel.EMPTY, np.int64)
        keys = np.ascontiguousarray(keys).view()
        keys.setflags(write=False)  # to Numba part of the type, and a column of Parquet is read-only
        int_index_kernel.seed_ints(keys, pointers, self._index)
        self._set("keys", n)
        self._set("live", n)

    def apply(self, batch: Changes, layouts: ImageLayouts, before_keys: int, after_keys: int,
              after_absent: int) -> Conflict | None:
        """Apply a batch. The keys are addresses of int64 arrays by row of the before- and after-images, `after_absent`
        of a bitmap of after-images that have no key (0: all do)."""
        self._keys = before_keys, after_keys, after_absent
        return self._apply(batch, layouts)

    def _run(self, batch: Changes) -> int:
        patches = self.patches
        return int(int_index_kernel.apply_ints(
            batch.n, *batch_addresses(batch), *self._keys, self._low, self._last, self._index,
            address_of(patches.present), patches.columns, address_of(patches.pointers), address_of(self._state)))

    def _begin(self, keys: int) -> None:
        if 2 * keys > len(self._index):
            self._index = np.full((2 << int(keys).bit_length(), 2), int_index_kernel.EMPTY, np.int64)

    def _grow(self, status: int) -> None:
        size = len(self._index) * (growth(len(self._index)) if self._get("live") * 4 > len(self._index) else 1)
        larger = np.full((size, 2), int_index_kernel.EMPTY, np.int64)
        self._set("keys", int_index_kernel.grow_ints(self._index, larger))
        self._index = larger

    def pointers(self) -> np.ndarray:
        """Pointers to the rows that are left, int64[n] in the order of their keys. The index is given up."""
        live = self._get("live")
        keys, pointers = np.empty(live, np.int64), np.empty(live, np.int64)
        int_index_kernel.list_ints(self._index, keys, pointers)
        self._index = np.empty((0, 2), np.int64)
        return pointers[np.argsort(keys)]


class ByteIndex(KeyIndex[Changes]):
    """An index of keys as byte strings from `low` to before `high` (None: no bound)."""

    def __init__(self, columns: int, low: bytes | None = None, high: bytes | None = None, *,
                 idempotent: bool = False):
        super().__init__(columns, idempotent=idempotent)
        self._low, self._high = (NO_BOUND if bound is None else np.frombuffer(bound, np.uint8) for bound in (low, high))
        self._index = np.full((2 * FIRST_KEYS, 2), -1, np.int64)
        self._slots = np.empty((FIRST_KEYS, 3), np.int64)
        self._arena = np.empty(32 * FIRST_KEYS, np.uint8)

    def seed(self, keys: KeyBytes, pointers: np.ndarray) -> None:
        """Put the base's rows in: distinct keys; pointers[i] (int64[n]) leads to the row under key i."""
        n = len(keys)
        self._slots = np.empty((max(FIRST_KEYS, 2 * n), 3), np.int64)
        self._slots[:n, 0], self._slots[:n, 1] = keys.offsets[:-1], np.diff(keys.offsets)
        self._slots[:n, 2] = pointers
        self._arena = np.concatenate([keys.data, np.empty(32 * FIRST_KEYS, np.uint8)])
        for field, value in (("keys", n), ("live", n), ("arena", len(keys.data))):
            self._set(field, value)
        self._rehash(max(2 * FIRST_KEYS, 2 << int(n).bit_length()))

    def apply(self, batch: Changes, layouts: ImageLayouts, before: KeyBytes, after: KeyBytes) -> Conflict | None:
        """Apply a batch, given the keys of its before- and after-images by row."""
        self._keys = before.offsets, before.data, after.offsets, after.data
        return self._apply(batch, layouts)

    def _run(self, batch: Changes) -> int:
        patches = self.patches
        return int(byte_index_kernel.apply_bytes(
            batch.n, *batch_addresses(batch), *self._keys, self._low, self._high, self._index, self._slots,
            self._arena, address_of(patches.present), patches.columns, address_of(patches.pointers),
            address_of(self._state)))

    def _grow(self, status: int) -> None:
        if 2 * self.live < self._get("keys"):
            self._forget_the_dead()
        elif status == Status.ARENA_FULL:
            least = self._get("arena") + len(self._keys[3])
            self._arena = np.concatenate([self._arena, np.empty(max(len(self._arena), least), np.uint8)])
        else:
            more = growth(len(self._index))
            self._slots = np.concatenate([self._slots, np.empty(((more - 1) * len(self._slots), 3), np.int64)])
            self._rehash(more * len(self._index))

    def _begin(self, keys: int) -> None:
        if keys > len(self._slots):
            self._slots = np.empty((1 << int(keys).bit_length(), 3), np.int64)
            self._index = np.full((2 * len(self._slots), 2), -1, np.int64)

    def _forget_the_dead(self) -> None:
        """Give back what deleted keys take, so that memory grows with the rows and not with the changes."""
        slots, arena = self._live_slots(), np.empty_like(self._arena)
        offsets = np.zeros(len(slots) + 1, np.int64)
        np.cumsum(slots[:, 1], out=offsets[1:])
        byte_index_kernel.gather_keys(np.ascontiguousarray(slots[:, 0]), offsets, self._arena, arena)
        slots[:, 0] = offsets[:-1]
        self._slots[:len(slots)], self._arena = slots, arena
        self._set("keys", len(slots))
        self._set("arena", int(offsets[-1]))
        self._rehash(len(self._index))

    def _live_slots(self) -> np.ndarray:
        slots: np.ndarray = self._slots[:self._get("keys")]
        live: np.ndarray = slots[slots[:, 2] >= 0]
        return live

    def _rehash(self, size: int) -> None:
        self._index = np.full((size, 2), -1, np.int64)
        byte_index_kernel.grow_bytes(self._slots, self._get("keys"), self._index, self._arena)

    def pointers(self) -> np.ndarray:
        """Pointers to the rows that are left, int64[n] in the order of their keys. The index is given up."""
        slots = self._live_slots()
        keys = _KeyViews(np.ascontiguousarray(slots[:, 0]), np.ascontiguousarray(slots[:, 1]), self._arena)
        self._index, self._slots, self._arena = np.empty((0, 2), np.int64), np.empty((0, 3), np.int64), keys.arena[:0]
        pointers: np.ndarray = slots[keys.order(), 2]
        return pointers


@dataclasses.dataclass(frozen=True)
class _KeyViews:
    """Byte strings that lie anywhere in an arena, no two alike: `starts` and `lengths` int64[n]."""

    starts: np.ndarray
    lengths: np.ndarray
    arena: np.ndarray

    def order(self) -> np.ndarray:
        """Their numbers in memcmp order. Sorts by the first eight bytes as one number, by sixteen where that leaves
        ties, and so on, which is much cheaper than comparing strings; one that begins another one comes before it."""
        words: list[np.ndarray] = []
        longest = int(self.lengths.max(initial=0))
        while True:
            words.insert(0, np.empty(len(self.starts), np.uint64))
            skip = 8 * (len(words) - 1)
            byte_index_kernel.key_words(self.starts, self.lengths, address_of(self.arena), skip, words[0])
            if 8 * len(words) >= longest:
                return np.lexsort([self.lengths, *words])
            order = np.lexsort(words) if len(words) > 1 else np.argsort(words[0])
            ties = np.ones(max(0, len(order) - 1), np.bool_)
            for word in words:
                ties &= word[order[1:]] == word[order[:-1]]
            if not ties.any():
                return order
