"""Print located event groups."""

from collections.abc import Sequence
from dataclasses import asdict

from applier.binlog.locating.groups import Group
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole
from applier.mysql.values.time_zones import shown_with_local


def _print(console: ResultConsole, found: Sequence[Group]) -> None:
    """Print each group: where it starts and ends, as `replay --stop-position` takes it, and how it is identified."""
    for number, group in enumerate(found):
        facts = [
            ("start", f"{group.file}:{group.start}"),
            ("end", f"{group.file}:{group.end}"),
            ("GTID", group.gtid),
            ("time", shown_with_local(group.timestamp)),
            ("xid", group.xid),
            ("group id", group.group_id),
        ]
        if number:
            console.print()
        for name, value in facts:
            if value is not None:
                console.say(f"{name:<9}{value}", soft_wrap=True)


LOCATED = Result(_print, lambda found: [asdict(group) for group in found])
"""Event groups, in log order."""
