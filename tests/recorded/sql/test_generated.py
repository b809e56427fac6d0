"""Expressions over the columns of rows, in columns of all kinds: judged by what both servers held."""

import gzip
import json
import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from applier.columns.defaults import generated_values
from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.mysql.values import zero_dates
from applier.mysql.values.value_texts import date_texts
from applier.schema.ddl.ddl import parse_statement

RECORDED = [json.loads(line) for line in gzip.open(Path(__file__).parent / "generated.jsonl.gz", "rt")]
GROUPS = sorted({(case["flavour"], case["sql_mode"]) for case in RECORDED})


def stored(texts, column_type):
    return pa.array(texts, pa.string()).cast(arrow_type(column_type))


def held(made):
    """The values, of dates their texts, since some are in no calendar."""
    return [text and text[:19] for text in date_texts(made).to_pylist()] if zero_dates.may_have(made.type) else \
        made.to_pylist()


def is_equal(value, text, kind):
    if value is None or text is None:
        return value is None and text is None
    if pa.types.is_floating(kind):
        close = 1e-14 if kind == pa.float32() else 0  # a FLOAT is shown as a double of no more than so many digits
        return math.isclose(value, float(text), rel_tol=close) and \
            math.copysign(1, value) == math.copysign(1, float(text))
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return Decimal(value) == Decimal(text)
    return value.hex().upper() == text if isinstance(value, bytes) else value == text


@pytest.mark.parametrize(("flavour", "sql_mode"), GROUPS)
def test_generated_columns_hold_what_the_server_holds(flavour, sql_mode):
    """Or their expression is not computed: never another value."""
    computed = n = 0
    for case in RECORDED:
        if (case["flavour"], case["sql_mode"]) != (flavour, sql_mode):
            continue
        n += 1
        [change] = parse_statement(case["create"], default_database="d", flavour=flavour, sql_mode=sql_mode)
        definition = change.definition
        values = {name: stored(texts, definition.column(name).type) for name, texts in case["columns"].items()}
        column = definition.column("g")
        try:
            made = generated_values(column, definition, values.__getitem__, 3, Session(flavour, sql_mode))
        except NotComputable:
            continue
        computed += 1
        assert made.type == arrow_type(column.type)
        assert all(map(is_equal, held(made), case["values"], [made.type] * 3)), \
            (case["create"], held(made), case["values"])
    assert computed > n * 0.6, (computed, n)
