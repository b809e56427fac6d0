"""Records what servers make of literals, labels and text of several character sets.

    python -m tests.recorded.charsets.record_charsets NAME PORT DATADIR

The server must be empty, with binlogs in DATADIR. The script writes NAME beside this file: the packed binlog, the
statements that the server refused (`case.json`), and a line for each table (`expected.jsonl`): its name, its columns,
its rows, in the form of tests/support/real_server.py.
"""

import gzip
import json
import re
import shutil
import sys
from pathlib import Path

import pymysql

HERE = Path(__file__).parent
E_LATIN1 = "'\udce9'"
"""The byte E9, which is é in latin1."""
LITERALS = [
    ("SET NAMES utf8mb4", "'é'", "utf8mb4"), ("SET NAMES utf8mb4", "'é'", "latin1"),
    ("SET NAMES latin1", E_LATIN1, "utf8mb4"), ("SET NAMES latin1", E_LATIN1, "latin1"),
    ("SET NAMES latin1", E_LATIN1, "cp1251"), ("SET NAMES cp1251", E_LATIN1, "utf8mb4"),
    ("SET NAMES binary", "'é'", "utf8mb4"), ("SET NAMES binary", "'é'", "latin1"),
    ("SET NAMES utf8mb4, character_set_connection = latin1", "'ł'", "utf8mb4"),
    ("SET NAMES utf8mb4, character_set_connection = latin1", "'é'", "utf8mb4"),
    ("SET NAMES utf8mb4, character_set_connection = utf8mb3", "'a😀é'", "utf8mb4"),
    ("SET NAMES utf8mb4", "_latin1'é'", "utf8mb4"), ("SET NAMES utf8mb4", "_latin1'é'", "latin1"),
    ("SET NAMES utf8mb4", "_latin1 'aé' 'b'", "utf8mb4"), ("SET NAMES utf8mb4", "_latin1 X'E9'", "utf8mb4"),
    ("SET NAMES utf8mb4", "_binary'é'", "utf8mb4"), ("SET NAMES utf8mb4", "_binary'é'", "latin1"),
    ("SET NAMES utf8mb4", "_latin1'plain'", "utf8mb4"), ("SET NAMES utf8mb4", "_cp1251'é'", "utf8mb4"),
    ("SET NAMES latin1", "_latin1" + E_LATIN1, "utf8mb4"), ("SET NAMES latin1", "_utf8mb4'é'", "utf8mb4"),
    ("SET NAMES latin1", "N'é'", "utf8mb4"), ("SET NAMES utf8mb4", "N'é'", "latin1"),
    ("SET NAMES utf8mb4", "n'é' 'x'", "utf8mb4"), ("SET NAMES utf8mb4", "_ucs2'ab'", "utf8mb4"),
]
COLUMNS = [
    "a VARCHAR(30) CHARACTER SET utf8mb4 AS (CONCAT({0}, id)) STORED", "b VARBINARY(30) AS ({0}) STORED",
    "c VARBINARY(30) DEFAULT {0}", "d VARBINARY(30) AS (CONCAT(LENGTH({0}), 'x')) STORED",
    "e VARCHAR(30) CHARACTER SET utf8mb4 DEFAULT (CONCAT({0}, 'z'))", "f VARBINARY(30) DEFAULT (CONCAT({0}, 'x'))",
    "g VARBINARY(30) DEFAULT (CONCAT({0}, id))", "h BLOB DEFAULT ({0})", "i TEXT CHARACTER SET utf8mb4 DEFAULT ({0})",
    "j VARCHAR(30) CHARACTER SET latin1 DEFAULT {0}", "k VARCHAR(30) CHARACTER SET utf8mb4 DEFAULT {0}",
    "l ENUM({0}, 'b') CHARACTER SET latin1 DEFAULT {0}", "m SET({0}, 'b') CHARACTER SET utf8mb4 DEFAULT {0}",
    "n INT AS (LENGTH(CONCAT({0}, 'y', id))) VIRTUAL", "o CHAR(30) CHARACTER SET utf8mb4 COMMENT {0} DEFAULT ({0})",
]
OF_DIGITS = [
    "VARCHAR(3) CHARACTER SET sjis DEFAULT x'8140'", "VARCHAR(3) CHARACTER SET ucs2 DEFAULT x'41'",
    "VARCHAR(3) CHARACTER SET ucs2 DEFAULT x'0041'", "VARCHAR(3) CHARACTER SET cp1251 DEFAULT x'E9'",
    "ENUM(x'E9', 'x') CHARACTER SET latin1 DEFAULT x'E9'", "VARCHAR(3) CHARACTER SET utf8mb4 DEFAULT x'C3A9'",
    "VARCHAR(9) CHARACTER SET utf8mb4 AS (CONCAT(x'C3A9', id)) STORED",
    "VARCHAR(9) CHARACTER SET latin1 AS (x'E9') STORED", "VARCHAR(9) CHARACTER SET latin1 DEFAULT (x'E9')",
    "VARCHAR(9) CHARACTER SET utf16 DEFAULT _utf8mb4 x'C3A9'", "VARCHAR(9) CHARACTER SET cp1251 DEFAULT _binary x'E9'",
    "VARCHAR(9) CHARACTER SET ucs2 DEFAULT _binary'a'",
    "VARCHAR(9) CHARACTER SET utf8mb4 AS (CONCAT(_binary'a', id)) STORED",
]
OF_BYTES = """
    CREATE TABLE {0} (id INT PRIMARY KEY, a VARCHAR(9),
                      v VARCHAR(20) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')), k INT AS (LENGTH(a)) STORED,
                      h VARCHAR(30) AS (HEX(a)) STORED, b VARBINARY(30) AS (a) STORED, l INT AS (LENGTH(v)) STORED,
                      c VARCHAR(9) AS (a) STORED, z INT AS (LENGTH(CONCAT('é', id))) STORED,
                      y INT AS (LENGTH(CONCAT('é', a))) STORED) CHARACTER SET latin1
"""
CONVERSIONS = ["CONVERT TO CHARACTER SET utf8mb4", "MODIFY a VARCHAR(9) CHARACTER SET utf8mb4",
               "MODIFY a VARCHAR(9) CHARACTER SET cp850", "CONVERT TO CHARACTER SET cp850", "MODIFY a TEXT",
               "DEFAULT CHARACTER SET utf8mb4", "MODIFY c VARCHAR(9) CHARACTER SET utf8mb4 AS (a) STORED"]
