"""The states of a catalog's tables as of a position in the log, found by the metadata of commits.

A table in which nothing changed has no commit. So the common position is determined first, among the positions of all
commits, and then each table's last commit up to it. Information that catalogs no longer have is reported: expired
snapshots of a table, dropped tables, and publications of only some tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from applier.binlog.locating.place import Place
from applier.errors import SnapshotError
from applier.io.typed_json import Mismatch, build
from applier.jobs.publish.result import PublishedAsOf, TableAsOf
from applier.snapshot import lakes
from applier.snapshot.as_of import in_order, is_reached, last_of, told
from applier.snapshot.manifest import BinlogPosition, Snapshot

POSITION, GTID_SET, TIMESTAMP, LINEAGE = "mysql.position", "mysql.gtid_set", "mysql.timestamp", "applier.lineage"
LAKE, VERSION = "applier.lake", "applier.version"
"""Of a snapshot that is a version of a lake: which lake that is, and its number."""
TABLES = "applier.tables"
"""Which tables a publication was of: "all" or "some"."""

DROPPED = "applier.dropped"
"""In a commit that takes all rows out: whether the table was dropped."""


@dataclass(frozen=True)
class State:
    """A commit: its number or id, where the table stood with it, by which tables' publication; when it was made, in
    milliseconds; whether the table was dropped by it."""

    id: int
    position: BinlogPosition
    of_all: bool
    made: int
    dropped: bool = False


@dataclass(frozen=True)
class TableStates:
    """A table, where readers find it, and its commits in their order; `is_cut` if earlier ones are unknown."""

    name: str
    place: str
    lineage: str
    states: tuple[State, ...]
    is_cut: bool


@dataclass(frozen=True)
class Publication:
    """A publication that a catalog records, possibly without a commit; `of_all`: all tables are at its position."""

    position: BinlogPosition
    lineage: str
    of_all: bool


def about(snapshot: Snapshot, *, of_all: bool) -> dict[str, str]:
    """Return the properties of a commit that describe the published snapshot."""
    position = snapshot.position
    stamp = {} if position.timestamp is None else {TIMESTAMP: str(position.timestamp)}
    return {POSITION: str(position), GTID_SET: position.gtid_set, LINEAGE: snapshot.lineage,
            TABLES: "all" if of_all else "some", **stamp,
            **({} if snapshot.lake is None else {LAKE: snapshot.lake, VERSION: str(lakes.number_of(snapshot.uri))})}


def position_in(said: Mapping[str, str]) -> BinlogPosition | None:
    """Return the position of a table by the properties of a commit; None for another program's commit. Raises
    SnapshotError."""
    if POSITION not in said:
        return None
    file, colon, offset = said[POSITION].rpartition(":")
    try:
        stamp = said.get(TIMESTAMP)
        return build(BinlogPosition, {
            "file": file, "offset": int(offset) if colon else 0, "gtid_set": said.get(GTID_SET, ""),
            "timestamp": None if stamp is None else int(stamp), "flavour": "unknown"})
    except (Mismatch, ValueError) as error:
        raise SnapshotError(f"a commit names {said[POSITION]!r}, which is not a position") from error


def as_of(tables: Sequence[TableStates], others: Sequence[Publication], place: Place | None, where: str,
          dropped: Mapping[str, BinlogPosition] | None = None) -> PublishedAsOf:
    """Return the tables of a catalog as of a position, by default the last one. `others` are publications that made no
    commits and are later; `dropped` are tables that the catalog no longer has. Raises SnapshotError if no table was
    published, and as `last_of` does."""
    if len(lines := {table.lineage for table in tables}) != 1:
        if not lines:
            raise SnapshotError("no table was published there", file=where, hint="run `applier publish` first")
        raise SnapshotError(f"tables of {len(lines)} unrelated lineages of snapshots are published there",
                            file=where, hint="choose tables of one of them with --tables")
    commits = sorted((state for table in tables for state in table.states), key=lambda state: state.made)
    known = {str(state.position) for state in commits}
    order = in_order([*(state.position for state in commits), *(
        other.position for other in others if other.lineage in lines and str(other.position) not in known)])
    number = len(order) - 1 if place is None else last_of(order, place, where)
    numbers = {position: rank for rank, position in enumerate(order)}
    found, notes = list[TableAsOf](), list[str]()
    for table in tables:
        states = [state for state in reversed(table.states) if numbers[state.position] <= number]
        last = max(states, key=lambda state: numbers[state.position], default=None)
        if last is None and table.is_cut:
            notes.append(f"what {table.name} was there is no more known: its commits of then have expired")
        elif last is not None and not last.dropped:
            found.append(TableAsOf(name=table.name, id=last.id, place=table.place, position=str(last.position)))
    notes += [f"{name} was dropped later, at {told(at)}, and the catalog does not have its rows any more"
              for name, at in (dropped or {}).items() if not is_reached(at, order[number])]
    at = str(order[number])
    if not any(other.of_all for other in others if str(other.position) == at) and not (
            at in known and all(state.of_all for state in commits if str(state.position) == at)):
        notes.append("not all tables were published there: some tables may stand before it")
    elif not _is_whole(others, lines, order[:number + 1]):
        notes.append("the last publication was stopped, or is under way: some tables may stand before it")
    return PublishedAsOf(catalog=where, position=order[number], tables=tuple(found), notes=tuple(notes))


def _is_whole(others: Sequence[Publication], lines: Set[str], reached: Sequence[BinlogPosition]) -> bool:
    """Return whether the last publication is not one of these lines up to there that did not come to its end."""
    ranks = {str(position): rank for rank, position in enumerate(reached)}
    known = [(ranks[str(other.position)], other.of_all) for other in others
             if other.lineage in lines and str(other.position) in ranks]
    last = max((rank for rank, _ in known), default=None)
    return all(of_all for rank, of_all in known if rank == last)
