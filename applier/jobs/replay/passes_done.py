"""What the passes of a replay did so far, besides making a snapshot: for the next pass, and for the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from applier.jobs.replay.applying import AppliedPlan
from applier.jobs.replay.result import TableResult
from applier.plan.conflicts import LISTING, conflict_listing
from applier.plan.span import LogSpan
from applier.plan.witness import WitnessResult
from applier.plan.witness_results import witness_result
from applier.schema.ddl.schema_changes import TableName
from applier.schema.history.history import SchemaHistory
from applier.snapshot.manifest import LeftOutEntry
from applier.snapshot.table_entry import TableEntry


@dataclass
class PassesDone:
    """`history` is the last pass's; `names` are all that tables had, `files` the base names of all files written,
    `tables` the results of tables by the names that they have now; `left_out` is what was left out of `groups` groups;
    `zero_dates` are the invalid dates of the log that
    rows have had, `zero_dates_in_files` those that files have, by base name; `witness` is what before-images said of
    rows."""

    history: SchemaHistory | None = None
    names: set[TableName] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    tables: dict[TableName, TableResult] = field(default_factory=dict)
    conflicts: pa.Table = field(default_factory=LISTING.empty_table)
    binlogs: dict[str, None] = field(default_factory=dict)
    routes: dict[str, None] = field(default_factory=dict)
    units: int = 0
    groups: int = 0
    left_out: tuple[LeftOutEntry, ...] = ()
    zero_dates: int = 0
    zero_dates_in_files: dict[str, int] = field(default_factory=dict)
    witness: WitnessResult = field(default_factory=WitnessResult)

    def add_names(self, history: SchemaHistory) -> None:
        """Add the names that tables had in a pass."""
        self.names |= {(version.definition.database, version.definition.name) for version in history.versions()}

    def add(self, span: LogSpan, history: SchemaHistory, plan: AppliedPlan) -> None:
        """Add a pass, but for what it did to each table."""
        self.history = history
        self.files |= {_base_name(file.path) for result in plan.results
                       for file in (*(result.files or ()), *result.history)}
        self.conflicts = pa.concat_tables([self.conflicts, conflict_listing(plan.results, span.outlines)])
        self.witness = self.witness.and_then(witness_result(plan.witnessed, span.outlines))
        self.binlogs |= dict.fromkeys(outline.name for outline in span.files)
        self.routes |= {plan.route: None}
        self.units += len(plan.results)
        for result in plan.results:
            self.zero_dates += result.zero_dates
            self.zero_dates_in_files |= {_base_name(path): count for path, count in result.zero_dates_in_files.items()}

    def written(self, entry: TableEntry) -> int:
        """How many of a table's files this replay has written."""
        return sum(_base_name(file.path) in self.files for file in entry.files)

    def zero_dates_left(self, entries: Iterable[TableEntry], *, has_base: bool) -> int:
        """How many invalid dates the tables have in files that this replay has written. With a base, some of these may
        be the base's own, which do not count: it is the most that it can be."""
        left = sum(self.zero_dates_in_files.get(_base_name(file.path), 0)
                   for entry in entries for file in entry.history or entry.files) if self.zero_dates_in_files else 0
        return min(left, self.zero_dates) if has_base else left


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]
