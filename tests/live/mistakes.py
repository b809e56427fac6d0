"""A DBA's mistakes, taken back on a running server, against a second one where they were never made.

    python -m tests.live.mistakes mysql://root@127.0.0.1:3306[+ROOT] mysql://root@127.0.0.1:3307[+ROOT] \
        --client "mysql -h 127.0.0.1 -P 3306 -u root" [--binlog "mysqlbinlog --skip-gtids"] [--only NAME]
        [--by-server]

ROOT is the root of the files of a server in a chroot. On both servers the same tables and rows are made, and the same
transactions run before and after the mistake; the archive that is read begins after the rows were made. What is made of
it (SQL, or with --binlog events, which this program makes SQL of) runs by the client; then both servers have to hold
the same tables and rows. Both are used by nobody else, and the binlogs of the first are reset.

Without a base: rows are known from the log's before-images, and definitions from a file, or with --by-server from the
server. With one: what DDL dropped,
and on MariaDB what foreign keys deleted outside the log, is known from a snapshot of the time at which the archive
begins.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pymysql

import applier
from tests.live.live_server import LiveServer

_SETUP = """
DROP DATABASE IF EXISTS shop; CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop;
CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, mail VARCHAR(60) UNIQUE, since DATETIME(3),
    notes TEXT, CHECK (id > 0)) COMMENT 'who buys';
CREATE TABLE orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, total DECIMAL(12,2),
    state ENUM('new','paid','sent') DEFAULT 'new', placed TIMESTAMP NULL, document JSON, KEY (customer),
    CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE items (order_id BIGINT UNSIGNED NOT NULL, line INT, sku CHAR(8), n INT, weight FLOAT, image VARBINARY(20),
    PRIMARY KEY (order_id, line), CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE);
