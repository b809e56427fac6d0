"""Single values by hand-made bytes, through the reader: what the log has, and what no server writes."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.binlog.rows.changes import ChangeReader, TableBinding
from applier.binlog.rows.layout import plan_column
from applier.errors import ArchiveError
from applier.mysql.values.zero_dates import DAY, ZERO_DAY, has_any, to_python, which
from applier.mysql.values.zero_dates import number as invalid_date
from applier.mysql.wire_types import WireType as W
from tests.support import row_model as m
from tests.support.examples import examples

MICRO = datetime.timedelta(microseconds=1)
ZERO = ZERO_DAY * DAY
"""'0000-00-00 00:00:00'."""


def decode(wire_type, metadata, *cells, digits=None, key=None):
    """Values of one column out of the cells of inserts, as the raw Arrow array's Python values. Raises ArchiveError."""
    plan = plan_column(wire_type, metadata, digits)
    wanted = plan if key is None else plan.as_key(key)
    taken = []

    def take(batch):
        array = batch.after.columns[0].arrow(batch.n_after)
        array.validate(full=True)
        numbers = array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array
        taken.append(to_python(array) if has_any(array) and numbers is array else numbers.to_pylist())
        counted.append(batch.zero_dates)
        expected.append(int(which(array).sum()) if has_any(array) else 0)

    counted, expected = [], []
    body = m.table_map_body([m.BY_NAME["int"]])  # the plan says how cells are read, whatever the table map says
    rows = b"".join(b"\0" + cell for cell in cells)
    file = m.as_file(m.table_map_event(1, body), m.rows_event(0, 1, 1, None, [1], rows))
    reader = ChangeReader(file, lambda _: TableBinding([plan], [None], [wanted], take), checksum=False)
    reader.walk(4, file.size)
    reader.flush()
    assert counted == expected
    return taken[0]


def refused(*arguments, **options):
    with pytest.raises(ArchiveError) as error:
        decode(*arguments, **options)
    assert error.value.mysql_errno == 1610


def micros(*parts):
    return (datetime.datetime(*parts) - datetime.datetime(1970, 1, 1)) // MICRO


# ---- integers as keys

@pytest.mark.parametrize("wire_type, width", [(W.TINY, 1), (W.SHORT, 2), (W.INT24, 3), (W.LONG, 4), (W.LONGLONG, 8)])
def test_integer_keys_compare_in_the_order_of_their_values(wire_type, width):
    """As int64: signed as they are, unsigned as they are, and BIGINT UNSIGNED less 2**63."""
    limit = 1 << 8 * width - 1
    signed = [-limit, -1, 0, 1, limit - 1]
    assert decode(wire_type, 0, *(n.to_bytes(width, "little", signed=True) for n in signed), key=False) == signed
    unsigned = [0, 1, limit - 1, limit, 2 * limit - 1]
    shift = 1 << 63 if width == 8 else 0
    assert decode(wire_type, 0, *(n.to_bytes(width, "little") for n in unsigned), key=True) == \
        [n - shift for n in unsigned]


# ---- DECIMAL

@settings(max_examples=examples(150))
@given(st.integers(1, 38), st.data())
def test_decimals_of_every_size(precision, data):
    scale = data.draw(st.integers(0, precision))
    limit = 10**precision - 1
    numbers = data.draw(st.lists(st.integers(-limit, limit), min_size=1, max_size=5)) + [limit, -limit, 0, 1, -1]
    values = [Decimal(n).scaleb(-scale, m.EXACT) for n in numbers]
    cells = [m.decimal_bytes(value, precision, scale) for value in values]
    assert decode(W.NEWDECIMAL, precision << 8 | scale, *cells) == values


def test_a_decimal_of_the_mysql_manual():
    """1234567890.1234 as DECIMAL(14,4): 81 0D FB 38 D2 04 D2; negative: all bits turned (decimal.cc)."""
    assert decode(W.NEWDECIMAL, 14 << 8 | 4, bytes.fromhex("810dfb38d204d2"), bytes.fromhex("7ef204c72dfb2d")) == \
        [Decimal("1234567890.1234"), Decimal("-1234567890.1234")]


def test_digits_that_are_none():
    """A group above 999999999 is no nine digits."""
    refused(W.NEWDECIMAL, 9 << 8, (0x80000000 | 10**9).to_bytes(4))
    refused(W.NEWDECIMAL, 18 << 8 | 9, b"\x80\0\0\1" + (10**9).to_bytes(4))
    assert decode(W.NEWDECIMAL, 9 << 8, (0x80000000 | 10**9 - 1).to_bytes(4)) == [Decimal(999999999)]


