"""Records what real servers make of values in an ALTER: `python -m tests.recorded.conversion.record_conversions URL…`.

conversions.jsonl.gz holds a line for each pair of types: {"flavour", "old", "new", "rows": [[text before, text after],
…]}, the texts as `shown` selects them. The session's time zone is +02:00, its sql_mode empty,
its time MOMENT.
"""

import gzip
import json
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

RECORDED = Path(__file__).parent / "conversions.jsonl.gz"

MOMENT = 1_700_000_000
NUMBERS = ["20240229", "101112", "20240229123456", "8385959", "12.75", "0", "1", "-1", "7",
           "127", "128", "-129", "255", "256", "70000", "-8388609", "2147483648", "4294967295",
           "1.5", "2.5", "-0.5", "0.49", "99.995", "-1234.5678", "9223372036854775807", "1e3"]
TEXTS = ["'20240229'", "'2024-02-31'", "'10:11:12.5'", "'7'", "'2'", "'5'", "'0'", "'12.75'", "'2024-2-9 1:2'",
         "'-1:02:03'", "''", "'a'", "'b '", "'x,y'", "'12'", "' 7abc'", "'-3.5'", "'+4'", "'.5'", "'2020-02-29'",
         "'1'", "'é'",
         "'日'", "'2021-03-04 05:06:07.891'", "'A'", "'1e2'", "'99999999999999999999999'", "'ab'", "'a, b'"]
MOMENTS = ["'2020-12-31 23:59:59.600000'", "'1999-01-01 00:00:00.499999'", "'2000-02-29 12:30:00'", "'1970-01-02'",
           "'2038-01-19 03:14:06.9995'", "'1985-07-05 23:59:59.9999995'"]
TIMES = ["'-01:02:03.456'", "'23:00:00.999'", "'838:59:59'", "'00:00:00.5'", "'-00:00:00.5'"]
TYPES = {
    "TINYINT": NUMBERS, "SMALLINT UNSIGNED": NUMBERS, "MEDIUMINT": NUMBERS, "INT": NUMBERS, "INT UNSIGNED": NUMBERS,
    "BIGINT": NUMBERS, "BIGINT UNSIGNED": NUMBERS, "DECIMAL(10,2)": NUMBERS, "DECIMAL(6,4)": NUMBERS,
    "DECIMAL(20,0) UNSIGNED": NUMBERS, "FLOAT": NUMBERS, "DOUBLE": NUMBERS, "BIT(9)": NUMBERS,
    "YEAR": ["0", "1999", "2155", "70"], "CHAR(5)": TEXTS, "VARCHAR(30)": TEXTS,
    "VARCHAR(30) CHARACTER SET latin1": TEXTS, "TEXT": TEXTS, "TINYTEXT CHARACTER SET cp1251": TEXTS,
    "ENUM('a','b','c','x,')": ["'a'", "'b'", "'c'"], "ENUM('c','A','é')": ["'c'", "'a'", "'é'"],
    "SET('x','y','a')": ["'x'", "'x,y'", "'a,x'", "''"], "SET('a','y')": ["'a'", "'a,y'"],
    "DATE": MOMENTS, "DATETIME": MOMENTS, "DATETIME(3)": MOMENTS, "DATETIME(6)": MOMENTS, "TIMESTAMP NULL": MOMENTS,
    "TIMESTAMP(3) NULL": MOMENTS,
    "JSON": ["'{\"a\": [1, 2.50]}'", "'7'", "'\"x\"'"], "TIME": TIMES, "TIME(3)": TIMES, "BINARY(4)": ["'a'",
    "'abcd'", "x'00ff'"],
    "VARBINARY(3)": ["'a'", "'abc'", "x'00'"], "BLOB": ["'a'", "'abcdefgh'", "x'ff00'"],
}


def shown(kind: str) -> str:
    """The value v as text that tells it exactly."""
    if kind.startswith(("BINARY", "VARBINARY", "BLOB")):
        return "HEX(v)"
    if kind.startswith(("FLOAT", "DOUBLE")):
        return "CAST(CAST(v AS DOUBLE) AS CHAR)"
    if kind.startswith("TIMESTAMP"):
        return "CAST(CONVERT_TZ(v, '+02:00', '+00:00') AS CHAR)"
    return "CAST(v + 0 AS CHAR)" if kind.startswith(("BIT", "YEAR")) else "CAST(v AS CHAR CHARACTER SET utf8mb4)"


def record(url: str) -> list[dict]:
    """All pairs of types that the server at a URL takes."""
    import pymysql

    place = urlsplit(url)
    pairs = []
    with pymysql.connect(host=place.hostname, port=place.port, user=place.username or "root", charset="utf8mb4",
                         password=place.password or "", autocommit=True) as connection, connection.cursor() as cursor:
        flavour = "mariadb" if "MariaDB" in connection.get_server_info() else "mysql"
        cursor.execute(f"SET SESSION sql_mode = '', time_zone = '+02:00', sql_log_bin = 0, timestamp = {MOMENT}")
        cursor.execute("CREATE DATABASE IF NOT EXISTS conversions CHARACTER SET utf8mb4")
        cursor.execute("USE conversions")
        for old in TYPES:
            pairs += _of_type(cursor, old, flavour)
        cursor.execute("DROP DATABASE conversions")
    return pairs


def _of_type(cursor: object, old: str, flavour: str) -> list[dict]:
    """One type to all others: a column for each in one table, and one ALTER of those that the server takes."""
    import pymysql

    news = {f"v{number}": new for number, new in enumerate(TYPES) if new != old}
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(f'{name} {old}' for name in news)})")
    for number, value in enumerate([*TYPES[old], "NULL"]):
        cursor.execute(f"INSERT INTO t VALUES ({number}{f', {value}' * len(news)})")
    before = {name: _selected(cursor, name, old) for name in news}
    while True:
        try:
            cursor.execute("ALTER TABLE t " + ", ".join(f"MODIFY {name} {new}" for name, new in news.items()))
            break
        except pymysql.MySQLError as error:
            refused = re.search(r"\bv\d+\b", str(error))
            if refused is None:
                return []
            del news[refused[0]]
    return [{"flavour": flavour, "old": old, "new": new,
             "rows": list(zip(before[name], _selected(cursor, name, new), strict=True))} for name, new in news.items()]


def _selected(cursor: object, name: str, kind: str) -> list[str | None]:
    cursor.execute(f"SELECT {shown(kind).replace('(v', f'({name}')} FROM t ORDER BY id")
    return [row[0] for row in cursor.fetchall()]


if __name__ == "__main__":
    found = [pair for url in sys.argv[1:] for pair in record(url)]
    with gzip.open(RECORDED, "wt", compresslevel=9) as file:
        for pair in found:
            file.write(json.dumps(pair) + "\n")
