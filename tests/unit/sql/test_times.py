"""Which values are times of a session before a function of times takes them."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.values import convert_values
from applier.sql.evaluator import evaluate, no_columns
from applier.sql.functions.dates.times import local
from applier.sql.values import Value

TEXT, WHOLE = ColumnType("varchar", length=30), ColumnType("int")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("value", "wanted"), [
    (Value(pa.array(["2020-02-29 01:02:03", "x"]), TEXT), ["2020-02-29 01:02:03.000000", None]),
    (Value(pa.array([20200229], pa.int32()), WHOLE, constant=True), ["2020-02-29 00:00:00.000000"])])
def test_texts_and_numbers_are_the_datetimes_that_they_hold(value, wanted, flavour):
    """EV-CTX: and NULL, where they hold none."""
    assert local(value, Session(flavour)).values.cast(pa.string()).to_pylist() == wanted


def test_mariadb_reads_offsets_in_a_way_that_is_not_known():
    with pytest.raises(NotComputable):
        local(Value(pa.array(["2001-02-03 04:05:06+01:00"]), TEXT, constant=True), Session("mariadb"))


def test_constant_text_is_a_datetime():
    made = local(Value(pa.array(["2020-02-29 01:02:03"]), TEXT, constant=True), Session("mysql"))
    assert made.type.base == "datetime" and made.constant


@pytest.mark.parametrize("text", ["abc", "", ":", "a:b", "838:59:60"])
def test_mariadb_makes_null_of_text_that_is_not_a_time(text):
    """10.11: CAST does not give 00:00:00."""
    made = evaluate(f"CAST('{text}' AS TIME)", lambda name: None, 1, Session("mariadb"))
    assert made.values.to_pylist() == [None]


@pytest.mark.parametrize("text", ["0", "00:00:00", " 0:00", "-00:00"])
def test_text_that_is_the_time_0(text):
    made = evaluate(f"CAST('{text}' AS TIME)", lambda name: None, 1, Session("mariadb"))
    assert made.values.cast(pa.int64()).to_pylist() == [0]


def test_more_digits_of_a_second_than_there_are_microseconds_are_rounded():
    made = evaluate("CONCAT(FROM_UNIXTIME(1.12345678) + 0)", no_columns, 1, Session("mysql", time_zone="+00:00"))
    assert made.values.to_pylist() == ["19700101000001.123457"]


@pytest.mark.parametrize("text", ["2016-12-31 23:59:59", "2016/12/31 23:59:59", "16.12.31 23:59:59"])
@pytest.mark.parametrize("unit", ["DAY_HOUR", "DAY_MINUTE", "DAY_SECOND"])
def test_days_of_text_with_a_date_are_not_guessed(unit, text):
    """MariaDB 10.5 to 11.8 have the day of such text, and of '10:11:12' none."""
    with pytest.raises(NotComputable, match="of text with a date"):
        evaluate(f"EXTRACT({unit} FROM '{text}')", no_columns, 1, Session("mariadb"))


@pytest.mark.parametrize(("flavour", "expression", "expected"), [
    ("mysql", "GREATEST(d, '2020-01-01')", [2024]), ("mysql", "LEAST(d, '2020-01-01')", [2020]),
    ("mysql", "GREATEST(d, '2020-01-01') + 0", [20240229]), ("mysql", "GREATEST(d, d)", [2024]),
    ("mariadb", "GREATEST(d, '2020-01-01')", [20240229]), ("mariadb", "GREATEST(d, '2020-01-01') + 0", [20240229])])
def test_mysql_assigns_the_greatest_of_dates_and_text_by_its_text(flavour, expression, expected):
    """Of MySQL 9.7, MariaDB 10.5, 10.11 and 11.8, in a STORED column of type BIGINT."""
    session, days = Session(flavour), pa.array([date(2024, 2, 29)])
    made = evaluate(expression, lambda name: (days, ColumnType("date")), 1, session)
    assert assigned(made, ColumnType("bigint"), session).to_pylist() == expected


@pytest.mark.parametrize(("flavour", "sql_mode", "given", "expected"), [
    ("mysql", "NO_ZERO_IN_DATE", "2020-01-00", None), ("mariadb", "NO_ZERO_IN_DATE", "2020-01-00", None),
    ("mysql", "NO_ZERO_IN_DATE", "0000-01-01", "0000-01-01"), ("mysql", "NO_ZERO_IN_DATE", "0-0-00", None),
    ("mysql", "NO_ZERO_IN_DATE", "0000-00-00", "0000-00-00"), ("mariadb", "NO_ZERO_IN_DATE", "0000-0-0", "0000-00-00"),
    ("mysql", "NO_ZERO_DATE", "2020-01-00", None), ("mariadb", "NO_ZERO_DATE", "2020-01-00", "2020-01-00"),
    ("mysql", "NO_ZERO_DATE", "0000-01-01", None), ("mariadb", "NO_ZERO_DATE", "0000-01-01", "0000-01-01"),
    ("mysql", "NO_ZERO_DATE", "0000-00-00", None), ("mariadb", "NO_ZERO_DATE", "0000-00-00", None),
    ("mysql", "", "0000-02-29", None), ("mysql", "", "0000-02-28", "0000-02-28")])
def test_dates_by_a_form_have_zeros_where_the_sql_mode_lets_them(flavour, sql_mode, given, expected):
    """Of MySQL 9.7 and MariaDB 10.11."""
    made = evaluate(f"CONCAT(STR_TO_DATE('{given}', '%Y-%m-%d'))", no_columns, 1, Session(flavour, sql_mode))
    assert made.values.to_pylist() == [expected]


@pytest.mark.parametrize(("sql_mode", "expected"), [("NO_ZERO_IN_DATE", None), ("NO_ZERO_DATE", "0000-00-00 10:11:12")])
def test_mariadb_takes_the_time_of_day_for_a_part_of_a_zero_date(sql_mode, expected):
    """Of MariaDB 10.11."""
    text = "CONCAT(STR_TO_DATE('0000-00-00 10:11:12', '%Y-%m-%d %T'))"
    assert evaluate(text, no_columns, 1, Session("mariadb", sql_mode)).values.to_pylist() == [expected]


def test_the_text_of_a_time_with_a_zero_fraction_is_not_computed():
    """MySQL 9.7 has '12:34:56' of it, and '01:02:03.500000' of another row."""
    with pytest.raises(NotComputable):
        evaluate("CONCAT(STR_TO_DATE('12:34:56', '%H:%i:%s.%f'))", no_columns, 1, Session("mysql"))


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_clock_beside_an_invalid_date_is_read_and_a_fraction_beside_dates_is_not_computed(flavour):
    """Of both servers; MySQL's greatest of the two is 2020-01-01."""
    def column(_):
        return pa.array(["2020-02-30 10:11:12"]), TEXT

    assert evaluate("HOUR(s)", column, 1, Session(flavour)).values.to_pylist() == [10]
    with pytest.raises(NotComputable):
        evaluate("GREATEST(CONCAT('2020-01-01 23:59:59.', 5), DATE'2020-01-01')", column, 1, Session(flavour))


