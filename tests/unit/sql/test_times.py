"""Which values are times of a session before a function of times takes them."""

import pyarrow as pa
import pytest

from applier.mysql.session import Session
from applier.schema.definition import ColumnType
from applier.sql.times import local
from applier.sql.values import Value

TEXT, WHOLE = ColumnType("varchar", length=30), ColumnType("int")


@pytest.mark.parametrize("value", [Value(pa.array(["2020-02-29 01:02:03", "x"]), TEXT),
                                   Value(pa.array([20200229], pa.int32()), WHOLE, constant=True)])
def test_texts_of_rows_and_other_constants_stay_as_they_are(value):
    """EV-CTX: for MariaDB only constant text is a datetime by itself, and a TIMESTAMP in the session's zone."""
    assert local(value, Session("mariadb")) is value


def test_constant_text_is_a_datetime():
    made = local(Value(pa.array(["2020-02-29 01:02:03"]), TEXT, constant=True), Session("mysql"))
    assert made.type.base == "datetime" and made.constant
