"""What CASE and IF choose beside text, where functions do not read it as its text: dates and numbers in MySQL 9.7,
digits in another base on all servers."""

import datetime

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate

LATIN = ColumnType("varchar", length=9, charset="latin1", collation="latin1_swedish_ci")
WIDE = ColumnType("varchar", length=9, charset="utf16", collation="utf16_bin")
TEXT = ColumnType("varchar", length=60, charset="utf8mb4", collation="utf8mb4_general_ci")
COLUMNS = {
    "i": (pa.array([1, 0]), ColumnType("int")),
    "d": (pa.array([datetime.date(2024, 2, 29)] * 2), ColumnType("date")),
    "t": (pa.array([36_672_500_000] * 2).cast(pa.duration("us")), ColumnType("time", fsp=1)),
    "y": (pa.array([2024] * 2, pa.int16()), ColumnType("year")),
    "s": (pa.array(["2001-02-03", "é"]), TEXT), "l": (pa.array(["a", "é"]), LATIN), "w": (pa.array(["1"] * 2), WIDE)}


def held(sql, flavour="mysql", wanted=TEXT):
    session = Session(flavour, literals="utf8mb4")
    return assigned(evaluate(sql, COLUMNS.__getitem__, 2, session), wanted, session).to_pylist()


@pytest.mark.parametrize("sql", [
    "IF(i, d, s) + 0", "IF(i, t, s) * 2", "ABS(CASE WHEN i THEN d ELSE s END)", "TIME(IF(i, y, s))",
    "IF(i, d, s) = 2024", "CAST(IF(i, d, s) AS DOUBLE)", "DATE(IF(i, t, s))", "DATE(IF(i, y, s))",
    "CAST(IF(i, 7, s) AS TIME)",
    "HOUR(IF(1, IF(i, 7, s), s))", "w + INTERVAL 1 DAY", "EXTRACT(DAY_SECOND FROM '2024-13-01')"])
def test_what_mysql_reads_otherwise_is_refused(sql):
    with pytest.raises(NotComputable):
        held(sql)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("sql", [
    "UPPER(IF(i, LOWER(s), 0x61))", "LENGTH(IF(IF(i, s, b'1'), s, 'x'))", "IF(i, 0x6162, l)"])
def test_digits_beside_text_are_refused_where_they_are_text(sql, flavour):
    with pytest.raises(NotComputable):
        held(sql, flavour)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("sql", "wanted", "made"), [
    ("IF(i, 0x6162, l)", LATIN, ["ab", "é"]), ("IF(i, 0x6162, s)", TEXT, ["ab", "é"]),
    ("UPPER(IF(i, CONCAT(0x61), s))", TEXT, ["A", "É"]), ("CONCAT(IF(i, d, s), 'x')", TEXT, ["2024-02-29x", "éx"])])
def test_what_is_text_to_all(sql, flavour, wanted, made):
    assert held(sql, flavour, wanted) == made


def test_a_choice_among_a_choice():
    """MariaDB 10.5, 10.11 and 11.8 make text of digits beside text; MySQL's may be a number."""
    assert held("UPPER(IF(1, IF(i, s, 0x61), s))", "mariadb") == ["2001-02-03", "A"]
    with pytest.raises(NotComputable):
        held("UPPER(IF(1, IF(i, s, 0x61), s))")
