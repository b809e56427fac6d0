"""What a plan asks of a task, and what the task answers: plain data that travels between the driver and its workers."""

from __future__ import annotations

import dataclasses
from functools import cached_property

from applier.apply.table_key import TableKey, table_key
from applier.errors import ReplayStopped
from applier.schema.definition import TableDefinition
from applier.snapshot.manifest import FileEntry, KeyValue, Snapshot
from applier.snapshot.writer import TablePlace


@dataclasses.dataclass(frozen=True)
class UnitSpec:
    """A unit: keys from `low` to before `high` (None: no bound) of one version of a table.

    `base_files` are the files of `base` with rows in that range; `place` is where the unit's files go, None for a
    version that is not in the snapshot (its table was dropped later), whose changes only have to be possible.
    """

    number: int
    definition: TableDefinition
    low: KeyValue | None
    high: KeyValue | None
    base: Snapshot | None
    base_files: tuple[FileEntry, ...]
    place: TablePlace | None

    @cached_property
    def key(self) -> TableKey:
        """The key that the unit is searched by; the plan makes no units for tables without one."""
        return table_key(self.definition)


@dataclasses.dataclass(frozen=True)
class UnitResult:
    """What became of a unit. `files` are its new files, None where nothing changed (the base's are carried over)."""

    number: int
    inserted: int
    updated: int
    deleted: int
    zero_dates: int
    files: tuple[FileEntry, ...] | None

    @property
    def changes(self) -> int:
        """Row changes in all."""
        return self.inserted + self.updated + self.deleted


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Bytes [start, end) of a file in which every table keeps its definition: `tables` maps (database, table) to the id
    of the version that rows there are about."""

    file: int
    uri: str
    checksum: bool
    start: int
    end: int
    tables: dict[tuple[str, str], int]


@dataclasses.dataclass(frozen=True)
class ApplyTask:
    """Units by id of their version, and what to walk for them, in commit order."""

    units: dict[int, tuple[UnitSpec, ...]]
    stretches: tuple[Stretch, ...]

    @property
    def n_units(self) -> int:
        return sum(len(units) for units in self.units.values())


@dataclasses.dataclass(frozen=True)
class SplitTask:
    """A stretch of log to decode for all units: `units` by id of their version, ascending in their keys."""

    number: int
    stretch: Stretch
    units: dict[int, tuple[UnitSpec, ...]]


@dataclasses.dataclass(frozen=True)
class TaskOutcome:
    """What a task did: its units' results, or the changes that its units stopped at."""

    results: tuple[UnitResult, ...]
    stopped: tuple[ReplayStopped, ...]
