"""The results of comparing before-images with the rows that they found: counts and first differences. Plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from applier.errors import ReplayStopped

REPORT, STOP, OFF = WITNESS = ("report", "stop", "off")
"""How a difference is handled: it is reported, it stops the replay, or values are not compared."""

_HINT = "the base, the definitions or the log of an earlier change are not the source's, or the replay is wrong; " \
    "--witness report keeps the row that a replica would have, and continues"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Difference:
    """A column of a table (db.table) whose values in before-images differed `count` times from the rows'. Of the first
    time: the URI of the file, the offset of the event and the row in it (from 0), and, as text, the row's key and both
    values. `computed`: a generated column in after-images, compared with the value of its expression."""

    table: str
    column: str
    count: int
    file: str
    position: int
    row: int
    key: str
    logged: str
    held: str
    computed: bool = False

    def error(self) -> ReplayStopped:
        """Return the error of a replay that stops there."""
        what = f"the after-image has {self.column} = {self.logged}, and its expression gives {self.held}" \
            if self.computed else f"the before-image has {self.column} = {self.logged}, and the replayed row has " \
            f"{self.held}"
        return ReplayStopped(
            what, table=self.table, file=self.file, position=self.position, row=self.row, key=self.key or None,
            hint=_HINT)


@dataclasses.dataclass(frozen=True)
class Witnessed:
    """The number of before-images that were compared with the rows that they found, the number of those that agreed in
    all comparable columns, and the differences by table and column; `computed` is the number of values of generated
    columns in after-images that were compared with their expressions, `computed_agreed` the number of those that
    agreed."""

    compared: int = 0
    agreed: int = 0
    differences: tuple[Difference, ...] = ()
    computed: int = 0
    computed_agreed: int = 0


def together(parts: Iterable[Witnessed]) -> Witnessed:
    """Combine the results of units. For a column with differences in several units, the first difference of each is
    kept: only the driver knows the order of files."""
    found = list(parts)
    return Witnessed(sum(part.compared for part in found), sum(part.agreed for part in found),
                     tuple(difference for part in found for difference in part.differences),
                     sum(part.computed for part in found), sum(part.computed_agreed for part in found))
