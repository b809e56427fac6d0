"""Results as tables on stdout: what a replay did, and what a snapshot holds."""

import sys
from datetime import UTC, datetime

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from applier.result import ReplayResult
from applier.snapshot.manifest import Snapshot

WIDE = 200
"""Columns where no terminal cuts the lines: nothing is wrapped in a file or a pipe."""


def print_result(result: ReplayResult) -> None:
    """One line a table with its row changes, then where the snapshot stands and how long it took."""
    console = _console()
    for note in result.notes:
        console.print(Text(note, style="yellow"))
    grid = _grid("table", "rows", "inserted", "updated", "deleted", "found by", "files written", "carried over")
    for table in sorted(result.tables, key=lambda table: (table.database, table.name)):
        _add(grid, f"{table.database}.{table.name}", table.rows, table.inserts, table.updates, table.deletes, table.key,
             table.files_written, table.files_carried)
    console.print(grid)
    console.print(Text.assemble((result.snapshot, "bold"), " stands at ", (result.position, "bold"),
                                f" ({_when(result.timestamp)})"))
    total = sum(result.seconds.values())
    phases = ", ".join(f"{name} {seconds:.1f}" for name, seconds in result.seconds.items())
    console.print(Text(f"{result.changes:,} row changes in {total:.1f} s" + (f" ({phases})" if phases else "")))


def print_snapshot(snapshot: Snapshot) -> None:
    """The position and the tables of a snapshot."""
    console = _console()
    position = snapshot.position
    facts = [
        ("position", str(position)),
        ("time", _when(position.timestamp)),
        ("GTID set", position.gtid_set.replace("\n", "") or "none"),
        ("server", position.flavour),
        ("base", snapshot.source.base or "none: from the first binlog on"),
        ("binlogs", _first_and_last(snapshot.source.binlogs)),
        ("options", ", ".join(f"{name}={value}" for name, value in snapshot.source.options.items()) or "defaults"),
        ("made by", snapshot.created_by),
    ]
    console.print(Text(snapshot.uri, style="bold"))
    for name, value in facts:
        console.print(Text.assemble((f"  {name:<9}", "cyan"), value))
    grid = _grid("table", "rows", "bytes", "files", "sorted by")
    for table in snapshot.tables:
        _add(grid, table.full_name, table.rows, table.bytes, len(table.files), ", ".join(table.key))
    console.print(grid)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)


def _grid(*columns: str) -> Table:
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    return grid


def _add(grid: Table, *cells: str | int) -> None:
    """A row; numbers stand at the right of their column, and as they are: never as markup."""
    grid.add_row(*[Text(f"{cell:,}", justify="right") if isinstance(cell, int) else Text(cell) for cell in cells])


def _when(timestamp: int | None) -> str:
    if timestamp is None:
        return "before the first event group"
    return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _first_and_last(names: tuple[str, ...]) -> str:
    if len(names) < 3:
        return ", ".join(names) or "none"
    return f"{names[0]} to {names[-1]} ({len(names)} files)"
