"""Random replicas, judged by real servers.

As `python -m tests.recorded.differential.real_replicas`:

    check FIRST LAST URL…     compare the seeds of a range, by both routes
    record URL=FIRST-LAST…    write recorded.tar.xz, which the tests replay
    children check|record …   the same of made_children, children_recorded
    generated check|record …  the same of made_generated, generated_recorded

A URL is mysql://USER@HOST:PORT or mariadb://…, of a server on this machine whose data is nobody's: the database `d` is
dropped, and global settings change. It logs in row format, MySQL with gtid_mode=OFF. For a server in a chroot, its root
comes after the URL and a "+". A case's tables are made twice on the server: as the source, whose log is kept, and as
the replica that `mysqlbinlog | mysql` applies it to. A folder of a case has binlog.NNNNNN, target.sql (mysqldump's),
case.json {"server", "exec_mode", "type_conversions" that the replica is allowed, "errno": None or the error at which it
stopped} and expected/ (real_server.py): what the replica held in the end, or before the transaction at which
it stopped.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from tests.recorded.differential.made_children import Children
from tests.recorded.differential.made_generated import Generated
from tests.recorded.differential.made_tables import Maker
from tests.recorded.differential.server_cells import cell

HERE = Path(__file__).parent
RECORDED, CHILDREN = HERE / "recorded.tar.xz", HERE / "children_recorded.tar.xz"
GENERATED = HERE / "generated_recorded.tar.xz"
OPTIONS = ["--no-defaults", "--protocol=tcp"]


class Server:
    """A server, by its URL, and its programs."""

    def __init__(self, url: str):
        url, _, self.root = url.partition("+")
        self.place = urlsplit(url)
        self.flavour = self.place.scheme
        self.connection = self.connect()

    def connect(self):
        import pymysql

        connection = pymysql.connect(host=self.place.hostname, port=self.place.port, user=self.place.username,
                                     password=self.place.password or "", charset="utf8mb4", autocommit=True, conv={})
        with connection.cursor() as cursor:
            cursor.execute("SET sql_mode = '', time_zone = '+00:00', sql_log_bin = 0")
        return connection

    def run(self, sql: str) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def program(self, name: str, *words: str, text: bytes = b"") -> subprocess.CompletedProcess:
        if self.flavour == "mariadb":
            name = {"mysql": "mariadb", "mysqlbinlog": "mariadb-binlog", "mysqldump": "mariadb-dump"}[name]
        command = ["chroot", self.root] * bool(self.root) + [name, *words]
        return subprocess.run(command, input=text, capture_output=True)

    @property
    def address(self) -> list[str]:
        password = [f"--password={self.place.password}"] if self.place.password else []
        return [*OPTIONS, f"--host={self.place.hostname}", f"--port={self.place.port}", f"--user={self.place.username}",
                *password]

    def new_tables(self, statements: list[str]) -> None:
        self.run("DROP DATABASE IF EXISTS d")
        self.run("CREATE DATABASE d CHARACTER SET utf8mb4")
        self.run("USE d")
        for statement in statements:
            self.run(statement)

    def logged(self, work: list[list[str]]) -> str:
        """Do work; the path of the binlog that has it, as the server sees it."""
        import pymysql

        self.run("FLUSH BINARY LOGS")
        log = self.run("SHOW BINARY LOGS")[-1][0]
        self.run("SET sql_log_bin = 1")
        for transaction in work:
            self.run("BEGIN")
            for statement in transaction:
                try:
                    self.run(statement)
                except pymysql.MySQLError:  # a duplicate: the source refuses some statements too
                    continue
            self.run("COMMIT")
        self.run("SET sql_log_bin = 0, sql_mode = ''")
        self.run("FLUSH BINARY LOGS")
        return str(Path(self.run("SELECT @@log_bin_basename")[0][0]).with_name(log))

    def dump(self) -> bytes:
        done = self.program("mysqldump", *self.address, "--databases", "d", "--hex-blob", "--skip-comments",
                            "--skip-add-locks", "--skip-disable-keys", "--skip-triggers")
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout

    def apply(self, log: str, idempotent: bool, conversions: list[str]) -> int | None:
        """Apply a log with the server's own programs; None, or the number of the error that stopped it."""
        words = []
        if self.flavour == "mysql":
            words = ["--idempotent"] if idempotent else []
            self.run(f"SET GLOBAL replica_type_conversions = '{','.join(conversions)}'")
        else:
            self.run(f"SET GLOBAL slave_type_conversions = '{','.join(conversions)}'")
            self.run(f"SET GLOBAL slave_exec_mode = '{'IDEMPOTENT' if idempotent else 'STRICT'}'")
        text = self.program("mysqlbinlog", "--no-defaults", "--disable-log-bin", *words, log)
        if text.returncode:
            raise RuntimeError(text.stderr.decode())
        applied = self.program("mysql", *self.address, text=text.stdout)
        return int(re.search(r"ERROR (\d+)", applied.stderr.decode())[1]) if applied.returncode else None

    def held(self) -> dict[str, str]:
        """The tables as files of expected/, by name."""
        self.run("USE d")
        files = {}
        for (table,) in self.run("SHOW TABLES"):
            columns = [list(row) for row in self.run(
                "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = 'd' AND "
                f"table_name = '{table}' AND extra NOT LIKE '%VIRTUAL%' ORDER BY ordinal_position")]
            rows = self.run(f"SELECT {', '.join(f'`{name}`' for name, _ in columns)} FROM {table}")
            lines = [json.dumps([cell(kind, value) for (_, kind), value in zip(columns, row, strict=True)])
                     for row in rows]
            files[f"d.{table}.jsonl"] = "\n".join([json.dumps(columns), *lines]) + "\n"
        return files


