"""The versions of every table: which definition a name had at which position, and which version continues another."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sortedcontainers import SortedKeyList

from applier.mysql.sequences import SequenceState
from applier.mysql.session import SYSTEM
from applier.schema.column_ids import numbered
from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.key_infos import clustered_key, is_innodb
from applier.schema.name_case import folded_table
from applier.schema.versioning import ENDS_OF_TIME

Position = tuple[int, int]  # index of the file in the archive's order, byte offset in it
BEFORE_THE_LOG: Position = (0, 0)
FROM_METADATA = "the log's metadata"
"""In place of the statement that made a table if the log does not have it: the table begins with its first change."""


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of a version, by its id, and their conversion to the rows of another one."""

    version: int
    conversion: RowConversion


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A table from the statement that made, emptied or altered it to the one that ended it; `end` is None while it
    lives. `sources` says where its rows come from: nowhere, if it begins empty or before the log; from the version
    before it, under whatever name that was; and from a table that a partition was exchanged with. `in_base` is the name
    under which a base has the rows that it began with, None for a table that the log made. `given`: it was there before
    the log, which may know it with other columns, as a replica's. `time_zone` is that of a replica's applier.
    `may_misplace`: rows may lie in partitions to which they do not belong. `is_touched`: a statement that makes no
    version may have written the rows anew, without the room that others left."""

    id: int
    definition: TableDefinition
    start: Position
    end: Position | None
    created_by: str
    sources: tuple[RowSource, ...] = ()
    in_base: TableName | None = None
    given: bool = False
    time_zone: str = SYSTEM
    may_misplace: bool = False
    is_touched: bool = False

    @property
    def is_older_than_log(self) -> bool:
        """True if the table existed before the log, and this is its definition then."""
        return not self.sources and (self.in_base is not None or self.created_by == FROM_METADATA)

    def moves_rows(self, definition: TableDefinition) -> bool:
        """True if rows of this version lie in other partitions by that definition, or in none."""
        partitioning = self.definition.partitioning
        return partitioning is not None and not partitioning.stays_in(definition.partitioning)

    def reorders(self, definition: TableDefinition) -> bool:
        """True if that definition puts rows, which no key sorts, into other partitions, or into none: one after the
        other, as the server reads them. Or if it takes them out of InnoDB, which reads them in the order of a key, or
        into it."""
        if is_innodb(self.definition) != is_innodb(definition):
            return True
        return clustered_key(self.definition) is None and self.moves_rows(definition)

    @property
    def previous(self) -> int | None:
        """The version whose rows it continues with; None if it begins empty, or before the log."""
        return self.sources[0].version if self.sources else None

    @property
    def conversion(self) -> RowConversion | None:
        """The conversion of those rows."""
        return self.sources[0].conversion if self.sources else None


@dataclass(frozen=True, slots=True)
class StatementOrigin:
    """A statement and its position: rows after `end` see its effect. Only a log has the rest: `timestamp_us` is its
    time in microseconds UTC, `file` and `position` are the beginning of its event, `numbering` the session's
    auto_increment_increment and auto_increment_offset, `end_of_time` the server's row end of current rows,
    `server_version` its version, `sequences` the logged state of those that it takes numbers from."""

    end: Position
    sql: str
    timestamp_us: int = 0
    file: str | None = None
    position: int | None = None
    gtid: str | None = None
    numbering: tuple[int, int] = (1, 1)
    end_of_time: int = ENDS_OF_TIME[0]
    server_version: str = ""
    sequences: tuple[SequenceState, ...] = ()

    @property
    def way_out(self) -> str:
        """The hint for a statement that cannot be followed."""
        if self.file is None:  # it is of a dump or a schema file
            return "leave the table out with --ignore-tables, or take the statement out of the file"
        return "stop before it with --stop-position, or leave the table out with --ignore-tables"


@dataclass(frozen=True, slots=True)
class Redefinition:
    """A statement that changed a version's definition, but neither its rows nor how they are found."""

    position: Position
    sql: str
    before: TableDefinition


