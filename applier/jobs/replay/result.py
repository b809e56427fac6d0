"""The result of a replay: the snapshot's position, the changes of each table, the time it took.

A snapshot's `_report.json` has the same, except for the snapshot's own location:

    format_version  1
    position        "binlog.000003:1234"; gtid_set; timestamp: the last group's, in seconds since 1970, or null
    exec_mode       "strict" | "idempotent"
    route           "walk" | "shuffle" as chosen; both, with a comma, if passes chose differently
    conflicts       how many conflicts idempotent mode suppressed; `_conflicts.parquet` lists them
    units           the number of units of work
    zero_dates      how many invalid dates became null
    seconds         {stage: wall time, …} in order of execution
    notes           [note for the user, …]
    left_out        [{groups, row_events, gtids, server_ids, ignore_server_ids}]: requested exclusions; or []
    witness         {compared, agreed, differences: [{table, column, count, file, position, row, gtid, key, logged,
                      held, computed}, …], computed, computed_agreed}: how many before-images were compared with the
                      rows that they found, and how many agree; for each column with differences how many, and the first
                      one: its row (from 1), both values; how many values of generated columns in after-images were
                      compared with their expressions, and how many agree (of these differences, `computed` is true)
    tables          [{database, name, rows, inserts, updates, deletes, key, found: {way: n, …}, conflicts: {kind: n, …},
                      by_foreign_keys: n, partial_updates: n, documents: n, bytes_saved: n, zero_dates: {column: n, …},
                      units, ranges, tied, seconds, files_written, files_carried, bytes_written,
                      warnings: [note for the user, …]}, …]
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from applier.binlog.locating.place import Executed, Timed
from applier.io.typed_json import Count, Mismatch, Seconds, between, build
from applier.jobs.pages.diff_totals import DiffTotals
from applier.plan.witness import WitnessResult
from applier.snapshot.manifest import LeftOutEntry
from keysearch.choose import PathKind

FORMAT_VERSION = 1
Duration = Annotated[float, between(0, 10**12)]
"""In seconds."""
ACCESS_PATHS: dict[PathKind, str] = {"primary": "PK", "unique": "UK", "key": "K", "scan": "scan"}
"""The access paths, by their names in reports, with names for people."""


@dataclass(frozen=True)
class TableResult:
    """Row changes applied to one table, and its rows now.

    `key` is the order of its rows ("PRIMARY (id)", "" without a key). `found` counts updated and deleted rows by access
    path (ACCESS_PATHS), `conflicts` the suppressed conflicts of idempotent mode, by kind. `tied` says why all its keys
    were one unit, "" if they did not have to be; `ranges` is how many units its size called for. `seconds` is the time
    of its units' tasks, all together, without the reading of the log. `warnings` are notes for the user.
    `by_foreign_keys` is how many rows foreign keys changed or deleted outside the log (AP-FK). `partial_updates` are
    updates with JSON diffs, and `documents` their JSON documents; `bytes_saved` is how many bytes less these take than
    the documents before them, of those that before-images have (0 with --witness off). `zero_dates` counts the invalid
    dates, by column, in the files that the replay has written: readers see NULL. `bytes_written` is the size of these
    files. """

    database: str
    name: str
    rows: Count
    inserts: Count = 0
    updates: Count = 0
    deletes: Count = 0
    key: str = ""
    files_written: Count = 0
    files_carried: Count = 0
    found: dict[PathKind, Count] = field(default_factory=dict)
    conflicts: dict[str, Count] = field(default_factory=dict)
    units: Count = 0
    ranges: Count = 0
    tied: str = ""
    seconds: Duration = field(default=0.0, compare=False)
    warnings: tuple[str, ...] = ()
    by_foreign_keys: Count = 0
    partial_updates: Count = 0
    documents: Count = 0
    bytes_saved: int = 0
    zero_dates: dict[str, Count] = field(default_factory=dict)
    bytes_written: Count = 0

    @property
    def full_name(self) -> str:
        """ "db.table", as errors name it."""
        return f"{self.database}.{self.name}"

    @property
    def found_by(self) -> str:
        """How rows were found, for people: the table's key, or how many by which access path."""
        if len(self.found) < 2 and set(self.found) <= {"primary", "unique"}:
            return self.key
        return ", ".join(f"{ACCESS_PATHS[way]} {self.found[way]:,}" for way in ACCESS_PATHS if way in self.found)

    @property
    def changes(self) -> int:
        """Row changes in all."""
        return self.inserts + self.updates + self.deletes


@dataclass(frozen=True)
class ReplayResult(Timed, Executed, DiffTotals):
    """One finished replay. `position` is "binlog.000003:1234"; `timestamp` is the last group's, in seconds since 1970;
    `seconds` maps a phase's name to its wall time, in the order in which they ran; `notes` are notes for the user.
    `skipped_statements` counts the statements that `--on-statement skip` skipped, by table ("" if unknown) and kind,
    `left_out` the transactions that the options excluded; `witness` has the results of comparing before-images with
    rows. The other parts are as in the report."""

    snapshot: str
    position: str
    gtid_set: str
    timestamp: Seconds | None
    tables: tuple[TableResult, ...]
    seconds: dict[str, Duration] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    exec_mode: str = "strict"
    route: str = ""
    conflicts: Count = 0
    units: Count = 0
    zero_dates: Count = 0
    skipped_statements: dict[str, dict[str, Count]] = field(default_factory=dict)
    left_out: tuple[LeftOutEntry, ...] = ()
    witness: WitnessResult = field(default_factory=WitnessResult)

    @property
    def changes(self) -> int:
        """Row changes of all tables."""
        return sum(table.changes for table in self.tables)

    @property
    def by_foreign_keys(self) -> int:
        """Rows of all tables that foreign keys changed or deleted."""
        return sum(table.by_foreign_keys for table in self.tables)

    def report(self) -> dict[str, Any]:
        """Return the content of `_report.json`."""
        known = {"format_version": FORMAT_VERSION, **asdict(self)}
        del known["snapshot"]
        return known

    @classmethod
    def from_report(cls, snapshot: str, report: dict[str, Any]) -> ReplayResult:
        """Return the result of the run that made a snapshot. Raises Mismatch if it is not a report."""
        version = report.get("format_version") if isinstance(report, dict) else None
        if type(version) is not int or version != FORMAT_VERSION:
            raise Mismatch(f"is not a report of format version {FORMAT_VERSION}")
        return build(cls, {"snapshot": snapshot} | {name: value for name, value in report.items()
                                                    if name not in ("format_version", "snapshot")})
