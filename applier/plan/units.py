"""Units of work: which version of a table, which keys of it, and which base files.

A version without changes in the log needs no unit. One with changes gets as many as keep the cores busy and a unit's
rows in memory; with a base, ranges begin where base files begin, so that files whose range has no change are carried
over.
"""

from __future__ import annotations

import dataclasses

from applier.apply.table_key import table_key
from applier.apply.work import UnitSpec
from applier.errors import ApplierError, ReplayStopped
from applier.plan.log import LogSpan, UsedTable
from applier.plan.ranges import bounds
from applier.schema.history import TableVersion
from applier.snapshot.manifest import FileEntry, KeyValue, Snapshot
from applier.snapshot.publish import Staging

UNIT_BYTES = 128 << 20
"""Bytes of rows events for one unit, at most by plan."""
LEAST_UNIT_BYTES = 8 << 20
"""Below this, dividing a table costs more than it brings."""


@dataclasses.dataclass
class PlannedVersion:
    """A version of a table that the log changes: its uses in the log, and its units."""

    version: TableVersion
    uses: list[UsedTable]
    units: list[UnitSpec]

    @property
    def bytes(self) -> int:
        """Bytes of its rows events (all of them for each of several versions in one file)."""
        return sum(used.use.n_bytes for used in self.uses)

    @property
    def bytes_a_unit(self) -> float:
        return self.bytes / max(1, len(self.units))


def changed_versions(used: list[UsedTable]) -> list[PlannedVersion]:
    """The versions that the log has rows of, in the order of their making."""
    by_id: dict[int, PlannedVersion] = {}
    for table in used:
        for version in table.versions:
            by_id.setdefault(version.id, PlannedVersion(version, [], [])).uses.append(table)
    return [by_id[number] for number in sorted(by_id)]


def divide(planned: list[PlannedVersion], span: LogSpan, base: Snapshot | None, staging: Staging, cores: int) -> None:
    """Give each version its units. Raises ReplayStopped for a table that has no key to search by."""
    total, number = sum(version.bytes for version in planned), 0
    unit_bytes = min(UNIT_BYTES, max(LEAST_UNIT_BYTES, total // (2 * cores)))
    for item in planned:
        definition = item.version.definition
        key = table_key(definition)
        if key is None:
            raise _no_key(item, span)
        place = staging.place(definition.database, definition.name) if item.version.end is None else None
        lows = [None] if _is_tied(item, key.columns) else _lows(item, base, 1 + item.bytes // unit_bytes)
        for low, high in zip(lows, [*lows[1:], None], strict=True):
            files = _base_files(item, base, low, high)
            item.units.append(UnitSpec(number, definition, low, high, base if files else None, files, place))
            number += 1


def _is_tied(item: PlannedVersion, key_columns: tuple[int, ...]) -> bool:
    """Whether an update may move a row to another key without holding the whole row: its old values are then needed
    where it goes, so all keys are one unit."""
    return any(used.use.after_columns >> column & 1 for used in item.uses for column in key_columns)


def _lows(item: PlannedVersion, base: Snapshot | None, n: int) -> list[KeyValue | None]:
    """Where the units' ranges begin; the first has no bound. A base file is never cut: what is divided by the log's own
    keys is the space between and after the files, where most tables grow."""
    files, definition = _files_of(item, base), item.version.definition
    cuts = bounds([used.use for used in item.uses], definition, table_key(definition), n)
    between = {cut for cut in cuts if not any(file.min_key < cut <= file.max_key for file in files)}
    return [None, *sorted(between.union(file.min_key for file in files[1:]))]


def _files_of(item: PlannedVersion, base: Snapshot | None) -> tuple[FileEntry, ...]:
    """The base's files of this version; a version made by the log has none."""
    if base is None or item.version.start != (0, 0):
        return ()
    entry = base.table(item.version.definition.database, item.version.definition.name)
    return tuple(file for file in entry.files if file.rows) if entry is not None else ()


def _base_files(item: PlannedVersion, base: Snapshot | None, low: KeyValue | None,
                high: KeyValue | None) -> tuple[FileEntry, ...]:
    return tuple(file for file in _files_of(item, base)
                 if (low is None or file.min_key >= low) and (high is None or file.min_key < high))


def _no_key(item: PlannedVersion, span: LogSpan) -> ApplierError:
    first = item.uses[0]
    return ReplayStopped("the table has neither a primary key nor a unique key of NOT NULL columns, so its rows cannot "
                         "be found yet", file=span.outlines[first.file].uri, position=first.use.first_position,
                         table=item.version.definition.full_name, hint="leave it out with --ignore-tables")
