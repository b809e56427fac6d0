"""The request of a plan to a task, and the task's result: plain data sent between the driver and its workers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa

from applier.apply.merged_changes import MergedChanges
from applier.apply.spec import UnitSpec
from applier.apply.witnessed import Witnessed, together
from applier.binlog.events.format import HEADER_LENGTH
from applier.binlog.outline.outline import OutlinedBytes
from applier.errors import ApplierError
from applier.snapshot.files.file_entries import FileEntry


@dataclasses.dataclass(frozen=True)
class UnitResult:
    """The outcome of a unit. `zero_dates` is the number of invalid dates of the log in its rows; `files` are its new
    files, None if nothing changed (the base's files are carried over); `conflicts` the changes that idempotent mode
    skipped (conflicts.CONFLICTS), None if there are none; `found` the number of rows found by access path
    (keysearch.choose.AccessPath.kind); `seconds` the time of applying and writing its rows; `history` the files with
    all rows of a versioned table, past ones included; `by_foreign_keys` the number of rows that foreign keys changed or
    deleted without a record in the log; `next_number` where AUTO_INCREMENT continues in a column that the log does not
    have, 0 if there is none; `zero_dates_in_files` the numbers of invalid dates in files, by path and column; `merged`
    the changes beside the base's files, which stay (`files` is None then); `witnessed` the comparison of before-images
    with rows; `partial_updates`, `documents` and `bytes_saved` the counts of binlog.rows.partial_updates.
    `in_order`: the rows of a table without a key are in the order of insertion. `misplaced`: some rows lie in
    partitions to which they do not belong."""

    number: int
    inserted: int
    updated: int
    deleted: int
    zero_dates: int
    files: tuple[FileEntry, ...] | None
    conflicts: pa.Table | None = None
    found: dict[str, int] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    history: tuple[FileEntry, ...] = ()
    by_foreign_keys: int = 0
    next_number: int = 0
    zero_dates_in_files: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    witnessed: Witnessed = dataclasses.field(default_factory=Witnessed)
    partial_updates: int = 0
    documents: int = 0
    bytes_saved: int = 0
    merged: MergedChanges | None = None
    in_order: bool = True
    misplaced: bool = False

    @property
    def written(self) -> tuple[FileEntry, ...]:
        """All files that it wrote."""
        return *(self.files or ()), *self.history, *(() if self.merged is None else self.merged.files)

    @property
    def changes(self) -> int:
        """The number of row changes."""
        return self.inserted + self.updated + self.deleted


SegmentTables = dict[tuple[str, str], int]


@dataclasses.dataclass(frozen=True)
class LogSegment:
    """Bytes [start, end) of a file in which every table keeps its definition: `tables` maps (database, table) to the id
    of the version there. `split` is the outlined split that contains them, `left_out` the excluded ranges of the file
    (left_out.pack_ranges). `computes_omitted`: see FormatDescription."""

    file: int
    uri: str
    checksum: bool
    start: int
    end: int
    tables: SegmentTables
    split: OutlinedBytes
    header_length: int = HEADER_LENGTH
    left_out: bytes = b""
    computes_omitted: bool = True


@dataclasses.dataclass(frozen=True)
class ApplyTask:
    """A task on the walk route: units by the id of their version, and the log segments to walk for them, in commit
    order."""

    units: dict[int, tuple[UnitSpec, ...]]
    segments: tuple[LogSegment, ...]

    @property
    def n_units(self) -> int:
        return sum(len(units) for units in self.units.values())


@dataclasses.dataclass(frozen=True)
class TaskShare:
    """The units that a task applies, by the id of their table version, and the versions whose changes it reads."""

    units: dict[int, tuple[UnitSpec, ...]]
    reads: frozenset[int]


@dataclasses.dataclass(frozen=True)
class ApplyTasks:
    """The tasks that walk a log. They share its segments, which are stored once: a copy for each task would take tasks
    times segments."""

    shares: tuple[TaskShare, ...] = ()
    segments: tuple[LogSegment, ...] = ()

    def __len__(self) -> int:
        return len(self.shares)

    def __iter__(self) -> Iterator[ApplyTask]:
        return map(partial(task_of, self.segments), self.shares)


def task_of(segments: tuple[LogSegment, ...], share: TaskShare) -> ApplyTask:
    """Return a task, given its own share and the segments that all tasks share."""
    return ApplyTask(share.units, needed(segments, share.reads))


def needed(segments: Iterable[LogSegment], versions: frozenset[int]) -> tuple[LogSegment, ...]:
    """Return the segments with changes of these versions, and only these versions in them."""
    return tuple(_needed(segments, versions))


def _needed(segments: Iterable[LogSegment], versions: frozenset[int]) -> Iterator[LogSegment]:
    kept: dict[int, tuple[SegmentTables, SegmentTables]] = {}  # by identity: many segments have the same tables
    for segment in segments:
        tables = segment.tables
        if id(tables) not in kept:
            kept[id(tables)] = tables, {name: version for name, version in tables.items() if version in versions}
        left = kept[id(tables)][1]
        if len(left) == len(tables):
            yield segment
        elif left:
            yield dataclasses.replace(segment, tables=left)


@dataclasses.dataclass(frozen=True)
class SplitTask:
    """A task of the shuffle: log segments to decode for all units, in order. `units` by the id of their version, in
    ascending key order."""

    segments: tuple[LogSegment, ...]
    units: dict[int, tuple[UnitSpec, ...]]


@dataclasses.dataclass(frozen=True)
class SplitTasks:
    """The tasks that decode a log's segments, in order: each has one of `parts`, and all share the units, by the id of
    their version."""

    parts: tuple[tuple[LogSegment, ...], ...]
    units: dict[int, tuple[UnitSpec, ...]]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[SplitTask]:
        return map(partial(split_of, self.units), self.parts)


def split_of(units: dict[int, tuple[UnitSpec, ...]], segments: tuple[LogSegment, ...]) -> SplitTask:
    """Return a task, given the units of all tasks and its own segments."""
    versions = {version for segment in segments for version in segment.tables.values()}
    return SplitTask(segments, {version: units[version] for version in versions})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Applied:
    """All units of a task were applied."""

    results: tuple[UnitResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refused:
    """The errors of changes at which a replica would stop, in no particular order: the first one in the log counts.
    `witnessed` has the results of comparing before-images with rows until units stopped."""

    errors: tuple[ApplierError, ...]
    witnessed: Witnessed = dataclasses.field(default_factory=Witnessed)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlanAgain:
    """In idempotent mode an update moves a row of these tables (db.table) from one unit to another, and its effect
    depends on the rows of both: the driver plans again, with one unit for each such table."""

    tables: frozenset[str]


TaskOutcome = Applied | Refused | PlanAgain


def outcome_of(outcomes: Iterable[TaskOutcome]) -> TaskOutcome:
    """Combine the outcomes of several tasks, or of the units of one: plan again if one of them requires it, else the
    refusals of all."""
    results: list[UnitResult] = []
    errors: list[ApplierError] = []
    witnessed: list[Witnessed] = []
    tables: frozenset[str] = frozenset()
    for outcome in outcomes:
        match outcome:
            case Applied():
                results += outcome.results
            case Refused():
                errors += outcome.errors
                witnessed.append(outcome.witnessed)
            case PlanAgain():
                tables |= outcome.tables
    if tables:
        return PlanAgain(tables=tables)
    if not errors:
        return Applied(results=tuple(results))
    witnessed += [result.witnessed for result in results]
    return Refused(errors=tuple(errors), witnessed=together(witnessed))
