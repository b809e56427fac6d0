"""The JSON diffs of a unit, as recorded by the kernels (see diff_kernel), and their chains."""

from __future__ import annotations

import dataclasses

import numpy as np

from applier.apply.index import diff_kernel as k
from applier.binlog.rows.changes import Changes
from applier.binlog.rows.image_pointers import addresses_of, layouts_of, pointers_to
from applier.binlog.rows.partial_updates import N_DIFFS, PartialUpdates
from keysearch.addresses import address_of


@dataclasses.dataclass(frozen=True)
class DiffChains:
    """Diffs for the values `rows` (int64[k]) of a column: `numbers` are the numbers of their nodes, the oldest first,
    for value i numbers[offsets[i]:offsets[i + 1]]. If bases[i] is not -1, they apply to that value after its own diffs:
    both are values of one row at different times."""

    rows: np.ndarray
    offsets: np.ndarray
    numbers: np.ndarray
    bases: np.ndarray


class DiffNodes:
    """The nodes of a unit, in the order of their changes. `counts` are the counts of the changes by
    `partial_updates`."""

    def __init__(self) -> None:
        self._nodes = np.empty(0, k.NODE)
        self.n = 0
        self.partial_updates: PartialUpdates | None = None
        self._has_befores = False
        self.counts = np.zeros(N_DIFFS, np.int64)

    def reserve(self, more: int) -> int:
        """Make room for `more` nodes. Returns the address of the array of nodes."""
        if self.n + more > len(self._nodes):
            nodes = np.empty(max(2 * len(self._nodes), self.n + more), k.NODE)
            nodes[:self.n] = self._nodes[:self.n]
            self._nodes = nodes
        return address_of(self._nodes)

    def count_by(self, partial_updates: PartialUpdates | None, *, has_befores: bool) -> None:
        """Count nodes from now on. `has_befores`: the changes have before-images, which are counted, too."""
        self.partial_updates, self._has_befores = partial_updates, has_befores

    def count_as(self, other: DiffNodes) -> None:
        """Count like the other nodes, which these replace."""
        self.count_by(other.partial_updates, has_befores=other._has_befores)

    def record_batch(self, n: int, batch: Changes) -> None:
        """Record the event offsets of the new nodes of this batch; there are now `n` nodes."""
        if n > self.n:
            new, images = self._nodes[self.n:n], batch.images
            order = np.argsort(images, kind="stable")
            changes = order[np.searchsorted(images[order], new["image"])]
            new["position"], new["row"] = batch.positions[changes], batch.rows[changes]
            self.n = n
            if self.partial_updates is not None:
                updates = np.unique(changes)
                befores = batch.before_images[updates] if self._has_befores else np.full(len(updates), -1)
                counts = self.partial_updates.of(images[updates], befores)
                self.counts += 0 if counts is None else counts.sum(axis=0)

    @property
    def images(self) -> np.ndarray:
        """The image that each diff is in: int64[n]."""
        return self._nodes["image"][:self.n]

    def position(self, number: int) -> tuple[int, int]:
        """Return the position of a node's change: the offset of its event in the file, and the row in the event."""
        return int(self._nodes[number]["position"]), int(self._nodes[number]["row"])

    def link(self, number: int) -> tuple[int, int]:
        """Return the pointer to the value that a node applies to, and the image that contains its diff."""
        return int(self._nodes[number]["previous"]), int(self._nodes[number]["image"])

    def unwind(self, pointers: np.ndarray) -> DiffChains | None:
        """Return the chains of a column's values, given their pointers (int64[n]); these become pointers to the values
        below the chains. None if no value has diffs."""
        rows = np.flatnonzero(layouts_of(pointers) == k.DIFF_ID)
        if not len(rows):
            return None
        rows = rows[np.argsort(pointers[rows], kind="stable")]
        tops, offsets, bases = pointers[rows], np.zeros(len(rows) + 1, np.int64), np.empty(len(rows), np.int64)
        k.chain_lengths(tops, self._nodes, offsets[1:], bases)
        np.cumsum(offsets, out=offsets)
        numbers = np.empty(offsets[-1], np.int64)
        k.list_chains(tops, self._nodes, offsets, numbers, bases)
        pointers[rows] = tops
        return DiffChains(rows, offsets, numbers, bases)

    def tops_without(self, seen: np.ndarray) -> dict[int, np.ndarray]:
        """Return pointers to the last nodes of the chains that are not `seen` (bool[n]), by column."""
        nodes = self._nodes[:self.n]
        before = nodes["previous"]
        last = ~seen
        last[addresses_of(before[layouts_of(before) == k.DIFF_ID])] = False
        numbers = np.flatnonzero(last)
        columns = nodes["column"][numbers]
        return {int(column): pointers_to(k.DIFF_ID, numbers[columns == column]) for column in np.unique(columns)}
