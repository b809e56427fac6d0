"""What reads live servers, and logs of theirs, on a source and a replica of its kind, as old or newer.

    python -m tests.live.servers SOURCE REPLICA DATADIR [PREFIX…]

SOURCE and REPLICA are URLs, mysql://USER@HOST:PORT, of servers on this machine whose data is nobody's: databases `live`
and `gone` are dropped, logs are reset, and the replica replicates from the source. Nothing else of their settings is
changed, so that run with defaults it tests the defaults. DATADIR is the replica's; its files are written to. PREFIX is
what comes before `mysqlbinlog` and `mysql` (`mariadb-binlog` and `mariadb`), such as chroot and a folder.

    archive     `archive` copies the source's logs twice, in between it writes more; the archive replays
    verify      `verify --server` leads the snapshot to where the source stands, and finds no difference
    sync        a lake follows the archive, and is the source's, too
    relay logs  of the replica, whose IO thread alone has run: they replay to the same rows
    rewrite     without `gone`, and with another name for `live`: the replica applies it as relay logs, and what
                `mysqlbinlog | mysql` applies is the same, by its rows
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import applier

FIRST = [
    "CREATE DATABASE live CHARACTER SET utf8mb4", "CREATE DATABASE gone CHARACTER SET utf8mb4",
    "CREATE TABLE live.item (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(200), price DECIMAL(10,2), "
    "at TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3), note TEXT, half DECIMAL(10,4) AS (price / 2) STORED)",
    "CREATE TABLE live.part (id INT PRIMARY KEY, item INT, FOREIGN KEY (item) REFERENCES live.item (id) "
    "ON DELETE CASCADE)",
    "CREATE TABLE live.noted (n INT, what JSON)", "CREATE TABLE live.plain (n INT PRIMARY KEY) ENGINE=MyISAM",
    "CREATE TABLE gone.item (id INT PRIMARY KEY, name VARCHAR(200))",
    "INSERT INTO live.item (name, price) VALUES ('lamp', 9.99), ('stöve', 100), (NULL, NULL)",
    "BEGIN", *(f"INSERT INTO live.item (name, price, note) VALUES (REPEAT('x', {n}), {n}, REPEAT('y', {10 * n}))"
               for n in range(100)), "COMMIT",
    "INSERT INTO live.part VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO live.plain VALUES (1), (2)",
    "INSERT INTO live.noted VALUES (1, '{\"a\": 1}'), (1, '{\"a\": 1}'), (2, NULL)",
    "INSERT INTO gone.item VALUES (1, 'a')",
    "BEGIN", "UPDATE live.item SET price = price + 1 WHERE id < 20", "UPDATE gone.item SET name = 'b'", "COMMIT"]
SECOND = [
    "FLUSH BINARY LOGS", "DELETE FROM live.item WHERE id = 2", "ALTER TABLE live.item ADD COLUMN stock INT DEFAULT 3",
    "UPDATE live.item, gone.item SET live.item.stock = 7, gone.item.name = 'c' WHERE live.item.id > 50",
    "DELETE FROM live.noted WHERE n = 1 LIMIT 1", "RENAME TABLE live.plain TO live.plainer",
    "XA START 'x'", "INSERT INTO live.item (name) VALUES ('by xa')", "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'",
    "CREATE TABLE gone.more (id INT)", "DROP TABLE gone.more", "FLUSH BINARY LOGS"]
THIRD = ["INSERT INTO live.item (name) VALUES ('last')", "UPDATE live.noted SET what = '{\"b\": [1, 2]}'",
         "TRUNCATE live.part", "INSERT INTO live.part VALUES (7, 7)", "DELETE FROM gone.item"]
SECONDS = 60


class Server:
    """A server, and its programs."""

    def __init__(self, url: str, prefix: Sequence[str] = ()) -> None:
        self.url, self.place, self._prefix = url, urlsplit(url), [*prefix]
        self.version = str(self.run("SELECT VERSION()")[0][0])
        self.is_mariadb = "MariaDB" in self.version
        self.word = "SLAVE" if self.is_mariadb else "REPLICA"

    def run(self, *statements: str) -> list[tuple[object, ...]]:
        """Run statements in a session of their own; the rows of the last one."""
        import pymysql

        connection = pymysql.connect(host=self.place.hostname, port=self.place.port or 3306,
                                     user=self.place.username or "root", password=self.place.password or "",
                                     autocommit=True, charset="utf8mb4")
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return [*cursor.fetchall()]

    def clear(self) -> None:
        """Forget tables, logs and replication."""
        self.run(f"STOP {self.word}", f"RESET {self.word} ALL", "DROP DATABASE IF EXISTS live",
                 "DROP DATABASE IF EXISTS gone", "DROP DATABASE IF EXISTS other",
                 "RESET MASTER" if self.is_mariadb else "RESET BINARY LOGS AND GTIDS")
        if self.is_mariadb:
            self.run("SET GLOBAL gtid_slave_pos = ''")

    def follow(self, source: Server) -> None:
        """Copy another server's logs, without applying them."""
        host, port, user = source.place.hostname, source.place.port, source.place.username
        if self.is_mariadb:
            self.run(f"CHANGE MASTER TO MASTER_HOST='{host}', MASTER_PORT={port}, MASTER_USER='{user}', "
                     "MASTER_SSL=0, MASTER_USE_GTID=slave_pos", "START SLAVE IO_THREAD")
        else:
            auto = int(source.run("SELECT @@gtid_mode = 'ON'")[0][0] == 1)
            self.run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='{host}', SOURCE_PORT={port}, SOURCE_USER='{user}', "
                     f"GET_SOURCE_PUBLIC_KEY=1, SOURCE_AUTO_POSITION={auto}", "START REPLICA IO_THREAD")

    @property
    def status(self) -> dict[str, object]:
        """SHOW REPLICA STATUS, by its names."""
        import pymysql

        connection = pymysql.connect(host=self.place.hostname, port=self.place.port or 3306,
                                     user=self.place.username or "root", password=self.place.password or "")
        with connection, connection.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(f"SHOW {self.word} STATUS")
            return dict(cursor.fetchone() or {})

    def rows(self, database: str) -> dict[str, object]:
        """The rows of all tables of a database; what CHECKSUM TABLE says depends on the server's version."""
        names = [str(name) for (name,) in self.run(f"SHOW TABLES FROM {database}")]
        return {name: sorted(self.run(f"SELECT * FROM {database}.{name}"), key=repr) for name in names}

    def pipe(self, logs: Sequence[Path]) -> None:
        """mysqlbinlog | mysql, a file at a time."""
        reader, client = ("mariadb-binlog", "mariadb") if self.is_mariadb else ("mysqlbinlog", "mysql")
        address = [f"-h{self.place.hostname}", f"-P{self.place.port}", f"-u{self.place.username}", "--protocol=tcp"]
        for log in logs:
            with open(log, "rb") as data:
                text = subprocess.run([*self._prefix, reader, "--no-defaults", "-"], stdin=data, check=True,
                                      stdout=subprocess.PIPE).stdout
            subprocess.run([*self._prefix, client, "--no-defaults", *address], input=text, check=True)


