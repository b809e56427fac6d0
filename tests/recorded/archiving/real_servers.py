"""`archive` beside real servers that are written to, killed and purged.

As `python -m tests.recorded.archiving.real_servers`:

    copies FLAVOUR PORT DATADIR MYSQLBINLOG…       what an archive of a server that is there is, by every way in
    kills FLAVOUR DATADIR N COMMAND…               kill -9 of archive and of the server, N each, under load

The server listens on 127.0.0.1, root has no password, and its data is nobody's; for `copies`, DATADIR has the ca.pem of
its certificate. MYSQLBINLOG is the command of the flavour's mysqlbinlog with what comes before it (chroot DIR, or env);
COMMAND starts the server, on a port that it names with --port=, in the foreground. Every archive is compared with the
server's files, and one with what `mysqlbinlog --raw` writes; of the newest file, byte 22 says that it is in use, and
differs.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pymysql

PASSWORD = "se cret#1"
LARGE = 20 << 20
FLAG = 21
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "MYSQL_PWD"}


def connected(port: int) -> Any:
    return pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True, max_allowed_packet=64 << 20,
                           read_timeout=60)


def run(port: int, *statements: str | tuple[str, tuple[object, ...]]) -> list[tuple[Any, ...]]:
    """The rows of the last statement."""
    connection = connected(port)
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(*([statement] if isinstance(statement, str) else statement))
            return list(cursor.fetchall())
    finally:
        connection.close()


def command(port: int, output: object, *more: str, user: str = "repl") -> list[str]:
    return [sys.executable, "-m", "applier", "archive", "--source", f"mysql://{user}@127.0.0.1:{port}",
            "--output", str(output), *more]


def archived(port: int, output: object, *more: str, environment: dict[str, str] | None = None, code: int = 0,
             user: str = "repl") -> str:
    """What it says; with the password in the environment."""
    done = subprocess.run(command(port, output, "--until-now", *more, user=user), text=True, capture_output=True,
                          env=ENVIRONMENT | ({"MYSQL_PWD": PASSWORD} if environment is None else environment))
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert PASSWORD not in said
    return " ".join(said.split())


def files(folder: Path, only: dict[str, tuple[int, str]] | None = None) -> dict[str, tuple[int, str]]:
    """Size and digest of each binlog of a folder, or of those bytes of it that were there before: without the mark of a
    file that is open, and without what a crash of MariaDB left of an event at the end of one, which no server sends."""
    found = {}
    for path in sorted(folder.glob("binlog.0*") if only is None else map(folder.joinpath, only)):
        data = bytearray(path.read_bytes())
        data[FLAG] &= ~1
        at = 4
        while at + 19 <= len(data) and at + (size := int.from_bytes(data[at + 9:at + 13], "little")) <= len(data):
            at += size
        del data[at if only is None else only[path.name][0]:]
        found[path.name] = len(data), hashlib.sha256(data).hexdigest()
    return found


def same(output: Path, folder: Path, what: str) -> None:
    ours, theirs = files(output), files(folder)
    assert list(ours) == list(theirs), (what, list(ours), list(theirs))
    different = [name for name in ours if ours[name] != theirs[name]]
    assert not different, (what, different)
    newest = max(ours)
    plain = [name for name in ours if name != newest and
             (output / name).read_bytes() != (folder / name).read_bytes()]
    print(f"{what}: {len(ours)} files, {sum(size for size, _ in ours.values()):,} bytes, equal to the server's"
          + (f" but for byte 22 of {', '.join(plain)}" if plain else ""), flush=True)


def written(port: int, flavour: str) -> None:
    """Users, and rows small and large."""
    run(port, "DROP DATABASE IF EXISTS d", "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, b LONGBLOB)",
        f"CREATE USER IF NOT EXISTS repl@'%' IDENTIFIED BY '{PASSWORD}'",
        f"CREATE USER IF NOT EXISTS safe@'%' IDENTIFIED BY '{PASSWORD}' REQUIRE SSL",
        "CREATE USER IF NOT EXISTS nobody@'%'",
        "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO repl@'%', safe@'%'")
    for number in range(100):
        run(port, ("INSERT d.t (b) VALUES (%s), (%s)", (b"x" * (number * 997), b"y")))
    for size in (LARGE, *(0xFFFFFF - 60 + more for more in range(0, 40, 7))):
        run(port, ("INSERT d.t (b) VALUES (%s)", (b"z" * size,)))
    if flavour == "mysql":
        for number in range(20):
            run(port, f"SET gtid_next = 'AUTOMATIC:tag_{number % 3}'", "INSERT d.t (b) VALUES ('tagged')")
    run(port, "FLUSH BINARY LOGS", "INSERT d.t (b) VALUES ('last')")


def copies(flavour: str, port: int, datadir: Path, mysqlbinlog: list[str]) -> None:
    """One archive for each way in."""
    written(port, flavour)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        archived(port, place / "environment")
        same(place / "environment", datadir, "password in the environment")
        by_raw(port, mysqlbinlog, place, list(files(datadir)))
        options = place / "my.cnf"
        options.write_text(f"[client]\npassword='{PASSWORD}'\nssl-ca={datadir}/ca.pem\nssl-mode=VERIFY_CA\n")
        archived(port, place / "tls", "--defaults-file", str(options), environment={}, user="safe")
        same(place / "tls", datadir, "TLS with a certificate that is checked, password in an option file")
        options.write_text(f"[client]\npassword='{PASSWORD}'\nssl-mode=DISABLED\n")
        said = archived(port, place / "no", "--defaults-file", str(options), environment={}, user="safe", code=2)
        print("no TLS where it is required:", said)
        print("wrong password:", archived(port, place / "no", environment={"MYSQL_PWD": "no"}, code=2))
        print("no privilege:", archived(port, place / "no", environment={}, user="nobody", code=2))
        gtids(flavour, port, datadir, place)
        purged(port, datadir, place)


def by_raw(port: int, mysqlbinlog: list[str], place: Path, names: list[str]) -> None:
    """The same by the servers' own tool."""
    root = Path(mysqlbinlog[1]) if mysqlbinlog[0] == "chroot" else Path("/")
    with tempfile.TemporaryDirectory(dir=root / "tmp") as folder:
        inside = "/" + str(Path(folder).relative_to(root))
        subprocess.run([*mysqlbinlog, "--no-defaults", "--protocol=tcp", "--host=127.0.0.1", f"--port={port}",
                        "--user=root", "--raw", "--read-from-remote-server", f"--result-file={inside}/", *names],
                       check=True)
        same(place / "environment", Path(folder), "mysqlbinlog --raw")


