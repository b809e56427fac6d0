"""Random literals become defaults on running servers and here.

    python -m tests.live.literals mysql://root@127.0.0.1:3306 mariadb://root@127.0.0.1:3307 --count 2000 --seed 7

Each literal is the DEFAULT of columns of a few types, in the sql_modes and time zones of SESSIONS; what a row then
holds is compared with `default_values`. Prints each default that differs, and how many are refused. The servers are
nobody's: the database h_literals is dropped.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pymysql

from applier.columns.defaults import default_values, other_defaults
from applier.errors import ApplierError, NotComputable
from applier.mysql.session import Session
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import CreateTable
from tests.live.texts import PIECES, alike, shown

TYPES = """TIME|TIME(3)|DATE|DATETIME|DATETIME(3)|TIMESTAMP|TIMESTAMP(6)|YEAR|INT|TINYINT UNSIGNED|BIGINT|DECIMAL(8,3)
FLOAT|DOUBLE|BIT(12)|CHAR(9)|VARCHAR(20)|VARCHAR(20) CHARACTER SET ucs2|TINYTEXT|BINARY(4)|VARBINARY(20)|BLOB|JSON
ENUM('a','1','1.5','2020-01-01')|SET('a','1','b')""".replace("\n", "|").split("|")
SESSIONS = {
    "mysql": [("", "+00:00"), ("TIME_TRUNCATE_FRACTIONAL", "+05:30"), ("ALLOW_INVALID_DATES", "-03:00")],
    "mariadb": [("", "+00:00"), ("TIME_ROUND_FRACTIONAL", "+05:30"), ("ALLOW_INVALID_DATES", "-03:00")]}
_WHOLE = [*PIECES, *"20240229101112.55|2024-02-29 10:11:12.987654|99-1-1|1:1:1|10:11:12.9999996|a|b|70|69".split("|")]
_NUMBERS = """20200101 200101 101112 2020 99 0 00 1 01 1.50 1e0 1e2 20200101101112 20200101101112.9 0.999 1e-3 .5 1e10
""".split()
_BYTES = ["X'3230323031323331'", "0x31", "b'101'", "X'61'", "0x07E4", "b'0'", "0b1"]
_WORDS = ["TRUE", "FALSE", "NULL", "(1)", "(1+1)", "+1", "- 1"]


def literal(draws: random.Random) -> str:
    """A literal of any kind, as SQL."""
    text = "".join(draws.choices(_WHOLE, k=draws.choice([1, 1, 1, 2, 2, 3])))
    for plain, escaped in (("\\", r"\\"), ("'", "''"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(plain, escaped)
    quoted = f"'{text}'"
    kind = draws.choice(["DATE", "TIME", "TIMESTAMP"])
    return draws.choice([quoted, quoted, quoted, f"({quoted})", f"{kind}{quoted}", f"({kind}{quoted})",
                         draws.choice(["_latin1", "_binary", "N"]) + quoted,
                         draws.choice(["", "", "-"]) + draws.choice(_NUMBERS), draws.choice([*_BYTES, *_WORDS])])


def compared(cursor: pymysql.cursors.Cursor, sql: str, session: Session) -> str:
    """Return "alike", "refused" or what differs for one table, or "invalid" if the server does not make it."""
    try:
        for statement in (f"SET sql_mode = '{session.sql_mode}', time_zone = '{session.time_zone}'",
                          "DROP TABLE IF EXISTS t", sql, "INSERT INTO t (id) VALUES (1)", "SET time_zone = '+00:00'",
                          "SELECT CAST(c AS CHAR CHARACTER SET utf8mb4), HEX(c), c + 0e0 FROM t"):
            cursor.execute(statement)
    except pymysql.Error:
        return "invalid"
    [[text, digits, number]] = cursor.fetchall()
    try:
        [change] = parse_statement(sql, default_database="h_literals", flavour=session.flavour,
                                   sql_mode=session.sql_mode, time_zone=session.time_zone)
        assert isinstance(change, CreateTable)
        column = change.definition.column("c")
        ours = default_values(column, change.definition, other_defaults(column, change.definition), 1, session)[0]
    except (ApplierError, NotComputable):
        return "refused"
    if column.type.base == "bit":
        is_alike = digits == (f"{ours.as_py():X}" if ours.is_valid else None)
    elif pa.types.is_floating(ours.type):
        is_alike = ours.as_py() == number
    elif pa.types.is_binary(ours.type):
        is_alike = digits == (ours.as_py().hex().upper() if ours.is_valid else None)
    else:
        is_alike = shown(ours) == text if column.type.charset else alike(shown(ours), text)
    return "alike" if is_alike else f"{text} (0x{digits}), and here {ours}"


@contextmanager
def opened(url: str, database: str, **options: Any) -> Iterator[tuple[pymysql.cursors.Cursor, str, str]]:
    """A connection to a server with a new database, whose statements are not logged: its cursor, the server's flavour
    and its version."""
    place = urlsplit(url)
    with pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username or "root", autocommit=True,
                         password=place.password or "", charset="utf8mb4", **options) as connection, \
            connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        [[version]] = cursor.fetchall()
        for statement in ("SET sql_log_bin = 0", f"DROP DATABASE IF EXISTS {database}",
                          f"CREATE DATABASE {database} CHARACTER SET utf8mb4", f"USE {database}"):
            cursor.execute(statement)
        if place.scheme == "mariadb":
            cursor.execute("SET explicit_defaults_for_timestamp = 1")
            with suppress(pymysql.Error):  # of newer versions
                cursor.execute("SET character_set_collations = ''")
        yield cursor, place.scheme, version.split("-")[0]


def compare(url: str, given: argparse.Namespace) -> bool:
    """Compare on one server; whether anything differs."""
    draws, differs = random.Random(given.seed), False
    with opened(url, "h_literals") as (cursor, flavour, version):
        for mode, zone in SESSIONS[flavour]:
            session, found = Session(flavour, mode, zone, server_version=version), Counter[str]()
            for _ in range(given.count):
                type_name = draws.choice(TYPES)
                sql = f"CREATE TABLE t (id INT PRIMARY KEY, c {type_name} DEFAULT {literal(draws)})"
                answer = compared(cursor, sql, session)
                if answer not in ("alike", "refused", "invalid"):
                    print(f"{url} {mode!r} {zone}: {sql}: {answer}")
                    answer, differs = "different", True
                found[answer] += 1
            print(f"{url} {mode!r} {zone}: {dict(found)}")
    return differs


def run(compare: Callable[[str, argparse.Namespace], bool], description: str | None, **options: float) -> None:
    """Compare on the servers that the command line names, and exit with 1 if anything differs; with more options, by
    their defaults."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("urls", nargs="+", metavar="URL")
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    for name, default in options.items():
        arguments.add_argument(f"--{name}", type=type(default), default=default)
    given = arguments.parse_args()
    differ = [compare(url, given) for url in given.urls]
    sys.exit(any(differ))


if __name__ == "__main__":
    run(compare, __doc__)
