"""Text that is hardly a number or a date, as MySQL 9.7 and MariaDB 10.11 converted it outside of strict mode."""

import sys
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.zero_dates import to_python
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values

TEXT = ColumnType("varchar", length=40, charset="utf8mb4", collation="utf8mb4_general_ci")
WIDE_DIGITS = ["\uff12\uff10\uff12\uff10-01-02", "\uff12\uff10\uff12\uff10\uff10\uff11\uff10\uff12", "\uff112",
               "2020-\uff101-02", "\uff12"]
MOST = Decimal("99999999.99")
FLAVOURS = pytest.mark.parametrize("flavour", ["mysql", "mariadb"])


def converted(kind, texts, flavour):
    [change] = parse_statement(f"CREATE TABLE d.t (v {kind})", flavour=flavour)
    made = convert_values(pa.array(texts), TEXT, change.definition.columns[0].type, Session(flavour))
    return to_python(made)


@FLAVOURS
@pytest.mark.parametrize(("kind", "most", "least"), [
    ("SMALLINT", 32767, -32768), ("DECIMAL(10,2)", MOST, -MOST), ("DOUBLE", sys.float_info.max, -sys.float_info.max)])
def test_numbers_beyond_all_are_the_greatest(kind, most, least, flavour):
    if flavour == "mysql" or kind != "SMALLINT":
        assert converted(kind, ["1e400", "-1e400"], flavour) == [most, least]
        assert converted(kind, ["1e1000000", "-1e1000000"], flavour) == [most, least]
    assert converted(kind, ["1e-400"], flavour) == [1 if kind == "SMALLINT" and flavour == "mariadb" else 0]


@pytest.mark.parametrize("kind", ["INT", "DECIMAL(10,2)"])
def test_an_exponent_that_a_server_loses_count_of_is_not_guessed(kind):
    """MySQL makes -2147483648 of -1e-99999999999999999999, and 0.00 of 1e99999999999999999999."""
    for text in ("-1e-99999999999999999999", "1e99999999999999999999"):
        with pytest.raises(NotComputable, match="the number"):
            converted(kind, [text], "mysql")


def test_mariadb_has_no_minus_zero():
    assert [str(*converted("DOUBLE", ["-0"], flavour)) for flavour in ("mysql", "mariadb")] == ["-0.0", "0.0"]


@FLAVOURS
@pytest.mark.parametrize(("kind", "expected"), [
    ("DATE", ["0000-00-00"] * 5), ("INT", [0, 0, 0, 2020, 0]), ("ENUM('a','b')", [""] * 5), ("SET('a','b')", [""] * 5)])
def test_digits_are_those_of_ascii(kind, expected, flavour):
    assert converted(kind, WIDE_DIGITS, flavour) == expected


@FLAVOURS
def test_a_character_that_the_set_lacks_is_a_question_mark(flavour):
    """Also where that is a label."""
    assert converted("ENUM('a','?','s') CHARACTER SET ascii", ["\u00c4", "a", "\u20ac"], flavour) == ["?", "a", "?"]
    assert converted("ENUM('a','s') CHARACTER SET ascii", ["\u00c4", "a", "\u20ac"], flavour) == ["", "a", ""]


@FLAVOURS
@pytest.mark.parametrize("charset", ["utf8mb4", "utf8mb3"])
def test_surrogates_in_bytes_are_text_to_mariadb_alone(flavour, charset):
    """MariaDB keeps their bytes, MySQL ends before them."""
    text = ColumnType("varchar", length=9, charset=charset, collation=f"{charset}_bin")
    values = pa.array([b"a\xed\xa0\x80b"])
    if flavour == "mariadb":
        with pytest.raises(NotComputable, match="surrogates"):
            convert_values(values, ColumnType("blob"), text, Session(flavour))
    else:
        assert convert_values(values, ColumnType("blob"), text, Session(flavour)).to_pylist() == ["a"]


@FLAVOURS
@pytest.mark.parametrize("kind", ["DATE", "DATETIME(6)", "TIME(6)", "YEAR", "INT", "DECIMAL(10,2)", "DOUBLE"])
@pytest.mark.parametrize("text", ["{}", "{}:1", "1 {}:1", "2020-01-{}", ".{}", "{}.5", "-{}", "0{}"])
def test_thousands_of_digits_are_read_or_refused(kind, text, flavour):
    """Python's int() takes no more than 4,300 of them."""
    try:
        made = converted(kind, [text.format("1" * 5000)], flavour)
    except NotComputable:
        return
    assert len(made) == 1


@FLAVOURS
@pytest.mark.parametrize("text", ["2020-01-01" + "T" * 100_000, "1" * 100_000, "1-" * 50_000, "1 " * 50_000 + "x",
                                  "2020-01-01 " + ":" * 100_000])
def test_long_text_takes_no_longer_than_it_is(text, flavour):
    """The square of so many characters would take minutes."""
    for kind in ("DATETIME", "TIME"):
        try:
            converted(kind, [text], flavour)
        except NotComputable as error:
            assert len(str(error)) < 300


def test_many_digits_are_no_time_on_mysql():
    assert converted("TIME", ["1" * 5000 + ":1", "-" + "1" * 11], "mysql") == converted("TIME", ["x", "0"], "mysql")
