"""The type of BIGINT UNSIGNED in files of a snapshot, as `--unsigned-bigint` requests it.

    decimal   decimal128(20, 0), as everywhere in the program: exact, and supported by every reader
    long      int64; a value from 2**63 on stops the run
    uint64    uint64: exact; Spark and other readers without unsigned integers read it in different ways

Only files differ: rows are converted when they are written, and back when they are read
(applier.snapshot.files.stored_columns).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import ReplayStopped, UsageError
from applier.mysql.types import ColumnType
from applier.schema.definition import TableDefinition
from applier.snapshot import AS_DECIMAL, UNSIGNED_BIGINTS

OPTION = "unsigned_bigint"
"""Its name in a manifest's options, where it is not "decimal"."""
_, AS_LONG, AS_UINT64 = UNSIGNED_BIGINTS
EXACT = pa.decimal128(20, 0)
STORED = {AS_DECIMAL: EXACT, AS_LONG: pa.int64(), AS_UINT64: pa.uint64()}
_RANGES = {AS_LONG: (-2**63, 2**63 - 1), AS_UINT64: (0, 2**64 - 1)}
_POSITION = {"file": "file", "position": "pos", "row": "row", "gtid": "gtid"}
"""The columns of a change feed that an error's position is taken from."""


@dataclass(frozen=True)
class UnsignedBigints:
    """The columns of a table ("db.table") that are BIGINT UNSIGNED, and its key."""

    table: str
    names: tuple[str, ...]
    key: tuple[str, ...] = ()

    def stored_schema(self, schema: pa.Schema, choice: str) -> pa.Schema:
        """Return the schema of files, given that of rows."""
        return pa.schema([field.with_type(STORED[choice]) if field.name in self.names else field for field in schema])

    def as_stored(self, rows: pa.Table, choice: str) -> pa.Table:
        """Convert rows to the form in files. Raises ReplayStopped for a value that does not fit; for changes, the error
        has their positions in the log."""
        if choice == AS_DECIMAL:
            return rows
        for name in self.names:
            number = rows.schema.get_field_index(name)
            self._check(rows, name, choice)
            rows = rows.set_column(number, rows.schema.field(number).with_type(STORED[choice]),
                                   rows.column(number).cast(STORED[choice]))
        return rows

    def _check(self, rows: pa.Table, name: str, choice: str) -> None:
        low, high = _RANGES[choice]
        least, most = pc.min_max(rows.column(name)).as_py().values()
        if most is None or (low <= least and most <= high):
            return
        beyond = pc.greater(rows.column(name), pa.scalar(high, EXACT)) if most > high else \
            pc.less(rows.column(name), pa.scalar(low, EXACT))  # of an earlier definition
        row = pc.index(beyond, True).as_py()
        key = ", ".join(f"{column} = {rows.column(column)[row]}" for column in self.key)
        position = {name: rows.column(f"_{short}")[row].as_py() for name, short in _POSITION.items()
                 if f"_{short}" in rows.column_names}
        raise ReplayStopped(f"the value {rows.column(name)[row]} of column {name} does not fit into "
                            f"{'a signed' if choice == AS_LONG else 'an unsigned'} BIGINT",
                            table=self.table, key=key or None, **position, hint="choose --unsigned-bigint "
                            f"{'uint64, or ' if choice == AS_LONG else ''}decimal, which every reader has")


NONE = UnsignedBigints("", ())


def unsigned_bigints(definition: TableDefinition, key: tuple[str, ...] = ()) -> UnsignedBigints:
    """Return those of a table. Errors name its rows by `key`."""
    return UnsignedBigints(definition.full_name, tuple(
        column.name for column in definition.stored_columns if is_unsigned_bigint(column.type)), key)


def is_unsigned_bigint(kind: ColumnType) -> bool:
    """Return whether a column's type is BIGINT UNSIGNED: BIT(64) and DECIMAL(20) have the same Arrow type."""
    return kind.base == "bigint" and kind.unsigned


def choice_onto(base: Mapping[str, Any], wanted: str | None) -> str:
    """Return the type that a replay onto a base with these options writes: all files of a snapshot have one type.
    Raises UsageError if another one is wanted."""
    known: str = base.get(OPTION, AS_DECIMAL)
    if wanted not in (None, known):
        raise UsageError(f"the base has BIGINT UNSIGNED as {known}, not as {wanted}, and a snapshot uses one type for "
                         "it",
                         hint=f"leave --unsigned-bigint out, or replay or import the base again with {wanted}")
    return known
