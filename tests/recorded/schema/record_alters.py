"""Records what real servers make of random ALTERs: `python -m tests.recorded.schema.record_alters URL…`
with mysql://USER@HOST:PORT.

alters.jsonl.gz holds a line for each table's history: {"flavour", "database", "steps": [[statement, what SHOW CREATE
TABLE says after it], …]}. Statements that the server refused are left out.
"""

import gzip
import json
import random
import sys
from pathlib import Path
from urllib.parse import urlsplit

RECORDED = Path(__file__).parent / "alters.jsonl.gz"
TABLES, STEPS = 60, 25

TYPES = ["INT", "BIGINT UNSIGNED", "TINYINT(1)", "SMALLINT UNSIGNED ZEROFILL", "DECIMAL(10,2)", "DOUBLE", "FLOAT",
         "YEAR", "DATE", "TIME(3)", "DATETIME", "TIMESTAMP NULL", "DATETIME(6)", "CHAR(10)", "VARCHAR(50)",
         "VARCHAR(20) CHARACTER SET latin1", "VARCHAR(9) COLLATE utf8mb4_bin", "TINYTEXT", "TEXT",
         "TEXT CHARACTER SET latin1", "MEDIUMTEXT CHARACTER SET utf8mb3", "LONGTEXT", "BINARY(4)", "VARBINARY(30)",
         "BLOB", "TEXT(300)", "ENUM('a','b','it''s')", "SET('x','y')", "JSON", "CHAR(3) CHARACTER SET ucs2", "BOOL"]
DEFAULTS = ["", "", "", " DEFAULT NULL", " NOT NULL", " NOT NULL", " DEFAULT 1", " DEFAULT '1' NOT NULL",
            " COMMENT 'it''s; one'", " DEFAULT (1 + 1)", " UNIQUE", " NULL"]
CHARSETS = ["utf8mb4", "latin1", "utf8mb3", "gbk", "utf8mb4 COLLATE utf8mb4_unicode_ci", "cp1251"]


class Maker:
    """Random statements about a table, given what is in it."""

    def __init__(self, seed: int, flavour: str):
        self.random, self.flavour = random.Random(seed), flavour
        self.columns: list[str] = []
        self.keys: list[str] = []
        self.number = 0

    def create(self) -> str:
        pick = self.random.choice
        columns = [f"c{i} {self.kind()}" for i in range(self.random.randint(2, 5))]
        keys = [f"KEY ({pick(['c0', 'c1'])})"] * self.random.randint(0, 2)
        primary = pick(["id INT NOT NULL PRIMARY KEY", "id BIGINT NOT NULL AUTO_INCREMENT UNIQUE", "id INT"])
        self.number = len(columns)
        return f"CREATE TABLE t ({', '.join([primary, *columns, *keys])}) DEFAULT CHARSET={pick(CHARSETS[:3])}"

    def kind(self) -> str:
        return self.random.choice(TYPES) + self.random.choice(DEFAULTS)

    def new(self) -> str:
        self.number += 1
        return f"{self.random.choice(['c', 'C', 'n'])}{self.number}"

    def old(self) -> str:
        name = self.random.choice(self.columns)
        return self.random.choice([name, f"`{name}`", name.upper()])

    def place(self) -> str:
        return self.random.choice(["", "", "", " FIRST", f" AFTER {self.old()}"])

    def key(self) -> str:
        return self.random.choice(self.keys or ["nothing"])

    def parts(self) -> str:
        part = [self.old() + self.random.choice(["", "", "(5)", " DESC"]) for _ in range(self.random.randint(1, 2))]
        return ", ".join(part)

    def action(self) -> str:
        pick = self.random.choice
        makers = [
            lambda: f"ADD COLUMN {self.new()} {self.kind()}{self.place()}",
            lambda: f"ADD ({self.new()} {self.kind()}, {self.new()} {self.kind()})",
            lambda: f"ADD {self.new()} INT AS (1 + 2) {pick(['STORED', 'VIRTUAL'])}{self.place()}",
            lambda: f"ADD {self.new()} TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP{self.place()}",
            lambda: f"DROP COLUMN {self.old()}", lambda: f"DROP {self.old()}",
            lambda: f"MODIFY {self.old()} {self.kind()}{self.place()}",
            lambda: f"MODIFY COLUMN {self.old()} {self.kind()}{self.place()}",
            lambda: f"CHANGE {self.old()} {self.new()} {self.kind()}{self.place()}",
            lambda: f"RENAME COLUMN {self.old()} TO {self.new()}",
            lambda: f"ALTER {self.old()} SET DEFAULT {pick(['5', chr(39) + '7' + chr(39), 'NULL'])}",
            lambda: f"ALTER COLUMN {self.old()} DROP DEFAULT",
            lambda: f"ADD {pick(['KEY', 'INDEX', 'UNIQUE', 'UNIQUE KEY'])} {pick(['', self.new() + 'k'])} "
                    f"({self.parts()})",
            lambda: f"ADD CONSTRAINT {pick(['', 'cn' + self.new()])} {pick(['UNIQUE', 'PRIMARY KEY'])} "
                    f"({self.parts()})",
            lambda: f"DROP {pick(['KEY', 'INDEX'])} {self.key()}", lambda: "DROP PRIMARY KEY",
            lambda: f"DROP PRIMARY KEY, ADD PRIMARY KEY ({self.parts()})",
            lambda: f"RENAME {pick(['KEY', 'INDEX'])} {self.key()} TO {self.new()}k",
            lambda: f"DEFAULT CHARACTER SET = {pick(CHARSETS)}",
            lambda: pick(["ENGINE=InnoDB", "COMMENT 'a, b'", "AUTO_INCREMENT = 50", "FORCE", "ROW_FORMAT=DYNAMIC"]),
            lambda: f"ADD FULLTEXT KEY ({self.old()})", lambda: f"ADD CHECK ({self.old()} IS NOT NULL OR TRUE)",
            lambda: "ORDER BY id",
        ]
        if self.flavour == "mysql":
            makers += [lambda: f"ALTER INDEX {self.key()} {pick(['VISIBLE', 'INVISIBLE'])}",
                       lambda: f"ALTER {self.old()} SET {pick(['VISIBLE', 'INVISIBLE'])}"]
        else:
            makers += [lambda: f"ADD COLUMN IF NOT EXISTS {pick([self.old(), self.new()])} INT UNIQUE",
                       lambda: f"DROP COLUMN IF EXISTS {pick([self.old(), 'nothing'])}",
                       lambda: f"MODIFY IF EXISTS {pick([self.old(), 'nothing'])} BIGINT{self.place()}",
                       lambda: f"ALTER INDEX {self.key()} {pick(['IGNORED', 'NOT IGNORED'])}"]
        return pick(makers)()

    def statement(self) -> str:
        pick = self.random.choice
        if self.random.random() < 0.15:
            return pick([f"ALTER TABLE t CONVERT TO CHARACTER SET {pick(CHARSETS)}",
                         f"CREATE {pick(['', 'UNIQUE '])}INDEX {self.new()}i ON t ({self.parts()})",
                         f"DROP INDEX {self.key()} ON t"])
        return "ALTER TABLE t " + ", ".join(self.action() for _ in range(pick([1, 1, 2, 3])))


