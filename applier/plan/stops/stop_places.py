"""Resolves places to stop at to positions in an archive: GTID sets are looked up (GRP-2, GRP-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.heads import read_head
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.errors import UsageError
from applier.option_texts import Place
from applier.plan.stops.stop_position import outlines_up_to_stop

Outlining = Callable[[Sequence[OutlineTask]], list[Outline]]


def in_order(places: Sequence[Place], archive: Archive, outline: Outlining) -> list[tuple[str, int]]:
    """The places as (file, offset), in the order of the log, each once.

    Raises UsageError for a file that the archive does not have, and for transactions that are not all in it.
    """
    numbers = {file.name: number for number, file in enumerate(archive.files)}
    found = set()
    for place in places:
        name, offset = _executed_at(GtidSet.parse(place), archive, outline) if isinstance(place, str) else place
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
