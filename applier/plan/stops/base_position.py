"""The position of a base in an archive: by its file and offset, or, if these are unknown or another server's, by its
transactions, or where it has no GTIDs, by the id of its last group (GRP-5, GRP-7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set

from applier.binlog.archive.archive import Archive
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.groups import GroupPass
from applier.binlog.locating.heads import read_head
from applier.binlog.locating.targets import ByGroupId
from applier.binlog.outline.outline import Outline, OutlineTask, check_that_they_are_old
from applier.binlog.outline.stop import StopCondition
from applier.errors import LOG_GAP, ApplierError, ArchiveError
from applier.io.relayed import relayed_in
from applier.snapshot.manifest import BinlogPosition


def lacks_file_position(position: BinlogPosition) -> bool:
    """True if the base has GTIDs or a group id but no file position (a dump may record only these)."""
    return _has_other_position(position) and not position.file


def could_be_another_servers(error: ApplierError, position: BinlogPosition) -> bool:
    """True if an error of the plan may have its cause in a base with the file and offset of another server: after a
    failover, the new source's log continues from the same transactions in its own file and at its own offset (GRP-7).
    """
    return error.mysql_errno == LOG_GAP and _has_other_position(position) and bool(position.file)


def _has_other_position(position: BinlogPosition) -> bool:
    return bool(position.gtid_set) or position.group_id is not None


def position_by_group_id(archive: Archive, position: BinlogPosition) -> BinlogPosition:
    """The position with the file and offset behind the group with the base's id.

    Raises ArchiveError (1236) for an archive without that group, unless it begins with the next id.
    """
    assert position.group_id is not None
    target, heads = ByGroupId(position.group_id), [read_head(file) for file in archive.files]
    for number in target.files(lambda index: heads[index], len(heads)):
        found = GroupPass(archive.files[number].uri)
        groups = found.groups()
        for group in target.among(groups)[:1].tolist():
            end = groups[group].end
            return dataclasses.replace(position, file=found.name, offset=end, tail=found.tail(end))
    first = next(number for number, head in enumerate(heads) if head.first_id is not None)
    if heads[first].first_id == position.group_id + 1:
        return dataclasses.replace(position, file=archive.files[first].name, offset=4, tail=None)
    raise ArchiveError(f"{target.what}, the last one of the base snapshot, is not in these logs: {archive.extent}, and "
                       f"begins with group {heads[first].first_id}", file=archive.files[first].name, errno=LOG_GAP,
                       hint="also give the earlier binlogs; or is the base newer than these logs?")


def tasks_by_gtid(archive: Archive, position: BinlogPosition) -> list[OutlineTask]:
    """The outlines that `position_by_gtid` needs: of files that may contain the position, each up to where its
    transactions are complete.

    For MySQL the heads of files narrow it to one file, since sets of executed transactions only grow; MariaDB's domains
    may go back, or be forgotten. Raises ArchiveError (1236) if transactions are missing between the base and the
    archive.
    """
    files = list(archive.files)
    wanted = _wanted(position, files[0].uri)
    if missing := read_head(files[0]).executed.subtract(wanted):
        raise ArchiveError(f"transactions {missing} precede {files[0].name}, and the base snapshot does not contain "
                           "them",
                           file=files[0].name, errno=LOG_GAP,
                           hint="also give the earlier binlogs; or are these logs of another server?")
    if position.flavour == "mysql":
        first, last = 0, len(files)  # the base contains everything before `first`, and not everything before `last`
        while last - first > 1:
            middle = (first + last) // 2
            if wanted.contains(read_head(files[middle]).executed):
                first = middle
            else:
                last = middle
        if first and read_head(files[first]).executed == wanted:
            first -= 1  # it ends with the last of them
        files = files[first:last]
    stop = StopCondition(gtid_set=wanted)
    return [OutlineTask(file.uri, None, stop, size=file.about_bytes) for file in files]


def _wanted(position: BinlogPosition, first: str) -> GtidSet:
    """The base's transactions; where the logs are made of relay logs, those of the servers that they have some of."""
    wanted, relayed = GtidSet.parse(position.gtid_set), relayed_in(first)
    return wanted if relayed is None else wanted.of_sources(relayed.sources)


