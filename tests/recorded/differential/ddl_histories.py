"""Random histories of DDL between row changes, judged by real servers.

As `python -m tests.recorded.differential.ddl_histories`:

    check FIRST LAST URL…    compare the seeds of a range, keep what differs
    record URL=FIRST-LAST…   write ddl_recorded.tar.xz, which tests replay

URLs are those of real_replicas.py; the databases h0, h0b, h1, … of the server are dropped. A log has TOGETHER histories
side by side, each in a database of its own (and at times one beside it), STEPS long; some steps of all of them are a
round. A folder has binlog.NNNNNN and rounds.jsonl, one line per round: {"position": where the log stands after it,
"did": {database: statements}, "tables": {"DB.TABLE": [columns, rows] as in support/real_server.py, or null: gone},
"past": the same of all rows of system-versioned tables}, of the tables that are not as before it.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.recorded.differential.made_ddl import Column, History, quoted
from tests.recorded.differential.made_partitions import Parted
from tests.recorded.differential.real_replicas import Server
from tests.recorded.differential.server_cells import cell

HERE = Path(__file__).parent
RECORDED = HERE / "ddl_recorded.tar.xz"
TOGETHER, STEPS = 16, 14
ENCODINGS = {"latin1": "cp1252", "gbk": "gbk"}


class Recorder:
    """A log of some histories, which `make` makes, made on a server; `steps` of each are a round."""

    def __init__(self, server: Server, seeds: range, make: Callable[[int, str, str], History] = History,
                 steps: int = 1):
        self._server, self._seen, self._encoding, self._steps = server, {}, "utf-8", steps
        self.histories = [make(seed, server.flavour, f"h{number}") for number, seed in enumerate(seeds)]

    def record(self, folder: Path) -> None:
        """Make the folder's files."""
        server = self._server
        self._drop()
        server.run("FLUSH BINARY LOGS")
        log = server.run("SHOW BINARY LOGS")[-1][0]
        work = server.connect()
        with work.cursor() as cursor, open(folder / "rounds.jsonl", "w") as file:
            cursor.execute("SET sql_log_bin = 1, time_zone = '+02:00'")
            if server.flavour == "mariadb":
                cursor.execute("SET system_versioning_alter_history = KEEP")
            for history in self.histories:
                cursor.execute(f"CREATE DATABASE {history.database} CHARACTER SET utf8mb4")
            for _ in range(STEPS // self._steps):
                did = {history.database: [] for history in self.histories}
                for history in self.histories * self._steps:
                    did[history.database] += self.step(cursor, history)
                position = server.run("SHOW BINARY LOGS")[-1][1]
                file.write(json.dumps({"position": int(position), "did": did, **self._changed()}) + "\n")
        work.close()
        path = Path(server.run("SELECT @@log_bin_basename")[0][0]).with_name(log)
        server.run("FLUSH BINARY LOGS")
        shutil.copyfile(server.root + str(path), folder / log)
        self._drop()

    def _drop(self) -> None:
        for history in self.histories:
            for database in (history.database, history.database + "b"):
                self._server.run(f"DROP DATABASE IF EXISTS {database}")

    def step(self, cursor: object, history: History) -> list[str]:
        """The statements that the server took, of the first step of which it takes any that shows."""
        import pymysql

        done: list[str] = []
        if self._server.run(f"SHOW DATABASES LIKE '{history.database}'"):
            cursor.execute(f"USE {history.database}")
        for _ in range(8):
            for statement in history.step():
                if statement.startswith("SET NAMES"):
                    self._encoding = ENCODINGS.get(statement.rpartition(" ")[2], "utf-8")
                try:
                    cursor.execute(statement.encode(self._encoding))
                    done.append(statement)
                except (pymysql.MySQLError, UnicodeEncodeError):
                    continue
            if any(not statement.startswith(("SET", "BEGIN", "COMMIT")) for statement in done):
                break
        self.look(history)
        for table in list(history.tables):
            if self._has_zero_dates(history, table):  # null in a snapshot: what is made of them is not followed
                history.left.add(table)
        history.left &= history.tables.keys()
        for table in history.left:
            history.tables.pop(table)
        return done

    def _has_zero_dates(self, history: History, table: str) -> bool:
        if table in history.left:
            return True
        dates = [column.name for column in history.tables[table] if column.kind.startswith(("date", "timestamp"))]
        where = " OR ".join(f"CAST({quoted(name)} AS CHAR) LIKE '%-00%'" for name in dates)
        return bool(dates and self._server.run(f"SELECT 1 FROM {_name(history.database, table)} WHERE {where} LIMIT 1"))

    def look(self, history: History) -> None:
        run, where = self._server.run, f"WHERE c.table_schema = '{history.database}'"
        history.tables, history.keys, history.parted = {}, {}, {}
        for table, name, kind, generated in run(
                "SELECT c.table_name, column_name, column_type, COALESCE(generation_expression, '') FROM "
                "information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) "
                f"{where} AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') "
                "ORDER BY c.table_name, ordinal_position"):
            history.tables.setdefault(table, []).append(Column(name, kind, generated))
        for table, name in run(f"SELECT DISTINCT table_name, index_name FROM information_schema.statistics c {where} "
                               "ORDER BY 1, 2"):
            history.keys.setdefault(table, []).append(quoted(name))
        for table, method, by, name, values, part in run(
                "SELECT table_name, partition_method, partition_expression, partition_name, partition_description, "
                f"subpartition_name FROM information_schema.partitions c {where} AND partition_method <> 'SYSTEM_TIME' "
                "ORDER BY table_name, partition_ordinal_position, subpartition_ordinal_position"):
            parted = history.parted.setdefault(table, Parted(method, by or ""))
            if name not in parted.names:
                parted.names.append(name)
                parted.values.append(values or "")
            if part is not None:
                parted.subpartitions.append(part)
        history.versioned = {table for table, in run("SELECT table_name FROM information_schema.tables c "
                                                     f"{where} AND table_type = 'SYSTEM VERSIONED'")}

    def _changed(self) -> dict[str, dict[str, list | None]]:
        """The tables that are not as they were, and the pasts."""
        held: dict[tuple[str, str], list] = {}
        for history in self.histories:
            for table in [*history.tables, *history.left]:
                held["tables", f"{history.database}.{table}"] = self.held(history.database, table)
            for table in history.versioned:
                held["past", f"{history.database}.{table}"] = self.held(history.database, table, past=True)
            beside = history.database + "b"
            for table, in self._server.run("SELECT table_name FROM information_schema.tables WHERE table_schema = "
                                           f"'{beside}' AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"):
                held["tables", f"{beside}.{table}"] = self.held(beside, table)
        changed = {name: what for name, what in held.items() if self._seen.get(name) != what}
        changed |= {name: None for name in self._seen if name not in held}
        self._seen = held
        return {kind: {name: what for (of, name), what in changed.items() if of == kind} for kind in ("tables", "past")}

    def held(self, database: str, table: str, *, past: bool = False) -> list:
        columns = [[name, kind] for name, kind in self._server.run(
            f"SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = '{database}' AND "
            f"table_name = {_string(table)} AND extra NOT LIKE '%VIRTUAL%' ORDER BY ordinal_position")]
        if past and not self._server.run("SELECT 1 FROM information_schema.columns WHERE generation_expression = "
                                         f"'ROW START' AND table_schema = '{database}' AND table_name = "
                                         f"{_string(table)}"):
            columns += [["row_start", "timestamp(6)"], ["row_end", "timestamp(6)"]]
        shown = [f"VECTOR_TO_STRING({quoted(name)})" if kind.startswith("vector") else
                 quoted(name) + " + 0e0" * kind.startswith(("float", "double")) for name, kind in columns] or ["'no'"]
        rows = self._server.run(f"SELECT {', '.join(shown)} FROM {_name(database, table)}"
                                f"{' FOR SYSTEM_TIME ALL' * past}")
        return [columns, sorted(([cell(kind, value) for (_, kind), value in zip(columns, row, strict=bool(columns))]
                                 for row in rows), key=repr)]


def _name(database: str, table: str) -> str:
    return f"{database}.{quoted(table)}"


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def check(first: int, last: int, urls: list[str], make: Callable[[int, str, str], History] = History,
          steps: int = 1) -> int:
    """Compare fresh histories; how many logs differ."""
    from tests.recorded.differential.judged_ddl import ALL_WAYS, judge

    wrong = 0
    for url in urls:
        server = Server(url)
        refused: Counter = Counter()
        n = 0
        for seed in range(first, last + 1, TOGETHER):
            folder = Path(tempfile.mkdtemp(prefix=f"{make.__name__}-{server.flavour}-{seed}-"))
            Recorder(server, range(seed, min(seed + TOGETHER, last + 1)), make, steps).record(folder)
            verdict = judge(folder, folder, ALL_WAYS)
            n += TOGETHER
            refused.update(verdict.refused.values())
            if verdict.wrong:
                wrong += 1
                print(f"{server.flavour} seeds from {seed}, kept in {folder}:", *verdict.wrong, sep="\n  ", flush=True)
            else:
                shutil.rmtree(folder)
        print(f"{server.flavour}: {sum(refused.values())} of {n} histories were refused at some statement:")
        for why, count in refused.most_common():
            print(f"  {count} x {why}", flush=True)
    return wrong


def record_all(words: list[str], make: Callable[[int, str, str], History] = History, steps: int = 1,
               path: Path = RECORDED) -> None:
    with tarfile.open(path, "w:xz", preset=9) as archive, tempfile.TemporaryDirectory() as temporary:
        for word in words:
            url, _, seeds = word.rpartition("=")
            server, (first, last) = Server(url), map(int, seeds.split("-"))
            for seed in range(first, last + 1, TOGETHER):
                folder = Path(temporary) / f"{server.flavour}-{seed}"
                folder.mkdir()
                Recorder(server, range(seed, min(seed + TOGETHER, last + 1)), make, steps).record(folder)
                for file in sorted(folder.iterdir()):
                    entry, data = tarfile.TarInfo(str(file.relative_to(temporary))), file.read_bytes()
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"] and len(sys.argv) > 4:
        sys.exit(bool(check(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
    if sys.argv[1:2] == ["record"] and len(sys.argv) > 2:
        sys.exit(record_all(sys.argv[2:]))
    sys.exit(__doc__)
