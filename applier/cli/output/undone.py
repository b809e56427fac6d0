"""Print what an undo does: tables and rows for people, with what to do next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict

from applier.cli import loudness
from applier.cli.output.grids import Grid
from applier.cli.output.results import Result
from applier.cli.terminal import ResultConsole, words
from applier.io.printable import shown_size
from applier.jobs.undo.conflict.conflicts import Conflict
from applier.jobs.undo.result import Undone
from applier.options.running import OF_COLUMNS

_LISTED, _LARGE = 20, 1 << 20
_NOT_BACK = "Not taken back: AUTO_INCREMENT's next number, and whatever is not in rows of these tables."
_COMPUTED = ("Look at these rows: a value that was changed since may have been computed from one that is taken back. "
             "`applier history --key` shows the statements.")
_HOW_TO_RUN = {
    "sql": ["Read it, then run it: mysql < FILE. Nothing happens if a row is not as the log left it, or if triggers "
            "would act.", _NOT_BACK],
    "binlog": ["Run it: mysqlbinlog --skip-gtids FILE | mysql, or mariadb-binlog FILE | mariadb. Triggers do not act. "
               "Nothing happens if a row is not as the log left it: ERROR 1690, at SET @guard.", _NOT_BACK]}


def _listed(rows: Sequence[Conflict], count: int) -> list[str]:
    """Return one line per row, with -v for all known rows, and how many more there are."""
    shown = rows if loudness.chosen() >= loudness.Loudness.VERBOSE else rows[:_LISTED]
    lines = [f"{row.outcome}: {row}" for row in shown]
    known = "all" if len(rows) == count else f"{len(rows):,}"
    how = f", -v lists {known}" if len(shown) < len(rows) else ""
    return lines + [f"… and {count - len(shown):,} more{how}"] * (count > len(shown))


def _print(console: ResultConsole, found: Undone, on_conflict: str) -> None:
    """Print what the file does, what it does not do, and what to do next."""
    size = os.path.getsize(found.output)
    shown = f" ({shown_size(size)})" if size >= _LARGE else ""
    console.say((found.output, "bold"), f"{shown} takes back {found.what}", soft_wrap=not console.is_terminal)
    grid = Grid("table", "come back", "go", "change back", "as before", "changed since", "not undone")
    for table in found.tables:
        grid.add(table.name, table.inserted, table.deleted, table.updated, table.same, table.partly,
                table.in_conflict)
    grid.print(console)
    for statement in (one for table in found.tables for one in table.partitions):
        console.say(f"made again first: {statement}", soft_wrap=True)
    for one in found.lost_objects:
        where = f"{found.output} has its statements, as comments" if found.format == "sql" else "its statements:"
        console.say(f"not restored: {one}; {where}", soft_wrap=True)
        for statement in one.statements if found.format != "sql" else ():
            console.print(words(f"{statement};", keep="\n"), soft_wrap=True)
    lines = _listed(found.conflicts, sum(table.in_conflict for table in found.tables))
    lines += _listed(found.undone_anyway, sum(table.partly for table in found.tables))
    lines += [_COMPUTED] * (on_conflict == OF_COLUMNS and bool(found.undone_anyway))
    lines += [*_HOW_TO_RUN[found.format], *found.proof]
    lines += ["Afterwards, if nothing else is written meanwhile:"] * bool(found.checks)
    for line in lines:
        console.say(line, soft_wrap=not console.is_terminal)
    for statement, expected in found.checks:
        console.say(f"  {expected:>12,}  {statement};", soft_wrap=True)


def _document(found: Undone, on_conflict: str) -> dict[str, object]:
    document = asdict(found) | {"on_conflict": on_conflict}
    for name in ("conflicts", "undone_anyway"):
        document[name] = [asdict(conflict) | {"row": dict(conflict.row)} for conflict in getattr(found, name)]
    document["checks"] = [{"statement": statement, "expected": expected} for statement, expected in found.checks]
    return document


UNDONE = Result(_print, _document)
"""An undo, and what was asked for where others have changed its rows."""
