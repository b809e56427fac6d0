"""Random transactions are undone on real servers, and compared with servers that never had them.

As `python -m tests.recorded.differential.real_undos APPLIED URL…`: on each server, until so many undos were applied and
compared. A URL is as in real_replicas, of a server on this machine whose data is nobody's: the databases `u0`, `r0`,
and so on are dropped. `FIRST:` before the number is the first seed, 0 if it is left out.

Each seed makes several databases, and one log of random transactions in all of them: every image mode, JSON diffs,
foreign keys below the log, tables without a key, keys that change, TRUNCATE. One transaction of each database is undone
where the others came after it, as SQL or as events. Another database has all the others' events, by the server's own
programs, and never that one. A refusal must name rows, and is wrong if nothing came after the transaction.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pymysql

import applier
from tests.recorded.differential.real_replicas import Server

DATABASES, TRANSACTIONS = 8, 12


@dataclass
class Undoing:
    """A database of a seed, and where in the log its transactions are: (begin, end). `chosen` is the one to undo."""

    number: int
    statements: list[str]
    places: list[tuple[int, int]] = field(default_factory=list)
    chosen: int = 0

    @property
    def place(self) -> tuple[int, int]:
        return self.places[self.chosen]


class Made:
    """Random tables, and random statements about them."""

    def __init__(self, choose: random.Random, flavour: str):
        self.choose, self.is_mysql = choose, flavour == "mysql"
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
            f"CREATE TABLE k (n INT, s VARCHAR(9), j {document})"]

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
                f"INSERT INTO k SELECT n, 'k', '{self.document()}' FROM p"]

    def transaction(self) -> list[str]:
        return [self.statement() for _ in range(self.choose.randint(1, 4))]

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


class Rounds:
    """What a server's rounds showed."""

    def __init__(self, url: str):
        self.server = Server(url)
        self.counts: Counter[str] = Counter()

    def run(self, seed: int) -> None:
        """The databases of a seed."""
        server, choose = self.server, random.Random(seed)
        made = [Made(choose, server.flavour) for _ in range(DATABASES)]
        server.run("SET sql_log_bin = 1")
        server.run("FLUSH BINARY LOGS")
        undoings = [Undoing(number, one.tables()) for number, one in enumerate(made)]
        for name in "ur":
            server.run(f"SET sql_log_bin = {int(name == 'u')}")
            for one in undoings:
                server.run(f"DROP DATABASE IF EXISTS {name}{one.number}")
                server.run(f"CREATE DATABASE {name}{one.number} CHARACTER SET utf8mb4")
                server.run(f"USE {name}{one.number}")
                for statement in one.statements:
                    server.run(statement)
        server.run("SET sql_log_bin = 1")
        file, first = self._position()
        for one, of in zip(undoings, made, strict=True):
            server.run(f"USE u{one.number}")
            self._transact(of.first())
        for _ in range(TRANSACTIONS):
            for one, of in zip(undoings, made, strict=True):
                begin = self._position()[1]
                server.run(of.session())
                server.run(f"USE u{one.number}")
                self._transact(["TRUNCATE TABLE k"] if choose.random() < 0.03 else of.transaction())
                if (end := self._position()[1]) > begin:
                    one.places.append((begin, end))
        end = self._position()[1]
        undoings = [one for one in undoings if one.places]
        for one in undoings:
            one.chosen = choose.randrange(max(0, len(one.places) - 4), len(one.places))
        log = str(Path(server.run("SELECT @@log_bin_basename")[0][0]).with_name(file))
        server.run("SET sql_log_bin = 0")
        self._without(log, first, end, undoings)
        local = f"{server.root}{log}"
        with tempfile.TemporaryDirectory() as folder:
            for one in undoings:
                self._judge(seed, one, local, end, Path(folder), choose.choice(["sql", "binlog"]))

    def _transact(self, statements: list[str]) -> None:
        self.server.run("BEGIN")
        for statement in statements:
            try:
                self.server.run(statement)
            except pymysql.MySQLError:
                continue  # a duplicate, a parent that is not there
        self.server.run("COMMIT")

    def _position(self) -> tuple[str, int]:
        row = self.server.run("SHOW BINARY LOG STATUS" if self.server.flavour == "mysql" else "SHOW MASTER STATUS")[0]
        return row[0], int(row[1])

    def _without(self, log: str, first: int, end: int, undoings: list[Undoing]) -> None:
        """Apply all events but those of the chosen transactions to the databases that never had these."""
        server, text, begin = self.server, b"", first
        words = [f"--rewrite-db=u{one.number}->r{one.number}" for one in undoings]
        words += ["--skip-gtids"] if server.flavour == "mysql" else []
        for start, stop in [*sorted(one.place for one in undoings), (end, end)]:
            if start > begin:
                done = server.program("mysqlbinlog", "--no-defaults", "--disable-log-bin", *words,
                                      f"--start-position={begin}", f"--stop-position={start}", log)
                if done.returncode:
                    raise RuntimeError(done.stderr.decode())
                text += done.stdout
            begin = stop
        server.program("mysql", *server.address, "--force", "--binary-mode", text=text)

    def _judge(self, seed: int, one: Undoing, log: str, end: int, folder: Path, format: str) -> None:
        """Undo, apply and compare one."""
        name, file = f"u{one.number}", Path(log).name
        output = folder / f"{name}.undo.000001"
        begin, stop = one.place
        try:
            undone = applier.undo(log, output, start=f"{file}:{begin}", stop=f"{file}:{stop}", until=f"{file}:{end}",
                                  tables=name, format=format)
        except applier.UndoRefused as refused:
            self.counts["refused"] += 1
            if one.chosen == len(one.places) - 1 or not refused.conflicts:
                self._wrong(seed, one, f"refused without a reason: {refused}")
            return
        except applier.ApplierError as error:
            self._wrong(seed, one, str(error))
            return
        text = output.read_bytes()
        if format == "binlog":
            place = Path(f"{self.server.root}/tmp/{folder.name}-{output.name}")
            place.write_bytes(text)
            words = ["--skip-gtids"] if self.server.flavour == "mysql" else []
            text = self.server.program("mysqlbinlog", "--no-defaults", "--disable-log-bin", *words,
                                       f"/tmp/{place.name}").stdout
            place.unlink()
        else:
            text = b"SET sql_log_bin = 0;\n" + text
        applied = self.server.program("mysql", *self.server.address, "--binary-mode", text=text)
        if applied.returncode:
            self._wrong(seed, one, f"{format}: {applied.stderr.decode()}")
            return
        self.counts["applied"] += 1
        self.counts["rows"] += undone.rows
        for table in "pck":
            ours, theirs = (Counter(self.server.run(f"SELECT * FROM {of}{one.number}.{table}")) for of in "ur")
            if ours != theirs:
                self._wrong(seed, one, f"{format}: {table} has {ours - theirs}, and without it {theirs - ours}")
        for check, wanted in undone.checks:
            if int(self.server.run(check)[0][0]) != wanted:
                self._wrong(seed, one, f"{check} is not {wanted}")

    def _wrong(self, seed: int, one: Undoing, what: str) -> None:
        self.counts["wrong"] += 1
        print(f"{self.server.flavour}, seed {seed}, database {one.number}, of {one.place}: {what[:2000]}", flush=True)


def run(url: str, first: int, wanted: int) -> tuple[str, Counter[str]]:
    """Run seeds on a server until so many undos were applied."""
    rounds, seed = Rounds(url), first
    while rounds.counts["applied"] < wanted:
        rounds.run(seed)
        seed += 1
    return f"{rounds.server.flavour}, seeds {first} to {seed - 1}", rounds.counts


def main(words: list[str]) -> int:
    """Say what was found; 1 if something was wrong."""
    first, wanted = re.fullmatch(r"(?:(\d+):)?(\d+)", words[0]).groups()
    with ProcessPoolExecutor(len(words) - 1) as pool:
        found = list(pool.map(run, words[1:], [int(first or 0)] * (len(words) - 1), [int(wanted)] * (len(words) - 1)))
    for name, counts in found:
        print(f"{name}: {dict(counts)}")
    return int(any(counts["wrong"] for _, counts in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
