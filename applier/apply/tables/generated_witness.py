"""Generated columns of after-images as a check of the evaluation of expressions: compares the image's value with ours.

The number of comparisons is bounded, because evaluation may take longer than all other work on a row: the first images
of a unit are compared, and one in many of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.image_reader import ChunkTooLarge, ImageMemory, ImageReader
from applier.apply.tables.differing_values import Differences, LoggedImages, differing_values
from applier.apply.tables.logged_table import TableReading
from applier.binlog.rows.changes import Changes
from applier.binlog.rows.image_pointers import layouts_of
from applier.columns.defaults import expressions, sources
from applier.columns.generated_columns import generated_column, is_computable
from applier.columns.values import finish_column
from applier.errors import ApplierError
from applier.io.mapping import MappedFile
from applier.mysql.names import folded
from applier.mysql.values import zero_dates
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from applier.sql.evaluator import depends_on_escapes, depends_on_language

AreHere = Callable[[np.ndarray], np.ndarray]
"""Returns which changes of a batch, given by number, have an after-image that is a row of the unit."""
_UNTOLD = ("TIME_TRUNCATE_FRACTIONAL", "TIME_ROUND_FRACTIONAL", "PAD_CHAR_TO_FULL_LENGTH", "NO_ZERO_IN_DATE",
           "NO_ZERO_DATE")
"""Session modes that change the value of an expression, and that the log does not show."""
_FIRST, _ONE_IN = 1 << 10, 1 << 7
"""How many of a unit's first images are compared, and one in how many later ones."""


