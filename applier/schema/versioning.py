"""MariaDB's system versioning: a table that keeps past rows, each with the time when it became valid and when it ended.

A current row has the end of time as its end. If the statement names no columns for the two times, the table has two
hidden ones, row_start and row_end, after all others. Unique keys also contain row_end: the server adds it. Source:
MariaDB's "System-Versioned Tables"; judged by MariaDB 10.11.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from applier.mysql.names import folded
from applier.mysql.types import ColumnType
from applier.mysql.versions import is_since

TIME = ColumnType("timestamp", fsp=6)
ENDS_OF_TIME = (2**31 * 1_000_000 - 1, 2**32 * 1_000_000 - 1)
"""In microseconds UTC: before MariaDB 11.5, and from then on."""


def end_of_time(server_version: str) -> int:
    """Return the end of current rows, by the server's version ("" if it is unknown)."""
    return ENDS_OF_TIME[is_since(server_version, (11, 5))]


@dataclass(frozen=True, slots=True)
class Versioning:
    """The names of the columns with a row's times; `hidden`: no statement sees them. `without`: the columns (in lower
    case) whose changes make no history, which only the source has to know."""

    row_start: str = "row_start"
    row_end: str = "row_end"
    hidden: bool = True
    without: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether a column is one of the two."""
        return folded(name) in (folded(self.row_start), folded(self.row_end))

    def hides(self, name: str) -> bool:
        """Return whether a column is one of two hidden ones."""
        return self.hidden and self.has(name)

    def of_column(self, name: str) -> str:
        """Return the clause of a column in CREATE TABLE."""
        if self.has(name):
            return f" GENERATED ALWAYS AS ROW {'START' if folded(name) == folded(self.row_start) else 'END'}"
        return " WITHOUT SYSTEM VERSIONING" if folded(name) in self.without else ""

    def with_names(self, renames: dict[str, str]) -> Versioning:
        """Return the versioning after columns were renamed: new names by old ones in lower case."""
        start, end = (renames.get(folded(name), name) for name in (self.row_start, self.row_end))
        without = tuple(folded(renames[name]) for name in self.without if name in renames)
        return replace(self, row_start=start, row_end=end, without=without)
