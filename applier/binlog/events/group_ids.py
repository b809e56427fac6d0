"""Ids of event groups (GRP-3): headers of 27 bytes have one, all events of a group share it, and it grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from applier.errors import ReplayStopped

if TYPE_CHECKING:
    from applier.binlog.outline.outline import Outline

NO_GROUP_ID = 0
"""What a replica writes whose source has no ids (seeds/003, mixed environments)."""


def check_group_ids(outlines: Sequence[Outline], last: int | None) -> int | None:
    """Do the ids grow from file to file, and from the `last` one that was applied before them? Gives the last one now.

    Raises ReplayStopped for a group that may have been applied already (GRP-5).
    """
    for outline in outlines:
        if outline.first_group_id is not None:
            if last is not None and outline.first_group_id <= last:
                raise late_group(outline.first_group_id, last, outline.uri, outline.start)
            last = outline.last_group_id
        if outline.stopped:
            break
    return last


def late_group(group_id: int, last: int, file: str, position: int) -> ReplayStopped:
    """The error for a group whose id is not greater than the last one's."""
    return ReplayStopped(f"the group has id {group_id}, and one with id {last} was applied before it", file=file,
                         position=position, hint="ids of groups grow: these are logs of several servers, or of one "
                                                 "whose id was set back; --stop-position stops before this group")
