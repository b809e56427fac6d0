"""Partitions of a table: each of its files has rows with one value of a transform of a column.

The transforms are Iceberg's, by pyiceberg: identity, year, month, day, hour, bucket[N], truncate[W]. They are of values
as readers of files see them: an invalid date is null. A file has its value in its own metadata, so that it goes where
the file goes:

    applier.partition_value    {"transform": "month", "value": hexadecimal digits of Iceberg's binary form; or null}

A range of keys with several values has a file for each (file_entries.divided_range).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from applier.errors import SnapshotError, UsageError, need
from applier.mysql.names import folded

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.types import PrimitiveType

    from applier.schema.definition import TableDefinition

KEY = b"applier.partition_value"
MOST = 200
"""The most partitions of a range of keys: each is a file, which is open while the range is written."""
_TEXT = re.compile(r"(?P<transform>identity|year|month|day|hour|(?:bucket|truncate)\[[1-9][0-9]{0,8}\])"
                   r"\((?P<column>[^\0]+)\)")
_WRITTEN = "write DB.TABLE=TRANSFORM(COLUMN); the transforms are identity, year, month, day, hour, bucket[N], " \
    "truncate[W]"
_HOUR = 3_600_000_000
_FIELD_ID = {b"PARQUET:field_id": b"1"}


@dataclass(frozen=True)
class Partition:
    """A transform, and the column of which it is."""

    transform: str
    column: str

    @classmethod
    def parse(cls, text: str) -> Partition:
        """Parse TRANSFORM(COLUMN). Raises UsageError."""
        found = _TEXT.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"{text!r} is not a transform of a column", hint=_WRITTEN)
        return cls(found["transform"], found["column"].strip().strip("`"))

    def __str__(self) -> str:
        return f"{self.transform}({self.column})"

    def of(self, definition: TableDefinition, unsigned_bigint: str, *, has_key: bool) -> Partition:
        """Return the same with the column's name as the table has it, where files have this type for BIGINT UNSIGNED.
        Raises UsageError if the table cannot be divided by it."""
        from applier.schema.definition import table_schema
        from applier.snapshot.files.stored_columns import StoredColumns

        names = [column.name for column in definition.stored_columns if folded(column.name) == folded(self.column)]
        if not has_key or definition.versioning is not None:
            raise self._wrong(definition, "needs a table with a key by which files are sorted, and without system "
                                          "versioning")
        if not names:
            raise self._wrong(definition, "is of a column that the table does not store")
        stored = StoredColumns.of(definition).schema(table_schema(definition), unsigned_bigint)
        made = Partition(self.transform, names[0])
        try:
            Division(made, stored.field(names[0]))
        except _Unfit as error:
            raise self._wrong(definition, str(error)) from error
        return made

    def onto(self, before: TableDefinition, now: TableDefinition) -> Partition | None:
        """Return the same after DDL: of the column with the same number, or else with the same name; None if there is
        none."""
        [id_] = [column.id for column in before.columns if column.name == self.column]
        for name in [*(column.name for column in now.stored_columns if column.id == id_),
                     *(column.name for column in now.stored_columns if column.name == self.column)]:
            return Partition(self.transform, name)
        return None

    def _wrong(self, definition: TableDefinition, why: str) -> UsageError:
        return UsageError(f"--partition {self} {why}", table=definition.full_name, hint=_WRITTEN)


class _Unfit(Exception):
    """A type of which a transform is not."""


class Division:
    """Divides rows, given the partition and its column in files. Raises UsageError without pyiceberg."""

    def __init__(self, partition: Partition, stored: pa.Field) -> None:
        need("pyiceberg", "lake")
        from pyiceberg.transforms import TimeTransform, parse_transform

        self._partition, self._source = partition, iceberg_type(stored)
        transform = parse_transform(partition.transform)
        if not transform.can_transform(self._source):
            raise _Unfit(f"cannot be of {self._source} values")
        self._result: Any = transform.result_type(self._source)
        self._value_of = transform.transform(self._source)
        self._is_of_time = isinstance(transform, TimeTransform)

    @property
    def column(self) -> str:
        """The column's name."""
        return self._partition.column

    def metadata(self, value: str | None) -> dict[bytes, bytes]:
        """Return the metadata of a file of the partition with a value, as `parts` has it."""
        return {KEY: orjson.dumps({"transform": self._partition.transform, "value": value})}

    def parts(self, values: pa.ChunkedArray) -> Iterator[tuple[str | None, np.ndarray]]:
        """Yield each partition's value (in hexadecimal; None for null) and the numbers of its rows, ascending, given
        the values of the column in rows; the partition of the first row comes first. Raises UsageError for too many,
        and for a number that truncate does not take."""
        codes, found = self._codes(values)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(len(found) + 1))
        numbers = [order[starts[code]:starts[code + 1]] for code in range(len(found))]
        for code in sorted((code for code in range(len(found)) if len(numbers[code])), key=lambda one: numbers[one][0]):
            yield found[code], numbers[code]

    def _codes(self, values: pa.ChunkedArray) -> tuple[np.ndarray, list[str | None]]:
        """Return for each row the number of its partition's value, and the values."""
        import pyarrow as pa

        if pa.types.is_temporal(values.type):
            values = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values.cast(pa.int64())
            if self._is_of_time and pa.types.is_int64(values.type):  # no transform tells times of an hour apart
                nulls = np.asarray(values.is_null())
                hours = np.asarray(values.fill_null(0)) // _HOUR * _HOUR
                values = pa.chunked_array([pa.array(hours, mask=nulls)])
        encoded = pa.chunked_array(values.chunks, values.type).combine_chunks().dictionary_encode()
        known = encoded.dictionary
        if self._partition.transform == "identity" and len(known) > MOST:
            raise self._too_many(len(known))
        results = [self._as_text(value) for value in known.to_pylist()]
        distinct = {value: code for code, value in enumerate(dict.fromkeys([*results, None]))}
        if len(distinct) - 1 > MOST:
            raise self._too_many(len(distinct) - 1)
        of_known = np.array([*(distinct[value] for value in results), distinct[None]])
        return of_known[np.asarray(encoded.indices.fill_null(len(known)))], [*distinct]

    def _as_text(self, value: Any) -> str | None:
        from pyiceberg.conversions import to_bytes

        made = self._value_of(value)
        try:
            return None if made is None else bytes(to_bytes(self._result, made)).hex()
        except struct.error:  # of the least numbers, truncate gives lesser ones
            raise UsageError(f"{value} has no value of {self._partition}: {made} is no {self._result}",
                             hint="give --partition another transform") from None

    def _too_many(self, n: int) -> UsageError:
        return UsageError(f"{n:,} values of {self._partition} are among the rows of one row group, more than {MOST}",
                          hint="give --partition a transform with fewer values, or make row groups smaller with "
                               "--parquet row-group-size")


