"""Random partitions: CREATE TABLE … PARTITION BY, and what ALTER TABLE does with partitions, as SQL."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

DAYS = ["'2000-01-01'", "'2001-02-03'", "'2015-07-01'", "'2024-02-29'", "'2026-01-01'"]
BOUNDS = {  # rising ones, by what stands in the parentheses
    "id": ["-1", "1", "7", "100", "3000", "100000"], "id DIV 3": ["0", "2", "40"],
    "YEAR(day)": ["2000", "2001", "2024", "2031"], "TO_DAYS(day)": [f"TO_DAYS({day})" for day in DAYS],
    "UNIX_TIMESTAMP(at)": [f"UNIX_TIMESTAMP({day})" for day in DAYS], "day": DAYS, "day, id": DAYS, "id, word": ["0"],
    "word": ["''", "'B'", "'a'", "'b'", "'x'"],
}
COLUMNS = ["id INT{0}", "day {1}{0} DEFAULT '2001-02-03'", "at TIMESTAMP NOT NULL DEFAULT '2001-02-03 04:05:06'",
           "word {2}{0}"]
WORD = ["VARCHAR(20) COLLATE utf8mb4_bin", "VARCHAR(9) CHARACTER SET latin1", "VARBINARY(8)", "CHAR(4)"]
HASHES = ["HASH (id)", "LINEAR HASH (id)", "HASH (YEAR(day))", "HASH (id * 3 - 1)", "KEY (id)", "LINEAR KEY (id)",
          "KEY ()", "KEY (id, at)", "KEY (word)", "KEY (day)", "KEY ALGORITHM=1 (id)", "KEY ALGORITHM=2 (id)"]


@dataclass
class Parted:
    """A table's partitions as information_schema.partitions has them: by what, and their names and values in order."""

    method: str
    by: str
    names: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    subpartitions: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What in BOUNDS is about it."""
        by = self.by.replace("`", "").replace(",", ", ").replace("  ", " ").casefold()
        return next((key for key in BOUNDS if key.casefold() == by), "id")


class PartitionMaker:
    """Makes statements; `new` gives names that no partition and no table has."""

    def __init__(self, chance: random.Random, new: Callable[[str], str]):
        self.random, self._pick, self._new = chance, chance.choice, new

    def columns(self) -> tuple[str, list[str]]:
        """Columns of a table that can be partitioned, and those that a key of it must have."""
        nullable = " NOT NULL" if self.random.random() < 0.7 else ""
        kinds = nullable, self._pick(["DATE", "DATETIME", "DATETIME(2)"]), self._pick(WORD)
        return ", ".join(column.format(*kinds) for column in COLUMNS), ["id", "day", "at", "word"]

    def clause(self) -> str:
        """PARTITION BY …, by the columns of `columns`."""
        key = self._pick(sorted(BOUNDS))
        kind = self.random.random()
        if kind < 0.4:
            return f"PARTITION BY {self._hash()}"
        if kind < 0.75:
            columns = " COLUMNS" if key.replace(" ", "").replace(",", "").isalpha() and key != "id" else ""
            bounds = sorted(self.random.sample(range(len(BOUNDS[key])), self.random.randint(1, len(BOUNDS[key]))))
            parts = [self._range(self._new("p"), key, BOUNDS[key][number]) for number in bounds]
            if self.random.random() < 0.5:
                parts.append(self._range(self._new("p"), key, "MAXVALUE"))
            return f"PARTITION BY RANGE{columns} ({key}){self._sub()} ({', '.join(parts)})"
        values, by = self._pick([
            (["0", "1", "2", "3", "4", "-1", "NULL"], "LIST (id MOD 5)"),
            (["0", "1", "2", "7", "12", "127", "NULL", "1 + 2"], "LIST (id)"),
            (["'a'", "'B'", "''", "'7'", "'x,y'", "NULL"], "LIST COLUMNS (word)"),
            (["(1, 'a')", "(0, '')", "(2, 'B')"], "LIST COLUMNS (id, word)")])
        values = self.random.sample(values, len(values))
        cut = self.random.randint(1, len(values) - 1)
        parts = [f"PARTITION {self._new('p')} VALUES IN ({', '.join(some)})" for some in (values[:cut], values[cut:])]
        return f"PARTITION BY {by}{self._sub()} ({', '.join(parts)})"

    def _hash(self) -> str:
        return f"{self._pick(HASHES)}{self._pick(['', ' PARTITIONS 2', ' PARTITIONS 3', ' PARTITIONS 5'])}"

    def _sub(self) -> str:
        by = self._pick(["HASH (id)", "KEY (id)", "LINEAR HASH (id)", "HASH (YEAR(day))"])
        return f" SUBPARTITION BY {by} SUBPARTITIONS {self._pick([2, 3])}" if self.random.random() < 0.25 else ""

    def _range(self, name: str, key: str, bound: str) -> str:
        if ", " in key:
            bound = f"{bound}, {self._pick(['5', 'MAXVALUE'] if key == 'day, id' else DAYS)}"
        return f"PARTITION {name} VALUES LESS THAN ({bound})"

    # ---- of a table that is there

    def alter(self, table: str, parted: Parted, flavour: str) -> list[str]:
        """Statements one after the other, of which the first is about the table."""
        pick, names = self._pick, parted.names
        some = ", ".join(self.random.sample(names, pick([1, 1, 2]) if len(names) > 1 else 1))
        makers = [lambda: f"TRUNCATE PARTITION {pick([some, some, pick(parted.subpartitions or ['ALL'])])}",
                  lambda: f"{pick(['REBUILD', 'ANALYZE', 'OPTIMIZE', 'CHECK'])} PARTITION {some}",
                  lambda: pick(["REMOVE PARTITIONING", self.clause()])]
        if parted.method.startswith(("RANGE", "LIST")):
            makers += [lambda: self._add(parted), lambda: self._reorganize(parted), lambda: f"DROP PARTITION {some}",
                       lambda: self._add(parted), lambda: self._reorganize(parted), lambda: f"DROP PARTITION {some}"]
        else:
            makers += [lambda: f"ADD PARTITION PARTITIONS {pick([1, 2, 3])}", lambda: "COALESCE PARTITION 1"] * 2
        what = self.random.random()
        if what < 0.25:
            return self._exchange(table, pick(parted.subpartitions or names), pick(["", " WITHOUT VALIDATION"]))
        if what < 0.4 and flavour == "mariadb" and parted.method.startswith(("RANGE", "LIST")):
            other = self._new("x")
            number = self.random.randrange(len(names))
            return [f"ALTER TABLE {table} CONVERT PARTITION {names[number]} TO TABLE {other}",
                    f"ALTER TABLE {table} CONVERT TABLE {other} TO {self._values(parted, number, self._new('p'))}"]
        return [f"ALTER TABLE {table} {pick(makers)()}"]

    def _exchange(self, table: str, name: str, validation: str) -> list[str]:
        other = self._new("x")
        exchange = f"ALTER TABLE {table} EXCHANGE PARTITION {name} WITH TABLE {other}{validation}"
        return [f"CREATE TABLE {other} LIKE {table}", f"ALTER TABLE {other} REMOVE PARTITIONING", exchange,
                f"INSERT IGNORE INTO {other} (id, at) VALUES (2, '2001-02-03 04:05:06'), (7, '2024-02-29 01:02:03')",
                f"ALTER TABLE {table} EXCHANGE PARTITION {name} WITH TABLE {other} WITHOUT VALIDATION"[
                    :None if validation and self.random.random() < 0.2 else -len(" WITHOUT VALIDATION")]]

    def _values(self, parted: Parted, number: int, name: str) -> str:
        word = "LESS THAN" if parted.method.startswith("RANGE") else "IN"
        return f"PARTITION {name} VALUES {word} ({parted.values[number]})"

    def _add(self, parted: Parted) -> str:
        name = self._new("p")
        if parted.method.startswith("RANGE"):
            bound = self._pick([*BOUNDS[parted.key][-2:], "MAXVALUE"])
            return f"ADD PARTITION ({self._range(name, parted.key, bound)})"
        return f"ADD PARTITION (PARTITION {name} VALUES IN ({self._pick(['70', '-7, 8', chr(39) + 'q' + chr(39)])}))"

    def _reorganize(self, parted: Parted) -> str:
        names, first = parted.names, self.random.randrange(len(parted.names))
        last = min(first + self._pick([0, 1, 1, 2]), len(names) - 1)
        into = [self._values(parted, last, self._new("p"))]
        if parted.method.startswith("LIST"):
            every = ", ".join(parted.values[first:last + 1])
            into = [f"PARTITION {self._new('p')} VALUES IN ({every})"]
        elif self.random.random() < 0.6:
            into.insert(0, self._range(self._new("p"), parted.key, self._pick(BOUNDS[parted.key])))
        return f"REORGANIZE PARTITION {', '.join(names[first:last + 1])} INTO ({', '.join(into)})"
