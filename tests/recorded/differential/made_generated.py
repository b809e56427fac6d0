"""Random replicas whose tables have generated columns, in keys and in none, that the source has, or has otherwise.

What a log lacks of them, or has of what the source stored as it liked, is what a replica computes, or on MariaDB does
not. Kept out is what servers make a mess of: on MariaDB VIRTUAL columns of replicas whose source stores other values in
their place (its replica searches and indexes by both), or whose rows have no primary key, keys over VIRTUAL columns,
whose indexes it corrupts where images lack them, and rows that an idempotent replica misses, which it may look for
without end where a table has a generated column; on MySQL such columns without a primary key, columns that are
generated from generated ones, and an image with a value of one and nothing that it is made of, which a replica keeps in
the first row of an event and not in the second.
"""

from __future__ import annotations

import random
import re

IMAGES = ["FULL", "MINIMAL", "MINIMAL", "MINIMAL", "NOBLOB"]
COLUMNS = {"a": "INT", "b": "INT", "s": "VARCHAR(9)", "t": "TEXT", "x": "INT"}
VALUES = {"a": ["0", "1", "2", "3", "7", "NULL"], "b": ["0", "1", "5", "NULL"], "s": ["'u'", "'v'", "'W'", "NULL"],
          "t": ["'k'", "'l'", "NULL"], "x": ["1", "2", "3"]}
GENERATED = {"a + b": "INT", "a % 5": "INT", "a * 3 - x": "BIGINT", "CONCAT(s, '-', a)": "VARCHAR(30)",
             "COALESCE(b, 0) + LENGTH(s)": "INT", "CONCAT(t, s)": "VARCHAR(40)", "UPPER(s)": "VARCHAR(9)"}
SOURCES = {text: set(re.findall(r"\b[abstx]\b", text)) for text in GENERATED}


class Generated:
    """The case of a seed (the interface of made_tables.Maker)."""

    conversions: list[str] = []

    def __init__(self, seed: int, flavour: str):
        self.random, self.flavour = random.Random(f"generated {flavour} {seed}"), flavour
        self.idempotent = flavour == "mysql" and self._chance(0.4)
        self.source: list[str] = []
        self.replica: list[str] = []
        self.tables: list[tuple[str, list[str], dict[str, list[str]]]] = []
        """Names, those of the columns that statements may assign, and what generated ones are made of."""
        for number in range(self._pick([1, 1, 2])):
            self._table(f"t{number}")
        self.work = [[f"SET binlog_row_image = {self._pick(IMAGES)}",
                      *(self._statement() for _ in range(self._pick([1, 2, 4])))]
                     for _ in range(self._pick([5, 9, 14]))]

    def _chance(self, of: float) -> bool:
        return self.random.random() < of

    def _pick(self, of: list):
        return self.random.choice(of)

    def _table(self, name: str) -> None:
        made = self.random.sample(sorted(GENERATED), self._pick([1, 2, 3]))
        kinds = [self._kinds() for _ in made]
        lacking = sum(source is None for source, _ in kinds)
        kinds.sort(key=lambda both: both[0] is None)  # what the source lacks comes last
        usual = [f"{column} {kind}" for column, kind in COLUMNS.items()]
        source, replica = list(usual), list(usual)
        place = 0 if self._chance(0.2) else len(usual)
        for number, (text, (own, other)) in enumerate(zip(made, kinds, strict=True)):
            at = place + number if number < len(made) - lacking else len(replica)
            if own is not None:
                source.insert(at, self._column(number, text, own))
            replica.insert(at, self._column(number, text, other))
        keys, may = [], [number for number, (_, kind) in enumerate(kinds)
                         if self.flavour == "mysql" or kind == "STORED"]
        if may and self._chance(0.8):
            number = self._pick(may)
            part = f"g{number}({self._pick([1, 3])})" if "CHAR" in GENERATED[made[number]] and self._chance(0.5) else \
                f"g{number}"
            keys = [f"{self._pick(['UNIQUE KEY', 'UNIQUE KEY', 'KEY'])} k ({self._pick([part, part, f'x, {part}'])})"]
        shared = keys if lacking == 0 and self._chance(0.4) else []
        for columns, own in ((source, shared), (replica, keys)):
            columns.insert(0, "id INT NOT NULL PRIMARY KEY")
            columns += own
        rows = [f"INSERT IGNORE INTO {name} (id, a, b, s, t, x) VALUES ({key}, {self._values('abstx')})"
                for key in range(1, self._pick([3, 6, 9]))]
        plain = [f"g{number} = {text}" for number, (text, (own, _)) in enumerate(zip(made, kinds, strict=True))
                 if own == "plain"]
        self.source += [f"CREATE TABLE {name} ({', '.join(source)})", *rows]
        if plain and self._chance(0.7):
            self.source.append(f"UPDATE IGNORE {name} SET {', '.join(plain)}")
        self.replica += [f"CREATE TABLE {name} ({', '.join(replica)})", *rows]
        if self.idempotent:
            self.replica += [f"DELETE FROM {name} WHERE id = 2", f"UPDATE IGNORE {name} SET a = 9 WHERE id = 1"]
        assigned = [*"abstx", *(f"g{number}" for number, (own, _) in enumerate(kinds) if own == "plain")]
        made_of = {f"g{number}": [column for column in COLUMNS if column in SOURCES[text]]
                   for number, text in enumerate(made)}
        self.tables.append((name, assigned, made_of))

    def _kinds(self) -> tuple[str | None, str]:
        """What a column is in the source and in the replica."""
        replica = self._pick(["STORED", "STORED", "VIRTUAL"])
        sources = [replica, replica, None, "STORED"]
        if replica == "STORED":
            sources += ["plain", "VIRTUAL"]
        return self._pick(sources), replica

    def _column(self, number: int, text: str, kind: str) -> str:
        made = "" if kind == "plain" else f" AS ({text}) {kind}"
        return f"g{number} {GENERATED[text]}{made}"

    def _values(self, columns: str) -> str:
        return ", ".join(self._pick(VALUES[column]) for column in columns)

    def _statement(self) -> str:
        name, columns, made_of = self._pick(self.tables)
        kind = self._pick(["insert", "update", "update", "update", "update", "delete"])
        if kind == "delete":
            return f"DELETE FROM {name} WHERE id = {self._pick(range(1, 10))}"
        some = self.random.sample(columns, self._pick([1, 1, 2, 3]))
        if self.flavour == "mysql":
            some += [source for column in some if column in made_of for source in made_of[column] if source not in some]
            some = list(dict.fromkeys(some))
        if kind == "insert":
            values = ", ".join(self._value(column) for column in some)
            verb = "REPLACE" if self.flavour == "mysql" and self._chance(0.3) else "INSERT IGNORE"
            return f"{verb} INTO {name} (id, {', '.join(some)}) VALUES ({self._pick(range(1, 15))}, {values})"
        assigned = ", ".join(f"{column} = {column} + 1" if column in "abx" and self._chance(0.4) else
                             f"{column} = {self._value(column)}" for column in some)
        where = self._pick([f" WHERE id = {self._pick(range(1, 10))}", f" WHERE id < {self._pick([4, 9])}", ""])
        return f"UPDATE IGNORE {name} SET {assigned}{where}"

    def _value(self, column: str) -> str:
        return self._pick(VALUES[column] if column in VALUES else ["NULL", "77", "78"])
