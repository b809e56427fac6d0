"""Random families of tables that refer to each other, and what happens to them: SQL out of a number.

Foreign keys of one column and of several, in chains, circles and to the own table, by primary, unique and plain keys,
with every action; rows change by statements of all kinds, with foreign_key_checks on and off, in every image mode;
DDL makes, changes and drops tables and constraints between. A server refuses a part of the statements: those are no
part of a history. Kept out is what servers log wrongly, as MariaDB's REPLACE, which may be an update whose partial
image lacks what the row has got by default, and a DELETE of two tables, which logs rows, too, that a cascade deleted
before (their replicas stop, 1032).
"""

from __future__ import annotations

import random

from tests.recorded.differential.made_ddl import Column, quoted

WORDS = ["'a'", "'A'", "'b'", "'c'", "'d '", "'e'", "'fg'", "'h'"]
NUMBERS = ["1", "2", "3", "4", "5", "6", "7", "8"]
KINDS = {
    "INT": NUMBERS, "BIGINT UNSIGNED": [*NUMBERS, "18446744073709551615"], "SMALLINT": ["-1", *NUMBERS],
    "DECIMAL(6,2)": ["0.00", "1.50", "-2.25", "3.00"], "VARCHAR(6)": WORDS, "VARCHAR(6) COLLATE utf8mb4_bin": WORDS,
    "CHAR(3)": WORDS, "VARBINARY(4)": ["'a'", "'A'", "x'00'", "'b'"], "BINARY(2)": ["'a'", "'b'", "x'6100'"],
    "DATE": ["'2024-02-29'", "'1999-12-31'", "'2001-02-03'"],
    "DATETIME(2)": ["'2024-02-29 12:34:56.78'", "'1999-12-31 23:59:59'"],
    "VARCHAR(6) CHARACTER SET latin1": WORDS, "ENUM('a','b','c')": ["'a'", "'b'", "'c'"],
}
USUAL = ["INT", "INT", "INT", "BIGINT UNSIGNED", "VARCHAR(6)", "VARCHAR(6)"]
VALUES = {kind.partition("(")[0].partition(" ")[0].lower(): values for kind, values in KINDS.items()} | {
    "text": ["'x'", "'y'", "''"]}
ACTIONS = ["CASCADE"] * 9 + ["SET NULL"] * 6 + ["RESTRICT", "NO ACTION", ""]
IMAGES = ["FULL", "FULL", "MINIMAL", "MINIMAL", "NOBLOB"]


