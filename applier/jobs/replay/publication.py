"""From unit results to the tables of a manifest and of a report.

PassesDone carries the results of a replay's passes so far to the next pass and to the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import pyarrow as pa

from applier.apply.tasks import UnitResult
from applier.columns.table_key import table_key
from applier.io.resolver import is_far
from applier.jobs.explain.searches import duplicate_warnings
from applier.jobs.replay.applying import AppliedPlan
from applier.jobs.replay.merging import MergedTable, changed_files, write_anew
from applier.jobs.replay.result import ACCESS_PATHS, TableResult
from applier.plan.conflicts import LISTING, conflict_listing
from applier.plan.planned import PlannedVersion
from applier.plan.span import LogSpan
from applier.plan.witness import WitnessResult
from applier.plan.witness_results import witness_result
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.history.history import SchemaHistory
from applier.schema.history.table_versions import TableVersion
from applier.snapshot.attempts import all_written_at
from applier.snapshot.files.file_entries import FileEntry, MergedFile, undivided
from applier.snapshot.files.partitions import Partition
from applier.snapshot.files.shards import columns_of
from applier.snapshot.files.stored_columns import StoredColumns
from applier.snapshot.lake import compaction
from applier.snapshot.manifest import LeftOutEntry, Snapshot
from applier.snapshot.staging import Staging
from applier.snapshot.table_entry import TableEntry
from applier.snapshot.writer import write_empty

_TABLES_AT_ONCE = 8
"""Tables of a lake on a store whose changes are written at the same time: each waits for several answers."""


@dataclass
class PassesDone:
    """`history` is the last pass's; `names` are all that tables had, `files` the base names of all files written,
    `tables` the results of tables by the names that they have now; `left_out` are the exclusions from `groups` groups;
    `zero_dates` are the invalid dates of the log that rows have had, `zero_dates_in_files` those that files have, by
    base name and by column; `witness` has the results of comparing before-images with rows."""

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
    zero_dates_in_files: dict[str, dict[str, int]] = field(default_factory=dict)
    witness: WitnessResult = field(default_factory=WitnessResult)

    def add_names(self, history: SchemaHistory) -> None:
        """Add the names that tables had in a pass."""
        self.names |= {(version.definition.database, version.definition.name) for version in history.versions()}

    def add(self, span: LogSpan, history: SchemaHistory, plan: AppliedPlan) -> None:
        """Add a pass, except for its changes to each table."""
        self.history = history
        self.files |= {_base_name(file.path) for result in plan.results for file in result.written}
        self.conflicts = pa.concat_tables([self.conflicts, conflict_listing(plan.results, span.outlines)])
        self.witness = self.witness.and_then(witness_result(plan.witnessed, span.outlines))
        self.binlogs |= dict.fromkeys(outline.name for outline in span.files)
        self.routes |= {plan.route: None}
        self.units += len(plan.results)
        for result in plan.results:
            self.zero_dates += result.zero_dates
            self.zero_dates_in_files |= {_base_name(path): count for path, count in result.zero_dates_in_files.items()}

    def add_files(self, files: Iterable[FileEntry], zero_dates: Mapping[str, dict[str, int]]) -> None:
        """Add files that were written when all units were done; `zero_dates` are invalid dates in them, by their paths.
        """
        self.files |= {file.name for file in files}
        self.zero_dates_in_files |= {_base_name(path): count for path, count in zero_dates.items()}

    def written(self, entry: TableEntry) -> list[FileEntry]:
        """Return a table's files that this replay has written."""
        return [file for files in (entry.files, entry.row_files, entry.positions) for file in files
                if file.name in self.files]

    def zero_dates_left(self, entries: Iterable[TableEntry], *, has_base: bool) -> int:
        """Return how many invalid dates the tables have in files that this replay has written. With a base, some of
        these may be the base's own, which do not count: it is the most that it can be."""
        left = sum(sum(self.zero_dates_of(entry).values()) for entry in entries)
        return min(left, self.zero_dates) if has_base else left

    def zero_dates_of(self, entry: TableEntry) -> dict[str, int]:
        """How many invalid dates a table has in files that this replay has written, by column."""
        found: Counter[str] = Counter()
        for file in (*(entry.history or entry.files), *entry.row_files) if self.zero_dates_in_files else ():
            found.update(self.zero_dates_in_files.get(file.name, {}))
        return dict(found)


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]


_Name = TypeVar("_Name", bound=str)
_DIFFS = "partial_updates", "documents", "bytes_saved"
"""Of JSON diffs, in a UnitResult and a TableResult."""


