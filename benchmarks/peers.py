"""Other tools that do the same work, as far as they are on this machine.

reading       mysqlbinlog -v, mariadb-binlog -v (decode and print every row), python-mysql-replication
applying      DuckDB and Polars, given the changes as columns already, in the one way that is right for full images:
              the last change of each key; one thread each
end to end    mysqlbinlog FILES | mysql, where a server to write to is named: whole logs, or a part whose cost is scaled
"""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import islice
from struct import unpack_from
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from applier.binlog.events.format import HEADER_LENGTH, EventType
from applier.binlog.rows.changes import DELETE
from benchmarks.measure import Cost, best, command

MARIADB_BINLOG = "mariadb-binlog"
_PYTHON_BYTES = 4_000_000  # python-mysql-replication gets this much of a log: it would take minutes for more


def find_readers(mysqlbinlog: str | None) -> dict[str, list[str]]:
    """Name to command of the readers that are there. Both read a log from standard input.

    `mysqlbinlog` is a command to take for it. Where MariaDB is installed, that name on the PATH is MariaDB's.
    """
    found = {}
    mysql = shlex.split(mysqlbinlog) if mysqlbinlog else ["mysqlbinlog"]
    if shutil.which(mysql[0]) and "mariadb" not in _version(mysql).lower():
        found["mysqlbinlog -v"] = mysql
    if shutil.which(MARIADB_BINLOG):
        found["mariadb-binlog -v"] = [MARIADB_BINLOG]
    return found


def _version(program: list[str]) -> str:
    said = subprocess.run([*program, "--no-defaults", "--help"], capture_output=True, text=True, check=False)
    return said.stdout + said.stderr


def read_with(program: list[str], files: tuple[str, ...]) -> Cost:
    """Decode and print all rows of all files. Raises CalledProcessError for a log that the program does not take."""
    options = ["--no-defaults", "--verify-binlog-checksum", "-v", "--base64-output=decode-rows", "-"]
    costs = [command([*program, *options], stdin=file) for file in files]
    return Cost(sum(cost.cpu for cost in costs), sum(cost.wall for cost in costs))


def read_with_python(files: tuple[str, ...]) -> tuple[Cost, int]:
    """python-mysql-replication over the packets that a server would send it: (cost, bytes of log read).

    Raises ImportError where it is not installed.
    """
    from pymysql.protocol import MysqlPacket
    from pymysqlreplication import event, row_event
    from pymysqlreplication.packet import BinLogPacketWrapper

    wanted = (
        event.QueryEvent,
        event.XidEvent,
        row_event.TableMapEvent,
        row_event.WriteRowsEvent,
        row_event.UpdateRowsEvent,
        row_event.DeleteRowsEvent,
    )
    server = SimpleNamespace(charset="utf8mb4", _get_dbms=lambda: "mysql")
    events = list(_first_events(files[-1]))

    def read() -> int:
        tables: dict = {}
        rows = 0
        for data in events:
            packet = BinLogPacketWrapper(
                MysqlPacket(b"\0" + data, "utf8mb4"),
                tables,
                server,
                (8, 0, 0),
                True,
                wanted,
                None,
                None,
                None,
                None,
                False,
                False,
                True,
                False,
                False,
            )
            if packet.event_type == EventType.TABLE_MAP:
                tables[packet.event.table_id] = packet.event.get_table()
            elif packet.event is not None and hasattr(packet.event, "rows"):
                rows += len(packet.event.rows)
        return rows

    assert read() > 0
    return best(read, 1), sum(map(len, events))


def _first_events(file: str) -> Iterator[bytes]:
    with open(file, "rb") as stream:
        data = stream.read(_PYTHON_BYTES)
    at = 4
    while at + HEADER_LENGTH <= len(data) and at + (size := unpack_from("<I", data, at + 9)[0]) <= len(data):
        yield data[at : at + size]
        at += size


