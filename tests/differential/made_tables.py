"""Random tables of a source, those of a replica that differ within the rules, and work: all from a number, as SQL.

A seed gives the same texts every time. What servers leave open, or do otherwise than WL#5092 says, is kept out:
statements of several rows only where the replica finds each by a unique key (MySQL takes rows of one event in an order
of its own where it scans, and misses rows that the event itself made: its bug 105802), and on MariaDB full images
wherever the replica's keys or columns are not the source's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

WORDS = ["", "a", "A", "b", "B", "b ", "ab", "Ab"]
SMALL = ["0", "1", "2", "3", "4"]
KINDS = {
    "INT": SMALL, "SMALLINT": ["-2", *SMALL], "BIGINT UNSIGNED": [*SMALL, "18446744073709551615"],
    "DECIMAL(6,2)": ["0.00", "-1.50", "2.25"], "DOUBLE": ["0", "-0.5", "1e30"],
    "DATE": ["'2024-02-29'", "'1999-12-31'"],
    "DATETIME(2)": ["'2024-02-29 12:34:56.78'", "'1999-12-31 23:59:59'"], "ENUM('a','b','c')": ["'a'", "'b'", "'c'"],
    "VARCHAR(6)": [f"'{word}'" for word in WORDS], "CHAR(4)": [f"'{word}'" for word in WORDS],
    "VARCHAR(6) COLLATE utf8mb4_bin": [f"'{word}'" for word in WORDS], "TEXT": [f"'{word}'" for word in WORDS],
    "VARBINARY(4)": ["''", "'a'", "'A'", "x'00'"], "BLOB": ["''", "'a'", "x'ff00'"],
}
BLOBS = ("TEXT", "BLOB")
DATES = ("DATE", "DATETIME(2)")
LONG = ("TEXT", "BLOB", "VARCHAR(6)", "VARBINARY(4)")


@dataclass
class Column:
    """As one of the servers has it."""

    name: str
    kind: str
    nullable: bool
    default: str | None = None

    @property
    def sql(self) -> str:
        default = "" if self.default is None or self.kind in BLOBS else f" DEFAULT {self.default}"
        return f"{self.name} {self.kind}{'' if self.nullable else ' NOT NULL'}{default}"


@dataclass
class Key:
    """kind: PRIMARY KEY, UNIQUE KEY or KEY; parts: (column's name, length of a prefix or None)."""

    kind: str
    parts: list[tuple[str, int | None]]

    def sql(self, number: int) -> str:
        parts = ", ".join(name if length is None else f"{name}({length})" for name, length in self.parts)
        return f"{self.kind} {'' if self.kind == 'PRIMARY KEY' else f'k{number} '}({parts})"


@dataclass
class Table:
    """As one of the servers has it."""

    name: str
    columns: list[Column]
    keys: list[Key] = field(default_factory=list)

    @property
    def sql(self) -> str:
        lines = [column.sql for column in self.columns]
        lines += [key.sql(number) for number, key in enumerate(self.keys)]
        return f"CREATE TABLE {self.name} ({', '.join(lines)})"

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    @property
    def exact(self) -> list[Key]:
        """Keys by which the row found is the row."""
        return [key for key in self.keys if key.kind != "KEY" and not any(
            self.column(name).nullable for name, _ in key.parts)]

    def insert(self, rows: list[dict[str, str]]) -> list[str]:
        return [f"INSERT IGNORE INTO {self.name} VALUES "
                f"({', '.join(row.get(column.name, 'DEFAULT') for column in self.columns)})" for row in rows]


class Maker:
    """The case of a seed: `source` and `replica` make the tables with their first rows, `work` is a list of
    transactions, each a list of statements; `idempotent` is the replica's mode."""

    def __init__(self, seed: int, flavour: str):
        self.random, self.flavour = random.Random(f"{flavour} {seed}"), flavour
        self.idempotent = self.random.random() < 0.4
        self.source: list[str] = []
        self.replica: list[str] = []
        self.pairs = [self._pair(f"t{number}") for number in range(self.random.randint(1, 3))]
        self.work = [[statement for _ in range(self.random.choice([1, 1, 2, 3])) for statement in self._statement()]
                     for _ in range(self.random.randint(4, 14))]

    def _chance(self, of: float) -> bool:
        return self.random.random() < of

    # ---- tables

    def _pair(self, name: str) -> tuple[Table, Table]:
        pick = self.random.choice
        kinds = self.random.sample(sorted(KINDS), self.random.randint(2, 5))
        if self._chance(0.7):
            kinds.insert(0, "INT")
        source = Table(name, [self._column(f"c{number}", kind) for number, kind in enumerate(kinds)])
        replica = Table(name, [Column(column.name, column.kind, column.nullable, column.default) for column in
                               source.columns])
        for column in replica.columns:
            if self._chance(0.3):
                column.default = pick(["NULL", pick(KINDS[column.kind])] if column.nullable else KINDS[column.kind])
        self._give_keys(source)
        if self._chance(0.5):
            for key in source.keys:
                self._give(replica, key)
        else:
            self._give_keys(replica)
        rows = [self._row(source) for _ in range(pick([0, 3, 8]))]
        self.source += [source.sql, *source.insert(rows)]
        self.replica += [replica.sql, *replica.insert(self._diverged(replica, rows))]
        return source, replica

    def _column(self, name: str, kind: str) -> Column:
        column = Column(name, kind, self._chance(0.5))
        if self._chance(0.5) or (kind in DATES and not column.nullable):  # zero dates are null in a snapshot
            column.default = self.random.choice(KINDS[kind])
        return column

    def _give_keys(self, table: Table) -> None:
        kinds = ["PRIMARY KEY"] * self._chance(0.5)
        kinds += self.random.choices(["UNIQUE KEY", "KEY"], k=self.random.choice([0, 0, 1, 1, 2]))
        for kind in kinds:
            may = [column for column in table.columns if kind != "PRIMARY KEY" or not column.nullable]
            columns = self.random.sample(may, min(len(may), self.random.choice([1, 1, 2])))
            if not columns:
                continue
            self._give(table, Key(kind, [(column.name, self._length(column, kind)) for column in columns]))

    def _length(self, column: Column, kind: str) -> int | None:
        if column.kind in BLOBS:
            return self.random.choice([1, 20])
        return 1 if column.kind in LONG and kind == "KEY" and self._chance(0.3) else None

    def _give(self, table: Table, key: Key) -> None:
        table.keys.append(key)
        for name, _ in key.parts if key.kind == "PRIMARY KEY" else ():
            column = table.column(name)
            column.nullable, column.default = False, None if column.default == "NULL" else column.default

    def _row(self, table: Table) -> dict[str, str]:
        return {column.name: self._value(column) for column in table.columns}

    def _value(self, column: Column) -> str:
        return "NULL" if column.nullable and self._chance(0.2) else self.random.choice(KINDS[column.kind])

    def _diverged(self, replica: Table, rows: list[dict[str, str]]) -> list[dict[str, str]]:
        """The source's rows, and where the replica is not what it should be other ones."""
        if not self._chance(0.5 if self.idempotent else 0.2):
            return rows
        rows = [row for row in rows if self._chance(0.8)]
        for row in rows:
            if self._chance(0.2):
                column = self.random.choice(replica.columns)
                row = dict(row, **{column.name: self._value(column)})
        return rows + [self._row(replica) for _ in range(self.random.randint(0, 3))]

    # ---- work

    def _statement(self) -> list[str]:
        source, replica = self.random.choice(self.pairs)
        image = self.random.choice(["FULL", "MINIMAL", "NOBLOB"])
        same = source.sql.partition("(")[2] == replica.sql.partition("(")[2]
        if self.flavour == "mariadb" and not (same and source.exact):
            image = "FULL"
        several = bool(replica.exact) and (image == "FULL" or source.keys == replica.keys)
        make = self.random.choice([self._insert, self._insert, self._update, self._update, self._delete, self._upsert])
        return [f"SET binlog_row_image = {image}", make(source, several)]

    def _insert(self, table: Table, several: bool) -> str:
        names = [column.name for column in table.columns]
        if self._chance(0.5):
            names = [name for name in names if table.column(name).default is None or self._chance(0.5)] or names[:1]
        rows = [f"({', '.join(self._value(table.column(name)) for name in names)})"
                for _ in range(self.random.randint(1, 4) if several else 1)]
        verb = self.random.choice(["INSERT", "INSERT", "INSERT IGNORE", "REPLACE" if several else "INSERT"])
        return f"{verb} INTO {table.name} ({', '.join(names)}) VALUES {', '.join(rows)}"

    def _update(self, table: Table, several: bool) -> str:
        columns = self.random.sample(table.columns, self.random.choice([1, 1, 2]))
        assigned = ", ".join(f"{column.name} = {self._new(column)}" for column in columns)
        return f"UPDATE IGNORE {table.name} SET {assigned}{self._where(table, several)}"

    def _new(self, column: Column) -> str:
        if column.kind in ("INT", "SMALLINT") and self._chance(0.4):
            return f"{column.name} + 1"
        return self._value(column)

    def _delete(self, table: Table, several: bool) -> str:
        return f"DELETE FROM {table.name}{self._where(table, several)}"

    def _upsert(self, table: Table, several: bool) -> str:
        column = self.random.choice(table.columns)
        return f"{self._insert(table, False)} ON DUPLICATE KEY UPDATE {column.name} = {self._value(column)}".replace(
            "REPLACE INTO", "INSERT INTO")

    def _where(self, table: Table, several: bool) -> str:
        column = self.random.choice(table.columns)
        where = f" WHERE {column.name} = {self.random.choice(KINDS[column.kind])}" if self._chance(0.8) else ""
        return where + ("" if several else " LIMIT 1")