def table_entries(live: list[TableVersion], planned: list[PlannedVersion], results: list[UnitResult],
                  base: Snapshot | None, staging: Staging, done: PassesDone, compact_bytes: int) -> list[TableEntry]:
    """The manifest's tables: units' new files, the base's files where nothing changed; one file for an empty table.
    `done` is notified of files that are written here. In a lake that merges on read, up to `compact_bytes` of
    tables are rewritten."""
    staging.finish_attempts(all_written_at(file.path for result in results for file in result.written))
    by_number = {result.number: result for result in results}
    by_version = {item.version.id: item for item in planned}
    entries, merged = [], []
    for version in live:
        shown = version.definition.shown
        key = table_key(shown)
        before = base.table(*version.in_base) if base is not None and version.in_base is not None else None
        item = by_version.get(version.id)
        of_units = [by_number[unit.number] for unit in item.units] if item is not None else []
        partition = staging.partition_of(shown.database, shown.name)
        carry = partial(_carried, base=base, staging=staging, table=shown, before=None if before is None else (
            before.partition and before.partition.onto(before.definition, shown)))
        history: list[FileEntry] = []
        if item is None or (shown is not version.definition and of_units[0].files is None):
            files = [*chain.from_iterable(carry(_with_rows(before.files) if before is not None else ()))]
            history = [*chain.from_iterable(carry(_with_rows(before.history) if before is not None else (),
                                                  history=True))]
        else:
            unchanged = [_with_rows(unit.base_files) if result.files is None else []
                         for unit, result in zip(item.units, of_units, strict=True)]
            carried = iter(carry([file for files_of_unit in unchanged for file in files_of_unit]))
            files = [file for kept, result in zip(unchanged, of_units, strict=True)
                     for file in _files_of(result, chain.from_iterable(islice(carried, len(kept))), staging.number)]
            history = [file for result in of_units for file in result.history]
        if not files:
            target = staging.target(shown.database, shown.name)
            files = [write_empty(target, table_schema(shown), key.names if key else (), StoredColumns.of(shown))]
        rules = key.rules if key else ()
        if before is not None and all(result.files is None for result in of_units):
            rules = before.key_rules  # the rules of its files, which an older program may have written
        numbers = [result.next_number for result in of_units if result.next_number]
        definition = replace(version.definition, first_number=numbers[0]) if numbers else version.definition
        is_ordered = _is_ordered(version, before, of_units)
        entry = TableEntry(shown.database, shown.name, definition, key.names if key else (),
                           key.form if key else None, tuple(files), rules, tuple(history),
                           unordered=not is_ordered and shown.partitioning is None,
                           ordered=is_ordered and shown.partitioning is not None and key is None,
                           misplaced=_is_misplaced(before, of_units), partition=partition)
        entry = entry.of_ranges()
        entries.append(entry)
        if staging.merges:
            merged.append((MergedTable(shown, before, base, staging),
                           list(zip(item.units, of_units, strict=True)) if item is not None else []))
    if staging.merges:
        anew = compaction.due((columns_of(entry.files) for entry in entries), compact_bytes, compaction.MOST_MERGED)
        with ThreadPoolExecutor(_TABLES_AT_ONCE if is_far(staging.uri) else 1) as pool:
            entries = list(pool.map(lambda entry, table: table[0].entry(entry, table[1], anew), entries, merged))
        for table, _ in merged:
            done.add_files(table.written, table.zero_dates)
    return sorted(entries, key=lambda entry: (entry.database, entry.name))


def _is_ordered(version: TableVersion, before: TableEntry | None, results: Sequence[UnitResult]) -> bool:
    """Return whether the rows of a table, or of each of its partitions, are in the server's order, which has those of
    former partitions one after the other."""
    if table_key(version.definition) is not None:
        return True
    if any(result.files is not None for result in results):
        return all(result.in_order for result in results)
    return before is None or not before.rows or before.in_order


def _is_misplaced(before: TableEntry | None, results: Sequence[UnitResult]) -> bool:
    """Return whether rows of a table lie in partitions to which they do not belong; those of a base, where no unit has
    looked at them."""
    if any(result.files is not None for result in results):
        return any(result.misplaced for result in results)
    return before is not None and before.misplaced


def _files_of(result: UnitResult, carried: Iterable[FileEntry], version: int) -> Iterable[FileEntry]:
    """The files of a unit, given those of the base that it keeps."""
    if result.files is not None:
        return result.files
    return carried if result.merged is None else changed_files(carried, result.merged.ranges, version)


