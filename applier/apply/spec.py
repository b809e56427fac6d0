"""The specification of a unit: how its rows are found, where they come from, and what its task needs in addition. Plain
data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from applier.apply.witnessed import OFF
from applier.columns.table_key import IntKey, TableKey, alters_rows, keeps_key, table_key
from applier.columns.type_conversions import NONE_ALLOWED, TypeConversions
from applier.mysql.session import SYSTEM
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.snapshot.files.file_entries import FileEntry, KeyValue
from applier.snapshot.writer import TableTarget


@dataclasses.dataclass(frozen=True)
class RowPart:
    """A column of the definition, by number, or a part of it. `prefix`: how many characters (bytes, if binary) a key
    uses; `collation`: the collation of a key's text; `by_bits`: -0.0 and 0.0 differ, as in before-images, but not in
    keys."""

    column: int
    prefix: int | None = None
    collation: str | None = None
    by_bits: bool = False


def content_part(column: int, definition: TableDefinition) -> RowPart:
    """Return the part of a column by which a before-image finds a row by content."""
    return RowPart(column, by_bits=definition.columns[column].type.base in ("float", "double"))


# ---- how the rows of a unit are found


@dataclasses.dataclass(frozen=True)
class KeyRange:
    """Rows are found by the single key that also orders and divides them: the unit has the rows from `low` to before
    `high` (None: no bound). Raises ValueError for a bound that is not of the key's type."""

    key: TableKey
    low: KeyValue | None = None
    high: KeyValue | None = None

    def __post_init__(self) -> None:
        if any(not isinstance(bound, self.key.value_type) for bound in self.bounds):
            raise ValueError(f"{self.low!r} to {self.high!r} is not a range of {self.key}")

    @property
    def bounds(self) -> list[KeyValue]:
        """The existing bounds among `low` and `high`."""
        return [bound for bound in (self.low, self.high) if bound is not None]

    def has_whole(self, file: FileEntry) -> bool:
        """Return True if all rows of a file are in the range."""
        low: Any = self.low
        high: Any = self.high
        if low is None and high is None:
            return True
        first, last = file.min_key, file.max_key
        if not (isinstance(first, self.key.value_type) and isinstance(last, self.key.value_type)):
            raise ValueError(f"{file.path} has no range of {self.key}")
        return (low is None or low <= first) and (high is None or last < high)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stored:
    """Rows are found in a row store, which has all rows of the table: by several keys, or, `by_content`, by their
    contents (FIND: a key that is not unique, or a scan). `also`: other parts of each row that are kept, for foreign
    keys."""

    by_content: bool
    also: tuple[RowPart, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageMultiset:
    """Rows are found by whole images: there is no unique key, and all images have all columns. The unit has all rows of
    the table."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotSearched:
    """Rows are not searched: the log changes no row of this version, which has no key. They only pass through it."""


RowSearch = KeyRange | Stored | ImageMultiset | NotSearched


# ---- where they come from


@dataclasses.dataclass(frozen=True, kw_only=True)
class BeginsEmpty:
    """The unit begins without rows; `is_new`: the log makes, or empties, the table, which so has no counter yet."""

    is_new: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromBase:
    """Rows come from `files` of the snapshot at a path or URI: those with rows in the unit's range. The first and the
    last one may have rows of other units, too. `in_order`: without a key, rows of each partition, or of the table, are
    in the order of insertion. `misplaced`: some lie in partitions to which they do not belong."""

    uri: str
    files: tuple[FileEntry, ...]
    in_order: bool = True
    misplaced: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Altered:
    """Rows come, by `conversion`, from the unit of the version from which DDL made this one; both units have the same
    number and bounds."""

    unit: UnitSpec
    conversion: RowConversion

    @cached_property
    def keeps_key(self) -> bool:
        """True if rows are ordered and divided by the same key as before."""
        return keeps_key(self.conversion)

    @cached_property
    def keeps_rows(self) -> bool:
        """True if the rows are the previous ones, in the same order, as after a RENAME."""
        return not alters_rows(self.conversion)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exchanged:
    """Rows come from the previous version, and from a table with which it exchanged rows."""

    own: Altered
    other: Altered


RowOrigin = BeginsEmpty | FromBase | Altered | Exchanged


# ---- the needs of its task, besides the changes of its own table


@dataclasses.dataclass(frozen=True, kw_only=True)
class NothingElse:
    """The task needs nothing else: the unit may have a task of its own, on either route."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupMembership:
    """The task needs all units of a foreign-key `group`, in log order; on the walk route. The unit belongs to it in the
    range of the log from `start` to before `end` (positions: file, offset), in which this version applies, and never if
    the table is `filtered_out` by its name there; `unfollowed` are the referenced columns of foreign keys that the
    server does not follow."""

    group: int
    start: tuple[int, int]
    end: tuple[int, int] | None
    filtered_out: bool = False
    unfollowed: frozenset[tuple[int, ...]] = frozenset()

    def holds_at(self, position: tuple[int, int]) -> bool:
        """Return whether the unit belongs to the group at a position."""
        return not self.filtered_out and self.start <= position and (self.end is None or position < self.end)


@dataclasses.dataclass(frozen=True)
class ParentLink:
    """A foreign key of one column whose effects on rows follow from the changes of the parent table alone: that table's
    version and definition, its column and this table's column, by number, the part of values that is compared, and the
    actions (applier.schema.foreign_keys)."""

    version: int
    parent: TableDefinition
    parent_column: int
    column: int
    part: RowPart
    on_delete: str
    on_update: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Parents:
    """The task needs the changes of the tables to which the unit's foreign keys refer, since its rows change by value
    with them; on the walk route."""

    links: tuple[ParentLink, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExchangeGroup:
    """The task needs all units of a group, whose rows pass to several of its units; on the walk route."""

    group: int


Needs = NothingElse | GroupMembership | Parents | ExchangeGroup


Link = TypeVar("Link")


def in_order_of_rows(last: Link, sources: Callable[[Link], Iterable[Link]],
                     ends: Callable[[Link], bool] = lambda _: False) -> list[Link]:
    """Return the links whose rows end up in the `last` one, each after its sources. Not recursive, since a table may
    have thousands of versions. A link for which `ends` is true is included, but not its sources."""
    found: dict[int, Link] = {}
    pending = [(last, False)]
    while pending:
        link, is_after_sources = pending.pop()
        if id(link) in found:
            continue
        if is_after_sources or (link is not last and ends(link)):
            found[id(link)] = link
        else:
            pending.append((link, True))
            pending += [(source, False) for source in reversed([*sources(link)])]
    return [*found.values()]


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnitSpec:
    """A unit: rows of one version of a table, to which one task applies changes one after another.

    `search` says how the rows are found, `origin` where they come from, `needs` what else the task needs. `version` is
    the version's id. `target` is where the unit's files are written; None for a version that is not in the snapshot
    (its table was dropped later), whose changes are only checked. `type_conversions`: how types of the log's columns
    may differ from the definition; `same_columns`: both have the same number of columns. `idempotent`: the exec mode;
    `witness`: how differences between before-images and rows are handled (witnessed). `may_merge`: its files may stay,
    with changes written beside them (applier.apply.output.merged_unit). `time_zone`: the zone in which generated
    columns that images omit are computed. `may_divide`: its range may be divided further; `is_part`: it is the result
    of that (applier.apply.routes.parts), and its rows are always written. `may_misplace`: rows may lie in
    partitions to which they do not belong. `counts`: a later statement needs the table's next number of AUTO_INCREMENT.
    `is_touched`: as of the version.
    """

    number: int
    version: int
    definition: TableDefinition
    search: RowSearch
    origin: RowOrigin = BeginsEmpty()
    needs: Needs = NothingElse()
    target: TableTarget | None
    type_conversions: TypeConversions = NONE_ALLOWED
    same_columns: bool = True
    idempotent: bool = False
    witness: str = OFF
    time_zone: str = SYSTEM
    may_merge: bool = False
    may_divide: bool = False
    is_part: bool = False
    may_misplace: bool = False
    counts: bool = False
    is_touched: bool = False

    @cached_property
    def merges(self) -> bool:
        """True if changes may be written beside the files of its base, which contain no other unit's rows."""
        return self.may_merge and isinstance(self.origin, FromBase) and not self.shared_files

    @property
    def bounds(self) -> tuple[KeyValue | None, KeyValue | None]:
        """The keys at which the unit's rows begin, and before which they end; None: no bound."""
        return (self.search.low, self.search.high) if isinstance(self.search, KeyRange) else (None, None)

    @property
    def sources(self) -> tuple[Altered, ...]:
        """The units whose rows pass to this one."""
        match self.origin:
            case Altered():
                return (self.origin,)
            case Exchanged():
                return self.origin.own, self.origin.other
            case _:
                return ()

    @property
    def chain(self) -> list[UnitSpec]:
        """The units, of earlier versions, whose rows end up in this one, which is the last."""
        return in_order_of_rows(self, lambda unit: [source.unit for source in unit.sources])

    @property
    def base_files(self) -> tuple[FileEntry, ...]:
        """The base's files with its rows; files without changes are carried over."""
        origin = self.origin
        while isinstance(origin, Altered):
            origin = origin.unit.origin
        return origin.files if isinstance(origin, FromBase) else ()

    @property
    def shared_files(self) -> tuple[FileEntry, ...]:
        """The files of its own origin that have rows of other units, too. They are never carried over."""
        match self.origin, self.search:
            case FromBase(files=files), KeyRange() as rows:
                return tuple(file for file in files if not rows.has_whole(file))
            case _:
                return ()

    @property
    def is_walked_for(self) -> bool:
        """True if the unit's task walks the log even on the shuffle route: if it takes all changes of its table, it may
        as well read them; if it needs changes of other tables, it must."""
        return isinstance(self.search, (Stored, ImageMultiset)) or not isinstance(self.needs, NothingElse)

    @cached_property
    def key(self) -> TableKey | None:
        """The key by which files are sorted; None if there is none."""
        return table_key(self.definition)

    @property
    def int_key(self) -> IntKey | None:
        """The integer key by which rows are found, if there is one; steps then identify rows by it."""
        key = self.search.key if isinstance(self.search, KeyRange) else None
        return key if isinstance(key, IntKey) else None
