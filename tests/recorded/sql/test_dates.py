"""Numbers, text and invalid dates as dates and times, in each sql_mode: judged by what MySQL and three versions of
MariaDB held."""

import gzip
import json

import pyarrow as pa
import pytest

from applier.columns.defaults import generated_values
from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.value_texts import date_texts
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values
from applier.sql.values import TEXT
from tests.recorded.sql.record_dates import COLUMNS, RECORDED, ROWS, rows
from tests.recorded.sql.test_generated import is_equal

CASES = [json.loads(line) for line in gzip.open(RECORDED, "rt")]
GROUPS = sorted({(case["server"], case["sql_mode"]) for case in CASES})
LAST_TIMESTAMPS = {"11": 2**32, "10": 2**31}
"""The second after MariaDB's last TIMESTAMP."""


def values_of(definition, session):
    """The values of the recorded rows by column."""
    made = {}
    for name, given in zip(COLUMNS, zip(*rows(), strict=True), strict=True):
        type_ = definition.column(name).type
        made[name] = convert_values(pa.array(given, pa.string()), TEXT, type_, session) if isinstance(given[0], str) \
            else pa.array(given, arrow_type(type_))
    return made


def shown(made, recorded):
    """The values, of dates their texts with the digits that the recorded ones have."""
    if not zero_dates.may_have(made.type):
        return made.to_pylist()
    return [text and text[:len(given or text)] for text, given in
            zip(date_texts(made).to_pylist(), recorded, strict=True)]


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize(("server", "sql_mode"), GROUPS)
def test_dates_are_what_the_server_holds(server, sql_mode):
    """Or they are not computed: never another value."""
    flavour = "mariadb" if "MariaDB" in server else "mysql"
    last = LAST_TIMESTAMPS.get(server[:2]) if flavour == "mariadb" else None
    session = Session(flavour, sql_mode, time_zone="+00:00", server_version=server,
                      last_timestamp=last and last * 10**6 - 1)
    cases = [case for case in CASES if (case["server"], case["sql_mode"]) == (server, sql_mode)]
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    wrong, computed = [], 0
    for first in range(0, len(cases), 50):  # to parse a table takes longer than to compute a case
        some = cases[first:first + 50]
        generated = ", ".join(f"g{n} {case['kind']} AS ({case['text']}) STORED" for n, case in enumerate(some))
        [change] = parse_statement(f"CREATE TABLE t ({columns}, {generated})", default_database="d", flavour=flavour)
        values = values_of(change.definition, Session(flavour))
        for n, case in enumerate(some):
            column = change.definition.column(f"g{n}")
            try:
                made = generated_values(column, change.definition, values.__getitem__, ROWS, session)
            except NotComputable:
                continue
            computed += 1
            assert made.type == arrow_type(column.type)
            if pa.types.is_duration(made.type):
                made = convert_values(made, column.type, TEXT, session)
            held = shown(made, case["values"])
            if not all(is_equal(value, text, made.type) for value, text in zip(held, case["values"], strict=True)):
                wrong.append((case["kind"], case["text"], held, case["values"]))
    assert wrong == []
    assert computed > 0.5 * len(cases)
