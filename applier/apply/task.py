"""One apply task on the walk route: walk the log for the task's own tables, then write its units."""

from __future__ import annotations

from applier.apply.table_walk import TableWalk
from applier.apply.work import ApplyTask, Stretch, TaskOutcome
from applier.binlog.changes import ChangeReader, TableBinding
from applier.binlog.mapping import MappedFile, map_file
from applier.binlog.table_map import TableMap


def apply_by_walking(task: ApplyTask) -> TaskOutcome:
    """Apply a task's units. Raises ArchiveError for damage, ReplayStopped (1677) where definition and log disagree."""
    walks = {version: TableWalk(units) for version, units in task.units.items()}
    reader: ChangeReader | None = None
    last: Stretch | None = None
    file: MappedFile | None = None
    for piece in task.stretches:
        if reader is None or (piece.uri, piece.tables) != (last.uri, last.tables):
            if reader is not None:
                reader.flush()
            if last is None or piece.uri != last.uri:
                file = map_file(piece.uri)
                for walk in walks.values():
                    for unit in walk.units:
                        unit.lies_in(file)
            reader = ChangeReader(file, _Binder(piece, walks), checksum=piece.checksum)
        last = piece
        reader.walk(piece.start, piece.end)
    if reader is not None:
        reader.flush()
    return outcome(list(walks.values()))


def outcome(walks: list[TableWalk]) -> TaskOutcome:
    """Write the units of all tables, unless one of them had to stop."""
    units = [unit for walk in walks for unit in walk.units]
    stopped = tuple(unit.stopped for unit in units if unit.stopped is not None)
    return TaskOutcome(() if stopped else tuple(unit.finish() for unit in units), stopped)


class _Binder:
    """Answers a reader what is wanted of a table map, where one stretch of log says which versions names mean.

    Table maps of one version share a binding: their changes come in one order.
    """

    def __init__(self, piece: Stretch, walks: dict[int, TableWalk]):
        self._tables, self._walks = piece.tables, walks
        self._bindings: dict[int, TableBinding] = {}

    def __call__(self, table_map: TableMap) -> TableBinding | None:
        version = self._tables.get((table_map.database, table_map.table))
        if version is None:
            return None
        if version in self._bindings:
            self._walks[version].meet(table_map)
        else:
            self._bindings[version] = self._walks[version].bind(table_map)
        return self._bindings[version]
