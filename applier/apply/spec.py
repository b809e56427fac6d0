"""What a plan asks of a task, and what the task answers: plain data that travels between the driver and its workers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
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


# ---- how the rows of a unit are found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Keyed:
    """By the one key that also orders and divides them: the unit has the rows from `low` to before `high` (None: no
    bound)."""

    key: TableKey
    low: KeyValue | None = None
    high: KeyValue | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stored:
    """In a row store, which has all rows of the table: by several keys, or, `by_content`, by what they hold (FIND: a
    key that is not unique, or a scan). `also`: what else is kept of each row, for foreign keys."""

    by_content: bool
    also: tuple[RowPart, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageMultiset:
    """By whole images: no key is unique, and all images hold all columns. The unit has all rows of the table."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotSearched:
    """By nothing: the log changes no row of this version, which has no key; they only pass through it."""


RowSearch = Keyed | Stored | ImageMultiset | NotSearched


# ---- where they come from


@dataclasses.dataclass(frozen=True, kw_only=True)
class BeginsEmpty:
    """From nowhere: there are none."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromBase:
    """From `files` of a snapshot, those with rows in the unit's range."""

    snapshot: Snapshot
    files: tuple[FileEntry, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Altered:
    """From the unit of the version that DDL made this one of, by `conversion`; both have the same number and bounds."""

    unit: UnitSpec
    conversion: RowConversion

    @cached_property
    def keeps_key(self) -> bool:
        """Whether rows are ordered and divided by the same key as before."""
        return keeps_key(self.conversion)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exchanged:
    """From the version before, and from a table that it exchanged rows with."""

    own: Altered
    other: Altered


RowOrigin = BeginsEmpty | FromBase | Altered | Exchanged


# ---- what its task needs besides the changes of its own table


@dataclasses.dataclass(frozen=True, kw_only=True)
class NothingElse:
    """Nothing: a task of its own may apply it, on either route."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ForeignKeyTie:
    """All units of a `group`, which foreign keys tie together, in the order of the log. `start` and `end` are positions
    (file, offset) from which and before which the unit's version is in force, `unfollowed` the columns to which foreign
    keys refer that nothing follows."""

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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parents:
    """The changes of the tables that its foreign keys refer to, by which its rows change; on the walk route."""

    links: tuple[ParentLink, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExchangeGroup:
    """All units of a group, which give their rows to several of it; on the walk route."""

    group: int


Needs = NothingElse | ForeignKeyTie | Parents | ExchangeGroup


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnitSpec:
    """A unit: rows of one version of a table that one task changes, one after another.

    `search` says how they are found, `origin` where they come from, `needs` what their task needs besides the changes
    of its own table. `version` is the version's id. `place` is where the unit's files go, None for a version that is
    not in the snapshot (its table was dropped later), whose changes only have to be possible. `type_conversions`: which
    columns of the log may have other types than the definition has; `same_columns`: both have the same number of them.
    `idempotent`: the exec mode.
    """

    number: int
    version: int
    definition: TableDefinition
    search: RowSearch
    origin: RowOrigin = BeginsEmpty()
    needs: Needs = NothingElse()
    place: TableTarget | None
    type_conversions: TypeConversions = NONE_ALLOWED
    same_columns: bool = True
    idempotent: bool = False

    @property
    def sources(self) -> tuple[Altered, ...]:
        """The units whose rows come to this one."""
        match self.origin:
            case Altered():
                return (self.origin,)
            case Exchanged():
                return self.origin.own, self.origin.other
            case _:
                return ()

    @property
    def chain(self) -> list[UnitSpec]:
        """The units of the versions whose rows come down to this one, which is the last."""
        links = [link for source in self.sources for link in source.unit.chain]
        return [*{id(link): link for link in links}.values(), self]

    @property
    def base_files(self) -> tuple[FileEntry, ...]:
        """The files of the base with its rows, which are carried over where nothing changes them."""
        match self.origin:
            case FromBase():
                return self.origin.files
            case Altered():
                return self.origin.unit.base_files
            case _:
                return ()

    @property
    def is_walked_for(self) -> bool:
        """Whether the unit's task walks the log on either route: where it takes all changes of its table, it may as
        well read them; where it needs other tables' changes, it has to."""
        return isinstance(self.search, (Stored, ImageMultiset)) or not isinstance(self.needs, NothingElse)

    @cached_property
    def key(self) -> TableKey | None:
        """The key that files are sorted by; None if there is none."""
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Applied:
    """All units of a task were."""

    results: tuple[UnitResult, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Refused:
    """Changes that a replica would stop at, in no order: the first in the log counts."""

    errors: tuple[ApplierError, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlanAgain:
    """In idempotent mode an update moves a row of these tables (db.table) from one unit to another, and what it does
    depends on the rows of both: plan again, with all keys of such a table in one unit."""

    tables: frozenset[str]


TaskOutcome = Applied | Refused | PlanAgain


def outcome_of(outcomes: Iterable[TaskOutcome]) -> TaskOutcome:
    """What several tasks did together, or units of one: plan again if any says so, else what any of them refused."""
    results: list[UnitResult] = []
    errors: list[ApplierError] = []
    tables: frozenset[str] = frozenset()
    for outcome in outcomes:
        match outcome:
            case Applied():
                results += outcome.results
            case Refused():
                errors += outcome.errors
            case PlanAgain():
                tables |= outcome.tables
    if tables:
        return PlanAgain(tables=tables)
    return Refused(errors=tuple(errors)) if errors else Applied(results=tuple(results))
