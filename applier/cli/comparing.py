"""`applier compare`: which of two snapshots or archives is ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from applier.cli.application import verb
from applier.cli.output.documents import print_json
from applier.io.printable import printable
from applier.options.verbs import COMPARE

if TYPE_CHECKING:
    from applier.binlog.events.gtid import GtidSet
    from applier.jobs.compare import Comparison, Standing

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
    from applier.cli.terminal import progress

    with progress() as watcher:
        found = compared(**arguments, progress=watcher)
    if json:
        print_json(found.to_json())
    else:
        print(printable("\n".join(_lines(found)), "\n"))
    if found.relation == "diverged":
        raise typer.Exit(DIVERGED)


def _lines(found: Comparison) -> list[str]:
    """The comparison as text."""
    lines = [*_place("A", found.a), *_place("B", found.b)]
    by = f" (by {found.by})" if found.by else ""
    words = {"same": "A and B stand at the same place", "ahead": "A is ahead of B", "behind": "A is behind B",
             "diverged": "A and B diverged", "unknown": "which of A and B is ahead is unknown"}
    lines.append(words[found.relation] + by)
    lines += [f"only {name} has {_transactions(gtids)}" for name, gtids in (("A", found.only_a), ("B", found.only_b))
              if gtids]
    if found.only_a and found.only_b:
        lines.append("of a replica and its source, what only the replica has is errant")
    behind, ahead = ("A", "B") if found.is_a_behind else ("B", "A")
    if found.attach is not None:
        lines.append(f"{behind} continues in {ahead} at {found.attach}")
    else:
        lines.append(f"{behind} cannot continue in {ahead}: {found.obstacle}")
    return lines


def _place(name: str, place: Standing) -> list[str]:
    at = place.position
    parts = [place.kind, *([place.place] if place.kind != "GTID set" else [])]
    stands = f"from {place.begins} to {at}" if place.begins else f"at {at}" if at.file else ""
    lines = [f"{name}: {' '.join(parts)}{', ' * bool(stands)}{stands}"]
    if place.gtids:
        lines.append(f"   GTIDs {place.gtids}")
    if at.group_id is not None:
        lines.append(f"   group id {at.group_id}")
    return lines


def _transactions(gtids: GtidSet) -> str:
    """A set, with the number of its transactions, which MariaDB's positions do not tell."""
    from applier.jobs.summary.words import counted

    if gtids.domains:
        return f"transactions up to {gtids}"
    return f"{counted(gtids.count, 'transaction')}: {gtids}"
