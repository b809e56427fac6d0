"""Numbers of 64 bits, decimals, doubles and documents where MySQL needs whole numbers, times or bits: what 9.7 made of
them."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate

SESSION = Session("mysql", collation="utf8mb4_0900_ai_ci", server_version="9.7.0")
WORDS = [18446744073709551615, 9223372036854775808, 18446744073709450504, 18446744073701165657, 101112]
EXACT = [-10**20, 10**20, 9300000000000000000, 19000000000000000000, 5]
DOCUMENTS = ["18446744073709551615", "9223372036854775808", "1.6", "1e19", "9007199254740993"]
TEXT = ColumnType("varchar", length=60, charset="utf8mb4", collation="utf8mb4_0900_ai_ci")
BIGINT = ColumnType("bigint")
COLUMNS = {
    "u": (pa.array(WORDS, pa.uint64()).cast(pa.decimal128(20, 0)), ColumnType("bigint", unsigned=True)),
    "n": (pa.array(map(Decimal, EXACT), pa.decimal128(30, 3)), ColumnType("decimal", precision=30, scale=3)),
    "w": (pa.array([Decimal(max(0, one)) for one in EXACT], pa.decimal128(30, 0)),
          ColumnType("decimal", precision=30, scale=0, unsigned=True)),
    "f": (pa.array([float(one) for one in EXACT]), ColumnType("double")),
    "j": (pa.array(DOCUMENTS), ColumnType("json")),
    "y": (pa.array([1999, 0, 2155, 2001, None], pa.int16()), ColumnType("year")),
    "v": (pa.array(["0x41", "", "12", "2020-13-01", None]), TEXT),
    "z": (pa.array(["é"] * 5), TEXT), "b": (pa.array([b"a"] * 5), ColumnType("varbinary", length=5)),
    "d": (pa.array([datetime.date(1, 1, 1)] * 5), ColumnType("date")),
    "t": (pa.array([datetime.timedelta(0)] * 5, pa.duration("us")), ColumnType("time", fsp=0)),
    "m": (pa.array([datetime.datetime(9999, 12, 31, 23, 59, 59, 500000)] * 5, pa.timestamp("us")),
          ColumnType("datetime", fsp=6)),
}


def held(sql, wanted=TEXT, session=SESSION):
    made = evaluate(sql, COLUMNS.__getitem__, 5, session)
    found = assigned(made, wanted, session).to_pylist()
    return found * (5 if len(found) == 1 else 1)


@pytest.mark.parametrize(("sql", "made"), [
    ("TIME(u)", ["-00:00:01", None, "-10:11:12", "-838:59:59", "10:11:12"]),
    ("TIME_TO_SEC(u)", ["-1", None, "-36672", "-3020399", "36672"]),
    ("ADDTIME(TIME'10:00:00', u)", ["09:59:59", None, "-00:11:12", "-828:59:59", "20:11:12"]),
    ("TIMEDIFF(u, u)", ["00:00:00", None, "00:00:00", "00:00:00", "00:00:00"]),
    ("TIME(CAST(u AS UNSIGNED))", ["-00:00:01", None, "-10:11:12", "-838:59:59", "10:11:12"]),
    ("DATE_FORMAT(u, '%Y')", [None, None, None, None, "2010"]),
])
def test_numbers_of_64_bits_are_times_with_their_sign(sql, made):
    assert held(sql) == made


@pytest.mark.parametrize("sql", ["TIME(u + 0)", "TIME(18446744073709551615)", "TIME(IF(1, u, 1))", "(u + 0) | 1"])
def test_a_large_number_that_may_be_a_decimal(sql):
    with pytest.raises(NotComputable, match="may be a DECIMAL"):
        held(sql)


@pytest.mark.parametrize(("sql", "made"), [
    ("HEX(CHAR(n))", ["00", "FFFFFFFF", "FFFFFFFF", "FFFFFFFF", "05"]),
    ("HEX(CHAR(f))", ["00", "FFFFFFFF", "FFFFFFFF", "FFFFFFFF", "05"]),
    ("n | 0", ["9223372036854775808", *["9223372036854775807"] * 3, "5"]),
    ("f | 0", ["9223372036854775808", *["9223372036854775807"] * 3, "5"]),
    ("HEX(n)", ["8000000000000000", *["7FFFFFFFFFFFFFFF"] * 3, "5"]),
    ("HEX(w)", ["0", "FFFFFFFFFFFFFFFF", "81103CB9FB220000", "FFFFFFFFFFFFFFFF", "5"]),
    ("CAST(w AS UNSIGNED)", ["0", "18446744073709551615", "9300000000000000000", "18446744073709551615", "5"]),
    ("CAST(99999999999999999999 AS SIGNED)", ["9223372036854775807"] * 5),
    ("ROUND(123456789012345678901234567890.12, -1)", ["123456789012345678901234567890"] * 5),
    ("CAST(w AS SIGNED)", ["0", "-1", "-9146744073709551616", "-1", "5"]),
    ("EXPORT_SET(n, '1', '0', '', 4)", ["0000", "1111", "1111", "1111", "1010"]),
    ("u DIV '2020'", [str(one // 2020) for one in WORDS]),
    ("0.3e0 DIV 0.1e0", ["3"] * 5), ("1.1e0 DIV '0.1'", ["11"] * 5),
    ("v BETWEEN 'a' AND y", ["1", "1", "1", "0", None]), ("LPAD(z, 5, b)", ["aaaaé"] * 5),
    ("INSERT(z, 1, 1, b)", ["a"] * 5),
])
def test_numbers_beyond_64_bits_and_their_quotients(sql, made):
    assert held(sql) == made


@pytest.mark.parametrize(("wanted", "made"), [
    (BIGINT, [-1, -2**63, 2, 2**63 - 1, 9007199254740993]),
    (ColumnType("bigint", unsigned=True), [0, 0, 2, 2**63 - 1, 9007199254740993]),
    (ColumnType("decimal", precision=30, scale=1), ["-1", f"-{2**63}", "1.6", "1e19", "9007199254740993"]),
])
def test_documents_as_numbers(wanted, made):
    """A whole number of 64 bits has a sign, and whole numbers are exact beside others."""
    assert held("j", wanted) == ([Decimal(one) for one in made] if wanted.base == "decimal" else made)


def test_bits_and_members_of_large_numbers():
    of_three = ColumnType("set", members=("a", "b", "c"), charset="utf8mb4")
    assert held("u", of_three) == ["a,b,c", "", "", "a", ""]
    assert held("n", ColumnType("bit", length=64)) == [0, 2**64 - 1, EXACT[2], 2**64 - 1, 5]
    assert held("CAST('2020-02-29 23:59:59.999' AS DATETIME(3)) + 0", of_three) == [""] * 5
    assert held("d", ColumnType("bit", length=64)) == [2**64 - 1] * 5


@pytest.mark.parametrize(("sql", "wanted"), [
    ("COALESCE(j)", BIGINT), ("IF(1, j, NULL)", BIGINT), ("m", BIGINT), ("m | 0", TEXT), ("CAST(m AS DATETIME)", TEXT),
    ("t = ''", TEXT), ("t IN (1, 'a')", TEXT), ("GREATEST(d, v, 1)", TEXT), ("v IN (d, 'a')", TEXT),
    ("v BETWEEN 'a' AND d", TEXT),
    ("CAST(-9223372036854775809 AS UNSIGNED)", TEXT), ("CAST(n AS JSON)", BIGINT),
    ("ABS(0xFFFFFFFFFFFFFFFF)", TEXT), ("-X''", TEXT), ("NULLIF(20200229101112, m)", BIGINT),
    ("OCT(TIMESTAMP'2020-02-29 10:11:12')", TEXT), ("FLOOR(n)", ColumnType("bit", length=64)), ("STRCMP(j, v)", TEXT),
    ("f * 1e300 * 1e300", TEXT),
    ("IF(1, y, 2.5)", TEXT), ("STRCMP(d, '[')", TEXT), ("STRCMP(u, v)", TEXT),
    ("FORMAT(1.5, n)", TEXT), ("ADDTIME(v, '01:00:00.5')", TEXT), ("'12345678901234567' DIV 3", TEXT),
])
def test_what_is_not_computed(sql, wanted):
    with pytest.raises(NotComputable):
        held(sql, wanted)


@pytest.mark.parametrize(("sql", "length", "made"), [
    ("-d", 4, "-1e4"), ("-d", 9, "-10101"), ("ABS(m)", 5, "1e14"), ("ABS(m)", 12, "9.9991231e13")])
def test_dates_as_doubles_in_short_columns(sql, length, made):
    assert held(sql, ColumnType("char", length=length, charset="utf8mb4")) == [made] * 5


@pytest.mark.parametrize("name", ["SEC_TO_TIME", "FROM_UNIXTIME"])
def test_more_than_six_digits_of_a_second(name):
    cuts = Session("mysql", "TIME_TRUNCATE_FRACTIONAL", "+00:00")
    assert held(f"{name}(1.5e0)", session=cuts) is not None
    with pytest.raises(NotComputable, match="more than six digits"):
        held(f"{name}(3.14159265358979e0)", session=cuts)
