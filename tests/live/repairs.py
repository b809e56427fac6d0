"""Repairs of replicas that diverged, on a real server: what `verify --repair` writes makes its rows those of the log.

    python -m tests.live.repairs mysql://root@127.0.0.1:3306 LOGS --client mysql --seeds 1:300 \
        [--binlog "mysqlbinlog --skip-gtids"]

For each seed: tables with random columns, keys and rows are made; LOGS, the directory of the server's binlogs, is
replayed; rows are changed behind the log's back; and the client runs the file, or what a program makes of a file of
events. Then the server has to hold what the snapshot holds, and nothing else may have changed: other tables,
definitions and triggers. The server is used by nobody else, and its binlogs are reset.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import applier
from applier.jobs.guarded_sql.repair import Repair
from applier.jobs.server.connection import ServerAddress
from applier.jobs.server.session import ServerSession

COLUMNS = {
    "INT": lambda r: str(r.randrange(-2**31, 2**31)), "BIGINT UNSIGNED": lambda r: str(r.randrange(2**64)),
    "TINYINT": lambda r: str(r.randrange(-128, 128)), "INT(8) ZEROFILL": lambda r: str(r.randrange(10**6)),
    "DECIMAL(20,6)": lambda r: f"{r.randrange(-10**13, 10**13)}.{r.randrange(10**6):06}",
    "FLOAT": lambda r: repr(r.uniform(-1e6, 1e6)), "DOUBLE": lambda r: repr(r.gauss(0, 1e100)),
    "BIT(11)": lambda r: str(r.randrange(2**11)), "YEAR": lambda r: str(r.choice([0, r.randrange(1901, 2156)])),
    "DATE": lambda r: f"'{r.randrange(1, 10000):04}-{r.randrange(1, 13):02}-{r.randrange(0, 29):02}'",
    "DATETIME(3)": lambda r: f"'{r.randrange(1000, 10000)}-01-02 03:04:05.{r.randrange(1000):03}'",
    "TIMESTAMP NULL": lambda r: f"'20{r.randrange(10, 38)}-0{r.randrange(1, 10)}-11 12:13:14'",
    "TIME(6)": lambda r: f"'-{r.randrange(838)}:01:02.{r.randrange(10**6):06}'",
    "VARCHAR(40) CHARACTER SET latin1": lambda r: _text(r, "aZ09 é'\\\"ÿ", 40),
    "VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin": lambda r: _text(r, "aZ 'é\\表😀\n\t%_", 60),
    "CHAR(9)": lambda r: _text(r, "abcé", 9), "TEXT": lambda r: _text(r, "ab é😀'\\", 300),
    "VARBINARY(30)": lambda r: f"x'{r.randbytes(r.randrange(30)).hex()}'",
    "BINARY(7)": lambda r: f"x'{r.randbytes(r.randrange(8)).hex()}'", "BLOB": lambda r: f"x'{r.randbytes(90).hex()}'",
    "ENUM('a','é','c')": lambda r: r.choice(["'a'", "'é'", "'c'"]), "SET('x','y','z')": lambda r: str(r.randrange(8)),
    "JSON": lambda r: r.choice(["'{\"a\": 1.5, \"b\": [null, \"é\"]}'", f"'[{r.random()}]'", "'\"x\"'"]),
    "POINT": lambda r: f"POINT({r.randrange(90)},{r.random()})",
}
"""Types, and what makes a literal of each."""
_KEYS = ("", "", "PRIMARY KEY ({0})", "PRIMARY KEY ({0})", "PRIMARY KEY ({0}, {1})", "UNIQUE KEY ({0})",
         "PRIMARY KEY ({0}), UNIQUE KEY u ({1})")
_MODE = "SET sql_mode = '', time_zone = '+00:00', foreign_key_checks = 0"


def _text(r: random.Random, letters: str, most: int) -> str:
    text = "".join(r.choice(letters) for _ in range(r.randrange(most)))
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


class _Tables:
    """A seed's tables: their columns, and what makes rows of them."""

    def __init__(self, seed: int) -> None:
        self.random, self.database = random.Random(seed), f"repair_{seed}"
        self.columns = {f"t{n}": [self.random.choice(sorted(COLUMNS)) for _ in range(self.random.randrange(2, 8))]
                        for n in range(3)}

    def creates(self) -> Iterator[str]:
        """The statements that make them, and tables and a trigger beside them."""
        yield f"CREATE DATABASE {self.database}"
        yield f"USE {self.database}"
        for name, types in self.columns.items():
            key = self.random.choice(_KEYS).format("`k 1`", "k2")
            generated = self.random.choice(["", ", g INT AS (k2 + 1) STORED", ", v INT AS (k2 * 2) VIRTUAL"])
            columns = "".join(f", `c{n}` {type}" for n, type in enumerate(types))
            yield (f"CREATE TABLE {name} (`k 1` {self.random.choice(['INT', 'VARCHAR(30)', 'BIGINT UNSIGNED'])} "
                   f"NOT NULL, k2 INT NOT NULL{columns}{generated}{', ' + key if key else ''}) COMMENT 'kept'")
        yield "CREATE TABLE bystander (id INT PRIMARY KEY, n INT)"
        yield "CREATE TRIGGER counts AFTER INSERT ON bystander FOR EACH ROW SET @n = 1"
        yield "INSERT INTO bystander VALUES (1, 1), (2, 2)"

    def insert(self, name: str, rows: int) -> str:
        """An INSERT of random rows; some have the key of others, and are skipped or replaced."""
        r, names = self.random, [f"`c{n}`" for n in range(len(self.columns[name]))]
        values = ", ".join(f"({r.randrange(400)}, {r.randrange(100)}" + "".join(
            ", " + ("NULL" if r.random() < .1 and type != "POINT NOT NULL" else COLUMNS[type](r))
            for type in self.columns[name]) + ")" for _ in range(rows))
        verb = r.choice(["INSERT IGNORE", "REPLACE"])
        return f"{verb} INTO {name} (`k 1`, k2, {', '.join(names)}) VALUES {values}"

    def diverging(self) -> Iterator[str]:
        """Statements that change rows."""
        r = self.random
        for name, types in self.columns.items():
            for _ in range(r.randrange(4)):
                number = r.randrange(len(types))
                literal = r.choice(["NULL", COLUMNS[types[number]](r)])
                yield r.choice([
                    self.insert(name, r.randrange(1, 9)), f"DELETE FROM {name} WHERE k2 % 9 = {r.randrange(9)}",
                    f"UPDATE IGNORE {name} SET `c{number}` = {literal} WHERE k2 % 7 = {r.randrange(7)}",
                    f"UPDATE IGNORE {name} SET k2 = k2 + 1 WHERE k2 % 5 = {r.randrange(5)} LIMIT 3",
                    f"DELETE FROM {name} LIMIT 1"])


