"""Record batches of a job, for any reader of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from applier.errors import worded
from applier.io.arrow_stream import exported

if TYPE_CHECKING:
    import pandas


class Batches(Protocol):
    """The result of a job: `batches` can be read any number of times."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def notes(self) -> tuple[str, ...]: ...

    def batches(self) -> Iterator[pa.RecordBatch]: ...


class Stream:
    """Rows that can be read any number of times, as record batches.

    Iterate over it, or pass it to any consumer of Arrow streams: DuckDB, Polars, pandas, pyarrow. A consumer that
    stops early reads no more of the log.
    """

    def __init__(self, feed: Batches) -> None:
        self._feed = feed

    @property
    def schema(self) -> pa.Schema:
        """The table's columns, and the columns that describe each row."""
        return self._feed.schema

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: a missing beginning of the archive, a torn end."""
        return tuple(map(worded, self._feed.notes))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._feed.batches()

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream."""
        return pa.RecordBatchReader.from_batches(self.schema, self._feed.batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Support Arrow's PyCapsule interface. The consumer raises its own error, with a line that names ours."""
        return exported(self.schema, self._feed.batches(), requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self._feed.batches(), self.schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all rows as a data frame with pandas' own types: integers beside nulls are floats, exact up to
        2^53."""
        return self.to_arrow().to_pandas()
