"""What MySQL 9.7 computes in ways of its own, which are refused: each gave rows that the server does not have."""

import pyarrow as pa
import pytest

from applier.columns.defaults import default_scalar
from applier.errors import NotComputable, SchemaError
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.schema.ddl.ddl import parse_statement
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.values import convert_values
from applier.sql.evaluator import depends_on_escapes, evaluate
from applier.sql.sql_modes import in_default_mode, read_as_written

TEXT = ColumnType("varchar", length=60, charset="utf8mb4", collation="utf8mb4_general_ci")
COLUMNS = {
    "i": (pa.array([1, 0]), ColumnType("int")), "y": (pa.array([0, 2024], pa.int16()), ColumnType("year")),
    "s": (pa.array(["2024-01-02", "x"]), TEXT), "f": (pa.array([2.0**63, 1.0]), ColumnType("double")),
    "r": (pa.array([1.5, 2.0], pa.float32()), ColumnType("float")),
    "n": (pa.array(["_", "["]), ColumnType("varchar", length=9, charset="utf8mb3", collation="utf8mb3_general_ci")),
    "b": (pa.array([b"ab", b"c"]), ColumnType("varbinary", length=9))}


def held(sql, wanted=TEXT, flavour="mysql", **settings):
    session = Session(flavour, literals="utf8mb4", **settings)
    return assigned(evaluate(sql, COLUMNS.__getitem__, 2, session), wanted, session).to_pylist()


@pytest.mark.parametrize("sql", [
    "UPPER(CONCAT(s COLLATE utf8mb4_bin, b))", "CONCAT(NULLIF(y, 1))", "HEX(CHAR(f))",
    "IF(i, s + INTERVAL 1 DAY, s) + INTERVAL 1 DAY"])
def test_it_is_refused(sql):
    with pytest.raises(NotComputable):
        held(sql)


def test_what_is_not_chosen_makes_no_text():
    assert held("IF(s COLLATE utf8mb4_bin, b, b)", COLUMNS["b"][1]) == [b"ab", b"c"]


def test_the_year_0_is_a_zero_in_a_column():
    """Only functions have it as 0000."""
    assert held("NULLIF(y, 1)") == ["0", "2024"]
    assert held("COALESCE(NULLIF(y, 0), 'none')") == ["none", "2024"]


def test_a_time_without_known_digits_is_refused_as_a_shorter_one():
    sql = "TIMEDIFF('2030-06-07 14:05:06', '2030-06-07T12:34:56.789012')"
    with pytest.raises(NotComputable):
        held(sql, ColumnType("time", fsp=3))
    assert [value.total_seconds() for value in held(sql, ColumnType("time", fsp=6))] == [5409.210988]


def test_wide_text_is_refused_with_backslashes_that_escape_nothing():
    """MySQL keeps its zero bytes as a backslash and a 0, and reads these as two characters."""
    sql = "ELT(i, _utf16 X'0061', 'b')"
    assert held(sql) == ["a", None]
    with pytest.raises(NotComputable):
        held(sql, sql_mode="NO_BACKSLASH_ESCAPES")
    assert held(sql, flavour="mariadb", sql_mode="NO_BACKSLASH_ESCAPES") == ["a", None]


def test_a_member_has_no_number_in_other_codes():
    members = ColumnType("set", charset="ucs2", collation="ucs2_general_ci", members=("a", "b"))
    assert held("CONCAT('2')", members) == [""]
    with pytest.raises(NotComputable):
        held("CONCAT('2')", members, made_in="ucs2")


@pytest.mark.parametrize(("version", "made"), [("10.11.19-MariaDB", "1970-01-01 00:00:00"), ("11.8.9-MariaDB", None)])
def test_the_first_second_of_1970_by_version(version, made):
    """A MariaDB between both is not known, nor is it where the version is unknown."""
    settings = {"flavour": "mariadb", "time_zone": "+00:00"}
    assert held("FROM_UNIXTIME(0)", server_version=version, **settings) == [made]
    with pytest.raises(NotComputable):
        held("FROM_UNIXTIME(0)", server_version="11.4.2-MariaDB", **settings)
    with pytest.raises(NotComputable):
        held("FROM_UNIXTIME(0)", **settings)