def command(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run([sys.executable, "-m", "applier", *words], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode} of applier {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(source: Server, replica: Server, datadir: Path, folder: Path) -> None:
    """All of it."""
    archive, lake = folder / "archive", folder / "lake"
    for server in (replica, source):
        server.clear()
    replica.follow(source)
    source.run(*FIRST)
    archived(source, archive)
    command("replay", "--binlogs", str(archive), "--output", str(folder / "first"), "--witness", "stop")
    followed(archive, lake)
    source.run(*SECOND)
    archived(source, archive)
    followed(archive, lake)
    source.run(*THIRD)
    archived(source, archive)
    followed(archive, lake)
    said("archive", f"{len([*archive.iterdir()])} files")
    verified(folder / "first", source, archive)
    said("verify", "the source has the rows of the snapshot, led to where it stands")
    verified(lake, source, archive)
    said("sync", "so it has those of the lake")
    command("replay", "--binlogs", str(archive), "--output", str(folder / "whole"), "--witness", "stop")
    relayed(source, replica, datadir, folder)
    rewritten(source, replica, datadir, folder)


def archived(source: Server, archive: Path) -> None:
    command("archive", "--source", source.url, "--output", str(archive), "--until-now")


def followed(archive: Path, lake: Path) -> None:
    command("sync", "--binlogs", str(archive), "--lake", str(lake), "--until-now", "--witness", "stop")


def verified(snapshot: Path, source: Server, archive: Path) -> None:
    command("verify", str(snapshot), "--server", source.url, "--binlogs", str(archive))


def relayed(source: Server, replica: Server, datadir: Path, folder: Path) -> None:
    """Read the relay logs of the replica, whose IO thread has copied all that the source has."""
    name, offset = source.run("SHOW MASTER STATUS" if source.is_mariadb else "SHOW BINARY LOG STATUS")[0][:2]
    names = ("Master_Log_File", "Read_Master_Log_Pos") if source.is_mariadb else ("Source_Log_File",
                                                                                  "Read_Source_Log_Pos")
    until = time.monotonic() + SECONDS
    while tuple(replica.status.get(key) for key in names) != (name, offset):
        if time.monotonic() > until:
            raise AssertionError(f"the replica does not have {name}:{offset}: {replica.status}")
        time.sleep(0.2)
    replica.run(f"STOP {replica.word} IO_THREAD")
    logs = [str(path) for path in sorted(datadir.glob("*relay-bin*.0?????"))]
    command("replay", "--binlogs", *logs, "--output", str(folder / "relayed"), "--witness", "stop")
    difference = command("diff", str(folder / "whole"), str(folder / "relayed"))
    assert same(folder / "whole", folder / "relayed"), difference
    said("relay logs", f"{len(logs)} files replay to the rows of the archive")


def same(one: Path, other: Path) -> bool:
    """True if two snapshots have the same tables and rows."""
    return applier.diff(one, other).same


def rewritten(source: Server, replica: Server, datadir: Path, folder: Path) -> None:
    """Have the replica take the archive without a database, and with a new name for the other one."""
    output = folder / "rewritten"
    print(" ", command("rewrite", "--binlogs", str(folder / "archive"), "--ignore-tables", "gone", "--rewrite-db",
                       "live=other", "--output", str(output)).splitlines()[-1])
    logs = sorted(path for path in output.iterdir() if path.suffix != ".index")
    wanted = source.rows("live")
    [base] = {path.stem for path in datadir.glob("*relay-bin.index")}
    replica.clear()
    owner = datadir.stat()
    for old in datadir.glob(f"{base}.*"):
        old.unlink()
    names = [f"{base}.{number:06d}" for number in range(1, len(logs) + 1)]
    for log, name in zip(logs, names, strict=True):
        shutil.copyfile(log, datadir / name)
    (datadir / f"{base}.index").write_text("".join(f"./{name}\n" for name in names))
    for name in (*names, f"{base}.index"):
        os.chown(datadir / name, owner.st_uid, owner.st_gid)
    if replica.is_mariadb:
        replica.run(f"CHANGE MASTER TO MASTER_HOST='nowhere', RELAY_LOG_FILE='{names[0]}', RELAY_LOG_POS=4, "
                    "MASTER_USE_GTID=no", "START SLAVE SQL_THREAD")
    else:
        replica.run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='nowhere', RELAY_LOG_FILE='{names[0]}', "
                    "RELAY_LOG_POS=4, SOURCE_AUTO_POSITION=0", "START REPLICA SQL_THREAD")
    waited(replica, wanted)
    said("rewrite", "the replica takes it as relay logs")
    replica.clear()
    replica.pipe(logs)
    waited(replica, wanted)
    said("rewrite", "and what the server's own programs make of it")


def waited(replica: Server, wanted: dict[str, object]) -> None:
    """Wait until the replica has what the source has, and nothing of what was filtered."""
    until, found = time.monotonic() + SECONDS, dict[str, object]()
    while found != wanted:
        if time.monotonic() > until or replica.status.get("Last_SQL_Error"):
            raise AssertionError(f"the replica has {found}, not {wanted}: {replica.status}")
        time.sleep(0.2)
        with suppress(Exception):
            found = replica.rows("other")
    databases = {name for (name,) in replica.run("SHOW DATABASES")}
    assert not databases & {"live", "gone"}, databases


def said(what: str, text: str) -> None:
    print(f"  {what + ':':12}{text}", flush=True)


def main(source_url: str, replica_url: str, datadir: str, *prefix: str) -> None:
    """Check a source and its replica."""
    source, replica = Server(source_url), Server(replica_url, prefix)
    print(source.version, flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        check(source, replica, Path(datadir), Path(temporary))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
