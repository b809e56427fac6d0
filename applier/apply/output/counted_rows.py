"""The next number of AUTO_INCREMENT over DDL: a table keeps it where it is, whichever column has AUTO_INCREMENT.

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
from applier.schema.engines import counts_rows
from applier.schema.history.conversion import RowConversion


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
        """Return the next number of AUTO_INCREMENT with which the version began, besides what its definition tells;
        None if it is unknown. To be called after the rows are taken."""

    @property
    def misplaced(self) -> Misplaced:
        """The rows that lie in partitions to which they do not belong. To be called after the others are taken."""


class CountedRows:
    """A unit whose rows pass over an ALTER, with the table's next number of AUTO_INCREMENT before it and after it."""

    def __init__(self, unit: RowsOfSource, conversion: RowConversion) -> None:
        self._unit, self._conversion = unit, conversion
        self._counting = next((column.name for column in conversion.old.columns if column.auto_increment), None)
        self._changes = conversion.numbers_rows or not conversion.keeps_counting
        is_known = self._changes and unit.arrivals.counted and any(
            key.parts[0].column == self._counting for key in conversion.old.keys)  # else each group has its own numbers
        self._highest = 0 if is_known and self._counting is not None else None

    def rows(self) -> Iterator[pa.Table]:
        """Yield the remaining rows."""
        for rows in self._unit.rows():
            if self._highest is not None:
                highest = pc.max(rows.column(self._counting)).as_py() if rows.num_rows else 0
                is_whole = highest is None or isinstance(highest, int | Decimal)
                self._highest = max(self._highest, int(highest or 0)) if is_whole else None
            yield rows

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
        begun, old = self._unit.counter, self._conversion.old
        if not self._conversion.continues_numbers:
            return 1
        if begun is None or (self._counting is not None and self._highest is None):
            return None
        number = max(begun, old.first_number, 1 if self._highest is None else self._highest + 1)
        return None if number > 1 and self._conversion.gives_zero else number

    @property
    def counter_after(self) -> int | None:
        """The number with which the version after the statement begins, as `counter` of a unit."""
        if not counts_rows(self._conversion.new):
            return 1
        counts = any(column.auto_increment for column in self._conversion.new.columns)
        if given := self._conversion.first_number:
            return 1 if counts else given
        number = self.counter if self._changes else self._unit.counter
        return None if number is None or (
            self._conversion.gives_zero and max(number, self._conversion.old.first_number) > 1) else number