def test_a_default_that_wide_tables_take_byte_by_byte_is_refused():
    def value(column, charset):
        [made] = parse_statement(f"CREATE TABLE t (c {column}) CHARACTER SET {charset}", default_database="d")
        return default_scalar(made.definition.column("c"), made.definition).as_py()

    shown = "VARCHAR(20) CHARACTER SET utf8mb4 DEFAULT (DATE_FORMAT('2016-12-31', '%a %b'))"
    for column, wanted in [(shown, "Sat Dec"),
                           ("VARBINARY(20) DEFAULT (HEX('a'))", b"61"), ("INT DEFAULT (LENGTH(HEX('a')))", 2)]:
        assert value(column, "utf8mb4") == wanted
        with pytest.raises(SchemaError):
            value(column, "ucs2")


@pytest.mark.parametrize(("data", "charset", "read"), [
    ("415C42", "latin1", "415C5C42"), ("955C42", "sjis", "955C5C42"), ("0061", "ucs2", "005C3061"),
    ("65E5", "ucs2", "65E5"), ("00000061", "utf32", "005C305C305C3061")])
def test_bytes_that_are_read_with_their_escapes(data, charset, read):
    assert read_as_written(bytes.fromhex(data), charset).hex().upper() == read


def test_what_depends_on_escapes():
    """The witness does not compare it: the session that opened the table decides."""
    assert depends_on_escapes("CONCAT(_ucs2 X'0061')")
    assert not depends_on_escapes("CONCAT(_latin1 X'61', X'5C', _binary X'00')")


@pytest.mark.parametrize(("sql", "wanted"), [
    ("HEX(RPAD(CONV(i, 10, 36), 5, 'é'))", TEXT), ("REPLACE(HEX(i), '1', 'é')", COLUMNS["b"][1]),
    ("IF(i, f, 1) | 0", ColumnType("bigint")), ("CONCAT(NULLIF(r, 'a'))", TEXT)])
def test_what_is_unknown_of_chosen_and_padded_values(sql, wanted):
    """RPAD and the like have the character set of an ASCII first argument; of a chosen FLOAT, functions show six
    digits, and its bits beyond 64 are others than a DOUBLE's."""
    with pytest.raises(NotComputable):
        held(sql, wanted, made_in="latin2")


def test_text_of_a_cast_has_the_default_collation_of_its_set():
    """It decides beside text of other sets: there, a sign comes before a digit."""
    assert held("n < CAST(i AS CHAR)", ColumnType("int")) == [1, 1]


def test_functions_of_one_number_take_digits_as_doubles():
    assert held("JSON_ARRAY(CEILING(0x10), -0x10, ABS(b'101'))", ColumnType("json")) == ["[16.0, -16.0, 5.0]"]


def test_a_temporal_that_is_no_column_is_compared_as_a_number():
    sql = "TIMESTAMP'2023-10-29 00:00:00' = 20231029"
    assert held(sql, ColumnType("int")) == [0]
    assert held("DATE'2023-10-29' = 20231029", ColumnType("int")) == [1]


def test_bytes_of_labels_in_wide_sets_are_no_labels_of_bytes():
    """A server finds no member; so do others that are empty."""
    wide, data = (ColumnType("set", charset=charset, members=("a", "b")) for charset in ("ucs2", "binary"))
    assert convert_values(pa.array(["", None]), wide, data, Session("mysql")).to_pylist() == ["", None]
    with pytest.raises(NotComputable):
        convert_values(pa.array(["a"]), wide, data, Session("mysql"))


def test_a_literal_of_a_narrow_set_beside_ascii_in_mariadb():
    """Its bytes may be that set's, or those of UTF-8."""
    settings = {"flavour": "mariadb", "made_in": "utf8mb4"}
    assert held("CONCAT(_latin1 X'E9', '7')", **settings) == ["é7"]
    with pytest.raises(NotComputable):
        held("HEX(CONCAT(_latin1 X'E9', '7'))", **settings)


@pytest.mark.parametrize(("sql", "kept"), [
    ("CAST(`i` AS REAL)", "FLOAT"), ("`t`.real + 1", "real"), ("'REAL'", "'REAL'"), ("", "")])
def test_real_is_float_where_the_mode_says_so(sql, kept):
    assert kept in in_default_mode(sql, "ANSI")
    assert in_default_mode(sql, "") == sql
