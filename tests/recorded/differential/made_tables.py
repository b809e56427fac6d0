"""Random tables of a source, those of a replica that differ within the rules, and work: all from a number, as SQL.

A seed gives the same texts every time. What servers leave open, or do otherwise than WL#5092 says, is kept out:
statements of several rows only where the replica finds each by a unique key (MySQL takes rows of one event in an order
of its own where it scans, and misses rows that the event itself made: its bug 105802); on MariaDB full images wherever
the replica's keys are not the source's, and more columns only where the replica finds rows by a unique key.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

WORDS = ["", "a", "A", "b", "B", "b ", "ab", "Ab"]
SMALL = ["0", "1", "2", "3", "4"]
KINDS = {
    "INT": SMALL, "SMALLINT": ["-2", *SMALL], "BIGINT UNSIGNED": [*SMALL, "18446744073709551615"],
    "DECIMAL(6,2)": ["0.00", "-1.50", "2.25"], "DOUBLE": ["0", "-0.5", "1e30"], "FLOAT": ["0", "-0.5", "2.5"],
    "DATE": ["'2024-02-29'", "'1999-12-31'"],
    "DATETIME(2)": ["'2024-02-29 12:34:56.78'", "'1999-12-31 23:59:59'"], "ENUM('a','b','c')": ["'a'", "'b'", "'c'"],
    "VARCHAR(6)": [f"'{word}'" for word in WORDS], "CHAR(4)": [f"'{word}'" for word in WORDS],
    "VARCHAR(6) COLLATE utf8mb4_bin": [f"'{word}'" for word in WORDS], "TEXT": [f"'{word}'" for word in WORDS],
    "VARBINARY(4)": ["''", "'a'", "'A'", "x'00'"], "BLOB": ["''", "'a'", "x'ff00'"],
    "MEDIUMINT UNSIGNED": [*SMALL, "16777215"], "BINARY(3)": ["''", "'a'", "'A'", "x'610000'"], "BIT(9)": SMALL,
    "YEAR": ["1999", "2024"], "TIME(1)": ["'00:00:00'", "'-12:34:56.7'"], "SET('a','b','c')": ["''", "'a'", "'a,c'"],
    "TIMESTAMP": ["'2024-02-29 12:34:56'", "'1999-12-31 23:59:59'"],
    "VARCHAR(6) CHARACTER SET latin1": [f"'{word}'" for word in [*WORDS, "é"]],
    "CHAR(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci": [f"'{word}'" for word in [*WORDS, "ß", "ss"]],
}
TEXTS = ["''", "'a'", "'B'"]
OTHERS = {  # what a column may be on the replica, and values of that
    "INT": {"BIGINT": SMALL, "TINYINT": SMALL, "SMALLINT": SMALL},
    "SMALLINT": {"INT": SMALL, "TINYINT UNSIGNED": SMALL},
    "BIGINT UNSIGNED": {"INT UNSIGNED": SMALL, "SMALLINT": SMALL},
    "DECIMAL(6,2)": {"DECIMAL(9,3)": ["0.000", "-1.500", "2.255"], "DECIMAL(4,1)": ["0.0", "-1.5", "2.3"]},
    "FLOAT": {"DOUBLE": ["0", "-0.5", "1e30"]},
    "VARCHAR(6)": {"VARCHAR(12)": TEXTS, "VARCHAR(1)": TEXTS, "TEXT": TEXTS, "CHAR(8)": TEXTS, "VARBINARY(30)": TEXTS},
    "CHAR(4)": {"CHAR(6)": TEXTS, "CHAR(1)": TEXTS, "VARCHAR(5)": TEXTS},
    "VARCHAR(6) COLLATE utf8mb4_bin": {"VARCHAR(9) COLLATE utf8mb4_bin": TEXTS},
    "TEXT": {"VARCHAR(6)": TEXTS, "MEDIUMTEXT": TEXTS},
    "VARBINARY(4)": {"VARBINARY(9)": TEXTS, "VARBINARY(1)": TEXTS, "BLOB": TEXTS},
    "BLOB": {"LONGBLOB": TEXTS, "VARBINARY(3)": TEXTS},
    "MEDIUMINT UNSIGNED": {"BIGINT": SMALL, "INT UNSIGNED": SMALL},
    "BINARY(3)": {"BINARY(5)": TEXTS, "VARBINARY(4)": TEXTS},
    "BIT(9)": {"BIT(12)": SMALL, "BIT(2)": SMALL}, "ENUM('a','b','c')": {"ENUM('c','b','a','d')": ["'a'", "'d'"]},
}
VALUES = KINDS | {kind: values for others in OTHERS.values() for kind, values in others.items() if kind not in KINDS}
EXTRA = ["INT", "INT NOT NULL", "INT DEFAULT 7", "INT NOT NULL DEFAULT 7", "VARCHAR(6) DEFAULT 'b'",
         "VARCHAR(6) NOT NULL", "DECIMAL(6,2) NOT NULL DEFAULT 2.25", "TEXT",
         "DATETIME(2) DEFAULT CURRENT_TIMESTAMP(2)",
         "TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
         "INT DEFAULT (3 + 4)", "INT DEFAULT (c1 + 1)", "INT AS (c1 + 1) STORED", "INT AS (c1 + 2) VIRTUAL"]
CONVERSIONS = [["ALL_NON_LOSSY"], ["ALL_LOSSY"], ["ALL_NON_LOSSY", "ALL_LOSSY"], ["ALL_NON_LOSSY", "ALL_LOSSY"],
               ["ALL_NON_LOSSY", "ALL_LOSSY", "ALL_UNSIGNED"], ["ALL_NON_LOSSY", "ALL_SIGNED"],
               ["ALL_NON_LOSSY", "ALL_LOSSY", "ALL_SIGNED", "ALL_UNSIGNED"], ["ALL_UNSIGNED"]]
MODES = ["", "", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO"]
BLOBS = ("TEXT", "BLOB", "MEDIUMTEXT", "LONGBLOB")
NUMBERS = ("INT", "SMALLINT", "TINYINT")
TEXTUAL = ("VARCHAR", "CHAR", "TEXT", "MEDIUMTEXT")
DATES = ("DATE", "DATETIME(2)", "TIMESTAMP")
LONG = ("TEXT", "BLOB", "VARCHAR(6)", "VARBINARY(4)")


@dataclass
class Column:
    """As one of the servers has it."""

    name: str
    kind: str
    nullable: bool
    default: str | None = None
    extra: bool = False
    """Only the replica has it; `kind` then is the whole definition."""

    @property
    def sql(self) -> str:
        if self.extra:
            return f"{self.name} {self.kind}"
        default = "" if self.default is None or self.kind in BLOBS else f" DEFAULT {self.default}"
        return f"{self.name} {self.kind} {'NULL' if self.nullable else 'NOT NULL'}{default}"


@dataclass
class Key:
    """kind: PRIMARY KEY, UNIQUE KEY, KEY or FULLTEXT KEY; parts: (column's name or an expression, length of a prefix or
    None); hidden: the word that makes it invisible."""

    kind: str
    parts: list[tuple[str, int | None]]
    hidden: str = ""

    def sql(self, number: int) -> str:
        parts = ", ".join(name if length is None else f"{name}({length})" for name, length in self.parts)
        return f"{self.kind} {'' if self.kind == 'PRIMARY KEY' else f'k{number} '}({parts}){self.hidden}"


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
        return [key for key in self.keys if key.kind in ("PRIMARY KEY", "UNIQUE KEY") and not any(
            self.column(name).nullable or self.column(name).extra for name, _ in key.parts)]

    def insert(self, rows: list[dict[str, str]]) -> list[str]:
        return [f"INSERT IGNORE INTO {self.name} VALUES "
                f"({', '.join(row.get(column.name, 'DEFAULT') for column in self.columns)})" for row in rows]


class Maker:
    """The case of a seed: `source` and `replica` make the tables with their first rows, `work` is a list of
    transactions, each a list of statements; `idempotent` is the replica's mode, `conversions` what it is allowed."""

    def __init__(self, seed: int, flavour: str):
        self.random, self.flavour = random.Random(f"{flavour} {seed}"), flavour
        self.idempotent = self.random.random() < 0.4
        self.conversions = self.random.choice(CONVERSIONS) if self._chance(0.4) else []
        if flavour == "mariadb":
            self.conversions = [name for name in self.conversions if not name.endswith("SIGNED")]
        self.source: list[str] = []
        self.replica: list[str] = []
        self.pairs = [self._pair(f"t{number}") for number in range(self.random.randint(1, 3))]
        self.work = [[statement for _ in range(self.random.choice([1, 1, 2, 3])) for statement in self._statement()]
                     for _ in range(self.random.randint(4, 14))]
        self.work[0].insert(0, f"SET sql_mode = '{self.random.choice(MODES)}'")

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
        if self._chance(0.25) and len(source.columns) > 1:
            del replica.columns[-self.random.randint(1, min(2, len(source.columns) - 1)):]
        for column in replica.columns if self.conversions else ():
            if column.kind in OTHERS and self._chance(0.5):
                column.kind, column.default = self.random.choice(sorted(OTHERS[column.kind])), None
        self._add_keys(source, replica)
        rows = [self._row(source) for _ in range(pick([0, 3, 8]))]
        self.source += [source.sql, *source.insert(rows)]
        self.replica += [replica.sql, *replica.insert(self._diverged(replica, rows))]
        return source, replica

    def _add_keys(self, source: Table, replica: Table) -> None:
        """The replica's keys, and columns that the source lacks: after the keys, or before, so that they have some."""
        more = self._chance(0.35) and len(replica.columns) == len(source.columns)
        within = more and self._chance(0.3)
        if within:
            self._add_columns(replica)
        has = {column.name for column in replica.columns}
        same = [key for key in source.keys if all(name in has for name, _ in key.parts)]
        if self._chance(0.5) and not within:
            for key in same:
                self._give(replica, Key(key.kind, [
                    (name, length if source.column(name).kind == replica.column(name).kind else
                     self._length(replica.column(name), key.kind)) for name, length in key.parts]))
        else:
            self._give_keys(replica)
        if more and not within:
            self._add_columns(replica)
        if self._chance(0.3):
            self._add_odd_key(replica)
        if self.flavour == "mariadb" and not replica.exact:
            replica.columns = [column for column in replica.columns if not column.extra]
            has = {column.name for column in replica.columns}
            replica.keys = [key for key in replica.keys if all(name in has for name, _ in key.parts)]

    def _add_odd_key(self, replica: Table) -> None:
        """A key that a replica may skip: one that is hidden, of words, of an expression or of generated columns;
        or a unique one of the first characters. It may stand before the others."""
        column, hidden = self.random.choice(replica.columns), " INVISIBLE" if self.flavour == "mysql" else " IGNORED"
        has_primary = any(key.kind == "PRIMARY KEY" for key in replica.keys)  # or a unique one may be in its place
        if column.extra:
            key = Key("KEY", [(column.name, 1 if column.kind.startswith(BLOBS) else None)])
        elif self.flavour == "mysql" and column.kind in NUMBERS and self._chance(0.5):
            key = Key("KEY", [(f"({column.name} + 1)", None)])
        elif column.kind.startswith(TEXTUAL) and self._chance(0.7):
            kind, length = self.random.choice([("FULLTEXT KEY", None), ("UNIQUE KEY", 1)])
            key = Key(kind, [(column.name, length)])
        else:
            key = Key(self.random.choice(["UNIQUE KEY"] * has_primary + ["KEY"]),
                      [(column.name, self._length(column, "KEY"))], hidden)
        replica.keys.insert(self.random.randint(0, len(replica.keys)), key)
        may = [key for key in replica.keys if key.kind == "KEY" or (has_primary and key.kind == "UNIQUE KEY")]
        if may and self._chance(0.3):
            self.random.choice(may).hidden = hidden

    def _add_columns(self, replica: Table) -> None:
        number = replica.column("c1").kind in NUMBERS
        for place in range(self.random.randint(1, 2)):
            kind = self.random.choice([kind for kind in EXTRA if number or "c1" not in kind])
            replica.columns.append(Column(f"e{place}", kind, "NOT NULL" not in kind, extra=True))

    def _column(self, name: str, kind: str) -> Column:
        column = Column(name, kind, self._chance(0.5))
        if self._chance(0.5) or (kind in DATES and not column.nullable):  # zero dates are null in a snapshot
            column.default = self.random.choice(KINDS[kind])
        return column

    def _give_keys(self, table: Table) -> None:
        kinds = ["PRIMARY KEY"] * self._chance(0.5)
        kinds += self.random.choices(["UNIQUE KEY", "KEY"], k=self.random.choice([0, 0, 1, 1, 2]))
        for kind in kinds:
            may = [column for column in table.columns if (kind != "PRIMARY KEY" or not column.nullable) and (
                kind == "KEY" or not column.kind.endswith("VIRTUAL"))]  # no snapshot holds those
            columns = self.random.sample(may, min(len(may), self.random.choice([1, 1, 2])))
            if not columns:
                continue
            self._give(table, Key(kind, [(column.name, self._length(column, kind)) for column in columns]))

    def _length(self, column: Column, kind: str) -> int | None:
        if column.kind.startswith(BLOBS):
            return self.random.choice([1, 20])
        return 1 if column.kind in LONG and kind == "KEY" and self._chance(0.3) else None

    def _give(self, table: Table, key: Key) -> None:
        table.keys.append(key)
        for name, _ in key.parts if key.kind == "PRIMARY KEY" else ():
            column = table.column(name)
            column.nullable, column.default = False, None if column.default == "NULL" else column.default

    def _row(self, table: Table) -> dict[str, str]:
        return {column.name: self._value(column) for column in table.columns if not column.extra}

    def _value(self, column: Column) -> str:
        return "NULL" if column.nullable and self._chance(0.2) else self.random.choice(VALUES[column.kind])

    def _diverged(self, replica: Table, rows: list[dict[str, str]]) -> list[dict[str, str]]:
        """The source's rows, and where the replica is not what it should be other ones."""
        if not self._chance(0.5 if self.idempotent else 0.2):
            return rows
        rows = [row for row in rows if self._chance(0.8)]
        for row in rows:
            if self._chance(0.2):
                column = self.random.choice([column for column in replica.columns if not column.extra])
                row = dict(row, **{column.name: self._value(column)})
        return rows + [self._row(replica) for _ in range(self.random.randint(0, 3))]

    # ---- work

    def _statement(self) -> list[str]:
        source, replica = self.random.choice(self.pairs)
        image = self.random.choice(["FULL", "MINIMAL", "NOBLOB"])
        if self.flavour == "mariadb" and not (source.keys == replica.keys and source.exact):
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