def record(url: str, kind: type[Maker] = Maker, tables: int = TABLES) -> list[dict]:
    """Histories of this many tables on the server at a URL."""
    import pymysql

    place = urlsplit(url)
    histories = []
    with pymysql.connect(host=place.hostname, port=place.port, user=place.username or "root", charset="utf8mb4",
                         password=place.password or "") as connection, connection.cursor() as cursor:
        flavour = "mariadb" if "MariaDB" in connection.get_server_info() else "mysql"
        cursor.execute("SET SESSION sql_mode = '', time_zone = '+00:00'")
        for seed in range(tables):
            cursor.execute("DROP DATABASE IF EXISTS alters")
            collation = " COLLATE utf8mb4_general_ci" * (flavour == "mariadb")
            cursor.execute(f"CREATE DATABASE alters CHARACTER SET utf8mb4{collation}")
            cursor.execute("USE alters")
            histories.append({"flavour": flavour, "steps": _steps(cursor, kind(seed, flavour))})
        cursor.execute("DROP DATABASE alters")
    return histories


def _steps(cursor: object, maker: Maker) -> list[list[str]]:
    import pymysql

    steps: list[list[str]] = []
    while len(steps) < STEPS:
        sql = maker.statement() if steps else maker.create()
        try:
            cursor.execute(sql)
        except pymysql.MySQLError:
            continue
        cursor.execute("SHOW CREATE TABLE t")
        steps.append([sql, cursor.fetchone()[1]])
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_schema = 'alters'")
        maker.columns = [name for (name,) in cursor.fetchall()]
        cursor.execute("SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = 'alters'")
        maker.keys = [name for (name,) in cursor.fetchall()]
    return steps


def write(path: Path, histories: list[dict]) -> None:
    """Write histories, one line each."""
    with gzip.open(path, "wt", compresslevel=9) as file:
        for history in histories:
            file.write(json.dumps(history) + "\n")


if __name__ == "__main__":
    write(RECORDED, [history for url in sys.argv[1:] for history in record(url)])
