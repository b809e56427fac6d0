"""XA transactions: decides which of the prepared groups in the log count.

Rows of a prepared transaction are locked until XA COMMIT or XA ROLLBACK, so other transactions in between change
other rows, and a replica applies a group where it was prepared. So does a replay if the XA COMMIT is in the
span, too; otherwise the group does not count: it is rolled back, or pending, which the snapshot records (AP-SNAP). A
replay from a base gets the groups that were pending there as separate outlines, before the log continues.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from applier.binlog.archive.archive import Archive
from applier.binlog.locating.search import locate
from applier.binlog.locating.targets import ByGtid
from applier.binlog.outline.outline import Outline, OutlineTask, PreparedGroup, XaDecision
from applier.binlog.outline.stop import StopCondition
from applier.errors import LOG_GAP, UNKNOWN_XID, ArchiveError, ReplayStopped
from applier.plan.span import LogSpan
from applier.snapshot.manifest import PreparedTransaction

Outlining = Callable[[Sequence[OutlineTask]], list[Outline]]


def resolve_prepared_transactions(span: LogSpan, before: Iterable[PreparedTransaction],
                                  ) -> tuple[LogSpan, tuple[PreparedTransaction, ...]]:
    """Return the span, in which the prepared groups that do not count are among the rolled-back and the pending ones,
    and the transactions pending before it that it commits.

    Raises ReplayStopped (1397) for an XA COMMIT of a transaction that was not prepared in the span or before it.
    """
    open_before = {entry.xid: entry for entry in before}
    open_here: dict[str, tuple[int, PreparedTransaction]] = {}
    rolled_back = [set(outline.rolled_back) for outline in span.outlines]
    committed: list[PreparedTransaction] = []
    for number, outline in enumerate(span.outlines):
        rolled_back[number].update((group.start, group.end) for group in outline.prepared)
        events: list[PreparedGroup | XaDecision] = [*outline.prepared, *outline.decisions]
        for event in sorted(events, key=lambda event: event.position if isinstance(event, XaDecision) else event.start):
            if not isinstance(event, XaDecision):
                open_here[event.xid] = number, PreparedTransaction(event.xid, outline.name, event.start, event.end,
                                                                   event.gtid)
            elif event.xid in open_here:
                file, here = open_here.pop(event.xid)
                if event.commits:
                    rolled_back[file].remove((here.start, here.end))
            elif event.xid in open_before:
                was_open = open_before.pop(event.xid)
                committed += [was_open] if event.commits else []
            elif event.commits:
                raise _unknown(outline, event)
    outlines = tuple(dataclasses.replace(outline, rolled_back=sorted(spans))
                     for outline, spans in zip(span.outlines, rolled_back, strict=True))
    pending = (*open_before.values(), *(group for _, group in open_here.values()))
    return dataclasses.replace(span, outlines=outlines, pending=pending), tuple(committed)


def _unknown(outline: Outline, decision: XaDecision) -> ReplayStopped:
    return ReplayStopped(f"XA COMMIT {decision.xid} commits a transaction that was prepared before these logs begin",
                         file=outline.uri, position=decision.position, gtid=decision.gtid, errno=UNKNOWN_XID,
                         hint="also give the binlog with its XA PREPARE, or a --base that contains it")


def with_prepared_transactions(span: LogSpan, groups: tuple[PreparedTransaction, ...], archive: Archive,
                outline: Outlining) -> LogSpan:
    """The span with groups that were prepared before it, from where the base says that they are; after a failover, from
    where the log of the server that took over has their GTIDs (GRP-7): it has prepared them as a replica.

    Raises ArchiveError (1236) where the archive does not have one.
    """
    outlines = [_outline_of(group, archive, outline) for group in groups]
    return dataclasses.replace(span, outlines=(*outlines, *span.outlines), n_before=len(outlines))


def _outline_of(group: PreparedTransaction, archive: Archive, outline: Outlining) -> Outline:
    try:
        return _at_its_position(group, archive, outline)
    except ArchiveError as error:
        moved = _by_gtid(group, archive) if error.mysql_errno == LOG_GAP else None
        if moved is None:
            raise
    return _at_its_position(moved, archive, outline)


def _at_its_position(group: PreparedTransaction, archive: Archive, outline: Outlining) -> Outline:
    file = archive.files[archive.index_of(group.file)]
    task = OutlineTask(file.uri, group.start, StopCondition(position=(group.file, group.end)))
    found = outline([task]) if group.end <= file.log_bytes else []
    if [(part.start, part.end, part.xid) for whole in found for part in whole.prepared] != \
            [(group.start, group.end, group.xid)]:
        raise ArchiveError(f"XA transaction {group.xid}, which was prepared before the base snapshot, is not in these "
                           "logs",
                           file=file.uri, position=group.start, gtid=group.gtid, errno=LOG_GAP,
                           hint="are these logs of the base's own server, or of one that has prepared it, too?")
    return found[0]


def _by_gtid(group: PreparedTransaction, archive: Archive) -> PreparedTransaction | None:
    if group.gtid is None:
        return None
    try:
        [found] = locate([file.uri for file in archive.files], ByGtid.parse(group.gtid))
    except ArchiveError:
        return None
    return dataclasses.replace(group, file=found.file, start=found.start, end=found.end)
