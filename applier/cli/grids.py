"""Tables on stdout, with bars: on a terminal as wide as that, elsewhere with a line a row."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from applier.cli.terminal import ResultConsole, words

WIDE = 200
"""Width where no terminal limits it: nothing is wrapped in a file or a pipe."""
_BAR = 24
_COLOURS = ("green", "yellow", "red")
_EIGHTHS = " ▏▎▍▌▋▊▉"


def result_console() -> ResultConsole:
    """A console on stdout."""
    return ResultConsole(width=None if sys.stdout.isatty() else WIDE)


def new_grid(*columns: str) -> Table:
    """A table with these columns, for `add_row`."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    return grid


def add_row(grid: Table, *cells: str | int | float | Text) -> None:
    """Add a row; numbers are right-aligned, and texts are never read as markup."""
    grid.add_row(*map(_cell, cells))


def bar(values: Sequence[int], longest: int) -> Text:
    """A bar of several parts in their colours; one of `longest` in all takes the whole width."""
    text, reached, drawn = Text(no_wrap=True), 0, 0
    for value, colour in zip(values, _COLOURS, strict=True):
        reached += value
        full = reached * _BAR // max(longest, 1)
        text.append("█" * (full - drawn), colour)
        drawn = full
    if reached:
        text.append(_EIGHTHS[max(8 * reached * _BAR // longest % 8, drawn == 0)].strip(), "dim")
    return text


def _cell(value: str | int | float | Text) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, str):
        return words(value)
    number = words(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}")
    number.justify = "right"
    return number
