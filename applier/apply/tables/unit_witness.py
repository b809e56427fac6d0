"""Before-images as witnesses of a unit's rows: where hashes do not decide, values are compared, in bulk.

A replica that finds its row by a key ignores the rest of the before-image. But the image is the source's row, so a
wrong default, conversion, cascade or base shows at the next change of the row. Every stored column of the image is
compared. The same code decodes both sides, so a conversion of types is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from applier.apply.index.unit_index import UnitIndex
from applier.apply.index.witness.image_witness import ImageWitness
from applier.apply.output.rows import CHUNK_ROWS, RowGatherer
from applier.apply.tables.differing_values import Differences, LoggedImages
from applier.apply.tables.generated_witness import AreHere, GeneratedWitness
from applier.apply.tables.logged_table import TableReading
from applier.apply.witnessed import Witnessed, together
from applier.binlog.rows.changes import Changes, ImageLayouts
from applier.binlog.rows.image_pointers import layouts_of
from applier.columns.defaults import depends_on_session
from applier.columns.table_key import table_key
from applier.errors import ApplierError
from applier.io.mapping import MappedFile
from applier.mysql.sequences import sequence_of
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column

_COMPARED_BYTES = 16 << 20
"""The number of bytes of before-images to compare at a time."""


@dataclass(frozen=True)
class _Disputed(LoggedImages):
    """Before-images whose values must be compared: their positions in the log, pointers to them and to the previous
    versions of their rows, and the images' sizes."""

    images: np.ndarray
    held: np.ndarray
    lengths: np.ndarray


def _is_numbered(column: Column) -> bool:
    """Return True if an ALTER TABLE may have given rows the numbers of a sequence, which differ on a replica."""
    default = column.default
    return default is not None and default.kind == "expression" and sequence_of(default.text, "") is not None


def _is_computed_anew(column: Column, definition: TableDefinition) -> bool:
    """Return True if MariaDB's REPLACE may log a before-image with a value that differs from the row's: it computes
    STORED columns anew in its own session (seen on 10.11)."""
    return definition.flavour == "mariadb" and column.generated == "stored" and depends_on_session(column, definition)


class UnitWitness:
    """The witness of a unit's rows. `images` compares images by hashes, in the unit's index; `files` has the memory of
    images."""

    def __init__(self, definition: TableDefinition, files: list[MappedFile]) -> None:
        key = table_key(definition)
        self._names = {number: column.name for number, column in enumerate(definition.columns)
                       if column.generated != "virtual" and not _is_numbered(column)
                       and not _is_computed_anew(column, definition)}
        self.images = ImageWitness(self._names, key.columns if key is not None else ())
        self._differences, generated = Differences(definition), GeneratedWitness(definition, files)
        self._generated = generated if generated.has_columns else None
        self._waiting: list[_Disputed] = []
        self._n_waiting = self._bytes_waiting = self._compared = self._agreed = 0

    @property
    def result(self) -> Witnessed:
        """The results so far."""
        by_hash = self.images.agreed
        before = Witnessed(self._compared + by_hash, self._agreed + by_hash, self._differences.found)
        if (after := self._generated) is None:
            return before
        return together([before, Witnessed(differences=after.differences.found, computed=after.compared,
                                           computed_agreed=after.agreed)])

    @property
    def is_full(self) -> bool:
        """True if enough images wait to be compared."""
        return self._n_waiting >= CHUNK_ROWS or self._bytes_waiting >= _COMPARED_BYTES

    def take(self, batch: Changes, are_here: AreHere) -> None:
        """Keep the images of a batch that hashes did not decide, and those whose generated columns are compared."""
        if self._generated is not None:
            self._generated.take(batch, are_here)
        disputed = self.images.disputed
        if not len(disputed):
            return
        changes = disputed["change"]
        lengths = batch.before_lengths[changes].astype(np.int64)
        self._waiting.append(_Disputed(batch.file.uri, batch.positions[changes], batch.rows[changes],
                                       batch.before_images[changes], disputed["held"].copy(), lengths))
        self._n_waiting += len(changes)
        self._bytes_waiting += int(lengths.sum())

    def compare(self, index: UnitIndex[Any], reading: TableReading | None, gatherer: Callable[[], RowGatherer]) -> None:
        """Compare all waiting images, and release the rows that the index keeps for them."""
        if reading is None:
            return  # there was no change
        if self._generated is not None:
            self._generated.compare(reading)
        waiting, self._waiting, self._n_waiting, self._bytes_waiting = self._waiting, [], 0, 0
        if not waiting:
            return
        reader = gatherer()
        for disputed in waiting:
            edges = np.flatnonzero(np.diff(np.cumsum(disputed.lengths) // _COMPARED_BYTES)) + 1
            for start, end in pairwise([0, *edges.tolist(), len(disputed.rows)]):
                self._compare(disputed, np.arange(start, end), reading.layouts, reader)
            index.give_back(disputed.held)

    def _compare(self, disputed: _Disputed, which: np.ndarray, layouts: ImageLayouts, reader: RowGatherer) -> None:
        """Compare some images (int64[n], numbers in `disputed`)."""
        numbers = layouts_of(disputed.images[which])
        differs = np.zeros(len(which), np.bool_)
        for number in np.unique(numbers).tolist():
            here = np.flatnonzero(numbers == number)
            columns = [column for column in layouts.known[number].present if column in self._names]
            for part, logged, held in _both(reader, disputed.images[which[here]], disputed.held[which[here]], columns):
                self._compared += len(part)
                for column in logged.schema.names:
                    differing = self._differences.add(disputed, which[here[part]], column, logged.column(column),
                                                      held.column(column), held)
                    if differing is not None:
                        differs[here[part[differing]]] = True
                self._agreed += len(part) - int(differs[here[part]].sum())


def _both(reader: RowGatherer, images: np.ndarray, held: np.ndarray,
          columns: list[int]) -> Iterator[tuple[np.ndarray, pa.Table, pa.Table]]:
    """Yield some columns of before-images and of the rows that they found: the numbers of the images, and both tables.
    Unreadable values are skipped, since a replica ignores them, too."""
    parts = [np.arange(len(images))]
    while parts:
        part = parts.pop()
        try:
            logged = reader.images_at(images[part], columns)
            distinct, which = np.unique(held[part], return_inverse=True)
            rows = pa.concat_tables(reader.batches(distinct)).take(pa.array(which.reshape(-1)))
        except ApplierError:
            if len(part) > 1:
                parts += [part[len(part) // 2:], part[:len(part) // 2]]
            continue
        yield part, logged, rows