class Family:
    """What happens in one database (the interface of made_ddl.History): `tables` must be kept up to date."""

    def __init__(self, seed: int, flavour: str, database: str):
        self.random, self.flavour, self.database = random.Random(f"family {flavour} {seed}"), flavour, database
        self.tables: dict[str, list[Column]] = {}
        self.keys: dict[str, list[str]] = {}
        self.parted: dict[str, object] = {}
        self.versioned: set[str] = set()
        self.left: set[str] = set()
        self._number = self._constraints = 0
        self._kind, self._other = self._pick(USUAL if self._chance(0.6) else list(KINDS)), self._pick(USUAL)
        if self._chance(0.5):
            self._other = self._kind
        self._flat = self._chance(0.4)
        """Children have no children, and one key: what is followed by value."""
        self._changes = self._chance(0.2 if self._flat else 0.6)
        self._levels = self._pick([1, 2, 3] if self._flat else [1, 1, 2, 3, 4])

    def step(self) -> list[str]:
        """The next statements: the first tables, DDL, or a transaction."""
        if len(self.tables) < 2:
            return ["SET restrict_fk_on_non_standard_key = OFF",
                    *(statement for _ in range(self._levels + 1) for statement in self._create()), *self._filled()]
        if self._changes and self._chance(0.35):
            return self._ddl()
        image = self._pick(IMAGES)
        self._replaces = image == "FULL" or self.flavour == "mysql"
        rows = [statement for _ in range(self._pick([2, 3, 5, 8])) for statement in self._statement()]
        end = "COMMIT" if self._chance(0.95) else "ROLLBACK"
        return [f"SET binlog_row_image = {image}", "BEGIN", *rows, end, "SET foreign_key_checks = 1"]

    # ---- tables

    def _create(self) -> list[str]:
        """A table with its foreign keys, and without if the server refuses that; or they come one by one."""
        name, own = f"t{self._new()}", self._kind
        nullable = self._pick(["NULL", "NULL", "NULL", "NOT NULL"])
        columns = [f"r {own} {nullable}", f"s {self._other} NULL", f"q {own} NULL", "v INT DEFAULT 7"]
        columns = [column for column in columns if self._chance(0.8) or column.startswith("r ")]
        key = self._pick(["one", "one", "two", "unique", "number", "none"])
        if self._flat:
            key = self._pick(["one", "two"] if self._number == 1 else ["own", "own", "own", "one"])
        if key == "none":  # no TEXT: a NOBLOB image would not tell one row from another
            columns = [f"id {own}", f"b {self._other}", "KEY (id)", *columns]
        else:
            columns += ["w TEXT"] * self._chance(0.4)
            columns = {"one": [f"id {own} PRIMARY KEY"], "number": ["n INT PRIMARY KEY AUTO_INCREMENT",
                                                                    f"id {own}", "UNIQUE KEY (id)"],
                       "own": ["n INT PRIMARY KEY AUTO_INCREMENT"],
                       "two": [f"id {own} NOT NULL", f"b {self._other} NOT NULL", "PRIMARY KEY (id, b)"],
                       "unique": [f"id {own} NOT NULL", f"b {self._other} NOT NULL", "UNIQUE KEY (id, b)"]}[key] + \
                columns
        if self._chance(0.2):
            columns.append(f"g {self._pick(['INT AS (v + 1)', 'VARCHAR(20) AS (CONCAT(v, 1))'])} "
                           f"{self._pick(['VIRTUAL', 'VIRTUAL', 'STORED'])}")
        if self._chance(0.2) and not self._flat:
            columns.append("UNIQUE KEY (r)")
        keys = [self._foreign_key(name) for _ in range(self._pick([1, 1, 1, 2, 3]))]
        if self._flat:
            keys = self._flat_keys() * (self._number > 1)
        engine = " ENGINE=MyISAM" if self._chance(0.04) else ""
        plain = f"{name} ({', '.join(columns)}){engine}"
        if self._chance(0.85 if self._flat else 0.5):
            return [f"CREATE TABLE {name} ({', '.join(columns + keys)}){engine}", f"CREATE TABLE IF NOT EXISTS {plain}"]
        return [f"CREATE TABLE {plain}", *(f"ALTER TABLE {name} ADD {foreign}" for foreign in keys)]

    def _foreign_key(self, child: str) -> str:
        number = int(child.strip("`t") or 1) if child.strip("`").removeprefix("t").isdigit() else 1
        parent = self._pick([child, *(f"t{above}" for above in range(1, number)), *self.tables])
        if number > 1 and self._chance(0.6):
            parent = f"t{1 if self._flat else number - 1}"
        own, other = self._pick([("r", "id"), ("r", "id"), ("r", "id"), ("q", "id"), ("r, s", "id, b"), ("id", "id"),
                                 ("r", "r"), ("q", "r"), ("s, r", "b, id"), ("id, b", "id, b")])
        self._constraints += 1
        name = f"CONSTRAINT f{self._constraints} " if self._chance(0.8) else ""
        return f"{name}FOREIGN KEY ({own}) REFERENCES {parent} ({other}){self._actions()}"

    def _flat_keys(self) -> list[str]:
        """Foreign keys of single columns, to the first table."""
        pairs = [("r", "id"), ("q", "id")][:self._pick([1, 2])]
        return [f"FOREIGN KEY ({own}) REFERENCES t1 ({other}){self._actions()}" for own, other in pairs]

    def _actions(self) -> str:
        on_delete, on_update = self._pick(ACTIONS), self._pick(ACTIONS)
        return f"{f' ON DELETE {on_delete}' * bool(on_delete)}{f' ON UPDATE {on_update}' * bool(on_update)}"

    def _filled(self) -> list[str]:
        """Rows for the first tables, parents first, by columns that they may have."""
        filled = []
        for number in range(1, self._number + 1):
            for names in (["id"], ["id", "r"], ["id", "r", "q"], ["r", "q"], ["id", "b"], ["id", "b", "r", "s"]):
                rows = [f"({', '.join(self._value(self._other if name in 'bs' else self._kind) for name in names)})"
                        for _ in range(6)]
                filled.append(f"INSERT IGNORE INTO t{number} ({', '.join(names)}) VALUES {', '.join(rows)}")
        return filled

    # ---- rows

    def _statement(self) -> list[str]:
        name = self._pick(sorted(self.tables))
        columns = [column for column in self.tables[name] if not column.generated]
        if not columns:
            return [f"DELETE FROM {quoted(name)}"]
        make = self._pick([self._insert, self._insert, self._update, self._update, self._update, self._delete,
                           self._delete, self._joined])
        unchecked = self._chance(0.08)
        return ["SET foreign_key_checks = 0"] * unchecked + [make(name, columns)] + \
            ["SET foreign_key_checks = 1"] * unchecked

    def _insert(self, name: str, columns: list[Column]) -> str:
        chosen = columns if self._chance(0.5) else self.random.sample(columns, self.random.randint(1, len(columns)))
        rows = [f"({', '.join(self._of(column) for column in chosen)})" for _ in range(self._pick([1, 1, 2, 4]))]
        verb = self._pick(["INSERT", "INSERT IGNORE", "INSERT IGNORE", "REPLACE" if self._replaces else "INSERT"])
        more = ""
        if verb == "INSERT" and self._chance(0.5):
            column = self._pick(columns)
            more = f" ON DUPLICATE KEY UPDATE {quoted(column.name)} = {self._of(column)}"
        return f"{verb} INTO {quoted(name)} ({', '.join(quoted(column.name) for column in chosen)}) VALUES " \
               f"{', '.join(rows)}{more}"

    def _update(self, name: str, columns: list[Column]) -> str:
        changed = self.random.sample(columns, min(len(columns), self._pick([1, 1, 2])))
        if self._chance(0.5):
            changed = [column for column in columns if column.name in ("id", self._pick(["b", "r"]))] or changed
        assigned = ", ".join(f"{quoted(column.name)} = {self._new_value(column)}" for column in changed)
        return f"UPDATE {self._pick(['', 'IGNORE '])}{quoted(name)} SET {assigned}{self._where(columns)}"

    def _new_value(self, column: Column) -> str:
        if column.kind.startswith(("int", "bigint", "smallint", "decimal")) and self._chance(0.3):
            return f"{quoted(column.name)} {self._pick(['+', '-'])} 1"
        return self._of(column)

    def _delete(self, name: str, columns: list[Column]) -> str:
        return f"DELETE {self._pick(['', 'IGNORE '])}FROM {quoted(name)}{self._where(columns)}"

    def _joined(self, name: str, columns: list[Column]) -> str:
        other = self._pick(sorted(self.tables))
        if self._chance(0.5):
            return f"DELETE a FROM {quoted(name)} a JOIN {quoted(other)} b ON a.id = b.r{self._where(columns, 'a.')}"
        return f"UPDATE {quoted(name)} a JOIN {quoted(other)} b ON a.id = b.r SET a.v = 3, b.v = 4, " \
               f"b.r = {self._value(self._kind)}{self._where(columns, 'a.')}"

    def _where(self, columns: list[Column], of: str = "") -> str:
        if self._chance(0.07):
            return ""
        column = self._pick([column for column in columns if column.name == "id" and self._chance(0.6)] or columns)
        value = self._of(column)
        test = "IS NULL" if value == "NULL" else f"{self._pick(['=', '=', '=', '>=', '<'])} {value}"
        return f" WHERE {of}{quoted(column.name)} {test}"

    def _of(self, column: Column) -> str:
        if column.name not in ("id", "b") and self._chance(0.12):
            return "NULL"
        return self._pick(VALUES.get(column.kind.partition("(")[0].partition(" ")[0], NUMBERS))

    def _value(self, kind: str) -> str:
        return self._pick(KINDS[kind])

    # ---- definitions

    def _ddl(self) -> list[str]:
        name = self._pick(sorted(self.tables))
        table, other = quoted(name), quoted(self._pick(sorted(self.tables)))
        column = quoted(self._pick(self.tables[name]).name)
        constraint = f"f{self.random.randint(1, max(1, self._constraints))}"
        drop = self._pick([constraint, f"{name}_ibfk_{self._pick([1, 2])}"])
        new = f"n{self._new()}"
        makers = [
            lambda: [f"ALTER TABLE {table} ADD {self._foreign_key(name)}"],
            lambda: [f"ALTER TABLE {table} ADD {self._foreign_key(name)}"],
            lambda: [f"ALTER TABLE {quoted(some)} DROP FOREIGN KEY {drop}" for some in sorted(self.tables)],
            lambda: [f"ALTER TABLE {quoted(some)} DROP CONSTRAINT {drop}" for some in sorted(self.tables)],
            lambda: [f"ALTER TABLE {table} DROP FOREIGN KEY {constraint}, ADD {self._foreign_key(name)}"],
            lambda: [f"ALTER TABLE {table} ADD COLUMN {new} INT DEFAULT 3{self._pick(['', ' FIRST', ' AFTER id'])}"],
            lambda: [f"ALTER TABLE {table} ADD COLUMN {new} {self._kind} NULL{self._pick(['', ' FIRST'])}"],
            lambda: [f"ALTER TABLE {table} DROP COLUMN {column}"],
            lambda: [f"ALTER TABLE {table} RENAME COLUMN {column} TO {new}",
                     f"ALTER TABLE {table} RENAME COLUMN {new} TO {column}"][:self._pick([1, 2, 2])],
            lambda: [f"ALTER TABLE {table} MODIFY v {self._pick(['BIGINT', 'VARCHAR(20)', 'INT NOT NULL DEFAULT 2'])}"],
            lambda: [f"RENAME TABLE {table} TO {new}", f"RENAME TABLE {new} TO {table}"][:self._pick([1, 2])],
            lambda: [f"RENAME TABLE {table} TO {new}, {other} TO {table}, {new} TO {other}"],
            lambda: [f"ALTER TABLE {table} RENAME TO {new}"],
            lambda: [f"TRUNCATE TABLE {table}"],
            lambda: [f"DROP TABLE {table}", *self._create()],
            lambda: ["SET foreign_key_checks = 0", f"DROP TABLE {table}",
                     f"CREATE TABLE {table} (id {self._kind} PRIMARY KEY, r {self._kind}, v INT, KEY (r))",
                     "SET foreign_key_checks = 1"],
            lambda: ["SET foreign_key_checks = 0", f"TRUNCATE TABLE {table}", "SET foreign_key_checks = 1"],
            lambda: ["SET foreign_key_checks = 0", f"ALTER TABLE {table} ADD {self._foreign_key(name)}",
                     "SET foreign_key_checks = 1"],
            lambda: [f"CREATE TABLE {new} LIKE {table}", f"INSERT IGNORE INTO {new} SELECT * FROM {table}"],
            lambda: [f"CREATE INDEX i{self._new()} ON {table} ({column})"],
            lambda: [f"CREATE INDEX i{self._new()} ON {table} (r, {column}{self._pick(['', ' DESC'])})"],
            lambda: [f"CREATE UNIQUE INDEX i{self._new()} ON {table} ({column})"],
            lambda: [f"DROP INDEX {self._pick(self.keys.get(name) or ['nothing'])} ON {table}"],
            lambda: [f"ALTER TABLE {table} {self._pick(['FORCE', 'ENGINE=InnoDB', 'COMMENT=1', 'ENGINE=MyISAM'])}"],
            lambda: [f"ALTER TABLE {table} DROP PRIMARY KEY, ADD PRIMARY KEY ({self._pick(['id', 'id, b', 'b, id'])})"],
            self._create,
        ]
        return self._pick(makers)()

    def _new(self) -> int:
        self._number += 1
        return self._number

    def _chance(self, of: float) -> bool:
        return self.random.random() < of

    def _pick(self, values: list):
        return self.random.choice(values)
