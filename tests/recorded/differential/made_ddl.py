"""Random histories of a database's tables: DDL of every kind between changes of rows, from a number and what is there.

A history asks its server which columns and keys its tables have now, and so a seed gives the same statements every
time only on the same server. What a server refuses is no part of a history.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tests.recorded.differential.made_partitions import Parted, PartitionMaker
from tests.recorded.differential.made_versions import VersionMaker

NUMBERS = ["0", "1", "-1", "2", "7", "12", "127", "128", "-300", "70000", "1.5", "2.5", "-0.5", "99.995", "-1234.5678",
           "2147483648", "20240229", "101112", "1e3"]
DATETIMES = ["'2024-02-29 23:59:59.6'", "'1999-12-31 23:59:59.499'", "'2001-02-03 04:05:06'", "'2030-06-07'"]
WORDS = ["''", "'a'", "'b '", "'B'", "'7'", "' 12x'", "'-3.5'", "'2024-02-29'", "'é'", "'日本'", "'x,y'", "'abcdefgh'",
         "'1e2'", "'10:11:12.5'", "'2001-02-03 04:05:06'", "REPEAT('ab', 150)"]
BYTES = ["''", "'a'", "'abcd'", "x'00ff'", "'12'"]
KINDS = {
    "TINYINT": NUMBERS, "SMALLINT UNSIGNED": NUMBERS, "MEDIUMINT": NUMBERS, "INT": NUMBERS, "INT UNSIGNED": NUMBERS,
    "BIGINT": NUMBERS, "BIGINT UNSIGNED": NUMBERS, "DECIMAL(8,3)": NUMBERS, "DECIMAL(20,0)": NUMBERS, "FLOAT": NUMBERS,
    "DOUBLE": NUMBERS, "BIT(5)": ["0", "1", "7", "31"], "YEAR": ["1999", "2024", "70", "2155"], "DATE": DATETIMES,
    "DATETIME": DATETIMES, "DATETIME(3)": DATETIMES, "TIMESTAMP NULL": DATETIMES, "TIMESTAMP(2) NULL": DATETIMES,
    "TIME": ["'10:11:12'", "'-01:02:03'", "'100:00:00'"], "TIME(2)": ["'10:11:12.129'", "'-01:02:03.5'"],
    "CHAR(4)": WORDS, "VARCHAR(12)": WORDS, "VARCHAR(300)": WORDS, "VARCHAR(12) CHARACTER SET latin1": WORDS,
    "VARCHAR(9) COLLATE utf8mb4_bin": WORDS, "TEXT": WORDS, "TINYTEXT": WORDS, "MEDIUMTEXT CHARACTER SET latin1": WORDS,
    "BINARY(3)": BYTES, "VARBINARY(8)": BYTES, "BLOB": BYTES, "ENUM('a','b','7','é')": ["'a'", "'b'", "'é'", "3"],
    "ENUM('b','c','a')": ["'a'", "'b'"], "SET('x','y','z')": ["'x'", "'x,z'", "''", "6"],
    "SET('y','x')": ["'y'", "'x,y'"],
    "JSON": ["'{\"a\": [1, 2.50, null]}'", "'[]'", "'\"text\"'", "'7'"],
}
FAMILIES = [
    *([kind for kind, values in KINDS.items() if values is pool] for pool in (NUMBERS, WORDS, BYTES, DATETIMES)),
    *([kind for kind in KINDS if kind.startswith(base)] for base in ("TIME(", "ENUM", "SET")),
]
BY_BASE = {kind.partition("(")[0].partition(" ")[0].lower(): values for kind, values in KINDS.items()} | {
    "longtext": WORDS}
CHARSETS = ["utf8mb4", "latin1", "utf8mb3", "utf8mb4 COLLATE utf8mb4_bin", "cp1251"]
ODD_NAMES = ["{} x", "select{}", "é{}", "日本{}", "a.b{}", "T{}", "q`{}", "x-{}", "$%{}", "order", "values"]
MODES = ["ANSI_QUOTES", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "TIME_TRUNCATE_FRACTIONAL", "TIME_ROUND_FRACTIONAL",
         "STRICT_ALL_TABLES", "REAL_AS_FLOAT", "NO_ZERO_DATE,NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES", "ORACLE", "ANSI"]
THEMES = {"mysql": ["columns", "columns", "columns", "partitions"],
          "mariadb": ["columns", "columns", "partitions", "versions"]}
ZONES = ["'-05:30'", "'+00:00'", "'+13:00'", "SYSTEM"]
_QUOTED = re.compile(r"`((?:[^`]|``)+)`")


def quoted(name: str) -> str:
    """A name as SQL has it in any case."""
    return "`" + name.replace("`", "``") + "`"


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
    """What happens in one database, and in one beside it whose name has a "b" at its end: `tables`, `keys`, `parted`
    and `versioned`, by the tables' names, must be kept up to date with what the server has in the first; tables in
    `left` are left alone."""

    def __init__(self, seed: int, flavour: str, database: str):
        self.random, self.flavour, self.database = random.Random(f"ddl {flavour} {seed}"), flavour, database
        self.tables: dict[str, list[Column]] = {}
        self.keys: dict[str, list[str]] = {}
        self.parted: dict[str, Parted] = {}
        self.versioned: set[str] = set()
        self.left: set[str] = set()
        self._number, self._next = 0, []
        self._partitions = PartitionMaker(self.random, self._named)
        self._versions = VersionMaker(self.random, self._named)
        self._theme = self._pick(THEMES[flavour])

    def step(self) -> list[str]:
        """The next statements: one of DDL, with SETs around it, or a transaction. Of what an UPDATE leaves in the past
        of a versioned table, no other image than FULL has all."""
        if self._next:
            return [self._next.pop(0)]
        if not self.tables:
            return self._in_session(self._create())
        if self._chance(0.55):
            first, *self._next = self._ddl()
            return self._in_session(first)
        table = self._pick(sorted(self.tables))
        image = "FULL" if table in self.versioned else self._pick(["FULL", "MINIMAL", "NOBLOB"])
        rows = [self._change(table, image) for _ in range(self._pick([1, 2, 3]))]
        return [f"SET binlog_row_image = {image}", "BEGIN", *rows, "COMMIT"]

    def _in_session(self, statement: str) -> list[str]:
        """A statement with what sessions differ in: sql_mode, time zone, character set, comments."""
        what, pick = self.random.random(), self._pick
        if what < 0.1:
            mode = pick(MODES)
            if "ANSI" in mode or mode == "ORACLE":
                statement = _QUOTED.sub(lambda name: '"' + name[1].replace("``", "`") + '"', statement)
            return [f"SET sql_mode = '{mode}'", statement, "SET sql_mode = ''"]
        if what < 0.2:
            return [f"SET time_zone = {pick(ZONES)}", statement, "SET time_zone = '+02:00'"]
        if what < 0.27:
            return [f"SET NAMES {pick(['latin1', 'gbk', 'utf8mb3'])}", statement, "SET NAMES utf8mb4"]
        if what < 0.35:
            verb, _, rest = statement.partition(" ")
            return [f"/* ' ; \" */ {verb} /*!50000 {rest} */ -- `"]
        if what < 0.45 and self.flavour == "mariadb":
            return ["SET binlog_alter_two_phase = 1", statement, "SET binlog_alter_two_phase = 0"]
        if what < 0.45 and statement.startswith("CREATE TABLE"):
            name = "sql_generate_invisible_primary_key"
            return [f"SET {name} = 1", statement, f"SET {name} = 0"]
        return [statement]

    # ---- rows

    def _change(self, name: str, image: str) -> str:
        table = self._q(name)
        columns = [column for column in self.tables[name] if not column.generated and column.name != "my_row_id"]
        if not columns:
            return f"DELETE FROM {table} LIMIT 1"
        what = self.random.random()
        where = f" WHERE {quoted((key := self._pick(columns)).name)} {self._pick(['=', '>=', '<'])} {self._value(key)}"
        if what < 0.6:
            chosen = columns if self._chance(0.6) else self.random.sample(columns, self.random.randint(1, len(columns)))
            rows = [f"({', '.join(map(self._value, chosen))})" for _ in range(self.random.randint(1, 5))]
            names = ", ".join(quoted(column.name) for column in chosen)
            verb = self._pick(["INSERT IGNORE", "INSERT IGNORE", "REPLACE" if image == "FULL" else "INSERT IGNORE"])
            return f"{verb} INTO {table} ({names}) VALUES {', '.join(rows)}"
        if what < 0.85:
            changed = self._pick(columns)
            where = where if self._chance(0.7) else ""
            return f"UPDATE IGNORE {table} SET {quoted(changed.name)} = {self._value(changed)}{where}"
        return f"DELETE FROM {table}{where}"

    def _value(self, column: Column) -> str:
        return "NULL" if self._chance(0.1) else self._pick(column.values)

    # ---- definitions

    def _create(self) -> str:
        columns = ", ".join(f"{self._column()} {self._kind()}" for _ in range(self.random.randint(2, 5)))
        key = self._pick(["id INT PRIMARY KEY", "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "id INT",
                          "id VARCHAR(20) NOT NULL UNIQUE", "id INT NOT NULL, UNIQUE KEY u (id)"])
        options = f" DEFAULT CHARSET={self._pick(CHARSETS[:3])}"
        verb = "CREATE OR REPLACE TABLE" if self.flavour == "mariadb" and self._chance(0.1) else "CREATE TABLE"
        if self._theme == "partitions" and self._chance(0.8):
            key, parts = self._partitions.columns()
            if self._chance(0.5):
                key += f", {self._pick(['PRIMARY KEY', 'UNIQUE KEY'])} ({', '.join(parts)})"
            options += f" {self._partitions.clause()}"
        if self._theme == "versions" and self._chance(0.8):
            more, option = self._versions.options()
            columns, options = columns + more, options + option
        return f"{verb} {self._table()} ({key}, {columns}){options}"

    def _ddl(self) -> list[str]:
        name = self._pick(sorted(self.tables))
        table, other, new = self._q(name), self._q(self._pick(sorted(self.tables))), self._table()
        if self._theme == "partitions" and name in self.parted and self._chance(0.7):
            return self._partitions.alter(table, self.parted[name], self.flavour)
        if self._theme == "versions" and self._chance(0.4):
            return self._versions.alter(table, name in self.versioned)
        if self.flavour == "mariadb" and self._chance(0.03):
            return self._versions.sequence(table, self._old(name))
        makers = [
            lambda: f"RENAME TABLE {table} TO {new}", lambda: f"ALTER TABLE {table} RENAME TO {new}",
            lambda: f"RENAME TABLE {table} TO {new}, {other} TO {table}, {new} TO {other}",
            lambda: f"CREATE TABLE {new} LIKE {table}", lambda: f"CREATE TABLE IF NOT EXISTS {other} LIKE {table}",
            lambda: f"CREATE TABLE {new} AS SELECT * FROM {table}",
            lambda: f"CREATE TABLE {new} (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY, v TEXT) SELECT "
                    f"{self._old(name)} AS v FROM {table}",
            lambda: f"TRUNCATE TABLE {table}", lambda: f"DROP TABLE IF EXISTS {table}, nothing",
            lambda: f"CREATE {self._pick(['', 'UNIQUE '])}INDEX i{self._new()} ON {table} ({self._parts(name)})",
            lambda: f"DROP INDEX {self._key(name)} ON {table}", self._create,
            lambda: f"ALTER TABLE {table} CONVERT TO CHARACTER SET {self._pick(CHARSETS)}",
            lambda: f"ALTER TABLE {table} {self._pick([self._partitions.clause(), 'REMOVE PARTITIONING'])}",
            lambda: f"CREATE OR REPLACE VIEW v AS SELECT * FROM {table}", lambda: f"RENAME TABLE v TO {new}",
        ]
        if self.flavour == "mariadb":
            makers += [lambda: f"CREATE OR REPLACE TABLE {table} (a INT, b VARCHAR(9) DEFAULT 'b')",
                       lambda: f"CREATE OR REPLACE TABLE {other} LIKE {table}",
                       lambda: f"CREATE OR REPLACE TABLE {other} SELECT * FROM {table}"]
        if self._chance(0.06):
            return self._databases(table, new)
        if self._chance(0.3):
            return [self._pick(makers)()]
        words = self._pick([""] * 8 + [", ALGORITHM=INPLACE", ", ALGORITHM=COPY", ", LOCK=SHARED"])
        actions = [self._action(name) for _ in range(self._pick([1, 1, 1, 2, 3]))]
        return [f"ALTER TABLE {table} {', '.join(actions)}{words}"]

    def _databases(self, table: str, new: str) -> list[str]:
        """Tables that go to another database and come back, databases that go with their tables and are made again."""
        own, beside = self.database, self.database + "b"
        charset = f" CHARACTER SET {self._pick(CHARSETS)}"
        made = self._pick(["CREATE DATABASE IF NOT EXISTS", "CREATE DATABASE", "CREATE OR REPLACE DATABASE"])
        return self._pick([
            [f"{made} {beside}{charset}", f"RENAME TABLE {table} TO {beside}.{new}",
             f"CREATE TABLE {beside}.{new}l LIKE {beside}.{new}", f"RENAME TABLE {beside}.{new} TO {own}.{new}"],
            [f"{made} {beside}{charset}", f"CREATE TABLE {beside}.{new} SELECT * FROM {table}",
             f"ALTER TABLE {beside}.{new} RENAME TO {own}.{new}", f"DROP DATABASE {beside}"],
            [f"{made} {beside}{charset}", f"CREATE TABLE {beside}.{table} (a INT, b VARCHAR(9))",
             f"INSERT INTO {beside}.{table} VALUES (1, 'é')", f"ALTER DATABASE {beside} CHARACTER SET latin1",
             f"DROP TABLE {beside}.{table}", f"CREATE TABLE {beside}.{table} (b VARCHAR(9), a TEXT)"],
            [f"DROP DATABASE {own}", f"CREATE DATABASE {own}{charset}"],
        ])

    def _action(self, table: str) -> str:
        pick = self._pick
        old, new, place = self._old(table), self._column(), self._place(table)
        numbers = [self._q(column.name) for column in self.tables[table] if column.values is NUMBERS] or ["1"]
        texts = [self._q(column.name) for column in self.tables[table] if column.values is WORDS] or ["a"]
        makers = [
            lambda: f"ADD COLUMN {new} {self._kind()}{place}",
            lambda: f"ADD ({new} {self._kind()}, {self._column()} {self._kind()})",
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
            lambda: f"ALTER COLUMN {old} DROP DEFAULT", lambda: f"ADD INDEX k{self._new()} ({self._parts(table)})",
            lambda: f"ADD UNIQUE KEY k{self._new()} ({self._parts(table)})", lambda: f"DROP INDEX {self._key(table)}",
            lambda: f"RENAME INDEX {self._key(table)} TO k{self._new()}", lambda: "DROP PRIMARY KEY",
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

    def _like(self, table: str, old: str) -> str:
        """A type that people change a column's to: mostly one of its family."""
        values = next((column.values for column in self.tables[table] if old in (column.name, quoted(column.name))), [])
        family = next((family for family in FAMILIES if values is KINDS[family[0]]), list(KINDS))
        return self._pick(family if self._chance(0.6) else list(KINDS))

    def _kind(self) -> str:
        return self._pick(list(KINDS)) + self._pick(["", "", "", " NOT NULL", " DEFAULT NULL"])

    def _old(self, table: str) -> str:
        return self._q(self._pick(self.tables[table]).name)

    def _key(self, table: str) -> str:
        return self._pick(self.keys.get(table) or ["nothing"])

    def _parts(self, table: str) -> str:
        parts = self.random.sample(self.tables[table], min(len(self.tables[table]), self._pick([1, 1, 2])))
        return ", ".join(quoted(part.name) + self._pick(["", "(2)"] if part.values in (WORDS, BYTES) else [""])
                         for part in parts)

    def _place(self, table: str) -> str:
        return self._pick(["", "", " FIRST", f" AFTER {self._old(table)}"])

    def _table(self) -> str:
        return self._odd("t") if self._chance(0.15) else self._named("t")

    def _column(self) -> str:
        return self._odd("n") if self._chance(0.1) else self._named("n")

    def _odd(self, letter: str) -> str:
        return quoted(self._pick(ODD_NAMES).format(self._named(letter)))

    def _q(self, name: str) -> str:
        return quoted(name) if self._chance(0.5) or not re.fullmatch("[a-z]+[0-9]+", name) else name

    def _named(self, letter: str) -> str:
        return f"{letter}{self._new()}"

    def _new(self) -> int:
        self._number += 1
        return self._number

    def _chance(self, of: float) -> bool:
        return self.random.random() < of

    def _pick(self, values: list):
        return self.random.choice(values)