# ---- dates and times

def date_bytes(year, month, day):
    return (year << 9 | month << 5 | day).to_bytes(3, "little")


def test_dates_that_no_calendar_has_are_themselves():
    """Zero dates, zero parts, and days that a month does not have (ALLOW_INVALID_DATES): no two are alike."""
    none = [(0, 0, 0), (2024, 0, 1), (2024, 1, 0), (0, 5, 5), (2023, 2, 29), (1900, 2, 29), (2024, 2, 30), (1, 4, 31)]
    some = [(1, 1, 1), (9999, 12, 31), (2024, 2, 29), (2000, 2, 29), (1970, 1, 1), (1969, 12, 31)]
    assert decode(W.DATE, 0, *(date_bytes(*parts) for parts in none + some)) == \
        [f"{year:04}-{month:02}-{day:02}" for year, month, day in none] + [datetime.date(*parts) for parts in some]


@pytest.mark.parametrize("parts", [(2024, 13, 1), (2024, 15, 31), (10000, 1, 1), (32767, 12, 31)])
def test_dates_that_no_server_writes(parts):
    refused(W.DATE, 0, date_bytes(*parts))


@settings(max_examples=examples(60))
@given(st.dates(datetime.date(1, 1, 1)))
def test_days_since_1970(day):
    assert decode(W.DATE, 0, date_bytes(day.year, day.month, day.day)) == [day]


