"""The states of a catalog's tables, from the summaries of their snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot, ancestors_of

from applier.errors import SnapshotError
from applier.jobs.publish.iceberg.catalog import namespaces_of, tables_of
from applier.jobs.publish.iceberg.commits import COMPLETE
from applier.jobs.publish.iceberg.publication import DROPPED
from applier.jobs.publish.result import PublishedAsOf
from applier.jobs.publish.states import LINEAGE, POSITION, TABLES, Publication, State, TableStates, position_in
from applier.schema.table_filter import TableFilter
from applier.snapshot.manifest import BinlogPosition


def published_tables(catalog: Catalog, filter: TableFilter) -> list[Table]:
    """The tables of a catalog that publications made."""
    return [table for table in tables_of(catalog) if LINEAGE in table.properties and filter.wanted(*table.name())]


def states_of(table: Table) -> TableStates:
    """The states of a table. Raises SnapshotError for one with snapshots that publications did not make."""
    name, newest = ".".join(table.name()), table.current_snapshot()
    chain = [] if newest is None else list(ancestors_of(newest, table.metadata))[::-1]
    return TableStates(name, table.metadata_location, table.properties[LINEAGE],
                       tuple(_state(snapshot, name) for snapshot in chain),
                       bool(chain) and chain[0].sequence_number != 1)  # the first commit's


@dataclass(frozen=True)
class Remembered:
    """The contents of namespaces' properties: the publications that they know, and the tables that were dropped last,
    with positions."""

    publications: tuple[Publication, ...]
    dropped: Mapping[str, BinlogPosition]


def remembered(catalog: Catalog) -> Remembered:
    """Return the contents of the properties of a catalog's namespaces."""
    dropped, publications = dict[str, BinlogPosition](), list[Publication]()
    for namespace in namespaces_of(catalog):
        said = catalog.load_namespace_properties(namespace)
        of_dropped = {key.removeprefix(DROPPED): value for key, value in said.items() if key.startswith(DROPPED)}
        for properties in (of_dropped, said):
            if (position := position_in(properties)) is not None:
                publications.append(Publication(position, properties.get(LINEAGE, ""),
                                                properties.get(COMPLETE, properties.get(TABLES)) in ("true", "all")))
                if properties is of_dropped:
                    names = properties.get("names", "").split(", ")
                    dropped[", ".join(".".join((*namespace, name)) for name in names)] = position
    return Remembered(tuple(publications), dropped)


def _state(snapshot: Snapshot, name: str) -> State:
    said = {} if snapshot.summary is None else snapshot.summary.additional_properties
    position = position_in(said)
    if position is None:
        raise SnapshotError(f"another writer committed snapshot {snapshot.snapshot_id} of this table of the catalog",
                            table=name, hint=f"roll it back to a snapshot with {POSITION} in its summary, or leave it "
                                             "out with --ignore-tables")
    return State(snapshot.snapshot_id, position, said.get(TABLES) == "all", snapshot.timestamp_ms)


def without_files(found: PublishedAsOf, tables: Iterable[Table]) -> PublishedAsOf:
    """Return the same without the tables whose former files were removed, with a note about each. The files that a
    table has now exist."""
    by_location = {table.metadata_location: table for table in tables}
    gone = {one.name for one in found.tables if _lacks_files(by_location[one.place], one.id)}
    notes = [f"what {name} was there can no longer be read: files of then have expired" for name in sorted(gone)]
    return replace(found, tables=tuple(table for table in found.tables if table.name not in gone),
                   notes=(*found.notes, *notes))


def _lacks_files(table: Table, id_: int) -> bool:
    then, now = table.snapshot_by_id(id_), table.current_snapshot()
    if then is None or now is None or then.snapshot_id == now.snapshot_id:
        return then is None
    return any(not table.io.new_input(path).exists() for path in sorted(_paths(table, then) - _paths(table, now)))


def _paths(table: Table, snapshot: Snapshot) -> set[str]:
    return {entry.data_file.file_path for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)}
