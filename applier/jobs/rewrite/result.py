"""The result of `rewrite`."""

from __future__ import annotations

from dataclasses import dataclass

from applier.binlog.locating.place import Executed


@dataclass(frozen=True)
class RewrittenFile:
    """The result of rewriting one file."""

    name: str
    """The log's name."""
    bytes_before: int
    """Of the log in the archive, unpacked."""
    bytes_after: int
    """Of the file that was written."""
    emptied: int = 0
    """How many transactions have no changes left after filters."""
    dropped: int = 0
    """How many rows events filters have dropped, those of servers not included."""


@dataclass(frozen=True)
class Proof(Executed):
    """The comparisons that show that a rewritten archive is equivalent."""

    tables: int
    """How many tables both archives leave."""
    rows: int
    """How many rows these have, all equal."""
    changes: int
    """How many row changes both have."""
    gtid_set: str
    """The GTIDs that both execute."""
    position: str
    """Where the rewritten archive ends."""

    def __str__(self) -> str:
        executed = f" at GTID set {self.gtid_set}" if self.gtid_set else f" at {self.position}"
        return (f"proven: both archives were replayed, with {self.changes:,} row changes; "
                f"{self.tables:,} tables with {self.rows:,} rows are equal{executed}")


@dataclass(frozen=True)
class Rewritten:
    """The result of rewriting an archive."""

    output: str
    """The directory."""
    files: tuple[RewrittenFile, ...]
    """The files, in their order."""
    groups: int
    """How many event groups were replayed."""
    proof: Proof
    """The proof that it is equivalent."""
    notes: tuple[str, ...]
    """Notes for the user, one line each."""

    @property
    def emptied(self) -> int:
        """How many transactions have no changes left after filters."""
        return sum(file.emptied for file in self.files)

    @property
    def dropped(self) -> int:
        """How many rows events filters have dropped, those of servers not included."""
        return sum(file.dropped for file in self.files)

    @property
    def bytes_before(self) -> int:
        """Of the logs in the archive, unpacked."""
        return sum(file.bytes_before for file in self.files)

    @property
    def bytes_after(self) -> int:
        """Of the files that were written."""
        return sum(file.bytes_after for file in self.files)

    @property
    def ratio(self) -> float:
        """How large the new files are, of the old ones' size."""
        return self.bytes_after / self.bytes_before if self.bytes_before else 1.0
