"""Records what real servers hold in generated columns whose expressions take numbers, text and invalid dates for dates
and times: `python -m tests.recorded.sql.record_dates URL…` with mysql://USER@HOST:PORT.

Each line of dates.sql, a type and an expression, is asked with each of the columns below instead of its {}, in a column
that ALTER TABLE adds; those of numbers and of text in each sql_mode of MODES. dates.jsonl.gz holds a line for each that
a server takes: {"server", "sql_mode", "kind", "text", "values": [what the rows hold, as `shown` selects it]}.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.recorded.sql.server_columns import computing, make_base, shown, write

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "dates.jsonl.gz"
MODES = ["", "NO_ZERO_IN_DATE,NO_ZERO_DATE", "ALLOW_INVALID_DATES"]
COLUMNS = {
    "n": ("BIGINT", [
        "0", "7", "100", "101", "131", "1231", "-1", "-300", "991231", "991232", "1000000", "1000101", "9999999",
        "10000101", "20240229", "20230229", "20240200", "20240010", "101000000", "20240229101112", "8385959", "101112",
        "2147483648", "691301", "123456789012345", "20031", "-20240229", "240230"]),
    "c": ("DECIMAL(20,4)", [
        "0", "7.5", "0.5", "100.9", "101.5", "1231.25", "-0.5", "20240229.5", "20240229101112.1255", "-1234.5678",
        "99.995", "101112.5", "1.5", "20240200.25", "20240229101161", "8385959.75"]),
    "f": ("DOUBLE", [
        "0", "7.5", "0.3", "101.7", "20240229", "20240229101112.5", "1000", "99.995", "-300", "1e20", "101112.5",
        "-0.5", "2.5", "1231", "20240229.75", "8385959", "1e-7"]),
    "s": ("VARCHAR(40) CHARACTER SET utf8mb4", [
        "", "7", "12", " 12x", "2024", "2024-02", "2024-2-9", "2024-02-29", "0", "0000-00-00", "2024-00-10",
        "2024-02-00", "2023-02-29", "0000-01-01", "24-02-29", "2024-02-29 10:11:12.5", "[1, 2]", "é", "Ж\n", "\n", " ",
        "1e2", "00012", "10:11:12.5", "2001-02-03 04:05:06", "abc", "2024-02-29x", "2024-13-01", "2024-02-30",
        "20240229", "-3.5", "7-1-2", "+24-2-29", "2024-02-29 10:11", "10:11", "1999/12/31", " 2024-02-29",
        "2024-02-29T10:11:12", "-01:02:03", "1 2", "0000", "000", "0x", "0.4", "0.6", " 0 ", "99", "1.5e1",
        "2024-00-10 10:11:12", "2024-02-30 10:11:12", "100:00:00", "5.75", "-0.0000015"]),
    "d": ("DATETIME(3)", [
        "2024-02-29 10:11:12.125", "0000-00-00 00:00:00", "2024-02-00 10:11:12.500", "1969-12-31 23:59:59.999",
        "0000-01-01 00:00:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59"]),
    "day": ("DATE", ["2024-02-29", "0000-00-00", "2024-00-10", "1970-01-01", "2038-01-20", "1969-12-31"]),
    "t": ("TIME(3)", ["10:11:12.125", "-01:02:03.500", "838:59:59.000", "00:00:00.000", "25:00:00"]),
    "y": ("YEAR", [0, 1999, 2024, 2155]), "b": ("BIT(10)", [5, 0, 97, 1023]),
}
"""Types, and the values of the rows; there are NULLs in the rows behind them."""
ROWS = max(len(values) for _, values in COLUMNS.values()) + 1
_ASKED = re.compile(r"(\S+) (\[\w+\] )?(.*)")
_AT_ONCE = 12
_IN_ALL_MODES = re.compile(r"^(?!.*(?<!%)\b(d|day)\b).*\b(n|s)\b")
"""Expressions that depend on the sql_mode; the columns of dates themselves ALTER TABLE may change."""


def asked() -> list[tuple[str, str]]:
    """Types and expressions. A word in brackets has the letters of the columns that are asked."""
    made = dict[tuple[str, str], None]()
    for line in (FOLDER / "dates.sql").read_text().splitlines():
        kind, letters, text = _ASKED.fullmatch(line).groups()
        names = {"y" if letter == "y" else "day" if letter == "a" else letter: None
                 for letter in (letters or "[ncfsda]").strip("[] ")} if "{}" in text else {"": None}
        made |= dict.fromkeys((kind, text.replace("{}", name)) for name in names)
    return list(made)


def rows() -> list[list[Any]]:
    """The rows' values."""
    columns = [values + [None] * (ROWS - len(values)) for _, values in COLUMNS.values()]
    return [list(row) for row in zip(*columns, strict=True)]


def record(url: str) -> Iterator[dict]:
    """All of the columns that the server at a URL takes."""
    from pymysql import MySQLError

    with computing(url) as (cursor, version):
        make_base(cursor, {name: kind for name, (kind, _) in COLUMNS.items()}, rows())

        def held(some: list[tuple[str, str]], mode: str) -> list[list[Any] | None]:
            """What the rows hold of some columns; None of one that the server does not take."""
            names = [f"g{number}" for number in range(len(some))]
            added = ", ".join(f"ADD {name} {kind} AS ({text}) STORED"
                              for name, (kind, text) in zip(names, some, strict=True))
            cursor.execute("SET SESSION sql_mode = ''")
            cursor.execute("DROP TABLE IF EXISTS t")
            cursor.execute("CREATE TABLE t LIKE base")
            cursor.execute("INSERT INTO t SELECT * FROM base")
            cursor.execute(f"SET SESSION sql_mode = '{mode}'")
            try:
                cursor.execute(f"ALTER TABLE t {added}")
            except MySQLError:
                half = len(some) // 2
                return held(some[:half], mode) + held(some[half:], mode) if half else [None]
            wanted = ", ".join(re.sub(r"\bg\b", name, shown(kind)) for name, (kind, _) in zip(names, some, strict=True))
            cursor.execute(f"SELECT {wanted} FROM t ORDER BY k")
            return [list(values) for values in zip(*cursor.fetchall(), strict=True)]

        for mode in MODES:
            wanted = [(kind, text) for kind, text in asked() if not mode or _IN_ALL_MODES.search(text)]
            for first in range(0, len(wanted), _AT_ONCE):
                some = wanted[first:first + _AT_ONCE]
                for (kind, text), values in zip(some, held(some, mode), strict=True):
                    if values is not None:
                        yield {"server": version, "sql_mode": mode, "kind": kind, "text": text, "values": values}


def main(urls: list[str]) -> None:
    write(RECORDED, (case for url in urls for case in record(url)))


if __name__ == "__main__":
    main(sys.argv[1:])
