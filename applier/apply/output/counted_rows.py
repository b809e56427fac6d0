"""The next number of AUTO_INCREMENT over DDL: a table keeps it where it is, whichever column has AUTO_INCREMENT.

It follows on the highest number that an insert or an update gave to the column, also if that row is gone.

Of InnoDB's tables, only those with an AUTO_INCREMENT column have one. A table of an engine without transactions keeps
that of a column that no longer has AUTO_INCREMENT, with all later ALTERs, until it is emptied by TRUNCATE, or a
statement gives another number. DROP COLUMN of the column that has AUTO_INCREMENT forgets it. Judged by MySQL 9.7 and
MariaDB 10.5 to 11.8, with MyISAM, MEMORY and Aria.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.misplaced_rows import Misplaced
from applier.columns.alter.scan_order import Arrivals
from applier.mysql.types import INTEGERS
from applier.schema.definition import TableDefinition
from applier.schema.engines import counts_rows
from applier.schema.history.conversion import RowConversion
from applier.schema.history.in_place import is_in_place
from applier.schema.key_infos import is_innodb
from applier.schema.table_parts import Column
from applier.sql.casting.numbers import limits_of


class RowsOfSource(Protocol):
    """A unit whose rows pass to another one."""

    def rows(self) -> Iterator[pa.Table]:
        """Yield the remaining rows."""

    @property
    def arrivals(self) -> Arrivals:
        """Return what is known about the rows' order of arrival. To be called before they are taken."""

    @property
    def ranks(self) -> np.ndarray | None:
        """Return the ranks of the rows by their arrival, int64[n]; None if they are unknown, or a key sorts the rows on
        the server. To be called after they are taken."""

    @property
    def counter(self) -> int | None:
        """Return the table's next number of AUTO_INCREMENT after the changes, besides what its definition tells; None
        if it is unknown. To be called after the rows are taken."""

    @property
    def misplaced(self) -> Misplaced:
        """The rows that lie in partitions to which they do not belong. To be called after the others are taken."""


class CountedRows:
    """A unit whose rows pass over an ALTER, with the table's next number of AUTO_INCREMENT before it and after it."""

    def __init__(self, unit: RowsOfSource, conversion: RowConversion) -> None:
        self._unit, self._conversion = unit, conversion

    def rows(self) -> Iterator[pa.Table]:
        """Yield the remaining rows."""
        return self._unit.rows()

    @property
    def arrivals(self) -> Arrivals:
        """As of the unit."""
        return self._unit.arrivals

    @property
    def ranks(self) -> np.ndarray | None:
        """As of the unit."""
        return self._unit.ranks

    @property
    def misplaced(self) -> Misplaced:
        """As of the unit."""
        return self._unit.misplaced

    @property
    def counter(self) -> int | None:
        """The number from which a column that the statement adds or alters continues, if the statement gives none; 1 if
        from none, None if that is unknown. To be called after the rows are taken."""
        begun = self._unit.counter
        if not self._conversion.continues_numbers:
            return 1
        if begun is None:
            return None
        number = max(begun, self._conversion.old.first_number)
        return None if number > 1 and self._conversion.gives_zero else number

    def counter_after(self, made: pa.Table, have_asked: bool) -> int | None:
        """The number with which the version after the statement begins, given its rows, and whether some of them got
        numbers in a column that was there before."""
        conversion = self._conversion
        column = counting_column(conversion.new)
        if not counts_rows(conversion.new):
            return 1
        if column is None and conversion.first_number:
            return conversion.first_number
        number = 1 if conversion.first_number else self.counter if conversion.needs_counter else self._unit.counter
        if number is None or (not conversion.first_number and conversion.gives_zero
                              and max(number, conversion.old.first_number) > 1):
            return None
        if column is None:
            return number
        highest = highest_number(made.column(column.name))
        if highest is None or self._loses_count(have_asked):
            return None
        least = number_after(highest, conversion.new)
        return None if number > least and conversion.new.partitioning is not None else max(number, least)

    def _loses_count(self, have_asked: bool) -> bool:
        """Return whether the counter may be ahead of the highest number of the rows and of what it was: rows were left
        out or NULLs used numbers up; or InnoDB reserved more numbers than there were rows, for those that asked for
        some or by its estimate of those that are copied; or, with partitions, behind what it was."""
        conversion = self._conversion
        if conversion.removed is not None:
            return True
        for column, source in zip(conversion.new.columns, conversion.sources, strict=True):
            if not column.auto_increment or (source is not None and conversion.old.columns[source].auto_increment):
                continue
            if conversion.ignores is not None or conversion.numbering != (1, 1) or column.nullable:
                return True
            if source is None and is_innodb(conversion.new) and not is_in_place(conversion):
                return True
        return is_innodb(conversion.new) and have_asked


def counting_column(definition: TableDefinition) -> Column | None:
    """Return the column that has AUTO_INCREMENT, None if none has."""
    return next((column for column in definition.columns if column.auto_increment), None)


def highest_number(values: pa.Array | pa.ChunkedArray) -> int | None:
    """Return the highest of a column's values, 0 if none is above; None if it is not known to be a whole number."""
    highest = pc.max(values).as_py()
    return max(int(highest or 0), 0) if highest is None or isinstance(highest, int | Decimal) else None


def number_after(highest: int, definition: TableDefinition) -> int:
    """Return the number that follows on the highest one that the table's column with AUTO_INCREMENT has had. InnoDB of
    MySQL stays at the highest one of the column's type."""
    column = counting_column(definition)
    if column is not None and definition.flavour == "mysql" and is_innodb(definition) and \
            column.type.base in INTEGERS:
        return min(highest + 1, limits_of(column.type)[1])
    return highest + 1


def numbers_whole_table(definition: TableDefinition) -> bool:
    """Return whether the column that has AUTO_INCREMENT leads a key, so that no group of rows has its own numbers."""
    column = counting_column(definition)
    return column is not None and any(key.parts[0].column == column.name for key in definition.keys)


def may_count_on(conversion: RowConversion) -> bool:
    """Return whether a column may lose AUTO_INCREMENT, and new values in it still move the counter: MariaDB, where it
    does not copy the rows, leaves the column to the engine as it was. A later statement that copies them ends that."""
    new, old = conversion.new, counting_column(conversion.old)
    return new.flavour == "mariadb" and counting_column(new) is None and counts_rows(new) and \
        not conversion.asks_for_copy and any(was is old and (was.type, was.nullable) == (column.type, column.nullable)
                                             for was, column in conversion.kept)
