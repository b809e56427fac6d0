"""The list of files in a directory of versions."""

from __future__ import annotations

from dataclasses import dataclass

MANIFEST = "_history.json"


@dataclass(frozen=True)
class HistoryFile:
    """A file of versions: its path in the directory, how many there are, and whether they are still valid."""

    file: str
    rows: int
    is_open: bool


@dataclass(frozen=True)
class HistoryFiles:
    """The contents of MANIFEST: the table ("db.table"), the position up to which the log was read, the columns of the
    key."""

    table: str
    position: str
    gtid_set: str
    key: tuple[str, ...]
    files: tuple[HistoryFile, ...]

    @property
    def rows(self) -> int:
        """Versions in all."""
        return sum(file.rows for file in self.files)
