"""Columns that are added to existing rows: judged by what both servers made of every kind of default, type of
column and sql_mode (record_defaults.py)."""

import gzip
import json
import re
from collections import Counter
from functools import cache

import pyarrow as pa
import pytest

from applier.columns.defaults import completed, generated_values
from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import DATES
from applier.mysql.values import zero_dates
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.alter import alter
from tests.recorded.conversion.record_defaults import ADDED, NOW, TABLE, ZONE
from tests.recorded.conversion.test_modified_columns import column

SEEN = ("NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES")
NOT_COMPUTABLE = {
    "made up by the server, and in no log": r"^(UUID|RAND)\(",
    "functions that this project does not know": r"^(SQRT|POW)\(",
    "other values as a geometry, or a geometry as another value": r"^\w+ as (POINT|GEOMETRY)|^GEOMETRY as",
    "what is not a text as an address": r"^\w+ as (INET4|INET6|UUID)$|^a UUID of version 8",
    "text that is not a date or time": r"^'.*' as (DATE|DATETIME|TIMESTAMP|TIME)$|long text as TIME",
    "numbers as invalid dates": r"no dates where invalid dates are allowed|with a fraction as invalid dates",
    "numbers over 838:59:59": r"^numbers of more than 8385959 as TIME",
    "numbers that MySQL reads by their digits": r"^numbers with more than six digits|^numbers of so many digits",
    "TIME() of a fraction of a second, which is cut or rounded": r"^TIME of a value with a fraction",
    "a time as a year": r"^TIME as YEAR$",
    "a document as a date, or a year of another value": r"^a document (as|that is neither)|^LONGBLOB as JSON|^bytes as",
    "a half in a document, which may be exact or not": r"^a half",
    "the text of numbers of different digits": r"digits are not known as|^\w+ as text$",
    "a quotient that MariaDB keeps more digits of": r"^/ whose result",
    "a double that is cut": r"^a double whose text",
    "TRUE in a document, which MariaDB has stored as 1": r"^TRUE in a document",
    "a negative number as bits": r"^a negative number that may be a DECIMAL as BIT",
    "0x41 and x'41', which MariaDB tells apart": r"^hexadecimal digits as a number",
}
"""Why a default is not computed, and what says so."""
LINES = [json.loads(line) for line in gzip.open(ADDED, "rt")]
VALUES = {
    "id": ["1", "2", "3"], "v": ["x", None, "12abc"], "n": ["1.50", None, "-3.25"],
    "d": ["2020-02-29 23:59:59.999", None, "1999-01-31 00:00:00.000"], "f": ["2.5", None, "-0.25"],
    "y": ["1999", None, "2021"], "b": ["7", None, "250"],
    "s": ["2001-09-08 20:16:40.25", None, "2020-02-29 06:30:00.00"], "k": ["2024-12-31", None, "2000-01-31"],
    "e": ["q", None, "p"],
    "j": ['{"a": "q", "b": 2.5, "c": [1, {"d": null}]}', None, '{"a": 7, "b": "z\\"y", "c": true}'],
}


def seen(modes):
    """What of sql_modes changes values, as a log's session tells it."""
    return sorted({",".join(name for name in SEEN if name in mode.replace("TRADITIONAL", "NO_ZERO_IN_DATE,NO_ZERO_DATE")
                            .split(",")) for mode in modes})


@cache
def base(flavour):
    """The table before, and the values of its columns in three rows."""
    [made] = parse_statement(TABLE, default_database="d", flavour=flavour, time_zone=ZONE)
    return made.definition, {one.name: column(VALUES[one.name], one.type) for one in made.definition.columns}


def with_columns(line):
    """The table with a column for each of the line's clauses: (definition, [(clause, column)])."""
    clauses = list(line["clauses"])
    added = ", ".join(f"ADD COLUMN x{i} {line['type']} {clause}" for i, clause in enumerate(clauses))
    [change] = parse_statement(f"ALTER TABLE t {added}", default_database="d", flavour=line["flavour"], time_zone=ZONE)
    definition = alter(base(line["flavour"])[0], change.actions, change.context).definition
    return definition, [(clause, definition.column(f"x{i}")) for i, clause in enumerate(clauses)]


def judged(line):
    """(clause, sql_mode, what the server held, what was made of it or why nothing) for all of a line."""
    definition, columns = with_columns(line)
    _, values = base(line["flavour"])
    for clause, added in columns:
        found = line["clauses"][clause]
        for text, recorded in found.items():
            expected = column(json.loads(text), added.type)
            modes = seen(recorded)
            for mode in modes if len(found) > 1 or added.type.base in DATES else modes[:1]:
                session = Session(line["flavour"], mode, ZONE, NOW)
                try:
                    make = generated_values if added.generated else completed
                    yield clause, mode, expected, make(added, definition, values.__getitem__, 3, session)
                except NotComputable as error:
                    yield clause, mode, expected, error.message


def same(made, expected):
    """Return whether values are the same, a negative zero and another one apart."""
    if pa.types.is_floating(made.type):
        return repr(made.to_pylist()) == repr(expected.to_pylist())
    return made.equals(expected)


def kind_of(why):
    return next((kind for kind, pattern in NOT_COMPUTABLE.items() if re.search(pattern, why)), why)


@pytest.mark.by_turns("part")
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_added_columns_hold_what_the_server_gave_them(flavour, part):
    """DEF-R1a, EV-CTX: or why not is one of the few reasons that are listed: never another value."""
    wrong, unknown, n = [], Counter(), 0
    for line in LINES[part::3]:
        for clause, mode, expected, values in judged(line) if line["flavour"] == flavour else ():
            n += 1
            if isinstance(values, str):
                unknown[kind_of(values)] += 1
            elif not same(values, expected):
                wrong.append((line["type"], clause, mode, *map(zero_dates.to_python, (values, expected))))
    assert wrong == []
    assert set(unknown) <= set(NOT_COMPUTABLE)
    assert n > 2300
    assert unknown.total() < 0.25 * n
