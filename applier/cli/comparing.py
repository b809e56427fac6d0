"""`applier compare`: which of two snapshots or archives is ahead."""

from __future__ import annotations

from typing import Any

import typer

from applier.cli.application import verb
from applier.options.verbs import COMPARE

DIVERGED = 1


@verb(COMPARE)
def compare(*, json: bool, **arguments: Any) -> None:
    """Say which of two snapshots, archives or GTID sets is ahead, which transactions only one of them has, and where
    the one that is behind continues in the other.

    Exits with 1 if each has transactions that the other does not have.

        applier compare /lake/shop /backup/binlogs
        applier compare /backup/db1 /backup/db2
        applier compare /backup/binlogs '0-1-5,1-2-7'
    """
    from applier.api.comparing import compare as compared
    from applier.cli.output.standings import COMPARISON
    from applier.cli.terminal import progress

    with progress() as watcher:
        found = compared(**arguments, progress=watcher)
    COMPARISON.print(json, found)
    if found.relation == "diverged":
        raise typer.Exit(DIVERGED)
