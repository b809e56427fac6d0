"""Columns that only a replica's table has (AP-POS: they are the last ones; DEF-R1a, DEF-R2), and
generated columns that may be missing in the log's images.

Inserts give them the table's default, and updates leave them alone; but a STORED generated column follows the row, and
AUTO_INCREMENT numbers the rows in the order of insertion.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.generated_columns import computed_by_replica
from applier.columns.image_values import replaced
from applier.errors import SchemaError
from applier.mysql.names import folded
from applier.mysql.session import SYSTEM
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column, KeyPart

KNOWN, UNKNOWN, GIVEN = 1, 2, 3
"""How an image has a value that a replica computes: the image has it, too; no image has it; or an image has it without
any column that it depends on. In the last case a replica computes it or keeps it, depending on other columns and rows
of the event (seen on MySQL 9.7), so both must be equal."""


class ExtraColumns:
    """The columns of a table from number `logged` on."""

    def __init__(self, definition: TableDefinition, logged: int, time_zone: str = SYSTEM):
        self._definition, self._time_zone = definition, time_zone
        extra = definition.columns[logged:]
        self._generated = [column for column in extra if column.generated == "stored"]
        self._numbered = next((column for column in extra if column.auto_increment), None)

    @property
    def number_in_key(self) -> int | None:
        """The 0-based part of the primary key that numbers inserted rows; None if there is none.

        Raises SchemaError if each value of the preceding parts has numbers of its own, as in MyISAM.
        """
        key = next((key for key in self._definition.row_keys if key.kind == "primary"), None)
        if self._numbered is None or key is None:
            return None
        number = self._numbered.name
        at = next((at for at, part in enumerate(key.parts) if _is_of(part, number)), None)
        if at and not any(_is_of(other.parts[0], number) for other in self._definition.keys):
            raise SchemaError(f"column {number} numbers the rows of each group by itself, as a later part "
                              "of the primary key", table=self._definition.full_name,
                              hint="leave the table out with --ignore-tables")
        return at

    @property
    def changes_rows(self) -> bool:
        """True if rows get values that depend on other rows, or on more than the changed values."""
        return self._numbered is not None or bool(self._generated)

    def numbers(self, base: pa.Table, given: int) -> RowNumbers | None:
        """Return the numbering of rows that are added to a base's; None if no column needs it. Numbers below `given`
        are used up, even if their rows were deleted."""
        return None if self._numbered is None else RowNumbers(self._numbered, base, given)

    def computed(self, rows: pa.Table, made: dict[str, np.ndarray]) -> pa.Table:
        """Return the rows with the log's generated columns as a replica computes them, in the order of the definition:
        `made` says by name where (uint8[n]: 0 not, or KNOWN, UNKNOWN, GIVEN). Raises SchemaError for an unknown
        expression if there is no other value, and for a value that a replica may keep or not."""
        for name, kinds in made.items():
            chosen = pa.array(kinds > 0)
            try:
                values = self._value(rows.filter(chosen), self._definition.column(name))
            except SchemaError:
                if (kinds == UNKNOWN).any():
                    raise
                continue
            number = rows.schema.get_field_index(name)
            own = rows.column(number)
            values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            completed = replaced(own, kinds > 0, values)
            if (kinds == GIVEN).any():
                given = pa.array(kinds == GIVEN)
                if not own.filter(given).equals(completed.filter(given)):
                    raise self._ambiguous(name)
            rows = rows.set_column(number, rows.schema.field(number), completed)
        return rows

    def _ambiguous(self, name: str) -> SchemaError:
        column = self._definition.column(name)
        return SchemaError(f"column {name} is generated from ({column.expression}), and an image changes it without "
                           "the columns that it depends on: a replica's value of it cannot be determined",
                           table=self._definition.full_name, hint="replay logs written with binlog_row_image=FULL, or "
                           "leave the table out with --ignore-tables")

    def generated(self, rows: pa.Table) -> pa.Table:
        """Return the rows with their generated columns computed again. Raises SchemaError for an unknown expression."""
        for column in self._generated:
            rows = rows.set_column(rows.schema.get_field_index(column.name), rows.schema.field(column.name),
                                   self._value(rows, column))
        return rows

    def _value(self, rows: pa.Table, column: Column) -> pa.Array | pa.ChunkedArray:
        return computed_by_replica(column, self._definition, rows.column, rows.num_rows, self._time_zone)


def _is_of(part: KeyPart, column: str) -> bool:
    return part.column is not None and folded(part.column) == folded(column)


class RowNumbers:
    """AUTO_INCREMENT for rows of a log that does not have the column: each inserted row gets the next number."""

    def __init__(self, column: Column, base: pa.Table, given: int):
        self._name, self._base_rows = column.name, base.num_rows
        highest = pc.max(base.column(column.name)).as_py() if base.num_rows else None
        self._first = max(given, 1 + max(0, int(highest or 0)))

    def after(self, arrivals: int) -> int:
        """Return the next number after this many rows, the base's included."""
        return self._first + arrivals - int(self._base_rows)

    def number(self, rows: pa.Table, arrivals: np.ndarray) -> pa.Table:
        """Return the rows with their numbers. `arrivals[i]` is row i's 0-based arrival number (int64[n]); the base's
        rows come first."""
        number = rows.schema.get_field_index(self._name)
        field, own = rows.schema.field(number), rows.column(number)
        numbers = pa.array(self._first + arrivals - self._base_rows).cast(field.type)
        return rows.set_column(number, field, pc.if_else(pa.array(arrivals >= self._base_rows), numbers, own))
