"""Which images have a replica compute a STORED column (seen on replicas of MariaDB 11.8, whatever their image has), and
what it computes."""

import pyarrow as pa
import pytest

from applier.columns.defaults import generated_values
from applier.columns.generated_columns import computed_by_replica, computed_of_images
from applier.errors import NotComputable, SchemaError
from applier.schema.ddl.ddl import parse_statement


def computed(expression, kind="BIGINT", flavour="mariadb"):
    """The columns that have `g` computed, of a number, a text, a TIMESTAMP and a DATE."""
    [change] = parse_statement(
        f"CREATE TABLE t (i INT, s TEXT, t TIMESTAMP NULL, d DATE, g {kind} AS ({expression}) STORED)",
        default_database="d", flavour=flavour)
    return computed_of_images(change.definition)[4]


@pytest.mark.parametrize(("expression", "kind"), [
    ("LAST_DAY(i)", "BIGINT"), ("i", "DATE"), ("CAST(s AS DATE)", "INT"), ("HOUR(t)", "INT"), ("DAYOFMONTH(s)", "INT")])
def test_any_image_where_the_session_decides(expression, kind):
    """By its sql_mode, which says what an invalid date is, or by its time zone."""
    assert computed(expression, kind) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("expression", "kind", "of"), [
    ("i + 1", "INT", {0}), ("CONCAT(s, i)", "TEXT", {0, 1}), ("LAST_DAY(d)", "DATE", {3}),
    ("CAST(i AS CHAR)", "TEXT", {0})])
def test_images_with_a_source_where_it_does_not(expression, kind, of):
    assert computed(expression, kind) == of


def test_mysql_computes_it_if_a_source_is_there():
    assert computed("LAST_DAY(i)", flavour="mysql") == {0}


@pytest.mark.parametrize(("number", "made"), [(20240115, 20240115), (20240230, None), (1000, None)])
def test_values_by_the_sql_mode_of_a_replica(number, made):
    """February has no 30th unless ALLOW_INVALID_DATES is set; 2000-10-00 is invalid where NO_ZERO_IN_DATE is set."""
    [change] = parse_statement("CREATE TABLE t (i INT, g BIGINT AS (DATE(i)) STORED)", default_database="d",
                               flavour="mariadb")
    [column] = change.definition.columns[1:]
    values = {"i": pa.array([number], pa.int32())}
    if made is None:
        with pytest.raises(SchemaError):
            computed_by_replica(column, change.definition, values.__getitem__, 1, "+00:00")
    else:
        assert computed_by_replica(column, change.definition, values.__getitem__, 1, "+00:00").to_pylist() == [made]


def test_a_column_over_one_that_is_unknown():
    """MySQL writes the text of OCT byte by byte in a table in ucs2, and reads another number."""
    [change] = parse_statement("CREATE TABLE t (i INT, c INT AS (OCT(i)), g INT AS (c + 1)) CHARACTER SET ucs2",
                               default_database="d", flavour="mysql")
    for column in change.definition.columns[1:]:
        with pytest.raises(NotComputable):
            generated_values(column, change.definition, {"i": pa.array([1])}.__getitem__, 1)
