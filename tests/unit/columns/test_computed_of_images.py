"""Which images have a replica compute a STORED column (seen on replicas of MariaDB 11.8, whatever their image has)."""

import pytest

from applier.columns.generated_columns import computed_of_images
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
