"""Rows of one definition of a table as rows of the next one: columns kept, converted, added, dropped and moved.

What an added column holds in rows that are there: its default, else NULL or the type's implicit default (MySQL manual,
"ALTER TABLE Statement"); CURRENT_TIMESTAMP is the statement's time, AUTO_INCREMENT numbers the rows as they are given.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.rows import table_schema
from applier.conversion.generated import generated_values
from applier.conversion.partitions import partition_numbers, subpartition_numbers
from applier.conversion.values import convert_values
from applier.conversion.versions import rows_that_hold
from applier.errors import NotComputable, SchemaError
from applier.schema.conversion import RowConversion
from applier.schema.defaults import default_scalar, implicit_scalar
from applier.schema.definition import Column, TableDefinition
from applier.schema.partitions import PartRows
from applier.schema.tokens import tokenize
from applier.schema.types import arrow_type

_SAYS_HOW = re.compile(r"\b(ALGORITHM|ORDER\s+BY|IGNORE)\b", re.IGNORECASE)
"""Words with which MariaDB may copy a table that it would have altered in place."""


class RowConverter:
    """Converts the rows of a table over one statement, a chunk at a time, in their order."""

    def __init__(self, conversion: RowConversion):
        self._conversion = conversion
        self.schema = table_schema(conversion.new)
        self._places = {column.name: place for place, column in enumerate(conversion.old.stored_columns)}
        self._done = 0
        self._stored = [(column, source) for column, source in
                        zip(conversion.new.columns, conversion.sources, strict=True) if column.generated != "virtual"]

    def convert(self, rows: pa.Table) -> pa.Table:
        """The rows after the statement. Raises SchemaError for what cannot be computed as the server does it."""
        if self._conversion.removed is not None:
            rows = self._without_removed(rows)
        if self._conversion.old.versioning is not None and self._conversion.new.versioning is None:
            rows = rows_that_hold(rows, self._conversion.old.versioning)
        if not rows.num_rows:
            return self.schema.empty_table()
        made: dict[str, pa.Array | pa.ChunkedArray] = {}
        computed, changed = set(), set()
        for column, source in self._stored:
            if self._is_computed(column, source):
                computed.add(column.name)
            else:
                made[column.name] = self._plain(rows, column, source)
                if column.generated is None and self._differs(rows, made[column.name], source):
                    changed.add(column.name.casefold())
        for column, _ in self._stored:  # in their order: one may be made of another
            if column.generated and (column.name in computed or self._names(column) & changed):
                made[column.name] = self._computed(made, column, rows.num_rows)
                changed.add(column.name.casefold())
        self._done += rows.num_rows
        converted = pa.Table.from_arrays([made[column.name] for column, _ in self._stored], schema=self.schema)
        self._check_required(converted)
        return converted

    def _check_required(self, rows: pa.Table) -> None:
        """Rows that come into a partition must be of it: a server can be told not to look."""
        required = self._conversion.required
        if required is None:
            return
        numbers = self._partitions_of(rows, self._conversion.new, required)
        if not np.isin(numbers, required.numbers).all():
            raise self._cannot("a row comes into a partition that is not for it")

    def _without_removed(self, rows: pa.Table) -> pa.Table:
        """The rows but those of partitions that the statement drops or empties."""
        removed = self._conversion.removed
        numbers = self._partitions_of(rows, self._conversion.old, removed)
        return rows.filter(pa.array(np.isin(numbers, removed.numbers) != removed.inside))

    def _partitions_of(self, rows: pa.Table, definition: TableDefinition, part: PartRows) -> np.ndarray:
        numbers = subpartition_numbers if part.of_subpartitions else partition_numbers
        try:
            return numbers(rows, definition, part.partitioning)
        except NotComputable as error:
            raise self._cannot(f"which rows are in these partitions is not known: {error.message}") from None

    def _is_computed(self, column: Column, source: int | None) -> bool:
        """Whether a stored generated column is new, or has another expression or type."""
        if not column.generated:
            return False
        old = self._conversion.old.columns[source] if source is not None else None
        return old is None or (old.generated, old.expression, old.type) != ("stored", column.expression, column.type)

    def _names(self, column: Column) -> set[str]:
        """The words in a generated column's expression, and in those of the VIRTUAL columns that it names."""
        words: set[str] = set()
        more = [column.expression or ""]
        while more:
            found = {token.text.casefold() for token in tokenize(more.pop()) if token.kind in ("word", "name")} - words
            words |= found
            more += [other.expression or "" for other in self._conversion.new.columns
                     if other.generated == "virtual" and other.name.casefold() in found]
        return words

    def _differs(self, rows: pa.Table, made: pa.Array | pa.ChunkedArray, source: int | None) -> bool:
        """Whether a column's values are other ones now; an integer is the same in every size."""
        if source is None or made is (before := rows.column(self._places[self._conversion.old.columns[source].name])):
            return False
        made, before = (pa.chunked_array([side]) if isinstance(side, pa.Array) else side for side in (made, before))
        if pa.types.is_integer(made.type) and pa.types.is_integer(before.type):
            made, before = made.cast(pa.int64()), before.cast(pa.int64())
        return made.type != before.type or not made.equals(before)

    def _plain(self, rows: pa.Table, column: Column, source: int | None) -> pa.Array | pa.ChunkedArray:
        if source is None:
            return self._added(rows.num_rows, column)
        old = self._conversion.old.columns[source]
        if old.generated == "virtual":
            raise self._cannot(f"column {column.name} was VIRTUAL, and its values are not kept")
        values = made = rows.column(self._places[old.name])
        try:
            if old.type != column.type:
                made = convert_values(values.combine_chunks(), old.type, column.type, self._conversion)
        except NotComputable as error:
            raise self._cannot(f"column {column.name}, {old.type.sql()}, becomes {column.type.sql()}: "
                               f"{error.message}") from None
        if old.nullable and not column.nullable and values.null_count:
            made = pc.if_else(values.is_null(), self._instead_of_null(column), made)
        return made

    def _instead_of_null(self, column: Column) -> pa.Scalar:
        """What a column that may not be NULL any longer has instead: zero, nothing, no member; a TIMESTAMP the
        statement's time. MariaDB takes the default where it alters the table in place, without a copy."""
        if self._conversion.new.flavour == "mariadb" and column.default is not None:
            conversion = self._conversion
            copies = any(source is not None and conversion.old.columns[source].type != new.type
                         for source, new in zip(conversion.sources, conversion.new.columns, strict=True))
            if copies or column.default.kind == "now" or _SAYS_HOW.search(conversion.sql):
                raise self._cannot(f"column {column.name} may not be NULL any longer, and whether it becomes its "
                                   "default depends on how the server altered the table")
            return default_scalar(column, conversion.new)
        if column.type.base == "timestamp":
            return self._now(column)
        if column.type.base == "enum":
            return pa.scalar("", pa.string())
        return implicit_scalar(column.type, self._conversion.new.flavour)

    def _computed(self, made: dict[str, pa.Array | pa.ChunkedArray], column: Column, n: int) -> pa.Array:
        try:
            return generated_values(column, self._conversion.new, made.__getitem__, n, self._conversion)
        except NotComputable as error:
            raise self._cannot(f"column {column.name} is generated from ({column.expression}), which cannot be "
                               f"computed: {error.message}") from None

    def _added(self, n: int, column: Column) -> pa.Array:
        if column.auto_increment:
            return self._numbers(n, column)
        if (versioning := self._conversion.new.versioning) is not None and versioning.has(column.name):
            starts = column.name.casefold() == versioning.row_start.casefold()
            time = self._conversion.moment if starts else self._conversion.end_of_time
            return pa.repeat(pa.scalar(time, pa.int64()).cast(arrow_type(column.type)), n)
        if column.default is not None and column.default.kind == "now":
            return pa.repeat(self._now(column), n)
        try:
            value = default_scalar(column, self._conversion.new)
        except SchemaError as error:
            raise self._cannot(error.message) from None
        return pa.repeat(value, n)

    def _numbers(self, n: int, column: Column) -> pa.Array:
        if any(other.auto_increment for other in self._conversion.old.columns):
            raise self._cannot(f"column {column.name} goes on with the numbers of another column")
        if self._conversion.numbering != (1, 1):  # it begins elsewhere as the server alters in place or copies
            raise self._cannot(f"column {column.name} numbers the rows with auto_increment_increment and _offset "
                               f"{self._conversion.numbering}")
        first = self._conversion.first_number + self._done
        return pa.array(np.arange(first, first + n)).cast(arrow_type(column.type))

    def _now(self, column: Column) -> pa.Scalar:
        moment, unit = self._conversion.moment, 10**(6 - column.type.fsp)
        if column.type.base != "timestamp":
            moment = self._conversion.in_zone(moment)
            if moment is None:
                raise self._cannot(f"column {column.name} gets the time in the server's own zone, which "
                                   "--system-time-zone can tell")
        return pa.scalar(moment // unit * unit, pa.int64()).cast(arrow_type(column.type))

    def _cannot(self, what: str) -> SchemaError:
        return self._conversion.refusal(what)
