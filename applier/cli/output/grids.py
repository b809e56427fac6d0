"""Tables on stdout, with bars: on a terminal as wide as it, elsewhere with one line per row.

Numbers are never broken or cut. If a terminal has less than `NARROW` columns, a table omits the columns in `less`, and
then, from the right, as many columns of numbers as do not fit. Names are cut in the middle, where they
differ least; other texts wrap to the next line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from applier.cli.terminal import ResultConsole, words

_UNBROKEN = 1 << 14
"""Width where nothing limits it: no row is wrapped in a file or a pipe."""
NARROW = 100
_LEAST, _WORD = 12, 24
"""The minimum width of a name or a text, and of a text with longer words."""
_GAP, _EDGES = 3, 2
"""Columns between two table columns, and at the edges."""
_BAR = 24
_COLOURS = ("green", "yellow", "red")
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Grid:
    """A table with these columns that is filled, then printed. `less` names those that it can omit, `names` those whose
    texts are cut in the middle. `whole` are the indexes of columns that are never wrapped: numbers and bars."""

    def __init__(self, *titles: str, less: Collection[str] = (), names: Collection[str] = ("table",)) -> None:
        self.titles, self.less, self.names = titles, less, names
        self.rows: list[list[Text]] = []
        self.whole: set[int] = set()

    def add(self, *cells: str | int | float | Text) -> None:
        """Add a row; numbers are right-aligned, and texts are never read as markup."""
        row = [_cell(cell) for cell in cells]
        self.whole.update(column for column, cell in enumerate(row) if cell.no_wrap)
        self.rows.append(row)

    def print(self, console: Console) -> None:
        """Print it in the console's width."""
        chosen = [column for column, title in enumerate(self.titles)
                  if console.width >= NARROW or title not in self.less]
        widths = {column: self._width(column) for column in chosen}
        room = console.width - _GAP * (len(chosen) - 1) - _EDGES
        while sum(self._narrowest(widths).values()) > room and (last := self._last_whole(chosen)) is not None:
            chosen.remove(last)
            del widths[last]
            room += _GAP
        least = self._narrowest(widths)
        while sum(widths.values()) > room and (wide := [column for column in chosen if widths[column] > least[column]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in chosen:
            table.add_column(self.titles[column], width=widths[column], overflow="fold")
        for row in self.rows:
            table.add_row(*(_cut(row[column], widths[column]) if self.titles[column] in self.names else row[column]
                            for column in chosen))
        console.print(table)

    def _width(self, column: int) -> int:
        """Return the width that a column needs without wrapping; titles of numbers wrap between words."""
        title = self.titles[column]
        least = max(map(cell_len, title.split()), default=0) if column in self.whole else cell_len(title)
        return max([least, *(cell_len(line) for row in self.rows for line in row[column].plain.split("\n"))], default=0)

    def _narrowest(self, widths: dict[int, int]) -> dict[int, int]:
        return {column: width if column in self.whole else min(width, max(_LEAST, self._longest_word(column)))
                for column, width in widths.items()}

    def _longest_word(self, column: int) -> int:
        if self.titles[column] in self.names:
            return 0
        return min(_WORD, max((cell_len(word) for row in self.rows for word in row[column].plain.split()), default=0))

    def _last_whole(self, chosen: list[int]) -> int | None:
        return next((column for column in reversed(chosen) if column in self.whole), None)


def result_console() -> ResultConsole:
    """A console on stdout: as wide as the terminal; in a file or a pipe as COLUMNS says, or as the text needs."""
    columns = os.environ.get("COLUMNS", "")
    wide = int(columns) if columns.isdecimal() and int(columns) else _UNBROKEN
    return ResultConsole(width=None if sys.stdout.isatty() else wide)


def bar(values: Sequence[int], longest: int) -> Text:
    """Return a bar of several parts in their colours; a total of `longest` takes the whole width."""
    text, reached, drawn = Text(no_wrap=True), 0, 0
    for value, colour in zip(values, _COLOURS, strict=True):
        reached += value
        full = reached * _BAR // max(longest, 1)
        text.append("█" * (full - drawn), colour)
        drawn = full
    if reached:
        text.append(_EIGHTHS[max(8 * reached * _BAR // longest % 8, drawn == 0)].strip(), "dim")
    return text


def _cut(name: Text, width: int) -> Text:
    """Return a name shortened in its middle."""
    if cell_len(name.plain) <= width:
        return name
    left = (width - 1) // 2
    while cell_len(name.plain[:left]) > (width - 1) // 2:
        left -= 1
    right = len(name) - (width - 1 - (width - 1) // 2)
    while cell_len(name.plain[right:]) > width - 1 - (width - 1) // 2:
        right += 1
    return name[:left] + "…" + name[right:]


def _cell(value: str | int | float | Text) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, str):
        return words(value)
    number = words(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}")
    number.justify, number.no_wrap = "right", True
    return number
