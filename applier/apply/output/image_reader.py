"""Decodes the row images to which pointers lead, many at a time: the owners of their memory, and buffers for columns.

The size of a column per read is bounded: `ChunkTooLarge` means that fewer images must be read at a time.
"""

from __future__ import annotations

import numpy as np

from applier.apply.output import rows_kernel
from applier.binlog.rows.changes import ImageLayouts
from applier.binlog.rows.image_kernel import FULL
from applier.binlog.rows.image_pointers import addresses_of
from applier.binlog.rows.layout import MOST_BYTES, NO_NULLS, ColumnPlan, ImageBuffers, ImageProgram
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError
from applier.io.mapping import MappedFile
from keysearch.addresses import address_of

CHUNK_BYTES = 256 << 20
"""The most bytes of one string column of a chunk, except for a single row: bounded by memory, and by Arrow's offsets of
31 bits."""


class ChunkTooLarge(Exception):
    """A column of a chunk has more than CHUNK_BYTES: the chunk must be smaller."""


class ImageMemory:
    """The memory of `files`, which contains images."""

    def __init__(self, files: list[MappedFile]):
        self._files = sorted(files, key=lambda file: file.address)
        self._starts = np.array([file.address for file in self._files], np.int64)
        self._ends = np.array([file.address + file.size for file in self._files], np.int64)

    def _numbers_of(self, pointers: np.ndarray) -> np.ndarray:
        """Return the number of the file that contains each image."""
        if len(self._files) == 1:
            return np.zeros(len(pointers), np.int64)
        return np.searchsorted(self._starts, addresses_of(pointers), side="right") - 1

    def ends(self, pointers: np.ndarray) -> np.ndarray:
        """Return the end of the memory that contains each image: int64[n]."""
        ends: np.ndarray = self._ends[self._numbers_of(pointers)]
        return ends

    def file_of(self, pointer: int) -> MappedFile:
        """Return the file that contains an image."""
        return self._files[int(self._numbers_of(np.array([pointer]))[0])]

    def located(self, error: ApplierError, pointer: int, table: str) -> ApplierError:
        """Return the error with the position of its image."""
        file = self.file_of(pointer)
        return error.at(file=file.uri, position=file.position_of(addresses_of(pointer)), table=table)


class ImageReader:
    """Decodes images into `buffers`, which have room for the `wanted` columns (by number in the log) of `rows` images.

    `raw_diffs`: the bytes of a diff are output in place of a value; otherwise the column is absent.
    """

    def __init__(self, memory: ImageMemory, layouts: ImageLayouts, wanted: list[ColumnPlan | None], rows: int, *,
                 raw_diffs: bool = False):
        self.memory, self.buffers, self.zero_dates = memory, ImageBuffers(wanted, rows), 0
        self._kept = [ImageProgram(layouts.plans, layout.present, self.buffers, () if raw_diffs else layout.diffs)
                      for layout in layouts.known]
        self._programs = np.array([program.address for program in self._kept], np.int64)

    def read(self, pointers: np.ndarray, *, together: bool = False) -> None:
        """Fill the buffers with the images at `pointers` (int64[n]). Raises ArchiveError (1610) for a value that no
        server writes. Raises ChunkTooLarge unless there is only one image, or the images must be read `together`."""
        buffers, most = self.buffers, MOST_BYTES if len(pointers) == 1 or together else CHUNK_BYTES
        buffers.reset()
        buffers.limit(most)
        pointers, ends = np.ascontiguousarray(pointers), self.memory.ends(pointers)
        zero_dates, row = np.zeros(1, np.int64), 0
        while row < len(pointers):
            done = int(rows_kernel.decode_images(pointers, ends, self._programs, row, address_of(zero_dates),
                                                 address_of(NO_NULLS)))
            if done >= 0 and done < len(pointers):
                raise ArchiveError("a row image holds a value that no server writes", errno=CORRUPT_EVENT,
                                   hint="the file is damaged; copy it again from the server")
            row = done if done >= 0 else FULL - done
            if done < 0:
                if most == CHUNK_BYTES and buffers.room >= CHUNK_BYTES:
                    raise ChunkTooLarge
                buffers.double(row)
                buffers.limit(most)
        self.zero_dates += int(zero_dates[0])
