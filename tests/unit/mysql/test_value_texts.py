"""Texts of numbers, dates and times are those of Python's own types, of any slice of a column."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.mysql.values.value_texts import date_texts, exact_texts, time_texts, year_texts
from applier.mysql.values.zero_dates import DAY, number

INTEGERS = {pa.int8(): (-(1 << 7), 1 << 7), pa.uint8(): (0, 1 << 8), pa.int16(): (-(1 << 15), 1 << 15),
            pa.uint16(): (0, 1 << 16), pa.int32(): (-(1 << 31), 1 << 31), pa.uint32(): (0, 1 << 32),
            pa.int64(): (-(1 << 63), 1 << 63), pa.uint64(): (0, 1 << 64)}
DECIMALS = [(1, 0), (3, 3), (12, 2), (18, 18), (19, 0), (38, 0), (38, 10), (38, 38), (39, 2), (65, 30), (76, 76)]


def column(data, values, kind):
    """Some values, some nulls, and where a slice of it begins."""
    drawn = data.draw(st.lists(st.none() | values, min_size=1, max_size=40))
    return pa.array(drawn, kind), drawn, data.draw(st.integers(0, len(drawn) - 1))


def check(texts, made, drawn, start, expected):
    result = texts(made[start:])
    result.validate(full=True)
    assert result.to_pylist() == [None if one is None else expected(one) for one in drawn[start:]]


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@given(st.data())
def test_integers(kind, data):
    least, end = INTEGERS[kind]
    values = st.integers(least, end - 1) | st.sampled_from([least, 0, end - 1])
    check(exact_texts, *column(data, values, kind), str)


@given(st.data())
def test_years(data):
    """0 is not 2000."""
    check(year_texts, *column(data, st.integers(0, 2155), pa.int16()), "{:04}".format)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("precision, scale", DECIMALS)
@given(st.data())
def test_decimals(precision, scale, data):
    """All digits, a zero before the point, no exponent; a zero has no sign."""
    end = 10**precision
    values = st.integers(1 - end, end - 1) | st.sampled_from([0, 1, -1, end - 1, 1 - end])
    kind = pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)

    def decimal(one):
        return Decimal((one < 0, tuple(map(int, str(abs(one)))), -scale))

    check(exact_texts, *column(data, values.map(decimal), kind), "{:f}".format)


def test_decimals_that_arrow_has_not_are_texts_already():
    assert exact_texts(pa.array(["1.50", None])).to_pylist() == ["1.50", None]


@given(st.data())
def test_dates(data):
    check(date_texts, *column(data, st.dates(), pa.date32()), date.isoformat)


@pytest.mark.parametrize("zone", [None, "UTC"])
@given(st.data())
def test_datetimes(zone, data):
    """By the zone that they are kept in."""
    check(date_texts, *column(data, st.datetimes(datetime(1, 1, 1)), pa.timestamp("us", zone)),
          lambda one: one.isoformat(" ", "microseconds"))


@given(st.integers(0, 9999), st.integers(0, 15), st.integers(0, 31), st.integers(0, DAY - 1))
def test_dates_that_are_none(year, month, day, clock):
    invalid, text = number(year, month, day), f"{year:04}-{month:02}-{day:02}"
    assert date_texts(pa.array([0, invalid], pa.int32()).cast(pa.date32())).to_pylist() == ["1970-01-01", text]
    datetimes = pa.array([invalid * DAY + clock]).cast(pa.timestamp("us"))
    assert date_texts(datetimes).to_pylist() == [f"{text} {datetime.min + timedelta(microseconds=clock):%H:%M:%S.%f}"]


@given(st.data())
def test_times(data):
    """Up to 838 hours, either way."""
    most = timedelta(hours=839) - timedelta(microseconds=1)

    def text(one):
        clock = (datetime.min + abs(one) % timedelta(hours=1)).strftime("%M:%S.%f")
        return f"{'-' * (one < timedelta())}{abs(one) // timedelta(hours=1):02}:{clock}"

    check(time_texts, *column(data, st.timedeltas(-most, most), pa.duration("us")), text)