def datetime2(year, month, day, hour, minute, second, fraction=b""):
    packed = (year * 13 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second
    return (packed + (1 << 39)).to_bytes(5) + fraction


def test_datetime2():
    """All digits of a fraction; an odd number of digits is kept as one more."""
    assert decode(W.DATETIME2, 0, datetime2(2024, 2, 29, 23, 59, 59), datetime2(1, 1, 1, 0, 0, 0)) == \
        [micros(2024, 2, 29, 23, 59, 59), micros(1, 1, 1)]
    for digits, fraction, value in ((1, b"\x5a", 900000), (2, b"\x63", 990000), (3, b"\x27\x06", 999000),
                                    (4, b"\x27\x0f", 999900), (5, b"\x0f\x42\x36", 999990),
                                    (6, b"\x0f\x42\x3f", 999999)):
        assert decode(W.DATETIME2, digits, datetime2(9999, 12, 31, 23, 59, 59, fraction)) == \
            [micros(9999, 12, 31, 23, 59, 59, value)]
    assert decode(W.DATETIME2, 0, datetime2(0, 0, 0, 0, 0, 0), datetime2(2024, 2, 30, 1, 1, 1)) == \
        [ZERO, invalid_date(2024, 2, 30) * DAY + 3661 * 10**6]


@pytest.mark.parametrize("parts", [
    (2024, 1, 1, 24, 0, 0), (2024, 1, 1, 0, 60, 0), (2024, 1, 1, 0, 0, 60), (10000, 1, 1, 0, 0, 0)])
def test_datetimes_that_no_server_writes(parts):
    refused(W.DATETIME2, 0, datetime2(*parts))


def test_fractions_and_signs_that_no_server_writes():
    refused(W.DATETIME2, 2, datetime2(2024, 1, 1, 0, 0, 0, b"\x64"))
    refused(W.DATETIME2, 6, datetime2(2024, 1, 1, 0, 0, 0, b"\x0f\x42\x40"))
    refused(W.DATETIME2, 0, b"\x7f\xff\xff\xff\xff")
    refused(W.TIMESTAMP2, 6, b"\0\0\0\1\xff\xff\xff")


def test_timestamps():
    """Second 0 is the zero date; 2106-02-07 is the last that four bytes have."""
    assert decode(W.TIMESTAMP2, 0, bytes(4), b"\0\0\0\1", b"\xff" * 4) == [ZERO, 10**6, (2**32 - 1) * 10**6]
    assert decode(W.TIMESTAMP2, 3, b"\0\0\0\1\x27\x06") == [1999000]
    assert decode(W.TIMESTAMP, 0, bytes(4), b"\1\0\0\0", b"\xff" * 4) == [ZERO, 10**6, (2**32 - 1) * 10**6]


def test_times():
    """TIME2 is around 0x800000, a negative fraction a complement (my_time.cc: TIME_from_longlong_time_packed)."""
    def seconds(*values):
        return [datetime.timedelta(seconds=value) for value in values]

    assert decode(W.TIME2, 0, b"\x80\0\0", b"\x80\0\1", b"\x7f\xff\xff", b"\xb4\x6e\xfb", b"\x4b\x91\x05") == \
        seconds(0, 1, -1, 838 * 3600 + 3599, -838 * 3600 - 3599)
    assert decode(W.TIME2, 2, b"\x7f\xff\xff\xff", b"\x7f\xff\xff\x9d", b"\x7f\xff\xff\x00") == \
        seconds(-0.01, -0.99, -1)
    assert decode(W.TIME2, 6, b"\x7f\xff\xff\xff\xff\xff") == [-MICRO]
    for cell in (b"\xb4\x70\0", b"\x80\x0f\0", b"\x80\0\x3c", b"\0\0\0"):
        refused(W.TIME2, 0, cell)
    refused(W.TIME2, 2, b"\x80\0\0\x64")


def test_datetime_before_56():
    def number(value):
        return value.to_bytes(8, "little")

    assert decode(W.DATETIME, 0, number(20240229235958), number(0), number(10101000000), number(20230229000000)) == \
        [micros(2024, 2, 29, 23, 59, 58), ZERO, micros(1, 1, 1), invalid_date(2023, 2, 29) * DAY]
    for value in (20241301000000, 20240101240000, 20240101006000, 20240101000060, 2**63 - 1, 2**63, 10**16 + 101000000):
        refused(W.DATETIME, 0, number(value))


def test_time_before_56():
    def number(value):
        return value.to_bytes(3, "little", signed=True)

    assert decode(W.TIME, 0, number(8385959), number(-8385959), number(-1), number(0)) == \
        [datetime.timedelta(seconds=n) for n in (3020399, -3020399, -1, 0)]
    for value in (8386000, 6000, 60, -60, -8388608):
        refused(W.TIME, 0, number(value))


@pytest.mark.parametrize("digits, width, shift", [(1, 6, 5), (2, 6, 4), (3, 7, 3), (4, 7, 2), (5, 7, 1), (6, 8, 0)])
def test_mariadb_datetimes_with_a_fraction(digits, width, shift):
    """Field_datetime_hires: one big-endian number, its unit the smallest fraction."""
    seconds = ((((2024 * 13 + 2) * 32 + 29) * 24 + 23) * 60 + 59) * 60 + 58
    number = seconds * 10**digits + 10**digits - 1
    assert decode(W.DATETIME, 0, number.to_bytes(width), bytes(width), digits=digits) == \
        [micros(2024, 2, 29, 23, 59, 58, (10**digits - 1) * 10**shift), ZERO]
    year_10000 = ((10000 * 13 + 1) * 32 + 1) * 86400 * 10**digits
    refused(W.DATETIME, 0, year_10000.to_bytes(width), digits=digits)


@pytest.mark.parametrize("digits, width", [(1, 4), (2, 4), (3, 5), (4, 5), (5, 5), (6, 6)])
def test_mariadb_times_with_a_fraction(digits, width):
    """Field_time_hires: the number plus 839 hours, so that it is not negative."""
    zero, limit = 839 * 3600 * 10**digits, 838 * 3600 + 3599
    numbers = [0, 1, -1, limit * 10**digits, -limit * 10**digits]
    assert decode(W.TIME, 0, *((zero + n).to_bytes(width) for n in numbers), digits=digits) == \
        [n * 10**(6 - digits) * MICRO for n in numbers]
    refused(W.TIME, 0, bytes(width), digits=digits)
    refused(W.TIME, 0, (2 * zero).to_bytes(width), digits=digits)


@pytest.mark.parametrize("digits, width", [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)])
def test_mariadb_timestamps_with_a_fraction(digits, width):
    """Field_timestamp_hires: seconds, then as many digits, both big-endian."""
    cell = (1_700_000_000).to_bytes(4) + (10**digits - 1).to_bytes(width)
    assert decode(W.TIMESTAMP, 0, cell, bytes(4 + width), digits=digits) == \
        [1_700_000_000 * 10**6 + (10**digits - 1) * 10**(6 - digits), ZERO]
    refused(W.TIMESTAMP, 0, b"\0\0\0\1" + b"\xff" * width, digits=digits)


def test_years_bits_and_codes():
    assert decode(W.YEAR, 0, b"\0", b"\1", b"\xff") == [0, 1901, 2155]
    assert decode(W.BIT, 1 << 8 | 1, b"\1\xff") == [0x1FF]
    assert decode(W.BIT, 8 << 8, b"\x80" + bytes(7)) == [1 << 63]
    assert decode(W.ENUM, 2, b"\1\2") == [0x201]
    assert decode(W.SET, 3, b"\1\2\3") == [0x30201]
