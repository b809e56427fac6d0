"""The values that a replica stores if the log has none: columns that are not in an insert's image (DEF-R1a, DEF-R1b),
and NULLs for columns that cannot be NULL.

A MySQL replica evaluates the column's default, at the event's time. For a column that an image does not have, MariaDB
evaluates only constants: any other default is NULL there, or the implicit default of a NOT NULL column. Both evaluate
all defaults to replace a NULL. (Seen on MySQL 9.7 and MariaDB 10.11.)

Some defaults depend on the time of the event that an image comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from applier.binlog.rows.changes import INSERT, Changes, ImageLayouts
from applier.binlog.rows.image_pointers import addresses_of, layouts_of
from applier.columns.defaults import default_scalar, default_values, is_current_timestamp, is_variable, other_defaults
from applier.errors import NotComputable, SchemaError
from applier.mysql.session import SYSTEM, Session
from applier.mysql.types import arrow_type
from applier.schema.defaults import implicit_scalar
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column

Seconds: TypeAlias = Callable[[], np.ndarray]
"""Returns the time of each row's event, uint32[n] in seconds since 1970."""
Values: TypeAlias = pa.Array | pa.Scalar

_HINT = "leave the table out with --ignore-tables"


class ReplicaDefaults:
    """The defaults of one table, as scalars or arrays of `arrow_type`; `time_zone` is the replica's own."""

    def __init__(self, definition: TableDefinition, time_zone: str = SYSTEM) -> None:
        self._definition, self.time_zone = definition, time_zone
        self._scalars: dict[str, pa.Scalar] = {}

    @cached_property
    def _instants(self) -> frozenset[str]:
        """The names of columns whose default depends on the current time."""
        return frozenset(column.name for column in self._definition.columns if is_current_timestamp(column))

    def timed(self, nullable: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
        """Return the numbers of the columns whose default depends on the event's time if an image does not have them,
        and whether one needs it instead of NULL; `nullable` marks the log's columns that may be NULL."""
        numbers = tuple(c for c, column in enumerate(self._definition.columns) if column.name in self._instants)
        nulls = any(not self._definition.columns[number].nullable and number < len(nullable) and nullable[number]
                    for number in numbers)
        return () if self._definition.flavour == "mariadb" else numbers, nulls

    def left_out(self, column: Column, seconds: Seconds) -> Values:
        """Return the default of a column that images, or the whole log, do not have. Raises SchemaError if it cannot be
        computed."""
        if self._definition.flavour == "mariadb" and (is_variable(column) or column.generated):
            return pa.scalar(None, arrow_type(column.type)) if column.nullable else self._implicit(column)
        return self._at(column, seconds()) if column.name in self._instants else self._scalar(column)

    def instead_of_null(self, column: Column, seconds: Seconds) -> Values | None:
        """Return the replacement of NULLs in images; None if the column may be NULL, and NULL stays. Raises SchemaError
        as `left_out` does, and for a default that depends on other columns, since their values so far would count."""
        if column.nullable:
            return None
        if column.default is None:
            return self._implicit(column)
        if column.name in self._instants:
            return self._at(column, seconds())
        if is_variable(column):
            raise self._error(column, "is NULL in the log and NOT NULL in the table, and its default cannot be "
                                      f"computed: ({column.default.text})")
        return self._scalar(column)

    def _at(self, column: Column, seconds: np.ndarray) -> Values:
        """Return the default at the times of some events: whole seconds, since an event's header has no more, in UTC,
        as a snapshot has TIMESTAMPs (seen on MySQL 9.7 and MariaDB 10.11)."""
        definition = self._definition
        session = Session(definition.flavour, time_zone="+00:00", now_us=seconds.astype(np.int64) * 1_000_000)
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


class EventTimes:
    """Keeps the times of images without a column with such a default; of all images if the time may replace a NULL."""

    def __init__(self, defaults: ReplicaDefaults, nullable: tuple[bool, ...], layouts: ImageLayouts):
        self._columns, self._all = defaults.timed(nullable)
        self._layouts = layouts
        self._lacking = np.zeros(1, np.bool_)  # by layout; the last is that of changes without an after-image
        self._addresses: list[np.ndarray] = []
        self._times: list[np.ndarray] = []
        self._sorted: tuple[np.ndarray, np.ndarray] | None = None

    def remember_times(self, batch: Changes) -> None:
        """Keep the needed times of a batch; its memory may be reused afterwards."""
        if self._all:
            wanted = batch.images >= 0
        elif self._columns and self._lack().any():
            wanted = self._lacking[layouts_of(batch.images)] & (batch.kinds == INSERT)
        else:
            return
        self._sorted = None
        self._addresses.append(addresses_of(batch.images[wanted]))
        self._times.append(batch.times[wanted])

    def _lack(self) -> np.ndarray:
        known = self._layouts.known
        if len(known) >= len(self._lacking):
            lacking = [not set(self._columns).issubset(layout.present) for layout in known[1:]]
            self._lacking = np.array([False, *lacking, False])
        return self._lacking

    def of(self, pointers: np.ndarray) -> np.ndarray:
        """Return the times of images, uint32[n]; arbitrary for images that need none."""
        if self._sorted is None:
            addresses = np.concatenate([np.empty(0, np.int64), *self._addresses])
            order = np.argsort(addresses)
            self._sorted = addresses[order], np.concatenate([np.empty(0, np.uint32), *self._times])[order]
        addresses, times = self._sorted
        if not len(times):
            return np.zeros(len(pointers), np.uint32)
        return times[np.minimum(np.searchsorted(addresses, addresses_of(pointers)), len(times) - 1)]
