"""Random histories of one database: DDL of every kind, rows, and settings of the session, from a number and from
what is there by then. A server refuses some of the statements; those are no part of what happened."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.live.expressions import Expressions
from tests.live.only_mariadb import OnlyMariaDB
from tests.live.only_mysql import OnlyMySQL
from tests.live.sessions import Sessions
from tests.live.values import FAMILIES, USUAL, Values
from tests.recorded.differential.made_partitions import Parted, PartitionMaker

GRAMMARS = {"mysql": OnlyMySQL, "mariadb": OnlyMariaDB}
ODD_NAMES = ["{} x", "select{}", "é{}", "日本{}", "Mixed{}", "q``{}", "$%{}"]


DOCUMENT_CHANGES = [
    "JSON_SET({c}, '$.a', {n})", "JSON_SET({c}, '$.a[1]', {s}, '$.n', {n})", "JSON_REPLACE({c}, '$.b.c', {s})",
    "JSON_REMOVE({c}, '$.a')", "JSON_REMOVE({c}, '$.a[0]', '$.b')", "JSON_SET({c}, '$.z', CAST('[1]' AS JSON))",
    "JSON_SET({c}, '$[1]', NULL)", "JSON_REPLACE({c}, '$.a', {d})"]
"""Assigned to the column itself, MySQL may log them as differences."""


@dataclass(frozen=True)
class Column:
    """A column as statements name it, and its type as information_schema has it."""

    name: str
    kind: str
    generated: str = ""
    family: str = ""

    @classmethod
    def of(cls, name: str, kind: str, generated: str) -> Column:
        base = kind.partition("(")[0].partition(" ")[0]
        return cls("`" + name.replace("`", "``") + "`", kind, generated, FAMILIES.get(base, "s"))


class History:
    """What happens in a database. `tables`, `keys`, `parted` and `checks` must be kept up to date with the server;
    names of tables and keys are in backticks."""

    def __init__(self, seed: int, flavour: str, database: str, version: tuple[int, ...], *, zones: bool = True,
                 any_case: bool = False):
        self.database = database
        self.values = values = Values(random.Random(f"{flavour} {seed}"), flavour)
        self.pick, self.chance, self._any_case = values.pick, values.chance, any_case
        self.grammar = GRAMMARS[flavour](values, version)
        self.expressions = Expressions(values)
        self.grammar.add_to(self.expressions)
        self.sessions = Sessions(values, self.grammar, zones=zones)
        self.partitions = PartitionMaker(values.random, self.named)
        self.tables: dict[str, list[Column]] = {}
        self.keys: dict[str, list[str]] = {}
        self.parted: dict[str, Parted] = {}
        self._number, self._next = 0, list[list[str]]()
        self._theme = self.pick(["columns", "columns", "columns", "generated", "generated", "partitions", "parents"])

    def first(self) -> list[str]:
        """The statements before all others."""
        charset = self.pick(USUAL + ["utf8mb4"] * 6)
        return [f"CREATE DATABASE {self.database} CHARACTER SET {charset}", f"USE {self.database}",
                *self.sessions.first()]

    def step(self) -> list[str]:
        """The next statements."""
        if self._next:
            return self._next.pop(0)
        if not self.tables:
            return self._create()
        what = self.values.random.random()
        if what < 0.12:
            return self.sessions.change()
        if what < 0.18 and len(self.tables) < 4:
            return self._create()
        table = self.pick(sorted(self.tables))
        if what < 0.6:
            return self._alter(table)
        if what < 0.7:
            first, *self._next = ([statement] for statement in self._other(table))
            return first
        return self._transaction(table)

    def named(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"

    def _table_name(self) -> str:
        name = self.named("t")
        return f"`{self.pick(ODD_NAMES).format(name)}`" if self.chance(0.08) else name

    def _called(self, table: str) -> str:
        """A table's name, in any case where servers take it so."""
        return self.pick([table, table.upper()]) if self._any_case else table

    # ---- CREATE TABLE

    def _create(self) -> list[str]:
        name = self._table_name()
        if self._theme == "parents" and self.tables and self.chance(0.7):
            return self._child(name)
        key = self.pick([
            "id INT PRIMARY KEY", "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "id BIGINT UNSIGNED PRIMARY KEY",
            "id INT", "id VARCHAR(20) NOT NULL UNIQUE", "id INT, UNIQUE KEY u (id)", "id VARCHAR(40), UNIQUE (id(3))",
            "id INT NOT NULL, id2 CHAR(3) NOT NULL DEFAULT 'é', PRIMARY KEY (id, id2)",
            "id DATETIME(2) PRIMARY KEY",
            "id TEXT, PRIMARY KEY (id(5))", "id INT PRIMARY KEY", "id INT PRIMARY KEY", "id DECIMAL(6,2) PRIMARY KEY"])
        options = self.values.charset(0.4).replace(" BINARY", "").replace(" ASCII", "").replace(" UNICODE", "")
        if self._theme == "partitions" and self.chance(0.8):
            key, parts = self.partitions.columns()
            if self.chance(0.5):
                key += f", {self.pick(['PRIMARY KEY', 'UNIQUE KEY'])} ({', '.join(parts)})"
            options += f" {self._partitioned()}"
        columns, made = [key], [Column("id", "int", "", "n")]
        for _ in range(self.pick([1, 2, 3, 4, 5])):
            column = self.named("c")
            text = self._column(made)
            columns.append(f"{column} {text}")
            made.append(Column.of(column, text.lower(), ""))
        if self.chance(0.1):
            columns.append(f"CHECK ({self.expressions.expression('n', made)} OR TRUE)")
        return [f"CREATE TABLE {name} ({', '.join(columns)}){options}", *self._some_rows(name, made)]

    def _child(self, name: str) -> list[str]:
        parent = self.pick(sorted(self.tables))
        kind = self.tables[parent][0].kind
        refers = [f"ON DELETE {self.pick(['CASCADE', 'SET NULL', 'RESTRICT', 'CASCADE'])}",
                  f"ON UPDATE {self.pick(['CASCADE', 'SET NULL', 'CASCADE', 'NO ACTION'])}"]
        made = [Column("id", "int", "", "n"), Column("p", kind, "", "n")]
        more = [f"{self.named('c')} {self._column(made)}" for _ in range(self.pick([0, 1, 2]))]
        key = self.tables[parent][0].name
        reference = f"FOREIGN KEY (p) REFERENCES {self._called(parent)} ({key}) {' '.join(refers)}"
        columns = ["id INT PRIMARY KEY AUTO_INCREMENT", f"p {kind}", *more, reference]
        return [f"CREATE TABLE {name} ({', '.join(columns)})",
                *[f"INSERT IGNORE INTO {name} (p) SELECT {key} FROM {parent}"] * 2]

    def _partitioned(self) -> str:
        if self.chance(0.2):
            word = self.pick(["_latin1 X'E8'", "'ж'", "_utf8mb4'ü'", "N'日'"])
            return ("PARTITION BY LIST COLUMNS (word) (PARTITION pa VALUES IN ('é', 'a', N'b'), "
                    f"PARTITION pb VALUES IN ({word}, 'B', '', 'x', NULL))")
        return self.partitions.clause()

    def _column(self, columns: list[Column]) -> str:
        """A column's definition, over those before it."""
        if self.chance(0.5 if self._theme == "generated" else 0.2):
            kind, expression = self.expressions.generated(columns)
            always = self.pick(["AS", "AS", "GENERATED ALWAYS AS"])
            how = self.pick(["STORED", "STORED", "VIRTUAL", ""])
            return f"{kind} {always} ({expression}) {how}{self.pick(['', '', '', ' UNIQUE', ' NOT NULL', ' KEY'])}"
        family = self.pick("nnnsssssbeeddddtjy" + "g" * self.chance(0.2))
        kind = self.pick(self.grammar.kinds) if self.chance(0.08) else self.values.kind(family)
        words = self.pick(["", "", " NOT NULL", " NULL"]) + self._default(family, columns)
        if family == "d" and "DATE " not in f"{kind} " and self.chance(0.25):
            digits = kind.partition("(")[2].partition(")")[0]
            now = f"CURRENT_TIMESTAMP({digits})" if digits else self.pick(["CURRENT_TIMESTAMP", "NOW()"])
            words = self.pick([f" DEFAULT {now}", f" DEFAULT {now} ON UPDATE {now}", f" ON UPDATE {now}"])
        return f"{kind}{words}{self.grammar.column_words()}"

    def _default(self, family: str, columns: list[Column]) -> str:
        what = self.values.random.random()
        if what < 0.35:
            return f" DEFAULT {self.values.literal(family)}"
        if what < 0.5:
            family = family if family in self.expressions.templates else "s"
            return f" DEFAULT ({self.expressions.expression(family, columns if self.chance(0.3) else [])})"
        if what < 0.55:
            return f" DEFAULT ({self.values.literal(family)})"
        return self.pick(["", " DEFAULT NULL", "", ""])

    # ---- ALTER TABLE

    def _alter(self, table: str) -> list[str]:
        if table in self.parted and self.chance(0.5):
            first, *rest = self.partitions.alter(table, self.parted[table], self.values.flavour)
            self._next = [[statement] for statement in rest]
            return [first]
        actions = [self._action(table) for _ in range(self.pick([1, 1, 1, 2, 3]))]
        words = self.pick([""] * 10 + [", ALGORITHM=COPY", ", ALGORITHM=INPLACE", ", LOCK=SHARED"])
        verb = self.pick(["ALTER TABLE"] * 9 + ["ALTER IGNORE TABLE"] * (self.values.flavour == "mariadb"))
        return [f"{verb} {self._called(table)} {', '.join(actions)}{words}"]

    def _action(self, table: str) -> str:
        columns, pick = self.tables[table], self.pick
        column = pick(columns)
        old, new = column.name, self.named("c")
        place = pick(["", "", "", " FIRST", f" AFTER {pick(columns).name}"])
        if self.chance(0.12):
            return pick(self.grammar.actions(table, old, new))
        family = column.family if self.chance(0.7) else None
        makers = [
            *[lambda: f"ADD {pick(['', 'COLUMN '])}{new} {self._column(columns)}{place}"] * 5,
            *[lambda: f"ADD {new} {self._generated(columns)}{place}"] * (6 if self._theme == "generated" else 3),
            *[lambda: f"MODIFY {old} {self.values.kind(family)}{pick(['', '', ' NOT NULL'])}{place}"] * 3,
            lambda: f"MODIFY {old} {self._column([other for other in columns if other is not column])}",
            lambda: f"CHANGE {old} {new} {self.values.kind(family)}", lambda: f"RENAME COLUMN {old} TO {new}",
            lambda: f"DROP COLUMN {old}", lambda: f"ALTER {old} SET DEFAULT {self.values.literal(column.family)}",
            lambda: f"ALTER COLUMN {old} DROP DEFAULT",
            lambda: f"CONVERT TO{self.values.charset(1).replace(' BINARY', '') or ' CHARACTER SET latin1'}",
            lambda: f"CONVERT TO CHARACTER SET {pick(USUAL)}", lambda: f"DEFAULT CHARACTER SET {pick(USUAL)}",
            lambda: f"ADD {pick(['INDEX', 'UNIQUE'])} {self.named('k')} ({self._parts(columns)})",
            lambda: f"DROP INDEX {pick(self.keys.get(table) or ['nothing'])}", lambda: "DROP PRIMARY KEY",
            lambda: f"ADD PRIMARY KEY ({self._parts(columns)})", lambda: f"ADD {new} SERIAL{place}",
            lambda: f"ADD {new} BIGINT NOT NULL AUTO_INCREMENT UNIQUE{place}", lambda: "FORCE",
            lambda: pick(["ENGINE=InnoDB", "COMMENT 'é'", "ROW_FORMAT=DYNAMIC", "AUTO_INCREMENT=50", "ENGINE=MyISAM"]),
            lambda: f"ADD {new} TIMESTAMP{place}", lambda: f"ADD {new} {self.values.kind('d')} NOT NULL{place}",
            lambda: pick([self._partitioned(), "REMOVE PARTITIONING"]),
        ]
        return pick(makers)()

    def _generated(self, columns: list[Column]) -> str:
        plain = [column for column in columns if not column.generated or self.chance(0.3)]
        kind, expression = self.expressions.generated(plain)
        return f"{kind} AS ({expression}) {self.pick(['STORED', 'STORED', 'STORED', 'VIRTUAL'])}"

    def _parts(self, columns: list[Column]) -> str:
        some = self.values.random.sample(columns, min(len(columns), self.pick([1, 1, 2])))
        return ", ".join(column.name + (self.pick(["(3)", ""]) if column.family in "sb" else "") for column in some)

    # ---- other statements

    def _other(self, table: str) -> list[str]:
        new, pick, called = self._table_name(), self.pick, self._called(table)
        columns, beside = self.tables[table], f"{self.database}_b"
        if self.chance(0.25):
            return pick(self.grammar.statements(table, new))
        column, number = pick(columns), self.named("")
        xid = f"'{self.database}.{number}'"
        return pick([
            [f"RENAME TABLE {called} TO {new}"], [f"ALTER TABLE {called} RENAME TO {new}"],
            [f"RENAME TABLE {table} TO {new}, {pick(sorted(self.tables))} TO {table}"],
            [f"TRUNCATE {called}"], [f"TRUNCATE TABLE {called}"],
            [f"CREATE TABLE {new} LIKE {called}", f"INSERT IGNORE INTO {new} SELECT * FROM {table}"],
            [f"CREATE TABLE {new} AS SELECT * FROM {table}"], [f"DROP TABLE {called}"],
            [f"CREATE TABLE {new} SELECT {self._selected(columns)} FROM {table}"],
            [f"CREATE TABLE {new} (n INT AUTO_INCREMENT PRIMARY KEY) SELECT {column.name} AS v, "
             f"{self._selected(columns)} FROM {table}"],
            [f"CREATE TABLE {new} ({column.name} {self.values.kind()}, g {self._generated([column])}) "
             f"SELECT {column.name} FROM {table}"],
            [f"CREATE TEMPORARY TABLE {new} SELECT * FROM {table}", f"INSERT INTO {table} SELECT * FROM {new}",
             f"ALTER TABLE {new} ADD x INT", f"DROP TEMPORARY TABLE IF EXISTS {new}"],
            [f"CREATE DATABASE IF NOT EXISTS {beside} CHARACTER SET {pick(USUAL)}",
             f"CREATE TABLE {beside}.b{number} (a VARCHAR(9) DEFAULT 'é', b TEXT)",
             f"RENAME TABLE {table} TO {beside}.{new}", f"INSERT INTO {beside}.b{number} (b) VALUES ('é')",
             f"RENAME TABLE {beside}.{new} TO {self.database}.{table}"],
            [f"ALTER DATABASE {self.database} CHARACTER SET {pick([*USUAL, 'DEFAULT'])}"],
            [f"CREATE INDEX {new} ON {table} ({self._parts(columns)})".replace("`", "")],
            [f"DROP INDEX {pick(self.keys.get(table) or ['nothing'])} ON {table}"],
            [f"CREATE VIEW v{self.named('w')} AS SELECT * FROM {table}"],
            [f"XA START {xid}", self._change(table), f"XA END {xid}", f"XA PREPARE {xid}",
             f"XA {pick(['COMMIT', 'COMMIT', 'ROLLBACK'])} {xid}"],
        ])

    def _selected(self, columns: list[Column]) -> str:
        """Columns of a SELECT: an expression's type is what the log says of it."""
        expression = self.expressions.expression(self.pick("nsd"), columns)
        return f"{expression} AS {self.named('s')}"

    # ---- rows

    def _transaction(self, table: str) -> list[str]:
        changes = [self._change(table) for _ in range(self.pick([1, 2, 3]))]
        if self.chance(0.3):
            return changes
        if self.chance(0.2):
            changes.insert(1, "SAVEPOINT s")
            changes.append(self.pick(["ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s"]))
        return ["BEGIN", *changes, self.pick(["COMMIT"] * 9 + ["ROLLBACK"])]

    def _some_rows(self, table: str, columns: list[Column]) -> list[str]:
        return [self._insert(table, columns) for _ in range(self.pick([1, 2]))]

    def _change(self, table: str) -> str:
        columns = [column for column in self.tables[table] if not column.generated]
        if not columns:
            return f"DELETE FROM {table} LIMIT 1"
        what = self.values.random.random()
        if what < 0.5:
            return self._insert(table, columns)
        if what < 0.85:
            changed = self.values.random.sample(columns, min(len(columns), self.pick([1, 1, 2])))
            assigned = ", ".join(f"{column.name} = {self._value(column, columns)}" for column in changed)
            verb = self.pick(["UPDATE IGNORE", "UPDATE IGNORE", "UPDATE"])
            return f"{verb} {self._called(table)} SET {assigned}{self._where(table)}"
        return f"DELETE FROM {table}{self._where(table)}{self.pick(['', '', ' LIMIT 1'])}"

    def _insert(self, table: str, columns: list[Column]) -> str:
        columns = [column for column in columns if " as (" not in column.kind]
        size = len(columns) if self.chance(0.4) else self.values.random.randint(1, len(columns))
        some = columns if size == len(columns) else self.values.random.sample(columns, size)
        rows = [f"({', '.join(self._value(column) for column in some)})" for _ in range(self.pick([1, 2, 4]))]
        names = ", ".join(column.name for column in some)
        verb = self.pick(["INSERT IGNORE", "INSERT IGNORE", "INSERT IGNORE", "REPLACE", "INSERT"])
        if verb == "REPLACE" and self.values.flavour == "mariadb" and size < len(columns):
            verb = "INSERT IGNORE"  # whose partial images lack what goes back to its default
        end = ""
        if verb == "INSERT" and self.chance(0.6):
            column = self.pick(some)
            end = f" ON DUPLICATE KEY UPDATE {column.name} = {self._value(column)}"
        return f"{verb} INTO {self._called(table)} ({names}) VALUES {', '.join(rows)}{end}"

    def _value(self, column: Column, columns: list[Column] | None = None) -> str:
        what = self.values.random.random()
        if column.name.strip("`") in ("id", "p") and what < 0.75:
            return str(self.pick(range(1, 9)))
        if what < 0.06:
            return "DEFAULT"
        if what < 0.14:
            return "NULL"
        if columns and column.family == "j" and what < 0.7:
            return self.expressions.filled(self.pick(DOCUMENT_CHANGES).replace("{c}", column.name), columns)
        if columns and what < 0.3 and column.family in self.expressions.templates:
            return self.expressions.expression(column.family, columns)
        return self.values.literal(column.family)

    def _where(self, table: str) -> str:
        columns = self.tables[table]
        what = self.values.random.random()
        if what < 0.35:
            return ""
        if what < 0.7:
            return f" WHERE {columns[0].name} {self.pick(['=', '<', '>='])} {self._value(columns[0])}"
        return f" WHERE {self.expressions.expression('n', columns)}"
