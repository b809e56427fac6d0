"""One apply task on the walk route: walk the log for the task's own tables, then write its units."""

from __future__ import annotations

from applier.apply.foreign_keys.cascades import ForeignKeyGroup
from applier.apply.foreign_keys.parent_changes import read_parents
from applier.apply.foreign_keys.parent_events import ParentEvents
from applier.apply.spec import (
    Applied,
    ApplyTask,
    ForeignKeyTie,
    LogSegment,
    Parents,
    Refused,
    TaskOutcome,
    UnitResult,
    outcome_of,
)
from applier.apply.tables.table_walk import TableWalk
from applier.binlog.events.table_map import TableMap
from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import ReplayStopped
from applier.io.mapping import MappedFile, map_file


def apply_by_walking(task: ApplyTask) -> TaskOutcome:
    """Apply a task's units. Raises ArchiveError for damage, and where bytes are not those that were outlined."""
    with SameBytes() as outlined:
        return _apply(task, outlined)


def _apply(task: ApplyTask, outlined: SameBytes) -> TaskOutcome:
    walks: dict[int, TableWalk] = {}
    for version, units in sorted(task.units.items()):
        walks[version] = TableWalk(units, [walks[source.unit.version] for source in units[0].sources])
    groups: dict[int, dict[TableWalk, ForeignKeyTie]] = {}
    for walk in walks.values():
        if isinstance(tie := walk.units[0].spec.needs, ForeignKeyTie):
            groups.setdefault(tie.group, {})[walk] = tie
    _tell_of_parents(task, walks, outlined)
    try:
        _walk(task, walks, [ForeignKeyGroup(tied) for tied in groups.values()], outlined)
    except ReplayStopped as error:  # where definition and log disagree (1677), or a key is not to be had
        return outcome(list(walks.values()), Refused(errors=(error,)))
    return outcome(list(walks.values()))


def _tell_of_parents(task: ApplyTask, walks: dict[int, TableWalk], outlined: SameBytes) -> None:
    """Have the tables that foreign keys change rows of know when, by the changes of the tables that they refer to."""
    links = {version: parents.links for version, units in task.units.items()
             if isinstance(parents := units[0].needs, Parents)}
    if not links:
        return
    changes = read_parents(task.segments, [link for own in links.values() for link in own],
                           next(iter(task.units.values()))[0].type_conversions, outlined)
    for version, own in links.items():
        events = ParentEvents(walks[version].units[0].spec.definition, own, changes)
        if events.n:
            walks[version].wait_for(events)


def _walk(task: ApplyTask, walks: dict[int, TableWalk], groups: list[ForeignKeyGroup], outlined: SameBytes) -> None:
    """Have all changes in the task's stretches of log taken by the tables that they are of."""

    def keep(memory: MappedFile) -> None:
        for walk in walks.values():
            for unit in walk.units:
                unit.retain_buffer(memory)

    reader: ChangeReader | None = None
    last: LogSegment | None = None
    file: MappedFile | None = None
    for segment in task.segments:
        if walks.keys().isdisjoint(segment.tables.values()):
            continue
        if reader is None or (segment.file, segment.tables) != (last.file, last.tables):
            if reader is not None:
                reader.flush()
            if last is None or segment.uri != last.uri:
                file = map_file(segment.uri)
                keep(file)
            reader = ChangeReader(file, _Binder(segment, walks), checksum=segment.checksum,
                                  header_length=segment.header_length, keep=keep)
            for walk in walks.values():
                walk.start_file(segment.file)
        last = segment
        for group in groups:
            if group.changes_at((segment.file, segment.start)):
                reader.flush()
                group.advance((segment.file, segment.start))
        try:
            outlined.walk(reader, segment.split, segment.start, segment.end)
        except ReplayStopped:
            reader.flush()  # what was read before it may have to stop first
            raise
    if reader is not None:
        reader.flush()


def outcome(walks: list[TableWalk], *refused: Refused) -> TaskOutcome:
    """Write the units of all tables, unless one of them or the walk itself (`refused`) had to stop; then the others may
    have had to before."""
    units = [unit for walk in walks for unit in walk.units]
    taken_over = {id(source) for unit in units for source in unit.sources}
    last = [unit for unit in units if id(unit) not in taken_over]
    results: list[UnitResult] = []
    has_stopped = bool(refused) or any(unit.stops for unit in last)
    for unit in last:
        if has_stopped:
            unit.check_diffs()
        else:
            results.append(unit.finish())
            has_stopped = bool(unit.stops)
    stops = [stop for unit in last for stop in unit.stops]
    return outcome_of([Applied(results=tuple(results)), *stops, *refused])


class _Binder:
    """Answers a reader what is wanted of a table map, where one stretch of log says which versions names mean.

    Table maps of one version share a binding: their changes come in one order.
    """

    def __init__(self, segment: LogSegment, walks: dict[int, TableWalk]):
        self._tables, self._walks = segment.tables, walks
        self._bindings: dict[int, TableBinding] = {}

    def __call__(self, table_map: TableMap) -> TableBinding | None:
        version = self._tables.get((table_map.database, table_map.table))
        if version not in self._walks:  # of no unit's table: of none that is wanted, or of a parent only
            return None
        if version in self._bindings:
            self._walks[version].bind_table_map(table_map)
        else:
            self._bindings[version] = self._walks[version].bind(table_map)
        return self._bindings[version]