class GeneratedWitness:
    """The witness of a unit's generated columns: those in the log that can be computed from stored columns. `files` is
    the memory of images, as in UnitMemory.

    Not compared is what servers do not make of an image's own values. In MariaDB's images (seen on 10.11), a VIRTUAL
    column may be computed from a value before IGNORE converted it, and a STORED TEXT or BLOB of a system-versioned
    table is that of the row which a REPLACE took away: the server and its replicas keep it. In MySQL's (seen on 9.7), a
    column may be computed from NULL instead of a VIRTUAL column that the image leaves out: a VIRTUAL one of any, a
    STORED one of a TEXT or BLOB.
    """

    def __init__(self, definition: TableDefinition, files: list[MappedFile]) -> None:
        self._definition, self._files = definition, files
        self._made_of = {number: self._needed(column)
                         for number, column in enumerate(definition.columns)
                         if (column.generated == "stored" or (column.generated and definition.flavour == "mysql"))
                         and not any(depends_on_escapes(expression) or depends_on_language(expression)
                                     for expression in expressions(column, definition))
                         and not (definition.versioning and column.type.entry.prefix)
                         and is_computable(column, definition)}
        self.differences = Differences(definition, computed=True)
        self.compared = self.agreed = self._seen = 0
        self._waiting: list[tuple[LoggedImages, np.ndarray]] = []

    def _needed(self, column: Column) -> frozenset[int]:
        """The numbers of the columns that an image needs, for its value of a generated column to be compared."""
        names = sources(column, self._definition)
        return frozenset(number for number, other in enumerate(self._definition.columns) if folded(other.name) in names
                         and (column.generated != "stored" or other.generated != "virtual"
                              or (self._definition.flavour == "mysql" and other.type.entry.prefix)))

    @property
    def has_columns(self) -> bool:
        """True if there are columns that can be compared."""
        return bool(self._made_of)

    def take(self, batch: Changes, are_here: AreHere) -> None:
        """Choose after-images of a batch to be compared. Units that see the same batch choose the same images, and each
        keeps those of its own rows."""
        there = np.flatnonzero(batch.images >= 0)
        order = np.arange(self._seen, self._seen + len(there))
        self._seen += len(there)
        chosen = there[(order < _FIRST) | (order % _ONE_IN == 0)]
        chosen = chosen[are_here(chosen)]
        if len(chosen):
            self._waiting.append((LoggedImages(batch.file.uri, batch.positions[chosen], batch.rows[chosen]),
                                  batch.images[chosen]))

    def compare(self, reading: TableReading) -> None:
        """Compare all waiting images."""
        waiting, self._waiting = self._waiting, []
        for uri, batches in groupby(waiting, key=lambda waiting: waiting[0].uri):
            parts = [*batches]
            images = LoggedImages(uri, np.concatenate([images.positions for images, _ in parts]),
                                  np.concatenate([images.rows for images, _ in parts]))
            pointers = np.concatenate([pointers for _, pointers in parts])
            numbers = layouts_of(pointers)
            for number in np.unique(numbers).tolist():
                layout = reading.layouts.known[number]
                present = set(layout.present).difference(layout.diffs)
                columns = [column for column, made_of in self._made_of.items() if {column, *made_of} <= present]
                if columns:
                    self._compare(images, pointers, np.flatnonzero(numbers == number), columns, present, reading)

    def _compare(self, images: LoggedImages, pointers: np.ndarray, which: np.ndarray, columns: list[int],
                 present: set[int], reading: TableReading) -> None:
        """Compare columns in the images `which` (int64[n]), whose layout has these columns and their sources."""
        definition, table_map = self._definition, reading.table_map
        wanted = present.intersection(*[{*columns, *(number for column in columns for number in self._made_of[column]),
                                         *map(definition.column_index, self.differences.key_columns)}])
        plans = [plan if number in wanted else None for number, plan in enumerate(reading.plans)]
        try:
            reader = ImageReader(ImageMemory(self._files), reading.layouts, plans, len(which))
            reader.read(pointers[which])
            rows = pa.table({definition.columns[number].name: finish_column(
                reader.buffers.columns[number].taken(len(which)), definition.columns[number],
                table_map.types[number], table_map.metadata[number], definition.flavour) for number in sorted(wanted)})
        except ChunkTooLarge:
            for half in np.array_split(which, 2):
                self._compare(images, pointers, half, columns, present, reading)
            return
        except ApplierError:
            return  # values that no server writes: where they are read for a row, that is an error
        for number in columns:
            column = definition.columns[number]
            try:
                computed = generated_column(column, definition, rows.column, len(which))
            except ApplierError:
                continue  # for some values the server's result is unknown
            computed = pa.chunked_array([computed]) if isinstance(computed, pa.Array) else computed
            computed = _as_other_modes(computed, rows.column(column.name))
            for mode in _UNTOLD:
                if differing_values(rows.column(column.name), computed) is not None:
                    computed = self._in_mode(mode, column, computed, rows)
            differing = self.differences.add(images, which, column.name, rows.column(column.name), computed, rows)
            self.compared += len(which)
            self.agreed += len(which) - (0 if differing is None else int(differing.sum()))

    def _in_mode(self, mode: str, column: Column, computed: pa.ChunkedArray, rows: pa.Table) -> pa.ChunkedArray:
        """Return the values; where the log has the value of a session mode, that value."""
        try:
            made = generated_column(column, self._definition, rows.column, len(rows), sql_mode=mode)
        except ApplierError:
            return computed
        logged = rows.column(column.name)
        same = pc.or_(pc.equal(logged, made).fill_null(False), pc.and_(pc.is_null(logged), pc.is_null(made)))
        return pc.if_else(same, logged, computed)


def _as_other_modes(computed: pa.ChunkedArray, logged: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values, where the log has NULL or '0000-00-00' for dates with a zero in them: the session's sql_mode decides.
    """
    if not zero_dates.has_any(computed):
        return computed
    values, of_log = computed.combine_chunks(), logged.combine_chunks()
    is_other = zero_dates.which(values) & (np.asarray(of_log.is_null()) | zero_dates.are_zero(of_log))
    return pa.chunked_array([pc.if_else(pa.array(is_other), of_log, values)])
