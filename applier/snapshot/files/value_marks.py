"""Records what the readers of a snapshot's file do not see: invalid dates, text in lossy character sets, and the
partitions of rows that do not belong to these.

Readers see null for an invalid date (applier.mysql.values.zero_dates), and for text that does not determine its bytes
they see the result of a SELECT (applier.mysql.character_sets.exact_text). A later replay, comparisons and `applier
export` read the values from the file's own key-value metadata, so that the values go wherever the file goes. The value
of each key is a Parquet file in base64 with a row for each such value; a file without such values has no such key.

    applier.no_dates     column   string   its column's name
                         row      int64    its row's number in the file, from 0 on
                         number   int64    the date, as SNAPSHOT_FORMAT.md says, "Invalid dates"
    applier.text_bytes   column, row       the same
                         charset  string   the column's character set
                         bytes    binary   the value as the server has it
    applier.partitions   row      int64    the number of a row that does not belong to the partition that it lies in
                         name     string   the partition's name, folded (applier.mysql.names)
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from applier.errors import SnapshotError
from applier.io.parquet_reading import open_parquet
from applier.mysql.character_sets import exact_text
from applier.mysql.types import DATES
from applier.mysql.values import zero_dates
from applier.mysql.values.zero_dates import zero
from applier.schema.definition import TableDefinition

DATES_KEY, TEXTS_KEY, PARTITIONS_KEY = b"applier.no_dates", b"applier.text_bytes", b"applier.partitions"
PARTITION = "applier.partition"
"""An additional column of rows to be written: the partition that a row lies in without belonging to it, or null."""
_OPTIONS = {"compression": "zstd", "use_dictionary": ["column", "number", "charset", "name"],
            "column_encoding": {"row": "DELTA_BINARY_PACKED"}, "write_statistics": False}


class ValueMarks:
    """Collects such values of a file while it is written; `charsets` are those of columns with lossy sets, by name."""

    def __init__(self, charsets: Mapping[str, str]) -> None:
        self._charsets, self._rows = charsets, 0
        self._dates: list[pa.Table] = []
        self._texts: list[pa.Table] = []
        self._partitions: list[pa.Table] = []

    def take_partitions(self, partitions: pa.ChunkedArray) -> None:
        """Take the partitions of the next rows of the file (PARTITION), before these."""
        marked = np.flatnonzero(partitions.is_valid())
        if len(marked):
            self._partitions.append(pa.table({"row": self._rows + marked, "name": partitions.take(pa.array(marked))}))

    def taken_from(self, rows: pa.Table) -> pa.Table:
        """Take the next rows of the file, and return them as readers will see them."""
        for number, field in enumerate(rows.schema):
            column = rows.column(number)
            charset = self._charsets.get(field.name)
            if zero_dates.has_any(column):
                marked = np.flatnonzero(zero_dates.which(column))
                self._dates.append(self._part(field, marked, number=zero_dates.numbers_of(column)[marked]))
                rows = rows.set_column(number, field, zero_dates.as_nulls(column))
            elif charset is not None and (found := exact_text.with_placeholders(column, charset)) is not None:
                marked = np.flatnonzero(found)
                texts = column.take(pa.array(marked)).combine_chunks()
                self._texts.append(self._part(field, marked, charset=pa.repeat(charset, len(marked)),
                                              bytes=exact_text.bytes_in(texts, charset)))
                rows = rows.set_column(number, field, exact_text.shown(column, charset))
        self._rows += rows.num_rows
        return rows

    def _part(self, field: pa.Field, marked: np.ndarray, **values: object) -> pa.Table:
        return pa.table({"column": pa.repeat(field.name, len(marked)), "row": self._rows + marked, **values})

    @property
    def dates(self) -> dict[str, int]:
        """The number of invalid dates, by column."""
        found: Counter[str] = Counter()
        for part in self._dates:
            found[part["column"][0].as_py()] += part.num_rows
        return dict(found)

    def metadata(self) -> dict[bytes, bytes]:
        """Return the file's metadata entries."""
        entries = {}
        for key, parts in ((DATES_KEY, self._dates), (TEXTS_KEY, self._texts), (PARTITIONS_KEY, self._partitions)):
            if parts:
                sink, marks = pa.BufferOutputStream(), pa.concat_tables(parts)
                by = [name for name in ("column", "row") if name in marks.column_names]
                pq.write_table(marks.sort_by([(name, "ascending") for name in by]), sink, **_OPTIONS)
                entries[key] = base64.b64encode(sink.getvalue())
        return entries