def record(server: Server, seed: int, folder: Path, make: Callable[[int, str], Maker] = Maker) -> None:
    """Make the case of a seed, as `make` has it."""
    made = make(seed, server.flavour)
    server.new_tables(made.source)
    log = server.logged(made.work)
    server.new_tables(made.replica)
    (folder / "expected").mkdir(parents=True)
    (folder / "target.sql").write_bytes(server.dump())
    shutil.copyfile(server.root + log, folder / Path(log).name)
    errno = server.apply(log, made.idempotent, made.conversions)
    for name, text in server.held().items():
        (folder / "expected" / name).write_text(text)
    if errno == 1105:  # so a BINLOG statement of MySQL tells what a replica tells as
        errno = 1677
    about = {"server": server.flavour, "exec_mode": "idempotent" if made.idempotent else "strict", "errno": errno,
             "type_conversions": [name.lower() for name in made.conversions]}
    (folder / "case.json").write_text(json.dumps(about) + "\n")
    (folder / "made.sql").write_text(";\n".join(
        [*made.source, "", *made.replica, "", *(statement for group in made.work for statement in ["BEGIN", *group])]))


def check(first: int, last: int, urls: list[str], make: Callable[[int, str], Maker] = Maker) -> int:
    """Compare fresh cases; how many differ."""
    from tests.recorded.differential.judged import disagreement

    wrong = 0
    for url in urls:
        server = Server(url)
        for seed in range(first, last + 1):
            folder = Path(tempfile.mkdtemp(prefix=f"{server.flavour}-{seed}-"))
            record(server, seed, folder / "case", make)
            try:
                lines = disagreement(folder / "case", folder)
            except Exception:
                lines = traceback.format_exc().splitlines()[-3:]
            if lines:
                wrong += 1
                print(f"{server.flavour} seed {seed}, kept in {folder}:", *lines, sep="\n  ", flush=True)
            else:
                shutil.rmtree(folder)
    return wrong


def record_all(words: list[str], make: Callable[[int, str], Maker] = Maker, path: Path = RECORDED) -> None:
    with tarfile.open(path, "w:xz", preset=9) as archive, tempfile.TemporaryDirectory() as temporary:
        for word in words:
            url, _, seeds = word.rpartition("=")
            server, (first, last) = Server(url), map(int, seeds.split("-"))
            for seed in range(first, last + 1):
                folder = Path(temporary) / f"{server.flavour}-{seed}"
                record(server, seed, folder, make)
                (folder / "made.sql").unlink()
                for file in sorted(folder.rglob("*.*")):
                    entry, data = tarfile.TarInfo(str(file.relative_to(temporary))), file.read_bytes()
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    kinds = {"children": (Children, CHILDREN), "generated": (Generated, GENERATED)}
    maker, recorded = kinds.get("".join(sys.argv[1:2]), (Maker, RECORDED))
    verb, *words = sys.argv[1 + (maker is not Maker):] or [""]
    if verb == "check" and len(words) > 2:
        sys.exit(bool(check(int(words[0]), int(words[1]), words[2:], maker)))
    if verb == "record" and words:
        sys.exit(record_all(words, maker, recorded))
    sys.exit(__doc__)
