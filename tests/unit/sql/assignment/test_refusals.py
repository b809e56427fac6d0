"""Values of which it is unknown what a column stores: each is refused, for its own reason."""

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.values import BYTES, DOUBLE, JSON, TEXT, Value, numbers

MYSQL, MARIADB = Session("mysql"), Session("mariadb", server_version="10.11.19-MariaDB")
VARCHAR = ColumnType("varchar", length=60, charset="utf8mb4")
NUMBER = Value(pa.array([1.5, 2.5]), DOUBLE)
EXACT = numbers(pa.array([Decimal("1.5"), Decimal("2.5")]), constant=False)
TIME = Value(pa.array([500_000, 1], pa.duration("us")), ColumnType("time", fsp=6), shows=False)


def text(*values, **more):
    return Value(pa.array(values), TEXT, **more)


def documents(*values, **more):
    return Value(pa.array(values), JSON, **more)


def data(*values, **more):
    return Value(pa.array(values, pa.binary()), BYTES, **more)


@pytest.mark.parametrize(("value", "base", "session", "reason"), [
    (replace(EXACT, shows=False), VARCHAR, MARIADB, "a number whose digits are not known as VARCHAR"),
    (replace(NUMBER, shows=False), "json", MARIADB, "a number whose digits are not known as JSON"),
    (TIME, ColumnType("time", fsp=1), MYSQL, "a time whose digits are not known as a shorter TIME"),
    (text("1" * 31), "time", MYSQL, "long text as TIME"),
    (NUMBER, "vector", MARIADB, "DOUBLE as VECTOR"),
    (NUMBER, "point", MYSQL, "DOUBLE as POINT"),
    (data(b"{}"), "json", MYSQL, "bytes as a document"),
    (documents("{}"), "date", MYSQL, "a document as DATE"),
    (documents("{}"), "year", MYSQL, "a document that is neither a number nor text as YEAR"),
    (documents("1.5"), "int", MYSQL, "a half, of which a document does not say whether it is exact"),
    (documents('"2001-02-03"'), "int", MYSQL, "a document that is a date or a time, or its text, as INT"),
    (documents("1e3", is_choice=True), "double", MYSQL, "a chosen document as a number"),
    (replace(NUMBER, values=pa.array([2.0**63])), "bit", MYSQL, "doubles beyond 9223372036854775807 as BIT"),
    (replace(NUMBER, values=pa.array([0.0000001])), "time", MYSQL, "more than six digits after the point as TIME"),
    (Value(pa.array([8_390_000.0]), DOUBLE, constant=True), "time", MARIADB, "a constant double of more than 838:59"),
    (data(b"\xe4", beside_charset="latin1"), VARCHAR, MARIADB, "text beside bytes, one of which is chosen"),
    (data(b"a", is_loose=True), ColumnType("varchar", length=9, charset="utf32"), MYSQL,
     "bytes that functions make as text in a wide character set"),
    (text("2001-02-03", is_instant=True), "inet6", MARIADB, "LONGTEXT as INET6"),
])
def test_what_is_unknown_is_refused(value, base, session, reason):
    wanted = base if isinstance(base, ColumnType) else ColumnType(base)
    with pytest.raises(NotComputable) as error:
        assigned(value, wanted, session)
    assert reason in error.value.message


@pytest.mark.parametrize(("value", "base", "reason"), [
    (documents("1", constant=True), "int", "a document as a number"),
    (text("no address", constant=True), "uuid", "'no address' is not a UUID"),
    (documents('"x"', constant=True), "uuid", "a constant that is no UUID"),
    (text("noon", constant=True), "time", "'noon' as TIME"),
    (text("300", constant=True), "tinyint", "300"),
])
def test_a_constant_that_does_not_fit_is_refused_if_it_has_to(value, base, reason):
    """Without `strict` it is converted like a column's value."""
    with pytest.raises(NotComputable) as error:
        assigned(value, ColumnType(base), MARIADB, strict=True)
    assert reason in error.value.message
    assert len(assigned(value, ColumnType(base), MARIADB)) == 1
