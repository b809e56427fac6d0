"""Random tables and transactions for undos: foreign keys, unique keys, generated columns, documents, no key."""

from __future__ import annotations

import json
import random

from tests.recorded.differential.made_divided import Divided


class Made:
    """Random tables, and random statements about them; `divided` is the one with partitions."""

    def __init__(self, choose: random.Random, flavour: str):
        self.choose, self.is_mysql = choose, flavour == "mysql"
        self.divided = Divided(choose)
        self.has_unique, self.generated = choose.random() < 0.5, choose.choice(["STORED", "VIRTUAL"])

    def tables(self) -> list[str]:
        choose = self.choose
        key = choose.choice(["PRIMARY KEY (id)", "PRIMARY KEY (id)", "UNIQUE KEY (id)"])
        rule = choose.choice(["CASCADE", "SET NULL"])
        document = "JSON" if self.is_mysql else "LONGTEXT"
        unique = ", UNIQUE KEY (u)" if self.has_unique else ""
        return [
            f"CREATE TABLE p (id INT NOT NULL, n INT, s VARCHAR(20), u INT, d DOUBLE, t DATETIME(3), b BLOB, "
            f"j {document}, e ENUM('x','y','z'), g INT AS (n + 1) {self.generated}, {key}{unique})",
            f"CREATE TABLE c (id INT NOT NULL PRIMARY KEY, p INT, v VARCHAR(9), FOREIGN KEY (p) REFERENCES p (id) "
            f"ON DELETE {rule} ON UPDATE {rule})",
            f"CREATE TABLE k (n INT, s VARCHAR(9), j {document})", self.divided.table()]

    def session(self) -> str:
        image = self.choose.choice(["FULL", "FULL", "MINIMAL", "NOBLOB"])
        partial = f", binlog_row_value_options = '{self.choose.choice(['', 'PARTIAL_JSON'])}'" if self.is_mysql else ""
        return f"SET SESSION binlog_row_image = '{image}'{partial}"

    def first(self) -> list[str]:
        """The transaction that comes before all others."""
        rows = ", ".join(f"({number}, {self.choose.randint(0, 9)}, 'x', 's', '{self.document()}')"
                         for number in range(1, 40, 3))
        return [f"INSERT INTO p (id, n, e, s, j) VALUES {rows}",
                "INSERT INTO c SELECT id + 1, id, 'first' FROM p WHERE id < 20",
                f"INSERT INTO k SELECT n, 'k', '{self.document()}' FROM p", self.divided.rows()]

    def transaction(self) -> list[str]:
        return [self.divided.statement() if self.choose.random() < 0.3 else self.statement()
                for _ in range(self.choose.randint(1, 4))]

    def id(self) -> int:
        return self.choose.randint(1, 40)

    def row(self) -> str:
        choose = self.choose
        unique = "NULL" if choose.random() < 0.5 else str(choose.randint(1, 300))
        return (f"{self.id()}, {choose.randint(0, 9)}, '{choose.choice('abcdé')}', {unique}, "
                f"{choose.randint(0, 99) / 4}, '2026-03-{choose.randint(10, 28)} 10:00:00.125', "
                f"REPEAT('b', {choose.randint(0, 400)}), "
                f"'{self.document()}', '{choose.choice('xyz')}'")

    def document(self) -> str:
        choose = self.choose
        return json.dumps({"a": choose.randint(0, 9), "l": [1, 2, choose.randint(0, 9)],
                           "s": "t" * choose.randint(0, 60)})

    def statement(self) -> str:
        choose, columns = self.choose, "(id, n, s, u, d, t, b, j, e)"
        path = f"JSON_{choose.choice(['SET', 'REPLACE'])}(j, '$.a', {choose.randint(10, 99)})"
        replacing = "REPLACE INTO c VALUES"  # of parents, MySQL's own replicas delete children that the source keeps
        return choose.choice([
            lambda: f"INSERT INTO p {columns} VALUES ({self.row()}), ({self.row()})",
            lambda: f"INSERT INTO p {columns} VALUES ({self.row()})",
            lambda: f"INSERT INTO p {columns} VALUES ({self.row()}) ON DUPLICATE KEY UPDATE s = 'again', u = NULL",
            lambda: f"{replacing} ({self.id()}, {self.id()}, 'r')",
            lambda: f"INSERT INTO c VALUES ({self.id()}, {self.id()}, 'v'), ({self.id()}, NULL, 'w')",
            lambda: f"INSERT INTO c SELECT {self.id()}, MIN(id), 'm' FROM p",
            lambda: f"INSERT INTO k VALUES ({choose.randint(0, 5)}, 'k', '{self.document()}'), (1, 'k', NULL)",
            lambda: f"UPDATE p SET n = {choose.randint(0, 9)}, s = 'u' WHERE id = {self.id()}",
            lambda: f"UPDATE p SET e = 'z', b = REPEAT('c', 20) WHERE n = {choose.randint(0, 9)}",
            lambda: f"UPDATE p SET id = {self.id()} WHERE id = {self.id()}",
            lambda: f"UPDATE p SET j = {path} WHERE id <= {self.id()} AND n < 4",
            lambda: f"UPDATE p SET u = u + 1 WHERE id = {self.id()}",
            lambda: f"UPDATE c SET v = 'c{choose.randint(0, 9)}', p = NULL WHERE id = {self.id()}",
            lambda: f"UPDATE k SET s = 's{choose.randint(0, 9)}', j = {path} WHERE n = {choose.randint(0, 5)}",
            lambda: f"DELETE FROM p WHERE id = {self.id()}",
            lambda: f"DELETE FROM p WHERE n = {choose.randint(0, 9)}",
            lambda: f"DELETE FROM c WHERE id = {self.id()}",
            lambda: f"DELETE FROM k WHERE n = {choose.randint(0, 5)} LIMIT 1",
        ])()
