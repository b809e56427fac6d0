"""The results of comparing before-images with the rows that they found, for a report: counts, and first differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from applier.io.typed_json import Count


@dataclass(frozen=True)
class WitnessDifference:
    """A column of a table (db.table) whose value in before-images was not the row's, `count` times, and the first time:
    the binlog's base name, where the rows event begins, which row in it (from 1), its transaction (None without GTIDs),
    the row's key and both values for people. `computed`: a generated column in after-images, and `held` is the value of
    its expression."""

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
    computed: bool = False

    def __str__(self) -> str:
        times = "once" if self.count == 1 else f"{self.count:,} times"
        where = f"{self.file}:{self.position}, row {self.row}" + (f", {self.gtid}" if self.gtid else "")
        row = f", {self.key}" if self.key else ""
        if self.computed:
            return (f"{self.table}: the expression of {self.column} differs from the log's after-image {times}, first "
                    f"at {where}{row}: the log has {self.logged}, the expression gives {self.held}")
        return (f"{self.table}: {self.column} differs from the log's before-image {times}, first at {where}{row}: "
                f"the log has {self.logged}, the replayed row {self.held}")


@dataclass(frozen=True)
class WitnessResult:
    """How many before-images were compared with the rows that they found, how many agreed, and where columns differed,
    in log order; `computed` is how many values of generated columns in after-images were compared with their
    expressions, `computed_agreed` how many agreed."""

    compared: Count = 0
    agreed: Count = 0
    differences: tuple[WitnessDifference, ...] = ()
    computed: Count = 0
    computed_agreed: Count = 0

    def __str__(self) -> str:
        text = f"{self.agreed:,} of {self.compared:,} before-images agree"
        return f"{text}, {self.computed_agreed:,} of {self.computed:,} generated values" if self.computed else text

    @property
    def is_empty(self) -> bool:
        """True if nothing was compared."""
        return not self.compared and not self.computed

    def and_then(self, later: WitnessResult) -> WitnessResult:
        """This and the result of a later part of the log."""
        return WitnessResult(self.compared + later.compared, self.agreed + later.agreed,
                             first_by_column((*self.differences, *later.differences)),
                             self.computed + later.computed, self.computed_agreed + later.computed_agreed)


def first_by_column(differences: Sequence[WitnessDifference]) -> tuple[WitnessDifference, ...]:
    """One for each column of each table and kind, the first one with the counts of all."""
    kept: dict[tuple[str, str, bool], WitnessDifference] = {}
    for difference in differences:
        name = difference.table, difference.column, difference.computed
        before = kept.get(name)
        kept[name] = difference if before is None else replace(before, count=before.count + difference.count)
    return tuple(kept.values())
