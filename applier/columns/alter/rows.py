"""Converts rows from one definition of a table to the next: columns kept, converted, added, dropped and moved.

An added column in existing rows holds its default, else NULL or the type's implicit default (MySQL manual, "ALTER TABLE
Statement"); CURRENT_TIMESTAMP is the statement's time, AUTO_INCREMENT numbers the rows in the given order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.columns.alter.new_numbers import NewNumbers
from applier.columns.alter.partitions import are_in
from applier.columns.alter.versions import which_hold
from applier.columns.defaults import (
    completed,
    default_scalar,
    depends_on_session,
    generated_values,
    is_variable,
    sources,
)
from applier.errors import NotComputable, SchemaError
from applier.mysql.names import folded
from applier.mysql.session import Session
from applier.mysql.type_registry import TYPES, Family, types_of
from applier.mysql.types import MEMBERS, ColumnType, arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.doubles import as_stored
from applier.schema.defaults import implicit_scalar
from applier.schema.definition import TableDefinition, table_schema, without_rows
from applier.schema.history.conversion import RowConversion
from applier.schema.history.effects import computes_anew, moves_timestamps
from applier.schema.history.in_place import computes_the_same, is_in_place
from applier.schema.partitions import PartRows
from applier.schema.table_parts import Column
from applier.sql.casting import invalid_dates, members
from applier.sql.casting.temporals import as_copied
from applier.sql.casting.values import convert_values
from applier.sql.functions.dates.current import current_timestamp
from applier.sql.grammar import has_columns

_Values: TypeAlias = Callable[[str], pa.Array | pa.ChunkedArray]
"""The values of a column by its name."""
_LONG = {name for name, entry in TYPES.items() if entry.prefix} | types_of(Family.GEOMETRY, Family.DOCUMENT)
"""Types without a default if a table is altered in place."""


_ALLOWED_AS_DATES = types_of(Family.DATE, Family.DATETIME, Family.TIME, Family.FLOATING)
"""Types whose values MariaDB makes dates of by ALLOW_INVALID_DATES where it copies them."""


class RowConverter:
    """Converts the rows of a table over one statement, a chunk at a time, in their order."""

    def __init__(self, conversion: RowConversion, unordered: str = "", counter: int | None = None) -> None:
        """`unordered` is the order of the rows, as text, if it is not the order in which the server copied them,
        `counter` the number from which the statement continues numbers, None if that is unknown. `misplaced` gets the
        rows that come to lie in a partition to which they do not belong; `numbers` says which columns got numbers."""
        self._conversion, self.numbers = conversion, NewNumbers(conversion, unordered, counter)
        self.schema = table_schema(conversion.new)
        self.misplaced: list[pa.Table] = []
        self._column_numbers = {column.name: number for number, column in enumerate(conversion.old.stored_columns)}
        self._stored = [(column, source) for column, source in
                        zip(conversion.new.columns, conversion.sources, strict=True) if column.generated != "virtual"]

    def convert(self, rows: pa.Table) -> pa.Table:
        """The rows after the statement. Raises SchemaError if it is unknown what the server makes of them."""
        rows, held = self._without_removed(rows), None
        if self._conversion.old.versioning is not None and self._conversion.new.versioning is None:
            held = which_hold(rows, self._conversion.old.versioning)
            if not (self._conversion.numbers_rows and is_in_place(self._conversion)):
                rows, held = rows.filter(held), None
        if not rows.num_rows:
            return without_rows(self.schema)
        made: dict[str, pa.Array | pa.ChunkedArray] = {}
        added, computed, changed = [], set(), self._with_other_bytes()
        for column, source in self._stored:
            if self._is_computed(column, source):
                computed.add(column.name)
            elif source is None:
                added.append(column)
            else:
                made[column.name] = self._plain(rows, column, source)
                if column.generated is None and self._differs(rows, made[column.name], source):
                    changed.add(folded(column.name))
        anew: dict[str, Column] = {}
        if changed and self._conversion.new.flavour == "mysql" and is_in_place(self._conversion):
            changed.clear()  # so that what is made of them stays
        for column, _ in self._stored:
            if column.generated and (column.name in computed or sources(column, self._conversion.new) & changed
                                     or (changed and self._has_other_literals(column))):
                anew[column.name] = column
                changed.add(folded(column.name))
        kept: dict[str, pa.Array | pa.ChunkedArray] = {}
        if computes_anew(self._conversion):
            kept = {column.name: made[column.name] for column, _ in self._stored
                    if column.generated and column.name not in anew}
            anew |= {column.name: column for column, _ in self._stored if column.name in kept}

        def make(column: Column, values: _Values, n: int) -> pa.Array | pa.ChunkedArray:
            try:
                return self._made(column, values, n)
            except SchemaError:
                if column.name not in kept or depends_on_session(
                        column, self._conversion.new, self._conversion.sql_mode):
                    raise
                return kept[column.name]

        row = _Row(made, {column.name: column for column in added} | anew, make)
        for name in anew:
            made.pop(name, None)
        for column, _ in self._stored:
            row.values(column.name, rows.num_rows)
        self.numbers.advance(rows.num_rows)
        converted = pa.Table.from_arrays([made[column.name] for column, _ in self._stored], schema=self.schema)
        if held is not None:  # in place, rows that do not hold any more are numbered before they are left out
            converted = converted.filter(held)
        return self._without_misplaced(converted)

    def _with_other_bytes(self) -> set[str]:
        """Return the text columns that get another character set, folded: their bytes change."""
        old = self._conversion.old.columns
        return {folded(column.name) for column, source in
                zip(self._conversion.new.columns, self._conversion.sources, strict=True)
                if source is not None and old[source].type.charset != column.type.charset}

    def _has_other_literals(self, column: Column) -> bool:
        """True if a generated column's literals have other bytes after the statement: MariaDB reads them in the table's
        character set."""
        old, new = self._conversion.old, self._conversion.new
        return new.flavour == "mariadb" and old.charset != new.charset and not (column.expression or "").isascii()

    def _without_misplaced(self, rows: pa.Table) -> pa.Table:
        """The rows without those that move into a partition to which they do not belong: a server can be told not to
        check."""
        required = self._conversion.required
        if required is None:
            return rows
        belong = self._are_in(rows, self._conversion.new, required)
        if belong.all():
            return rows
        if not self._conversion.may_misplace:
            raise self._cannot("a row moves into a partition that it does not belong to")
        self.misplaced.append(rows.filter(pa.array(~belong)))
        return rows.filter(pa.array(belong))

    def _without_removed(self, rows: pa.Table) -> pa.Table:
        """The rows without those of partitions that the statement drops or empties."""
        removed = self._conversion.removed
        if removed is None:
            return rows
        return rows.filter(pa.array(~self._are_in(rows, self._conversion.old, removed)))

    def _are_in(self, rows: pa.Table, definition: TableDefinition, part: PartRows) -> np.ndarray:
        try:
            return are_in(rows, definition, part)
        except NotComputable as error:
            raise self._cannot(f"which rows are in these partitions is not known: {error.message}") from None

    def _is_computed(self, column: Column, source: int | None) -> bool:
        """True if a stored generated column is new, or has another expression, or another type in a copied table."""
        if not column.generated:
            return False
        old = self._conversion.old.columns[source] if source is not None else None
        return old is None or old.generated != "stored" or not computes_the_same(old, column, self._conversion) or (
            old.type != column.type and not is_in_place(self._conversion))

    def _differs(self, rows: pa.Table, made: pa.Array | pa.ChunkedArray, source: int | None) -> bool:
        """True if a column's values change; an integer is the same in every size."""
        if source is None:
            return False
        before = rows.column(self._column_numbers[self._conversion.old.columns[source].name])
        if made is before:
            return False
        made, before = (pa.chunked_array([side]) if isinstance(side, pa.Array) else side for side in (made, before))
        if pa.types.is_integer(made.type) and pa.types.is_integer(before.type):
            made, before = made.cast(pa.int64()), before.cast(pa.int64())
        return made.type != before.type or not made.equals(before)

    def _plain(self, rows: pa.Table, column: Column, source: int) -> pa.Array | pa.ChunkedArray:
        old = self._conversion.old.columns[source]
        if old.generated == "virtual":
            raise self._cannot(f"column {column.name} was VIRTUAL, so its values are not stored")
        values = made = rows.column(self._column_numbers[old.name])
        try:
            if moves_timestamps(self._conversion) and old.type.base == column.type.base == "timestamp":
                values = made = pa.chunked_array([as_copied(values.combine_chunks(), self._conversion.session)])
            if self._keeps_numbers(old.type, column.type):
                made = members.renamed(values.combine_chunks(), old.type, column.type)
            elif old.type.base == column.type.base and old.type.members and old.type.charset != column.type.charset:
                made = members.copied(values.combine_chunks(), old.type, column.type, self._conversion.session)
            elif old.type.compressed and column.type.base == "decimal":
                made = pc.if_else(values.is_null(), None, implicit_scalar(column.type, "mariadb"))  # whatever they are
            elif old.type != column.type and not self._keeps_bytes(old.type, column.type):
                read = values.combine_chunks()
                read = as_stored(read, old.type) if old.type.base == "double" else read
                made = convert_values(read, old.type, column.type, self._copying(old, column))
            elif old.type != column.type and old.type.base == "double":
                made = as_stored(values.combine_chunks(), old.type)
            elif column.type.base in ("float", "double") and column.type.scale is not None and \
                    self._conversion.new.flavour == "mariadb" and not is_in_place(self._conversion):
                # What an ALTER in place left, with more digits or too large, gets the type's digits.
                made = convert_values(values.combine_chunks(), column.type, column.type, self._conversion.session)
            elif zero_dates.has_any(values):
                made = self._dates(values.combine_chunks(), column)
        except NotComputable as error:
            raise self._cannot(f"column {column.name}, {old.type.sql()}, becomes {column.type.sql()}: "
                               f"{error.message}") from None
        if old.nullable and not column.nullable and values.null_count:
            made = pc.if_else(values.is_null(), self._instead_of_null(column, old), made)
        if not column.nullable and made.null_count:  # of values that an INET6, or such, does not take
            made = pc.fill_null(made, implicit_scalar(column.type, self._conversion.new.flavour))
        if self._conversion.begins_to_number(column, source):
            asks = np.asarray(values.is_null())
            if not self._conversion.keeps_zeros:
                asks |= np.asarray(pc.equal(made, pa.scalar(0, made.type)).fill_null(False))
            made = self.numbers.filled(made, asks, column) if asks.any() else made
        return made

    def _keeps_bytes(self, old: ColumnType, new: ColumnType) -> bool:
        """True if floating-point numbers are not rounded to the digits of their new type."""
        return old.base == new.base and old.base in ("float", "double") and is_in_place(self._conversion)

    def _keeps_numbers(self, old: ColumnType, new: ColumnType) -> bool:
        """True if an ENUM's or a SET's members keep their numbers, and labels may not be what they were."""
        return old.members != new.members and old.base == new.base and is_in_place(self._conversion)

    def _copying(self, old: Column, new: Column) -> Session:
        """The session in which a column's values are converted: for MariaDB ALLOW_INVALID_DATES applies only to dates
        and to numbers that are not exact. A CHAR that becomes BINARY in place keeps InnoDB's spaces."""
        session = self._conversion.session
        if old.type.base == "char" and new.type.base in MEMBERS and self._conversion.new.charset == "binary" and \
                "PAD_CHAR_TO_FULL_LENGTH" in session.sql_mode and self._conversion.old.charset != "binary":
            raise self._cannot("members out of text with its spaces, in a table that becomes binary")
        if (old.type.base, new.type.base) == ("char", "binary") and is_in_place(self._conversion):
            return replace(session, sql_mode=f"{session.sql_mode},PAD_CHAR_TO_FULL_LENGTH")
        if session.flavour == "mysql" or old.type.base in _ALLOWED_AS_DATES:
            return session
        return replace(session, sql_mode=session.sql_mode.replace("ALLOW_INVALID_DATES", ""))

    def _dates(self, values: pa.Array, column: Column) -> pa.Array:
        """Dates in a column that keeps its type: a server that copies the rows makes '0000-00-00' of those that the
        sql_mode does not allow."""
        copied = invalid_dates.copied(values, column.type, self._conversion.session)
        if copied.equals(values):
            return values
        return values if is_in_place(self._conversion) else copied

    def _instead_of_null(self, column: Column, source: Column) -> pa.Scalar:
        """The values of a column that becomes NOT NULL: NULLs become zero, empty, or no member; in a TIMESTAMP the
        statement's time. If MariaDB alters the table in place, they become the column's previous default, if that was
        the same for every row."""
        conversion, flavour = self._conversion, self._conversion.new.flavour
        if column.type.base == "timestamp":
            return self._now(column)
        nothing = pa.scalar("", pa.string()) if column.type.base == "enum" else implicit_scalar(column.type, flavour)
        if flavour == "mysql" or source.default is None or source.default.kind == "null" or is_variable(source) or \
                column.type.base in _LONG:
            return nothing
        if not is_in_place(conversion):
            return nothing
        return default_scalar(replace(column, default=source.default), conversion.new)

    def _made(self, column: Column, values: _Values, n: int) -> pa.Array:
        """A column that the statement adds or computes again from the other columns."""
        if not column.generated:
            return self._added(n, column, values)
        try:
            return generated_values(column, self._conversion.new, values, n, self._conversion.session)
        except NotComputable as error:
            raise self._cannot(f"column {column.name} is generated from ({column.expression}), which cannot be "
                               f"computed: {error.message}") from None

    def _added(self, n: int, column: Column, values: _Values) -> pa.Array:
        if column.auto_increment:
            return self.numbers.added(n, column)
        if column.name in self._conversion.drawn:
            return self.numbers.drawn(n, column)
        if (versioning := self._conversion.new.versioning) is not None and versioning.has(column.name):
            starts = folded(column.name) == folded(versioning.row_start)
            time = self._conversion.timestamp_us if starts else self._conversion.end_of_time
            return pa.repeat(pa.scalar(time, pa.int64()).cast(arrow_type(column.type)), n)
        try:
            return completed(column, self._conversion.new, values, n, self._session_of_default(column))
        except NotComputable as error:
            raise self._cannot(f"column {column.name} is added, and its default cannot be computed: "
                               f"{error.message}") from None

    def _session_of_default(self, column: Column) -> Session:
        """The session in which an added column's default is computed: a MariaDB that copies the rows computes a
        constant one before it opens the new table, but for one of a TEXT or BLOB."""
        conversion, default = self._conversion, column.default
        is_once = conversion.new.flavour == "mariadb" and default is not None and default.kind == "expression" \
            and not column.type.entry.prefix and not has_columns(default.text) and not is_in_place(conversion)
        return replace(conversion.session, made_in=conversion.connection) if is_once else conversion.session

    def _now(self, column: Column) -> pa.Scalar:
        return current_timestamp(column.type.fsp, self._conversion.session).values[0]

    def _cannot(self, what: str) -> SchemaError:
        return self._conversion.refusal(what)


class _Row:
    """The columns of some rows: those of `made` exist, those of `missing` are computed on demand, since one may depend
    on another."""

    def __init__(self, made: dict[str, pa.Array | pa.ChunkedArray], missing: dict[str, Column],
                 make: Callable[[Column, _Values, int], pa.Array | pa.ChunkedArray]) -> None:
        self._made, self._missing, self._make = made, missing, make
        self._busy: set[str] = set()

    def values(self, name: str, n: int) -> pa.Array | pa.ChunkedArray:
        """The values of a column. Raises KeyError for one that is not stored, NotComputable for one that depends on
        itself."""
        if name not in self._made:
            column = self._missing[name]
            if name in self._busy:
                raise NotComputable(f"column {name} depends on itself")
            self._busy.add(name)
            self._made[name] = self._make(column, lambda other: self.values(other, n), n)
        return self._made[name]
