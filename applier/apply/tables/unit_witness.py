"""Before-images as witnesses of a unit's rows: what hashes left open is compared by values, in bulk.

A replica that finds its row by a key never looks at the rest of the before-image. It says what the source's row was, so
a wrong default, conversion, cascade or base shows at the next change of the row. Compared is each stored column that
the image has; both sides are decoded by the same code, so a conversion of types is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.image_witness import ImageWitness
from applier.apply.index.unit_index import UnitIndex
from applier.apply.output.rows import CHUNK_ROWS, RowGatherer
from applier.apply.witnessed import Difference, Witnessed
from applier.binlog.rows.changes import Changes, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from applier.columns.table_key import table_key
from applier.errors import ApplierError
from applier.io.printable import printable
from applier.mysql.zero_dates import to_python
from applier.schema.definition import TableDefinition

_COMPARED_BYTES = 16 << 20
"""So many bytes of before-images are compared at a time."""
_SHOWN = 80
"""The most characters of a value in a message."""


@dataclass(frozen=True)
class _Disputed:
    """Before-images whose values are compared: where they are in the log, pointers to them and to their rows as these
    were, and the images' bytes."""

    uri: str
    places: np.ndarray
    rows: np.ndarray
    images: np.ndarray
    held: np.ndarray
    lengths: np.ndarray


class UnitWitness:
    """The witness of one unit's rows. `images` is what the unit's index compares by hashes."""

    def __init__(self, definition: TableDefinition) -> None:
        self._definition, self._key = definition, table_key(definition)
        self._names = {number: column.name for number, column in enumerate(definition.columns)
                       if column.generated != "virtual"}
        self.images = ImageWitness(self._names, self._key.columns if self._key is not None else ())
        self._waiting: list[_Disputed] = []
        self._n_waiting = self._bytes_waiting = self._compared = self._agreed = 0
        self._found: dict[str, Difference] = {}

    @property
    def result(self) -> Witnessed:
        """What was compared so far."""
        by_hash = self.images.agreed
        return Witnessed(self._compared + by_hash, self._agreed + by_hash, tuple(self._found.values()))

    @property
    def is_full(self) -> bool:
        """Whether enough images wait to be compared."""
        return self._n_waiting >= CHUNK_ROWS or self._bytes_waiting >= _COMPARED_BYTES

    def take(self, batch: Changes) -> None:
        """Keep what the index left open of a batch that it was given."""
        disputed = self.images.disputed
        if not len(disputed):
            return
        changes = disputed["change"]
        lengths = batch.before_lengths[changes].astype(np.int64)
        self._waiting.append(_Disputed(batch.file.uri, batch.places[changes], batch.rows[changes],
                                       batch.before_images[changes], disputed["held"].copy(), lengths))
        self._n_waiting += len(changes)
        self._bytes_waiting += int(lengths.sum())

    def compare(self, index: UnitIndex[Any], layouts: ImageLayouts, gatherer: Callable[[], RowGatherer]) -> None:
        """Compare all images that wait with their rows, and give back what the index kept of these."""
        waiting, self._waiting, self._n_waiting, self._bytes_waiting = self._waiting, [], 0, 0
        if not waiting:
            return
        reader = gatherer()
        for disputed in waiting:
            edges = np.flatnonzero(np.diff(np.cumsum(disputed.lengths) // _COMPARED_BYTES)) + 1
            for start, end in pairwise([0, *edges.tolist(), len(disputed.rows)]):
                self._compare(disputed, np.arange(start, end), layouts, reader)
            index.give_back(disputed.held)

    def _compare(self, disputed: _Disputed, which: np.ndarray, layouts: ImageLayouts, reader: RowGatherer) -> None:
        """Compare some images (int64[n], their numbers in `disputed`)."""
        numbers = layouts_of(disputed.images[which])
        differs = np.zeros(len(which), np.bool_)
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            columns = [column for column in layouts.known[number].present if column in self._names]
            for part, logged, held in _both(reader, disputed.images[which[here]], disputed.held[which[here]], columns):
                self._compared += len(part)
                for column in logged.schema.names:
                    differing = _differing(logged.column(column), held.column(column))
                    if differing is not None:
                        differs[here[part[differing]]] = True
                        self._note(disputed, which[here[part]], np.flatnonzero(differing), column, logged, held)
                self._agreed += len(part) - int(differs[here[part]].sum())

    def _note(self, disputed: _Disputed, numbers: np.ndarray, differing: np.ndarray, column: str, logged: pa.Table,
              held: pa.Table) -> None:
        """Count differences of a column between rows of two tables, and keep the first one in the log."""
        known, row = self._found.get(column), int(differing[0])
        first, count = int(numbers[row]), len(differing)
        place, in_event = int(disputed.places[first]), int(disputed.rows[first])
        if known is not None:
            is_later = known.file != disputed.uri or (known.position, known.row) <= (place, in_event)
            if is_later:  # files come one after another
                self._found[column] = replace(known, count=known.count + count)
                return
            count += known.count
        self._found[column] = Difference(
            table=self._definition.full_name, column=column, count=count, file=disputed.uri, position=place,
            row=in_event, key=self._key_text(held, row), logged=_shown(logged.column(column), row),
            held=_shown(held.column(column), row))

    def _key_text(self, held: pa.Table, row: int) -> str:
        if self._key is None:
            return ""
        return f"{self._key} = {', '.join(_shown(held.column(name), row) for name in self._key.names)}"


def _both(reader: RowGatherer, images: np.ndarray, held: np.ndarray,
          columns: list[int]) -> Iterator[tuple[np.ndarray, pa.Table, pa.Table]]:
    """Some columns of before-images, and the rows that they found: which of them, and both tables. What cannot be read
    is left out: a replica does not look at it, either."""
    parts = [np.arange(len(images))]
    while parts:
        part = parts.pop()
        try:
            logged = reader.images_at(images[part], columns)
            distinct, places = np.unique(held[part], return_inverse=True)
            rows = pa.concat_tables(reader.batches(distinct)).take(pa.array(places.reshape(-1)))
        except ApplierError:
            if len(part) > 1:
                parts += [part[len(part) // 2:], part[:len(part) // 2]]
            continue
        yield part, logged, rows


def _differing(logged: pa.ChunkedArray, held: pa.ChunkedArray) -> np.ndarray | None:
    """Which values are not the same, NULL like NULL; None if all are."""
    if logged.equals(held):
        return None
    logged, held = logged.combine_chunks(), held.combine_chunks()
    if pa.types.is_floating(logged.type):  # by their bits: NaN is none, and zeros have signs
        bits = pa.int64() if logged.type.bit_width == 64 else pa.int32()
        logged, held = logged.view(bits), held.view(bits)
    unlike = pc.fill_null(pc.not_equal(logged, held), False)
    differing: np.ndarray = np.asarray(pc.or_(unlike, pc.xor(logged.is_null(), held.is_null())))
    return differing if differing.any() else None


def _shown(column: pa.ChunkedArray, row: int) -> str:
    """A value for people, cut if it is long."""
    [value] = to_python(column.slice(row, 1).combine_chunks())
    text = "NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
