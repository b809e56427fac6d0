"""Computes generated columns that have no value, from the row's other columns.

A snapshot has no VIRTUAL columns, images may not have generated ones, and the log may not have them at all. If an image
has a column that is generated on the source, too, its value is the row's.

A MySQL replica computes a generated column of the resulting row if the image has any column that it depends on,
whatever value the image has for the column itself (seen on 9.7). That is the same value, unless the replica's table
differs from the source's, as a table given by the user may. For an insert the replica uses the image and defaults; for
an update, the image and the row that is found. An expression whose text depends on the sql_mode of the session that
opened the table is not computed where images have its value.

MariaDB takes the values of images. Which values these omit depends on the version (FormatDescription.computes_omitted):
10.11 logs generated columns in all images, and a replica takes NULL if an insert's image omits one and keeps the row's
value for an update; 11.8 omits them in updates and REPLACE, and a replica computes them as MySQL's does. A replica
computes columns that the log does not have at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.defaults import Stored, depends_on_session, expressions, generated_values, sources
from applier.columns.image_values import Rows, replaced
from applier.columns.replica_defaults import ReplicaDefaults, Seconds
from applier.errors import NotComputable, SchemaError
from applier.mysql.names import folded
from applier.mysql.session import SYSTEM, Session
from applier.mysql.types import TEMPORAL, arrow_type
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, Key
from applier.sql.evaluator import depends_on_escapes, reads_dates

UNKNOWN_DOCUMENT = "\0"
"""Stands for a document made by diffs of one that no image has: it is unknown."""
_FULL = "replay logs written with binlog_row_image=FULL, or leave the table out with --ignore-tables"
_HINT = "leave the table out with --ignore-tables"


def generated_column(column: Column, definition: TableDefinition, stored: Stored, n: int, *,
                     sql_mode: str = "", time_zone: str = SYSTEM) -> pa.Array | pa.ChunkedArray:
    """Return the values of a generated column in n rows, given their stored columns. Raises SchemaError for an unknown
    expression."""
    try:
        return generated_values(column, definition, stored, n, Session(definition.flavour, sql_mode, time_zone))
    except NotComputable as error:
        raise SchemaError(f"column {column.name} is generated from ({column.expression}), which cannot be "
                          f"computed: {error.message}", table=definition.full_name, hint=_HINT) from None


def computed_by_replica(column: Column, definition: TableDefinition, stored: Stored, n: int,
                        time_zone: str) -> pa.Array | pa.ChunkedArray:
    """Return the same values as a replica computes them, whose sql_mode is not known. Raises SchemaError if that
    decides."""
    made = generated_column(column, definition, stored, n, time_zone=time_zone)
    for sql_mode in _OF_DATES if _depends_on_sql_mode(column, definition) else ():
        if not generated_column(column, definition, stored, n, sql_mode=sql_mode, time_zone=time_zone).equals(made):
            raise SchemaError(f"column {column.name} is generated from ({column.expression}), which a replica computes "
                              f"in its own sql_mode, with or without {sql_mode}",
                              table=definition.full_name, hint=_HINT)
    return made


_OF_DATES = ("NO_ZERO_DATE,NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES")
"""Modes that say which dates are invalid."""


def why_not_compared(key: Key, definition: TableDefinition) -> str | None:
    """Return why duplicates in a unique key are not found, for people; None if they are."""
    for part in key.parts:
        if part.column is None:
            return "it is over an expression"
        column = definition.column(part.column)
        if column.generated == "virtual":
            if not is_computable(column, definition):
                return f"{column.name} is VIRTUAL, and ({column.expression}) cannot be computed"
            if sources(column, definition) & {folded(name) for foreign in definition.foreign_keys
                                              if foreign.cascades for name in foreign.columns}:
                return f"{column.name} is VIRTUAL, and foreign keys change columns that it depends on"
    return None


def is_computable(column: Column, definition: TableDefinition) -> bool:
    """Return whether the expression of a generated column is known."""
    try:
        generated_values(column, definition, lambda name: pa.nulls(1, arrow_type(definition.column(name).type)), 1)
    except NotComputable:
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Completed:
    """A generated column in the after-images of a batch: `values`; `left` (bool[n]) marks rows that keep their value,
    and `waiting` those that get a value computed from the row that is found."""

    values: pa.Array
    left: np.ndarray
    waiting: np.ndarray


class AfterImages:
    """The after-images of a batch, as far as they describe the resulting rows. `decoded` has the values of the log's
    columns and the rows without them (image_values.Rows), by number; `inserted` marks images of inserts,
    `computes_omitted` those whose missing generated columns a replica of the source's version computes;
    `takes_generated`: a generated column has the value that an image has of it."""

    def __init__(self, definition: TableDefinition, defaults: ReplicaDefaults, inserted: np.ndarray,
                 computes_omitted: np.ndarray, takes_generated: bool, seconds: Seconds,
                 decoded: dict[int, tuple[pa.Array, Rows]]):
        self._definition, self._defaults = definition, defaults
        self._computes_omitted, self._takes_generated = computes_omitted, takes_generated
        self._inserted, self._seconds, self._decoded = inserted, seconds, decoded

    def completed(self, number: int, located: Callable[[SchemaError, np.ndarray], SchemaError]) -> Completed:
        """Return a generated column. Raises SchemaError if it cannot be computed, `located` at the first image that it
        concerns."""
        values, lacking = self._of_image(number)
        made = self._inserted | self._any_source(number) | ~lacking
        if self._takes_what_is_there(number):
            made &= lacking & self._computes_omitted
            if not made.any():
                return Completed(values, lacking & ~self._inserted, self._none)
        elif self._takes_generated or not self._is_computable(number) or any(map(depends_on_escapes, expressions(
                self._definition.columns[number], self._definition))):
            made &= lacking
        if self._is_chained(number) and not self._takes_what_is_there(number):
            if (chained := made & lacking if number in self._decoded else lacking).any():
                raise located(self._chained(number), chained)
            made &= lacking
        known = self._all_sources(number)
        for unknown in (made & ~known & self._inserted, made & lacking & self._unknown_document(number)):
            if unknown.any():
                raise located(self._not_told(number, unknown), unknown)
        waiting = made & ~known & ~self._unknown_document(number)
        made &= known
        if made.any():
            try:
                values = replaced(values, made, _whole(self._computed(number, made)))
            except SchemaError as error:
                raise located(error, made) from None
        kept = lacking & ~made
        if self._takes_what_is_there(number):
            kept &= ~self._inserted
        return Completed(values, kept | waiting, waiting)

    def of_found_rows(self, number: int, images: np.ndarray, rows: pa.Table) -> pa.Array:
        """Return a generated column in some images (int64[m]) whose values depend on the rows that they find. Raises
        SchemaError if it cannot be computed."""
        definition = self._definition

        def known(name: str) -> pa.Array | pa.ChunkedArray:
            other = definition.column_index(name)
            generated = definition.columns[other].generated is not None
            if generated and not self._takes_what_is_there(other):
                return self.of_found_rows(other, images, rows)
            values, lacking = self._of_image(other)
            values, lacking = values.take(pa.array(images)), lacking[images]
            if not lacking.any():
                return values
            if generated:
                made = self.of_found_rows(other, images, rows)
                return pc.if_else(pa.array(lacking), pc.if_else(pa.array(self._computes_omitted[images]), made,
                                                                rows.column(name)), values)
            return pc.if_else(pa.array(lacking), rows.column(name), values)

        return _whole(computed_by_replica(definition.columns[number], definition, known, len(images),
                                          self._defaults.time_zone))

    @cached_property
    def _none(self) -> np.ndarray:
        return np.zeros(len(self._inserted), np.bool_)

    def _takes_what_is_there(self, number: int) -> bool:
        """Return whether a replica takes images' values of a generated column, and NULL if an insert's image omits one.

        MariaDB does, except for a STORED column that the log does not have: it does not maintain a unique key over a
        VIRTUAL column that images omit, and the key's index is corrupt then (seen on 10.11).
        """
        return self._definition.flavour == "mariadb" and (
            number in self._decoded or self._definition.columns[number].generated == "virtual")

    def _is_computable(self, number: int) -> bool:
        return is_computable(self._definition.columns[number], self._definition)

    def _of_image(self, number: int) -> tuple[pa.Array, np.ndarray]:
        """Return a column's values in the images, and the rows without it there."""
        if number not in self._decoded:
            return pa.nulls(len(self._inserted), arrow_type(self._definition.columns[number].type)), ~self._none
        values, absent = self._decoded[number]
        return values, self._none if absent is None else absent

    def _sources(self, number: int) -> list[int]:
        return source_numbers(self._definition.columns[number], self._definition)

    def _any_source(self, number: int) -> np.ndarray:
        """Return which images have a column that this one depends on. MariaDB's count as such where the session
        decides, since a replica computes a column that they omit."""
        anew = self._computes_omitted & ~self._inserted & _depends_on_session(
            self._definition.columns[number], self._definition)
        return _any([anew, *(self._is_there(source) for source in self._sources(number))])

    def _is_there(self, number: int) -> np.ndarray:
        if number in self._decoded:
            there = ~self._of_image(number)[1]
            if self._definition.columns[number].generated and self._takes_what_is_there(number):
                there |= self._computes_omitted & self._any_source(number)
            return there
        return self._any_source(number) if self._definition.columns[number].generated else self._none

    def _all_sources(self, number: int) -> np.ndarray:
        """Return which images have known values of all columns that this one depends on."""
        return ~_any([self._none, *(~self._is_known(source) for source in self._sources(number))])

    def _is_known(self, number: int) -> np.ndarray:
        """Return which images determine the row's value of a column; an insert's without the column does so by the
        default."""
        column = self._definition.columns[number]
        if number not in self._decoded:
            if column.generated:
                return self._all_sources(number)
            return self._none if column.auto_increment else self._inserted
        given = self._inserted
        if column.generated:
            made = self._computes_omitted if self._takes_what_is_there(number) else self._inserted
            given = made & self._all_sources(number)
        known: np.ndarray = (~self._of_image(number)[1] | given) & ~self._is_unknown(number)
        return known

    def _is_unknown(self, number: int) -> np.ndarray:
        """Return which images have diffs of a document that no image has."""
        if self._definition.columns[number].type.base != "json" or number not in self._decoded:
            return self._none
        return np.asarray(pc.equal(self._of_image(number)[0], UNKNOWN_DOCUMENT).fill_null(False))

    def _unknown_document(self, number: int) -> np.ndarray:
        return _any([self._none, *(self._is_unknown(source) for source in self._sources(number))])

    def _computed(self, number: int, rows: np.ndarray) -> pa.Array | pa.ChunkedArray:
        """Return a generated column in some of the rows (bool[n])."""
        definition = self._definition
        return computed_by_replica(definition.columns[number], definition,
                                   lambda name: self._known(definition.column_index(name), rows), int(rows.sum()),
                                   self._defaults.time_zone)

    def _known(self, number: int, rows: np.ndarray) -> pa.Array | pa.ChunkedArray:
        """Return the values that a column is known to have in some of the rows (bool[n])."""
        column = self._definition.columns[number]
        values, lacking = self._of_image(number)
        values = values.filter(pa.array(rows))
        if not (rows & lacking).any():
            return values
        if column.generated:
            made = rows & lacking
            if self._takes_what_is_there(number):
                made &= self._computes_omitted
            given = _whole(self._computed(number, made))
            return replaced(values, made[rows], given)
        default = self._defaults.left_out(column, self._seconds)
        if isinstance(default, pa.Array):
            default = default.filter(pa.array(rows))
        return pc.if_else(pa.array(lacking[rows]), default, values)

    def _is_chained(self, number: int) -> bool:
        """Return whether a column is generated from generated ones. A MySQL replica that computes it in a rows event
        may use garbage for the other column, and its key then has entries that do not fit the rows (seen on 9.7)."""
        names = sources(self._definition.columns[number], self._definition)
        return any(column.generated and folded(column.name) in names for column in self._definition.columns)

    def _chained(self, number: int) -> SchemaError:
        column = self._definition.columns[number]
        return SchemaError(f"column {column.name} is generated from ({column.expression}), which names generated "
                           "columns, and the images do not contain it: the value in a replica's key cannot be "
                           "determined",
                           table=self._definition.full_name, hint=_HINT)

    def _not_told(self, number: int, rows: np.ndarray) -> SchemaError:
        column = self._definition.columns[number]
        names = ", ".join(self._definition.columns[source].name for source in self._sources(number)
                          if (rows & ~self._is_known(source)).any())
        return SchemaError(f"column {column.name} is generated from ({column.expression}), and an image contains some "
                           f"of these columns, but not {names}, so the row's value cannot be determined",
                           table=self._definition.full_name,
                           hint=_FULL)


