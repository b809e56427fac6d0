"""What the passes of a replay did so far, besides making a snapshot: for the next pass, and for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

from applier.jobs.replay.applying import AppliedPlan
from applier.jobs.replay.result import TableResult
from applier.plan.conflicts import LISTING, conflict_listing
from applier.plan.log import LogSpan
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.snapshot import location
from applier.snapshot.checks import reading
from applier.snapshot.date_marks import MarkedDates
from applier.snapshot.table_entry import TableEntry


@dataclass
class PassesDone:
    """`history` is the last pass's; `names` are all that tables had, `files` the base names of all files written,
    `tables` the results of tables by the names that they have now; `zero_dates` are those that passes wrote."""

    history: SchemaHistory | None = None
    names: set[TableName] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    tables: dict[TableName, TableResult] = field(default_factory=dict)
    conflicts: pa.Table = field(default_factory=LISTING.empty_table)
    binlogs: dict[str, None] = field(default_factory=dict)
    routes: dict[str, None] = field(default_factory=dict)
    units: int = 0
    zero_dates: int = 0

    def add_names(self, history: SchemaHistory) -> None:
        """Add the names that tables had in a pass."""
        self.names |= {(version.definition.database, version.definition.name) for version in history.versions()}

    def add(self, span: LogSpan, history: SchemaHistory, plan: AppliedPlan) -> None:
        """Add a pass, but for what it did to each table."""
        self.history = history
        self.files |= {_base_name(file.path) for result in plan.results
                       for file in (*(result.files or ()), *result.history)}
        self.conflicts = pa.concat_tables([self.conflicts, conflict_listing(plan.results, span.outlines)])
        self.binlogs |= dict.fromkeys(outline.name for outline in span.files)
        self.routes |= {plan.route: None}
        self.units += len(plan.results)
        self.zero_dates += sum(result.zero_dates for result in plan.results)

    def written(self, entry: TableEntry) -> int:
        """How many of a table's files this replay has written."""
        return sum(_base_name(file.path) in self.files for file in entry.files)

    def zero_dates_left(self, entries: Iterable[TableEntry], root: str, last: int) -> int:
        """How many of the invalid dates are in the tables' files, which are in a directory or uri; `last` of them are
        of the last pass. Those of earlier passes may be gone: files of a base that these have rewritten may have had
        some, too, so if it had, and some are gone, it is the most that it can be."""
        if self.zero_dates == last:
            return last
        filesystem, inner = location.resolve(root)
        left = 0
        for path in (f"{inner}/{file.path}" for entry in entries for file in entry.history or entry.files
                     if _base_name(file.path) in self.files):
            with reading(path), filesystem.open_input_file(path) as source:
                left += len(MarkedDates(pq.read_metadata(source).metadata, path))
        return min(left, self.zero_dates)


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