def with_duckdb(changes: pa.Table) -> Callable[[], pa.Table]:
    """What finds the rows that the changes leave, by a window over each key's changes. ImportError without DuckDB."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.register("changes", changes)
    query = (
        "SELECT * EXCLUDE (newest) FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY seq DESC) newest "
        f"FROM changes) WHERE newest = 1 AND kind <> {DELETE} ORDER BY id"
    )
    return lambda: connection.sql(query).to_arrow_table()


def with_polars(changes: pa.Table) -> Callable[[], Any]:
    """What finds the rows that the changes leave, by the last change of each key. ImportError without Polars.

    Threads are decided when Polars is first imported: POLARS_MAX_THREADS, which `in_child` processes inherit.
    """
    import polars

    frame = polars.from_arrow(changes)
    return lambda: frame.unique("id", keep="last", maintain_order=False).filter(polars.col("kind") != DELETE).sort("id")


def apply_with_server(reader: list[str], server: str, files: tuple[str, ...], database: str) -> Cost:
    """`mysqlbinlog FILES | mysql`: wall time until the server has applied everything. `server` is
    mysql://user@host:port.

    The database is dropped first, and stays afterwards. Raises CalledProcessError where a program fails.
    """
    program = client(server)
    subprocess.run([*program, "-e", f"DROP DATABASE IF EXISTS {database}"], check=True)
    return Cost(0, sum(_apply_file(reader, program, file) for file in files))


def estimate_with_server(reader: list[str], server: str, files: tuple[str, str], database: str,
                         transactions: tuple[int, int]) -> Cost:
    """The same for a first file and as many transactions of a second one as are said first; its other transactions, of
    as many as are said next, are taken to cost as much each."""
    measured, all_ = transactions
    program = client(server)
    subprocess.run([*program, "-e", f"DROP DATABASE IF EXISTS {database}"], check=True)
    filled = _apply_file(reader, program, files[0])
    changed = _apply_file(reader, program, _first_part(files[1], measured))
    return Cost(0, filled + changed * all_ / measured)


def is_mariadb(server: str) -> bool:
    """Return whether MariaDB answers there."""
    said = subprocess.run([*client(server), "-e", "SELECT VERSION()"], capture_output=True, text=True, check=True)
    return "mariadb" in said.stdout.lower()


def count_transactions(file: str) -> int:
    """Return how many transactions of rows are in a file."""
    return sum(kind == EventType.XID for kind, _ in _events(file))


def _first_part(file: str, transactions: int) -> str:
    """A file beside it that ends behind this many transactions (mysqlbinlog stops at no position of standard input)."""
    ends = (end for kind, end in _events(file) if kind == EventType.XID)
    end = next(islice(ends, transactions - 1, None))
    part = f"{file}.part"
    with open(file, "rb") as source, open(part, "wb") as target:
        target.write(source.read(end))
    return part


def _events(file: str) -> Iterator[tuple[int, int]]:
    """Type and end of each event."""
    with open(file, "rb") as stream:
        data, at = stream.read(), 4
    while at < len(data):
        size = unpack_from("<I", data, at + 9)[0]
        at += size
        yield data[at - size + 4], at


def client(server: str) -> list[str]:
    """The command of a client of this server, which takes statements from standard input."""
    url = urlsplit(server)
    return [
        "mariadb" if shutil.which("mariadb") else "mysql",
        "--no-defaults",
        "--binary-mode",
        "-h",
        url.hostname or "127.0.0.1",
        "-P",
        str(url.port or 3306),
        "-u",
        url.username or "root",
        *([f"-p{url.password}"] if url.password else []),
    ]


def _apply_file(reader: list[str], client: list[str], file: str) -> float:
    """Seconds until the server has applied a file."""
    began = time.perf_counter()
    with open(file, "rb") as log:
        options = ["--no-defaults"] if reader == [MARIADB_BINLOG] else ["--no-defaults", "--skip-gtids"]
        read = subprocess.Popen([*reader, *options, "-"], stdin=log, stdout=subprocess.PIPE)
        subprocess.run(client, stdin=read.stdout, stdout=subprocess.DEVNULL, check=True)
        if read.wait():
            raise subprocess.CalledProcessError(read.returncode, reader)
    return time.perf_counter() - began


ENGINES: dict[str, Callable[[pa.Table], Callable[[], Any]]] = {"DuckDB": with_duckdb, "Polars": with_polars}
os.environ.setdefault("POLARS_MAX_THREADS", "1")
