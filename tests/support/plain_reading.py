"""Event groups as a plain reading of the events says, and what `applier.binlog.locating` finds."""

from pathlib import Path

from applier.binlog.events.events import parse_gtid, parse_xid, read_events
from applier.binlog.events.format import EventType
from applier.binlog.locating import search
from applier.binlog.locating.groups import Group
from applier.binlog.locating.targets import ByGtid
from applier.io.mapping import map_file
from tests.support.group_id_logs import BETWEEN, GTIDS


def read_plainly(folder: Path) -> list[Group]:
    """The groups of logs in which each has a GTID event, event by event."""
    groups: list[Group] = []
    for path in sorted(folder.glob("binlog.0*")):
        for event in read_events(map_file(str(path))):
            end = event.position + event.size
            if event.type in GTIDS:
                gtid = parse_gtid(event.type, event.body, event.server_id).text
                groups.append(Group(path.name, event.position, end, event.timestamp, gtid, None, None))
            elif event.type not in BETWEEN:
                xid = parse_xid(event.body) if event.type == EventType.XID else groups[-1].xid
                groups[-1] = Group(*[*vars(groups[-1]).values()][:2], end, groups[-1].timestamp, groups[-1].gtid, xid,
                                   None)
    return groups


def find(folder, target) -> list[Group]:
    return search.locate([str(folder)], target)


def gtid(number: int) -> ByGtid:
    return ByGtid.parse(f"00000000-0000-4000-8000-000000000001:{number}")


def truly(folder: Path, number: int) -> bool:
    [expected] = [group for group in read_plainly(folder) if group.gtid == gtid(number).text]
    return find(folder, gtid(number)) == [expected]
