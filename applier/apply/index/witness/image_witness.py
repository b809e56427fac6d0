"""The memory around `witness_kernel`: which before-images of a batch may differ from their rows, by their hashes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from applier.apply.index.witness import witness_kernel as k
from applier.binlog.rows.changes import Changes, ImageLayouts
from keysearch.addresses import address_of


class ImageWitness:
    """Compares before-images with the rows of one index. `columns` are the stored columns of the definition, by number,
    and `found_by` those by which rows are found: an image that has only these is not compared."""

    def __init__(self, columns: Collection[int], found_by: Collection[int]) -> None:
        self._columns, self._found_by = frozenset(columns), frozenset(found_by)
        self._record = np.zeros((), k.WITNESS)
        self._comparable = np.zeros(1, np.uint8)
        self._disputed = np.empty(0, k.DISPUTED)
        self._arrays: tuple[np.ndarray, ...] = ()

    def receive(self, batch: Changes, layouts: ImageLayouts) -> int:
        """Prepare for a batch. Returns the address of the kernels' record."""
        for layout in layouts.known[len(self._comparable):]:
            says = self._columns.intersection(layout.present) - self._found_by
            self._comparable = np.append(self._comparable, np.uint8(bool(says)))
        if len(self._disputed) < batch.n:
            self._disputed = np.empty(batch.n, k.DISPUTED)
        self._arrays = arrays = batch.before_images, batch.before_hashes, batch.after_hashes
        for field, array in zip(("before_images", "before_hashes", "after_hashes", "comparable", "disputed"),
                                (*arrays, self._comparable, self._disputed), strict=True):
            self._record[field] = address_of(array)
        self._record["n_disputed"] = 0
        return address_of(self._record)

    def release(self) -> None:
        """Release the batch, which was applied."""
        self._arrays = ()

    @property
    def agreed(self) -> int:
        """The number of before-images so far that agree with their rows by their hashes."""
        return int(self._record["agreed"])

    @property
    def disputed(self) -> np.ndarray:
        """The before-images of the last batch whose values have yet to be compared (witness_kernel.DISPUTED)."""
        return self._disputed[:int(self._record["n_disputed"])]
