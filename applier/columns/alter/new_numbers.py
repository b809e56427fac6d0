"""The numbers that a statement gives to the rows of a table: in an AUTO_INCREMENT column, and out of a sequence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from applier.columns.alter import numbers
from applier.errors import NotComputable
from applier.mysql.types import arrow_type
from applier.schema.history.conversion import RowConversion
from applier.schema.history.in_place import is_in_place
from applier.schema.table_parts import Column
from applier.sql.assignment.conversion import assigned
from applier.sql.values import numbers as numbers_of


class NewNumbers:
    """Numbers the rows of a table over one statement, a chunk at a time. `draws` is a column with numbers, "" if there
    is none; `have_asked`: a column that was there before has them. Errors: SchemaError if it is unknown which numbers
    the server gives."""

    def __init__(self, conversion: RowConversion, unordered: str, counter: int | None) -> None:
        """`unordered` and `counter` as in RowConverter."""
        self._conversion, self._unordered, self._counter = conversion, unordered, counter
        self._done, self.draws, self.have_asked = 0, "", False

    def advance(self, n: int) -> None:
        """Note that the next chunk begins n rows later."""
        self._done += n

    def filled(self, values: pa.Array | pa.ChunkedArray, asks: np.ndarray, column: Column) -> pa.Array:
        """The values of a column that becomes AUTO_INCREMENT: rows where `asks` is set get one more than the largest
        value before them, or the first number. On MySQL a NULL stays if it may, and its number is used up."""
        self._check_order(len(values))
        self.have_asked, self.draws = True, column.name
        try:
            known = np.asarray(values.cast(pa.int64()).fill_null(0))
            made = numbers.filled(known, asks, self._first(column), self._conversion.numbering)
        except (pa.ArrowException, NotComputable) as error:
            raise self._conversion.refusal(f"column {column.name} numbers the rows: {error}") from None
        stays = column.nullable and self._conversion.new.flavour == "mysql"
        mask = np.asarray(values.is_null()) if stays else None
        return pa.array(made, mask=mask).cast(arrow_type(column.type))

    def added(self, n: int, column: Column) -> pa.Array:
        """An added column with AUTO_INCREMENT: NULL if it may be (`INT AUTO_INCREMENT NULL`), unless MariaDB copies."""
        if column.nullable and (self._conversion.new.flavour == "mysql" or is_in_place(self._conversion)):
            return pa.nulls(n, arrow_type(column.type))
        self._check_order(self._done + n)
        first, numbering = self._first(column), self._conversion.numbering
        try:
            made = numbers.added(range(self._done, self._done + n), first, numbering,
                                 in_place=is_in_place(self._conversion))
        except NotComputable as error:
            raise self._conversion.refusal(f"column {column.name} numbers the rows: {error}") from None
        return pa.array(made).cast(arrow_type(column.type))

    def drawn(self, n: int, column: Column) -> pa.Array:
        """A sequence's next numbers; a row takes them for its columns one after the other."""
        name = self._conversion.drawn[column.name]
        state = next((state for state in self._conversion.sequences if (state.database, state.name) == name), None)
        if state is None or not state.step:
            raise self._conversion.refusal(f"column {column.name} gets numbers of the sequence {'.'.join(name)}, and "
                                           "it is not known where a replica's stands")
        self.draws = column.name
        self._check_order(self._done + n)
        sharing = [other for other, sequence in self._conversion.drawn.items() if sequence == name]
        steps = np.arange(self._done, self._done + n, dtype=np.int64) * len(sharing) + sharing.index(column.name)
        last = state.next_value + state.step * ((self._done + n) * len(sharing) - 1)
        if not state.minimum <= min(state.next_value, last) <= max(state.next_value, last) <= state.maximum:
            raise self._conversion.refusal(f"column {column.name} gets more numbers than the sequence {'.'.join(name)} "
                                           "has")
        made = numbers_of(pa.array(state.next_value + state.step * steps), constant=False)
        return assigned(made, column.type, self._conversion.session)

    def _first(self, column: Column) -> int:
        """Where the column begins to number the rows, 0 where any table begins."""
        if self._conversion.first_number or not self._conversion.continues_numbers:
            return self._conversion.first_number
        if self._counter is None:
            raise self._conversion.refusal(f"column {column.name} continues the numbers of another column")
        return self._counter if self._counter > 1 else 0

    def _check_order(self, n: int) -> None:
        if self._unordered and n > 1:
            raise self._conversion.refusal("AUTO_INCREMENT numbers the rows in an order that a snapshot does not keep: "
                                           f"they lie {self._unordered}")
