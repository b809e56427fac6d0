"""Prints how two snapshots, archives or GTID sets compare."""

from __future__ import annotations

from applier.binlog.events.gtid import GtidSet
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.jobs.compare import Comparison, Standing
from applier.jobs.summary.words import counted


def _print(console: ResultConsole, found: Comparison) -> None:
    for line in _lines(found):
        console.print(words(line, keep="\n"), soft_wrap=True)


def _lines(found: Comparison) -> list[str]:
    """The comparison as text."""
    lines = [*_state("A", found.a), *_state("B", found.b)]
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


def _state(name: str, state: Standing) -> list[str]:
    at = state.position
    parts = [state.kind, *([state.place] if state.kind != "GTID set" else [])]
    stands = f"from {state.begins} to {at}" if state.begins else f"at {at}" if at.file else ""
    lines = [f"{name}: {' '.join(parts)}{', ' * bool(stands)}{stands}"]
    if state.gtids:
        lines.append(f"   GTIDs {state.gtids}")
    if at.group_id is not None:
        lines.append(f"   group id {at.group_id}")
    return lines


def _transactions(gtids: GtidSet) -> str:
    """A set, with the number of its transactions, which MariaDB's positions do not tell."""
    if gtids.domains:
        return f"transactions up to {gtids}"
    return f"{counted(gtids.count, 'transaction')}: {gtids}"


COMPARISON = Result(_print, Comparison.to_json)