def _carried(files: Sequence[FileEntry], *, base: Snapshot | None, staging: Staging, table: TableDefinition,
             before: Partition | None, history: bool = False) -> list[Sequence[FileEntry]]:
    """Carry files of the base over; `before` is what they are divided by. Files that are divided otherwise than the
    table, or have changes that its files cannot have, are written again: one may become several."""
    if not files or base is None:
        return []
    partition = staging.partition_of(table.database, table.name)
    if partition is not None and before == partition:
        carried = iter(staging.carry_over(base, [*undivided(files)], table.database, table.name))
        return [[_as_divided(file, carried)] for file in files]
    if not history and not staging.merges and before != partition:
        target = staging.target(table.database, table.name)
        return [write_anew(base.root, file, table, target)[0] for file in files]
    if staging.merges or not any(file.changed for file in files):
        return [[file] for file in staging.carry_over(base, files, table.database, table.name, history=history)]
    target = staging.target(table.database, table.name)
    whole = iter(staging.carry_over(base, [file for file in files if not file.changed], table.database, table.name))
    return [write_anew(base.root, file, table, target)[0] if file.changed else [next(whole)] for file in files]


def _as_divided(file: FileEntry, carried: Iterator[FileEntry]) -> FileEntry:
    """Return the entry of a range of which these are the files, as `undivided` yields them, now."""
    first = next(carried)
    if not isinstance(file, MergedFile):
        return first
    layer = file.overlay.layer
    others = tuple(islice(carried, len(layer.row_files)))
    return replace(file, path=first.path, overlay=replace(file.overlay, layer=replace(layer, row_files=others)))


def _with_rows(files: Iterable[FileEntry]) -> list[FileEntry]:
    return [file for file in files if file.rows]


def table_results(live: list[TableVersion], entries: list[TableEntry], planned: list[PlannedVersion],
                  results: list[UnitResult], done: PassesDone) -> tuple[TableResult, ...]:
    """Return the changes of the replay to each table of the snapshot, in this pass and those before, without changes to
    versions that the log dropped."""
    by_number = {result.number: result for result in results}
    units = {(item.version.definition.database, item.version.definition.name): item
             for item in planned if item.version.end is None}
    versions = {(version.definition.database, version.definition.name): version for version in live}
    tables = []
    for entry in entries:
        name = entry.database, entry.name
        item = units.get(name)
        of_units = [by_number[unit.number] for unit in item.units] if item is not None else []
        version = versions[name]
        before = done.tables.get(version.in_base) if version.in_base is not None else None
        is_changed = item is not None or (before is not None and before.units > 0)
        key = table_key(version.definition) if is_changed else None
        tied = item.single_unit_reason if item is not None else ""
        written, found = done.written(entry), _sum(result.found for result in of_units)
        here = TableResult(
            *name, entry.rows, sum(result.inserted for result in of_units),
            sum(result.updated for result in of_units), sum(result.deleted for result in of_units),
            str(key) if key else "", len(written),
            len(entry.files) + len(entry.row_files) + len(entry.positions) - len(written),
            {way: found[way] for way in sorted(ACCESS_PATHS) if way in found},
            _sum(_conflicts(result) for result in of_units), len(of_units),
            item.ranges if item is not None and tied else len(of_units), tied,
            sum(result.seconds for result in of_units),
            duplicate_warnings(item.version.definition) if item is not None else (),
            sum(result.by_foreign_keys for result in of_units),
            **{name: sum(getattr(result, name) for result in of_units) for name in _DIFFS},
            bytes_written=sum(file.bytes for file in written))
        tables.append(replace(here if before is None else _together(before, here),
                              zero_dates=done.zero_dates_of(entry)))
    return tuple(tables)


def _together(before: TableResult, here: TableResult) -> TableResult:
    """Add the results of an earlier pass and of this one for a table, under its current definition."""
    return replace(
        here, inserts=before.inserts + here.inserts, updates=before.updates + here.updates,
        deletes=before.deletes + here.deletes, found=_sum([before.found, here.found]),
        conflicts=_sum([before.conflicts, here.conflicts]), units=before.units + here.units,
        ranges=before.ranges + here.ranges, tied=here.tied or before.tied, seconds=before.seconds + here.seconds,
        warnings=tuple(dict.fromkeys([*before.warnings, *here.warnings])),
        by_foreign_keys=before.by_foreign_keys + here.by_foreign_keys,
        **{name: getattr(before, name) + getattr(here, name) for name in _DIFFS})


def _conflicts(result: UnitResult) -> dict[str, int]:
    if result.conflicts is None:
        return {}
    counts = result.conflicts.column("conflict").value_counts()
    return {count["values"]: count["counts"] for count in counts.to_pylist()}


def _sum(counts: Iterable[Mapping[_Name, int]]) -> dict[_Name, int]:
    return dict(sorted(sum(map(Counter, counts), Counter()).items()))
