"""Histories of one session each, by name: statements that follow CREATE DATABASE d and USE d, for every server; one
that has no such setting, type or clause refuses them. They are in sessions.sql, a statement a line; of its ALTERS each
is executed on a table of its own. FOUND are those of found.sql, found_mysql.sql and mariadb.sql: what random histories
(tests/live) once showed, of all servers, of MySQL and of MariaDB; those of codes.sql are about the bytes of text, those
of structure.sql about partitions, sequences and the order of rows, those of texts.sql about text in expressions, those
of expressions.sql about what defaults, casts and generated columns compute.
"""

from __future__ import annotations

import itertools

from tests.support.folders import RECORDED


def _sections(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    all_lines = (RECORDED / "sessions" / name).read_text().splitlines()
    for is_empty, lines in itertools.groupby(all_lines, lambda line: not line):
        if not is_empty:
            title, *statements = lines
            found[title.removeprefix("-- ")] = statements
    return found


def _copies(columns: str, mode: str) -> list[str]:
    """Each of the ALTERs over a table of its own with TIMESTAMPs of an hour that daylight saving repeats."""
    made = ["CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (1), (2)"]
    for number, words in enumerate(_ALTERS):
        made += ["SET sql_mode=DEFAULT", "SET time_zone='+00:00'",
                 f"CREATE TABLE t{number} (id INT PRIMARY KEY, ts TIMESTAMP NULL, n INT, "
                 f"d CHAR(1) NOT NULL DEFAULT 'x', v VARCHAR(20), e ENUM('a','b'), w INT AS (id) VIRTUAL{columns})",
                 f"INSERT INTO t{number} (id, ts, n) VALUES (1, FROM_UNIXTIME(1478421000), 1), "
                 "(2, FROM_UNIXTIME(1478424600), 2)",
                 "SET time_zone='America/Los_Angeles'", f"SET sql_mode={mode}",
                 f"ALTER TABLE t{number} " + words.format(f"t{number}")]
    return made


SESSIONS = _sections("sessions.sql")
FOUND = {name: _sections(f"{name}.sql") for name in ("found", "found_mysql", "mariadb", "codes", "structure",
                                                       "texts", "expressions")}
_ALTERS = SESSIONS.pop("ALTERS")
_STORED = ", k INT AS (HOUR(ts)) STORED"
SESSIONS |= {"copied-timestamps": _copies("", "DEFAULT"), "copied-timestamps-lax": _copies("", "''"),
             "copied-stored": _copies(_STORED, "DEFAULT"), "copied-stored-lax": _copies(_STORED, "''")}