def compared(expression, text, flavour, sql_mode):
    """A condition of s, a text, and of days and instants: valid (x, y), of a month without such a day, and zero."""
    day, instant = ColumnType("date"), ColumnType("datetime", fsp=3)
    columns = {"s": (TEXT, text), "x": (day, "2020-01-01"), "y": (instant, "2020-02-15 10:00:00"),
               "late": (day, "2020-02-30"), "zero": (day, "0000-00-00")}

    def column(name):
        type_, held = columns[name]
        return convert_values(pa.array([held]), TEXT, type_, Session(flavour, "ALLOW_INVALID_DATES")), type_

    return assigned(evaluate(expression, column, 1, Session(flavour, sql_mode)), ColumnType("bigint"),
                    Session(flavour, sql_mode)).to_pylist()


@pytest.mark.parametrize("sql_mode", ["", "NO_ZERO_DATE,NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES"])
@pytest.mark.parametrize(("expression", "text", "expected"), [
    ("s < TIMESTAMP'2020-01-02 00:00:00'", "2020-02-30", 0), ("IF(s > DATE'2019-01-01', 1, 2)", "2020-02-30", 1),
    ("s BETWEEN DATE'2018-01-01' AND DATE'2020-03-01'", "2018-02-30", 1), ("s > x", "2020-02-30", 1),
    ("s > x", "2020-00-05", 0), ("IF(s > DATE'2019-01-01', 1, 2)", "2020-00-05", 1), ("s = late", "2020-02-30", 1),
    ("s = zero", "0000-00-00", 1), ("s < late", "2020-01-02", 1), ("late < y", None, 0)])
