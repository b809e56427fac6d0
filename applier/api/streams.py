"""Record batches of a job, for whatever reads Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from applier.errors import worded
from applier.io.arrow_stream import exported

if TYPE_CHECKING:
    import pandas


class Batches(Protocol):
    """What a job gives: `batches` can be read any number of times."""

    @property
    def schema(self) -> pa.Schema: ...
    @property
    def notes(self) -> tuple[str, ...]: ...

    def batches(self) -> Iterator[pa.RecordBatch]: ...


class Stream:
    """Rows to be read any number of times, as record batches.

    It is iterated as these, and taken as it is by whatever takes Arrow streams: DuckDB, Polars, pandas, pyarrow. Who
    stops early has read no more.
    """

    def __init__(self, feed: Batches) -> None:
        self._feed = feed

    @property
    def schema(self) -> pa.Schema:
        """The table's columns, and what is said of each row."""
        return self._feed.schema

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for people: what came before the archive, a torn end."""
        return tuple(map(worded, self._feed.notes))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._feed.batches()

    def reader(self) -> pa.RecordBatchReader:
        """The rows as a stream."""
        return pa.RecordBatchReader.from_batches(self.schema, self._feed.batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For Arrow's PyCapsule interface. The consumer raises an error of its own, with a line that names ours."""
        return exported(self.schema, self._feed.batches(), requested_schema)

    def to_arrow(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self._feed.batches(), self.schema)

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a data frame with pandas' own types: integers beside nulls are floats, exact up to 2^53."""
        return self.to_arrow().to_pandas()
