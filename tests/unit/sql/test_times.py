"""Which values are times of a session before a function of times takes them."""

import pyarrow as pa
import pytest

from applier.mysql.session import Session
from applier.schema.definition import ColumnType
from applier.sql.times import local
from applier.sql.values import Value

TEXT, WHOLE = ColumnType("varchar", length=30), ColumnType("int")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("value, n", [(Value(pa.array(["2020-02-29 01:02:03", "x"]), TEXT), 1),
                                      (Value(pa.array([20200229], pa.int32()), WHOLE, constant=True), 0)])
def test_text_and_numbers_are_the_datetimes_that_they_hold(value, n, flavour):
    """EV-CTX: and NULL where they hold none."""
    made = local(value, Session(flavour))
    assert made.type.base == "datetime" and made.constant == value.constant
    assert str(made.values[0].as_py())[:10] == "2020-02-29" and made.values.null_count == n


def test_constant_text_is_a_datetime():
    made = local(Value(pa.array(["2020-02-29 01:02:03"]), TEXT, constant=True), Session("mysql"))
    assert made.type.base == "datetime" and made.constant
