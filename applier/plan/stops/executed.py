"""What a base has executed of a log after --start-position: a replica does not apply it again (GRP-5).

A GTID decides for its group: MySQL's by the set of executed transactions, MariaDB's by the base's place in each domain,
in the order of the log. Of headers with group ids the id decides, which grows (GRP-3). A group without either is
executed where the base's file and offset say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from applier.binlog.archive.archive import ArchiveFile
from applier.binlog.events.gtid import GtidSet, Interval
from applier.binlog.locating.groups import GroupPass, Groups
from applier.errors import LOG_GAP, ArchiveError, UsageError
from applier.plan.stops.start_position import StartPosition
from applier.snapshot.manifest import BinlogPosition


@dataclass(frozen=True)
class Executed:
    """What the base has of a log: `transactions` by source, as LeavingOut takes them; where the log begins that it does
    not have, if group ids say so, else where people start; and where the last MariaDB domain reaches the base's place,
    which is no earlier than that."""

    start: StartPosition
    transactions: GtidSet = field(default_factory=GtidSet)
    until: StartPosition | None = None


def executed_after(start: StartPosition, before: GtidSet, base: BinlogPosition,
                   files: Sequence[ArchiveFile]) -> Executed:
    """What a base has executed after a start, in the first of these files; `before` was executed before the start.

    Raises UsageError for groups without GTIDs that come before the base's position, and for a log whose groups the base
    all has; ArchiveError (1236) where the log ends before the base's place in a MariaDB domain.
    """
    if base.group_id is not None and (groups := _groups(files[0], start)).ids is not None:
        return Executed(_first_after(base.group_id, start, groups, files))
    held = GtidSet.parse(base.gtid_set)
    _check_without_gtids(start, base, files, has_gtids=bool(held))
    if not held.domains:
        return Executed(start, held)
    return _of_domains(start, before, held, files)


def nothing_left(start: StartPosition) -> UsageError:
    """The error for a log whose groups the base all has."""
    return UsageError(f"the base already has every transaction after --start-position {start[0]}:{start[1]}",
                      hint="give later binlogs, or --reapply to apply these transactions again")


def _first_after(group_id: int, start: StartPosition, groups: Groups, files: Sequence[ArchiveFile]) -> StartPosition:
    """Where the first group begins whose id is above one."""
    for file in files:
        found = groups if file is files[0] else _groups(file, start)
        if found.ids is not None and (later := found.ids > group_id).any():
            first = int(np.argmax(later))
            return start if file is files[0] and first == 0 else (file.name, int(found.starts[first]))
    raise nothing_left(start)


def _check_without_gtids(start: StartPosition, base: BinlogPosition, files: Sequence[ArchiveFile], *,
                         has_gtids: bool) -> None:
    """Raise UsageError where groups after the start come before the base's position, and no GTID tells whether the base
    has them."""
    names = [file.name for file in files]
    if base.file not in names:
        return
    for file in files[:names.index(base.file) + 1]:
        groups = _groups(file, start)
        unknown = groups.sources < 0 if has_gtids else np.ones(len(groups), np.bool_)
        if file.name == base.file:
            unknown &= groups.ends <= base.offset
        if unknown.any():
            raise UsageError(f"the base is at {base}, and already contains the changes after --start-position "
                             f"{start[0]}:{start[1]}",
                             hint=f"start at {base}, or give --reapply to apply them again, as to a base of another "
                                  "server")


def _of_domains(start: StartPosition, before: GtidSet, held: GtidSet, files: Sequence[ArchiveFile]) -> Executed:
    """The groups of each MariaDB domain up to the one where the base stands, unless that came before the start."""
    left = dict(held.subtract(before).domains)
    found: dict[str, list[Interval]] = {}
    until: StartPosition | None = None
    for file in files:
        in_file = 0
        groups = _groups(file, start)
        for domain, (server, number) in list(left.items()):
            sources = [place for place, name in enumerate(groups.names) if name.startswith(f"{domain}-")]
            own = np.flatnonzero(np.isin(groups.sources, sources))
            here = np.flatnonzero((groups.numbers[own] == number) & (
                groups.sources[own] == _index(groups.names, f"{domain}-{server}")))
            if len(here):
                del left[domain]
                own = own[:int(here[0]) + 1]
                in_file = max(in_file, int(groups.ends[own[-1]]))
            for source in sources:
                numbers = groups.numbers[own[groups.sources[own] == source]]
                if len(numbers):
                    found.setdefault(groups.names[source], []).extend(_intervals(numbers))
        until = (file.name, in_file) if in_file else until
        if not left:
            break
    for domain, (server, number) in left.items():
        if any(name.startswith(f"{domain}-") for name in found):
            raise ArchiveError(f"the base is at transaction {domain}-{server}-{number}, which is not after "
                               f"--start-position {start[0]}:{start[1]}",
                               file=files[-1].name, errno=LOG_GAP,
                               hint="the base is newer than these logs, or of another server; --reapply applies them "
                                    "anyway")
    return Executed(start, GtidSet.from_intervals(found), until)


def _groups(file: ArchiveFile, start: StartPosition) -> Groups:
    """The groups of a file, after the start if that is in it."""
    found = GroupPass(file.uri)
    return found.groups(max(start[1], found.head_end) if file.name == start[0] else None)


def _index(names: list[str], name: str) -> int:
    return names.index(name) if name in names else -2


def _intervals(numbers: np.ndarray) -> list[Interval]:
    """Intervals of the numbers."""
    numbers = np.unique(numbers)
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.r_[0, breaks + 1]], numbers[np.r_[breaks, len(numbers) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
