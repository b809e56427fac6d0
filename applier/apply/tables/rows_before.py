"""The rows of a unit before the first change to its version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from applier.apply.output.altered_rows import altered_rows, exchanged_rows
from applier.apply.spec import Altered, BeginsEmpty, Exchanged, FromBase, UnitSpec
from applier.columns.alter.scan_order import Arrivals
from applier.schema.definition import table_schema
from applier.snapshot.date_marks import for_nulls
from applier.snapshot.reader import read_unit


class RowsOfSource(Protocol):
    """A unit whose rows come to another one."""

    def rows(self) -> Iterator[pa.Table]:
        """The rows that are left."""

    @property
    def arrivals(self) -> Arrivals:
        """What is known of how they came; to be asked before they are taken."""


def rows_before(spec: UnitSpec, sources: Sequence[RowsOfSource]) -> pa.Table:
    """The rows, in the order of the unit's key if they come from another version; `sources` are those of the spec."""
    origin = spec.origin
    match origin:
        case Exchanged():
            return exchanged_rows([(source.conversion, unit.rows()) for source, unit
                                   in zip(spec.sources, sources, strict=True)], spec.key)
        case Altered():
            [before] = sources
            return altered_rows(origin.conversion, before.rows(), None if origin.keeps_key else spec.key,
                                before.arrivals)
        case FromBase():
            rows = read_unit(origin.uri, origin.files, table_schema(spec.definition))
            return for_nulls(rows, spec.definition)
        case BeginsEmpty():
            return table_schema(spec.definition).empty_table()
