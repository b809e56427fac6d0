"""A log of every column type, for the writer's test, and what real readers print of it.

    python -m tests.recorded.binlog.writer_sample write mysql …/binlog.000001
    mysqlbinlog --verify-binlog-checksum -v --base64-output=decode-rows …/binlog.000001 |
        python -m tests.recorded.binlog.writer_sample record mysql …/binlog.000001

and the same for mariadb with mariadb-binlog. What is recorded, in recorded/archives/writer/, are the row lines that the
reader printed, after the SHA-256 of the file that it read: while the writer writes the same bytes, a real reader takes
them.
"""

import hashlib
import pathlib
import struct
import sys

import numpy as np
import pyarrow as pa

from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateTable
from applier.schema.definition import TableDefinition
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.folders import ARCHIVES

RECORDS = ARCHIVES / "writer"
ROWS = 12


CREATE = """CREATE TABLE every (
  id bigint unsigned NOT NULL PRIMARY KEY, ti tinyint, si smallint unsigned, mi mediumint, i int, f float, d double,
  `dec` decimal(38,10), b bit(11), y year, dt date, dtm0 datetime, dtm6 datetime(6), ts3 timestamp(3) NULL, t0 time,
  t2 time(2), t6 time(6), c char(10), cw char(200), v varchar(60), vw varchar(300), bin binary(8), vb varbinary(9),
  tx text, tb tinyblob, mb mediumblob, lb longblob, e enum('small','it''s','large'), e2 enum({members}), s set({flags}),
  {own}
) DEFAULT CHARSET=utf8mb4"""
OWN = {
    "mysql": "j json, vec vector(2)",
    # no geometry in MySQL's: mysqlbinlog -v gives up on an event where it meets one
    "mariadb": "i4 inet4, i6 inet6, u uuid, g point",
}


def create_sql(flavour: str) -> str:
    """The statement that makes a table with a column of each type that the flavour logs."""
    return CREATE.format(
        members=",".join(f"'m{n}'" for n in range(300)), flags=",".join(f"'s{n}'" for n in range(20)), own=OWN[flavour]
    )


def every_type(flavour: str) -> TableDefinition:
    """That table."""
    [change] = parse_statement(create_sql(flavour), default_database="sample", flavour=flavour)
    assert isinstance(change, CreateTable)
    return change.definition


def values(flavour: str, seed: int) -> dict[str, pa.Array]:
    """Raw values of all columns, ROWS of them, every column but the key with NULLs in other places."""
    random = np.random.default_rng(seed)
    n = np.arange(ROWS)
    texts = ["", "a", "naïve 日本", "o'clock", "x" * 5, "é"] * 2
    point = struct.pack("<IBIdd", 0, 1, 1, 1.5, -2.25)
    whole = {
        "id": pa.array(n + 10, pa.int64()),
        "ti": pa.array(n * 20 - 128, pa.int8()),
        "si": pa.array((n * 5000).astype(np.uint16).view(np.int16)),
        "mi": pa.array(n * 1_398_101 - 8_388_608, pa.int32()),
        "i": pa.array(random.integers(-(2**31), 2**31, ROWS), pa.int32()),
        "f": pa.array(n / 8 - 0.5, pa.float32()),
        "d": pa.array(random.normal(size=ROWS)),
        "dec": pa.array([f"{'-' * int(k % 2)}{7 ** int(k * 3)}.{k:010}" for k in n]).cast(pa.decimal128(38, 10)),
        "b": pa.array(n * 180, pa.uint64()),
        "y": pa.array([0, 1901, 2155, 1999] * 3, pa.int16()),
        "dt": pa.array(n * 40_000 - 300_000, pa.int32()).cast(pa.date32()),
        "dtm0": pa.array(n * 10**15 // 10**6 * 10**6, pa.timestamp("us")),
        "dtm6": pa.array(n * 123_456_789_012_345 - 10**15, pa.timestamp("us")),
        "ts3": pa.array(n * 177_000_000_123_000 + 1_000_000, pa.timestamp("us", "UTC")),
        "t0": pa.array((n - 6) * 500_000_000_000, pa.duration("us")),
        "t2": pa.array((n - 6) * 500_000_010_000, pa.duration("us")),
        "t6": pa.array((n - 6) * 500_000_000_001, pa.duration("us")),
        "c": pa.array(texts),
        "cw": pa.array([text * 3 for text in texts]),
        "v": pa.array(texts[::-1]),
        "vw": pa.array([text * 4 for text in texts]),
        "bin": pa.array([bytes(range(k % 9)) for k in n]),
        "vb": pa.array([b"\0\xff" * (k % 5) for k in n]),
        "tx": pa.array([text * 3 for text in texts]),
        "tb": pa.array([b"\xee" * (k // 10 * 255) for k in n]),
        "mb": pa.array([b"m" * int(k // 11 * 300) for k in n]),
        "lb": pa.array([b"\x0a" * k for k in n]),
        "e": pa.array(n % 4, pa.uint16()),
        "e2": pa.array(n * 25 + 1, pa.uint16()),
        "s": pa.array(n * 95_325, pa.uint64()),
    }
    if flavour == "mysql":  # {"a": k} in binary JSON: an object of one member, an int16 inlined
        whole["j"] = pa.array([struct.pack("<BHHHHBH1s", 0, 1, 12, 11, 1, 5, int(k), b"a") for k in n])
        whole["vec"] = pa.array([struct.pack("<ff", k, -k / 4) for k in n])
    else:
        whole |= {
            "i4": pa.array([bytes((10, 0, 0, int(k))) for k in n]),
            "i6": pa.array([bytes(14) + bytes((1, int(k))) for k in n]),
            "u": pa.array([bytes(range(int(k), int(k) + 16)) for k in n]),
            "g": pa.array([point] * ROWS),
        }
    for name in whole:
        if name != "id":
            missing = pa.array(random.random(ROWS) < 0.15)
            whole[name] = pa.compute.if_else(missing, pa.scalar(None, whole[name].type), whole[name])
    return whole


def write(path: pathlib.Path, flavour: str) -> None:
    """The sample: each operation, with full and minimal images, as one statement and as transactions of single rows."""
    table, old, new = every_type(flavour), values(flavour, 1), values(flavour, 2)
    key = {"id": old["id"]}
    with BinlogWriter(path, flavour=flavour) as log:
        log.query("CREATE DATABASE sample")
        log.query(create_sql(flavour), "sample")
        with log.transaction():
            log.rows(RowChanges(table, after=old))
        with log.transaction(end="rollback"):
            log.rows(RowChanges(table, before=old))
        log.transactions(
            [
                RowChanges(table, before=old, after=new),
                RowChanges(table, before=key, after={"v": old["v"], "dec": old["dec"], "t6": old["t6"]}),
            ]
        )
        with log.transaction():
            log.rows(RowChanges(table, before=key))


def row_lines(printed: str) -> list[str]:
    """The lines of a reader's output that show rows."""
    return [line.split(" /*")[0].rstrip() for line in printed.splitlines() if line.startswith("###")]


def record(flavour: str, path: pathlib.Path, printed: str) -> None:
    RECORDS.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (RECORDS / f"{flavour}.txt").write_text("\n".join([digest, *row_lines(printed)]) + "\n")


if __name__ == "__main__":
    verb, flavour, path = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if verb == "write":
        write(path, flavour)
    else:
        record(flavour, path, sys.stdin.buffer.read().decode(errors="backslashreplace"))
