"""One apply task on the walk route: walk the log for the task's own tables, then write its units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from applier.apply.foreign_keys.cascades import ForeignKeyGroup, GroupMember
from applier.apply.foreign_keys.parent_changes import read_parents
from applier.apply.foreign_keys.parent_events import ParentEvents
from applier.apply.spec import GroupMembership, Parents
from applier.apply.tables.table_maps import segment_reader
from applier.apply.tables.table_walk import TableWalk
from applier.apply.tables.unit_outcome import outcome
from applier.apply.tasks import ApplyTask, LogSegment, Refused, TaskOutcome
from applier.binlog.rows.changes import ChangeReader
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import ReplayStopped
from applier.io.mapping import MappedFile, map_file


def apply_by_walking(task: ApplyTask) -> TaskOutcome:
    """Apply a task's units. Raises ArchiveError for damage, and if bytes differ from those that were outlined."""
    with SameBytes() as outlined:
        return _apply(task, outlined)


def _apply(task: ApplyTask, outlined: SameBytes) -> TaskOutcome:
    walks = table_walks(task, _events_of_parents(task, outlined))
    units = [unit for walk in walks.values() for unit in walk.units]
    taken_over = {id(source) for unit in units for source in unit.sources}
    last = [unit for unit in units if id(unit) not in taken_over]
    try:
        for _ in steps(task, walks, outlined):
            pass
    except ReplayStopped as error:  # definition and log disagree (1677), or a key has no value
        return outcome(last, Refused(errors=(error,)))
    return outcome(last)


def table_walks(task: ApplyTask, events: Mapping[int, ParentEvents]) -> dict[int, TableWalk]:
    """Return the walks of a task's versions through the log, by version; `events` are those of their parents."""
    walks = dict[int, TableWalk]()
    for version, units in sorted(task.units.items()):
        walks[version] = TableWalk(units, [walks[source.unit.version] for source in units[0].sources],
                                   events.get(version))
    return walks


def _groups(walks: Iterable[TableWalk]) -> list[ForeignKeyGroup]:
    """Return the foreign-key groups of these versions."""
    groups: dict[int, list[GroupMember]] = {}
    for walk in walks:
        for unit in walk.units:
            if isinstance(membership := unit.spec.needs, GroupMembership):
                groups.setdefault(membership.group, []).append(GroupMember(walk, unit, membership))
    return [ForeignKeyGroup(members) for members in groups.values()]


def _events_of_parents(task: ApplyTask, outlined: SameBytes) -> dict[int, ParentEvents]:
    """Return the effects of parent tables' changes on the task's tables, by version, if there are any."""
    links = {version: parents.links for version, units in task.units.items()
             if isinstance(parents := units[0].needs, Parents)}
    if not links:
        return {}
    changes = read_parents(task.segments, [link for own in links.values() for link in own],
                           next(iter(task.units.values()))[0].type_conversions, outlined)
    events = {version: ParentEvents(task.units[version][0].definition, own, changes) for version, own in links.items()}
    return {version: found for version, found in events.items() if found.n}


def steps(task: ApplyTask, walks: dict[int, TableWalk], outlined: SameBytes) -> Iterator[LogSegment]:
    """Hand all changes in the task's log segments to their tables. Pauses before each segment, when a version that ends
    there has all its changes, and within it after full batches."""
    groups = _groups(walks.values())
    concerned = [walk for walk in walks.values() if walk.has_events]

    def keep(memory: MappedFile) -> None:
        for walk in walks.values():
            for unit in walk.units:
                unit.retain_buffer(memory)

    def reader_of(segment: LogSegment, before: ChangeReader | None) -> ChangeReader:
        if before is not None and before.file.uri == segment.uri:
            file = before.file  # the same mapping, whatever happened to the file meanwhile
        else:
            file = map_file(segment.uri, whole=False)
            keep(file)
        for walk in concerned:
            walk.start_file(segment.file)
        return segment_reader(segment, file, walks, keep)

    last: tuple[LogSegment, ChangeReader] | None = None
    for segment in task.segments:
        if walks.keys().isdisjoint(segment.tables.values()):
            continue
        if last is None:
            reader = reader_of(segment, None)
        elif (segment.file, segment.tables) != (last[0].file, last[0].tables):
            last[1].flush()
            for version in walks.keys() & last[0].tables.values():
                walks[version].pause()
            reader = reader_of(segment, last[1])
        last = segment, reader
        position = segment.file, segment.start
        if any(group.changes_at(position) for group in groups):
            reader.flush()
        yield segment
        for group in groups:  # the next versions take the rows of those before them
            group.advance(position)
        try:
            for _ in outlined.steps(reader, segment.split, segment.start, segment.end):
                yield segment
        except ReplayStopped:
            reader.flush()  # earlier changes may have to stop first
            raise
    if last is not None:
        last[1].flush()
    for walk in walks.values():
        walk.end()
