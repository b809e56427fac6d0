"""What a plan asks of a task, and what the task answers: plain data that travels between the driver and its workers."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import pyarrow as pa

from applier.binlog.events.format import HEADER_LENGTH
from applier.binlog.outline.outline import OutlinedBytes
from applier.columns.table_key import TableKey, keeps_key, table_key
from applier.columns.type_conversions import NONE_ALLOWED, TypeConversions
from applier.errors import ApplierError
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.snapshot.manifest import FileEntry, KeyValue, Snapshot
from applier.snapshot.writer import TableTarget


@dataclasses.dataclass(frozen=True)
class RowPart:
    """A column of the definition by its number; `prefix`: how many characters (of binary ones, bytes) a key takes;
    `collation`: what a key compares the text by; `by_bits`: of floating-point numbers -0.0 and 0.0 are two, as they are
    to before-images, but not to keys."""

    column: int
    prefix: int | None = None
    collation: str | None = None
    by_bits: bool = False


def content_piece(column: int, definition: TableDefinition) -> RowPart:
    """What a before-image compares of a column, to find a row by what it holds."""
    return RowPart(column, by_bits=definition.columns[column].type.base in ("float", "double"))


@dataclasses.dataclass(frozen=True)
class RowSearch:
    """Why a table's one unit needs more than the one key that finds, orders and divides rows. by_content: some rows are
    found by what they hold (FIND: a key that is not unique, or a scan). also: what else is kept of each row, for
    foreign keys. whole_images: no key is unique, and all images hold all columns."""

    by_content: bool
    also: tuple[RowPart, ...] = ()
    whole_images: bool = False


@dataclasses.dataclass(frozen=True)
class GroupMembership:
    """Of a unit that foreign keys tie to others: the group's number, positions (file, offset) from which and before
    which the unit's version is in force, and the columns to which foreign keys refer that nothing follows."""

    group: int
    start: tuple[int, int]
    end: tuple[int, int] | None
    unfollowed: frozenset[tuple[int, ...]] = frozenset()

    def holds_at(self, position: tuple[int, int]) -> bool:
        return self.start <= position and (self.end is None or position < self.end)


@dataclasses.dataclass(frozen=True)
class ParentLink:
    """A foreign key of one column, of which it can be told from the changes of the table that it refers to what it does
    to rows: that table's version and definition, its column and the own one, by number, what is compared of values, and
    what happens (applier.schema.foreign_keys)."""

    version: int
    parent: TableDefinition
    parent_column: int
    column: int
    piece: RowPart
    on_delete: str
    on_update: str


@dataclasses.dataclass(frozen=True)
class UnitSpec:
    """A unit: keys from `low` to before `high` (None: no bound) of one version of a table.

    `base_files` are the files of `base` with rows in that range; `place` is where the unit's files go, None for a
    version that is not in the snapshot (its table was dropped later), whose changes only have to be possible. With
    `rows`, the unit is the whole table, and a row store applies it.

    `version` is the id of the version. Where DDL made it of another one, `before` is the unit of that one whose rows
    this unit goes on with, by `conversion`; both have the same number, bounds and base. `type_conversions`: which
    columns of the log may have other types than the definition has. `tie`: foreign keys tie it to other units, which
    one task has to apply together; `links`: foreign keys change rows of it, and it is for the walk route.
    `idempotent`: the exec mode.

    Where tables exchanged rows, those of the unit `joined` come, too, by `joining`; all units of a `group`, which give
    their rows to several, are for one task, on the walk route.
    """

    number: int
    definition: TableDefinition
    low: KeyValue | None
    high: KeyValue | None
    base: Snapshot | None
    base_files: tuple[FileEntry, ...]
    place: TableTarget | None
    rows: RowSearch | None = None
    version: int = 0
    before: UnitSpec | None = None
    conversion: RowConversion | None = None
    type_conversions: TypeConversions = NONE_ALLOWED
    same_columns: bool = True
    joined: UnitSpec | None = None
    joining: RowConversion | None = None
    group: int | None = None
    tie: GroupMembership | None = None
    links: tuple[ParentLink, ...] = ()
    idempotent: bool = False

    @property
    def chain(self) -> list[UnitSpec]:
        """The units of the versions whose rows come down to this one, which is the last."""
        sources = [link for unit in (self.before, self.joined) if unit is not None for link in unit.chain]
        return [*{id(link): link for link in sources}.values(), self]

    @cached_property
    def changes_key(self) -> bool:
        """Whether rows are ordered and divided by another key than in the version before."""
        return not keeps_key(self.conversion)

    @property
    def is_walked_for(self) -> bool:
        """Whether the unit's task walks the log on either route: with a row store it takes all changes of its table,
        and may as well read them; ties, groups and links to parents need other tables' changes, too."""
        return self.rows is not None or self.tie is not None or self.group is not None or bool(self.links)

    @cached_property
    def key(self) -> TableKey | None:
        """The key that files are sorted by, and that a unit without `rows` is searched by; None if there is none."""
        return table_key(self.definition)


@dataclasses.dataclass(frozen=True)
class UnitResult:
    """What became of a unit. `files` are its new files, None where nothing changed (the base's are carried over);
    `conflicts` what idempotent mode passed over (conflicts.CONFLICTS), None if nothing; `found` how many rows were
    found in which way (keysearch.choose.Choice.kind); `seconds` how long its rows were applied and written;
    `history` the files of a versioned table with all its rows, those that held before among them; `by_foreign_keys` how
    many rows were changed or deleted that the log does not have; `next_number` where AUTO_INCREMENT goes on in a column
    that the log does not have, 0 where there is none."""

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

    @property
    def changes(self) -> int:
        """Row changes in all."""
        return self.inserted + self.updated + self.deleted


@dataclasses.dataclass(frozen=True)
class LogSegment:
    """Bytes [start, end) of a file in which every table keeps its definition: `tables` maps (database, table) to the id
    of the version that rows there are about. `split` is what they are in, as it was outlined."""

    file: int
    uri: str
    checksum: bool
    start: int
    end: int
    tables: dict[tuple[str, str], int]
    split: OutlinedBytes
    header_length: int = HEADER_LENGTH


@dataclasses.dataclass(frozen=True)
class ApplyTask:
    """Units by id of their version, and what to walk for them, in commit order."""

    units: dict[int, tuple[UnitSpec, ...]]
    segments: tuple[LogSegment, ...]

    @property
    def n_units(self) -> int:
        return sum(len(units) for units in self.units.values())


@dataclasses.dataclass(frozen=True)
class SplitTask:
    """A stretch of log to decode for all units: `units` by id of their version, ascending in their keys."""

    number: int
    segment: LogSegment
    units: dict[int, tuple[UnitSpec, ...]]


@dataclasses.dataclass(frozen=True)
class TaskOutcome:
    """What a task did: its units' results, or the changes that its units stopped at."""

    results: tuple[UnitResult, ...]
    stopped: tuple[ApplierError, ...]