def test_mariadb_compares_invalid_dates_as_they_are(expression, text, expected, sql_mode):
    """Of MariaDB 10.5, 10.11 and 11.8: the sql_mode does not matter."""
    assert compared(expression, text, "mariadb", sql_mode) == [expected]


@pytest.mark.parametrize(("expression", "text", "expected"), [
    ("late < y", None, 0), ("s < late", "2020-01-02", 1), ("s > x", "2020-02-30", 0)])
def test_mysql_compares_invalid_dates_of_columns_as_they_are(expression, text, expected):
    """Of MySQL 9.7: unlike those in text."""
    assert compared(expression, text, "mysql", "") == [expected]


@pytest.mark.parametrize(("flavour", "expression", "expected"), [
    ("mysql", "EXTRACT(HOUR FROM 20200100)", [0]), ("mysql", "EXTRACT(MINUTE FROM 101112)", [0]),
    ("mysql", "EXTRACT(HOUR FROM 7)", [0]), ("mysql", "EXTRACT(MINUTE FROM '2020-01-02')", [0]),
    ("mysql", "EXTRACT(HOUR FROM '10:11:12')", [10]), ("mysql", "EXTRACT(HOUR FROM '2020-01-02 10:11:12')", [10]),
    ("mariadb", "EXTRACT(DAY FROM '2020-01-02')", [2]), ("mariadb", "EXTRACT(DAY FROM 20200102101112)", [2]),
    ("mariadb", "EXTRACT(DAY FROM '1231')", [None]), ("mariadb", "EXTRACT(HOUR FROM 101112)", [10]),
    ("mariadb", "EXTRACT(HOUR FROM '10:11:12')", [10]), ("mariadb", "EXTRACT(DAY FROM 1231)", [0]),
    ("mariadb", "EXTRACT(DAY FROM 7e0)", [0]), ("mariadb", "EXTRACT(DAY FROM 20200100)", [84]),
    ("mariadb", "EXTRACT(HOUR FROM -20371231)", [-21]), ("mariadb", "EXTRACT(DAY_SECOND FROM 20371231)", [84211231]),
    ("mariadb", "EXTRACT(HOUR_MINUTE FROM 2147483648)", [2036]), ("mariadb", "EXTRACT(HOUR FROM 1060)", [None]),
    ("mariadb", "EXTRACT(DAY_HOUR FROM 876494155959)", [365205823]),
    ("mariadb", "EXTRACT(DAY_HOUR FROM 876494160000)", [None]), ("mariadb", "EXTRACT(MICROSECOND FROM 7)", [0])])
def test_parts_of_text_and_numbers(flavour, expression, expected):
    """Of MySQL 9.7, and MariaDB 10.5, 10.11 and 11.8: MySQL takes a number for a date where it is one, MariaDB for an
    interval of hours, minutes and seconds."""
    assert evaluate(expression, no_columns, 1, Session(flavour)).values.to_pylist() == expected


@pytest.mark.parametrize(("flavour", "expression"), [
    ("mariadb", "EXTRACT(DAY FROM 7.5)"), ("mariadb", "EXTRACT(HOUR FROM 20371231.5)"),
    ("mariadb", "EXTRACT(DAY FROM '10:11:12')"), ("mariadb", "EXTRACT(DAY_HOUR FROM 20371231.5)"),
    ("mariadb", "EXTRACT(DAY FROM '32:00:00')"), ("mariadb", "EXTRACT(DAY FROM '2020-01')"),
    ("mariadb", "EXTRACT(HOUR_MINUTE FROM '2020-01-02')"), ("mariadb", "EXTRACT(MINUTE FROM '2020-01-02')"),
    ("mariadb", "EXTRACT(SECOND FROM '2020.01.02')"), ("mysql", "EXTRACT(HOUR FROM 7.0)"),
    ("mysql", "EXTRACT(HOUR FROM '2020-13-01')"),
    ("mysql", "EXTRACT(SECOND FROM '1-1-1')")])
def test_parts_that_servers_take_in_ways_of_their_own_are_not_guessed(flavour, expression):
    with pytest.raises(NotComputable):
        evaluate(expression, no_columns, 1, Session(flavour))


