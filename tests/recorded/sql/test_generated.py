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


IN_DOCUMENTS = [  # the columns' set, an expression, what MySQL 9.7 has where a is '7', or that it is not computed
    ("utf16", "JSON_ARRAY(12, a)", '[12, "\\u00007"]'), ("utf16le", "JSON_ARRAY(a)", '["7\\u0000"]'),
    ("utf32", "JSON_OBJECT('k', a)", '{"k": "\\u0000\\u0000\\u00007"}'), ("ucs2", "JSON_ARRAY('b')", '["b"]'),
    ("ucs2", "JSON_SET('{}', '$.a', a)", '{"a": "\\u00007"}'), ("latin1", "JSON_ARRAY(a)", '["7"]'),
    ("utf16", "JSON_ARRAY_APPEND('[1]', '$', UPPER(a))", '[1, "\\u00007"]'),
    ("utf16", "JSON_ARRAY(CONCAT(a, 'b'))", '["\\u00007\\u0000b"]'), ("utf16", "JSON_QUOTE(a)", '"7"'),
    ("utf16", "JSON_ARRAY(CAST(a AS CHAR))", '["7"]'), ("utf16", "JSON_ARRAY(CONVERT(a USING utf16))", '["\\u00007"]'),
    ("utf16", "JSON_ARRAY(HEX(a))", "refused"), ("utf16", "JSON_ARRAY(DATE'2001-01-01' + INTERVAL 1 DAY)", "refused"),
]


def in_document(charset, expression, text):
    """A generated column's value where `a` is this text."""
    [change] = parse_statement(f"CREATE TABLE t (a TEXT, g TEXT CHARACTER SET utf8mb4 AS ({expression})) "
                               f"CHARACTER SET {charset}", default_database="d", flavour="mysql")
    try:
        made = generated_values(change.definition.column("g"), change.definition, {"a": pa.array([text])}.__getitem__,
                                1, Session("mysql", ""))
        return made[0].as_py()
    except NotComputable:
        return "refused"


@pytest.mark.parametrize(("charset", "expression", "expected"), IN_DOCUMENTS)
def test_documents_of_mysql_take_the_bytes_of_wide_text_for_utf8(charset, expression, expected):
    assert in_document(charset, expression, "7") == expected


@pytest.mark.parametrize(("text", "expected"), [("ł", '["\\u0001B"]'), ("쎩", '["é"]'), ("é", "refused")])
def test_wide_text_whose_bytes_are_no_ascii_in_documents(text, expected):
    """A server gives an error for bytes that are not UTF-8."""
    assert in_document("utf16", "JSON_ARRAY(a)", text) == expected


@pytest.mark.parametrize("expression", ["LENGTH(MONTHNAME('2020-01-02'))", "HEX(CONCAT(a))", "UNHEX(HEX(_utf8mb4'12'))",
                                        "CRC32(SPACE(a))", "LENGTH(CAST(HEX(a) AS BINARY))"])
def test_bytes_of_text_that_functions_make_in_a_wide_table(expression):
    """MySQL 9.7 makes some of it in the table's character set: CONCAT(12), and not CONCAT(12, 'a')."""
    [change] = parse_statement(f"CREATE TABLE d.t (a INT, g INT AS ({expression}) STORED) CHARACTER SET utf16")
    with pytest.raises(NotComputable, match="that functions make in a table in utf16"):
        generated_values(change.definition.column("g"), change.definition, {"a": pa.array([1])}.__getitem__, 1)