def tasks_of_served_domains(position: BinlogPosition, outlines: Sequence[Outline]) -> list[OutlineTask]:
    """The outlines of `tasks_by_gtid` without those MariaDB domains of the base that the log has nothing of: a source
    that does not serve a domain sends a replica the other ones. Empty if that changes nothing."""
    wanted = GtidSet.parse(position.gtid_set)
    known = _of_domains(wanted, _served(outlines))
    if any(outline.stopped for outline in outlines) or not 0 < len(known.domains) < len(wanted.domains):
        return []
    return [OutlineTask(outline.uri, None, StopCondition(gtid_set=known)) for outline in outlines]


def position_by_gtid(position: BinlogPosition, outlines: Sequence[Outline]) -> BinlogPosition:
    """The position with the file and offset at which its transactions are complete (GRP-5, GRP-7).

    Raises ArchiveError (1236) if the archive does not have all of them, has others before the last of them, or has
    others of the same GTIDs.
    """
    wanted = _wanted(position, outlines[0].uri)
    reached = next((outline for outline in outlines if outline.stopped), None)
    if reached is None:
        last = outlines[-1]
        missing = wanted.subtract(last.previous_gtids.followed_by(last.gtids))
        raise ArchiveError(f"the base snapshot has transactions {wanted}, but these logs do not contain {missing}",
                           file=last.name, errno=LOG_GAP,
                           hint="the base is newer than these logs, or of another server")
    there = reached.previous_gtids.followed_by(reached.gtids)
    tail = reached.tail if wanted.domains.keys() <= there.domains.keys() else None  # it stands for all of the set
    wanted = _of_domains(wanted, there.domains.keys() | _served(outlines))
    if others := there.subtract(wanted):
        raise ArchiveError(f"transactions {others} precede the last one of the base snapshot, which does not contain "
                           "them",
                           file=reached.name, position=reached.end, errno=LOG_GAP,
                           hint="are these the logs of the base's own server? give its position to `import`: "
                                "--position FILE:POS")
    for domain, (server, number) in wanted.subtract(there).domains.items():
        # a later number than the log's is one that it does not have, which filters of a replica make
        if domain not in there.domains or number <= there.domains[domain][1]:
            raise ArchiveError(f"transaction {domain}-{server}-{number} of the base snapshot is not in these logs, "
                               "which have later ones of its server", file=reached.name, position=reached.end,
                               errno=LOG_GAP, hint="the base is of another server, which had other transactions")
    if reached.n_groups and relayed_in(reached.uri) is None:
        check_that_they_are_old(position.timestamp, reached.begun, reached.last_timestamp or 0, reached.name,
                                reached.end)
    return dataclasses.replace(position, file=reached.name, offset=reached.end, tail=tail)


def have_all_domains(position: BinlogPosition, outlines: Sequence[Outline]) -> bool:
    """Return True if the outlines of `tasks_by_gtid` reach the base's position in all MariaDB domains, and one of them
    earlier than others: then the log has groups before the last position that the base does not have."""
    wanted = GtidSet.parse(position.gtid_set)
    reached = next((outline for outline in outlines if outline.stopped), None)
    if reached is None or not wanted.domains:
        return False
    there = reached.previous_gtids.followed_by(reached.gtids)
    return len(there.domains) > 1 and not _of_domains(wanted, there.domains.keys()).subtract(there)


def _served(outlines: Sequence[Outline]) -> Set[int]:
    """Return the MariaDB domains of which the log has groups."""
    return set[int]().union(*(outline.previous_gtids.followed_by(outline.gtids).domains for outline in outlines))


def _of_domains(gtids: GtidSet, domains: Set[int]) -> GtidSet:
    """A set with these of MariaDB's domains only."""
    return GtidSet.from_intervals(gtids.intervals, {domain: entry for domain, entry in gtids.domains.items()
                                                    if domain in domains}, gtids.states)