class MarkedValues:
    """The marked values of a file, given its metadata. Errors: SnapshotError for a damaged entry."""

    def __init__(self, metadata: Mapping[bytes, bytes] | None, file: str) -> None:
        self._dates: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._texts: dict[str, tuple[np.ndarray, pa.Array]] = {}
        try:
            for name, own in _by_column(metadata or {}, DATES_KEY):
                self._dates[name] = own.column("row").to_numpy(), own.column("number").to_numpy()
            for name, own in _by_column(metadata or {}, TEXTS_KEY):
                [charset] = own.column("charset").unique().to_pylist()
                data = own.column("bytes").cast(pa.binary()).combine_chunks()
                self._texts[name] = own.column("row").to_numpy(), exact_text.exact_text(data, charset)
        except (ValueError, KeyError, OSError, pa.ArrowException) as error:
            raise SnapshotError(f"the file's entry of invalid dates or of bytes of text is damaged: {error}",
                                file=file) from error

    @property
    def dates(self) -> int:
        """The number of invalid dates."""
        return sum(len(rows_marked) for rows_marked, _ in self._dates.values())

    @property
    def texts(self) -> frozenset[str]:
        """The columns with marked text."""
        return frozenset(self._texts)

    def put_into(self, rows: pa.Table, first: int = 0) -> pa.Table:
        """Put these values into rows of the file that start with number `first`."""
        for name, (rows_marked, numbers) in self._dates.items():
            number, low, high = _found(rows, name, rows_marked, first)
            if low == high:
                continue
            field, column = rows.schema.field(number), rows.column(number)
            made, here = zero_dates.numbers_of(column).copy(), rows_marked[low:high] - first
            made[here] = numbers[low:high]
            null = np.asarray(column.is_null()).copy()
            null[here] = False
            width = pa.int32() if pa.types.is_date32(field.type) else pa.int64()
            rows = rows.set_column(number, field, pa.array(made, mask=null).cast(width).cast(field.type))
        for name, (rows_marked, texts) in self._texts.items():
            number, low, high = _found(rows, name, rows_marked, first)
            if low == high:
                continue
            is_marked = np.zeros(rows.num_rows, np.bool_)
            is_marked[rows_marked[low:high] - first] = True
            made = pa.compute.replace_with_mask(rows.column(number), pa.array(is_marked), texts[low:high])
            rows = rows.set_column(number, rows.schema.field(number), made)
        return rows


def partitions_of(metadata: Mapping[bytes, bytes] | None, n_rows: int, file: str) -> pa.Array:
    """Return the column PARTITION of a file's rows, given its metadata. Raises SnapshotError for a damaged entry."""
    names = np.full(n_rows, None, object)
    try:
        if (marks := _marks(metadata or {}, PARTITIONS_KEY)) is not None:
            names[marks.column("row").to_numpy()] = marks.column("name").to_pylist()
    except (ValueError, KeyError, IndexError, OSError, pa.ArrowException) as error:
        raise SnapshotError(f"the file's entry of partitions is damaged: {error}", file=file) from error
    return pa.array(names, pa.string())


def _marks(metadata: Mapping[bytes, bytes], key: bytes) -> pa.Table | None:
    if key not in metadata:
        return None
    return open_parquet(pa.BufferReader(base64.b64decode(metadata[key], validate=True))).read()


def _by_column(metadata: Mapping[bytes, bytes], key: bytes) -> Iterator[tuple[str, pa.Table]]:
    """Return an entry's rows, by column name."""
    if (marks := _marks(metadata, key)) is None:
        return
    for name in marks.column("column").unique().to_pylist():
        yield name, marks.filter(pa.compute.equal(marks.column("column"), name))


def _found(rows: pa.Table, name: str, rows_marked: np.ndarray, first: int) -> tuple[int, int, int]:
    """Return the index of a column among those of rows that start with number `first`, and which of `rows_marked` are
    theirs."""
    number = rows.schema.get_field_index(name)
    low, high = np.searchsorted(rows_marked, (first, first + rows.num_rows))
    return number, int(low), int(low if number < 0 else high)


def for_nulls(rows: pa.Table, definition: TableDefinition) -> pa.Table:
    """Restore invalid dates in rows of a snapshot whose files do not mark them: a null in a NOT NULL column was
    '0000-00-00'. The rows may have only some of the table's columns."""
    for column in definition.stored_columns:
        number = rows.schema.get_field_index(column.name)
        if number >= 0 and column.type.base in DATES and not column.nullable and rows.column(number).null_count:
            filled = rows.column(number).fill_null(zero(rows.schema.field(number).type))
            rows = rows.set_column(number, rows.schema.field(number), filled)
    return rows
