"""Where a replay stops: always at the end of an event group (GRP-2)."""

from dataclasses import dataclass

from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError


class StopNotReached(UsageError):
    """The log ends before the place to stop at, which it may reach later if it grows."""


@dataclass(frozen=True)
class StopCondition:
    """Ends the replay as soon as one of the given conditions holds.

    position   (file name, offset): groups that end at or before it count. The file's base name, without a folder.
    gtid_set   stop after the group with which the whole set has been executed. Transactions executed before (the base
               snapshot's set, Previous_gtids) count, so the set may name more than the archive holds.
    datetime   epoch seconds: stop before the first group whose timestamp is this or later. A group's timestamp is that
               of its first event, as for mysqlbinlog --stop-datetime.
    """

    position: tuple[str, int] | None = None
    gtid_set: GtidSet | None = None
    datetime: float | None = None

    @property
    def is_set(self) -> bool:
        """True if there is a condition."""
        return self != StopCondition()

    def offset_in(self, file_name: str) -> int | None:
        """Return the offset to stop at in this file, if the position names the file."""
        return self.position[1] if self.position is not None and self.position[0] == file_name else None
