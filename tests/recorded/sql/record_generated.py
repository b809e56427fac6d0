"""Records what real servers hold in generated columns: `python -m tests.recorded.sql.record_generated URL…` with
mysql://USER@HOST:PORT.

generated.jsonl.gz holds a line for each column that a server takes: {"flavour", "sql_mode", "create", "columns": {name:
[the values of three rows, as text]}, "values": [what the three rows hold, as `shown` selects it]}.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.recorded.sql.server_columns import computing, shown, write

RECORDED = Path(__file__).parent / "generated.jsonl.gz"

COLUMNS = {
    "i": ("INT", ["1", "0", "-3"]), "y": ("YEAR", ["1999", "2001", "0"]), "y2": ("YEAR", [None, "0", "2002"]),
    "b": ("BIT(8)", ["65", "0", "1"]), "d": ("DATE", ["2024-02-29", "1969-12-31", "2000-01-01"]),
    "m": ("DATETIME(6)", ["2024-12-31 23:59:59.900000", "1969-12-31 23:00:00.500000", "2000-01-01 10:00:00.000000"]),
    "m0": ("DATETIME", ["2024-12-31 23:59:59", "1969-12-31 23:00:00", "2000-01-01 10:00:00"]),
    "d1": ("DECIMAL(1,0)", ["1", "0", "7"]), "d2": ("DECIMAL(5,2)", ["1.50", "-0.50", "2.49"]),
    "dd": ("DECIMAL(20,16)", ["1.2345678901234567", "-0.0000000000000009", "2.0000000000000000"]),
    "f": ("FLOAT", ["1.1", "0", "2.5"]), "db": ("DOUBLE", ["1.1", "0", "-2.5"]),
    "zf": ("INT(5) ZEROFILL", ["7", "0", "123456"]), "u": ("BIGINT UNSIGNED", ["18446744073709551615", "1", "5"]),
    "big": ("BIGINT", ["9007199254740993", "0", "5"]),
    "s": ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", ["A", "b ", "4 1"]),
    "sb": ("VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ["a", "b", "41"]),
    "l": ("VARCHAR(20) CHARACTER SET latin1", ["é", "b", "x"]), "c": ("CHAR(5) CHARACTER SET utf8mb4", ["a", "", " z"]),
    "e": ("ENUM('a','B')", ["a", "B", "a"]),
    "j": ("JSON", ['{"a": "a", "n": 1.5, "t": true}', '{"a": "B"}', '[1, {"a": 41}]']),
}
_OF_YEARS = ["y = 99", "y > 70", "y > 99", "y > 150", "y IN (99, 2001)", "y IN ('99')", "y BETWEEN 1 AND 99", "99 = y",
             "CASE y WHEN 99 THEN 1 ELSE 0 END", "y = '99'", "y = ' 99'", "y = '99.0'", "y = 99.0", "y = '0'", "y = 0",
             "y <=> 99", "y <> 99", "y < 2000", "y < '2000'", "y = y2", "y = i + 98", "COALESCE(y) = 99", "y + 0 = 99"]
_OF_COLLATIONS = [f"{text} = {other}" for other in ("s", "sb", "'A'", "'aX'") for text in (
    "CONCAT(sb, '')", "CONCAT(s, '')", "CONCAT(s, 'x')", "CONCAT(s, sb)", "CONCAT_WS('', sb)", "COALESCE(sb, '')",
    "COALESCE(s, sb)", "LOWER(sb)", "LEFT(sb, 1)", "RIGHT(sb, 1)", "SUBSTRING(sb, 1)", "TRIM(sb)", "REPEAT(sb, 1)",
    "REPLACE(sb, 'q', '')", "IF(i, sb, '')", "CASE WHEN i THEN sb ELSE '' END", "NULLIF(sb, 'q')", "CONCAT(i, '')",
    "JSON_UNQUOTE(JSON_EXTRACT(j, '$.a'))", "JSON_VALUE(j, '$.a')", "JSON_QUOTE(s)", "CAST(sb AS CHAR)", "HEX(sb)",
    "s", "sb", "e", "l", "CONCAT(l, '')")] + ["s IN (sb, 'q')", "CONCAT(s, '') IN ('a', 'q')", "e = 1", "b = 65"]
_OF_LARGE = [f"big {sign} {other}" for sign in ("=", ">", "<=>") for other in (
    "'9007199254740992'", "'9007199254740993'", "9007199254740992e0", "9007199254740993e0", "db", "9007199254740992")]
_OF_TRUTHS = ["i XOR 0", "NOT i = 1", "!i", "-i - -1", "i DIV 2", "i % 2", "5 DIV i", "i IS NULL", "NULL <=> y2",
              "i BETWEEN 0 AND 5", "i NOT BETWEEN 0 AND 5", "i = TRUE", "d = '2024-02-29'", "d < '2000-01-01 10:00'",
              "i BETWEEN 0 AND 1 BETWEEN 0 AND 1", "CASE CASE i WHEN 1 THEN 5 END WHEN 5 THEN 7 ELSE 8 END",
              "LENGTH(l)", "LENGTH(j)", "JSON_LENGTH(j)", "JSON_LENGTH(j, '$.a')", "IFNULL(y2, 5)"]
_OF_LEVELS = [
    "1 = i IN (1, 5)", "1 = i BETWEEN 0 AND 5", "i IN (1, 0) = 1", "1 IS NULL = 0", "i = 1 IS NULL", "0 = i IS NULL",
    "i BETWEEN 0 AND 5 = 0", "i BETWEEN 0 AND i IN (0, 1)", "i NOT BETWEEN 0 AND 0 BETWEEN 0 AND 1", "i = 0 = 1",
    "i NOT IN (2) = 1", "3 > 2 > i", "NOT i IN (1) = 1", "i BETWEEN 0 AND 0 OR 1", "i <=> NULL IS NULL",
    "i BETWEEN 0 AND 1 + 1", "i - 1 - 1", "7 DIV 2 * 2", "7 * 2 DIV 4", "7 % 4 * 2", "- i + 1", "!i + 1", "! i = 0",
    "NOT i + 1 = 2", "i XOR 1 AND 0", "1 OR 0 XOR 1", "1 XOR 1 OR 1", "i AND 0 OR 1", "i OR 1 AND 0", "NOT 0 OR 1",
    "1 AND NOT i", "i <> 1 <> 1", "i IS NOT NULL = 1", "CASE WHEN 1 = i IN (1) THEN 1 ELSE 2 END", "2 - - - i",
    "i IN (1, 2) <=> 1 = i", "i = ! 0", "- 2 * - i", "DAY(INTERVAL 1 + 1 DAY + d)", "DAY(d + INTERVAL 1 DAY * 1)"]
_SHOWN = [form.format(name) for name in ("f", "zf", "y", "d2", "dd", "db", "d", "m", "i", "j") for form in (
    "{}", "({})", "CONCAT({})", "COALESCE({})", "IF(i, {0}, {0})", "IFNULL({0}, {0})", "NULLIF({}, 5)",
    "CASE WHEN 1 THEN {} END", "CAST({} AS CHAR)")]
_OF_NUMBERS = ["COALESCE(y, y2)", "IFNULL(f, 0)", "f + 0", "zf + 0", "-f", "-db", "-0e0", "0e0 * -1", "i * -0e0",
               "CEILING(-0.5e0)", "FLOOR(-0e0)", "ABS(f)", "d2 * 2", "d2 + i", "d2 - 1.5", "d2 + 0.5", "d2 - d2",
               "dd * dd", "dd + dd", "dd - dd", "dd * 0", "d2 * dd", "i * 0.0", "i / 3", "i / 7", "0 / 3", "0.0 / 3",
               "d2 / 2", "CONCAT(dd - dd)", "ROUND(d2, 1)", "ROUND(dd, 8)", "ROUND(dd, 20)", "ROUND(1.50, 3)",
               "ROUND(i, 2)", "CEILING(db)", "FLOOR(d2)", "-(0.0)", "1.50", "1e3", ".5e1", "-'3'", "'3' + 4",
               "1 + NULL", "u", "u + 0", "CAST(d2 AS SIGNED)", "CAST(db AS DECIMAL(5,2))", "CAST(f AS DECIMAL(5,3))",
               "0.00000001", "TRUE"]
_OF_TEXT = ["TRIM(s)", "RIGHT(s, 2)", "SUBSTRING(s, -1)", "SUBSTRING(s, 0)", "SUBSTRING(s, 2, 100)", "REPEAT(s, 2)",
            "REPLACE(s, 'a', 'x')", "HEX(s)", "HEX(l)", "CONCAT_WS('-', s, NULL, l)", "'a' 'b'", "_latin1'x'", "x'41'",
            "HEX(UNHEX('41\\n42'))", "HEX(UNHEX('41\\n\\n42'))", "HEX(UNHEX(s))", "HEX(UNHEX('4'))", "JSON_QUOTE(s)"]
_OF_DATETIMES = [
    *(f"DATE_FORMAT({name}, '{form}')" for name in ("d", "m") for form in (
        "%%Y", "%Y%", "%d\\n%m", "%d%\\n%m", "%%%Y", "%y-%j %f %T", "%H:%i", "%dé", "%")),
    *(f"{name} {sign} INTERVAL {span}" for name in ("d", "m", "m0") for sign in "+-" for span in (
        "1 SECOND", "1.0 SECOND", "1.5 SECOND", "1.25 SECOND", "d2 SECOND", "'1' SECOND", "(1.50 * 2) SECOND",
        "5 MICROSECOND", "1 HOUR", "1.5 MINUTE", "1 MONTH", "'1:30' MINUTE_SECOND", "'-1-2' YEAR_MONTH", "i DAY")),
    "DATE(m)", "TIME(m0)", "YEAR(d)", "EXTRACT(DAY FROM m)", "TO_DAYS(d)"]
_AS_NUMBERS = ["m", "m0", "d", "m + 0", "CAST(m AS SIGNED)", "CAST(m AS UNSIGNED)", "CAST(m0 AS SIGNED)", "FLOOR(m)",
               "CEILING(m)", "ROUND(m)", "ROUND(m0)", "COALESCE(m, m)", "COALESCE(d) + 0", "IF(1, m, m)", "DATE(m)",
               "NULLIF(d, '2001-01-01')", "CASE WHEN i THEN d ELSE d END", "d + INTERVAL 1 DAY", "TIME(m0)",
               "COALESCE(TIME(m0), TIME(m0))", "d2", "'2.5'", "2.5e0", "db", "u - 1", "big * 1", "TO_SECONDS(m)"]
_DOCUMENTS = ["JSON_ARRAY(d1)", "JSON_OBJECT('a', d1)", "JSON_ARRAY(d1 = 1)", "JSON_ARRAY(CAST(i AS DECIMAL(1,0)))",
              "JSON_ARRAY(f)", "JSON_ARRAY(db)", "JSON_ARRAY(y)", "JSON_ARRAY(zf)", "JSON_ARRAY(e)", "JSON_ARRAY(d2)",
              "JSON_ARRAY(u)", "JSON_ARRAY(b)", "JSON_ARRAY(dd)", "JSON_ARRAY(dd - dd)", "JSON_ARRAY(0 / 3)",
              "JSON_ARRAY(TRUE, NULL)", "JSON_ARRAY(NOT i)", "JSON_ARRAY(NULLIF(d1, 5))", "JSON_ARRAY(NULLIF(y, 3))",
              "JSON_ARRAY(COALESCE(d1, 0))", "JSON_OBJECT('k', s, 'k', l)", "JSON_ARRAY(1.50, 1e0, 1e20, -0.0)"]
_LONG = [f"CHAR_LENGTH(JSON_VALUE(JSON_OBJECT('a', {long}), '$.a'))" for long in (
    "REPEAT('x', 512)", "REPEAT('x', 513)", "REPEAT('é', 512)", "REPEAT('é', 513)", "JSON_ARRAY(REPEAT('x', 508))",
    "JSON_ARRAY(REPEAT('x', 509))")]
_MEMBERS = ["e", "s", "sb", "i", "'b '", "'a,b '", "'a ,b'", "'c d '", "CONCAT(s, ' ')", "CONCAT('a ,', 'b')", "3",
            "'3'", "i = 1", "CONCAT(sb, ' ,a')"]
PLAIN = [
    *(("INT", text) for text in [*_OF_YEARS, *_OF_COLLATIONS, *_OF_LARGE, *_OF_TRUTHS, *_OF_LEVELS, *_LONG]),
    *((kind, text) for kind in ("VARCHAR(60)", "TEXT", "CHAR(30)", "VARBINARY(60)", "BLOB") for text in _SHOWN),
    *(("VARCHAR(60)", text) for text in [*_OF_NUMBERS, *_OF_TEXT, *_OF_DATETIMES, *_OF_YEARS]),
    *((kind, text) for kind in ("BIGINT", "DOUBLE", "DECIMAL(20,2)", "BIT(8)") for text in _AS_NUMBERS),
    *((kind, text) for kind in ("DOUBLE", "FLOAT", "DECIMAL(5,1)", "DECIMAL(38,30)") for text in _OF_NUMBERS),
    *(("JSON", text) for text in _DOCUMENTS), *(("SET('a','b','c d')", text) for text in _MEMBERS),
    *(("ENUM('a','b','2')", text) for text in _MEMBERS),
]
JOINED = [
    *(("VARCHAR(60)", text) for text in [
        "s || 'x'", "s || l || 'y'", "CONCAT(s || '-', i) || i", "-i || 2", "i + 1 || 2", "s || d2 * 2", "x'41' || 'b'",
        "CASE WHEN i THEN s ELSE l END || 'x'", "(i) || (s)", "NOT i || 1", "s || 'a' 'b'", "j->>'$.a' || 'x'",
        "IF(s || 'x' = 'ax', 'p' || 'q', (s || 'r') || 't')", "'||' || s"]),
    *(("INT", text) for text in ["s || 'x' = 'ax'", "i OR 0", "1 || 2 * 3", "NOT i IS NULL"])]
BOUND = [("INT", text) for text in [
    "NOT i BETWEEN 0 AND 5", "NOT i = 1", "NOT i + 1", "NOT (i = 1)", "NOT i IS NULL", "NOT NOT i", "i NOT IN (1, 2)",
    "NOT i AND 1", "NOT ISNULL(i)", "i IS NOT NULL", "NOT -i = 1", "NOT i = NOT 1", "1 + NOT i"]]
_AS_DATES = [f"{number} + {column}" for number in (
    300, 1200, 10001, 70101, 131, 691231, 1301, 100, 20240200, 20240229, 1000000, 101000000, 120000236, 1700000000)
    for column in ("0 * i", "0e0 * i", "big * 0")] + ["'10001'", "CONCAT('1000000', '')", "CONCAT(i * 0 + 1200000000)"]
DATED = [(kind, text) for kind in ("DATE", "DATETIME") for text in _AS_DATES]
CASES = {"": [*PLAIN, *DATED], "NO_ZERO_IN_DATE": DATED, "PIPES_AS_CONCAT": JOINED, "ANSI": JOINED,
         "HIGH_NOT_PRECEDENCE": BOUND, "HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT": [*JOINED, *BOUND]}


def record(url: str) -> Iterator[dict]:
    """All columns that the server at a URL takes."""
    from pymysql import MySQLError

    with computing(url) as (cursor, version):
        flavour = "mariadb" if "MariaDB" in version else "mysql"
        for mode, cases in CASES.items():
            cursor.execute(f"SET SESSION sql_mode = '{mode}'")
            for kind, text in cases:
                names = [name for name in COLUMNS if re.search(rf"(?<![\w'%.$]){name}\b(?!')", text)] or ["i"]
                columns = ", ".join(f"{name} {COLUMNS[name][0]}" for name in names)
                create = f"CREATE TABLE t ({columns}, g {kind} AS ({text}) STORED)"
                try:
                    cursor.execute("DROP TABLE IF EXISTS t")
                    cursor.execute(create)
                    for row in range(3):
                        given = [COLUMNS[name][1][row] for name in names]
                        given = [value if value is None or name not in ("b", "y", "y2") else int(value)
                                 for name, value in zip(names, given, strict=True)]
                        cursor.execute(f"INSERT INTO t ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})",
                                       given)
                    cursor.execute(f"SELECT {shown(kind)} FROM t")
                except MySQLError:
                    continue
                yield {"flavour": flavour, "sql_mode": mode, "create": create,
                       "columns": {name: COLUMNS[name][1] for name in names},
                       "values": [value for value, in cursor.fetchall()]}


def main(urls: list[str]) -> None:
    write(RECORDED, (case for url in urls for case in record(url)))


if __name__ == "__main__":
    main(sys.argv[1:])
