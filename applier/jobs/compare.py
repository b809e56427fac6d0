"""Which of two states is ahead, which transactions only one of them has, and where the one behind continues in the
other.

A state is a snapshot, an archive of binlogs, or a GTID set, as @@gtid_executed of a server. GTIDs decide, as for a
replica that attaches to a source; if one side has none, ids of groups, and then positions in files of one name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from applier.binlog.archive.archive import Archive, open_archive
from applier.binlog.events.gtid import GtidSet, Position, State, is_executed
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.heads import read_head
from applier.binlog.outline.outline import OutlineTask
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ArchiveError, UsageError
from applier.io.encryption.keys import Keys
from applier.plan.stops.base_position import (
    have_all_domains,
    position_by_group_id,
    position_by_gtid,
    tasks_by_gtid,
    tasks_of_served_domains,
)
from applier.snapshot import lakes, manifest
from applier.snapshot.files import location
from applier.snapshot.manifest import MANIFEST, UNKNOWN, BinlogPosition

Relation = Literal["same", "ahead", "behind", "diverged", "unknown"]


@dataclass(frozen=True)
class Standing:
    """The state of a snapshot, archive or GTID set (`kind`): the position of its end, and `gtids`, the transactions
    executed there. An archive `begins` with a file, and does not contain the transactions `before` that."""

    place: str
    kind: str
    position: BinlogPosition
    gtids: GtidSet
    begins: str = ""
    before: GtidSet = field(default_factory=GtidSet)

    def to_json(self) -> dict[str, Any]:
        """Return the state as values of JSON."""
        at = self.position
        return {"place": self.place, "kind": self.kind, "flavour": at.flavour, "file": at.file, "offset": at.offset,
                "gtid_set": str(self.gtids), "group_id": at.group_id, "timestamp": at.timestamp,
                "begins": self.begins, "before": str(self.before)}


@dataclass(frozen=True)
class Distance:
    """How far one place is behind an archive: the files and bytes of log to read, the transactions in it (None without
    GTIDs), and the seconds from its last event group to the archive's, by the server's clock (None if unknown). Packed
    files count with about the size of their logs."""

    files: int = 0
    bytes: int = 0
    transactions: int | None = 0
    seconds: int | None = 0


@dataclass(frozen=True)
class Comparison:
    """How `a` stands to `b`: the "same", "ahead" of it, "behind" it, "diverged", if each has transactions that the
    other does not have, or "unknown"; decided `by` GTIDs, group ids or positions. `only_a` and `only_b` are the
    transactions that the other does not have; of MariaDB, in each domain where there are some, the last one. The state
    that is behind continues at `attach` in the archive that is ahead; None if it cannot, and `obstacle` says why.
    `distance` is how far it is behind; None if that is unknown."""

    a: Standing
    b: Standing
    relation: Relation
    by: str
    only_a: GtidSet
    only_b: GtidSet
    attach: BinlogPosition | None
    obstacle: str
    distance: Distance | None = None

    @property
    def is_a_behind(self) -> bool:
        """Whether `a` is the one that may continue in `b`: if neither is ahead, true if `b` is an archive."""
        return self.relation == "behind" or (self.relation != "ahead" and self.b.kind == "archive")

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as values of JSON."""
        at = self.attach
        return {"a": self.a.to_json(), "b": self.b.to_json(), "relation": self.relation, "by": self.by,
                "only_a": str(self.only_a), "only_b": str(self.only_b),
                "attach": None if at is None else {"file": at.file, "offset": at.offset}, "obstacle": self.obstacle,
                "distance": None if self.distance is None else asdict(self.distance)}


