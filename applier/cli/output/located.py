"""Print located groups, or the result of indexing."""

from collections.abc import Sequence
from dataclasses import asdict

from applier.binlog.locating.groups import Group
from applier.binlog.locating.search import Indexed
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole
from applier.io.printable import printable
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
        print("\n" * (number > 0) + "\n".join(f"{name:<9}{printable(str(value))}" for name, value in facts
                                                 if value is not None))


LOCATED = Result(_print, lambda found: [asdict(group) for group in found])
"""Event groups, in log order."""


def print_indexed(indexed: Indexed) -> None:
    """Print where the index is, and what was done to update it."""
    print(printable(f"{indexed.uri} describes {indexed.n_files:,} files in {indexed.size:,} bytes; {indexed.n_read:,} "
                    "were read"))
