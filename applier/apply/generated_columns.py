"""Generated columns where there is no value of theirs: they are computed from the row's other columns.

A snapshot has no VIRTUAL columns, images may lack generated ones, and the log may not have them at all. A key over one
still compares its values (seen on MySQL 9.7): an insert gets them from what its image has and from defaults; an
update's image that has all columns that it is made of gives another value, and one that has none leaves the row's.
Where a log's STORED column is lacking in an update's image of what it is made of, the source's is no such column: that
is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.image_values import Rows
from applier.apply.replica_defaults import ReplicaDefaults, Seconds
from applier.errors import NotComputable, SchemaError
from applier.schema.definition import Column, Key, TableDefinition
from applier.schema.types import arrow_type
from applier.sql.defaults import Stored, generated_values, sources

UNKNOWN_DOCUMENT = "\0"
"""Stands for a document that diffs make of one that no image has: it is none."""
_FULL = "replay logs written with binlog_row_image=FULL, or leave the table out with --ignore-tables"
_HINT = "leave the table out with --ignore-tables"


def generated_column(column: Column, definition: TableDefinition, stored: Stored,
                     n: int) -> pa.Array | pa.ChunkedArray:
    """The values of a generated column in n rows, given their stored columns. Raises SchemaError for an expression that
    is not known."""
    try:
        return generated_values(column, definition, stored, n)
    except NotComputable as error:
        raise SchemaError(f"column {column.name} is generated from ({column.expression}), which cannot be "
                          f"computed: {error.message}", table=definition.full_name, hint=_HINT) from None


def why_not_compared(key: Key, definition: TableDefinition) -> str | None:
    """Why duplicates in a unique key are not found, for people; None where they are."""
    for part in key.parts:
        if part.column is None:
            return "it is over an expression"
        column = definition.column(part.column)
        if column.generated == "virtual":
            if not _is_computable(column, definition):
                return f"{column.name} is VIRTUAL, and ({column.expression}) cannot be computed"
            if sources(column, definition) & {name.casefold() for foreign in definition.foreign_keys
                                              if foreign.cascades for name in foreign.columns}:
                return f"{column.name} is VIRTUAL, and foreign keys change what it is made of"
    return None


def _is_computable(column: Column, definition: TableDefinition) -> bool:
    try:
        generated_values(column, definition, lambda name: pa.nulls(1, arrow_type(definition.column(name).type)), 1)
    except NotComputable:
        return False
    return True


class AfterImages:
    """The after-images of a batch, as far as they tell what the rows have then. `decoded` has the values of columns of
    the log and which rows lack them (image_values.Rows), by number; `inserted` says which images are inserts'."""

    def __init__(self, definition: TableDefinition, defaults: ReplicaDefaults, inserted: np.ndarray, seconds: Seconds,
                 decoded: dict[int, tuple[pa.Array, Rows]]):
        self._definition, self._defaults = definition, defaults
        self._inserted, self._seconds, self._decoded = inserted, seconds, decoded

    def completed(self, number: int, placed: Callable[[SchemaError, np.ndarray], SchemaError]) -> tuple[pa.Array, Rows]:
        """The values of a generated column, and the updates that leave it as it is in the row (bool[n], None: no such).
        Raises SchemaError where it cannot be computed, `placed` at the first image of those that it is about."""
        values, lacking = self._of_image(number)
        made = lacking & (self._inserted | self._any_source(number))
        if self._is_chained(number) and (chained := made if number in self._decoded else lacking).any():
            raise placed(self._chained(number), chained)
        if number in self._decoded and self._definition.columns[number].generated == "stored" and (
                updated := made & ~self._inserted).any():
            raise placed(self._not_logged(number), updated)
        if made.any():
            if (unknown := made & ~self._all_sources(number)).any():
                raise placed(self._not_told(number, unknown), unknown)
            try:
                values = pc.replace_with_mask(values, pa.array(made), _whole(self._computed(number, made)))
            except SchemaError as error:
                raise placed(error, made) from None
        left = lacking & ~made
        return values, left if left.any() else None

    @cached_property
    def _none(self) -> np.ndarray:
        return np.zeros(len(self._inserted), np.bool_)

    def _of_image(self, number: int) -> tuple[pa.Array, np.ndarray]:
        """A column's values in the images, and which rows have none there."""
        if number not in self._decoded:
            return pa.nulls(len(self._inserted), arrow_type(self._definition.columns[number].type)), ~self._none
        values, absent = self._decoded[number]
        return values, self._none if absent is None else absent

    def _sources(self, number: int) -> list[int]:
        return source_numbers(self._definition.columns[number], self._definition)

    def _any_source(self, number: int) -> np.ndarray:
        """Which images have a column that this one is made of."""
        return np.logical_or.reduce([self._none, *(self._is_there(source) for source in self._sources(number))])

    def _is_there(self, number: int) -> np.ndarray:
        if number in self._decoded:
            return ~self._of_image(number)[1]
        return self._any_source(number) if self._definition.columns[number].generated else self._none

    def _all_sources(self, number: int) -> np.ndarray:
        """Of which images all columns are known that this one is made of."""
        return np.logical_and.reduce([~self._none, *(self._is_known(source) for source in self._sources(number))])

    def _is_known(self, number: int) -> np.ndarray:
        """Which images tell what the row has in a column: in an insert's, where they have none, it is the default."""
        column = self._definition.columns[number]
        if number not in self._decoded:
            if column.generated:
                return self._all_sources(number)
            return self._none if column.auto_increment else self._inserted
        values, absent = self._of_image(number)
        given = self._inserted & self._all_sources(number) if column.generated else self._inserted
        known = ~absent | given
        if column.type.base == "json":
            known &= ~np.asarray(pc.equal(values, UNKNOWN_DOCUMENT).fill_null(False))
        return known

    def _computed(self, number: int, rows: np.ndarray) -> pa.Array | pa.ChunkedArray:
        """A generated column in some of the rows (bool[n])."""
        definition = self._definition
        return generated_column(definition.columns[number], definition,
                                lambda name: self._known(definition.column_index(name), rows), int(rows.sum()))

    def _known(self, number: int, rows: np.ndarray) -> pa.Array | pa.ChunkedArray:
        """The values that a column is known to have in some of the rows (bool[n])."""
        column = self._definition.columns[number]
        values, lacking = self._of_image(number)
        values = values.filter(pa.array(rows))
        if not (rows & lacking).any():
            return values
        if column.generated:
            given = _whole(self._computed(number, rows & lacking))
            return pc.replace_with_mask(values, pa.array(lacking[rows]), given)
        default = self._defaults.left_out(column, self._seconds)
        if isinstance(default, pa.Array):
            default = default.filter(pa.array(rows))
        return pc.if_else(pa.array(lacking[rows]), default, values)

    def _is_chained(self, number: int) -> bool:
        """Whether a column is generated from generated ones. A MySQL replica that computes such a one in a row event
        may take garbage for the other, and then has entries in the key that do not fit the rows (seen on 9.7)."""
        names = sources(self._definition.columns[number], self._definition)
        return any(column.generated and column.name.casefold() in names for column in self._definition.columns)

    def _chained(self, number: int) -> SchemaError:
        column = self._definition.columns[number]
        return SchemaError(f"column {column.name} is generated from ({column.expression}), which names generated "
                           "columns, and images lack it: what a replica's key has then cannot be known",
                           table=self._definition.full_name, hint=_HINT)

    def _not_logged(self, number: int) -> SchemaError:
        column = self._definition.columns[number]
        return SchemaError(f"column {column.name} is generated from ({column.expression}), of which an update's image "
                           f"has columns, but it does not have {column.name}: a replica computes it anew",
                           table=self._definition.full_name, hint=_FULL)

    def _not_told(self, number: int, rows: np.ndarray) -> SchemaError:
        column = self._definition.columns[number]
        names = ", ".join(self._definition.columns[source].name for source in self._sources(number)
                          if (rows & ~self._is_known(source)).any())
        return SchemaError(f"column {column.name} is generated from ({column.expression}), and an image tells some of "
                           f"that, but not {names}, so that the row's value cannot be known",
                           table=self._definition.full_name,
                           hint=_FULL)


def source_numbers(column: Column, definition: TableDefinition) -> list[int]:
    """Numbers of the columns with values of their own that a generated column is made of."""
    names = sources(column, definition)
    return [number for number, other in enumerate(definition.columns)
            if other.name.casefold() in names and other.generated != "virtual"]


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
