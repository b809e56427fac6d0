"""Statements after which rows of a table are others, though the log has no change of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.jobs.changes.feed import ALL_PRESENT, ALTER, KINDS, OF_CHANGES, TRUNCATE
from applier.jobs.changes.groups import FileGroups
from applier.schema.history.table_versions import Position, TableVersion


@dataclass(frozen=True)
class Statement:
    """Where a statement ends, whether it is a TRUNCATE or an ALTER to the feed, and the version that it made."""

    end: Position
    kind: int
    made: int | None = None


def statements_below_the_log(versions: Mapping[int, TableVersion]) -> list[Statement]:
    """Where rows of the table go, or change, by statements that are no row changes, in the order of the log."""
    found = []
    successors = {source.version for version in versions.values() for source in version.sources}
    for version in versions.values():
        if version.end is not None and version.id not in successors:
            found.append(Statement(version.end, TRUNCATE))
        if len(version.sources) > 1 or any(source.version not in versions or source.conversion.changes_values
                                           for source in version.sources):
            found.append(Statement(version.start, ALTER, version.id))
    return sorted(found, key=lambda statement: statement.end)


def marker(schema: pa.Schema, kind: int, groups: FileGroups, end: int) -> pa.RecordBatch:
    """One row for a statement that ends at this offset."""
    of_columns = [pa.nulls(1, field.type) for field in schema if field.name not in OF_CHANGES.names]
    kinds = pa.DictionaryArray.from_arrays(pa.array([kind], pa.int8()), KINDS)
    place = np.array([end - 1])
    return pa.RecordBatch.from_arrays([
        *of_columns, kinds, *groups.columns(place), pa.array(groups.starts(place)), pa.array([0], pa.int32()),
        pa.array([False]), ALL_PRESENT.slice(0, 1)], schema=schema)
