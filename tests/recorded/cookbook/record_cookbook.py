"""Records what the cookbook's pages need beside the demo archive: the day after it, and a replica that diverged.

    python -m tests.recorded.cookbook.record_cookbook --mysql COMMAND --mysqlbinlog COMMAND --mysqldump COMMAND DATADIR

The commands are the clients of a fresh MySQL 9 server (root, no password, GTIDs on, binary logs named binlog.*), with
all that they need to connect; DATADIR is its data directory. Writes beside this file:

- binlog.000004: the log continues the next morning, with a DELETE without its WHERE;
- replica.sql.gz: a dump of a replica that stands within the demo archive, and in which somebody wrote;
- sums.tsv, rows.tsv.gz: what it answers to `applier verify`.
"""

import argparse
import gzip
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import applier
from tests.recorded.archives.demo_digest import ARCHIVE

HERE = Path(__file__).parent
SERVER = "20810cc3-e548-11f1-a5e4-02fc00000001"
REPLICA_AT = f"{SERVER}:1-2103"
NEXT_DAY = (
    ("2026-03-15 08:55:00", "INSERT INTO shop.customers (name, email, city, created_at) VALUES "
                            "('Nuno Dvořák', 'nuno@example.org', 'Lisboa', NOW(3))"),
    ("2026-03-15 09:12:00", "DELETE FROM shop.customers /* WHERE id = 396 */"),
    ("2026-03-15 09:14:00", "INSERT INTO shop.customers (name, email, city, created_at) VALUES "
                            "('Mei Kowalska', 'mei@example.org', 'Kraków', NOW(3))"),
    ("2026-03-15 09:17:00", "INSERT INTO shop.customers (name, email, city, created_at) VALUES "
                            "('Ana García', 'customer12@example.org', NULL, NOW(3))"),
    ("2026-03-15 09:20:00", "INSERT INTO shop.orders (customer_id, total, placed_at, note) VALUES "
                            "(406, 16.41, NOW(), 'please ring twice')"),
)
"""Transactions: when (UTC), and what. Customers 12 and 406 are the same person."""
WRITTEN_IN_REPLICA = (
    "DELETE FROM shop.orders WHERE id = 1109",
    "UPDATE shop.stock SET units = 0 WHERE sku = 'OU00004' AND warehouse = 3",
    "INSERT INTO shop.customers VALUES (400, 'test', 'test@example.org', NULL, NULL, '2026-03-14 12:30:00')",
)


class Server:
    """The server by its clients."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.mysql, self.mysqlbinlog, self.mysqldump = options.mysql, options.mysqlbinlog, options.mysqldump

    def run(self, *statements: str) -> None:
        self._run([*self.mysql, "--binary-mode"], "".join(f"{sql};\n" for sql in statements).encode())

    def apply(self, *options: str) -> None:
        """Apply the demo archive."""
        for file in sorted(ARCHIVE.glob("binlog.0*")):
            self._run([*self.mysql, "--binary-mode"], self._run([*self.mysqlbinlog, *options, "-"], file.read_bytes()))

    def dump(self) -> bytes:
        return self._run([*self.mysqldump, "--single-transaction", "--source-data", "--databases", "shop"], b"")

    def answer(self, statements: Path) -> bytes:
        return self._run([*self.mysql, "--batch"], statements.read_bytes())

    def forget(self) -> None:
        """Everything that it has, and its log, which begins again with binlog.000003."""
        self.run("SET sql_log_bin = 0", "DROP DATABASE IF EXISTS shop", "RESET BINARY LOGS AND GTIDS TO 3")

    @staticmethod
    def _run(command: list[str], text: bytes) -> bytes:
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


def next_day(server: Server, datadir: Path) -> None:
    server.forget()
    server.apply()
    server.run("SET GLOBAL server_id = 23421", "FLUSH BINARY LOGS")
    for number, (time, statement) in enumerate(NEXT_DAY, 2463):
        server.run("SET time_zone = '+00:00'", f"SET timestamp = UNIX_TIMESTAMP('{time}')",
                   "SET binlog_rows_query_log_events = ON", f"SET gtid_next = '{SERVER}:{number}'", statement)
    server.run("FLUSH BINARY LOGS")
    shutil.copyfile(datadir / "binlog.000004", HERE / "binlog.000004")


def replica(server: Server) -> None:
    server.forget()
    server.apply(f"--include-gtids={REPLICA_AT}")
    server.run("SET time_zone = '+00:00'", "SET sql_log_bin = 0", *WRITTEN_IN_REPLICA)
    (HERE / "replica.sql.gz").write_bytes(gzip.compress(server.dump(), 9, mtime=0))
    with tempfile.TemporaryDirectory() as folder:
        source, asked = f"{folder}/source", Path(folder) / "asked.sql"
        applier.replay(ARCHIVE, source, stop=REPLICA_AT)

        def ask(*words: str) -> bytes:
            with asked.open("w") as out:
                subprocess.run(["applier", "verify", source, "--sql", *words], stdout=out, check=False)
            return server.answer(asked)

        (HERE / "sums.tsv").write_bytes(ask())
        (HERE / "rows.tsv.gz").write_bytes(gzip.compress(ask("--against", str(HERE / "sums.tsv")), 9, mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("mysql", "mysqlbinlog", "mysqldump"):
        parser.add_argument(f"--{name}", required=True, type=shlex.split)
    parser.add_argument("datadir", type=Path)
    options = parser.parse_args()
    server = Server(options)
    next_day(server, options.datadir)
    replica(server)


if __name__ == "__main__":
    main()