LABELS = [
    ("utf8mb4", "latin1", "é"), ("latin1", "cp1251", "é"), ("cp1251", "latin1", "Ж"), ("utf8mb4", "cp1251", "é"),
    ("utf8mb3", "utf8mb4", "é"), ("latin1", "cp850", "é"), ("utf8mb4", "binary", "é"),
]
CHOICES = [
    "IFNULL(l, 'x')", "IF(id = 1, l, 'ù')", "CASE id WHEN 1 THEN l ELSE u END", "COALESCE(l, u)",
    "NULLIF(l, 'y')", "CASE WHEN id = 2 THEN 'é' ELSE l END", "CONCAT(l, u)", "CONCAT(l, 'é')", "IF(id = 1, l, e)",
    "IF(id = 1, e, 'x')", "e", "CONCAT(e, 'x')", "IF(id = 1, NULL, l)", "LEFT(l, 1)", "LENGTH(e)",
    "LENGTH(IF(id = 1, u, l))", "IFNULL(NULL, l)", "IF(id = 1, 'é', 'ù')",
]


def statements():
    """All statements, in order; a surrogate stands for a byte that is not UTF-8."""
    for number, (session, literal, charset) in enumerate(LITERALS):
        name = f"literal_{number:02d}"
        yield f"CREATE TABLE {name} (id INT PRIMARY KEY) CHARACTER SET {charset}"
        yield f"INSERT INTO {name} VALUES (1)"
        yield session
        for column in COLUMNS:
            if "_ucs2" in literal and "CONCAT({0}, 'x')" in column:
                continue  # text in a wide set and in another is not computed
            yield f"ALTER TABLE {name} ADD " + column.format(literal)
        yield "SET NAMES utf8mb4"
        yield "SET binlog_row_image = MINIMAL"
        yield f"INSERT INTO {name} (id) VALUES (2)"
        yield "SET binlog_row_image = FULL"
        yield f"INSERT INTO {name} (id) VALUES (3)"
        for type_ in ("VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                      "VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_bin", "VARBINARY(9)"):
            name = f"parts_{number:02d}_{type_[3:7].lower()}_{type_[25:28]}"
            yield f"CREATE TABLE {name} (id INT, a {type_})"
            yield session
            yield (f"ALTER TABLE {name} PARTITION BY LIST COLUMNS (a) (PARTITION p0 VALUES IN ({literal}), "
                   "PARTITION p1 VALUES IN ('b'))")
            yield f"INSERT INTO {name} VALUES (1, {literal}), (2, 'b')"
            yield f"ALTER TABLE {name} TRUNCATE PARTITION p0"
            yield "SET NAMES utf8mb4"
    for session in ("utf8mb4", "latin1"):
        name = f"digits_{session}"
        yield f"CREATE TABLE {name} (id INT PRIMARY KEY)"
        yield f"INSERT INTO {name} VALUES (1)"
        yield f"SET NAMES {session}"
        for number, column in enumerate(OF_DIGITS):
            yield f"ALTER TABLE {name} ADD c{number} {column}"
        yield f"ALTER TABLE {name} ALTER c3 SET DEFAULT x'E8'"
        yield "SET NAMES utf8mb4"
        yield "SET binlog_row_image = MINIMAL"
        yield f"INSERT INTO {name} (id) VALUES (2)"
        yield "SET binlog_row_image = FULL"
    for number, conversion in enumerate(CONVERSIONS):
        yield OF_BYTES.format(f"bytes_{number}")
        yield f"INSERT INTO bytes_{number} (id, a) VALUES (1, 'é'), (2, 'e')"
        yield f"ALTER TABLE bytes_{number} {conversion}"
        yield f"INSERT INTO bytes_{number} (id, a) VALUES (3, 'é')"
    yield "SET sql_mode = ''"
    for number, (before, after, label) in enumerate(LABELS):
        for way, words in [("convert", "CONVERT TO CHARACTER SET {1}"),
                           ("modify", "MODIFY e ENUM('a', '{0}', 'b') CHARACTER SET {1}, "
                                      "MODIFY s SET('x', '{0}') CHARACTER SET {1}")]:
            if (way, before) == ("modify", "utf8mb4") and after == "binary":
                continue
            name = f"labels_{number}_{way}"
            yield (f"CREATE TABLE {name} (id INT PRIMARY KEY, e ENUM('a', '{label}', 'b'), s SET('x', '{label}')) "
                   f"CHARACTER SET {before}")
            yield f"INSERT INTO {name} VALUES (1, 2, 3), (2, 3, 1), (3, 1, 0)"
            yield f"ALTER TABLE {name} " + words.format(label, after)
            yield f"UPDATE {name} SET e = 2, s = 2 WHERE id = 3"
    yield "SET sql_mode = DEFAULT"
    yield ("CREATE TABLE choices (id INT PRIMARY KEY, l VARCHAR(9) CHARACTER SET latin1, "
           "u VARCHAR(9) CHARACTER SET utf8mb4, e ENUM('é', 'x') CHARACTER SET latin1) CHARACTER SET utf8mb4")
    yield "INSERT INTO choices VALUES (1, 'é', 'ù', 1), (2, 'é', 'ù', 1), (3, NULL, 'ù', 2)"
    for number, choice in enumerate(CHOICES):
        yield f"ALTER TABLE choices ADD c{number} VARBINARY(20) AS ({choice}) STORED"
    yield "SET sql_mode = 'NO_BACKSLASH_ESCAPES'"
    for number, text in enumerate(["\\", "a\\b", "\n", "\\n\\\\", "x"]):
        yield (f"CREATE TABLE escapes_{number} (id INT PRIMARY KEY, a VARCHAR(40) AS (CONCAT('{text}', id)) STORED, "
               f"c VARCHAR(40) DEFAULT '{text}')")
        yield f"INSERT INTO escapes_{number} (id) VALUES (1)"
        yield f"CREATE TABLE added_{number} (id INT PRIMARY KEY)"
        yield f"INSERT INTO added_{number} VALUES (1)"
        yield (f"ALTER TABLE added_{number} ADD a VARCHAR(40) AS (CONCAT('{text}', id)) STORED, "
               f"ADD b VARCHAR(40) DEFAULT (CONCAT('{text}', 'n')), ADD c VARCHAR(40) DEFAULT '{text}'")
        yield f"INSERT INTO added_{number} (id) VALUES (2)"


def record(name: str, port: int, data: Path) -> None:
    server = pymysql.connect(host="127.0.0.1", port=port, user="root", charset="utf8mb4", autocommit=True)
    cursor = server.cursor()
    cursor.execute("CREATE DATABASE d1 CHARACTER SET utf8mb4")
    cursor.execute("USE d1")
    refused = []
    for sql in statements():
        try:
            _run(server, sql)
        except pymysql.err.MySQLError as error:
            refused.append(f"{error.args[0]} {sql.encode('utf-8', 'backslashreplace').decode()}")
    cursor.execute("SET NAMES utf8mb4, time_zone = '+00:00'")
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd1'")
    lines = [json.dumps(_held(cursor, table), ensure_ascii=False) + "\n" for (table,) in cursor.fetchall()]
    (folder / "expected.jsonl").write_text("".join(sorted(lines)), "utf-8")
    cursor.execute("SELECT VERSION()")
    [[version]] = cursor.fetchall()
    (folder / "case.json").write_text(json.dumps({"version": version, "refused": refused}, indent=1,
                                                 ensure_ascii=False) + "\n")
    cursor.execute("FLUSH BINARY LOGS")
    log = next(file for file in sorted(data.iterdir()) if re.search(r"bin.*\.0+1$", file.name))
    (folder / "binlog.000001.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    print(f"{folder}: {version}, {len(refused)} refused")


def _run(server: pymysql.Connection, sql: str) -> None:
    server._execute_command(pymysql.constants.COMMAND.COM_QUERY, sql.encode("utf-8", "surrogateescape"))
    server._affected_rows = server._read_query_result()


def _held(cursor: pymysql.cursors.Cursor, table: str) -> list:
    """A table's name, columns and rows."""
    cursor.execute("SELECT column_name, column_type, generation_expression, extra FROM information_schema.columns "
                   "WHERE table_schema = 'd1' AND table_name = %s ORDER BY ordinal_position", table)
    columns = [(name, kind) for name, kind, _, extra in cursor.fetchall() if "VIRTUAL" not in extra]
    shown = [f"HEX(`{name}`)" if "binary" in kind or "blob" in kind else f"`{name}`" for name, kind in columns]
    cursor.execute(f"SELECT {', '.join(shown)} FROM `{table}`")
    rows = [[_cell(expression, cell) for expression, cell in zip(shown, row, strict=True)] for row in cursor.fetchall()]
    return [f"d1.{table}", columns, rows]


def _cell(expression: str, cell: object) -> object:
    if isinstance(cell, bytes):  # a label of bytes
        return cell.decode()
    return cell.lower() if expression.startswith("HEX") and isinstance(cell, str) else cell


if __name__ == "__main__":
    record(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
