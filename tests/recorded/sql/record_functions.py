"""Records what real servers compute by the functions of functions.sql, each in a generated column over several rows:
`python -m tests.recorded.sql.record_functions URL…` with mysql://USER@HOST:PORT; with the word mysql, of those of
mysql_functions.sql, what only MySQL computes so.

functions.jsonl.gz, or mysql_functions.jsonl.gz, holds a line for each column that a server takes: {"server", "kind",
"text", "values": [what the rows hold, as `shown` selects it]}.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.recorded.sql.server_columns import computing, make_base, shown, write

FOLDER = Path(__file__).parent
RECORDED = {name: FOLDER / f"{name}.jsonl.gz" for name in ("functions", "mysql_functions")}
_ASKED = re.compile(r"(\S+(?: CHARACTER SET \w+| UNSIGNED)?) (.*)")
COLUMNS = {
    "i": "INT", "n": "BIGINT", "m0": "SMALLINT", "dec2": "DECIMAL(12,3)", "db": "DOUBLE", "bt": "BIT(8)", "yr": "YEAR",
    "s": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "a": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "sb": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "u": "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
    "l": "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci", "vb": "VARBINARY(20)", "b": "BINARY(3)",
    "d": "DATE", "dt": "DATETIME(3)", "t": "TIME", "ds": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "w": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "v": "VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci",
    "lw": "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci", "xb": "VARBINARY(20)",
    "bu": "BIGINT UNSIGNED", "t6": "TIME(6)", "fl": "FLOAT", "e": "ENUM('a','B','é')",
    "bw": "BIT(64)",
}
ROWS = [
    [5, 5, 1, "1.500", "1.5", 5, 2024, "apple", "Apple", "apple", "Ann@example.com", "apple", "apple", "ab",
     "2024-02-29", "2024-02-29 10:11:12.345", "10:11:12", "2024-02-29",
     "Éa", "Eb", "ÄÖ", b"\xff\x00'", 2**64 - 1, "10:11:12.345678", 1.1, "a", 2**64 - 300],
    [0, -1, 0, "-0.005", "-2.25", 0, 1999, "Banana", "apple", "Apple", "bob@mail.org", "banana", "Banana", "a",
     "1999-01-01", "1999-12-31 23:59:59.999", "-01:02:03", "1999-01-01",
     "日本é", "école", "ß", b"\\a\x1a", 0, "-00:00:00.500000", -0.5, "B", 0],
    [-3, 1234567890123, -7, "1234567.895", "1e10", 255, 0, "", "b", "b", "x", "e", "", "", "2000-12-31",
     "2000-01-01 00:00:00.000", "838:59:59", "2000-12-31",
     "straße", "STRASSE", "é", b"", 1, "00:00:00.000000", 100.25, "é", 5],
    [12, -9007199254740993, 12, "999.999", "0", 65, 2001, "cherry 12", "cherry", "Cherry", "Carl_Q@a@b.c",
     "Emma", "a b", "abc", "2023-01-02", "2023-01-01 12:30:00.500", "00:00:00", "2023-01-02",
     "😀x", "æ", "ñandú", b"\xc3\xa9", 167772161, "838:59:59.000000", 3e10, "a", 2**63],
    [123456, 7, 3, "0.000", "123456.789", 1, 2155, "a_b%c", "a_c", "a_b", "5", "7a", "zoo", "zz", "2020-12-27",
     "2020-12-27 01:00:00.000", "23:00:01", "2020-12-27",
     "a'b\\c", "œuvre", "y", b"abc", 4294967296, "23:00:01.999999", 2.5, "B", 2**64 - 1],
    [1, 0, -1, "-12.345", "-0.05", 16, 1970, "7", "7", "7", "App", "App", "7", "7", "2021-01-03",
     "2021-01-03 13:14:15.000", "12:00:00", "2021-01-03",
     "ÿ ", "zå", "-", b"10.0.5.9", 2**63, "-12:34:56.000001", 16777216, "a", 1],
    [None] * 27,
]


def record(url: str, asked: list[str]) -> Iterator[dict]:
    """All of the columns that the server at a URL takes."""
    from pymysql import MySQLError

    with computing(url) as (cursor, version):
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        make_base(cursor, COLUMNS, ROWS)
        for line in asked:
            kind, text = _ASKED.fullmatch(line).groups()
            try:
                cursor.execute("DROP TABLE IF EXISTS t")
                cursor.execute(f"CREATE TABLE t (k INT PRIMARY KEY, {columns}, g {kind} AS ({text}) STORED)")
                cursor.execute(f"INSERT INTO t (k, {', '.join(COLUMNS)}) SELECT * FROM base")
                cursor.execute(f"SELECT {shown(kind)} FROM t ORDER BY k")
            except MySQLError:
                continue
            yield {"server": version, "kind": kind, "text": text, "values": [value for value, in cursor.fetchall()]}


def main(words: list[str]) -> None:
    name = "mysql_functions" if "mysql" in words else "functions"
    asked = (FOLDER / f"{name}.sql").read_text().splitlines()
    urls = [word for word in words if word != "mysql"]
    write(RECORDED[name], (case for url in urls for case in record(url, asked)))


if __name__ == "__main__":
    main(sys.argv[1:])
