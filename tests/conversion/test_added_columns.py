"""Columns that are added to rows that are there, and NULLs in columns that may not be NULL any longer: judged by what
both servers made of every kind of default, type of column and sql_mode (record_defaults.py)."""

import gzip
import json
from collections import Counter
from functools import cache

import pytest
from record_defaults import ADDED, MOMENT, TABLE, ZONE
from test_conversions import column

from applier.errors import NotComputable
from applier.schema import zero_dates
from applier.schema.alter import alter
from applier.schema.ddl import parse_statement
from applier.sql.defaults import completed, generated_values
from applier.sql.session import Session

SEEN = ("NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ALLOW_INVALID_DATES")
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
    clauses = [clause.partition(" /")[0] for clause in line["clauses"]]
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
        by_mode = {mode: text for text, modes in found.items() for mode in seen(modes)}
        modes = by_mode if len(found) > 1 or added.type.base in zero_dates.DATES else [next(iter(by_mode))]
        for mode in modes:
            session = Session(line["flavour"], mode, ZONE, MOMENT)
            expected = zero_dates.to_python(column(json.loads(by_mode[mode]), added.type))
            try:
                made = (generated_values if added.generated else completed)(added, definition, values.__getitem__, 3,
                                                                            session)
            except NotComputable as error:
                yield clause, mode, expected, error.message
                continue
            yield clause, mode, expected, zero_dates.to_python(made)


def test_x():
    good, bad, unknown = Counter(), [], Counter()
    for line in LINES:
        for clause, mode, expected, values in judged(line):
            if isinstance(values, str):
                unknown[line["flavour"], clause, line["type"], values] += 1
            elif repr(values) == repr(expected):
                good[line["flavour"]] += 1
            else:
                bad.append((line["flavour"], line["type"], clause, mode, values, expected))
    with open("/tmp/ex/bad.txt", "w") as f:
        for one in bad: print(*one, sep=" | ", file=f)
    with open("/tmp/ex/unknown.txt", "w") as f:
        for one, n in unknown.items(): print(n, *one, sep=" | ", file=f)
    print(good, len(bad), sum(unknown.values()))
    assert not bad