class _Lab:
    """The server that the tables are on."""

    def __init__(self, url: str, logs: str, client: str, binlog: str) -> None:
        address = ServerAddress.parse(url, None)
        self._session = ServerSession(address, "or leave it", {})
        self.url, self.logs, self.client, self.binlog = url, logs, shlex.split(client), shlex.split(binlog)

    def run(self, statements: Sequence[str], *, passes_over_errors: bool = False) -> None:
        """Run statements."""
        for statement in statements:
            try:
                self._session.run(statement)
            except applier.ApplierError:
                if not passes_over_errors:
                    raise

    def reset(self) -> None:
        """Begin a new log."""
        self.run(["RESET MASTER" if self._session.flavour == "mariadb" else "RESET BINARY LOGS AND GTIDS"])

    def seen(self, database: str) -> list[Any]:
        """What a repair must not change."""
        def rows(statement: str, columns: int) -> Any:
            return self._session.ask(statement, columns, list)

        return [rows(f"SHOW CREATE TABLE {database}.{name}", 2) for name in ("t0", "t1", "t2")] + [
            rows(f"SELECT * FROM {database}.bystander", 2),
            rows(f"SELECT TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE "
                 f"TRIGGER_SCHEMA = '{database}'", 2)]


def repair(lab: _Lab, seed: int) -> int:
    """Make, change and repair a seed's tables; returns how many rows differed."""
    tables = _Tables(seed)
    lab.reset()
    lab.run([_MODE, f"DROP DATABASE IF EXISTS {tables.database}", *tables.creates()])
    lab.run([tables.insert(name, 60) for name in tables.columns for _ in range(2)], passes_over_errors=True)
    before = lab.seen(tables.database)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        names = [f"{tables.database}.{name}" for name in tables.columns]
        snapshot = applier.replay(lab.logs, f"{folder}/now", tables=names).snapshot
        lab.run(["SET sql_log_bin = 0", *tables.diverging(), "SET sql_log_bin = 1"], passes_over_errors=True)
        found = applier.verify(snapshot, server=lab.url, for_repair=True)
        differing = 0
        if not found.same:
            made = found.repair()
            differing = sum(map(sum, made.rows.values()))
            ran = subprocess.run([*lab.client, "--init-command=SET sql_log_bin = 0"], input=_text_of(made, lab, folder),
                                 capture_output=True, check=False)
            assert ran.returncode == 0, f"seed {seed}: {ran.stderr.decode()[-400:]}"
            again = applier.verify(snapshot, server=lab.url)
            assert again.same, f"seed {seed}: {[table.full_name for table in again.different]} still differ"
        assert lab.seen(tables.database) == before, f"seed {seed}: more than rows has changed"
    lab.run([f"DROP DATABASE {tables.database}"])
    return differing


def _text_of(made: Repair, lab: _Lab, folder: str) -> bytes:
    """What a client is to read."""
    if not lab.binlog:
        return b"".join(made.statements())
    made.write_events(f"{folder}/repair.000001")
    with open(f"{folder}/repair.000001", "rb") as file:
        return subprocess.run([*lab.binlog, "-"], stdin=file, capture_output=True, check=True).stdout


def main() -> None:
    """Run the seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", help="mysql://USER@HOST:PORT; the password is in MYSQL_PWD")
    parser.add_argument("logs", help="the directory of its binlogs")
    parser.add_argument("--client", required=True, help="a client's command that reaches the server")
    parser.add_argument("--binlog", default="", help="repair by events, which this program makes statements of")
    parser.add_argument("--seeds", default="1:300", help="FIRST:LAST")
    given = parser.parse_args()
    lab, total = _Lab(given.server, given.logs, given.client, given.binlog), [0, 0, 0]
    first, last = map(int, given.seeds.split(":"))
    for seed in range(first, last + 1):
        differing = repair(lab, seed)
        total = [total[0] + 1, total[1] + bool(differing), total[2] + differing]
        if seed % 20 == 0:
            print(f"seed {seed}: {total[1]} of {total[0]} diverged, {total[2]:,} rows repaired", flush=True)
    print(f"{total[1]} of {total[0]} diverged, {total[2]:,} rows repaired, all equal")


if __name__ == "__main__":
    main()
