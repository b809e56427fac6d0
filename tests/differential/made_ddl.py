"""Random histories of a database's tables: DDL of every kind between changes of rows, from a number and what is there.

A history asks its server which columns and keys its tables have by now, and so a seed gives the same statements every
time only on the same server. What a server refuses is no part of a history.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

NUMBERS = ["0", "1", "-1", "2", "7", "12", "127", "128", "-300", "70000", "1.5", "2.5", "-0.5", "99.995", "-1234.5678",
           "2147483648", "20240229", "101112", "1e3"]
MOMENTS = ["'2024-02-29 23:59:59.6'", "'1999-12-31 23:59:59.499'", "'2001-02-03 04:05:06'", "'2030-06-07'"]
WORDS = ["''", "'a'", "'b '", "'B'", "'7'", "' 12x'", "'-3.5'", "'2024-02-29'", "'é'", "'日本'", "'x,y'", "'abcdefgh'",
         "'1e2'", "'10:11:12.5'", "'2001-02-03 04:05:06'", "REPEAT('ab', 150)"]
BYTES = ["''", "'a'", "'abcd'", "x'00ff'", "'12'"]
KINDS = {
    "TINYINT": NUMBERS, "SMALLINT UNSIGNED": NUMBERS, "MEDIUMINT": NUMBERS, "INT": NUMBERS, "INT UNSIGNED": NUMBERS,
    "BIGINT": NUMBERS, "BIGINT UNSIGNED": NUMBERS, "DECIMAL(8,3)": NUMBERS, "DECIMAL(20,0)": NUMBERS, "FLOAT": NUMBERS,
    "DOUBLE": NUMBERS, "BIT(5)": ["0", "1", "7", "31"], "YEAR": ["1999", "2024", "70", "2155"], "DATE": MOMENTS,
    "DATETIME": MOMENTS, "DATETIME(3)": MOMENTS, "TIMESTAMP NULL": MOMENTS, "TIMESTAMP(2) NULL": MOMENTS,
    "TIME": ["'10:11:12'", "'-01:02:03'", "'100:00:00'"], "TIME(2)": ["'10:11:12.129'", "'-01:02:03.5'"],
    "CHAR(4)": WORDS, "VARCHAR(12)": WORDS, "VARCHAR(300)": WORDS, "VARCHAR(12) CHARACTER SET latin1": WORDS,
    "VARCHAR(9) COLLATE utf8mb4_bin": WORDS, "TEXT": WORDS, "TINYTEXT": WORDS, "MEDIUMTEXT CHARACTER SET latin1": WORDS,
    "BINARY(3)": BYTES, "VARBINARY(8)": BYTES, "BLOB": BYTES, "ENUM('a','b','7','é')": ["'a'", "'b'", "'é'", "3"],
    "ENUM('b','c','a')": ["'a'", "'b'"], "SET('x','y','z')": ["'x'", "'x,z'", "''", "6"],
    "SET('y','x')": ["'y'", "'x,y'"],
    "JSON": ["'{\"a\": [1, 2.50, null]}'", "'[]'", "'\"text\"'", "'7'"],
}
FAMILIES = [
    *([kind for kind, values in KINDS.items() if values is pool] for pool in (NUMBERS, WORDS, BYTES, MOMENTS)),
    *([kind for kind in KINDS if kind.startswith(base)] for base in ("TIME(", "ENUM", "SET")),
]
BY_BASE = {kind.partition("(")[0].partition(" ")[0].lower(): values for kind, values in KINDS.items()} | {
    "longtext": WORDS}
CHARSETS = ["utf8mb4", "latin1", "utf8mb3", "utf8mb4 COLLATE utf8mb4_bin", "cp1251"]


@dataclass(frozen=True)
class Column:
    """As information_schema.columns has it; `generated` is its expression."""

    name: str
    kind: str
    generated: str

    @property
    def values(self) -> list[str]:
        return BY_BASE.get(self.kind.partition("(")[0].partition(" ")[0], ["DEFAULT"])


class History:
    """What happens in one database: `tables` and `keys` must be kept up to date with what the server has; tables in
    `left` are left alone."""

    def __init__(self, seed: int, flavour: str, database: str):
        self.random, self.flavour, self.database = random.Random(f"ddl {flavour} {seed}"), flavour, database
        self.tables: dict[str, list[Column]] = {}
        self.keys: dict[str, list[str]] = {}
        self.left: set[str] = set()
        self._number = 0

    def step(self) -> list[str]:
        """The next statements: one of DDL, or a transaction."""
        if not self.tables:
            return [self._create()]
        if self._chance(0.55):
            return [self._ddl()]
        table = self._pick(sorted(self.tables))
        image = self._pick(["FULL", "MINIMAL", "NOBLOB"])
        rows = [self._change(table, image) for _ in range(self._pick([1, 2, 3]))]
        return [f"SET binlog_row_image = {image}", "BEGIN", *rows, "COMMIT"]

    # ---- rows

    def _change(self, table: str, image: str) -> str:
        columns = [column for column in self.tables[table] if not column.generated and column.name != "my_row_id"]
        if not columns:
            return f"DELETE FROM {table} LIMIT 1"
        what = self.random.random()
        where = f" WHERE `{(key := self._pick(columns)).name}` {self._pick(['=', '>=', '<'])} {self._value(key)}"
        if what < 0.6:
            chosen = columns if self._chance(0.6) else self.random.sample(columns, self.random.randint(1, len(columns)))
            rows = [f"({', '.join(map(self._value, chosen))})" for _ in range(self.random.randint(1, 5))]
            names = ", ".join(f"`{column.name}`" for column in chosen)
            verb = self._pick(["INSERT IGNORE", "INSERT IGNORE", "REPLACE" if image == "FULL" else "INSERT IGNORE"])
            return f"{verb} INTO {table} ({names}) VALUES {', '.join(rows)}"
        if what < 0.85:
            changed = self._pick(columns)
            where = where if self._chance(0.7) else ""
            return f"UPDATE IGNORE {table} SET `{changed.name}` = {self._value(changed)}{where}"
        return f"DELETE FROM {table}{where}"

    def _value(self, column: Column) -> str:
        return "NULL" if self._chance(0.1) else self._pick(column.values)

    # ---- definitions

    def _create(self) -> str:
        columns = [f"c{number} {self._kind()}" for number in range(self.random.randint(2, 5))]
        self._number += len(columns)
        key = self._pick(["id INT PRIMARY KEY", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "id INT",
                          "id VARCHAR(20) NOT NULL UNIQUE", "id INT NOT NULL, UNIQUE KEY u (id)"])
        return f"CREATE TABLE t{self._new()} ({', '.join([key, *columns])}) DEFAULT CHARSET={self._pick(CHARSETS[:3])}"

    def _ddl(self) -> str:
        table = self._pick(sorted(self.tables))
        other = self._pick(sorted(self.tables))
        new = f"t{self._new()}"
        makers = [
            lambda: f"RENAME TABLE {table} TO {new}", lambda: f"ALTER TABLE {table} RENAME TO {new}",
            lambda: f"RENAME TABLE {table} TO {new}, {other} TO {table}, {new} TO {other}",
            lambda: f"CREATE TABLE {new} LIKE {table}", lambda: f"CREATE TABLE IF NOT EXISTS {other} LIKE {table}",
            lambda: f"CREATE TABLE {new} AS SELECT * FROM {table}",
            lambda: f"CREATE TABLE {new} (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v TEXT) SELECT "
                    f"`{self._old(table)}` AS v FROM {table}",
            lambda: f"TRUNCATE TABLE {table}", lambda: f"DROP TABLE IF EXISTS {table}, nothing",
            lambda: f"CREATE {self._pick(['', 'UNIQUE '])}INDEX i{new} ON {table} ({self._parts(table)})",
            lambda: f"DROP INDEX {self._key(table)} ON {table}", self._create,
            lambda: f"ALTER TABLE {table} CONVERT TO CHARACTER SET {self._pick(CHARSETS)}",
        ]
        if self.flavour == "mariadb":
            makers += [lambda: f"CREATE OR REPLACE TABLE {table} (a INT, b VARCHAR(9) DEFAULT 'b')",
                       lambda: f"CREATE OR REPLACE TABLE {other} LIKE {table}"]
        if self._chance(0.3):
            return self._pick(makers)()
        return f"ALTER TABLE {table} " + ", ".join(self._action(table) for _ in range(self._pick([1, 1, 1, 2, 3])))

    def _action(self, table: str) -> str:
        pick = self._pick
        old, new, place = self._old(table), f"n{self._new()}", self._place(table)
        numbers = [column.name for column in self.tables[table] if column.values is NUMBERS] or ["1"]
        texts = [column.name for column in self.tables[table] if column.values is WORDS] or ["a"]
        makers = [
            lambda: f"ADD COLUMN {new} {self._kind()}{place}",
            lambda: f"ADD ({new} {self._kind()}, {new}b {self._kind()})",
            lambda: f"ADD COLUMN {new} INT NOT NULL DEFAULT 7{place}",
            lambda: f"ADD {new} DATETIME DEFAULT NOW(){place}",
            lambda: f"ADD {new} TIMESTAMP(3) NULL DEFAULT NOW(3) ON UPDATE NOW(3)",
            lambda: f"ADD {new} VARCHAR(20) DEFAULT (CONCAT('a', 1 + 1)){place}",
            lambda: f"ADD {new} DECIMAL(30,4) AS ({pick(numbers)} * 2 + 1) {pick(['STORED', 'VIRTUAL'])}{place}",
            lambda: f"ADD {new} VARCHAR(400) AS (CONCAT({pick(texts)}, '-')) {pick(['STORED', 'VIRTUAL'])}",
            lambda: f"ADD {new} BIGINT NOT NULL AUTO_INCREMENT UNIQUE{place}",
            lambda: f"ADD {new} BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST",
            lambda: f"DROP COLUMN {old}", lambda: f"MODIFY {old} {self._like(table, old)}{place}",
            lambda: f"MODIFY {old} {self._like(table, old)}{place}", lambda: f"MODIFY COLUMN {old} {self._kind()}",
            lambda: f"MODIFY {old} {self._like(table, old)} NOT NULL",
            lambda: f"CHANGE {old} {new} {self._like(table, old)}",
            lambda: f"RENAME COLUMN {old} TO {new}", lambda: f"ALTER {old} SET DEFAULT {pick(['5', 'NULL'])}",
            lambda: f"ALTER COLUMN {old} DROP DEFAULT", lambda: f"ADD INDEX k{new} ({self._parts(table)})",
            lambda: f"ADD UNIQUE KEY k{new} ({self._parts(table)})", lambda: f"DROP INDEX {self._key(table)}",
            lambda: f"RENAME INDEX {self._key(table)} TO k{new}", lambda: "DROP PRIMARY KEY",
            lambda: f"ADD PRIMARY KEY ({self._parts(table)})", lambda: f"DROP PRIMARY KEY, ADD PRIMARY KEY ({old})",
            lambda: pick(["ENGINE=InnoDB", "FORCE", "COMMENT 'x'", "DEFAULT CHARSET latin1", "AUTO_INCREMENT=50"]),
        ]
        if self.flavour == "mysql":
            makers += [lambda: f"ADD {new} INT DEFAULT 3 INVISIBLE", lambda: f"ALTER {old} SET INVISIBLE"]
        else:
            makers += [lambda: f"ADD COLUMN IF NOT EXISTS {old} INT", lambda: f"ADD {new} INT INVISIBLE DEFAULT 3",
                       lambda: f"DROP COLUMN IF EXISTS {pick([old, 'nothing'])}",
                       lambda: f"MODIFY IF EXISTS {pick([old, 'nothing'])} {self._like(table, old)}"]
        return pick(makers)()

    def _like(self, table: str, name: str) -> str:
        """A type that people change a column's to: mostly one of its family."""
        values = next((column.values for column in self.tables[table] if column.name == name), [])
        family = next((family for family in FAMILIES if values is KINDS[family[0]]), list(KINDS))
        return self._pick(family if self._chance(0.6) else list(KINDS))

    def _kind(self) -> str:
        return self._pick(list(KINDS)) + self._pick(["", "", "", " NOT NULL", " DEFAULT NULL"])

    def _old(self, table: str) -> str:
        return self._pick(self.tables[table]).name

    def _key(self, table: str) -> str:
        return self._pick(self.keys.get(table) or ["nothing"])

    def _parts(self, table: str) -> str:
        parts = self.random.sample(self.tables[table], min(len(self.tables[table]), self._pick([1, 1, 2])))
        return ", ".join(f"`{part.name}`" + self._pick(["", "(2)"] if part.values in (WORDS, BYTES) else [""])
                         for part in parts)

    def _place(self, table: str) -> str:
        return self._pick(["", "", " FIRST", f" AFTER {self._old(table)}"])

    def _new(self) -> int:
        self._number += 1
        return self._number

    def _chance(self, of: float) -> bool:
        return self.random.random() < of

    def _pick(self, values: list):
        return self.random.choice(values)