@pytest.mark.parametrize("value", ["'2020-02-30'", "20200230"])
def test_the_last_day_of_a_day_that_its_month_does_not_have_is_not_guessed(value):
    """MariaDB has one under ALLOW_INVALID_DATES; it is NULL else."""
    with pytest.raises(NotComputable):
        evaluate(f"LAST_DAY({value})", no_columns, 1, Session("mariadb", "ALLOW_INVALID_DATES"))
    assert evaluate(f"LAST_DAY({value})", no_columns, 1, Session("mariadb")).values.to_pylist() == [None]


@pytest.mark.parametrize("expression", [
    "s = x", "x < s", "s IN (x)", "s IN (DATE'2020-01-01', DATE'2020-01-03')", "NULLIF(x, s)", "s BETWEEN x AND x",
    "s BETWEEN DATE'2020-01-01' AND DATE'2020-01-01'", "CASE s WHEN x THEN 1 END", "CASE x WHEN s THEN 1 END"])
def test_days_are_not_compared_with_times_of_day_in_text(expression):
    """MySQL 9.7 compares the day alone by an operator and by IN, and the time too by the others; MariaDB has one way
    for all."""
    with pytest.raises(NotComputable):
        compared(expression, "2020-01-01 10:00:00", "mysql", "")
    assert compared(expression, "2020-01-02", "mysql", "")
    assert compared(expression, "2020-01-01 10:00:00", "mariadb", "")


@pytest.mark.parametrize(("choice", "refused"), [
    ("{}", []), ("IF(s, {}, s)", ["mysql"]), ("CASE WHEN s THEN {0} ELSE {0} END", ["mysql"]),
    ("COALESCE({}, s)", []), ("IFNULL({0}, {0})", []), ("CONCAT({})", [])])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_sums_with_intervals_as_numbers(flavour, choice, refused):
    """EV-CTX: a sum of text and an interval is the number of a date, chosen by some functions, too, which is refused;
    else the number that the text begins with (MySQL 9.7, MariaDB 10.5, 10.11 and 11.8)."""
    expression = f"({choice.format('s + INTERVAL 1 DAY')}) + 0"

    def number():
        made = evaluate(expression, lambda _: (pa.array(["2030-06-07 05:59:58.6"]), TEXT), 1, Session(flavour))
        return [float(value) for value in made.values.to_pylist()]

    if flavour in refused:
        with pytest.raises(NotComputable, match="as a number"):
            number()
    else:
        assert number() == [20300608055958.6 if choice == "{}" else 2030.0]


@pytest.mark.parametrize("expression", [
    "DATE_FORMAT({}, '%H')", "YEAR({})", "CAST({} AS DATE)", "LAST_DAY({})", "DATEDIFF({}, '2020-01-01')",
    "{} + INTERVAL 1 DAY"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_a_time_to_which_one_was_added_is_no_text_to_functions_of_dates(flavour, expression):
    """EV-CTX: it is one of the current day, or of none, which is refused; text where a choice is made of it (MySQL 9.7,
    MariaDB 10.5, 10.11 and 11.8)."""
    with pytest.raises(NotComputable, match="was added, as a date"):
        evaluate(expression.format("ADDTIME('10:11:12', '00:10:00')"), no_columns, 1, Session(flavour))
    chosen = evaluate("DATE_FORMAT(COALESCE(ADDTIME('10:11:12', '00:10:00')), '%H')", no_columns, 1, Session(flavour))
    assert chosen.values.to_pylist() == [None]


def test_the_longest_time_of_a_cast_is_cut_to_its_digits_in_mariadb():
    """838:59:59 in TIME (seen on 10.5), which keeps 838:59:59.999999 for a CAST with digits."""
    session = Session(flavour="mariadb")
    assert evaluate("CAST('20230326' AS TIME)", no_columns, 1, session).values[0].as_py() == timedelta(seconds=3020399)


@pytest.mark.parametrize("charset", ["sjis", "utf16"])
@pytest.mark.parametrize("wanted", ["date", "datetime", "time"])
def test_the_beginning_of_long_text_is_not_a_date(charset, wanted):
    """Servers convert 30 characters of it to ASCII: blanks before 10:00:00 leave 1 second, or nothing."""
    def read(text):
        return convert_values(pa.array([text]), ColumnType("varchar", length=60, charset=charset), ColumnType(wanted),
                              Session("mysql"))

    with pytest.raises(NotComputable, match="more than 30 characters"):
        read("2016-12-31 10:00:00".rjust(31))
    assert read("2016-12-31 10:00:00".rjust(30)).null_count == 0