def gtids(flavour: str, port: int, datadir: Path, place: Path) -> None:
    """It begins at the file of the first transaction that is not in the set."""
    variable = "@@GLOBAL.gtid_executed" if flavour == "mysql" else "@@GLOBAL.gtid_binlog_pos"
    [[executed]] = run(port, f"SELECT {variable}")
    run(port, "INSERT d.t (b) VALUES ('one')", "FLUSH BINARY LOGS", "INSERT d.t (b) VALUES ('two')")
    name = list(files(datadir))[-2]
    archived(port, place / "gtids", "--start-gtid", executed.replace("\n", ""))
    assert next(iter(files(place / "gtids"))) == name, list(files(place / "gtids"))
    print(f"after {executed!r}: from {name} on")
    archived(port, place / "environment")
    same(place / "environment", datadir, "gone on")


def purged(port: int, datadir: Path, place: Path) -> None:
    """1236 for an archive that ends before what the server has."""
    run(port, "FLUSH BINARY LOGS", "FLUSH BINARY LOGS", f"PURGE BINARY LOGS TO '{list(files(datadir))[-1]}'")
    newest = run(port, "SHOW BINARY LOGS")[-1][0]
    run(port, f"PURGE BINARY LOGS TO '{newest}'")
    before = files(place / "environment")
    print("purged:", archived(port, place / "environment", code=2))
    assert files(place / "environment") == before
    archived(port, place / "new")
    same(place / "new", datadir, "after a purge")


