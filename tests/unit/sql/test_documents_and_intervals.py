"""Documents compared with text, bytes that are quoted, and fractions of a second added to times: what real servers made
of them."""

import datetime

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate

MYSQL, MARIADB = Session("mysql"), Session("mariadb")
DOCUMENTS = ['"a"', "1", "{}", None, "null", "true", "[1]", '"ж"', '""', "-1.5", '"A"', '"a "']
TIMES = [datetime.timedelta(hours=10), datetime.timedelta(seconds=-1.25), datetime.timedelta(seconds=3020399)]
SHOWN = ColumnType("varchar", length=60, charset="utf8mb4")


def values(sql, session, column, wanted=SHOWN):
    made = evaluate(sql, {"c": column}.__getitem__, len(column[0]), session)
    return assigned(made, wanted, session).to_pylist()


@pytest.mark.parametrize(("sql", "expected"), [
    ("'a' < c", [0, 0, 1, None, 0, 1, 1, 1, 0, 0, 0, 1]), ("'ж' <= c", [0, 0, 1, None, 0, 1, 1, 1, 0, 0, 0, 0]),
    ("c = 'a'", [1, 0, 0, None, 0, 0, 0, 0, 0, 0, 0, 0]), ("c <=> 'a'", [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("c >= 'A'", [1, 0, 1, None, 0, 1, 1, 1, 0, 0, 1, 1]), ("'true' = c", [0, 0, 0, None, *[0] * 8])])
def test_mysql_compares_documents_with_text_as_documents(sql, expected):
    """9.7; by bytes, whatever the collation."""
    assert values(sql, MYSQL, (pa.array(DOCUMENTS), ColumnType("json")), ColumnType("int")) == expected


@pytest.mark.parametrize("sql", ["CASE c WHEN 'a' THEN 1 ELSE 0 END", "c BETWEEN 'a' AND 'b'", "c IN ('a', 'b')"])
def test_other_comparisons_of_documents_are_not_known(sql):
    """9.7 does not find '"a"' in CASE and BETWEEN."""
    with pytest.raises(NotComputable):
        values(sql, MYSQL, (pa.array(DOCUMENTS), ColumnType("json")), ColumnType("int"))


@pytest.mark.parametrize("document", ['"2024-01-01"', '"10:00:00.000000"', '"base64:type15:QQ=="'])
def test_a_document_whose_type_its_text_does_not_tell_is_not_compared(document):
    with pytest.raises(NotComputable, match="may be a date"):
        values("c < 'a'", MYSQL, (pa.array([document]), ColumnType("json")), ColumnType("int"))


def test_mysql_quotes_bytes_that_are_ascii():
    column = pa.array([b"ab\0\0", b"'a", None, b"\\"], pa.binary()), ColumnType("varbinary", length=9)
    assert values("QUOTE(c)", MYSQL, column) == ["'ab\\0\\0'", "'\\'a'", "NULL", "'\\\\'"]
    with pytest.raises(NotComputable):
        values("QUOTE(c)", MYSQL, (pa.array([b"\xc3\xa9"], pa.binary()), column[1]))


@pytest.mark.parametrize(("sql", "on_mysql", "on_mariadb"), [
    ("c + INTERVAL 1.5 SECOND", ["10:00:01.50", "00:00:00.25", None], None),
    ("c - INTERVAL 1.5 SECOND", ["09:59:58.50", "-00:00:02.75", "838:59:57.50"], None),
    ("c + INTERVAL '0.5' SECOND", ["10:00:00.500000", "-00:00:00.750000", None],
     ["10:00:00.500000", "-00:00:00.750000", "838:59:59.500000"]),
    ("c + INTERVAL 3 MICROSECOND", ["10:00:00.000003", "-00:00:01.249997", None],
     ["10:00:00.000003", "-00:00:01.249997", "838:59:59.000003"]),
    ("c + INTERVAL '1:1.5' MINUTE_MICROSECOND", ["10:01:01.500000", "00:01:00.250000", None], None),
    ("CONCAT(c + INTERVAL 1.5 SECOND)", ["10:00:01.500000", "00:00:00.250000", None],
     ["10:00:01.50", "00:00:00.25", None]),
    ("CONCAT(c - INTERVAL 1 SECOND)", ["09:59:59", "-00:00:02.250000", "838:59:58"],
     ["09:59:59.00", "-00:00:02.25", "838:59:58.00"])])
def test_fractions_of_a_second_are_added_to_times(sql, on_mysql, on_mariadb):
    """9.7, and 10.5, 10.11 and 11.8, whose longest time has a fraction."""
    column = pa.array(TIMES, pa.duration("us")), ColumnType("time", fsp=2)
    assert values(sql, MYSQL, column) == on_mysql
    assert values(sql, MARIADB, column) == (on_mariadb or on_mysql)


def test_mariadb_shows_no_fraction_of_a_member_to_which_time_is_added():
    """10.5, 10.11 and 11.8; a fraction of its own is cut, but counts in numbers."""
    type_ = ColumnType("enum", members=("2024-01-01 10:00:00", "2024-01-01 10:00:00.25"), charset="utf8mb4")
    plain = pa.array(["2024-01-01 10:00:00"]), type_
    assert values("c + INTERVAL 1.5 SECOND", MARIADB, plain) == ["2024-01-01 10:00:01.5"]
    assert values("c + INTERVAL 1 SECOND", MARIADB, plain) == ["2024-01-01 10:00:01"]
    with pytest.raises(NotComputable, match="does not show"):
        values("c + INTERVAL 1 SECOND", MARIADB, (pa.array(["2024-01-01 10:00:00.25"]), type_))


def test_mariadb_takes_a_year_for_the_day_0_of_a_month_0():
    """10.5, 10.11 and 11.8: the 30th of the November before it; NULL beside a datetime."""
    years = pa.array([2024, 2000, 1999, None], pa.int16()), ColumnType("year")
    assert values("TIMEDIFF(c, DATE'1999-12-01')", MARIADB, years) == ["838:59:59", "-24:00:00", "-838:59:59", None]
    assert values("TIMEDIFF(c, TIMESTAMP'1999-12-01 10:00:00')", MARIADB, years) == [None] * 4
    assert values("TIMEDIFF(c, c)", MARIADB, years) == ["00:00:00"] * 3 + [None]
    with pytest.raises(NotComputable, match="YEAR 0"):
        values("TIMEDIFF(c, c)", MARIADB, (pa.array([0], pa.int16()), years[1]))


@pytest.mark.parametrize(("sql", "expected"), [
    ("ADDTIME(TIMESTAMP'2000-01-01 10:00:00', c)", ["2000-01-01 10:20:24", None, None]),
    ("SUBTIME(TIME'10:00:00', c)", ["09:39:36", None, None]),
    ("TIMESTAMP(DATE'2000-01-01', COALESCE(c))", ["2000-01-01 00:20:24", None, None])])
def test_mariadb_adds_a_year_as_digits_of_a_time(sql, expected):
    """10.5 and 11.8: 00:20:24 of 2024, and no time of 1999."""
    years = pa.array([2024, 1999, None], pa.int16()), ColumnType("year")
    assert values(sql, MARIADB, years) == expected


@pytest.mark.parametrize("sql", [
    "DATE(COALESCE(c))", "HOUR(IF(1, c, c))", "CAST(GREATEST(c, c) AS DATE)", "TIME(LEAST(c, c))",
    "TIMEDIFF(COALESCE(c), c)"])
def test_a_number_that_may_be_a_year_is_not_read_as_a_date_or_a_time(sql):
    """10.5 and 11.8 have YEARs of YEARs, and so the day 0 of a month 0; else such numbers are no dates. 9.7 has a time
    of neither."""
    years = pa.array([2024], pa.int16()), ColumnType("year")
    with pytest.raises(NotComputable, match="may be a YEAR"):
        values(sql, MARIADB, years)
    with pytest.raises(NotComputable, match="may be a YEAR"):
        values("TIME(COALESCE(c, c))", MYSQL, years)
    assert values("TIME(COALESCE(c, 5))", MARIADB, (pa.array([105], pa.int32()), ColumnType("int"))) == ["00:01:05"]


def test_mariadbs_documents_beside_numbers_are_numbers_by_their_text():
    """10.5, 10.11 and 11.8; but JSON_EXTRACT has the number in a string."""
    column = pa.array([3.5, -1.0]), ColumnType("double")
    assert values("GREATEST(JSON_COMPACT('[1]'), c)", MARIADB, column) == ["3.5", "0"]
    assert values("LEAST(JSON_EXTRACT('[2]', '$[0]'), c)", MARIADB, column) == ["2", "-1"]
    assert values("LEAST(JSON_QUERY('\"a\"', '$'), c)", MARIADB, column) == [None] * 2
    with pytest.raises(NotComputable, match="text or a word"):
        values("GREATEST(JSON_EXTRACT('[\"7\"]', '$[0]'), c)", MARIADB, column)
