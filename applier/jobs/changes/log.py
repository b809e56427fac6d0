"""The log as a feed reads it: its schema, the table's versions, and the event groups that changes are in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from applier.jobs.changes.event_groups.groups import FileGroups, WantedGroups
from applier.jobs.changes.keys import ChosenKeys
from applier.jobs.changes.statements import Statement, marker
from applier.mysql.types import arrow_type
from applier.plan.span import LogSpan
from applier.schema.history.table_versions import Position, TableVersion
from applier.schema.table_parts import Column


@dataclass(frozen=True)
class LogFile:
    """The part [start, end) of a file, between event groups; its number among the files of the span, from 0; and
    whether it has statements behind rows."""

    uri: str
    name: str
    start: int
    end: int
    number: int
    has_statements: bool


@dataclass(frozen=True)
class FeedLog:
    """`files` are those that are read, by their numbers; `commits` is of `commits_of`; `schema` is the feed's; `names`
    are those of each version's columns in it, by the version's id and the column's number; `statements` change rows
    outside the log; `wanted` says which event groups the feed is of, `chosen` which rows of a version (None: all rows
    of all versions; of one that does not exist, no row)."""

    files: Mapping[int, LogFile]
    commits: Mapping[int, Mapping[int, Position]]
    schema: pa.Schema
    versions: Mapping[int, TableVersion]
    names: Mapping[int, Mapping[int, str]]
    statements: Sequence[Statement]
    wanted: WantedGroups
    chosen: Mapping[int, ChosenKeys] | None

    def has_rows_of(self, version: int) -> bool:
        """Return whether rows of a version may be chosen. A MariaDB sequence has none."""
        return not self.versions[version].definition.is_sequence and (self.chosen is None or version in self.chosen)

    def chosen_of(self, version: int) -> ChosenKeys | None:
        """Return which rows of a version are; None: all."""
        return None if self.chosen is None else self.chosen[version]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The table's columns in the feed, by name, as the last definition says that has them with the feed's type, or
        has them at all; of times, with as many digits as any definition has."""
        found: dict[str, Column] = {}
        for id, version in sorted(self.versions.items(), reverse=True):
            for number, name in self.names[id].items():
                column, field = version.definition.columns[number], self.schema.get_field_index(name)
                known = found.setdefault(name, column)
                if field >= 0 and arrow_type(column.type) == self.schema.types[field]:
                    if arrow_type(known.type) != self.schema.types[field]:
                        found[name] = column
                    elif column.type.fsp > known.type.fsp:
                        found[name] = replace(known, type=replace(known.type, fsp=column.type.fsp))
        return {name: found[name] for name in self.schema.names if name in found}

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns of the table's last primary key, or else of its first unique key without NULL; empty
        without either, or if the feed does not have all of them."""
        last = max(self.versions)
        definition, names = self.versions[last].definition, self.names[last]
        for key in sorted(definition.keys, key=lambda key: key.kind != "primary"):
            columns = [definition.column_index(part.column) for part in key.parts if part.column is not None]
            if key.kind in ("primary", "unique") and len(columns) == len(key.parts) and not any(
                    definition.columns[column].nullable for column in columns):
                found = tuple(names.get(column, "") for column in columns)
                return found if set(found) <= set(self.schema.names) else ()
        return ()


class ReadLog:
    """The log while it is read from its beginning on: statements that are to come, and the groups of the file at hand.
    """

    def __init__(self, log: FeedLog) -> None:
        self._log, self._statements = log, list(log.statements)
        self._known: tuple[int, FileGroups] | None = None

    def groups(self, file: int) -> FileGroups:
        """Return the groups of a file; those of files before it are forgotten."""
        if self._known is None or self._known[0] != file:
            self._known = file, groups_of(self._log.files, self._log.commits, self._log.wanted, file)
        return self._known[1]

    def statements_until(self, position: Position | None) -> list[Statement]:
        """Return the statements that are next, up to a position (None: all that are left)."""
        n = sum(position is None or statement.end <= position for statement in self._statements)
        passed, self._statements = self._statements[:n], self._statements[n:]
        return passed

    def markers(self, statements: Sequence[Statement]) -> Iterator[pa.RecordBatch]:
        """Yield the feed's rows for the wanted statements."""
        for statement in statements:
            if self.is_wanted(statement):
                yield marker(self._log.schema, statement, self.groups(statement.end[0]))

    def is_wanted(self, statement: Statement) -> bool:
        """Return whether the event group that a statement ends is wanted."""
        file, end = statement.end
        return self._log.wanted.all or bool(self.groups(file).are_wanted(np.array([end - 1]))[0])


def groups_of(files: Mapping[int, LogFile], commits: Mapping[int, Mapping[int, Position]], wanted: WantedGroups,
              file: int) -> FileGroups:
    """Return the groups of one of these files; those that were prepared are committed where the log commits them."""

    def own(number: int) -> FileGroups:
        part = files[number]
        return FileGroups(part.uri, part.name, part.number, part.start, part.end, wanted)

    groups = own(file)
    for start, (by, position) in commits.get(file, {}).items():
        groups.committed_at(start, groups if by == file else own(by), position)
    return groups


def commits_of(span: LogSpan) -> dict[int, dict[int, Position]]:
    """Of XA transactions that were prepared and committed: by file and start of the group with their changes, the file
    of the XA COMMIT and its offset."""
    prepared: dict[str, Position] = {}
    found: dict[int, dict[int, Position]] = {}
    for number, outline in enumerate(span.outlines):
        events = sorted([*((group.start, group.xid, False) for group in outline.prepared),
                         *((decision.position, decision.xid, True) for decision in outline.decisions)])
        for position, xid, is_decision in events:
            if not is_decision:
                prepared[xid] = number, position
            elif xid in prepared:
                file, start = prepared.pop(xid)
                found.setdefault(file, {})[start] = number, position
    return found
