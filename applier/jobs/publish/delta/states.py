"""The states of Delta tables, from the metadata of their commits."""

from __future__ import annotations

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from applier.errors import SnapshotError
from applier.jobs.publish.delta.marker import load_marker
from applier.jobs.publish.delta.storage import Storage
from applier.jobs.publish.states import (
    DROPPED,
    GTID_SET,
    POSITION,
    TABLES,
    TIMESTAMP,
    Publication,
    State,
    TableStates,
    position_in,
)
from applier.schema.table_filter import TableFilter


def table_states(storage: Storage, filter: TableFilter) -> tuple[list[TableStates], list[Publication]]:
    """Return the tables that were published below a directory, dropped ones included, and the last publication. Commits
    of others, which left rows unchanged, are skipped. Raises SnapshotError for a table that cannot be read."""
    marker, found = load_marker(storage), list[TableStates]()
    if marker is None:
        return [], []
    for folder, table in marker.tables.items():
        if not filter.wanted(table.database, table.name):
            continue
        location = storage.location(folder)
        try:
            history = DeltaTable(location, storage_options=storage.options).history()[::-1]
        except DeltaError as error:
            raise SnapshotError(f"the table cannot be read: {str(error).partition(chr(10))[0]}", file=location,
                                table=table.full_name) from error
        said = [(entry, position) for entry in history if (position := position_in(entry)) is not None]
        found.append(TableStates(
            table.full_name, location, marker.lineage,
            tuple(State(entry["version"], position, entry.get(TABLES) == "all", entry["timestamp"], DROPPED in entry)
                  for entry, position in said), bool(history) and history[0]["version"] > 0))
    said_last = {POSITION: marker.position, GTID_SET: marker.gtid_set,
                 **({} if marker.timestamp is None else {TIMESTAMP: str(marker.timestamp)})}
    last = position_in(said_last)
    return found, [] if last is None else [Publication(last, marker.lineage, marker.complete)]
