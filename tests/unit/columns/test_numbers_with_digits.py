"""ALTER TABLE of FLOAT(M,D) and DOUBLE(M,D): what MySQL 9.7, MariaDB 10.11 made of the same rows."""

from collections import namedtuple
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from applier.columns.alter.rows import RowConverter
from applier.mysql.types import arrow_type
from applier.schema.history.history import SchemaHistory

Statement = namedtuple("Statement", "sql database context timestamp gtid sequences", defaults=[()])
PLAIN = [1.23456789, 1e10, -2.5, None, 2.675, 0.125, 12345.678, -0.0005]
DIGITS = [1.24, 9999999.99, 0.0, None, 2.67, 0.12]


def altered(flavour, before, action, values, sql_mode=0):
    """The values of a column that a statement changes, and its type."""
    history = SchemaHistory(flavour, files=["b"])
    history.load_schema_file(f"CREATE DATABASE d; CREATE TABLE d.t (a {before});")
    [old] = [version.definition for version in history.versions()]
    statement = Statement(f"ALTER TABLE d.t {action}", "d", {"sql_mode": sql_mode}, 0, "u:7")
    history.apply(statement, (0, 4), (0, 9))
    rows = pa.table({"a": pa.array(values, arrow_type(old.columns[0].type))})
    return RowConverter(history.versions()[-1].conversion).convert(rows).column("a").to_pylist()


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("before", "after", "values", "made"), [
    ("DOUBLE", "DOUBLE(9,2)", PLAIN[:6], [1.23, 9999999.99, -2.5, None, 2.67, 0.12]),
    ("DOUBLE", "FLOAT(7,3)", [12345.678, -0.0005, 2.0005], [9999.999, 0.0, 2.001]),
    ("FLOAT", "FLOAT(7,3)", [12345.678, -0.0005, 2.0005], [9999.999, -0.001, 2.0]),
    ("DOUBLE", "FLOAT(9,1) UNSIGNED", PLAIN[:6], [1.2, 1e8, 0.0, None, 2.7, 0.1]),
    ("VARCHAR(20)", "DOUBLE(9,2)", ["1.2355", "1e10", "-0.0005", "x", "2.675", "0.125"],
     [1.24, 9999999.99, 0.0, 0.0, 2.67, 0.12]),
    ("DECIMAL(12,6)", "FLOAT(7,3)", [Decimal("1.235500"), Decimal("123456.000000"), Decimal("-0.001500"), None,
                                     Decimal("2.000500"), Decimal("0.062500")],
     [1.236, 9999.999, -0.002, None, 2.001, 0.062]),
    ("INT", "DOUBLE(6,3)", [7, 123456, -5, None], [7.0, 999.999, -5.0, None]),
    ("DOUBLE(9,2)", "VARCHAR(30)", DIGITS, ["1.24", "9999999.99", "0.00", None, "2.67", "0.12"]),
    ("FLOAT(7,3)", "VARCHAR(30)", [1.234, 9999.999, 2.001], ["1.234", "9999.999", "2.001"]),
    ("DOUBLE(9,2)", "DECIMAL(10,3)", DIGITS, [None if value is None else Decimal(f"{value:.3f}") for value in DIGITS]),
    ("DOUBLE(9,2)", "BIGINT", DIGITS, [1, 10000000, 0, None, 3, 0]),
    ("DOUBLE(9,2)", "DOUBLE", DIGITS, DIGITS), ("DOUBLE", "DOUBLE(9,2)", PLAIN[2:3], PLAIN[2:3])])
def test_a_column_that_is_copied(flavour, before, after, values, made):
    if after.startswith("FLOAT"):
        made = [None if value is None else float(np.float32(value)) for value in made]
    assert altered(flavour, before, f"MODIFY a {after}, ALGORITHM=COPY", values) == made


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("before", "after"), [("DOUBLE", "DOUBLE(9,2)"), ("DOUBLE(9,2)", "DOUBLE(7,1)")])
def test_a_column_that_is_altered_in_place_keeps_its_digits(flavour, before, after):
    assert altered(flavour, before, f"MODIFY a {after}", PLAIN) == PLAIN
