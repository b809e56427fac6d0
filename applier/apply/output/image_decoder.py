"""Decodes the images of a batch's changes in place, after the walk has passed them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from applier.apply.output.image_reader import ChunkTooLarge, ImageMemory, ImageReader
from applier.binlog.rows.changes import ChangeBatch, ImageLayouts
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.io.mapping import MappedFile

_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchPart:
    """Changes of a batch with decoded images (DecodedChanges); `first` is the number of their first one in the batch.
    """

    first: int
    n: int
    file: MappedFile
    kinds: np.ndarray
    positions: np.ndarray
    rows: np.ndarray
    times: np.ndarray
    before_rows: np.ndarray
    after_rows: np.ndarray
    images: np.ndarray
    before_images: np.ndarray
    before_lengths: np.ndarray
    before_hashes: np.ndarray
    after_hashes: np.ndarray
    before: ImageBuffers
    after: ImageBuffers
    n_before: int
    n_after: int


class ImageDecoder:
    """Decodes the `wanted` columns of images in `files`, a list that may grow; JSON diffs are output as bytes. A result
    is valid until the next call."""

    def __init__(self, files: list[MappedFile], layouts: ImageLayouts, wanted: list[ColumnPlan | None]):
        self._files, self._layouts, self._wanted = files, layouts, wanted
        self._readers: list[ImageReader] = []
        self._known = self._room = 0

    def befores(self, batch: ChangeBatch, changes: np.ndarray) -> Iterator[tuple[np.ndarray, ImageBuffers]]:
        """Yield the before-images of `changes` (int64[n], numbers in the batch), as many at a time as fit into memory:
        the changes, and the buffers."""
        yield from self._in_parts(changes, lambda part: (part, self._read(0, batch.before_images[part])))

    def changes(self, batch: ChangeBatch, first: int) -> Iterator[BatchPart]:
        """Yield all changes from number `first` on, as many at a time as fit into memory."""
        yield from self._in_parts(np.arange(first, batch.n), partial(self._decoded, batch))

    def _in_parts(self, numbers: np.ndarray, make: Callable[[np.ndarray], _Made]) -> Iterator[_Made]:
        start, most = 0, len(numbers)
        while start < len(numbers):
            part = numbers[start:start + most]
            try:
                made = make(part)
            except ChunkTooLarge:
                most = max(1, len(part) // 2)
                continue
            yield made
            start += len(part)

    def _read(self, which: int, pointers: np.ndarray) -> ImageBuffers:
        """Decode images into the buffers for before-images (0) or after-images (1)."""
        known = len(self._layouts.known)
        if known != self._known or len(pointers) > self._room:
            self._known, self._room = known, max(len(pointers), self._room)
            self._readers = [ImageReader(ImageMemory(self._files), self._layouts, self._wanted, self._room,
                                         raw_diffs=True) for _ in range(2)]
        reader = self._readers[which]
        reader.memory = ImageMemory(self._files)
        reader.read(pointers)
        return reader.buffers

    def _decoded(self, batch: ChangeBatch, part: np.ndarray) -> BatchPart:
        pointers = batch.before_images[part], batch.images[part]
        before_rows, after_rows = (np.where(images >= 0, np.cumsum(images >= 0) - 1, -1).astype(np.int32)
                                   for images in pointers)
        before, after = (self._read(which, images[images >= 0]) for which, images in enumerate(pointers))
        n_before, n_after = (int((images >= 0).sum()) for images in pointers)
        return BatchPart(
            first=int(part[0]), n=len(part), file=batch.file, kinds=batch.kinds[part], positions=batch.positions[part],
            rows=batch.rows[part], times=batch.times[part], before_rows=before_rows, after_rows=after_rows,
            images=pointers[1], before_images=pointers[0], before_lengths=batch.before_lengths[part],
            before_hashes=batch.before_hashes[part], after_hashes=batch.after_hashes[part], before=before, after=after,
            n_before=n_before, n_after=n_after)