class TableVersions:
    """All versions of all tables, in the order of creation; a version's id is its index. The columns of tables that are
    `wanted` have numbers; `last_column_id` is the last one that was given, `time_zone` the zone of versions that begin.
    `follows_places`: statements that change the order in which a server reads rows make a version. Rows may come to lie
    in partitions to which they do not belong, and then each later statement makes one; otherwise they are refused.
    """

    def __init__(self, wanted: Callable[[str, str], bool], time_zone: str = SYSTEM, *,
                 follows_places: bool = False) -> None:
        self._wanted, self.time_zone, self.last_column_id = wanted, time_zone, 0
        self.follows_places = follows_places
        self._versions: list[TableVersion] = []
        self._by_table: dict[TableName, SortedKeyList[int, Position]] = {}  # ids by the versions' starts
        self._by_folded: dict[TableName, list[TableName]] = {}  # all names, by these in lower case
        self._alive: dict[TableName, int] = {}
        self._redefinitions: dict[int, list[Redefinition]] = {}

    # ---- queries

    def at(self, table: TableName, position: Position) -> TableVersion | None:
        """The version that a rows event at the position changes; None if the table does not exist there."""
        ids = self._by_table.get(table)
        if ids is None or (index := ids.bisect_key_right(position) - 1) < 0:
            return None
        version = self._versions[ids[index]]
        return version if version.end is None or position < version.end else None

    def live(self, table: TableName) -> TableVersion | None:
        """The current version of a name, which no statement has ended."""
        number = self._alive.get(table)
        return None if number is None else self._versions[number]

    def in_other_case(self, table: TableName, position: Position | None = None) -> TableVersion | None:
        """A version whose name differs from this one in case only: a current one, or one at the position."""
        others = [other for other in self._by_folded.get(folded_table(table), ()) if other != table]
        versions = (self.live(other) if position is None else self.at(other, position) for other in others)
        return next((version for version in versions if version is not None), None)

    @property
    def has_upper_case(self) -> bool:
        """True if a name that a table has, or had, is not in lower case."""
        return any(names != [name] for name, names in self._by_folded.items())

    def alive(self) -> Iterator[TableVersion]:
        """The current versions of all names."""
        return (self._versions[number] for number in self._alive.values())

    def all(self) -> list[TableVersion]:
        """Every version; its id is its index."""
        return list(self._versions)

    def chains(self) -> list[list[TableVersion]]:
        """Each table's versions, linked where one continues with the rows of the other, in order; every version is in
        one list."""
        chains: list[list[TableVersion]] = []
        by_last: dict[int, list[TableVersion]] = {}
        for version in self._versions:
            chain = by_last.pop(version.previous, None) if version.previous is not None else None
            if chain is None:
                chain = []
                chains.append(chain)
            chain.append(version)
            by_last[version.id] = chain
        return chains

    def exchanged(self) -> list[list[TableVersion]]:
        """Versions of tables that exchanged rows, in order: one list for each connected group."""
        begun = Counter(version.previous for version in self._versions if version.previous is not None)
        exchanged = [version.id for version in self._versions if len(version.sources) > 1 or begun[version.id] > 1]
        if not exchanged:
            return []
        groups: dict[int, list[int]] = {version.id: [version.id] for version in self._versions}
        for version in self._versions:
            for source in version.sources:
                small, large = sorted((groups[version.id], groups[source.version]), key=len)
                if small is not large:
                    large += small
                    groups.update(dict.fromkeys(small, large))
        found = {id(group): group for group in map(groups.__getitem__, exchanged)}
        return [[self._versions[number] for number in sorted(group)] for group in found.values()]

    def redefinitions(self, version: TableVersion) -> list[Redefinition]:
        """The redefinitions of a version, in their order."""
        return list(self._redefinitions.get(version.id, ()))

    # ---- changes

    def begin(self, definition: TableDefinition, position: Position, sql: str, *sources: RowSource,
              emptied: int | None = None) -> None:
        """Add the version that a statement creates: empty, as the version `emptied` was, or with rows of others."""
        definition = self.numbered(definition)
        table = definition.database, definition.name
        number = len(self._versions)
        in_base = table if position == BEFORE_THE_LOG else None
        if sources:
            in_base = self._versions[sources[0].version].in_base
        earlier = sources[0].version if sources else emptied
        given = position == BEFORE_THE_LOG or (earlier is not None and self._versions[earlier].given)
        may_misplace = definition.partitioning is not None and any(
            source.conversion.may_misplace or self._versions[source.version].may_misplace for source in sources)
        self._versions.append(TableVersion(number, definition, position, None, sql, sources, in_base, given,
                                           self.time_zone, may_misplace=may_misplace))
        if table not in self._by_table:
            self._by_table[table] = SortedKeyList(key=lambda number: self._versions[number].start)
            self._by_folded.setdefault(folded_table(table), []).append(table)
        self._by_table[table].add(number)
        self._alive[table] = number

    def go_on(self, version: TableVersion, position: Position, sql: str, same: RowConversion) -> None:
        """Begin another version with the same definition, in the present time zone, in which the rows continue."""
        definition = version.definition
        self.end((definition.database, definition.name), position)
        self.begin(definition, position, sql, RowSource(version.id, same))

    def begin_as(self, before: TableVersion) -> None:
        """Add the last version that another history has of a table: a base has its rows, by that name."""
        definition = before.definition
        self.begin(definition, BEFORE_THE_LOG, before.created_by)
        self._versions[-1] = replace(self._versions[-1], given=before.given)

    def note_misplaced(self, table: TableName) -> None:
        """Note that rows of a table may lie in partitions to which they do not belong."""
        number = self._alive[table]
        self._versions[number] = replace(self._versions[number], may_misplace=True)

    def numbered(self, definition: TableDefinition) -> TableDefinition:
        """Return the definition of a table whose new columns get their numbers, if it is wanted."""
        if self._wanted(definition.database, definition.name):
            definition, self.last_column_id = numbered(definition, self.last_column_id)
        return definition

    def redefine(self, version: TableVersion, definition: TableDefinition, position: Position, sql: str) -> None:
        """Give a version another definition that means the same to rows, so that it does not end."""
        self._redefinitions.setdefault(version.id, []).append(Redefinition(position, sql, version.definition))
        self._versions[version.id] = replace(version, definition=definition, is_touched=True)

    def touch(self, table: TableName) -> None:
        """Note that a statement may have written a table's rows anew."""
        if (version := self.live(table)) is not None:
            self._versions[version.id] = replace(version, is_touched=True)

    def end(self, table: TableName, position: Position) -> None:
        """End the current version of a name, if there is one."""
        number = self._alive.pop(table, None)
        if number is not None:
            self._versions[number] = replace(self._versions[number], end=position)

    def end_database(self, database: str, position: Position) -> None:
        """End the current versions of all tables of a database."""
        for table in list(self._alive):
            if table[0] == database:
                self.end(table, position)
