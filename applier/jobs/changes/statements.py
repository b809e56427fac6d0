"""Statements that change rows of a table although the log has no changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pyarrow as pa

from applier.binlog.rows.change_records import SEQ_BITS
from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.changes.feed import ALL_PRESENT, ALTER, KINDS, OF_CHANGES, TRUNCATE
from applier.schema.history.conversion import RowConversion
from applier.schema.history.effects import changes_values
from applier.schema.history.table_versions import Position, TableVersion


@dataclass(frozen=True)
class Statement:
    """A statement that concerns the table: where it ends, whether the feed has it as TRUNCATE or ALTER, the version
    that it made, and how many other statements on the table end there before it, as with a RENAME TABLE that gives the
    table's name to another one."""

    end: Position
    kind: int
    made: int | None = None
    after: int = 0

    @property
    def seq(self) -> int:
        """Its number in its event group. Rows that it changes are numbered on from it."""
        return seq_at(self.end[1]) + self.after


def seq_at(end: int) -> int:
    """Return the number of a statement that ends at an offset: that of its last byte, as changes have it (SEQ_BITS)."""
    return end - 1 << SEQ_BITS


def statements_below_the_log(versions: Mapping[int, TableVersion]) -> list[Statement]:
    """Return where rows of the table go, or change, by statements that are no row changes, in log order."""
    found = []
    successors = {source.version for version in versions.values() for source in version.sources}
    for version in versions.values():
        if version.end is not None and version.id not in successors:
            found.append(Statement(version.end, TRUNCATE))
        if len(version.sources) > 1 or any(
                source.version not in versions or changes_values(source.conversion)
                or _may_lose_rows(versions[source.version], source.conversion) for source in version.sources):
            found.append(Statement(version.start, ALTER, version.id))
    found.sort(key=lambda statement: statement.end)
    return [replace(statement, after=number) for _, together in groupby(found, key=lambda statement: statement.end)
            for number, statement in enumerate(together)]


def _may_lose_rows(version: TableVersion, conversion: RowConversion) -> bool:
    """Return whether a statement moves misplaced rows of a base, of which those that no partition accepts are lost."""
    return version.may_misplace and conversion.rewritten != ()


def marker(schema: pa.Schema, statement: Statement, groups: FileGroups) -> pa.RecordBatch:
    """Return one row for a statement."""
    of_columns = [pa.nulls(1, field.type) for field in schema if field.name not in OF_CHANGES.names]
    kinds = pa.DictionaryArray.from_arrays(pa.array([statement.kind], pa.int8()), KINDS)
    position, seq = np.array([statement.end[1] - 1]), np.array([statement.seq])
    return pa.RecordBatch.from_arrays([
        *of_columns, kinds, *groups.columns(position, seq), pa.array(groups.starts(position)),
        pa.array([0], pa.int32()), pa.array([False]), ALL_PRESENT.slice(0, 1), pa.nulls(1, pa.string())], schema=schema)
