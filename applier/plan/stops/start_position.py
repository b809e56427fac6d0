"""The start of a replay with --start-position: between two event groups (GRP-2); and the transactions before it."""

from __future__ import annotations

from applier.binlog.archive.archive import Archive, ArchiveFile
from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline import Outline, OutlineTask
from applier.binlog.outline.stop import StopCondition
from applier.errors import UsageError
from applier.snapshot.manifest import Snapshot

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
    if before.end >= offset:
        return
    from applier.binlog.locating.groups import GroupPass

    groups = GroupPass(before.uri).groups(before.end)
    if len(groups) and groups[0].start < offset < groups[0].end:
        raise UsageError(f"--start-position {before.name}:{offset} is within an event group, which goes from "
                         f"{groups[0].start} to {groups[0].end}",
                         hint=f"start with it at {before.name}:{groups[0].start}, or after it at "
                              f"{before.name}:{groups[0].end}")


def continuity(before: Outline, offset: int, base: Snapshot | None, *, reapply: bool) -> list[str]:
    """The report's notes on transactions between the base and the start: those that are left out, and with `reapply`
    those that are replayed though the base has them. A snapshot counts the first as executed, since its position in the
    log is after them."""
    executed, place = before.previous_gtids.followed_by(before.gtids), f"--start-position {before.name}:{offset}"
    if base is None:
        left_out = f"transactions {executed}" if executed else "what the log has before"
        return [f"{left_out} came before {place} and are not replayed"] if executed or offset > before.start else []
    held = GtidSet.parse(base.position.gtid_set)
    if not (executed or held):
        return [f"the base stands at {base.position}, and the replay goes on from {place}: without GTIDs it is not "
                "known what is left out" + (", or comes twice" if reapply else "")]
    notes = []
    if missing := executed.subtract(held):
        notes.append(f"transactions {missing} came before {place} and are not in the base: they are left out")
    if again := held.subtract(executed):
        if reapply:
            notes.append(f"transactions {again} are in the base: those after {place} are replayed again")
        return notes
    return notes or [f"{place} goes on where the base ends: no transaction is left out, or comes twice"]