def source_numbers(column: Column, definition: TableDefinition) -> list[int]:
    """Return the numbers of the stored, not generated columns that a generated column depends on."""
    names = sources(column, definition)
    return [number for number, other in enumerate(definition.columns)
            if folded(other.name) in names and other.generated != "virtual"]


def computed_of_images(definition: TableDefinition) -> dict[int, frozenset[int]]:
    """Return the STORED columns, by number, that a replica computes if an image has any of these columns: MySQL's does
    so regardless of the image's generated value, MariaDB's if the image does not have it, whatever else it has
    (FormatDescription.computes_omitted). That differs where the session decides."""
    every = frozenset(range(len(definition.columns)))
    return {number: every if _depends_on_session(column, definition) else _made_of(column, definition)
            for number, column in enumerate(definition.columns)
            if column.generated == "stored" and (
                definition.flavour == "mariadb" or not any(map(depends_on_escapes, expressions(column, definition))))}


def _depends_on_session(column: Column, definition: TableDefinition) -> bool:
    """Return whether a generated column may get another value on a MariaDB in another session: by the time zone, or by
    the sql_mode."""
    return definition.flavour == "mariadb" and (
        depends_on_session(column, definition) or _depends_on_sql_mode(column, definition) or any(
            definition.columns[number].type.base == "timestamp" for number in _made_of(column, definition)))


def _depends_on_sql_mode(column: Column, definition: TableDefinition) -> bool:
    """Return whether MariaDB reads text or numbers as dates for a generated column."""
    bases = {definition.columns[number].type.base for number in _made_of(column, definition)}
    if definition.flavour == "mysql" or bases <= TEMPORAL:
        return False
    return column.type.base in TEMPORAL or any(map(reads_dates, expressions(column, definition)))


def _made_of(column: Column, definition: TableDefinition) -> frozenset[int]:
    """Return the numbers of the columns that a generated one depends on, directly or not."""
    found: set[int] = set()
    more = source_numbers(column, definition)
    while more:
        number = more.pop()
        if number not in found:
            found.add(number)
            if definition.columns[number].generated:
                more += source_numbers(definition.columns[number], definition)
    return frozenset(found)


def _any(masks: list[np.ndarray]) -> np.ndarray:
    """Return where one of these masks, at least one, is set."""
    found: np.ndarray = np.logical_or.reduce(masks)
    return found


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
