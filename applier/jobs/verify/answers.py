"""The output of a client for a server's answers to `applier.jobs.verify.statements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import UsageError
from applier.jobs.verify.plan import ComparedTable, ComparisonPlan
from applier.jobs.verify.sums import RangeSums

_FIXED = 5
"""Fields of a row's line before its hashes, and of a range's before its sums."""


@dataclass(frozen=True)
class RowHashes:
    """Rows by their keys (pa.string(), n), and the hash of each value: uint64[columns, n]."""

    keys: pa.Array
    hashes: np.ndarray

    @classmethod
    def none(cls, table: ComparedTable) -> RowHashes:
        """No rows."""
        return cls(pa.array([], pa.string()), np.empty((len(table.columns), 0), np.uint64))


@dataclass
class Answers:
    """A server's answers: `position`, its GTID set, None if it was not requested; sums of ranges and rows of ranges, by
    a table's name and the number of the range. Without rows a range has no sums. `ended`: all sums were printed."""

    position: str | None = None
    ended: bool = False
    sums: dict[tuple[str, int], RangeSums] = field(default_factory=dict)
    rows: dict[tuple[str, int], RowHashes] = field(default_factory=dict)


def parse(plan: ComparisonPlan, text: bytes, source: str) -> Answers:
    """Read the output of a client; additional lines, such as column names, are skipped. Raises UsageError if it is the
    output of other statements, or incomplete."""
    try:
        lines = pc.list_flatten(pc.split_pattern(pa.array([text.replace(b"\r\n", b"\n").decode()], pa.large_string()),
                                                 "\n"))
    except UnicodeDecodeError:
        raise _broken(source) from None
    answered = lines.filter(pc.starts_with(lines, plan.tag + "\t"))
    if not len(answered):
        if pc.any(pc.starts_with(lines, "applier-"), min_count=0).as_py():
            raise UsageError("this result was produced by a different set of statements", file=source,
                             hint="run on the server what `applier verify SNAPSHOT --sql` prints for this snapshot, "
                                  "with the same --hash and tables")
        raise UsageError("the file contains no answer of a server", file=source,
                         hint="have a client print one row per line: `applier verify SNAPSHOT --sql | mysql --batch`")
    fields = pc.split_pattern(answered, "\t")
    kinds = pc.list_element(fields, 1)
    tables = {table.label: table for table in plan.tables}
    found = Answers(ended=bool(pc.any(pc.equal(kinds, "end")).as_py()))
    try:
        for _, _, position in fields.filter(pc.equal(kinds, "position")).to_pylist():
            found.position = position.replace("\\n", "")
        for _, _, label, part, *numbers in fields.filter(pc.equal(kinds, "sums")).to_pylist():
            found.sums[tables[label].full_name, int(part)] = range_sums(tables[label], numbers)
        _read_rows(fields.filter(pc.equal(kinds, "row")), tables, found)
    except (ValueError, KeyError, pa.ArrowException):
        raise _broken(source) from None
    return found


def range_sums(table: ComparedTable, numbers: Sequence[Any]) -> RangeSums:
    """Return the sums in a server's answer. Raises ValueError where they are none of this table."""
    rows, row, *columns = (0 if number in (None, "NULL") else int(number) for number in numbers)
    if len(columns) != len(table.columns):
        raise ValueError(f"{len(columns)} sums for {len(table.columns)} columns")
    return RangeSums(rows, row, tuple(columns))


def row_hashes(table: ComparedTable, keys: pa.Array, numbers: np.ndarray) -> RowHashes:
    """Return the rows in a server's answer, all numbers of a row one after the other."""
    return RowHashes(keys, numbers.reshape(len(keys), len(table.columns)).T)


def _read_rows(fields: pa.Array, tables: dict[str, ComparedTable], found: Answers) -> None:
    """Put lines of rows to their ranges."""
    if not len(fields):
        return
    range_labels = pc.binary_join_element_wise(pc.list_element(fields, 2), pc.list_element(fields, 3),
                                         pa.scalar("\t", fields.type.value_type))
    for range_label in pc.unique(range_labels).to_pylist():
        label, _, part = range_label.rpartition("\t")
        table, lines = tables[label], fields.filter(pc.equal(range_labels, range_label))
        flat = np.array(pc.list_flatten(lines).to_numpy(zero_copy_only=False)).reshape(len(lines), -1)
        numbers = pa.array(flat[:, _FIXED:].ravel(), pa.string()).cast(pa.uint64()).to_numpy()
        found.rows[table.full_name, int(part)] = row_hashes(table, pa.array(flat[:, 4], pa.string()), numbers)


def _broken(source: str) -> UsageError:
    return UsageError("the server's answer is malformed", file=source,
                      hint="have a client print it again, and do not edit it: one row per line, tabs between values")
