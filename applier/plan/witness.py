"""What before-images said of the rows that they found, for a report: counts, and where each column differed first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from applier.io.typed_json import Count


@dataclass(frozen=True)
class WitnessDifference:
    """A column of a table (db.table) whose value in before-images was not the row's, `count` times, and the first time:
    the binlog's base name, where the rows event begins, which row in it (from 1), its transaction (None without GTIDs),
    the row's key and both values for people."""

    table: str
    column: str
    count: Count
    file: str
    position: Count
    row: Count
    gtid: str | None
    key: str
    logged: str
    held: str

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count:,} times"
        place = f"{self.file}:{self.position}, row {self.row}" + (f", {self.gtid}" if self.gtid else "")
        row = f", {self.key}" if self.key else ""
        return (f"{self.table}: {self.column} differs from the log's before-image {times}, first at {place}{row}: "
                f"the log has {self.logged}, the replayed row {self.held}")


@dataclass(frozen=True)
class WitnessResult:
    """How many before-images were compared with the rows that they found, how many agreed, and where columns differed,
    in the order of the log."""

    compared: Count = 0
    agreed: Count = 0
    differences: tuple[WitnessDifference, ...] = ()

    def __str__(self) -> str:
        return f"{self.agreed:,} of {self.compared:,} before-images agree"

    def and_then(self, later: WitnessResult) -> WitnessResult:
        """This and the result of a later part of the log."""
        return WitnessResult(self.compared + later.compared, self.agreed + later.agreed,
                             first_by_column((*self.differences, *later.differences)))


def first_by_column(differences: Sequence[WitnessDifference]) -> tuple[WitnessDifference, ...]:
    """One for each column of each table, the first one with the counts of all."""
    kept: dict[tuple[str, str], WitnessDifference] = {}
    for difference in differences:
        name = difference.table, difference.column
        before = kept.get(name)
        kept[name] = difference if before is None else replace(before, count=before.count + difference.count)
    return tuple(kept.values())