CREATE TABLE prices (sku CHAR(8) PRIMARY KEY, price DECIMAL(10,2), changed DATE, dim BIT(5));
CREATE TABLE log (at DATETIME, what VARCHAR(30));
"""
_ROWS = 300
BASE, SERVER, FILE = "with a base", "by the log and the server", "by the log alone"


@dataclass(frozen=True)
class Mistake:
    """What is done, which way takes it back, and whether the log alone has its rows, by flavour."""

    name: str
    statements: str
    back: Callable[[Case], bytes]
    by_log_alone: tuple[str, ...] = ("mysql", "mariadb")


class Case:
    """One mistake on one server: its archive, and what is known."""

    def __init__(self, server: LiveServer, folder: Path, source: str) -> None:
        self.server, self.folder, self.source = server, folder, source
        self.archive, self.gtids, self.thread = folder / "archive", "", 0
        self.base: str | None = None
        self.events = False

    def sources(self) -> dict[str, str]:
        """Where definitions and rows of before the archive come from."""
        if self.source == BASE and self.base:
            return {"base": self.base}
        if self.source == SERVER:
            return {"server": self.server.place.geturl()}
        return {"schema": str(self.folder / "schema.sql")}

    def undo(self, **chosen: object) -> bytes:
        """What `undo` writes."""
        output = self.folder / "undo"
        applier.undo(str(self.archive), output, **chosen, **self.sources(),
                     format="binlog" if self.events else "sql")  # type: ignore[arg-type]
        return output.read_bytes()


def _undo(case: Case) -> bytes:
    return case.undo(gtids=case.gtids)


def _undo_thread(case: Case) -> bytes:
    return case.undo(thread_ids=[case.thread])


def _diff(case: Case) -> bytes:
    """By definitions: an archive without the mistake says how the tables should be."""
    now, right = f"{case.folder}/now", f"{case.folder}/right"
    assert case.base is not None
    applier.replay(str(case.archive), now, base=case.base)
    applier.replay(str(case.archive), right, base=case.base, exclude_gtids=case.gtids)
    case.events = False
    return b"".join(applier.diff(now, right).repair(definitions=True).statements())


MISTAKES = (
    Mistake("delete with cascades", "DELETE FROM customers WHERE id % 7 = 3", _undo, ("mysql",)),
    Mistake("update with join", "UPDATE orders o JOIN customers c ON c.id = o.customer SET o.total = 0, "
            "o.state = 'sent', c.notes = CONCAT(c.notes, ' oh') WHERE c.id < 90", _undo, ("mysql",)),
    Mistake("load data replace", "LOAD DATA INFILE '{file}' REPLACE INTO TABLE prices", _undo),
    Mistake("ten minutes of one thread", "UPDATE prices SET price = price * 10; INSERT INTO log VALUES (NOW(), 'x'); "
            "DELETE FROM orders WHERE id % 11 = 5 AND id > 1; BEGIN; UPDATE customers SET name = 'Nobody' WHERE "
            "id > 250; INSERT INTO prices VALUES ('zz', 1, NULL, 1); COMMIT", _undo_thread, ("mysql",)),
    Mistake("drop table", "DROP TABLE prices", _undo, ()),
    Mistake("truncate", "SET foreign_key_checks = 0; TRUNCATE TABLE items", _undo, ()),
    Mistake("drop column", "ALTER TABLE prices DROP COLUMN price", _diff, ()),
    Mistake("drop database", "DROP DATABASE shop", _undo, ()),
)
_BEFORE = "INSERT INTO shop.log VALUES ('2026-01-01', 'before'); UPDATE shop.customers SET notes = 'seen' WHERE id = 5"
_AFTER = "INSERT INTO other.log VALUES ('2026-01-02', 'after')"
_MORE = "INSERT INTO shop.log VALUES ('2026-01-02', 'after'); UPDATE shop.customers SET notes = 'later' WHERE id = 100"


def _rows() -> list[str]:
    """Statements that make rows."""
    made = ["DROP DATABASE IF EXISTS other", "CREATE DATABASE other", "CREATE TABLE other.log (at DATETIME, what TEXT)"]
    for n in range(1, _ROWS + 1):
        mail = f"'m{n}@x'" if n % 5 else "NULL"
        made.append(f"INSERT INTO shop.customers VALUES ({n}, 'Name é {n}', {mail}, "
                    f"'2025-01-{n % 28 + 1:02} 10:00:00.{n % 1000:03}', 'it''s\\n{n}')")
        made.append(f"INSERT INTO shop.orders VALUES ({n}, {n}, {n}.25, 'paid', '2025-02-03 04:05:06', "
                    f"'{{\"n\": {n}, \"x\": [1.5, null]}}')")
        made.append(f"INSERT INTO shop.items VALUES ({n}, 1, 'sku{n % 50}', {n % 9}, {n / 7!r}, x'00ff{n % 256:02x}'), "
                    f"({n}, 2, NULL, NULL, NULL, NULL)")
        if n <= 60:
            made.append(f"INSERT INTO shop.prices VALUES ('sku{n}', {n}.99, '2025-03-04', {n % 32})")
    return made


def _run(connection: pymysql.Connection, statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in filter(None, map(str.strip, statements.split(";"))):
            cursor.execute(statement)


def _seen(server: LiveServer) -> dict[str, tuple[str, str]]:
    """Each table's definition, without its next number and without character sets that columns have from it, and a
    digest of its rows."""
    found = {}
    for database, table in server.run("SELECT table_schema, table_name FROM information_schema.tables WHERE "
                                      "table_schema IN ('shop', 'other') ORDER BY 1, 2"):
        name = f"`{database}`.`{table}`"
        definition = re.sub(r" AUTO_INCREMENT=\d+", "", server.run(f"SHOW CREATE TABLE {name}")[0][1])
        [default] = re.findall(r"DEFAULT CHARSET=(\w+)(?: COLLATE=(\w+))?", definition)
        definition = definition.replace(f" CHARACTER SET {default[0]}", "").replace(f" COLLATE {default[1]}", "")
        rows = sorted(map(repr, server.run(f"SELECT * FROM {name}")))
        found[name] = definition, hashlib.sha256("".join(rows).encode()).hexdigest()
    found["database"] = server.run("SELECT default_collation_name, '' FROM information_schema.schemata WHERE "
                                   "schema_name = 'shop'")[0]
    return found


def _state(server: LiveServer) -> str:
    mysql = server.flavour == "mysql"
    return server.run("SELECT @@gtid_executed" if mysql else "SELECT @@gtid_binlog_pos")[0][0].replace("\n", "")


def _since(server: LiveServer, before: str) -> str:
    """The GTIDs of what has run since."""
    now = _state(server)
    if server.flavour == "mysql":
        return server.run(f"SELECT GTID_SUBTRACT('{now}', '{before}')")[0][0].replace("\n", "")
    start = int(before.rpartition("-")[2]) if before else 0
    head, _, last = now.rpartition("-")
    return ",".join(f"{head}-{number}" for number in range(start + 1, int(last) + 1))


def take_back(mistake: Mistake, servers: tuple[LiveServer, LiveServer], client: list[str], binlog: list[str],
              source: str) -> str:
    """Make it, take it back, and compare."""
    first, second = servers
    flavour = first.flavour
    first.run("RESET BINARY LOGS AND GTIDS" if flavour == "mysql" else "RESET MASTER")
    with tempfile.TemporaryDirectory() as name:
        case = Case(first, Path(name), source)
        case.events = bool(binlog)
        for server in servers:
            connection = server.connect()
            _run(connection, "SET sql_mode = ''" if server is first else "SET sql_mode = '', sql_log_bin = 0")
            _run(connection, _SETUP)
            for statement in _rows():
                with connection.cursor() as cursor:
                    cursor.execute(statement)
            connection.close()
        with open(case.folder / "schema.sql", "w", encoding="utf-8") as schema:
            for (table,) in second.run("SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop'"):
                text = second.run(f"SHOW CREATE TABLE shop.`{table}`")[0][1]
                schema.write(f"USE shop;\n{text};\n")
            schema.write("USE other;\n" + second.run("SHOW CREATE TABLE other.log")[0][1] + ";\n")
        earlier = first.new_log()
        if source == BASE:
            case.base = f"{case.folder}/base"
            applier.replay(str(earlier), case.base)
        _do(mistake, servers, case)
        case.archive.mkdir()
        last = first.new_log()
        shutil.copy(last, case.archive)
        text = mistake.back(case)
        if case.events:
            text = subprocess.run([*binlog, "-"], input=text, capture_output=True, check=True).stdout
        ran = subprocess.run(client, input=text, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()[-600:]
        here, there = map(_seen, servers)
        different = [name for name in here.keys() | there.keys() if here.get(name) != there.get(name)]
        assert not different, [(name, here.get(name), there.get(name)) for name in different]
    return f"{len(text):,} bytes"


def _do(mistake: Mistake, servers: tuple[LiveServer, LiveServer], case: Case) -> None:
    """What happens in the archive: on the second server without the mistake."""
    first = servers[0]
    around = [server.connect() for server in servers]
    _run(around[1], "SET sql_log_bin = 0")
    for connection in around:
        _run(connection, _BEFORE)
    folder = first.run("SELECT @@secure_file_priv")[0][0] or "/tmp/"
    file = f"{folder}prices{first.run('SELECT UUID_SHORT()')[0][0]}"
    first.run(f"SELECT CONCAT('sku', id), 0.01, '2026-05-06', 7 FROM shop.customers WHERE id % 4 = 1 AND id < 100 "
              f"INTO OUTFILE '{file}'")
    wrong = first.connect()
    case.thread = wrong.thread_id()
    before = _state(first)
    _run(wrong, f"SET sql_mode = ''; USE shop; {mistake.statements.format(file=file)}")
    case.gtids = _since(first, before)
    is_there = "database" not in mistake.name
    for connection in around:
        _run(connection, _MORE if is_there else _AFTER)
    if not is_there:
        for connection in around:
            connection.close()


def main() -> None:
    """All mistakes, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("second")
    parser.add_argument("--client", required=True, help="a client's command that reaches the first server")
    parser.add_argument("--binlog", default="", help="take back by events, which this program makes statements of")
    parser.add_argument("--only", help="a mistake's name")
    parser.add_argument("--by-server", action="store_true", help="without a base, definitions are those of the server")
    given = parser.parse_args()
    servers = LiveServer(given.server), LiveServer(given.second)
    for mistake in MISTAKES:
        for source in (SERVER if given.by_server else FILE, BASE):
            if (given.only or mistake.name) != mistake.name or not (
                    source == BASE or servers[0].flavour in mistake.by_log_alone):
                continue
            size = take_back(mistake, servers, shlex.split(given.client), shlex.split(given.binlog), source)
            print(f"{mistake.name}, {source}: equal ({size})", flush=True)


if __name__ == "__main__":
    main()
