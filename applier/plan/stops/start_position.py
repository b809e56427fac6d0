"""The start of a replay with --start-position: between two event groups (GRP-2); and the transactions before it.

Groups that a base has executed are not applied again (GRP-5). A group's GTID decides: MySQL's by the set of
executed transactions, MariaDB's by the base's position in each domain, in log order. In headers with group ids
the id decides, which grows (GRP-3). A group without either is executed if the base's file and offset say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.events.gtid import GtidSet, Interval
from applier.binlog.locating.groups import Group, GroupPass, Groups
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.errors import LOG_GAP, ArchiveError, UsageError
from applier.snapshot.manifest import BinlogPosition, Snapshot

StartPosition = tuple[str, int]
"""A binlog's base name, and an offset in it."""


def files_from(archive: Archive, start: StartPosition) -> tuple[tuple[ArchiveFile, ...], int]:
    """The files of the archive from the start on, and the offset in the first. Raises UsageError if the archive does
    not have the position."""
    name, offset = start
    number = next((number for number, file in enumerate(archive.files) if file.name == name), None)
    if number is None:
        raise UsageError(f"--start-position names {name}, which is not in the archive: {archive.extent}")
    if offset > archive.files[number].log_bytes:
        raise UsageError(f"the start position {offset} is past the end of {name}, which has "
                         f"{archive.files[number].log_bytes} bytes")
    return archive.files[number:], offset


def task_before(file: ArchiveFile, offset: int) -> OutlineTask:
    """The outline that `check_start` needs: the groups of the file that end at or before the start."""
    return OutlineTask(file.uri, None, StopCondition(position=(file.name, offset)))


def check_start(before: Outline, offset: int) -> None:
    """Raise UsageError if the start is within an event group, naming its borders."""
    if group := group_around(before, offset):
        raise UsageError(f"--start-position {before.name}:{offset} is within an event group, which goes from "
                         f"{group.start} to {group.end}",
                         hint=f"start with it at {before.name}:{group.start}, or after it at {before.name}:{group.end}")


def group_around(before: Outline, offset: int) -> Group | None:
    """Return the event group that an offset is within, given the outline of the file up to there; None if the offset is
    between groups."""
    if before.end >= offset:
        return None
    groups = GroupPass(before.uri).groups(before.end)
    return groups[0] if len(groups) and groups[0].start < offset < groups[0].end else None


def continuity(before: Outline, offset: int, base: Snapshot | None, *, reapply: bool) -> list[str]:
    """The report's notes on transactions between the base and the start: those that are left out, and with `reapply`
    those that are replayed though the base has them. A snapshot counts the first as executed, since its position in the
    log is after them."""
    executed, where = before.previous_gtids.followed_by(before.gtids), f"--start-position {before.name}:{offset}"
    if base is None:
        left_out = f"transactions {executed}" if executed else "what the log has before"
        return [f"{left_out} came before {where} and are not replayed"] if executed or offset > before.start else []
    held = GtidSet.parse(base.position.gtid_set)
    if not (executed or held):
        return [f"the base stands at {base.position}, and the replay continues from {where}: without GTIDs it is not "
                "known what is left out" + (", or comes twice" if reapply else "")]
    notes = []
    if missing := executed.subtract(held):
        notes.append(f"transactions {missing} came before {where} and are not in the base: they are left out")
    if again := held.subtract(executed):
        if reapply:
            notes.append(f"transactions {again} are in the base: those after {where} are replayed again")
        return notes
    return notes or [f"{where} continues where the base ends: no transaction is left out, or comes twice"]


@dataclass(frozen=True)
class Executed:
    """The part of a log that the base has executed: `transactions` by source, as LeavingOut takes them; the beginning
    of the part that it does not have, if group ids tell, else the user's start; and the position where the last MariaDB
    domain reaches the base's, which is no earlier than that."""

    start: StartPosition
    transactions: GtidSet = field(default_factory=GtidSet)
    until: StartPosition | None = None


def executed_after(start: StartPosition, before: GtidSet, base: BinlogPosition,
                   files: Sequence[ArchiveFile]) -> Executed:
    """Return the part that a base has executed after a start, in the first of these files; `before` was executed before
    the start.

    Raises UsageError for groups without GTIDs that come before the base's position, and for a log whose groups the base
    all has; ArchiveError (1236) if the log ends before the base's position in a MariaDB domain.
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
            sources = [where for where, name in enumerate(groups.names) if name.startswith(f"{domain}-")]
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
