"""Records what real servers make of a column's values by MODIFY: `python -m tests.recorded.conversion.record_modified
URL…` with mysql://USER@HOST:PORT.

modified.jsonl.gz holds a line for each type of column: {"flavour", "type", "rows": [text], "after": {other type: {what
the rows then hold, as JSON: [the sql_modes]}}} of `ALTER TABLE t MODIFY v OTHER, ALGORITHM=COPY`, the values as
`record_defaults.shown` selects them with the time zone +00:00; a number in a row's place is the error with which a
server refuses that row.
modified_nulls.jsonl.gz holds {"flavour", "engine", "before", "after", "more", "found": {value: [the sql_modes]}}: what
a NULL in a column `x BEFORE` becomes by `MODIFY x AFTER MORE`. modified_numbers.jsonl.gz holds {"flavour", "table",
"rows", "modify", "found": {numbers: [the sql_modes]}}: what the rows have in an integer column that numbers them from
then on. kept_dates.jsonl.gz holds {"flavour", "engine", "alter", "found": {dates: [the sql_modes]}}: what is in columns
d and m of DATES_TABLE after an ALTER TABLE that leaves them alone. What a server refused is left out. The session's
time zone is +05:30, its time NOW.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.recorded.conversion.record_defaults import Server, write

MODIFIED, NULLS = (Path(__file__).parent / name for name in ("modified.jsonl.gz", "modified_nulls.jsonl.gz"))
NUMBERED, KEPT = (Path(__file__).parent / name for name in ("modified_numbers.jsonl.gz", "kept_dates.jsonl.gz"))
_DEFAULT = {"mysql": "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                     "NO_ENGINE_SUBSTITUTION",
            "mariadb": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"}
_FRACTIONS = {"mysql": "TIME_TRUNCATE_FRACTIONAL", "mariadb": "TIME_ROUND_FRACTIONAL"}
_LENIENT = "ALLOW_INVALID_DATES"
"""The mode in which rows are made, which takes every date."""


def modes(flavour: str) -> list[str]:
    """The sql_modes, each strict one behind those that refuse less."""
    return ["", "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "NO_ZERO_IN_DATE,NO_ZERO_DATE", "ALLOW_INVALID_DATES",
            "ALLOW_INVALID_DATES,NO_ZERO_IN_DATE,NO_ZERO_DATE", "PAD_CHAR_TO_FULL_LENGTH", _FRACTIONS[flavour],
            "STRICT_TRANS_TABLES,ALLOW_INVALID_DATES", "STRICT_TRANS_TABLES", _DEFAULT[flavour], "TRADITIONAL"]


NUMBERS = ["20240229", "101112", "20240229123456", "20240231", "20240200", "240005", "20240229.5", "8385959", "12.75",
           "0", "1", "-1", "7", "127", "128", "-129", "255", "256", "1999", "70000", "-8388609", "2147483648",
           "4294967295", "1.5", "2.5", "-0.5", "0.49", "99.995", "-1234.5678", "9223372036854775807", "1e3"]
TEXTS = ["'20240229'", "'20240231'", "'20240229.5'", "'2020.0512'", "'000001'", "'2024-02-31'", "'2024-00-05'",
         "'0000-00-00'", "'10:11:12.5'", "'7'", "'2'", "'5'", "'0'", "'12.75'", "'2024-2-9 1:2'", "'-1:02:03'", "''",
         "'a'", "'b '", "'x,y'", "'12'", "' 7abc'", "'-3.5'", "'+4'", "'.5'", "'2020-02-29'", "'1'", "'é'", "'日'",
         "'2021-03-04 05:06:07.891'", "'A'", "'1e2'", "'1999'", "'99999999999999999999999'", "'ab'", "'a, b'",
         "'{\"a\": 1}'", "'10.0.0.1'", "'::1'", "'123E4567e89b12d3a456426655440000'",
         "'123e4567-e89b-12d3-a456-426655440000'"]
DATETIMES = ["'2020-12-31 23:59:59.600000'", "'1999-01-01 00:00:00.499999'", "'2000-02-29 12:30:00'", "'1970-01-02'",
           "'2038-01-19 03:14:06.9995'", "'1985-07-05 23:59:59.9999995'", "'2024-06-15 08:00:00'"]
DATES = [*DATETIMES, "'0000-00-00'", "'2024-00-05'", "'2024-05-00'", "'2023-02-29'", "'0000-01-01'",
         "'2024-02-31 10:20:30.75'", "'1000-01-01'", "'9999-12-31 23:59:59'"]
TIMES = ["'-01:02:03.456'", "'23:00:00.999'", "'838:59:59'", "'00:00:00.5'", "'-00:00:00.5'", "'10:11:12'", "'00:00'"]
TYPES = {
    "TINYINT": NUMBERS, "SMALLINT UNSIGNED": NUMBERS, "MEDIUMINT": NUMBERS, "INT": NUMBERS, "INT UNSIGNED": NUMBERS,
    "INT(6) ZEROFILL": NUMBERS,
    "BIGINT": NUMBERS, "BIGINT UNSIGNED": NUMBERS, "DECIMAL(10,2)": NUMBERS, "DECIMAL(6,4)": NUMBERS,
    "DECIMAL(20,0) UNSIGNED": NUMBERS, "FLOAT": NUMBERS, "DOUBLE": NUMBERS, "DOUBLE UNSIGNED": NUMBERS,
    "BIT(9)": NUMBERS,
    "YEAR": ["0", "1999", "2155", "70"], "CHAR(5)": TEXTS, "CHAR(30)": TEXTS, "VARCHAR(40)": TEXTS,
    "VARCHAR(30) CHARACTER SET latin1": TEXTS, "TEXT": TEXTS, "TINYTEXT CHARACTER SET cp1251": TEXTS,
    "ENUM('a','b','c','x,')": ["'a'", "'b'", "'c'", "''"], "ENUM('c','A','é')": ["'c'", "'a'", "'é'"],
    "ENUM('1','0','2020-02-29')": ["'1'", "'0'", "'2020-02-29'"],
    "SET('x','y','a')": ["'x'", "'x,y'", "'a,x'", "''"], "SET('a','y')": ["'a'", "'a,y'"],
    "DATE": DATES, "DATETIME": DATES, "DATETIME(3)": DATES, "DATETIME(6)": DATES,
    "TIMESTAMP NULL": [*DATETIMES, "'0000-00-00'"], "TIMESTAMP(3) NULL": [*DATETIMES, "'0000-00-00'"],
    "JSON": ["'{\"a\": [1, 2.50]}'", "'7'", "'\"x\"'", "'2.5'", "'\"2020-02-29\"'", "'null'", "'true'", "'[]'"],
    "TIME": TIMES, "TIME(3)": TIMES, "TIME(6)": TIMES,
    "BINARY(4)": ["'a'", "'abcd'", "x'00ff'", "'12'", "''"],
    "VARBINARY(3)": ["'a'", "'abc'", "x'00'", "'12'"],
    "VARBINARY(30)": ["'a'", "'2020-02-29'", "'10:11:12'", "'7.5'", "'[1]'", "x'e9'"],
    "BLOB": ["'a'", "'abcdefgh'", "x'ff00'", "'2020-02-29'", "'5'"],
    "INET4": ["'10.0.0.1'"], "INET6": ["'::1'", "'::ffff:10.0.0.1'"],
    "UUID": ["'123e4567-e89b-12d3-a456-426655440000'"],
}
NULLED = {
    "INT": ["5", "'7'", "(1 + 2)", "(k + 3)"], "BIGINT UNSIGNED": ["5"], "DECIMAL(5,2)": ["1.5", "(0.5 + 1)"],
    "DOUBLE": ["1.5"], "FLOAT": ["2.5"], "BIT(3)": ["b'11'"], "YEAR": ["2001"], "CHAR(5)": ["'o'"],
    "VARCHAR(9)": ["'o'", "(CONCAT('a', 'b'))", "(UUID())"], "TEXT": ["'o'", "('o')"], "BLOB": ["'o'", "('o')"],
    "BINARY(3)": ["'a'"], "VARBINARY(9)": ["'a'"], "ENUM('x','y')": ["'y'"], "SET('x','y')": ["'y,x'"],
    "DATE": ["'2020-01-01'", "(CURRENT_DATE)", "'0000-00-00'"],
    "DATETIME": ["CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", "(NOW() + INTERVAL 1 DAY)"],
    "DATETIME(2)": ["'2020-01-01 01:02:03.45'", "CURRENT_TIMESTAMP(2)"], "TIME": ["'1:02:03'", "(CURRENT_TIME)"],
    "TIMESTAMP": ["'2020-01-01 01:02:03'", "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"],
    "TIMESTAMP(3)": ["CURRENT_TIMESTAMP(3)"], "JSON": ["('[]')", "(JSON_ARRAY())"], "INET6": ["'::1'"],
    "UUID": ["'123e4567-e89b-12d3-a456-426655440000'"],
}
OTHER_TYPES = {"INT": ["INT UNSIGNED", "INT(5)", "MEDIUMINT"],
               "VARCHAR(9)": ["VARCHAR(19)", "VARCHAR(5)", "VARCHAR(9) CHARACTER SET latin1"],
               "ENUM('x','y')": ["ENUM('x','y','z')"], "CHAR(5)": ["CHAR(6)"], "DATE": ["DATETIME"]}
MORE = ["", ", ADD COLUMN q INT", ", MODIFY z BIGINT", ", ADD UNIQUE (z)", ", DROP COLUMN z", ", ALGORITHM=COPY",
        ", FORCE", ", ORDER BY z", ", ADD COLUMN q INT DEFAULT (z + 1)", ", ADD COLUMN q INT AS (z + 1) STORED",
        ", ADD COLUMN q INT AS (z + 1) VIRTUAL", ", ADD CHECK (z > 0)", ", ADD COLUMN q DATE DEFAULT (CURRENT_DATE)",
        ", DROP PRIMARY KEY, ADD PRIMARY KEY (k, z)", ", DROP PRIMARY KEY", ", MODIFY w VARCHAR(63)",
        ", MODIFY w VARCHAR(64)",
        ", MODIFY w CHAR(9)", ", ENGINE=InnoDB", ", ENGINE=MyISAM", ", RENAME COLUMN z TO y", ", COMMENT='c'"]
COUNTED = {  # tables by what is between their brackets, and rows of each
    "k INT PRIMARY KEY, x INT NULL, KEY (x)": ["1, 7", "2, 0", "3, -2", "4, NULL", "5, 0", "6, 20", "7, NULL"],
    "k INT PRIMARY KEY, x INT NOT NULL, KEY (x)": ["1, 7", "2, 0", "3, -2", "4, 5", "5, 0", "6, 20", "7, 0"],
    "k INT PRIMARY KEY, x VARCHAR(9), KEY (x)": ["1, '7'", "2, '0'", "3, 'a'", "4, NULL", "5, '12'", "6, ''"],
    "k INT, x INT NOT NULL PRIMARY KEY": ["1, 7", "2, 0", "3, 5"],
    "k INT, x INT NOT NULL DEFAULT 4 PRIMARY KEY": ["1, 7", "2, -1"],
    "k INT PRIMARY KEY, x DOUBLE, KEY (x)": ["3, 0", "2, 2.5", "1, 0.4"],
    "k INT PRIMARY KEY, x INT NOT NULL AUTO_INCREMENT, KEY (x)": ["1, 7", "2, 0", "3, 5"],
}
MODIFIES = ["x INT NOT NULL AUTO_INCREMENT", "x INT AUTO_INCREMENT", "x BIGINT UNSIGNED NOT NULL AUTO_INCREMENT",
            "x INT NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=100", "x INT NOT NULL AUTO_INCREMENT, ALGORITHM=COPY",
            "x TINYINT NOT NULL AUTO_INCREMENT FIRST"]


DATES_TABLE = "CREATE TABLE t (k INT PRIMARY KEY, z INT, w VARCHAR(60), d DATE, m DATETIME(3)) CHARACTER SET utf8mb4"
DATES_ROWS = ["1, 7, 'w', '2023-02-29', '2024-02-31 10:20:30.75'", "2, 8, 'v', '2024-00-05', '2024-05-00 00:00:00.5'",
              "3, 9, 'u', '0000-00-00', '0000-00-00'", "4, 5, 't', '2024-02-29', '0000-01-01 01:02:03'",
              "5, 1, 's', NULL, '0000-00-00 10:20:30.5'"]


class Column:
    """A column `v` of one type, its rows in a table `source`."""

    def __init__(self, server: Server, kind: str) -> None:
        self.server, self.kind = server, kind
        server.begin(_LENIENT)
        server.run("DROP TABLE IF EXISTS source")
        server.run(f"CREATE TABLE source (id INT PRIMARY KEY, v {kind})")
        self.n = len(TYPES[kind]) + 1
        for number, value in enumerate([*TYPES[kind], "NULL"]):
            server.run(f"INSERT INTO source VALUES ({number}, {value})")

    def one(self, rows: list[int], new: str, mode: str) -> int | None:
        """The error of an ALTER of some of the rows, in a temporary table, which is cheap."""
        self.server.begin(_LENIENT)
        self.server.run("CREATE TEMPORARY TABLE one LIKE source")
        self.server.run(f"INSERT INTO one SELECT * FROM source WHERE id IN ({', '.join(map(str, rows))})")
        self.server.begin(mode)
        try:
            self.server.run(f"ALTER TABLE one MODIFY v {new}, ALGORITHM=COPY")
        except self.server.errors as error:
            return error.args[0]
        finally:
            self.server.run("DROP TEMPORARY TABLE one")
        return None

    def refused(self, new: str, mode: str, before: dict[int, int]) -> dict[int, int]:
        """The errors of the rows that are refused, in addition to those before."""
        rows = [row for row in range(self.n) if row not in before]
        if not rows or self.one(rows, new, mode) is None:
            return before
        return before | {row: error for row in rows if (error := self.one([row], new, mode)) is not None}

    def altered(self, news: dict[str, str], without: dict[str, dict[int, int]], mode: str) -> dict[str, list]:
        """What the rows hold in a column of each of the new types."""
        self.server.begin(_LENIENT)
        self.server.run("DROP TABLE IF EXISTS t")
        self.server.run(f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(f'{name} {self.kind}' for name in news)})")
        self.server.run(f"INSERT INTO t SELECT id{', v' * len(news)} FROM source")
        for name in news:
            if rows := ", ".join(map(str, without[name])):
                self.server.run(f"UPDATE t SET {name} = NULL WHERE id IN ({rows})")
        self.server.begin(mode)
        self.server.run("ALTER TABLE t " + ", ".join(f"MODIFY {name} {new}" for name, new in news.items()) +
                        ", ALGORITHM=COPY")
        self.server.begin("")  # or spaces are shown that do not exist
        values = self.server.values(list(news.items()), "id")
        return {name: [without[name].get(row, value) for row, value in enumerate(column)]
                for name, column in zip(news, zip(*values, strict=True), strict=True)}


def modified(server: Server, kind: str) -> dict | None:
    """One type to all others, in all modes: what the rows then hold, by type and mode; None for a type that the server
    does not have."""
    try:
        column = Column(server, kind)
    except server.errors:
        return None
    server.run("DROP TABLE IF EXISTS t")
    server.run("CREATE TABLE t SELECT id, v x FROM source")
    rows = [row[0] for row in server.values([("x", kind)], "id")]
    news = {f"v{number}": new for number, new in enumerate(TYPES) if column.one([column.n - 1], new, "") is None}
    found: dict[str, dict[str, list[str]]] = {}
    lenient = {name: column.refused(new, "", {}) for name, new in news.items()}
    strict = lenient
    for mode in modes(server.flavour):
        is_strict = "STRICT" in mode or mode == "TRADITIONAL"
        known = strict if is_strict else lenient
        refused = {name: column.refused(new, mode, known[name]) for name, new in news.items()}
        strict = refused if is_strict else strict
        taken = {name: new for name, new in news.items() if len(refused[name]) < column.n - 1}
        for name, values in column.altered(taken, refused, mode).items():
            found.setdefault(news[name], {}).setdefault(json.dumps(values, ensure_ascii=False), []).append(mode)
    return {"flavour": server.flavour, "type": kind, "rows": rows, "after": found}


def nulls(server: Server) -> Iterator[dict]:
    """What NULLs become, over all types, defaults, engines and what else is in the statement."""
    for engine in ("InnoDB", "MyISAM"):
        for kind, defaults in NULLED.items():
            null = " NULL" if kind.startswith("TIMESTAMP") else ""
            befores = [kind + null, *(f"{kind}{null} DEFAULT {text}" for text in defaults)]
            for before in befores:
                afters = [f"{kind} NOT NULL", *(f"{kind} NOT NULL DEFAULT {text}" for text in defaults)]
                if before in befores[:2] and engine == "InnoDB":
                    afters += [f"{other} NOT NULL" for other in (*NULLED, *OTHER_TYPES.get(kind, [])) if other != kind]
                more = MORE if kind == "INT" and before == "INT DEFAULT 5" else [""]
                for after in afters:
                    same = after.startswith(kind)
                    for rest in more if same else [""]:
                        if found := _of_null(server, engine, before, after, rest, NULL_MODES[:5 if same else 2]):
                            yield {"flavour": server.flavour, "engine": engine, "before": before, "after": after,
                                   "more": rest, "found": found}


NULL_MODES = ["", "STRICT_TRANS_TABLES", "NO_ZERO_IN_DATE,NO_ZERO_DATE", "ALLOW_INVALID_DATES", "TRADITIONAL"]


def _of_null(server: Server, engine: str, before: str, after: str, more: str, modes: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mode in modes:
        server.begin(mode)
        try:
            server.table(f"CREATE TABLE t (k INT PRIMARY KEY, x {before}, z INT, w VARCHAR(60)) "
                         f"ENGINE={engine} CHARACTER SET utf8mb4", ["1, NULL, 7, 'w'"])
            server.run(f"ALTER TABLE t MODIFY x {after}{more}")
        except server.errors:
            continue
        [[value]] = server.values([("x", after)], "k")
        found.setdefault(json.dumps(value), []).append(mode)
    return found


def numbered(server: Server) -> Iterator[dict]:
    """What a column holds that numbers its rows from then on."""
    for engine in ("InnoDB", "MyISAM"):
        for columns, rows in COUNTED.items():
            for modify in MODIFIES:
                found: dict[str, list[str]] = {}
                for mode in ("", "NO_AUTO_VALUE_ON_ZERO", "STRICT_TRANS_TABLES", _DEFAULT[server.flavour],
                             "TRADITIONAL,NO_AUTO_VALUE_ON_ZERO"):
                    server.begin("NO_AUTO_VALUE_ON_ZERO")
                    server.run("DROP TABLE IF EXISTS t")
                    server.run(f"CREATE TABLE t ({columns}) ENGINE={engine}")
                    for row in rows:
                        server.run(f"INSERT INTO t (k, x) VALUES ({row})")
                    server.begin(mode)
                    try:
                        server.run(f"ALTER TABLE t MODIFY {modify}")
                    except server.errors:
                        continue
                    values = server.run("SELECT k, x FROM t ORDER BY k")
                    found.setdefault(json.dumps(values), []).append(mode)
                if found:
                    yield {"flavour": server.flavour, "table": f"CREATE TABLE t ({columns}) ENGINE={engine}",
                           "rows": rows, "modify": modify, "found": found}


def kept(server: Server) -> Iterator[dict]:
    """What dates become in columns that an ALTER leaves alone."""
    for engine in ("InnoDB", "MyISAM"):
        for more in [*MORE[1:], ", ADD KEY (z)", ", MODIFY z BIGINT NOT NULL", ", MODIFY z INT NOT NULL",
                     ", MODIFY w TEXT", ", DROP COLUMN w"]:
            alter, found = f"ALTER TABLE t{more.removeprefix(',')}", {}
            for mode in modes(server.flavour)[:6]:
                server.begin(_LENIENT)
                server.run("DROP TABLE IF EXISTS t")
                server.run(f"{DATES_TABLE} ENGINE={engine}")
                for row in DATES_ROWS:
                    server.run(f"INSERT INTO t VALUES ({row})")
                server.begin(mode)
                try:
                    server.run(alter)
                except server.errors:
                    continue
                values = server.values([("d", "DATE"), ("m", "DATETIME(3)")], "k")
                found.setdefault(json.dumps(values), []).append(mode)
            if found:
                yield {"flavour": server.flavour, "engine": engine, "alter": alter, "found": found}


def record(url: str) -> tuple[list[dict], ...]:
    """The lines of the four files that the server at a URL makes."""
    server = Server(url)
    columns = [line for kind in TYPES if (line := modified(server, kind)) is not None]
    found = columns, list(nulls(server)), list(numbered(server)), list(kept(server))
    server.run("DROP DATABASE defaults")
    return found


def main() -> None:
    with ThreadPoolExecutor() as pool:
        made = list(pool.map(record, sys.argv[1:]))
    for path, lines in zip((MODIFIED, NULLS, NUMBERED, KEPT), zip(*made, strict=True), strict=True):
        write(path, [line for part in lines for line in part])


if __name__ == "__main__":
    main()
