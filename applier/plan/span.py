"""The part of the log that a replay applies.

Positions are (index of the file among the outlines, byte offset in it).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal

from applier.binlog.events.gtid import GtidSet
from applier.binlog.outline.outline import Outline
from applier.snapshot.manifest import BinlogPosition, PreparedTransaction, Snapshot

Wanted = Callable[[str, str], bool]


@dataclasses.dataclass(frozen=True)
class LogSpan:
    """The files that count, in order, each outlined from its first group that counts (`start`) to its last (`end`).

    The first `n_before` outlines are of single groups that the log prepared before the span, see applier.plan.prepared;
    `pending` are the XA transactions that are prepared at its end.
    """

    outlines: tuple[Outline, ...]
    n_before: int = 0
    pending: tuple[PreparedTransaction, ...] = ()

    @property
    def files(self) -> tuple[Outline, ...]:
        """The outlines without those of single groups."""
        return self.outlines[self.n_before:]

    @property
    def flavour(self) -> Literal["mysql", "mariadb"]:
        return "mariadb" if self.outlines[0].format.flavour == "mariadb" else "mysql"

    @property
    def has_compressed_rows(self) -> bool:
        return any(outline.inflated_bytes for outline in self.outlines)

    def end_position(self, base: Snapshot | None) -> BinlogPosition:
        """Where a snapshot stands after this span (AP-SNAP): its last event group's end, and all that is executed."""
        executed = GtidSet.parse(base.position.gtid_set) if base is not None else GtidSet()
        times = [outline.last_timestamp for outline in self.files if outline.last_timestamp is not None]
        for outline in self.files:
            executed = executed.union(outline.previous_gtids).followed_by(outline.gtids)
        last = self.outlines[-1]
        before, group_id = (base.position.timestamp, base.position.group_id) if base is not None else (None, None)
        ids = [outline.last_group_id for outline in self.files if outline.last_group_id is not None]
        return BinlogPosition(last.name, last.end, str(executed), times[-1] if times else before, self.flavour,
                              ids[-1] if ids else group_id, last.tail)


def span_of(outlines: list[Outline]) -> LogSpan:
    """The part of an archive's outlines that counts: everything up to the first file that contains the stop point."""
    for number, outline in enumerate(outlines):
        if outline.stopped:
            return LogSpan(tuple(outlines[:number + 1]))
    return LogSpan(tuple(outlines))