def iceberg_type(stored: pa.Field) -> PrimitiveType:
    """Return Iceberg's type of a column of files. Raises _Unfit for a column that no transform should take."""
    import pyarrow as pa
    from pyiceberg.exceptions import NotInstalledError
    from pyiceberg.io.pyarrow import UnsupportedPyArrowTypeException, pyarrow_to_schema

    if pa.types.is_floating(stored.type) or pa.types.is_nested(stored.type):
        raise _Unfit("cannot be of floating-point numbers or lists")
    try:
        found: Any = pyarrow_to_schema(pa.schema([stored.with_metadata(_FIELD_ID)]), format_version=2).fields[0]
    except (UnsupportedPyArrowTypeException, TypeError, NotInstalledError) as error:
        raise _Unfit(f"cannot be of {stored.type} values") from error
    kind: PrimitiveType = found.field_type
    return kind


def value_in(metadata: dict[bytes, bytes] | None, partition: Partition, result: PrimitiveType, path: str) -> Any:
    """Return the value of the partition of a file, given its metadata and the type of the transform's results. Raises
    SnapshotError for a file without one, or of another transform."""
    from pyiceberg.conversions import from_bytes

    try:
        said = orjson.loads((metadata or {})[KEY])
        if said["transform"] != partition.transform:
            raise ValueError(f"it is of {said['transform']}")
        return None if said["value"] is None else from_bytes(result, bytes.fromhex(said["value"]))
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"the file does not say which partition of {partition} it is: {error}", file=path,
                            hint="replay or import the table again") from error
