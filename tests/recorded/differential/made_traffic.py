"""Random statements of several connections at once on a few tables of every type, some of them large: transactions and
rollbacks, savepoints, XA, image modes, and DDL between."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

COLUMNS = {
    "tiny": ("TINYINT", lambda pick: pick.randint(-128, 127)),
    "small": ("SMALLINT UNSIGNED", lambda pick: pick.randint(0, 65535)),
    "middle": ("MEDIUMINT", lambda pick: pick.randint(-(2**23), 2**23 - 1)),
    "whole": ("INT UNSIGNED", lambda pick: pick.randint(0, 2**32 - 1)),
    "big": ("BIGINT UNSIGNED", lambda pick: 2**64 - pick.randint(1, 2**40)),
    "price": ("DECIMAL(20,4)", lambda pick: f"{pick.randint(-10**15, 10**15) / 10**4:.4f}"),
    "digits": ("DECIMAL(45,5)", lambda pick: f"{pick.randint(-10**38, 10**38)}.{pick.randint(0, 99999):05}"),
    "rough": ("FLOAT", lambda pick: pick.randint(-(10**6), 10**6) / 64),
    "fine": ("DOUBLE", lambda pick: pick.uniform(-1e9, 1e9)),
    "bits": ("BIT(9)", lambda pick: pick.randint(0, 511)),
    "all_bits": ("BIT(64)", lambda pick: 2**64 - pick.randint(1, 2**30)),
    "y": ("YEAR", lambda pick: pick.randint(1901, 2155)),
    "d": ("DATE", lambda pick: f"'{pick.randint(1000, 9999)}-{pick.randint(1, 12):02}-{pick.randint(1, 28):02}'"),
    "dt": ("DATETIME(6)", lambda pick: f"'{pick.randint(1900, 2100)}-02-03 04:05:06.{pick.randint(0, 999999):06}'"),
    "ts": ("TIMESTAMP(3) NULL", lambda pick: f"'{pick.randint(1971, 2037)}-02-03 04:05:06.{pick.randint(0, 999):03}'"),
    "t": ("TIME(4)", lambda pick: f"'{pick.choice(['', '-'])}{pick.randint(0, 838)}:59:58.{pick.randint(0, 9999):04}'"),
    "fixed": ("CHAR(9)", lambda pick: _text(pick, 9)),
    "old": ("VARCHAR(40) CHARACTER SET latin1", lambda pick: pick.choice(["'é€'", "'plain'", "'ÿ'", "''"])),
    "long_text": ("MEDIUMTEXT", lambda pick: f"REPEAT({_text(pick, 20)}, {pick.choice([0, 1, 50])})"),
    "kind": ("ENUM('a','b','é')", lambda pick: pick.choice(["'a'", "'b'", "'é'"])),
    "flags": ("SET('x','y','z')", lambda pick: pick.choice(["''", "'x'", "'x,z'"])),
    "raw": ("BINARY(6)", lambda pick: f"x'{pick.randbytes(pick.randint(0, 6)).hex()}'"),
    "more_raw": ("VARBINARY(300)", lambda pick: f"x'{pick.randbytes(pick.randint(0, 20)).hex()}'"),
    "blob_": ("BLOB", lambda pick: f"REPEAT(x'{pick.randbytes(9).hex()}', {pick.choice([0, 1, 300])})"),
    "place": ("POINT", lambda pick: f"ST_GeomFromText('POINT({pick.randint(0, 90)} {pick.randint(0, 90)})')"),
}
OWN = {
    "mysql": {"doc": ("JSON", lambda pick: _document(pick)),
              "embedded": ("VECTOR(3)", lambda pick: f"STRING_TO_VECTOR('[{pick.randint(0, 99)},0.5,-1e3]')")},
    "mariadb": {"doc": ("JSON", lambda pick: _document(pick)),
                "address": ("INET6", lambda pick: f"'2001:db8::{pick.randint(0, 9999)}'"),
                "uuid_": ("UUID", lambda pick: f"'{pick.randbytes(16).hex()}'")},
}
KEYS = 3000
"""Keys of the widest table are below it, so that rows come again."""


def _text(pick: random.Random, most: int) -> str:
    return "'" + "".join(pick.choice("abc é日😀") for _ in range(pick.randint(0, most - 1))).rstrip() + "'"


def _document(pick: random.Random) -> str:
    made = {"a": pick.randint(0, 99), "l": [1, None, True, pick.randint(0, 9)], "s": "é" * pick.randint(0, 40),
            "f": pick.randint(0, 99) / 4}
    return "'" + json.dumps(pick.choice([made, [made, made], made["a"], "text"]), ensure_ascii=False) + "'"


class Traffic:
    """What one connection does in a database that it shares with others; `number` is its own among them."""

    def __init__(self, seed: int, flavour: str, database: str, number: int):
        self.pick, self.flavour, self.database = random.Random(f"traffic {flavour} {seed}"), flavour, database
        self._columns, self._number, self._later = {**COLUMNS, **OWN[flavour]}, number, list[list[str]]()

    def first(self) -> list[str]:
        """The statements that make the tables."""
        return [f"CREATE DATABASE IF NOT EXISTS {self.database} CHARACTER SET utf8mb4", f"USE {self.database}",
                *map(self._made, ("wide", "other", "bare", "pairs", "names"))]

    def step(self) -> list[str]:
        """The next statements, of which the server may refuse some: afterwards no transaction is open."""
        if self._later:
            return self._later.pop()
        chance = self.pick.random()
        if chance < 0.03:
            return [self._ddl()]
        if chance < 0.06:
            xid = f"'x{self._number}-{self.pick.randint(0, 10**9)}'"
            self._later.append([f"XA {self.pick.choice(['COMMIT', 'COMMIT', 'ROLLBACK'])} {xid}"])
            return [f"XA START {xid}", *self._statements(), f"XA END {xid}", f"XA PREPARE {xid}"]
        end = self.pick.choice(["COMMIT"] * 5 + ["ROLLBACK"])
        if chance < 0.2:
            return [self._session(), "BEGIN", *self._statements(), "SAVEPOINT s", *self._statements(),
                    self.pick.choice(["ROLLBACK TO s", "RELEASE SAVEPOINT s"]), *self._statements(), end]
        return [self._session(), "BEGIN", *self._statements(), end]

    def _session(self) -> str:
        image = self.pick.choice(["FULL", "FULL", "MINIMAL", "NOBLOB"])
        partial = f", binlog_row_value_options = '{self.pick.choice(['', 'PARTIAL_JSON'])}'"
        return f"SET binlog_row_image = '{image}'" + partial * (self.flavour == "mysql")

    def _statements(self) -> list[str]:
        return [self.pick.choice(self._kinds)(self) for _ in range(self.pick.randint(1, 4))]

    def _made(self, table: str) -> str:
        columns = ", ".join(f"{name} {kind}" for name, (kind, _) in self._columns.items())
        return f"CREATE TABLE IF NOT EXISTS {table} " + {
            "wide": f"(id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, {columns})",
            "other": f"(id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, {columns})",
            "bare": "(n INT, s VARCHAR(20), doc JSON)", "pairs": "(a VARCHAR(20), b INT, v TEXT, PRIMARY KEY (a, b))",
            "names": "(name VARCHAR(30) NOT NULL UNIQUE, n BIGINT UNSIGNED) CHARACTER SET latin1",
        }[table]

    def _ddl(self) -> str:
        pick, table = self.pick, self.pick.choice(["wide", "other", "bare", "pairs", "names"])
        name = pick.choice(sorted(self._columns))
        return pick.choice([
            f"TRUNCATE TABLE {table}", f"DROP TABLE {table}", self._made(table), self._made(table), self._made(table),
            f"ALTER TABLE {table} ADD COLUMN more{pick.randint(0, 9)} INT DEFAULT {pick.randint(0, 9)}",
            f"ALTER TABLE {table} ADD COLUMN more{pick.randint(0, 9)} VARCHAR(9) NOT NULL DEFAULT 'é' FIRST",
            f"ALTER TABLE {table} DROP COLUMN more{pick.randint(0, 9)}",
            f"ALTER TABLE {table} RENAME COLUMN more{pick.randint(0, 9)} TO more{pick.randint(0, 9)}",
            f"ALTER TABLE wide DROP COLUMN {name}", f"ALTER TABLE wide ADD COLUMN {name} {self._columns[name][0]}",
            f"ALTER TABLE other MODIFY {name} {self._columns[name][0]} FIRST",
            "ALTER TABLE bare MODIFY n BIGINT", "ALTER TABLE bare MODIFY n INT", "ALTER TABLE pairs MODIFY b BIGINT",
            "ALTER TABLE pairs MODIFY b INT", "ALTER TABLE names CONVERT TO CHARACTER SET utf8mb4",
            "RENAME TABLE wide TO aside, other TO wide, aside TO other", "FLUSH BINARY LOGS",
            "ALTER TABLE bare ADD COLUMN id CHAR(36) NOT NULL DEFAULT 'x' FIRST", "ALTER TABLE bare DROP COLUMN id",
        ])

    def _row(self) -> str:
        pick = self.pick
        values = ("NULL" if pick.random() < 0.1 else str(make(pick)) for _, make in self._columns.values())
        return f"({pick.randint(1, KEYS)}, {', '.join(values)})"

    def _insert(self) -> str:
        rows = ", ".join(self._row() for _ in range(self.pick.choice([1, 1, 3, 40])))
        verb = self.pick.choice(["INSERT IGNORE", "REPLACE"])
        return f"{verb} INTO {self._wide()} (id, {', '.join(self._columns)}) VALUES {rows}"

    def _wide(self) -> str:
        return self.pick.choice(["wide", "wide", "other"])

    def _update(self) -> str:
        pick, (name, (_, make)) = self.pick, self.pick.choice([*self._columns.items()])
        key = pick.randint(1, KEYS)
        return f"UPDATE {self._wide()} SET {name} = {make(pick)} WHERE id BETWEEN {key} AND " \
               f"{key + pick.choice([0, 0, 5, 100])}"

    def _move(self) -> str:
        return f"UPDATE IGNORE {self._wide()} SET id = {self.pick.randint(1, KEYS)} WHERE id = " \
               f"{self.pick.randint(1, KEYS)}"

    def _delete(self) -> str:
        key = self.pick.randint(1, KEYS)
        return f"DELETE FROM {self._wide()} WHERE id BETWEEN {key} AND {key + self.pick.choice([0, 0, 20])}"

    def _document(self) -> str:
        return f"UPDATE {self._wide()} SET doc = JSON_SET(doc, '$.a', {self.pick.randint(0, 10**6)}) WHERE id < " \
               f"{self.pick.randint(1, KEYS)} AND JSON_EXTRACT(doc, '$.a') IS NOT NULL LIMIT 50"

    def _bare(self) -> str:
        pick, n = self.pick, self.pick.randint(0, 20)
        return pick.choice([
            f"INSERT INTO bare (n, s, doc) VALUES ({n}, {_text(pick, 9)}, {_document(pick)}), ({n}, 'twice', NULL)",
            f"INSERT INTO bare (n, s, doc) VALUES ({n}, NULL, {_document(pick)}), ({n + 1}, NULL, NULL)",
            f"UPDATE bare SET s = {_text(pick, 9)} WHERE n = {n}", f"DELETE FROM bare WHERE n = {n} LIMIT 2"])

    def _pairs(self) -> str:
        pick, a, b = self.pick, self.pick.choice(["'a'", "'B'", "'é'", "'日'"]), self.pick.randint(0, 200)
        return pick.choice([
            f"INSERT INTO pairs VALUES ({a}, {b}, {_text(pick, 20)}) ON DUPLICATE KEY UPDATE v = CONCAT(v, 'x')",
            f"UPDATE IGNORE pairs SET b = b + 1 WHERE a = {a} AND b > {b} ORDER BY b DESC LIMIT 9",
            f"DELETE FROM pairs WHERE a = {a} AND b = {b}",
            f"INSERT IGNORE INTO names (name, n) VALUES ('n{b}', {2**64 - b - 1}), ({a}, {b})",
            f"UPDATE names SET n = n - 1 WHERE name = 'n{b}'", f"DELETE FROM names WHERE n = {b}"])

    _kinds: tuple[Callable[[Traffic], str], ...] = (
        _insert, _insert, _update, _update, _update, _move, _delete, _document, _bare, _pairs, _pairs)
