"""Transactions chosen by GTID."""

from __future__ import annotations

import re

import numpy as np

from applier.binlog.events.gtid import GtidSet
from applier.errors import UsageError

_MARIADB = re.compile(r"(\d{1,10})-(\d{1,10})-(\d{1,20})\Z")
_LAST = (1 << 63) - 1
_SHOWN = 200


class GtidChoice:
    """Transactions chosen by GTID: a set in MySQL's notation, or a list of MariaDB's GTIDs (0-1-5,0-1-7). Raises
    UsageError.

    `transactions` has them by the part of a GTID before its number: "uuid", "uuid:tag" or "domain-server".
    """

    def __init__(self, text: str) -> None:
        parts = [part.strip().lower() for part in text.split(",") if part.strip()]
        if not parts:
            raise UsageError("the GTIDs name no transaction", hint="write UUID:1-5, or 0-1-5 (domain-server-number)")
        if any(map(_MARIADB.match, parts)):
            found: dict[str, list[tuple[int, int]]] = {}
            for part in parts:
                if (match := _MARIADB.match(part)) is None:
                    raise UsageError(f"not a GTID: {part!r}", hint="MariaDB writes domain-server-number (0-1-5)")
                domain, server, number = map(int, match.groups())
                found.setdefault(f"{domain}-{server}", []).append((number, number))
            self.transactions = GtidSet.from_intervals(found)
        else:
            self.transactions = GtidSet.parse(text)
        self._intervals = {source: np.minimum(np.array(intervals, object), _LAST).astype(np.int64).reshape(-1, 2)
                           for source, intervals in self.transactions.intervals.items()}

    @property
    def count(self) -> int:
        """The number of transactions."""
        return count_of(self.transactions)

    def chosen(self, names: list[str], sources: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return which groups of a `locating.groups.Groups` are chosen: bool[n]."""
        found = np.zeros(len(numbers), bool)
        for index, name in enumerate(names):
            if name in self._intervals:
                firsts, lasts = self._intervals[name].T
                of_name = np.flatnonzero(sources == index)
                at = np.searchsorted(firsts, numbers[of_name], side="right") - 1
                found[of_name] = (at >= 0) & (numbers[of_name] <= lasts[at])
        return found

    def may_be_in(self, logged: GtidSet) -> bool:
        """Return whether one of the chosen transactions may be in a log with these transactions. For MariaDB, only
        domains are compared."""
        if logged.domains:
            domains = {source.partition("-")[0] for source in self._intervals if source.count("-") == 1}
            return any(int(domain) in logged.domains for domain in domains)
        return any(_overlap(intervals, np.array(logged.intervals[source]))
                   for source, intervals in self._intervals.items() if source in logged.intervals)


def count_of(transactions: GtidSet) -> int:
    """Return the number of transactions in a set of intervals."""
    return sum(last - first + 1 for intervals in transactions.intervals.values() for first, last in intervals)


def shortened(text: str) -> str:
    """Return a text for one line: only its beginning, if it is long."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def choice_text(transactions: GtidSet) -> str:
    """Return transactions, which are given by the part of a GTID before its number, as the text that GtidChoice takes.
    """
    if not any(source.count("-") == 1 for source in transactions.intervals):
        return str(transactions)
    return ",".join(f"{source}-{number}" for source, intervals in transactions.intervals.items()
                    for first, last in intervals for number in range(first, last + 1))


def _overlap(intervals: np.ndarray, others: np.ndarray) -> bool:
    """Return whether two lists of ascending, disjoint intervals have a number in common."""
    index = np.searchsorted(others[:, 1], intervals[:, 0])
    inside = index < len(others)
    return bool((others[index[inside], 0] <= intervals[inside, 1]).any())
