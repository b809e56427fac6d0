"""Records which nulls in a file of a snapshot are invalid dates (applier.mysql.values.zero_dates), and their values.

Readers see null. A later replay and `applier export` read the dates from the file's own key-value
metadata, under KEY: a Parquet file in base64 with a row for each such date,

    column   string   its column's name
    row      int64    its row's number in the file, from 0 on
    number   int64    the date, as SNAPSHOT_FORMAT.md says, "Invalid dates"

so that it goes wherever the file goes. A file without such dates has no such entry.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from applier.errors import SnapshotError
from applier.io.parquet_reading import open_parquet
from applier.mysql.types import DATES
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import zero
from applier.schema.definition import TableDefinition

KEY = b"applier.no_dates"
_OPTIONS = {"compression": "zstd", "use_dictionary": ["column", "number"],
            "column_encoding": {"row": "DELTA_BINARY_PACKED"}, "write_statistics": False}


class DateMarks:
    """Collects the invalid dates of a file while it is written."""

    def __init__(self) -> None:
        self._rows = 0
        self._parts: list[pa.Table] = []

    def taken_from(self, rows: pa.Table) -> pa.Table:
        """Take the next rows of the file, and return them as readers are to see them."""
        for place, field in enumerate(rows.schema):
            column = rows.column(place)
            if not zero_dates.has_any(column):
                continue
            none = np.flatnonzero(zero_dates.which(column))
            self._parts.append(pa.table({
                "column": pa.repeat(field.name, len(none)), "row": self._rows + none,
                "number": zero_dates.numbers_of(column)[none]}))
            rows = rows.set_column(place, field, zero_dates.as_nulls(column))
        self._rows += rows.num_rows
        return rows

    def __len__(self) -> int:
        return sum(part.num_rows for part in self._parts)

    def metadata(self) -> dict[bytes, bytes]:
        """The file's entry; nothing where it has no such dates."""
        if not self._parts:
            return {}
        sink = pa.BufferOutputStream()
        pq.write_table(pa.concat_tables(self._parts).sort_by([("column", "ascending"), ("row", "ascending")]), sink,
                       **_OPTIONS)
        return {KEY: base64.b64encode(sink.getvalue())}


class MarkedDates:
    """The invalid dates of a file, given its metadata. Errors: SnapshotError for a damaged entry."""

    def __init__(self, metadata: Mapping[bytes, bytes] | None, file: str) -> None:
        self._known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        if not metadata or KEY not in metadata:
            return
        try:
            source = pa.BufferReader(base64.b64decode(metadata[KEY], validate=True))
            found = open_parquet(source).read()
            for name in found.column("column").unique().to_pylist():
                own = found.filter(pa.compute.equal(found.column("column"), name))
                self._known[name] = own.column("row").to_numpy(), own.column("number").to_numpy()
        except (ValueError, KeyError, OSError, pa.ArrowException) as error:
            raise SnapshotError(f"the file's entry of invalid dates is damaged: {error}",
                                file=file) from error

    def __len__(self) -> int:
        return sum(len(places) for places, _ in self._known.values())

    def put_into(self, rows: pa.Table, first: int = 0) -> pa.Table:
        """Put these dates into rows of the file that start with number `first`."""
        for name, (places, numbers) in self._known.items():
            place = rows.schema.get_field_index(name)
            low, high = np.searchsorted(places, (first, first + rows.num_rows))
            if place < 0 or low == high:
                continue
            field, column = rows.schema.field(place), rows.column(place)
            made, here = zero_dates.numbers_of(column).copy(), places[low:high] - first
            made[here] = numbers[low:high]
            null = np.asarray(column.is_null()).copy()
            null[here] = False
            width = pa.int32() if pa.types.is_date32(field.type) else pa.int64()
            rows = rows.set_column(place, field, pa.array(made, mask=null).cast(width).cast(field.type))
        return rows


def for_nulls(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Rows of a snapshot whose files do not mark invalid dates: a null in a NOT NULL column was '0000-00-00'. They may
    have some of the table's columns."""
    for column in definition.stored_columns:
        place = rows.schema.get_field_index(column.name)
        if place >= 0 and column.type.base in DATES and not column.nullable and rows.column(place).null_count:
            filled = rows.column(place).fill_null(zero(rows.schema.field(place).type))
            rows = rows.set_column(place, rows.schema.field(place), filled)
    return rows
