"""A batch of changes of one table, and the layouts of its after-images."""

import dataclasses
from typing import Protocol

import numpy as np

from applier.binlog.rows import change_records as k
from applier.binlog.rows.layout import ColumnPlan, ImageBuffers
from applier.errors import ArchiveError
from applier.io.mapping import NO_FILE, MappedFile
from keysearch.addresses import address_of


@dataclasses.dataclass(frozen=True)
class ImageLayout:
    """The layout of an after-image: the columns that are `present`, and those of them with a JSON diff in place of a
    value. `computes_omitted`: see FormatDescription."""

    present: tuple[int, ...]
    diffs: tuple[int, ...] = ()
    computes_omitted: bool = True


class ImageLayouts:
    """The distinct after-image layouts of one table, numbered from 1 on, in the upper bits of image pointers.
    `takes_generated`: a generated column takes the image's value."""

    def __init__(self, plans: list[ColumnPlan], *, takes_generated: bool = False):
        self.plans, self.takes_generated = plans, takes_generated
        self.known: list[ImageLayout] = [ImageLayout(())]
        self._numbers: dict[ImageLayout, int] = {}

    def number(self, layout: ImageLayout) -> int:
        """Return the layout's number. Raises ArchiveError if there are more layouts than pointers can distinguish."""
        found = self._numbers.get(layout)
        if found is None:
            found = self._numbers[layout] = len(self.known)
            if found > k.MAX_IMAGE_ID:
                raise ArchiveError(f"more than {k.MAX_IMAGE_ID} row layouts")
            self.known.append(layout)
        return found


class Changes(Protocol):
    """Changes of one table, read from the log or received from a shuffle, by number: arrays as in a ChangeBatch."""

    @property
    def n(self) -> int: ...
    @property
    def file(self) -> MappedFile: ...
    @property
    def kinds(self) -> np.ndarray: ...
    @property
    def positions(self) -> np.ndarray: ...
    @property
    def rows(self) -> np.ndarray: ...
    @property
    def times(self) -> np.ndarray: ...
    @property
    def before_rows(self) -> np.ndarray: ...
    @property
    def after_rows(self) -> np.ndarray: ...
    @property
    def images(self) -> np.ndarray: ...
    @property
    def before_images(self) -> np.ndarray: ...
    @property
    def before_lengths(self) -> np.ndarray: ...
    @property
    def before_hashes(self) -> np.ndarray: ...
    @property
    def after_hashes(self) -> np.ndarray: ...


class DecodedChanges(Changes, Protocol):
    """Changes with decoded columns of their images: `n_before` rows of `before`, `n_after` rows of `after`."""

    @property
    def before(self) -> ImageBuffers: ...
    @property
    def after(self) -> ImageBuffers: ...
    @property
    def n_before(self) -> int: ...
    @property
    def n_after(self) -> int: ...


_ARRAYS: dict[str, type[np.number]] = {
    "kinds": np.uint8, "positions": np.int64, "rows": np.int32, "before_rows": np.int32, "after_rows": np.int32,
    "images": np.int64, "image_lengths": np.int32, "times": np.uint32, "events": np.int64, "before_images": np.int64,
    "before_lengths": np.int32, "seqs": np.int64, "before_hashes": np.uint32, "after_hashes": np.uint32,
}
"""The arrays of a batch, by their names in its record."""


class ChangeBatch:
    """Changes of one table. Arrays of `n` entries: `kinds` (uint8: INSERT, UPDATE, DELETE), `positions` (int64: offset
    in the file of the rows event), `rows` (int32: row in the event), `before_rows` and `after_rows` (int32: the row of
    `before` and `after` with this change's image, -1 if it has none), `images` (int64: pointer to the after-image, -1
    if there is none), `image_lengths` (int32: its bytes), `times` (uint32: when the event was made, in seconds since
    1970), `events` (int64: the rows event's number in the walk and, in EVENT_FLAG_BITS below it, its flags),
    `before_images` and `before_lengths` (the same for the before-image; of a compressed event they are valid only if
    the binding requests them), `seqs` (int64: the change's order and identity in its event group, see
    change_records.SEQ_BITS), `before_hashes` and `after_hashes` (uint32: hashes of the bytes of both images, if the
    binding requests them; 0 for none)."""

    def __init__(self, before: ImageBuffers, after: ImageBuffers, rows: int):
        self.before, self.after, self.file = before, after, NO_FILE
        self._arrays = [np.empty(rows, kind) for kind in _ARRAYS.values()]
        self.record = np.zeros((), k.BATCH)
        self.record["capacity"], self.record["in_one"] = rows, before is after
        for field, array in zip(_ARRAYS, self._arrays, strict=True):
            self.record[field] = address_of(array)

    @property
    def n(self) -> int:
        return int(self.record["n"])

    @property
    def n_before(self) -> int:
        return int(self.record["n_before"])

    @property
    def n_after(self) -> int:
        return int(self.record["n_after"])

    @property
    def zero_dates(self) -> int:
        """The number of invalid dates in the wanted columns of both images, which became null."""
        return int(self.record["zero_dates"])

    @property
    def kinds(self) -> np.ndarray:
        return self._arrays[0][:self.n]

    @property
    def positions(self) -> np.ndarray:
        return self._arrays[1][:self.n] - self.file.address

    @property
    def rows(self) -> np.ndarray:
        return self._arrays[2][:self.n]

    @property
    def before_rows(self) -> np.ndarray:
        return self._arrays[3][:self.n]

    @property
    def after_rows(self) -> np.ndarray:
        return self._arrays[4][:self.n]

    @property
    def images(self) -> np.ndarray:
        return self._arrays[5][:self.n]

    @property
    def image_lengths(self) -> np.ndarray:
        return self._arrays[6][:self.n]

    @property
    def times(self) -> np.ndarray:
        return self._arrays[7][:self.n]

    @property
    def events(self) -> np.ndarray:
        return self._arrays[8][:self.n]

    @property
    def before_images(self) -> np.ndarray:
        return self._arrays[9][:self.n]

    @property
    def before_lengths(self) -> np.ndarray:
        return self._arrays[10][:self.n]

    @property
    def seqs(self) -> np.ndarray:
        return self._arrays[11][:self.n]

    @property
    def before_hashes(self) -> np.ndarray:
        return self._arrays[12][:self.n]

    @property
    def after_hashes(self) -> np.ndarray:
        return self._arrays[13][:self.n]

    def keep(self, wanted: np.ndarray) -> None:
        """Drop all changes except the `wanted` ones (bool[n]). Images are not moved."""
        kept = int(wanted.sum())
        for array in self._arrays:
            array[:kept] = array[:self.n][wanted]
        self.record["n"] = kept

    def reset(self) -> None:
        self.before.reset()
        self.after.reset()
        for field in ("n", "n_before", "n_after", "zero_dates"):
            self.record[field] = 0
