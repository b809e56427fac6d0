"""The statements of an outline: all, or those that a plan needs to know of."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable

from applier.binlog.outline.outline import Outline, Relevance, Statement

MANY, LONG = 64, 64 << 10
"""Statements of a file that are carried as they are, if they are no longer than so many characters or bytes: to look at
them costs more than to carry them."""


class RelevantStatements:
    """Adds statements to an outline, whose rolled-back ranges are known, in the log's order; without `relevance`, all.

    What was rolled back, or may be yet (in groups that begin at the positions of `prepared`), is added as it is: such
    statements are looked at in another way (plan.log)."""

    def __init__(self, outline: Outline, relevance: Relevance | None, prepared: Collection[int]) -> None:
        self._outline, self._relevance, self._prepared = outline, relevance, prepared
        self._rolled_back = Ranges(outline.rolled_back)
        self._stopped = False

    def add(self, statement: Statement) -> None:
        """Add a statement, its beginning, or a count, or pass over it."""
        outline = self._outline
        if self._stopped:
            return  # no history comes this far
        if self._relevance is None or (len(outline.statements) < MANY and len(statement.sql) <= LONG) \
                or statement.group_start in self._prepared or statement.position in self._rolled_back:
            outline.statements.append(statement)
            return
        found = self._relevance.of(statement, outline.format.flavour)
        if found.skipped is not None:
            table, kind = found.skipped
            outline.skipped.setdefault(table, Counter())[kind] += 1
        if found.is_needed:
            statement.sql = statement.sql if found.sql is None else found.sql
            outline.statements.append(statement)
        self._stopped = found.stops


class Ranges:
    """The positions of ranges [start, end), which may overlap."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(ranges):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, position: int) -> bool:
        place = bisect_right(self._starts, position) - 1
        return place >= 0 and position < self._ends[place]
