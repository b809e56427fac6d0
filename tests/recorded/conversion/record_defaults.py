"""Records what real servers give existing rows when a column is added:
`python -m tests.recorded.conversion.record_defaults URL…` with mysql://USER@HOST:PORT.

defaults.jsonl.gz holds a line for each type of column: {"flavour", "type", "clauses": {clause: {what the rows then
hold, as JSON: [the sql_modes]}}} of `ALTER TABLE t ADD COLUMN x TYPE CLAUSE`, the values as `shown` selects them with
the time zone +00:00. What a server refused is left out. The session's time zone is +05:30, its time NOW.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

ADDED = Path(__file__).parent / "defaults.jsonl.gz"
NOW = 1_700_000_000_256_789
ZONE = "+05:30"
NOT_SQL = 1064
MODES = ["", "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "NO_ZERO_IN_DATE,NO_ZERO_DATE", "ALLOW_INVALID_DATES",
         "STRICT_ALL_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", "TRADITIONAL"]
TABLE = """CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n DECIMAL(6,2), d DATETIME(3), f DOUBLE, y YEAR,
    b TINYINT UNSIGNED, s TIMESTAMP(2) NULL, k DATE, e ENUM('p', 'q'), j JSON) CHARACTER SET utf8mb4"""
ROWS = ["1, 'x', 1.5, '2020-02-29 23:59:59.999', 2.5, 1999, 7, '2001-09-09 01:46:40.25', '2024-12-31', 'q', "
        "'{\"a\": \"q\", \"b\": 2.5, \"c\": [1, {\"d\": null}]}'",
        "2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
        "3, '12abc', -3.25, '1999-01-31 00:00:00', -0.25, 2021, 250, '2020-02-29 12:00:00', '2000-01-31', 'p', "
        "'{\"a\": 7, \"b\": \"z\\\\\\\"y\", \"c\": true}'"]
TYPES = ["TINYINT", "SMALLINT UNSIGNED", "INT", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(10,3)", "DECIMAL(4,1) UNSIGNED",
         "FLOAT", "DOUBLE", "BIT(9)", "YEAR", "CHAR(5)", "VARCHAR(30)", "VARCHAR(3) CHARACTER SET latin1",
         "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "TINYTEXT", "TEXT", "LONGTEXT", "BINARY(4)",
         "VARBINARY(40)", "BLOB", "ENUM('a','b','5')", "SET('a','b','c')", "DATE", "DATETIME", "DATETIME(3)",
         "DATETIME(6)", "TIMESTAMP NULL", "TIMESTAMP(6) NULL", "TIME", "TIME(3)", "JSON", "POINT", "GEOMETRY",
         "INET4", "INET6", "UUID"]
CONSTANTS = ["NULL", "0", "1", "-2.5", "1.5e1", "300", "'5'", "''", "'a'", "'b '", "'c,a'", "'2020-02-29'",
             "'2020-02-29 23:59:59.999'", "'0000-00-00'", "'2020-00-10'", "'2021-02-31'", "'10:11:12.5'", "20200229",
             "x'41'", "b'1'", "TRUE", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP(6)",
             "'::ffff:10.0.0.1'", "'::10.0.0.1'", "'1::2'", "'10.0.0.1'", "'123E4567e89b12d3a456426655440000'"]
EXPRESSIONS = [
    "NULL", "1 + 2", "'12abc'", "'7'", "1.5", "-2.5", "1e2", "300", "x'4142'", "TRUE", "'a'",
    "'2020-02-29 23:59:59.999'", "id", "id + 1", "v", "n", "d", "f", "y", "b", "s", "k", "e", "j", "n * 2",
    "-f", "id + f", "id DIV 2", "id % 2",
    "b - 1", "ABS(n)", "FLOOR(n)", "CEILING(n)", "ROUND(n)", "ROUND(n, 1)", "CONCAT(v, '-', id)", "CONCAT(n, '/', d)",
    "CONCAT(y, b, e)", "CONCAT_WS(',', v, id)", "UPPER(v)", "LOWER('ABC')", "LEFT(v, 1)", "RIGHT(v, 2)",
    "SUBSTRING(v, 2)", "SUBSTRING(v, -2, 1)", "REPEAT(v, 2)", "REPLACE(v, 'x', 'yy')", "TRIM('  a ')", "LENGTH(v)",
    "CHAR_LENGTH(v)", "HEX(v)", "UNHEX('4142')", "MD5(v)", "SHA1(v)", "SHA2(v, 256)", "IF(v IS NULL, 1, 0)",
    "IF(v IS NULL, NULL, 1)", "COALESCE(v, 'none')", "IFNULL(n, 0)", "NULLIF(id, 2)",
    "CASE WHEN id > 2 THEN 'many' WHEN id = 1 THEN 'one' END", "id IN (1, 3)", "id BETWEEN 2 AND 3", "v = 'X'",
    "NOT v <=> NULL", "id > 1 AND n < 0", "CURRENT_DATE", "CURDATE()", "CURRENT_TIME", "CURTIME(3)", "NOW()", "NOW(6)",
    "CURRENT_TIMESTAMP(3)", "UTC_DATE()", "UTC_TIME()", "UTC_TIMESTAMP(3)", "NOW() + INTERVAL 1 DAY",
    "NOW(3) - INTERVAL 1 MONTH", "CURDATE() + INTERVAL 1 YEAR", "CURDATE() + INTERVAL 36 HOUR",
    "DATE_ADD(NOW(), INTERVAL '1:30' MINUTE_SECOND)", "DATE_SUB(d, INTERVAL 1 QUARTER)", "d + INTERVAL id MONTH",
    "k + INTERVAL id DAY", "s + INTERVAL 1 HOUR", "DATE(d)", "TIME(d)", "YEAR(d)", "MONTH(k)", "TO_DAYS(k)", "HOUR(s)",
    "DATEDIFF(d, k)", "UNIX_TIMESTAMP()", "UNIX_TIMESTAMP(s)", "UNIX_TIMESTAMP(NOW(6))",
    "DATE_FORMAT(d, '%Y-%m')", "EXTRACT(YEAR_MONTH FROM k)", "CAST(n AS CHAR)", "CAST(n AS SIGNED)",
    "CAST(d AS CHAR)", "CAST('7' AS UNSIGNED)", "CAST(id AS DECIMAL(8,2))", "CAST('2020-02-29' AS DATE)",
    "JSON_EXTRACT(j, '$.a')", "JSON_UNQUOTE(JSON_EXTRACT(j, '$.a'))", "j->'$.b'", "j->>'$.b'", "JSON_EXTRACT(j, '$.c')",
    "JSON_EXTRACT(j, '$.c[1].d')", "JSON_VALUE(j, '$.a')", "JSON_LENGTH(j, '$.c')", "JSON_ARRAY()", "JSON_OBJECT()",
    "JSON_ARRAY(id, v, n, NULL, TRUE)", "JSON_OBJECT('vv', v, 'id', id)", "'{\"b\": 1.50, \"a\": [2]}'",
    "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('LINESTRING(0 0,1.5 -2e1)')", "POINT(1, 2)",
    "ST_GeomFromText('POLYGON((0 0,0 1,1 1,0 0))')", "ST_GeomFromText('MULTIPOINT(0 0,1 1)')",
    "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(0 0),LINESTRING(0 0,1 1))')", "id / 4", "n / 3", "SQRT(id)",
    "POW(id, 2)",
    "UUID()", "RAND()",
]
CLAUSES = ["", "NOT NULL", *(f"DEFAULT {text}" for text in CONSTANTS),
           *(f"NOT NULL DEFAULT {text}" for text in CONSTANTS),
           *(f"DEFAULT ({text})" for text in EXPRESSIONS),
           *(f"NOT NULL DEFAULT ({text})" for text in ("v", "n", "d", "j->>'$.b'", "CONCAT(v, '-', id)", "NOW()")),
           *(f"AS ({text}) STORED" for text in EXPRESSIONS)]


def shown(kind: str, name: str = "x") -> str:
    """The value as text that tells it exactly."""
    if kind.startswith(("BINARY", "VARBINARY", "BLOB", "POINT", "GEOMETRY")):
        return f"HEX({name})"
    if kind.startswith(("FLOAT", "DOUBLE")):
        return f"CAST(CAST({name} AS DOUBLE) AS CHAR)"
    if kind.startswith(("BIT", "YEAR")):
        return f"CAST({name} + 0 AS CHAR)"
    return f"CAST({name} AS CHAR CHARACTER SET utf8mb4)"


class Server:
    """A connection, as the session that is recorded."""

    def __init__(self, url: str) -> None:
        import pymysql

        place = urlsplit(url)
        self.connection = pymysql.connect(host=place.hostname, port=place.port, user=place.username or "root",
                                          charset="utf8mb4", password=place.password or "", autocommit=True)
        self.errors = pymysql.MySQLError
        self.flavour = "mariadb" if "MariaDB" in self.connection.get_server_info() else "mysql"
        self.run("SET SESSION sql_log_bin = 0")
        self.run("DROP DATABASE IF EXISTS defaults")
        self.run("CREATE DATABASE defaults CHARACTER SET utf8mb4")
        self.run("USE defaults")

    def run(self, sql: str) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []

    def begin(self, mode: str) -> None:
        self.run(f"SET SESSION sql_mode = '{mode}', time_zone = '{ZONE}', timestamp = {NOW / 1e6:.6f}")

    def values(self, columns: list[tuple[str, str]], order: str) -> list[list[str | None]]:
        """The values of columns, given their names and types, by row."""
        self.run("SET SESSION time_zone = '+00:00'")
        wanted = ", ".join(shown(kind, name) for name, kind in columns)
        found = [list(row) for row in self.run(f"SELECT {wanted} FROM t ORDER BY {order}")]
        self.run(f"SET SESSION time_zone = '{ZONE}'")
        return found

    def table(self, create: str, rows: list[str]) -> None:
        self.run("DROP TABLE IF EXISTS t")
        mode = self.run("SELECT @@sql_mode")[0][0]
        self.run("SET SESSION sql_mode = ''")
        self.run(create)
        for row in rows:
            self.run(f"INSERT INTO t VALUES ({row})")
        self.run(f"SET SESSION sql_mode = '{mode}'")


def added(server: Server, kind: str) -> dict[str, dict[str, list[str]]]:
    """What columns of a type hold, by clause, value and sql_mode."""
    found: dict[str, dict[str, list[str]]] = {}
    for mode in MODES:
        server.begin(mode)
        clauses = CLAUSES if mode in ("", "ALLOW_INVALID_DATES") else list(found)
        wanted = {f"x{number}": clause for number, clause in enumerate(clauses)}
        server.table(TABLE, ROWS)
        for part in _groups(server, kind, wanted):
            values = server.values([(name, kind) for name in part], "id")
            for name, column in zip(part, zip(*values, strict=True), strict=True):
                by_value = found.setdefault(wanted[name], {})
                by_value.setdefault(json.dumps(list(column)), []).append(mode)
            server.table(TABLE, ROWS)
    return found


def _groups(server: Server, kind: str, wanted: dict[str, str]) -> Iterator[list[str]]:
    """Adds as many of the columns at a time as the server takes in one statement."""
    left = list(wanted)
    while left:
        part, left = left[:60], left[60:]
        while part:
            try:
                server.run("ALTER TABLE t " + ", ".join(f"ADD COLUMN {name} {kind} {wanted[name]}" for name in part))
            except server.errors as error:
                refused = re.search(r"\bx\d+\b", str(error)) if error.args[0] != NOT_SQL else None
                if refused is not None and refused[0] in part:
                    part.remove(refused[0])  # which it names
                elif len(part) > 1:
                    left = part[len(part) // 2:] + left
                    part = part[:len(part) // 2]
                else:
                    part = []
                continue
            yield part
            break


def write(path: Path, lines: list[dict]) -> None:
    """Writes lines as compressed JSON."""
    with gzip.open(path, "wt", compresslevel=9) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def record(url: str) -> list[dict]:
    """The lines that the server at a URL makes."""
    server = Server(url)
    columns = [{"flavour": server.flavour, "type": kind, "clauses": found}
               for kind in TYPES if (found := added(server, kind))]
    server.run("DROP DATABASE defaults")
    return columns


def main() -> None:
    with ThreadPoolExecutor() as pool:
        write(ADDED, [line for part in pool.map(record, sys.argv[1:]) for line in part])


if __name__ == "__main__":
    main()
