"""The versions of every table: which definition a name had at which position, and which version has another's rows."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from applier.schema.ddl.schema_changes import TableName
from applier.schema.definition import TableDefinition
from applier.schema.history.conversion import RowConversion
from applier.schema.versioning import ENDS_OF_TIME

Position = tuple[int, int]  # index of the file in the archive's order, byte offset in it
BEFORE_THE_LOG: Position = (0, 0)


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of a version, by its id, and how they become those of another one."""

    version: int
    conversion: RowConversion


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A table from the statement that made, emptied or altered it to the one that ended it; `end` is None while it
    lives. `sources` says where its rows come from: nowhere, if it begins empty or before the log; from the version
    before it, under whatever name that was; and from a table that a partition was exchanged with. `in_base` is the name
    under which a base has the rows that it began with, None for a table that the log made. `given`: it was there before
    the log, which may know it with other columns, as a replica's."""

    id: int
    definition: TableDefinition
    start: Position
    end: Position | None
    created_by: str
    sources: tuple[RowSource, ...] = ()
    in_base: TableName | None = None
    given: bool = False

    @property
    def previous(self) -> int | None:
        """The version before it, whose rows it goes on with; None where it begins empty, or before the log."""
        return self.sources[0].version if self.sources else None

    @property
    def conversion(self) -> RowConversion | None:
        """How those rows come over."""
        return self.sources[0].conversion if self.sources else None


@dataclass(frozen=True, slots=True)
class StatementOrigin:
    """A statement and where it is: rows after `end` see its effect. The rest only a log tells: `moment` is its time in
    microseconds UTC, `file` and `position` where its event begins, `numbering` the session's auto_increment_increment
    and auto_increment_offset, `end_of_time` what its server has as such, `server_version` which server that is."""

    end: Position
    sql: str
    moment: int = 0
    file: str | None = None
    position: int | None = None
    gtid: str | None = None
    numbering: tuple[int, int] = (1, 1)
    end_of_time: int = ENDS_OF_TIME[0]
    server_version: str = ""

    @property
    def way_out(self) -> str:
        """What to do where the statement cannot be followed."""
        if self.file is None:  # it is of a dump or a schema file
            return "leave the table out with --ignore-tables, or take the statement out of the file"
        return "stop before it with --stop-position, or leave the table out with --ignore-tables"


@dataclass(frozen=True, slots=True)
class Redefinition:
    """A statement after which a version's definition is another, and its rows and all that finds them are not."""

    position: Position
    sql: str
    before: TableDefinition


class TableVersions:
    """All versions of all tables, in the order of their making; a version's id is its place in it."""

    def __init__(self) -> None:
        self._versions: list[TableVersion] = []
        self._by_table: dict[TableName, list[int]] = {}
        self._redefinitions: dict[int, list[Redefinition]] = {}

    # ---- what is asked

    def at(self, table: TableName, position: Position) -> TableVersion | None:
        """The version that a row event at the position is about; None where the table is not there."""
        ids = self._by_table.get(table, [])
        index = bisect_right(ids, position, key=lambda number: self._versions[number].start) - 1
        if index < 0:
            return None
        version = self._versions[ids[index]]
        return version if version.end is None or position < version.end else None

    def live(self, table: TableName) -> TableVersion | None:
        """The version of a name that no statement has ended yet."""
        ids = self._by_table.get(table)
        return self._versions[ids[-1]] if ids and self._versions[ids[-1]].end is None else None

    def alive(self) -> Iterator[TableVersion]:
        """The live versions of all names."""
        return (version for ids in self._by_table.values() if (version := self._versions[ids[-1]]).end is None)

    def all(self) -> list[TableVersion]:
        """Every version; its id is its place in the list."""
        return list(self._versions)

    def chains(self) -> list[list[TableVersion]]:
        """Each table's versions as far as one has the rows of the other, in order; every version is in one of them."""
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
        """Versions whose rows went from table to table, in order: a list for all that have to do with each other."""
        begun = Counter(version.previous for version in self._versions if version.previous is not None)
        groups: dict[int, set[int]] = {version.id: {version.id} for version in self._versions}
        for version in self._versions:
            for source in (groups[source.version] for source in version.sources):
                if source is not groups[version.id]:
                    source |= groups[version.id]
                    for member in groups[version.id]:
                        groups[member] = source
        found = {id(group): [self._versions[number] for number in sorted(group)] for group in groups.values()}
        return [group for group in found.values()
                if any(len(version.sources) > 1 or begun[version.id] > 1 for version in group)]

    def redefinitions(self, version: TableVersion) -> list[Redefinition]:
        """Those of a version, in their order."""
        return list(self._redefinitions.get(version.id, ()))

    # ---- what is told

    def begin(self, definition: TableDefinition, position: Position, sql: str, *sources: RowSource,
              emptied: int | None = None) -> None:
        """A table as a statement makes it: empty, as a version that it has `emptied` was, or with rows of others."""
        table = definition.database, definition.name
        number = len(self._versions)
        in_base = table if position == BEFORE_THE_LOG else None
        if sources:
            in_base = self._versions[sources[0].version].in_base
        earlier = sources[0].version if sources else emptied
        given = position == BEFORE_THE_LOG or (earlier is not None and self._versions[earlier].given)
        self._versions.append(TableVersion(number, definition, position, None, sql, sources, in_base, given))
        self._by_table.setdefault(table, []).append(number)

    def redefine(self, version: TableVersion, definition: TableDefinition, position: Position, sql: str) -> None:
        """Another definition that means the same to rows, so that no version ends."""
        self._redefinitions.setdefault(version.id, []).append(Redefinition(position, sql, version.definition))
        self._versions[version.id] = replace(version, definition=definition)

    def end(self, table: TableName, position: Position) -> None:
        """The live version of a name ends, if there is one."""
        if version := self.live(table):
            self._versions[version.id] = replace(version, end=position)

    def end_database(self, database: str, position: Position) -> None:
        """All tables of a database end."""
        for table in list(self._by_table):
            if table[0] == database:
                self.end(table, position)
