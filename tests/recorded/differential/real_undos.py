"""Random transactions are undone on real servers, and compared with servers that never had them.

As `python -m tests.recorded.differential.real_undos APPLIED URL…`: on each server, until this many undos were applied
and compared. A URL is as in real_replicas, of a server on this machine whose data is nobody's: the databases `u0`,
`r0`, and so on are dropped. `FIRST:` before the number is the first seed, 0 if it is left out.

Each seed makes several databases, and one log of random transactions in all of them: every image mode, JSON diffs,
foreign keys outside the log, tables without a key, keys that change, TRUNCATE, partitions that are emptied, dropped and
made again. One transaction of each database is undone where the others came after it, as SQL or as events. Another
database has all the others' events, by the server's own programs, and never that one. Whether it must be refused, and
what is there afterwards, undo_model says, which knows nothing but what tables held after each statement.
"""

from __future__ import annotations

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
from tests.recorded.differential.made_divided import DROP
from tests.recorded.differential.made_transactions import Made
from tests.recorded.differential.real_replicas import Server
from tests.recorded.differential.undo_model import MUST, NEVER, Done, Judged, State, judge, state_of

DATABASES, TRANSACTIONS = 8, 12


@dataclass
class Undoing:
    """A database of a seed, and where in the log its transactions are: (begin, end). `chosen` is the one to undo."""

    number: int
    made: Made
    done: list[Done] = field(default_factory=list)
    chosen: int = 0

    @property
    def place(self) -> tuple[int, int]:
        return self.done[self.chosen].begin, self.done[self.chosen].end

    @property
    def keyed(self) -> set[str]:
        return {"p", "c", *(["q"] if self.made.divided.keyed else [])}


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
        undoings = [Undoing(number, one) for number, one in enumerate(made)]
        tables = [one.tables() for one in made]
        for name in "ur":
            server.run(f"SET sql_log_bin = {int(name == 'u')}")
            for one, statements in zip(undoings, tables, strict=True):
                server.run(f"DROP DATABASE IF EXISTS {name}{one.number}")
                server.run(f"CREATE DATABASE {name}{one.number} CHARACTER SET utf8mb4")
                server.run(f"USE {name}{one.number}")
                for statement in statements:
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
                parts, ddl, emptied = of.divided.now, None, choose.random() < 0.03
                if emptied:
                    states = self._transact(["TRUNCATE TABLE k"], one)
                elif choose.random() < 0.2 and (ddl := of.divided.ddl()):
                    states = self._transact([ddl.sql], one)
                else:
                    states = self._transact(of.transaction(), one)
                if (end := self._position()[1]) > begin:
                    one.done.append(Done(begin, end, states, parts, ddl, "k" * emptied))
                    of.divided.now = parts if ddl is None else ddl.after
        end = self._position()[1]
        undoings = [one for one in undoings if one.done]
        for one in undoings:
            ddl = [number for number, done in enumerate(one.done) if done.ddl is not None or done.emptied]
            one.chosen = choose.choice(ddl) if ddl and choose.random() < 0.4 else \
                choose.randrange(max(0, len(one.done) - 4), len(one.done))
        log = str(Path(server.run("SELECT @@log_bin_basename")[0][0]).with_name(file))
        server.run("SET sql_log_bin = 0")
        self._without(log, first, end, undoings)
        local = f"{server.root}{log}"
        with tempfile.TemporaryDirectory() as folder:
            for one in undoings:
                self._judge(seed, one, local, end, Path(folder), choose.choice(["sql", "binlog"]))

    def _transact(self, statements: list[str], one: Undoing | None = None) -> list[State]:
        """What tables hold before the statements, and after each of them."""
        states = [] if one is None else [self._state(one)]
        self.server.run("BEGIN")
        for statement in statements:
            try:
                self.server.run(statement)
            except pymysql.MySQLError:
                continue  # a duplicate, a parent or a partition that does not exist
            states += [] if one is None else [self._state(one)]
        self.server.run("COMMIT")
        return states

    def _state(self, one: Undoing) -> State:
        return {name: state_of(name, self.server.run(f"SELECT * FROM u{one.number}.{name}"), keyed=name in one.keyed)
                for name in "pckq"}

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
        judged = judge(one.done, one.chosen, one.keyed, one.made.divided.now, unique=one.made.has_unique)
        self.counts[f"judged {judged.verdict}"] += 1
        try:
            undone = applier.undo(log, output, start=f"{file}:{begin}", stop=f"{file}:{stop}", until=f"{file}:{end}",
                                  tables=name, format=format)
        except (applier.UndoRefused, applier.SchemaError) as refused:
            self.counts["refused"] += 1
            if judged.verdict == NEVER:
                self._wrong(seed, one, f"refused without a reason: {refused}")
            return
        except applier.ApplierError as error:
            self._wrong(seed, one, str(error))
            return
        if judged.verdict == MUST:
            self._wrong(seed, one, f"not refused: {judged.why}")
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
        self._compare(seed, one, judged, format)
        for check, wanted in undone.checks:
            if int(self.server.run(check)[0][0]) != wanted:
                self._wrong(seed, one, f"{check} is not {wanted}")

    def _compare(self, seed: int, one: Undoing, judged: Judged, format: str) -> None:
        """With what the model says, and with the database that never had it: but where others took rows since that were
        of a partition which they would not have been of."""
        for table, rows in self._state(one).items():
            if rows != (expected := judged.expected[table]):
                self._wrong(seed, one, f"{format}: {table} has {rows.items() - expected.items()}, and not "
                                       f"{expected.items() - rows.items()}")
        chosen, *later = one.done[one.chosen:]
        dropped = chosen.ddl is not None and chosen.ddl.verb == DROP
        for table in "pckq" if not (dropped and any(done.ddl is not None for done in later)) else "pck":
            ours, theirs = (Counter(self.server.run(f"SELECT * FROM {of}{one.number}.{table}")) for of in "ur")
            if ours != theirs:
                self._wrong(seed, one, f"{format}: {table} has {ours - theirs}, and without it {theirs - ours}")
            if table == "q" and self._parts("u", one) != self._parts("r", one):
                self._wrong(seed, one, f"{format}: {self._parts('u', one)}, and without it {self._parts('r', one)}")

    def _parts(self, of: str, one: Undoing) -> set[tuple]:
        return set(self.server.run("SELECT PARTITION_NAME, PARTITION_DESCRIPTION FROM information_schema.PARTITIONS "
                                   f"WHERE TABLE_SCHEMA = '{of}{one.number}' AND TABLE_NAME = 'q'"))

    def _wrong(self, seed: int, one: Undoing, what: str) -> None:
        self.counts["wrong"] += 1
        print(f"{self.server.flavour}, seed {seed}, database {one.number}, of {one.place}: {what[:2000]}", flush=True)


def run(url: str, first: int, wanted: int) -> tuple[str, Counter[str]]:
    """Run seeds on a server until this many undos were applied."""
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
