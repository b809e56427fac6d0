"""The rows of a unit before the first change to its version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.output.altered_rows import RowsBefore, altered_rows, exchanged_rows, with_placed
from applier.apply.output.counted_rows import CountedRows, RowsOfSource, counting_column
from applier.apply.output.misplaced_rows import Misplaced
from applier.apply.spec import Altered, BeginsEmpty, Exchanged, FromBase, KeyRange, UnitSpec
from applier.columns.alter.scan_order import follows_arrival
from applier.columns.table_key import ranges_between
from applier.schema.definition import table_schema, without_rows
from applier.schema.history.conversion import RowConversion
from applier.snapshot.files.value_marks import for_nulls
from applier.snapshot.reader import FilePart, read_partitions, read_unit

_SMALL_CHUNK = 1024
"""Chunks with fewer rows are combined."""


def _part(spec: UnitSpec) -> FilePart | None:
    """Return the unit's part of the files that it shares with other units; None if it shares none."""
    rows, files = spec.search, spec.shared_files
    if not files or not isinstance(rows, KeyRange):
        return None
    names, has_low, range_of = rows.key.names, rows.low is not None, ranges_between(rows.key, rows.bounds)

    def edges(keys: pa.Table) -> tuple[int, int]:
        whole = for_nulls(keys, spec.definition)
        first, end = np.searchsorted(range_of([whole.column(name) for name in names]), (has_low, has_low + 1))
        return int(first), int(end)

    return FilePart(files, names, edges)


def rows_before(spec: UnitSpec, sources: Sequence[RowsOfSource]) -> RowsBefore:
    """Return the rows of a unit. `sources` are those of the spec."""
    origin = spec.origin
    match origin:
        case Exchanged(own=own, other=other):
            before, plain = sources
            rows, moved = exchanged_rows(own.conversion, before.rows(), other.conversion, plain.rows(), spec.key)
            rows, stay = with_placed(rows, own.conversion, before.misplaced, spec.key)
            return RowsBefore(rows, {**stay, **moved}, counter=None)
        case Altered():
            [source] = sources
            before = CountedRows(source, origin.conversion)
            if origin.keeps_rows and _keeps_arrival(origin.conversion):
                rows = pa.concat_tables([without_rows(table_schema(spec.definition)), *before.rows()])
                made = RowsBefore(rows, ranks=before.ranks)
            else:
                made = altered_rows(origin.conversion, before, None if origin.keeps_key else spec.key)
            rows, stay = with_placed(made.rows, origin.conversion, before.misplaced, spec.key)
            counter = before.counter_after(rows, made.have_asked) if spec.counts and not stay else None
            return replace(made, rows=_in_large_chunks(rows), misplaced=stay, counter=counter)
        case FromBase():
            rows = read_unit(origin.uri, origin.files, table_schema(spec.definition), _part(spec))
            return RowsBefore(*_divided(origin, for_nulls(rows, spec.definition)), counter=None)
        case BeginsEmpty(is_new=is_new):
            counter = 1 if is_new or counting_column(spec.definition) is None else None
            return RowsBefore(without_rows(table_schema(spec.definition)), ranks=np.empty(0, np.int64), counter=counter)


def _keeps_arrival(conversion: RowConversion) -> bool:
    """Return whether rows have the same ranks after a statement, if they have any."""
    return follows_arrival(conversion.old) or not follows_arrival(conversion.new)


def _divided(origin: FromBase, rows: pa.Table) -> tuple[pa.Table, Misplaced]:
    """Return the rows of a base, and, apart, misplaced ones."""
    if not origin.misplaced:
        return rows, {}
    partitions = read_partitions(origin.uri, origin.files)
    names = partitions.unique().drop_null().to_pylist()
    return rows.filter(partitions.is_null()), {
        name: rows.filter(pc.fill_null(pc.equal(partitions, name), False)) for name in names}


def _in_large_chunks(rows: pa.Table) -> pa.Table:
    """Combine the rows into one chunk if their chunks are small: otherwise a table that gets a few rows with each
    version would have a chunk per version."""
    n_chunks = rows.column(0).num_chunks if rows.num_columns else 0
    return rows.combine_chunks() if n_chunks > 1 and rows.num_rows < n_chunks * _SMALL_CHUNK else rows
