"""Ids of event groups (GRP-3): headers of 27 bytes have one, all events of a group share it, and it grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from applier.errors import ReplayStopped

if TYPE_CHECKING:
    from applier.binlog.outline.outline import Outline

NO_GROUP_ID = 0
"""The id that a replica writes if its source has no ids."""


def check_group_ids(outlines: Sequence[Outline], last: int | None) -> int | None:
    """Check that ids grow from file to file, beginning after the `last` one that was applied. Returns the new last one.

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
    """Return the error for a group whose id is not greater than the last one."""
    return ReplayStopped(f"the event group has id {group_id}, but one with id {last} was applied before it", file=file,
                         position=position, hint="group ids must increase: the logs come from several servers, or "
                                                 "the id was reset; --stop-position stops before this group")
