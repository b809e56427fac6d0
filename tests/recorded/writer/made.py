"""A log of applier.binlog.Writer that real servers took: mysqlbinlog into a client, and as a replica's relay log.

    python -m tests.recorded.writer.made mysql plain …/mysql.000001          or mariadb, or compressed
    mysqlbinlog --verify-binlog-checksum …/mysql.000001 | mysql …
    mysqldump --databases shop --set-gtid-purged=OFF >tests/recorded/writer/mysql.sql
    python -m tests.recorded.writer.made mysql digest …/mysql.000001         (of the plain one)

As a relay log: put it into a new server's data directory, with its name in the index of relay logs; then

    CHANGE REPLICATION SOURCE TO RELAY_LOG_FILE='mysql.000001', RELAY_LOG_POS=4, SOURCE_HOST='nowhere';
    START REPLICA SQL_THREAD;

Both ways, plain and compressed, left the rows of the dumps in MySQL 9.7 and MariaDB 10.11.
"""

import hashlib
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import applier.binlog
from jsondiff import Diff, Operation, path

HERE = Path(__file__).parent
N, FIRST = 40, 1 << 63
CREATE = """CREATE TABLE item (
  id BIGINT UNSIGNED NOT NULL PRIMARY KEY, kind ENUM('lamp','stove'), tags SET('a','b','c'), name VARCHAR(80),
  code CHAR(6) CHARACTER SET latin1, price DECIMAL(12,3), wide DECIMAL(65,30), f FLOAT, d DOUBLE, made DATE,
  at DATETIME(6), ts TIMESTAMP(3) NULL, dur TIME(2), y YEAR, b BIT(11), data BLOB, bin BINARY(4), about JSON)
  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"""


def rows() -> dict[str, list[object]]:
    """Values of all columns."""
    noon = datetime(2021, 1, 1, 12, 0, 0, 123456)
    return {
        "id": [FIRST + i for i in range(N)], "kind": [("lamp", "stove", None)[i % 3] for i in range(N)],
        "tags": [("a,c", "", "b")[i % 3] for i in range(N)], "name": [f"Stövchen {i} 日本" for i in range(N)],
        "code": [f"é{i}" for i in range(N)], "price": [Decimal("-12.345") * i for i in range(N)],
        "wide": [f"{-i}.{i:030}" if i else None for i in range(N)], "f": [i / 4 for i in range(N)],
        "d": [i / 7 for i in range(N)], "made": [date(2020, 2, 29) + timedelta(i) for i in range(N)],
        "at": [noon + timedelta(hours=i) for i in range(N)],
        "ts": [noon.replace(microsecond=123000, tzinfo=UTC) + timedelta(hours=i) for i in range(N)],
        "dur": [timedelta(seconds=-1.25 * i) for i in range(N)], "y": [1990 + i for i in range(N)],
        "b": list(range(N)), "data": [b"\0x%d" % i for i in range(N)], "bin": [b"ab\0\0"] * N,
        "about": [f'{{"n": {i}, "l": [1, 2.5, null, "x"]}}' for i in range(N)],
    }


def write(file: Path, flavour: str, *, compress: bool) -> None:
    """Write the log."""
    with applier.binlog.Writer(file, flavour=flavour, compress=compress, server_id=77,
                               source="11111111-2222-4333-8444-555555555555",
                               time=datetime(2026, 3, 14, 10, tzinfo=UTC)) as log:
        log.query("CREATE DATABASE shop")
        log.query(CREATE, "shop")
        with log.transaction(datetime(2026, 3, 14, 10, 30, tzinfo=UTC)):
            log.insert("shop.item", rows())
        with log.transaction():
            log.update("shop.item", {"id": [FIRST, FIRST + 1]}, {"name": ["one", "two"], "kind": [None, "lamp"]})
            log.delete("shop.item", {"id": [FIRST + 5, FIRST + 6]})
        if flavour == "mysql":
            with log.transaction():
                changes = [Diff(Operation.REPLACE, path.parse("$.n"), 99),
                           Diff(Operation.INSERT, path.parse("$.new"), {"a": 1})]
                log.update("shop.item", {"id": [FIRST + 9]}, {"about": [changes]}, diffs=["about"])
        log.query("ALTER TABLE shop.item ADD COLUMN extra INT DEFAULT 5, DROP COLUMN f")
        with log.transaction():
            log.insert("shop.item", pa.table({"id": pa.array([1, 2], pa.int64()), "name": ["x", "y"],
                                              "extra": [None, 7]}))


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    flavour, what, file = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if what == "digest":
        (HERE / f"{flavour}.sha256").write_text(digest(file) + "\n")
    else:
        write(file, flavour, compress=what == "compressed")
