"""When an undo must be refused, and what it has to leave, from what tables held after each statement alone.

Rows are known by their keys, those of tables without a key by their values, as often as these are there. A row is
touched by a statement after which it is another one, or not there. It says MUST where others touched a row later that
the chosen transaction touched (also if it is the same again, or there is none), used the unique value of one that is to
come back, or changed its parent row; where what would be there breaks a key; and where statements since leave no table
or partition to come back; MAY where equal rows of a table without a key cannot be told apart; else NEVER.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.recorded.differential.made_divided import ALTER, DROP, HASH, OTHER, RANGE, TRUNCATE, Ddl, Parts

MUST, MAY, NEVER = "must", "may", "never"
KEYS = {"p": 1, "c": 1, "q": 2}
"""How many columns, the first ones, tell rows of a table apart; of `k` none do."""
State = dict[str, dict[tuple, object]]
"""By table and key: the row; without a key, by row: how often it is there."""


def state_of(name: str, rows: Sequence[tuple], *, keyed: bool) -> dict[tuple, object]:
    """A table's rows as a state has them."""
    return {row[:KEYS[name]]: row for row in rows} if keyed else dict(Counter(rows))


@dataclass
class Done:
    """A transaction: where it is in the log, the states before it and after each of its statements, how `q` was divided
    before it, and, if it is one, the statement of DDL (or the table that was emptied)."""

    begin: int
    end: int
    states: list[State]
    parts: Parts
    ddl: Ddl | None = None
    emptied: str = ""

    @property
    def touched(self) -> dict[str, set[tuple]]:
        """The keys that a statement of it touched, by table."""
        return {table: {key for before, after in zip(self.states, self.states[1:], strict=False)
                        for key in before[table].keys() | after[table].keys()
                        if before[table].get(key) != after[table].get(key)} for table in self.states[0]}


@dataclass
class Judged:
    """What must be: whether it is refused and why, and what tables hold after an undo that is not."""

    verdict: str = NEVER
    why: list[str] = field(default_factory=list)
    expected: State = field(default_factory=dict)

    def add(self, verdict: str, why: str) -> None:
        """Another reason."""
        self.why.append(f"{verdict}: {why}")
        if self.verdict != MUST:
            self.verdict = verdict


def judge(done: Sequence[Done], number: int, keyed: set[str], parts: Parts, *, unique: bool) -> Judged:
    """Judge the undo of a transaction; `keyed` are the tables with keys, `parts` is how `q` is divided at last."""
    chosen, later, found = done[number], done[number + 1:], Judged()
    before, after, last = chosen.states[0], chosen.states[-1], done[-1].states[-1]
    if chosen.ddl is not None and chosen.ddl.verb in (OTHER, ALTER):
        found.add(MUST, "it is another statement")
        return found
    if any(one.ddl is not None and one.ddl.verb == ALTER for one in later) and (
            chosen.touched["q"] or chosen.ddl is not None):
        found.add(MUST, "the table was altered since")
        return found
    if chosen.ddl is not None and chosen.ddl.verb == DROP and (why := _no_place(chosen, later, parts)):
        found.add(MUST, why)
        return found
    for table, keys in chosen.touched.items():
        whole = table in keyed
        own = {key for key in keys if not whole or key in before[table] or key in after[table]}
        for one in later:
            if both := own & (one.touched[table] | _taken(one, table, own & before[table].keys(), chosen)):
                found.add(MUST if whole else MAY, f"{table} {sorted(both, key=repr)[:3]} is touched later")
            if table == "c" and (parents := _parents_changed(one, own, before[table])):
                found.add(MUST, f"rows of p that rows of c refer to are changed later: {parents}")
            if table == "p" and unique and (used := _unique_used(one, own - after[table].keys(), before[table])):
                found.add(MUST, f"values of u of rows of p are used later: {used}")
            if one.emptied == table and keys:
                found.add(MAY, f"{table} was emptied later")
        found.expected[table] = _expected(own, before[table], after[table], last[table], whole=whole)
        if any(count < 0 for count in found.expected[table].values() if isinstance(count, int)):
            found.add(MUST, f"rows of {table} are not there any more")
    _check_keys(found, unique=unique)
    final = _with(parts, chosen)
    if final.method != HASH and any(final.of(row[1]) is None for row in found.expected["q"]):
        found.add(MUST, "no partition takes a row")
    return found


