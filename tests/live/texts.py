"""Random text, most of it odd, becomes numbers, dates and times on running servers and here.

    python -m tests.live.texts mysql://root@127.0.0.1:3306 mariadb://root@127.0.0.1:3307 --count 3000 --seed 7

A table of text is altered (`MODIFY`) to each type in TYPES, in several sql_modes, and what it then holds is compared
with what `convert_values` makes of each text by itself. Prints each text that differs, and how many are refused. The
servers are nobody's: the database h_texts is dropped.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pymysql

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.zero_dates import BEFORE_ALL_DAYS, DAY, parts
from applier.sql.casting.values import convert_values

PIECES = """2020-01-01|2020-02-30|0000-00-00|20200101|200101101112|20200101101112|10-11-12|2020|1011|10:11:12|1:2
2:3:4.567|838:59:59|12:|+01:00|123456789|99|19|5|1|0|00|-1|.5|.|:|-|+|/|T|Z|z|é|e3|1e2|1 2| |   |\t|\n|\r|\v|\f|\xa0
""".replace("\n2:3", "|2:3").rstrip("\n").split("|")
TYPES = {
    "TIME": ColumnType("time"), "TIME(6)": ColumnType("time", fsp=6), "DATE": ColumnType("date"),
    "DATETIME(2)": ColumnType("datetime", fsp=2), "DATETIME(6)": ColumnType("datetime", fsp=6),
    "YEAR": ColumnType("year"), "INT": ColumnType("int"), "BIGINT UNSIGNED": ColumnType("bigint", unsigned=True),
    "DECIMAL(20,4)": ColumnType("decimal", precision=20, scale=4), "DOUBLE": ColumnType("double")}
MODES = {"mysql": ("", "ALLOW_INVALID_DATES", "TIME_TRUNCATE_FRACTIONAL"), "mariadb": ("", "TIME_ROUND_FRACTIONAL")}
_TEXT = ColumnType("varchar", length=60, charset="utf8mb4", collation="utf8mb4_bin")
_OFFSET = re.compile(r"[+-]\d*:")
"""In a date MySQL refuses the statement for most of these."""


def texts(seed: int, count: int) -> list[str]:
    """As many texts, without repetitions, as `count` draws of one to four pieces have."""
    draws = random.Random(seed)
    return sorted({"".join(draws.choices(PIECES, k=draws.randint(1, 4))) for _ in range(count)})


def shown(value: Any) -> str | None:
    """A value of Arrow as the server's CAST to CHAR writes it, but for zeros behind a point."""
    if not value.is_valid:
        return None
    if pa.types.is_duration(value.type):
        return f"{'-' * (value.value < 0)}{_clock(abs(value.value))}"
    if pa.types.is_date(value.type) or pa.types.is_timestamp(value.type):
        days, micros = (value.value, None) if pa.types.is_date(value.type) else divmod(value.value, DAY)
        if days < BEFORE_ALL_DAYS:
            year, month, day = (int(part[0]) for part in parts(np.array([days])))
            text = f"{year:04}-{month:02}-{day:02}"
        else:
            text = (date(1970, 1, 1) + timedelta(days)).isoformat()
        return text if micros is None else f"{text} {_clock(micros)}"
    return str(value.as_py())


def _clock(micros: int) -> str:
    seconds, rest = divmod(micros, 10**6)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:06}"


def alike(ours: str | None, theirs: Any) -> bool:
    """Whether two texts are of the same value."""
    theirs = theirs.decode() if isinstance(theirs, bytes) else theirs
    if ours is None or theirs is None:
        return ours is theirs
    numbers = [float(text) if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text) else
               re.sub(r"\.?0*$", "", text) if "." in text else text for text in (ours, str(theirs))]
    return numbers[0] == numbers[1]


def compared(url: str, type_name: str, mode: str, found: list[str]) -> Iterator[tuple[str, object, str | None]]:
    """Yield each text with the server's value and ours, which is the reason if it is refused."""
    place = urlsplit(url)
    with pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username or "root", autocommit=True,
                         password=place.password or "", charset="utf8mb4") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        [[version]] = cursor.fetchall()
        is_mariadb = "MariaDB" in version
        for statement in (f"SET sql_log_bin = 0, sql_mode = '{mode}', time_zone = '+00:00'",
                          "DROP DATABASE IF EXISTS h_texts", "CREATE DATABASE h_texts CHARACTER SET utf8mb4",
                          "CREATE TABLE h_texts.t (id INT PRIMARY KEY, o VARCHAR(60), a VARCHAR(60))", "USE h_texts"):
            cursor.execute(statement)
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", [
            (number, text, text) for number, text in enumerate(found)
            if is_mariadb or not type_name.startswith("DATE") or not _OFFSET.search(text)])
        cursor.execute(f"ALTER TABLE t MODIFY a {type_name}")
        cursor.execute("SELECT o, CAST(a AS CHAR) FROM t ORDER BY id")
        session = Session("mariadb" if is_mariadb else "mysql", mode, "+00:00", server_version=version.split("-")[0])
        for text, theirs in cursor.fetchall():
            try:
                ours = shown(convert_values(pa.array([text]), _TEXT, TYPES[type_name], session)[0])
            except NotComputable as error:
                ours = f"refused: {error}"
            yield text, theirs, ours


def main() -> None:
    """Compare, and exit with 1 if a text differs."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("urls", nargs="+", metavar="URL")
    arguments.add_argument("--count", type=int, default=3000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    found, differ = texts(given.seed, given.count), 0
    for url in given.urls:
        for mode in MODES[url.partition(":")[0]]:
            for type_name in TYPES:
                refused = 0
                for text, theirs, ours in compared(url, type_name, mode, found):
                    if ours is not None and ours.startswith("refused"):
                        refused += 1
                    elif not alike(ours, theirs):
                        differ += 1
                        print(f"{url} {mode!r} {type_name}: {text!r} is {theirs}, and here {ours}")
                print(f"{url} {mode!r} {type_name}: {len(found)} texts, {refused} refused")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
