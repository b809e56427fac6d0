"""Random replicas of families of tables (made_families): more rows than the source has, and what a log makes of them.

What is not followed is kept out: a replica stops, or in idempotent mode skips a row, where a foreign key would
lead nowhere, or an update would come back to its own table. So its tables have all rows that the source's have, no
foreign key restricts, no table refers to itself, and in idempotent mode, where one key may be of two rows' values, all
foreign keys are of one column.
"""

from __future__ import annotations

from tests.recorded.differential.made_ddl import Column
from tests.recorded.differential.made_families import IMAGES, Family

ACTIONS = ["CASCADE", "CASCADE", "SET NULL"]


class Children(Family):
    """The case of a seed (the interface of made_tables.Maker)."""

    conversions: list[str] = []

    def __init__(self, seed: int, flavour: str):
        super().__init__(seed, flavour, "d")
        self.idempotent = self._chance(0.6)
        self.source: list[str] = []
        self.replica: list[str] = []
        for number in range(1, self._pick([2, 2, 3, 4]) + 1):
            self._table(f"t{number}", [f"t{above}" for above in range(1, number)])
        self.work = [self._transaction() for _ in range(self._pick([5, 8, 12]))]

    def _table(self, name: str, above: list[str]) -> None:
        columns = [f"id {self._kind} NOT NULL", f"b {self._other} NOT NULL DEFAULT {self._value(self._other)}",
                   f"r {self._kind}", f"s {self._other}", f"q {self._kind}", "v INT DEFAULT 7", "w TEXT"]
        keys = ["PRIMARY KEY (id)", "UNIQUE KEY k (id, b)"]
        pairs = [("r", "id"), ("q", "id"), ("r, s", "id, b")][:2 if self.idempotent else 3]
        for own, other in self.random.sample(pairs, self._pick([1, 1, 2])):
            if above:
                parent = self._pick([*above[-1:], *above])
                keys.append(f"CONSTRAINT {self._pick('fgh')}{name}{len(keys)} FOREIGN KEY ({own}) REFERENCES {parent} "
                            f"({other}) ON DELETE {self._pick(ACTIONS)} ON UPDATE {self._pick(ACTIONS)}")
        made = f"CREATE TABLE {name} ({', '.join(columns + keys)})"
        self.tables[name] = [Column(column.split()[0], column.split()[1].lower(), "") for column in columns]
        both, more = self._rows(name, 12), self._rows(name, self._pick([0, 4, 8]))
        self.source += [made, *both]
        self.replica += [made, *both, *more]
        if self.idempotent and self._chance(0.5):
            self.replica.append(f"UPDATE {name} SET v = 9, w = 'z' WHERE id = {self._value(self._kind)}")

    def _rows(self, name: str, count: int) -> list[str]:
        return [f"INSERT IGNORE INTO {name} (id, b, r, s, q) VALUES ({self._value(self._kind)}, "
                f"{self._value(self._other)}, {self._or_null(self._kind)}, {self._or_null(self._other)}, "
                f"{self._or_null(self._kind)})" for _ in range(count)]

    def _or_null(self, kind: str) -> str:
        return self._value(kind) if self._chance(0.7) else "NULL"

    def _transaction(self) -> list[str]:
        image = self._pick(IMAGES)
        self._replaces = image == "FULL" or self.flavour == "mysql"
        return [f"SET binlog_row_image = {image}",
                *(statement for _ in range(self._pick([1, 2, 3])) for statement in self._statement())]
