"""Functions over the columns of rows: judged by what MySQL and three versions of MariaDB held."""

import gzip
import json

import pyarrow as pa
import pytest

from applier.columns.defaults import generated_values
from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values
from applier.sql.values import TEXT
from tests.recorded.sql.record_functions import COLUMNS, RECORDED, ROWS
from tests.recorded.sql.test_generated import held, is_equal

CASES = [json.loads(line) for path in RECORDED.values() for line in gzip.open(path, "rt")]
SERVERS = sorted({case["server"] for case in CASES})


def values_of(definition, session):
    """The values of the recorded rows by column."""
    rows = dict(zip(COLUMNS, zip(*ROWS, strict=True), strict=True))
    values = {name: pa.array(given, pa.binary()) if any(isinstance(value, bytes) for value in given) else
              convert_values(pa.array([value if value is None else str(value) for value in given]), TEXT,
                             definition.column(name).type, session)
              for name, given in rows.items() if name not in ("bu", "bw")}
    given = {"yr": pa.array(rows["yr"], pa.int16())} | {
        name: pa.array(rows[name], pa.decimal128(20, 0)) for name in ("bu", "bw")}
    return {**values, **given}  # of which texts say something else


def tables(cases):
    """Yield (case, its column, the table): 50 cases a table, as to parse one takes longer than to compute a case."""
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    for first in range(0, len(cases), 50):
        some = cases[first:first + 50]
        generated = ", ".join(f"g{n} {case['kind']} AS ({case['text']}) STORED" for n, case in enumerate(some))
        flavour = "mariadb" if "MariaDB" in some[0]["server"] else "mysql"
        [change] = parse_statement(f"CREATE TABLE t ({columns}, {generated})", default_database="d", flavour=flavour)
        for n, case in enumerate(some):
            yield case, change.definition.column(f"g{n}"), change.definition


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("server", SERVERS)
def test_functions_hold_what_the_server_holds(server):
    """Or they are not computed: never another value."""
    flavour = "mariadb" if "MariaDB" in server else "mysql"
    session = Session(flavour, time_zone="+00:00")
    wrong, computed, values = [], 0, None
    cases = [case for case in CASES if case["server"] == server]
    for case, column, definition in tables(cases):
        values = values or values_of(definition, session)
        try:
            made = generated_values(column, definition, values.__getitem__, len(ROWS), session)
        except NotComputable:
            continue
        computed += 1
        assert made.type == arrow_type(column.type)
        if pa.types.is_duration(made.type):
            made = convert_values(made, column.type, TEXT, session)
        if not all(is_equal(value, text, made.type) for value, text in zip(held(made), case["values"], strict=True)):
            wrong.append((case["kind"], case["text"], held(made), case["values"]))
    assert wrong == []
    assert computed > 0.6 * len(cases)
