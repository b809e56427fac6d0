"""How many digits behind the point columns of text have of computed numbers: what real servers made of them."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate

MYSQL, MARIADB = Session("mysql"), Session("mariadb", server_version="10.11.19-MariaDB")
OLD = Session("mariadb", server_version="10.5.23-MariaDB")
ROWS = [("0", "0", "0"), ("1", "-0.5", "0.5"), ("-1", "1.5", "0.5"), ("2", "0", "-0.5"), ("1", "1", "1")]
COLUMNS = {name: (pa.array([Decimal(row[place]) for row in ROWS], pa.decimal128(20, scale)), ColumnType(
    "decimal", precision=20, scale=scale)) for place, (name, scale) in enumerate([("n", 0), ("d", 3), ("e", 2)])}
COLUMNS["t"] = pa.array([datetime.timedelta(seconds=one) for one in (0, 0.5, 36000, -1.5, 1)], pa.duration("us")), \
    ColumnType("time", fsp=2)


def held(sql, session, columns=COLUMNS):
    """What a VARCHAR column has of an expression."""
    made = evaluate(sql, columns.__getitem__, len(ROWS), session)
    return assigned(made, ColumnType("varchar", length=60, charset="utf8mb4"), session).to_pylist()


@pytest.mark.parametrize(("sql", "on_mysql", "on_mariadb"), [
    ("d - d", ["0"] * 5, None),
    ("n + d", ["0.000", "0.500", "0.500", "2.000", "2.000"], None),
    ("d + e", ["0.000", "0", "2.000", "-0.500", "2.000"], None),
    ("d * e", ["0", "-0.25000", "0.75000", "0", "1.00000"], ["0.00000", "-0.25000", "0.75000", "0", "1.00000"]),
    ("n * d", ["0", "-0.500", "-1.500", "0", "1.000"], ["0.000", "-0.500", "-1.500", "0.000", "1.000"]),
    ("ABS(d) % e", [None, "0", "0", "0", "0"], [None, "0.000", "0.000", "0", "0.000"]),
    ("d / n", [None, "-0.5000000", "-1.5000000", "0", "1.0000000"],
     [None, "-0.500000000", "-1.500000000", "0", "1.000000000"]),
    ("d / e", [None, "-1.0000000", "3.0000000", "0", "1.0000000"],
     [None, "-1.000000000000000000", "3.000000000000000000", "0", "1.000000000000000000"]),
    ("TRUNCATE(d, n)", ["0", "-0.5", "0", "0.00", "1.0"], None),
    ("TRUNCATE(n, n)", ["0", "1", "0", "2", "1"], None),
    ("ROUND(d, n)", ["0", "-0.5", "0", "0.00", "1.0"], None),
    ("t * 2", ["0", "1.00", "200000", "-3.00", "2"], ["0", "1.000000", "200000", "-3.000000", "2"]),
    ("t * 1.5", ["0", "0.750", "150000.0", "-2.250", "1.5"], ["0.0", "0.7500000", "150000.0", "-2.2500000", "1.5"]),
    ("t + 0.5", ["0.5", "1.00", "100000.5", "-1.00", "1.5"], ["0.5", "1.000000", "100000.5", "-1.000000", "1.5"]),
    ("e - t", ["0", "0", "-99999.50", "1.00", "0"], ["0", "0", "-99999.50", "1.000000", "0"]),
    ("CONCAT(d - d)", ["0.000"] * 5, None), ("CONCAT(TRUNCATE(d, n))", ["0.000", "-0.500", "0.000", "0.000", "1.000"],
                                             None),
])
def test_a_column_of_text_has_the_digits_of_the_operands(sql, on_mysql, on_mariadb):
    """On 9.7, and on 10.11 and 11.8; functions have those of the type."""
    assert held(sql, MYSQL) == on_mysql
    assert held(sql, MARIADB) == (on_mariadb or on_mysql)


@pytest.mark.parametrize(("sql", "session"), [
    ("d * e", OLD), ("t * 2", OLD),  # 10.5 has neither zeros nor whole products with decimals
    ("d * e + d", MYSQL), ("(d - d) / e", MARIADB), ("COALESCE(d, n) - d", MARIADB)])
def test_digits_that_are_not_known(sql, session):
    with pytest.raises(NotComputable):
        held(sql, session)


def test_two_times_of_other_digits_are_not_known_on_mysql():
    """9.7 makes 20240101000001.500 of DATETIME(3) - TIME(2), though the fraction is of the time."""
    columns = COLUMNS | {"u": (COLUMNS["t"][0], ColumnType("time", fsp=3))}
    with pytest.raises(NotComputable, match="digits are not known"):
        held("u - t", MYSQL, columns)
    assert held("t - t", MYSQL, columns) == ["0"] * 5


@pytest.mark.parametrize("sql", ["d % e = 0", "CONCAT(d % e)", "d % e"])
def test_mariadbs_remainder_of_minus_zero_is_not_computed(sql):
    """-0.500 % 0.50 is -0.000 on 10.5, 10.11 and 11.8: less than zero, and not equal to it."""
    with pytest.raises(NotComputable, match="a remainder of -0"):
        held(sql, MARIADB)
    assert held("n % 2 = 0", MARIADB) == ["1", "0", "0", "1", "0"]


def test_mariadb_divides_by_decimals_with_eighteen_digits():
    """1 / 0.07, as 10.5, 10.11 and 11.8 keep it in a DOUBLE: digits come by nines of both operands."""
    columns = {"a": (pa.array([Decimal(12)] * 5, pa.decimal128(8, 3)), ColumnType("decimal", precision=8, scale=3)),
               "b": (pa.array([Decimal("0.07")] * 5, pa.decimal128(6, 2)), ColumnType("decimal", precision=6, scale=2))}
    made = evaluate("a / b", columns.__getitem__, 5, MARIADB)
    assert assigned(made, ColumnType("double"), MARIADB)[0].as_py() == 171.42857142857142
    assert held("a / b", MARIADB, columns)[0] == "171.428571428571428571"
