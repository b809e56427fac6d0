"""DOUBLE(M,D) and FLOAT(M,D) in expressions, and other values that are refused where a server reads them otherwise. As
MySQL 9.7 and MariaDB 10.5, 10.11 and 11.8 have them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.doubles import as_shown, as_stored, rounded
from applier.sql.evaluator import evaluate
from applier.sql.literals import convert

PRICE = ColumnType("double", precision=10, scale=2)
COLUMNS = {"h": (pa.array([-0.01, 1.61, 2.29, None]), PRICE), "i": (pa.array([1, 0, 1, 0]), ColumnType("int")),
           "s": (pa.array(["abc"] * 4), ColumnType("varchar", length=9, charset="utf8mb4")),
           "f": (pa.array([0.1, 1.5, 2.5, None], pa.float32()), ColumnType("float"))}


def values(sql, flavour="mysql"):
    return evaluate(sql, COLUMNS.__getitem__, 4, Session(flavour)).of_rows(4).to_pylist()


@pytest.mark.parametrize(("shown", "stored", "scale"), [
    (-0.01, -0.010000000000000009, 2), (1.61, 1.6099999999999999, 2), (2.29, 2.29, 2), (1.2345, 1.2345, 2),
    (0.9999999999999999, 0.9999999999999999, 16), (405630.0459772539, 405630.0459772539, 10)])
def test_a_server_rounds_the_part_above_the_next_lower_integer(shown, stored, scale):
    kind = ColumnType("double", precision=20, scale=scale)
    assert as_stored(pa.array([shown, None]), kind).to_pylist() == [stored, None]
    if shown != 1.2345:  # which an ALTER in place left
        assert as_shown(pa.array([stored]), kind).to_pylist() == [shown]


@pytest.mark.parametrize(("stored", "shown", "scale"), [
    (2.675, 2.67, 2), (1.115, 1.11, 2), (0.5, 0.0, 0), (-2.5, -2.0, 0), (4503599627370.4965, 4503599627370.496, 3),
    (1e300, 1e300, 5), (7.123456789, 7.123456789, 25)])
def test_a_select_rounds_the_exact_value(stored, shown, scale):
    """As `%.*f` does, also for halves and for products that a double does not hold."""
    kind = ColumnType("double", precision=30, scale=scale)
    assert as_shown(pa.array([stored, None]), kind).to_pylist() == [shown, None]


@pytest.mark.parametrize(("number", "stored"), [(0.05, 0.0), (1.115, 1.1), (2.85, 2.8), (0.95, 1.0), (-0.05, 0.0)])
def test_a_literal_is_rounded_as_a_value_of_the_column(number, stored):
    kind = ColumnType("double", precision=5, scale=1)
    assert convert(Decimal(str(number)), kind, "mysql") == stored
    assert rounded(np.array([number]), kind).tolist() == [stored]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("sql", "expected"), [
    ("h + 0e0", [-0.010000000000000009, 1.6099999999999999, 2.29, None]), ("h = 1.61", [0, 1, 0, None]),
    ("h < -0.01", [0, 0, 0, None]), ("h IN (1.61)", [0, 1, 0, None]), ("h IN (1.61, 2.29)", [0, 0, 1, None]),
    ("h BETWEEN 1.61 AND 3", [0, 0, 1, None]), ("CASE h WHEN 1.61 THEN 1 ELSE 0 END", [0, 0, 0, 0]),
    ("NULLIF(h, 1.61) IS NULL", [0, 1, 0, 1])])
def test_operators_compare_by_decimals_and_lists_what_is_stored(sql, expected, flavour):
    assert values(sql, flavour) == expected


@pytest.mark.parametrize(("sql", "flavour"), [
    ("h * 1 = 1.61", "mysql"), ("NOT (h + 0.01)", "mysql"), ("(h + 0.01) AND 1", "mysql"), ("f XOR 1", "mariadb"),
    ("UPPER(IF(i, s, 0x61))", "mysql"), ("IF(i, s, 0x41) = 'ABC'", "mariadb"), ("CONCAT(IF(i, f, f))", "mysql"),
    ("JSON_ARRAY(COALESCE(f, 1))", "mariadb"), ("CAST('20240115x' AS DATE)", "mariadb"),
    ("EXTRACT(DAY FROM '2024-01-15.')", "mariadb"), ("TIMEDIFF('20240115T1', '2024-01-15 00:00:00')", "mysql")])
def test_what_servers_read_otherwise_is_refused(sql, flavour):
    with pytest.raises(NotComputable):
        values(sql, flavour)