@contextmanager
def loaded(port: int) -> Iterator[list[int]]:
    """Rows are written all the while, also to a server that is away at times; the list has how many."""
    count, ended, chosen = [0], threading.Event(), random.Random(1)

    def load() -> None:
        while not ended.is_set():
            with suppress(Exception):
                connection = connected(port)
                with connection.cursor() as cursor:
                    while not ended.is_set():
                        size = chosen.choice((10, 100, 1000, 30_000, 30_000, 3_000_000))
                        cursor.execute("INSERT d.t (b) VALUES (%s)", (chosen.randbytes(size),))
                        count[0] += 1
                        ended.wait(0.02)
                        if count[0] % 200 == 0:
                            cursor.execute("TRUNCATE d.t")
            ended.wait(0.1)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield count
    finally:
        ended.set()
        thread.join()


def kills(flavour: str, datadir: Path, times: int, start: list[str]) -> None:
    """Each round kills one of both, waits, and starts it again; bytes of the archive never change meanwhile."""
    port = next(int(word.removeprefix("--port=")) for word in start if word.startswith("--port="))
    chosen = random.Random(2)
    environment = ENVIRONMENT | {"MYSQL_PWD": PASSWORD}
    server = begun(start, port)
    with suppress(pymysql.err.Error):
        run(port, "SET sql_log_bin = 0", "CREATE USER root@'127.0.0.1'",
            "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION")
    written(port, flavour)
    with tempfile.TemporaryDirectory() as temporary:
        output, log = Path(temporary) / "out", open(Path(temporary) / "log", "w+")

        def copying() -> subprocess.Popen[bytes]:
            return subprocess.Popen(command(port, output), env=environment, stdout=log, stderr=log)

        archive = copying()
        with loaded(port) as count:
            for number in range(2 * times):
                time.sleep(chosen.uniform(0.5, 3.0))
                before = files(output)
                if number % 2:
                    server.send_signal(signal.SIGKILL)
                    server.wait()
                    server = begun(start, port)
                else:
                    archive.send_signal(signal.SIGKILL)
                    archive.wait()
                    time.sleep(chosen.uniform(0, 1))
                    archive = copying()
                assert archive.poll() is None, (number, Path(log.name).read_text())
                assert files(output, before) == before, number
                after = list(output.glob("binlog.0*"))
                print(f"kill {number + 1}: {'server' if number % 2 else 'archive'}, {len(after)} files, "
                      f"{count[0]:,} rows", flush=True)
        wait_for(lambda: files(output) == files(datadir), archive)
        archive.send_signal(signal.SIGTERM)
        assert archive.wait(20) == 0
        same(output, datadir, f"{times} kills of each")
        said = Path(log.name).read_text()
        assert PASSWORD not in said
        print(said[-2000:])
    server.terminate()
    server.wait()


def begun(start: list[str], port: int) -> subprocess.Popen[bytes]:
    server = subprocess.Popen(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: bool(run(port, "SELECT 1")), server)
    return server


def wait_for(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        with suppress(pymysql.err.Error, OSError):
            if what():
                return
        assert process.poll() is None, "it has ended"
        time.sleep(0.2)
    raise TimeoutError


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["copies", flavour, port, datadir, *words]:
            copies(flavour, int(port), Path(datadir), words)
        case ["kills", flavour, datadir, times, *words]:
            kills(flavour, Path(datadir), int(times), words)
        case _:
            print(re.sub(r"^", "  ", __doc__ or "", flags=re.MULTILINE))
