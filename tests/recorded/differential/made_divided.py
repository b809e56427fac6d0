"""A random table with partitions, and what is done with these: its SQL, and plain facts for the judge of undos."""

from __future__ import annotations

import random
from dataclasses import dataclass

RANGE, LIST, HASH = "RANGE", "LIST", "HASH"
TRUNCATE, DROP, OTHER, ALTER = "truncate", "drop", "other", "alter"


@dataclass(frozen=True)
class Parts:
    """Partitions of a RANGE by the bounds below which they end (None: MAXVALUE), of a LIST by their values."""

    method: str
    parts: tuple[tuple[str, int | tuple[int, ...] | None], ...]

    def of(self, text: str) -> str | None:
        """The partition that takes a value; None if none does."""
        y = int(text)
        if self.method == HASH:
            return f"h{y % 3}"
        return next((name for name, what in self.parts
                     if (y in what if self.method == LIST else what is None or y < what)), None)

    def without(self, name: str) -> Parts:
        """All but one of them."""
        return Parts(self.method, tuple(part for part in self.parts if part[0] != name))

    def bounds(self, name: str) -> tuple[float, float]:
        """From where to where a partition of a RANGE goes."""
        before = -float("inf")
        for other, what in self.parts:
            end = float("inf") if what is None else what
            if other == name:
                return before, end
            before = end
        raise KeyError(name)

    def named(self) -> dict[str, object]:
        """What each takes, by name."""
        return dict(self.parts)

    def sql(self, name: str) -> str:
        """One of them as in a statement."""
        what = self.named()[name]
        values = f"IN ({', '.join(map(str, what))})" if self.method == LIST else \
            "LESS THAN MAXVALUE" if what is None else f"LESS THAN ({what})"
        return f"PARTITION {name} VALUES {values}"


@dataclass(frozen=True)
class Ddl:
    """A statement, what it is, the partition that it is about, and how the table is divided then."""

    sql: str
    verb: str
    name: str
    after: Parts


class Divided:
    """The table `q`, as its statements that were done have divided it (`now`)."""

    def __init__(self, choose: random.Random) -> None:
        self.choose, self.keyed = choose, choose.random() < 0.75
        method = choose.choice([RANGE, RANGE, LIST, HASH])
        self.first = self.now = {
            RANGE: Parts(RANGE, (("a", 3), ("b", 6), ("c", 8), ("d", choose.choice([None, 12])))),
            LIST: Parts(LIST, (("a", (0, 1, 2)), ("b", (3, 4, 5)), ("c", (6, 7)), ("d", (8, 9)))),
            HASH: Parts(HASH, (("h0", None), ("h1", None), ("h2", None)))}[method]

    def table(self) -> str:
        """Its CREATE TABLE."""
        key = ", PRIMARY KEY (id, y)" if self.keyed else ""
        columns = f"id INT NOT NULL, y INT NOT NULL, v VARCHAR(9){key}"
        if self.first.method == HASH:
            return f"CREATE TABLE q ({columns}) PARTITION BY HASH (y) (PARTITION h0, PARTITION h1, PARTITION h2)"
        parts = ", ".join(self.first.sql(name) for name, _ in self.first.parts)
        return f"CREATE TABLE q ({columns}) PARTITION BY {self.first.method} (y) ({parts})"

    def rows(self) -> str:
        """Those at first."""
        return "INSERT INTO q VALUES " + ", ".join(f"({id}, {self.choose.randint(0, 9)}, 'q')" for id in range(12))

    def statement(self) -> str:
        """One that changes rows."""
        choose = self.choose
        id, y, v = choose.randint(0, 15), choose.randint(0, 9), f"'v{choose.randint(0, 9)}'"
        return choose.choice([
            f"INSERT INTO q VALUES ({id}, {y}, {v})", f"INSERT INTO q VALUES ({id}, {y}, {v}), ({id + 1}, {y}, {v})",
            f"UPDATE q SET v = {v} WHERE id = {id}", f"UPDATE q SET y = {y} WHERE id = {id}",
            f"UPDATE q SET v = {v} WHERE y = {y}", f"DELETE FROM q WHERE id = {id}", f"DELETE FROM q WHERE y = {y}"])

    def ddl(self) -> Ddl | None:
        """A statement about a partition, now and then another one."""
        choose, now = self.choose, self.now
        if choose.random() < 0.04:
            return Ddl("ALTER TABLE q ADD COLUMN z INT", ALTER, "", now)
        name = choose.choice([name for name, _ in now.parts])
        if now.method == HASH or choose.random() < 0.45:
            return Ddl(f"ALTER TABLE q TRUNCATE PARTITION {name}", TRUNCATE, name, now)
        if choose.random() < 0.6 and len(now.parts) > 1:
            return Ddl(f"ALTER TABLE q DROP PARTITION {name}", DROP, name, now.without(name))
        gone = [part for part in self.first.parts if part[0] not in now.named()]
        return self._again(choose.choice(gone)) if gone else self._split()

    def _again(self, part: tuple[str, object]) -> Ddl | None:
        """A partition that is gone is made again, or another one in its place."""
        choose, (name, what), now = self.choose, part, self.now
        new = name if choose.random() < 0.6 else f"n{choose.randint(0, 9)}"
        if new in now.named():
            return None
        if now.method == LIST:
            after = Parts(LIST, (*now.parts, (new, what)))
            return Ddl(f"ALTER TABLE q ADD PARTITION ({after.sql(new)})", OTHER, new, after)
        end = float("inf") if what is None else what
        places = [number for number, (_, bound) in enumerate(now.parts) if bound is None or bound > end]
        place = places[0] if places else len(now.parts)
        after = Parts(RANGE, (*now.parts[:place], (new, what), *now.parts[place:]))
        if not places:
            return Ddl(f"ALTER TABLE q ADD PARTITION ({after.sql(new)})", OTHER, new, after)
        other = now.parts[place][0]
        return Ddl(f"ALTER TABLE q REORGANIZE PARTITION {other} INTO ({after.sql(new)}, {after.sql(other)})", OTHER,
                   new, after)

    def _split(self) -> Ddl | None:
        """A partition of a RANGE becomes two."""
        choose, now = self.choose, self.now
        name, bound = choose.choice(now.parts)
        if now.method == LIST or f"n{bound}" in now.named() or bound is None:
            return None
        return self._again((f"n{bound}", bound - 1)) if bound - 1 > now.bounds(name)[0] else None
