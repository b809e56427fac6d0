"""The end of a replay: whether the log has the stop position, which files precede it, whether it was reached.

Stops are resolved to positions in the archive: GTID sets are looked up (GRP-2, GRP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import takewhile

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.events.format import EventType
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.heads import read_head
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.stop import StopCondition, StopNotReached
from applier.errors import ApplierError, ArchiveError, UsageError
from applier.option_texts import Place

Outlining = Callable[[Sequence[OutlineTask]], list[Outline]]
_BETWEEN_GROUPS = (EventType.STOP, EventType.ROTATE, EventType.BINLOG_CHECKPOINT)


def files_up_to(stop: StopCondition, archive: Archive, files: tuple[ArchiveFile, ...],
                start: int | None) -> tuple[ArchiveFile, ...]:
    """Return the files, starting at offset `start` in the first, up to the stop position: later ones may be damaged, or
    of any length. Raises UsageError if the archive does not have the position, or has it before the start."""
    if stop.position is None:
        return files
    name, offset = stop.position
    names = [file.name for file in files]
    if name not in names and name not in (file.name for file in archive.files):
        raise StopNotReached(f"--stop-position names {name}, which is not in the archive: {archive.extent}")
    if name not in names or (start is not None and name == names[0] and offset < start):
        begin = names[0] if start is None else f"{names[0]}:{start}"
        raise UsageError(f"{name}:{offset}, where the replay is to stop, precedes {begin}, where it starts",
                         hint="for an earlier state, give an earlier --base or none, and another --output")
    return files[:names.index(name) + 1]


def outlines_up_to_stop(outline: Outlining, tasks: Sequence[OutlineTask]) -> list[Outline]:
    """The outlines of all files, or, if one cannot be read, of those before it if they contain the stop point.

    Only a position names the file to stop in before files are read, so they are read in parallel. Raises the
    ApplierError of the first file that counts.
    """
    try:
        return outline(tasks)
    except ApplierError as reason:
        damaged = reason.file
        before = list(takewhile(lambda task: task.uri != damaged, tasks))
        if not 0 < len(before) < len(tasks):
            raise
        outlines = outline(before)
        if not any(found.stopped for found in outlines):
            raise
        return outlines


def check_reached(stop: StopCondition, last: Outline) -> None:
    """Raise StopNotReached if the log ends before the transactions to stop after. Transactions executed before the log
    count as reached."""
    if stop.gtid_set is None or last.stopped:
        return
    executed = last.previous_gtids.followed_by(last.gtids)
    if missing := stop.gtid_set.subtract(executed):
        raise StopNotReached(f"the log ends at {last.name}:{last.end} without transactions {missing}, at which it is "
                             "to stop", file=last.uri, hint="give later binlogs, or a set that these reach: they "
                             f"end with {executed or 'no GTID'}")


def notes_on_stop(stop: tuple[str, int] | None, last: Outline) -> list[str]:
    """Return the report's note on a position to stop at that is within an event group, given the last outline."""
    if stop is None or stop[0] != last.name or last.end >= stop[1] or \
            GroupPass(last.uri).kind_at(last.end) in _BETWEEN_GROUPS:
        return []
    return [f"--stop-position {last.name}:{stop[1]} is within the event group that begins at {last.end}: it stopped "
            "before that group"]


def check_not_past(stop: StopCondition, first: Outline, base: GtidSet, archive: Archive, outline: Outlining) -> None:
    """Raise UsageError if the stop position is before the beginning of the log: the set was executed before the last
    group there. If the archive does not have that group, its number counts as the highest one of its source."""
    if stop.gtid_set is None:
        return
    executed = base.union(first.previous_gtids.followed_by(first.gtids_before))
    if not executed.contains(stop.gtid_set):
        return
    last = _last_before(first, archive, outline)
    if not _may_end_with(stop.gtid_set, executed if last is None else GtidSet.parse(last)):
        raise UsageError(f"transactions {stop.gtid_set}, at which the replay is to stop, precede "
                         f"{first.name}:{first.start}, where it starts",
                         hint="for an earlier state, give an earlier --base or none, and another --output")


def _last_before(first: Outline, archive: Archive, outline: Outlining) -> str | None:
    """Return the GTID of the last group before an outline, None if the archive does not have it, or not whole."""
    stop = StopCondition(position=(first.name, first.start))
    with suppress(ArchiveError):  # nothing else needs these files
        for file in reversed(archive.files[:archive.index_of(first.name) + 1]):
            [found] = outline([OutlineTask(file.uri, None, stop)])
            if found.n_groups:
                return found.last_gtid
    return None


def _may_end_with(wanted: GtidSet, executed: GtidSet) -> bool:
    """Return whether a set may be completed by the last group of the executed ones."""
    return any(executed.domains.get(domain) == entry for domain, entry in wanted.domains.items()) or any(
        wanted.contains(GtidSet.from_intervals({source: [(last, last)]}))
        for source, [*_, (_, last)] in executed.intervals.items())


def in_order(given: Sequence[Place], archive: Archive, outline: Outlining) -> list[tuple[str, int]]:
    """Return the positions as (file, offset), in log order, each once.

    Raises UsageError for a file that the archive does not have, and for transactions that are not all in it.
    """
    numbers = {file.name: number for number, file in enumerate(archive.files)}
    found = set()
    for one in given:
        name, offset = _executed_at(GtidSet.parse(one), archive, outline) if isinstance(one, str) else one
        archive.check_has(name)
        if name not in numbers:
            raise UsageError(f"--snapshot-at names {name}, which is not in the archive: {archive.extent}")
        if offset > archive.files[numbers[name]].log_bytes:
            raise UsageError(f"--snapshot-at names a position past the end of {name}, which has "
                             f"{archive.files[numbers[name]].log_bytes} bytes")
        found.add((numbers[name], offset))
    return [(archive.files[number].name, offset) for number, offset in sorted(found)]


def _executed_at(wanted: GtidSet, archive: Archive, outline: Outlining) -> tuple[str, int]:
    """The end of the group that completes a set."""
    wanted.check_flavour(read_head(archive.files[0]).format.flavour)
    stop = StopCondition(gtid_set=wanted)
    outlines = outlines_up_to_stop(outline, [OutlineTask(file.uri, None, stop)
                                             for file in _candidates(wanted, archive)])
    reached = next((found for found in outlines if found.stopped), None)
    if reached is None and archive.gap is not None:
        raise archive.gap
    if reached is None:
        raise UsageError(f"transactions {wanted} are not all in the archive",
                         hint="`applier locate --gtid` shows which ones are")
    return reached.name, reached.end


def _candidates(wanted: GtidSet, archive: Archive) -> Sequence[ArchiveFile]:
    """The files that may complete the set. MySQL's sets of executed transactions only grow, so it is the file before
    the first whose head contains all of the set; MariaDB's domains may go back."""
    files = archive.files
    if wanted.domains:
        return files
    first, last = 0, len(files)  # the set is not executed before `first`, and is before `last`
    while last - first > 1:
        middle = (first + last) // 2
        if read_head(files[middle]).executed.contains(wanted):
            last = middle
        else:
            first = middle
    return files[first:last]
