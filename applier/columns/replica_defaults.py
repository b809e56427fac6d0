"""What a replica gives a row where the log has no value: columns that an insert's image lacks (DEF-R1a, DEF-R1b), and
NULLs for columns that cannot be NULL.

A MySQL replica evaluates the column's default, with the event's time as the current one. MariaDB evaluates constants
only where an image lacks the column: any other default is NULL there, or what a NOT NULL column without a default has.
Instead of a NULL both evaluate all. (Seen on MySQL 9.7 and MariaDB 10.11.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from applier.columns.defaults import default_scalar, default_values, is_moment, is_variable, other_defaults
from applier.errors import NotComputable, SchemaError
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.schema.defaults import implicit_scalar
from applier.schema.definition import Column, TableDefinition

Seconds: TypeAlias = Callable[[], np.ndarray]
"""Asked for the time of each row's event, uint32[n] in seconds since 1970."""
Values: TypeAlias = pa.Array | pa.Scalar

_HINT = "leave the table out with --ignore-tables"


class ReplicaDefaults:
    """The defaults of one table. Values are of `arrow_type`."""

    def __init__(self, definition: TableDefinition) -> None:
        self._definition = definition
        self._scalars: dict[str, pa.Scalar] = {}

    @cached_property
    def _moments(self) -> frozenset[str]:
        """The names of the columns whose default is made of the current time."""
        return frozenset(column.name for column in self._definition.columns if is_moment(column))

    def timed(self, nullable: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
        """Numbers of the columns whose default is made of the event's time when they are left out, and whether that of
        one is where it is NULL; `nullable` says which columns of the log may be."""
        numbers = tuple(c for c, column in enumerate(self._definition.columns) if column.name in self._moments)
        nulls = any(not self._definition.columns[number].nullable and number < len(nullable) and nullable[number]
                    for number in numbers)
        return () if self._definition.flavour == "mariadb" else numbers, nulls

    def left_out(self, column: Column, seconds: Seconds) -> Values:
        """For a column that images lack, or the log. Raises SchemaError where it cannot be computed."""
        if self._definition.flavour == "mariadb" and (is_variable(column) or column.generated):
            return pa.scalar(None, arrow_type(column.type)) if column.nullable else self._implicit(column)
        return self._at(column, seconds()) if column.name in self._moments else self._scalar(column)

    def instead_of_null(self, column: Column, seconds: Seconds) -> Values | None:
        """For NULLs in images; None where the column may be NULL, and NULL stays. Raises SchemaError as `left_out`, and
        for a default that is made of other columns: there it depends on their values in the row so far."""
        if column.nullable:
            return None
        if column.default is None:
            return self._implicit(column)
        if column.name in self._moments:
            return self._at(column, seconds())
        if is_variable(column):
            raise self._error(column, "is NULL in the log and NOT NULL in the table, and its default is none that can "
                                      f"be computed: ({column.default.text})")
        return self._scalar(column)

    def _at(self, column: Column, seconds: np.ndarray) -> Values:
        """The default at the times of some events: their whole seconds, since the header of an event has no more, in
        UTC, in which a snapshot has TIMESTAMPs (seen on MySQL 9.7 and MariaDB 10.11)."""
        definition = self._definition
        session = Session(definition.flavour, time_zone="+00:00", moments=seconds.astype(np.int64) * 1_000_000)
        if not len(seconds):
            return pa.nulls(0, arrow_type(column.type))
        try:
            values = default_values(column, definition, other_defaults(column, definition), len(seconds), session)
        except NotComputable as error:
            raise self._error(column, f"has a default that cannot be computed: {error.message}") from None
        return values if len(values) == len(seconds) else values[0]

    def _scalar(self, column: Column) -> pa.Scalar:
        if column.name not in self._scalars:
            scalar = default_scalar(column, self._definition)
            # of NULLs, an expression may make one for a column that cannot be NULL
            self._scalars[column.name] = scalar if scalar.is_valid or column.nullable else self._implicit(column)
        return self._scalars[column.name]

    def _implicit(self, column: Column) -> pa.Scalar:
        return implicit_scalar(column.type, self._definition.flavour)

    def _error(self, column: Column, what: str) -> SchemaError:
        return SchemaError(f"column {column.name} {what}", table=self._definition.full_name, hint=_HINT)
