"""Columns that a replica's table has and the log's does not (AP-POS: they are the last ones; DEF-R1a, DEF-R2), and
generated ones that the log's images may lack.

Inserts give them the table's default and updates leave them; but a STORED generated column follows the row, and an
AUTO_INCREMENT one numbers the rows as they come.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.generated_columns import generated_column
from applier.errors import SchemaError
from applier.schema.definition import Column, KeyPart, TableDefinition

KNOWN, UNKNOWN, GIVEN = 1, 2, 3
"""Of a value that a replica computes: the image has one, too, or no image does, or one has it without anything that it
is made of. Then a replica computes it or does not, which depends on other columns and rows of the event (seen on MySQL
9.7): so it has to be the same."""


class ExtraColumns:
    """The columns of a table from number `logged` on."""

    def __init__(self, definition: TableDefinition, logged: int):
        self._definition = definition
        extra = definition.columns[logged:]
        self._generated = [column for column in extra if column.generated == "stored"]
        self._numbered = next((column for column in extra if column.auto_increment), None)

    @property
    def place_in_key(self) -> int | None:
        """Which part of the primary key, from 0 on, is the number that rows get as they come; None where none is.

        Raises SchemaError where each value of what is before it has numbers of its own, as MyISAM has it."""
        key = next((key for key in self._definition.row_keys if key.kind == "primary"), None)
        if self._numbered is None or key is None:
            return None
        number = self._numbered.name
        place = next((place for place, part in enumerate(key.parts) if _is_of(part, number)), None)
        if place and not any(_is_of(other.parts[0], number) for other in self._definition.keys):
            raise SchemaError(f"column {number} numbers the rows of each group by itself, as a later part "
                              "of the primary key", table=self._definition.full_name,
                              hint="leave the table out with --ignore-tables")
        return place

    def numbers(self, base: pa.Table, given: int) -> RowNumbers | None:
        """What numbers the rows that come to those of a base; None where no column asks for it. Numbers below `given`
        have been given before, to rows that may be gone."""
        return None if self._numbered is None else RowNumbers(self._numbered, base, given)

    def computed(self, rows: pa.Table, made: dict[str, np.ndarray]) -> pa.Table:
        """The rows with the log's generated columns as a replica computes them, in the order of the definition: `made`
        says by name where (uint8[n]: 0 not, or KNOWN, UNKNOWN, GIVEN). Raises SchemaError for an expression that is not
        known where there is no other value, and for a value that a replica may keep or not."""
        for name, kinds in made.items():
            chosen = pa.array(kinds > 0)
            try:
                values = self._value(rows.filter(chosen), self._definition.column(name))
            except SchemaError:
                if (kinds == UNKNOWN).any():
                    raise
                continue
            place = rows.schema.get_field_index(name)
            own, values = rows.column(place), values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            completed = pc.replace_with_mask(own, chosen, values)
            if (kinds == GIVEN).any():
                given = pa.array(kinds == GIVEN)
                if not own.filter(given).equals(completed.filter(given)):
                    raise self._ambiguous(name)
            rows = rows.set_column(place, rows.schema.field(place), completed)
        return rows

    def _ambiguous(self, name: str) -> SchemaError:
        column = self._definition.column(name)
        return SchemaError(f"column {name} is generated from ({column.expression}), and an image has another value of "
                           "it and nothing that it is made of: a replica may keep it or not",
                           table=self._definition.full_name, hint="replay logs written with binlog_row_image=FULL, or "
                           "leave the table out with --ignore-tables")

    def generated(self, rows: pa.Table) -> pa.Table:
        """The rows with their generated columns made anew. Raises SchemaError for an expression that is not known."""
        for column in self._generated:
            rows = rows.set_column(rows.schema.get_field_index(column.name), rows.schema.field(column.name),
                                   self._value(rows, column))
        return rows

    def _value(self, rows: pa.Table, column: Column) -> pa.Array | pa.ChunkedArray:
        return generated_column(column, self._definition, rows.column, rows.num_rows)


def _is_of(part: KeyPart, column: str) -> bool:
    return part.column is not None and part.column.casefold() == column.casefold()


class RowNumbers:
    """AUTO_INCREMENT for rows of a log that does not have the column: the next number for each that comes."""

    def __init__(self, column: Column, base: pa.Table, given: int):
        self._name, self._base_rows = column.name, base.num_rows
        highest = pc.max(base.column(column.name)).as_py() if base.num_rows else None
        self._first = max(given, 1 + max(0, int(highest or 0)))

    def after(self, arrivals: int) -> int:
        """The next number when so many rows have come, the base's among them."""
        return self._first + arrivals - int(self._base_rows)

    def number(self, rows: pa.Table, arrivals: np.ndarray) -> pa.Table:
        """The rows with their numbers, given as the how manieth each came (int64[n]), the base's rows first."""
        place = rows.schema.get_field_index(self._name)
        field, own = rows.schema.field(place), rows.column(place)
        numbers = pa.array(self._first + arrivals - self._base_rows).cast(field.type)
        return rows.set_column(place, field, pc.if_else(pa.array(arrivals >= self._base_rows), numbers, own))
