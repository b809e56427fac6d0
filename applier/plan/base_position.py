"""Where in an archive a base stands that knows its transactions only, as a dump that names GTIDs and no file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from applier.binlog.archive import Archive
from applier.binlog.gtid import GtidSet
from applier.binlog.outline import Outline, OutlineTask
from applier.binlog.stop import StopCondition
from applier.errors import LOG_GAP, ArchiveError
from applier.snapshot.manifest import BinlogPosition


def needs_place(position: BinlogPosition) -> bool:
    """Whether the place has to be looked for: GTIDs are known, and no file."""
    return bool(position.gtid_set) and not position.file


def place_tasks(archive: Archive, position: BinlogPosition) -> list[OutlineTask]:
    """Outlines that `place_of` wants: of all files, each up to where the position's transactions are complete."""
    stop = StopCondition(gtid_set=GtidSet.parse(position.gtid_set))
    return [OutlineTask(file.uri, None, stop) for file in archive.files]


def place_of(position: BinlogPosition, outlines: Sequence[Outline]) -> BinlogPosition:
    """The same position with the file and the offset at which its transactions are complete (GRP-5, GRP-7).

    Raises ArchiveError (1236) where the archive does not have all of them, or has others before the last of them.
    """
    wanted = GtidSet.parse(position.gtid_set)
    reached = next((outline for outline in outlines if outline.stopped), None)
    if reached is None:
        raise ArchiveError(f"the base snapshot has transactions {wanted}; these logs do not have all of them",
                           file=outlines[-1].name, errno=LOG_GAP,
                           hint="the base is newer than these logs, or of another server")
    if others := reached.previous_gtids.followed_by(reached.gtids).subtract(wanted):
        raise ArchiveError(f"transactions {others} come before the last one of the base snapshot, which does not have "
                           "them", file=reached.name, position=reached.end, errno=LOG_GAP,
                           hint="are these the logs of the base's own server? say where it stands: applier import "
                                "--position FILE:POS")
    return dataclasses.replace(position, file=reached.name, offset=reached.end)