def compare(a: str | GtidSet, b: str | GtidSet | tuple[str, ...], keys: Keys) -> Comparison:
    """Compare two states; `keys` decrypt archives, except for an archive that is given as a tuple of paths. Raises
    UsageError for different kinds of server, ApplierError for an unreadable snapshot or archive."""
    (one, archive_a), (other, archive_b) = _standing(a, keys), _standing(b, keys)
    flavours = {place.position.flavour for place in (one, other)} - {UNKNOWN}
    if len(flavours) > 1:
        raise UsageError(f"{one.place} is of {_server(one)} and {other.place} is of {_server(other)}",
                         hint="compare places of one kind of server")
    found = Comparison(one, other, *_related(one, other, archive_a, archive_b), attach=None, obstacle="")
    if found.relation == "unknown":
        return replace(found, obstacle="neither GTIDs nor group ids nor positions in files of one name relate them")
    behind, ahead = (one, archive_b) if found.is_a_behind else (other, archive_a)
    if found.by == "positions" and found.relation == "diverged":
        return replace(found, obstacle="files of one name have other bytes")
    attach, obstacle = _attached(behind, ahead, other if found.is_a_behind else one, found.by)
    distance = Distance() if found.relation == "same" else None
    if attach is not None and ahead is not None and found.relation != "diverged":
        distance = _distance(behind, other if found.is_a_behind else one, ahead, attach)
    return replace(found, attach=attach, obstacle=obstacle, distance=distance)


def _distance(behind: Standing, standing: Standing, ahead: Archive, attach: BinlogPosition) -> Distance:
    """Return how far a place is behind an archive, where it continues at a position of that."""
    first, end = ahead.index_of(attach.file), standing.position
    sizes = [file.about_bytes for file in ahead.files[first:-1]] + [end.offset]
    sizes[0] -= attach.offset
    own, theirs = behind.gtids, standing.gtids
    transactions = _only(theirs, own).count if own and theirs and not theirs.domains else None
    if own.domains and own.domains.keys() == theirs.domains.keys():  # a domain's numbers grow by one
        transactions = sum(max(0, theirs.domains[domain][1] - own.domains[domain][1]) for domain in own.domains)
    times = behind.position.timestamp, end.timestamp
    seconds = None if times[0] is None or times[1] is None else max(0, times[1] - times[0])
    return Distance(sum(size > 0 for size in sizes), sum(max(0, size) for size in sizes), transactions, seconds)


def _server(place: Standing) -> str:
    return {"mysql": "MySQL", "mariadb": "MariaDB"}[place.position.flavour]


def _standing(place: str | GtidSet | tuple[str, ...], keys: Keys) -> tuple[Standing, Archive | None]:
    """Return a state, and the archive, if it is one. Text that names no file may be a GTID set."""
    if isinstance(place, tuple):
        return _of_archive(", ".join(place), open_archive(place))
    if isinstance(place, str) and not os.path.exists(place):
        with suppress(UsageError):
            place = GtidSet.parse(place)
    if isinstance(place, GtidSet):
        flavour = "mariadb" if place.domains else "mysql" if place.intervals else UNKNOWN
        return Standing(str(place), "GTID set", BinlogPosition("", 0, str(place), None, flavour), place), None
    if _is_snapshot(place):
        at = manifest.load(place).position
        return Standing(place, "snapshot", at, GtidSet.parse(at.gtid_set)), None
    return _of_archive(place, open_archive(list(keys.of((place,)))))


def _of_archive(place: str, archive: Archive) -> tuple[Standing, Archive]:
    first, last = read_head(archive.files[0]), archive.files[-1]
    [outline] = ThisProcess(os.cpu_count() or 1).outline([OutlineTask(last.uri, size=last.about_bytes)],
                                                         lambda *_: None)
    executed = outline.previous_gtids.followed_by(outline.gtids)
    at = BinlogPosition(outline.name, outline.end, str(executed), outline.last_timestamp, outline.format.flavour,
                        outline.last_group_id, outline.tail)
    return Standing(place, "archive", at, executed, archive.files[0].name, first.executed), archive


def _is_snapshot(uri: str) -> bool:
    filesystem, path = location.resolve(lakes.exact(uri))
    try:
        with filesystem.open_input_stream(f"{path}/{MANIFEST}", compression=None):
            return True
    except (FileNotFoundError, NotADirectoryError):
        return lakes.id_of(filesystem, path) is not None
    except OSError as error:
        raise ArchiveError(str(error), file=uri) from error


