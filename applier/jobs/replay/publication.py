"""From unit results to the tables of a manifest and of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from applier.apply.tasks import UnitResult
from applier.columns.table_key import table_key
from applier.jobs.explain.searches import duplicate_warnings
from applier.jobs.replay.result import ACCESS_PATHS, TableResult
from applier.plan.planned import PlannedVersion
from applier.schema.definition import TableDefinition, table_schema
from applier.schema.history.table_versions import TableVersion
from applier.snapshot.manifest import FileEntry, Snapshot, TableEntry
from applier.snapshot.staging import Staging
from applier.snapshot.writer import write_empty


def table_entries(live: list[TableVersion], planned: list[PlannedVersion], results: list[UnitResult],
                  base: Snapshot | None, staging: Staging) -> list[TableEntry]:
    """The manifest's tables: units' new files, the base's files where nothing changed; one file for an empty table."""
    by_number = {result.number: result for result in results}
    by_version = {item.version.id: item for item in planned}
    entries = []
    for version in live:
        shown = version.definition.shown
        key = table_key(shown)
        before = base.table(*version.in_base) if base is not None and version.in_base is not None else None
        item = by_version.get(version.id)
        done = [by_number[unit.number] for unit in item.units] if item is not None else []
        carry = partial(_carried, base=base, staging=staging, table=shown)
        history: list[FileEntry] = []
        if item is None or (shown is not version.definition and done[0].files is None):
            files = carry(before.files if before is not None else ())
            history = carry(before.history if before is not None else (), history=True)
        else:
            files = [file for unit, result in zip(item.units, done, strict=True)
                     for file in (carry(unit.base_files) if result.files is None else result.files)]
            history = [file for result in done for file in result.history]
        if not files:
            place = staging.place(shown.database, shown.name)
            files = [write_empty(place, table_schema(shown), key.names if key else ())]
        rules = key.rules if key else ()
        if before is not None and all(result.files is None for result in done):
            rules = before.key_rules  # the rules of its files, which an older program may have written
        numbers = [result.next_number for result in done if result.next_number]
        definition = replace(version.definition, first_number=numbers[0]) if numbers else version.definition
        entries.append(TableEntry(shown.database, shown.name, definition.to_json(), key.names if key else (),
                                  key.form if key else None, tuple(files), rules, tuple(history)))
    return sorted(entries, key=lambda entry: (entry.database, entry.name))


def _carried(files: Sequence[FileEntry], *, base: Snapshot | None, staging: Staging, table: TableDefinition,
             history: bool = False) -> list[FileEntry]:
    kept = [file for file in files if file.rows]
    if not kept or base is None:
        return []
    return staging.carry_over(base, kept, table.database, table.name, history=history)


def table_results(entries: list[TableEntry], planned: list[PlannedVersion],
                  results: list[UnitResult]) -> tuple[TableResult, ...]:
    """What the replay did to each table of the snapshot, without changes to versions that the log dropped."""
    by_number = {result.number: result for result in results}
    units = {(item.version.definition.database, item.version.definition.name): item
             for item in planned if item.version.end is None}
    tables = []
    for entry in entries:
        item = units.get((entry.database, entry.name))
        done = [by_number[unit.number] for unit in item.units] if item is not None else []
        written = sum(len(result.files) for result in done if result.files is not None)
        key = table_key(item.version.definition) if item is not None else None
        tied = item.tied if item is not None else ""
        found = _sum(result.found for result in done)
        tables.append(TableResult(
            entry.database, entry.name, entry.rows, sum(result.inserted for result in done),
            sum(result.updated for result in done), sum(result.deleted for result in done), str(key) if key else "",
            written, len(entry.files) - written, {way: found[way] for way in sorted(ACCESS_PATHS) if way in found},
            _sum(_conflicts(result) for result in done), len(done),
            item.ranges if item is not None and tied else len(done), tied, sum(result.seconds for result in done),
            duplicate_warnings(item.version.definition) if item is not None else (),
            sum(result.by_foreign_keys for result in done)))
    return tuple(tables)


def _conflicts(result: UnitResult) -> dict[str, int]:
    if result.conflicts is None:
        return {}
    counts = result.conflicts.column("conflict").value_counts()
    return {count["values"]: count["counts"] for count in counts.to_pylist()}


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    return dict(sorted(sum(map(Counter, counts), Counter()).items()))
