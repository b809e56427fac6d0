"""Text in other character sets, and as dates: whole columns at once, what single values give."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.values.value_texts import date_texts
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting import temporal_texts
from applier.sql.casting.shown_numbers import written
from applier.sql.casting.texts import SINGLE_BYTE, encoded, in_charset
from applier.sql.casting.values import SHOWN, convert_values

KNOWN = pa.array(["none", "naïve", None, "", "café ﬁ 日本", "Ωμέγα", "Жук", "é"])[1:]


@pytest.mark.parametrize(("charset", "expected"), [
    ("latin1", ["naïve", None, "", "café ? ??", "?????", "???", "é"]),
    ("greek", ["na?ve", None, "", "caf? ? ??", "Ωμέγα", "???", "?"]),
    ("cp1251", ["na?ve", None, "", "caf? ? ??", "?????", "Жук", "?"]),
    ("utf8mb3", ["naïve", None, "", "café ﬁ 日本", "Ωμέγα", "Жук", "é"])])
def test_what_a_set_does_not_have_is_a_question_mark(charset, expected):
    """MySQL manual, "The CHAR and VARCHAR Types": ALTER … CHARACTER SET outside of strict mode."""
    assert in_charset(KNOWN, charset).to_pylist() == expected


@pytest.mark.parametrize("charset", sorted(SINGLE_BYTE))
def test_bytes_and_text_are_each_others(charset):
    """Of the servers' own tables: each byte that is a character comes back, "?" for those that are none."""
    from applier.mysql.character_sets.charsets import to_utf8

    texts = to_utf8(pa.array([bytes([code]) for code in range(256)], pa.binary()), charset)
    assert to_utf8(encoded(texts, charset, "strict"), charset).equals(texts)


def test_dates_in_their_usual_form_are_read_as_others_are(monkeypatch):
    """Each value by itself, and all at once where they are as servers write them: the same times."""
    texts = pa.array(["2024-02-28", "2024-02-29", "2023-02-29", "1969-12-31 23:59:59.5", "2024-04-30 00:00:00", None,
                      "2024-04-31", "9999-12-31 23:59:59.999999", "0001-01-01", "1000-01-01 10:11:12.1", "2024-1-2",
                      "2024-12-31 24:00:00"[:10], "2024-00-05 10:00:00"])
    definition = parse_statement("CREATE TABLE d.t (v DATETIME(3))")[0].definition
    session = Session(definition.flavour, "", "+00:00")
    at_once = convert_values(texts, SHOWN, definition.columns[0].type, session)
    monkeypatch.setattr(temporal_texts, "USUAL_FORM", "^$")
    assert convert_values(texts, SHOWN, definition.columns[0].type, session).equals(at_once)
    assert at_once.null_count == 1


def test_a_time_with_an_offset_needs_the_sessions_zone():
    """EV-CTX: by the session's clock, which a log does not tell where the zone is the server's own."""
    texts, wanted = pa.array(["2024-02-28 23:30:00+01:00"]), column_type("DATETIME")
    shown = convert_values(texts, SHOWN, wanted, Session("mysql", "", "+02:00"))
    assert shown.cast(pa.string()).to_pylist() == ["2024-02-29 00:30:00.000000"]
    with pytest.raises(NotComputable, match="--system-time-zone can"):
        convert_values(texts, SHOWN, wanted, Session("mysql"))


def column_type(kind):
    [change] = parse_statement(f"CREATE TABLE d.t (v {kind})")
    return change.definition.columns[0].type


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("kind", "expected"), [
    ("VARCHAR(20)", ["0.00000012", "0.00000000", "-0.00000090", None, "-1.50000000"]),
    ("CHAR(5)", ["0.000", "0.000", "-0.00", None, "-1.50"]),
    ("VARBINARY(20)", [b"0.00000012", b"0.00000000", b"-0.00000090", None, b"-1.50000000"])])
def test_small_decimals_become_all_of_their_digits(flavour, kind, expected):
    """As on both servers: never with an exponent."""
    texts = ["0.00000012", "0E-8", "-0.0000009", None, "-1.5"]
    values = pa.array([text and Decimal(text) for text in texts], pa.decimal128(10, 8))
    made = convert_values(values, column_type("DECIMAL(10,8)"), column_type(kind), Session(flavour))
    assert made.to_pylist() == expected


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_spaces_end_the_last_member_of_a_set(flavour):
    """As on both servers: no other member, and no number, has them."""
    values = pa.array(["b ", "a,b  ", "a ,b", " b", "1", "1 "])
    made = convert_values(values, column_type("VARCHAR(9)"), column_type("SET('a','b')"), Session(flavour))
    assert made.to_pylist() == ["b", "a,b", "b", "", "a", ""]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("text", "expected"), [
    ("10001", "2010-00-01"), ("1000000", "2010-00-00"), ("1200000000", "2012-00-00"), ("70000", "1970-00-00"),
    ("120000236", "2012-00-00 23:06:00"), ("12010101240", "2012-01-01 01:24:00"),
    ("000000000001", "2000-00-00 00:00:01"), ("13000", "2013-00-00"), ("1301010", "2013-01-01"),
    ("20240230", "0000-00-00"), ("691231", "2069-12-31"),
    ("20240101235960", "0000-00-00")])
def test_digits_as_dates(flavour, text, expected):
    """As on both servers: two digits a part, of which the last one may have one; a month or day of zero stays."""
    made = convert_values(pa.array([text]), column_type("VARCHAR(20)"), column_type("DATETIME"), Session(flavour))
    assert date_texts(made).to_pylist()[0][:19].removesuffix(" 00:00:00") == expected


@pytest.mark.parametrize("charset", ["latin1", "sjis"])
def test_a_null_may_have_bytes(charset):
    """As after a choice between values, of which the array has all."""
    values = pc.if_else(pa.array([True, False, True]), pa.scalar(None, pa.string()), pa.array(["é日", "a日é", "x"]))
    assert in_charset(values, charset).to_pylist() == [None, "a?é" if charset == "latin1" else "a日?", None]


@pytest.mark.parametrize(("number", "texts"), [
    (0.00123, ["0", "1e-3", "0.001", "0.0012", "0.00123"]), (-0.00123, ["0", "0", "-1e-3", "-0.001", "-0.0012"]),
    (0.00999, ["0", "1e-2", "0.01", "0.01", "0.00999"]), (-0.005, ["0", "0", "-5e-3", "-0.005", "-0.005"])])
def test_doubles_in_columns_of_3_to_7_characters(number, texts):
    """As MySQL 9.7 and MariaDB 10.11 wrote them by UPDATE, not in strict mode: four characters have 1e-3, three 0."""
    assert [written(number, width) for width in range(3, 8)] == texts