def _related(a: Standing, b: Standing, archive_a: Archive | None, archive_b: Archive | None,
             ) -> tuple[Relation, str, GtidSet, GtidSet]:
    """Return how a stands to b, the criterion that decides it, and the transactions that only one of them has."""
    none = GtidSet()
    if a.gtids and b.gtids:
        only_a, only_b = _only(a.gtids, b.gtids), _only(b.gtids, a.gtids)
        return _relation(bool(only_a), bool(only_b)), "GTIDs", only_a, only_b
    ids = a.position.group_id, b.position.group_id
    if ids[0] is not None and ids[1] is not None:
        return _relation(ids[0] > ids[1], ids[0] < ids[1]), "group ids", none, none
    places = _place(a.position), _place(b.position)
    if places[0] is None or places[1] is None or places[0][0] != places[1][0]:
        return "unknown", "", none, none
    first = a if places[0] <= places[1] else b
    if not _are_of_one_log(first.position, archive_b if first is a else archive_a):
        return "diverged", "positions", none, none
    return _relation(places[0] > places[1], places[0] < places[1]), "positions", none, none


def _relation(a_has_more: bool, b_has_more: bool) -> Relation:
    if a_has_more and b_has_more:
        return "diverged"
    return "ahead" if a_has_more else "behind" if b_has_more else "same"


def _only(own: GtidSet, other: GtidSet) -> GtidSet:
    """Return the transactions of a set that another one does not have; of MariaDB's domains that have some, the last
    one."""
    domains = {domain: entry for domain, entry in own.domains.items()
               if domain not in other.domains or not _has(other.domains[domain], other.states.get(domain),
                                                          entry, own.states.get(domain))}
    return GtidSet.from_intervals(own.subtract(other).intervals, domains)


def _has(position: Position, state: State | None, group: Position, state_after_group: State | None) -> bool:
    """Return True if a group was executed where a domain stands at a position. Without the position's state, it comes
    after the group only with a higher number: numbers grow in a domain, unless gtid_strict_mode is OFF."""
    return is_executed(group, state_after_group, position, state) and (
        state is not None or group == position or position[1] > group[1])


def _place(at: BinlogPosition) -> tuple[str, int, int] | None:
    """Return the base name of a position's file, the file's number, and the offset; None without a file."""
    name, _, number = at.file.rpartition(".")
    return (name, int(number), at.offset) if number.isdigit() else None


def _are_of_one_log(at: BinlogPosition, archive: Archive | None) -> bool:
    """Return False if an archive has the file of a position with other bytes before the position."""
    uri = next((file.uri for file in archive.files if file.name == at.file), None) if archive is not None else None
    if uri is None or at.tail is None:
        return True
    return GroupPass(uri).tail(at.offset) == at.tail


def _attached(behind: Standing, ahead: Archive | None, standing: Standing,
              by: str) -> tuple[BinlogPosition | None, str]:
    """Return where a state continues in an archive that is ahead of it, or why it cannot."""
    if ahead is None:
        return None, "only an archive has what comes next"
    if lost := _only(standing.before, behind.gtids) if by == "GTIDs" else None:
        return None, f"the archive begins with {standing.begins}, after transactions {lost}"
    position = replace(behind.position, flavour=read_head(ahead.files[0]).format.flavour)
    try:
        if by == "GTIDs":
            return _by_gtids(position, ahead), ""
        if by == "group ids":
            return position_by_group_id(ahead, position), ""
        ahead.check_has(position.file)
        return position, ""
    except ApplierError as error:
        return None, error.message


def _by_gtids(position: BinlogPosition, archive: Archive) -> BinlogPosition:
    """Return the position in an archive where a set is complete, found as a replay finds it. Raises ArchiveError."""
    def outlined(tasks: Sequence[OutlineTask]) -> list[Any]:
        return ThisProcess(os.cpu_count() or 1).outline(list(tasks), lambda *_: None)

    outlines = outlined(tasks_by_gtid(archive, position))
    if served := tasks_of_served_domains(position, outlines):
        outlines = outlined(served)
    try:
        return position_by_gtid(position, outlines)
    except ArchiveError as error:
        if have_all_domains(position, outlines):  # a replay reads from the beginning, and skips executed groups
            return replace(position, file=archive.files[0].name, offset=4, tail=None)
        raise error from None
