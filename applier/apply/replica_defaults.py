"""What a replica gives a row where the log has no value: columns that an insert's image lacks (DEF-R1a, DEF-R1b), and
NULLs for columns that cannot be NULL.

A MySQL replica evaluates the column's default, with the event's time as the current one. MariaDB evaluates constants
only where an image lacks the column: any other default is NULL there, or what a NOT NULL column without a default has.
Instead of a NULL both evaluate all. (Seen on MySQL 9.7 and MariaDB 10.11.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa

from applier.errors import SchemaError
from applier.schema.defaults import default_scalar, implicit_scalar
from applier.schema.definition import Column, TableDefinition
from applier.schema.moments import Moment, moment_of, varies
from applier.schema.types import arrow_type

Seconds = Callable[[], np.ndarray]
"""Asked for the time of each row's event, uint32[n] in seconds since 1970."""
Values = pa.Array | pa.Scalar

_HINT = "leave the table out with --ignore-tables"


class ReplicaDefaults:
    """The defaults of one table. Values are of `arrow_type`."""

    def __init__(self, definition: TableDefinition):
        self._definition = definition
        self._scalars: dict[str, pa.Scalar] = {}

    @cached_property
    def _moments(self) -> dict[str, Moment]:
        """By the names of the columns whose default is one."""
        found = {column.name: moment_of(column.default) for column in self._definition.columns
                 if column.default is not None and not column.generated}
        return {name: moment for name, moment in found.items() if moment is not None}

    def timed(self, nullable: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
        """Numbers of the columns whose default is made of the event's time when they are left out, and whether that of
        one is where it is NULL; `nullable` says which columns of the log may be."""
        numbers = tuple(c for c, column in enumerate(self._definition.columns) if column.name in self._moments)
        nulls = any(not self._definition.columns[number].nullable and number < len(nullable) and nullable[number]
                    for number in numbers)
        return () if self._definition.flavour == "mariadb" else numbers, nulls

    def left_out(self, column: Column, seconds: Seconds) -> Values:
        """For a column that images lack, or the log. Raises SchemaError where it cannot be computed."""
        moment = self._moments.get(column.name)
        if self._definition.flavour == "mariadb" and (moment is not None or _is_variable(column)):
            return pa.scalar(None, arrow_type(column.type)) if column.nullable else self._implicit(column)
        return self._scalar(column) if moment is None else self._at(moment, column, seconds())

    def instead_of_null(self, column: Column, seconds: Seconds) -> Values | None:
        """For NULLs in images; None where the column may be NULL, and NULL stays. Raises SchemaError as `left_out`, and
        for a default that is made of other columns: there it depends on their values in the row so far."""
        if column.nullable:
            return None
        if column.default is None:
            return self._implicit(column)
        if (moment := self._moments.get(column.name)) is not None:
            return self._at(moment, column, seconds())
        if _is_variable(column):
            raise self._error(column, "is NULL in the log and NOT NULL in the table, and its default is none that can "
                                      f"be computed: ({column.default.text})")
        return self._scalar(column)

    def _at(self, moment: Moment, column: Column, seconds: np.ndarray) -> pa.Array:
        try:
            return moment.values(seconds, column.type)
        except (ValueError, pa.ArrowException) as error:
            raise self._error(column, f"has a default that cannot be computed: {error}") from None

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


def _is_variable(column: Column) -> bool:
    """Whether a default that is no `Moment` has other values in other rows or at other times."""
    return column.default is not None and column.default.kind == "expression" and varies(column.default.text)
