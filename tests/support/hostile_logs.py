"""Logs whose names and statements are not what any server writes: bytes that are not text, wherever a name may be."""

from pathlib import Path

import pyarrow as pa

from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter

RAW = "RAW"
"""In place of bytes in a log that are not text: of the same length, so that no length changes."""
NO_TEXTS = (b"\xff\xfe\x80", b"\x1b[2", b"a\x00b", b"\xed\xa0\x80", b"\xe2\x80\xae")
"""Not UTF-8; an escape sequence; a NUL; a surrogate; an order of characters."""
PLACES = {
    "database": (f"CREATE DATABASE {RAW}", f"CREATE TABLE {RAW}.t (a INT PRIMARY KEY)"),
    "table": (f"CREATE TABLE d.{RAW} (a INT PRIMARY KEY)",),
    "column": (f"CREATE TABLE d.t (`{RAW}` INT PRIMARY KEY)",),
    "index": (f"CREATE TABLE d.t (a INT PRIMARY KEY, KEY `{RAW}` (a))",),
    "comment": (f"CREATE TABLE d.t (a INT PRIMARY KEY COMMENT '{RAW}') COMMENT '{RAW}'",),
    "member": (f"CREATE TABLE d.t (a INT PRIMARY KEY, e ENUM('{RAW}'))",),
    "default": (f"CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(9) DEFAULT '{RAW}')",),
    "expression": (f"CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(9) AS (CONCAT('{RAW}')))",),
    "partition": (
        f"CREATE TABLE d.t (a INT PRIMARY KEY) PARTITION BY RANGE (a) (PARTITION `{RAW}` VALUES LESS THAN (9))",),
    "altered": ("CREATE TABLE d.t (a INT PRIMARY KEY)", f"ALTER TABLE d.t ADD `{RAW}` INT, COMMENT '{RAW}'"),
    "renamed": ("CREATE TABLE d.t (a INT PRIMARY KEY)", f"RENAME TABLE d.t TO d.`{RAW}`"),
    "like": ("CREATE TABLE d.t (a INT PRIMARY KEY)", f"CREATE TABLE d.`{RAW}` LIKE d.t"),
    "dropped": ("CREATE TABLE d.t (a INT PRIMARY KEY)", f"DROP TABLE IF EXISTS d.`{RAW}`"),
    "foreign key": ("CREATE TABLE d.t (a INT PRIMARY KEY)",
                    f"CREATE TABLE d.u (a INT, CONSTRAINT `{RAW}` FOREIGN KEY (a) REFERENCES `{RAW}` (`{RAW}`))"),
    "statement": ("CREATE TABLE d.t (a INT PRIMARY KEY)", f"INSERT INTO d.t VALUES ('{RAW}')"),
    "no statement": (f"{RAW} {RAW}",),
    "engine": (f"CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE='{RAW}'",),
    "collation": (f"CREATE DATABASE x COLLATE '{RAW}'",),
}


def write_log(path: Path, statements: tuple[str, ...], raw: bytes, flavour: str) -> None:
    """A log of the statements and a row of the first table, in which `raw` stands wherever RAW stood."""
    with BinlogWriter(path, flavour=flavour, checksum=False) as log:
        for sql in statements:
            log.query(sql, "d")
        made = next((change for sql in statements if sql.startswith("CREATE TABLE")
                     for change in parse_statement(sql, default_database="d", flavour=flavour)), None)
        if made is not None:
            definition = made.definition
            arrays = {column.name: pa.array([1] if number == 0 else [None], pa.int32() if number == 0 else pa.string())
                      for number, column in enumerate(definition.columns) if column.type.base != "enum"
                      and not column.generated}
            if any(column.type.base == "enum" for column in definition.columns):
                arrays["e"] = pa.array([None], pa.int64())
            with log.transaction():
                log.rows(RowChanges(definition, after=arrays))
    data = path.read_bytes()
    path.write_bytes(data.replace(RAW.encode(), raw[:3].ljust(3)))