def _expected(own: set[tuple], before: dict[tuple, object], after: dict[tuple, object], last: dict[tuple, object], *,
              whole: bool) -> dict[tuple, object]:
    expected = dict(last)
    for key in own:
        if whole:
            expected.pop(key, None)
            if key in before:
                expected[key] = before[key]
        elif not (count := last.get(key, 0) - after.get(key, 0) + before.get(key, 0)):
            expected.pop(key, None)
        else:
            expected[key] = count
    return expected


def _parents_changed(one: Done, own: set[tuple], before: dict[tuple, object]) -> list[int]:
    """Of the rows of p that these rows of c referred to, those that statements of `one` deleted or renumbered."""
    ids = {before[key][1] for key in own & before.keys()} - {None}
    return [id for first, second in zip(one.states, one.states[1:], strict=False) for id in sorted(ids)
            if (id,) in first["p"] and (id,) not in second["p"]]


def _unique_used(one: Done, gone: set[tuple], before: dict[tuple, object]) -> list[int]:
    """Of the values of u that deleted rows of p had, those that statements of `one` gave to a row, or took from it."""
    values = {before[key][3] for key in gone & before.keys()} - {None}
    return [row[3] for first, second in zip(one.states, one.states[1:], strict=False)
            for key in one.touched["p"] for row in (first["p"].get(key), second["p"].get(key))
            if row is not None and row[3] in values]


def _check_keys(found: Judged, *, unique: bool) -> None:
    """What would be there, by keys that tell more than the first one."""
    values = [row[3] for row in found.expected["p"].values() if row[3] is not None]
    if unique and len(set(values)) < len(values):
        found.add(MUST, "two rows of p have the same u")
    ids = {key[0] for key in found.expected["p"]}
    if lost := [row for row in found.expected["c"].values() if row[1] is not None and row[1] not in ids]:
        found.add(MUST, f"rows of c refer to nothing: {lost[:3]}")


def _with(parts: Parts, chosen: Done) -> Parts:
    """How the table is divided with what the chosen statement dropped."""
    if chosen.ddl is None or chosen.ddl.verb != DROP or chosen.ddl.name in parts.named():
        return parts
    more = (*parts.parts, (chosen.ddl.name, chosen.parts.named()[chosen.ddl.name]))
    if parts.method == RANGE:
        more = tuple(sorted(more, key=lambda part: float("inf") if part[1] is None else part[1]))
    return Parts(parts.method, more)


def _taken(one: Done, table: str, keys: set[tuple], chosen: Done) -> set[tuple]:
    """Of these keys, those that a statement about a partition would have taken, had the chosen one not been."""
    if table != "q" or one.ddl is None or one.ddl.verb not in (TRUNCATE, DROP):
        return set()
    parts = _with(one.parts, chosen)
    return {key for key in keys if parts.of(key[1]) == one.ddl.name}


def _no_place(chosen: Done, later: Sequence[Done], parts: Parts) -> str:
    """Why what it dropped cannot be made again; "" if it can."""
    assert chosen.ddl is not None
    name = chosen.ddl.name
    what = chosen.parts.named()[name]
    if any(one.ddl is not None and (one.ddl.verb, one.ddl.name) == (DROP, name) for one in later):
        return "it was dropped again"
    if name in parts.named():
        return "" if parts.named()[name] == what else "there is another one of its name"
    if parts.method != RANGE:
        return "its values are taken" if any(set(what) & set(other) for _, other in parts.parts) else ""
    low, high = chosen.parts.bounds(name)
    inner = [one for one, _ in parts.parts if low < parts.bounds(one)[1] <= high]
    return f"its range is divided by {inner}" if inner else ""
