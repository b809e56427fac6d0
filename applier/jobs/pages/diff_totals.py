"""Totals of updates with JSON diffs, for a summary and for the report of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class DiffCounts(Protocol):
    """A table, or all tables of a result."""

    @property
    def partial_updates(self) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def bytes_saved(self) -> int: ...


class _HasTables(Protocol):
    @property
    def tables(self) -> Sequence[DiffCounts]: ...


class DiffTotals:
    """The totals of a result that has `tables`."""

    @property
    def partial_updates(self: _HasTables) -> int:
        """Updates of all tables with JSON diffs."""
        return sum(table.partial_updates for table in self.tables)

    @property
    def documents(self: _HasTables) -> int:
        """Documents that are logged as JSON diffs."""
        return sum(table.documents for table in self.tables)

    @property
    def bytes_saved(self: _HasTables) -> int:
        """How many bytes less the diffs take than the documents before them, of those that before-images have."""
        return sum(table.bytes_saved for table in self.tables)


def diff_tiles(totals: DiffCounts) -> list[tuple[str, str, str]]:
    """Return tiles of a page; none if no update has diffs."""
    return [("partial updates", f"{totals.partial_updates:,}", ""),
            ("JSON documents in them", f"{totals.documents:,}", ""),
            ("bytes saved by diffs", f"{totals.bytes_saved:,}", "")] if totals.partial_updates else []
