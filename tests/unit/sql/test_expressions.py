"""Expressions over columns of rows: what MySQL 9.7 made of them, and what is left alone."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.session import session_of
from applier.sql.assignment.conversion import assigned
from applier.sql.evaluator import evaluate, no_columns, varies

[TABLE] = parse_statement("""CREATE TABLE d.v (a BIGINT, b BIGINT, d DATE, m DATETIME(6), t TIMESTAMP NULL,
    s VARCHAR(20), n DECIMAL(10,3), f DOUBLE)""")
ROWS = [
    (7, 2, "2024-02-29", "2024-02-29 23:59:59.999999", "2024-02-29 23:59:59", "A\u00f1b", "2.500"),
    (-7, 2, "1969-12-31", "1969-12-31 23:59:59.5", "1970-01-01 00:00:01", "", "-2.500"),
    (7, -3, "1000-01-01", "1000-01-01 00:00:00", "2038-01-19 03:14:07", "x", "0.001"),
    (-9223372036854775807, 0, "9999-12-31", "9999-12-31 23:59:59.000001", "2001-09-09 01:46:40", "zz", "-0.001"),
    (None,) * 7,
    (0, 5, "2000-12-31", "2000-12-31 12:30:15.25", "2000-12-31 12:30:15", "  ", "9"),
]
COLUMNS = {
    name: pa.array([None if row[place] is None else make(row[place]) for row in ROWS], kind)
    for place, (name, make, kind) in enumerate([
        ("a", int, pa.int64()), ("b", int, pa.int64()), ("d", datetime.date.fromisoformat, pa.date32()),
        ("m", datetime.datetime.fromisoformat, pa.timestamp("us")),
        ("t", lambda text: datetime.datetime.fromisoformat(text + "+00:00"), pa.timestamp("us", "UTC")),
        ("s", str, pa.string()), ("n", Decimal, pa.decimal128(10, 3))])}


def values(sql):
    made = evaluate(sql, lambda name: (COLUMNS[name], TABLE.definition.column(name).type), len(ROWS), Session())
    return made.of_rows(len(ROWS)).to_pylist()


@pytest.mark.parametrize(("sql", "expected"), [
    ("a DIV b", ["3", "-3", "-2", None, None, "0"]),
    ("MOD(a, b)", ["1", "-1", "1", None, None, "0"]),
    ("a % b", ["1", "-1", "1", None, None, "0"]),
    ("ABS(a)", ["7", "7", "7", "9223372036854775807", None, "0"]),
    ("FLOOR(n)", ["2", "-3", "0", "-1", None, "9"]),
    ("CEILING(n)", ["3", "-2", "1", "0", None, "9"]),
    ("YEAR(d)", ["2024", "1969", "1000", "9999", None, "2000"]),
    ("MONTH(d)", ["2", "12", "1", "12", None, "12"]),
    ("DAY(m)", ["29", "31", "1", "31", None, "31"]),
    ("DAYOFMONTH(d)", ["29", "31", "1", "31", None, "31"]),
    ("QUARTER(d)", ["1", "4", "1", "4", None, "4"]),
    ("DAYOFYEAR(d)", ["60", "365", "1", "365", None, "366"]),
    ("DAYOFWEEK(d)", ["5", "4", "4", "6", None, "1"]),
    ("WEEKDAY(d)", ["3", "2", "2", "4", None, "6"]),
    ("TO_DAYS(d)", ["739310", "719527", "365243", "3652424", None, "730850"]),
    ("TO_DAYS(m)", ["739310", "719527", "365243", "3652424", None, "730850"]),
    ("TO_SECONDS(d)", ["63876384000", "62167132800", "31556995200", "315569433600", None, "63145440000"]),
    ("TO_SECONDS(m)", ["63876470399", "62167219199", "31556995200", "315569519999", None, "63145485015"]),
    ("HOUR(m)", ["23", "23", "0", "23", None, "12"]),
    ("MINUTE(m)", ["59", "59", "0", "59", None, "30"]),
    ("SECOND(m)", ["59", "59", "0", "59", None, "15"]),
    ("HOUR(d)", ["0", "0", "0", "0", None, "0"]),
    ("EXTRACT(YEAR_MONTH FROM d)", ["202402", "196912", "100001", "999912", None, "200012"]),
    ("EXTRACT(DAY FROM m)", ["29", "31", "1", "31", None, "31"]),
    ("DATEDIFF(m, d)", ["0", "0", "0", "0", None, "0"]),
    ("DATEDIFF(d, '2000-01-01')", ["8825", "-10958", "-365242", "2921939", None, "365"]),
    ("UNIX_TIMESTAMP(t)", ["1709251199", "1", "2147483647", "1000000000", None, "978265815"]),
    ("b / a", ["0.2857", "-0.2857", "-0.4286", "0.0000", None, None]),
    ("n / b", ["1.2500000", "-1.2500000", "-0.0003333", None, None, "1.8000000"]),
    ("LENGTH(s)", ["4", "0", "1", "2", None, "2"]),
    ("s + 1", ["1.0", "1.0", "1.0", "1.0", None, "1.0"]),
    ("1e3", ["1000.0"] * 6),
    ("SHA2(s, 0) = SHA2(s, 256)", ["1", "1", "1", "1", None, "1"]),
    ("LOG(2, 8)", ["3.0"] * 6),
    ("LOG(1, 8)", [None] * 6),
    ("CHAR_LENGTH(s)", ["3", "0", "1", "2", None, "2"]),
    ("COALESCE(a, b, 3)", ["7", "-7", "7", "-9223372036854775807", "3", "0"]),
    ("IFNULL(s, 'none')", ["A\u00f1b", "", "x", "zz", "none", "  "]),
    ("a - b * 2", ["3", "-11", "13", "-9223372036854775807", None, "-10"]),
    ("-(n) + a", ["4.500", "-4.500", "6.999", "-9223372036854775806.999", None, "-9.000"]),
])
def test_what_the_server_made_of_it(sql, expected):
    """DEF-R1b: NULL where an operand is, or where it is divided by zero; DIV rounds towards zero, MOD has the sign of
    the dividend; days of the week and seconds before 1970."""
    assert [None if value is None else str(value) for value in values(sql)] == expected


@pytest.mark.parametrize(("sql", "expected"), [
    ("JSON_SET('[1, 2, 3]', '$[last-1]', 9)", "[1, 9, 3]"), ("JSON_REMOVE('[1, 2, 3]', '$[last]')", "[1, 2]"),
    ("JSON_REPLACE('{\"a\": [1, [2, 3]]}', '$.a[last][last-1]', 9)", '{"a": [1, [9, 3]]}'),
    ("JSON_REMOVE('[1, 2]', '$[last-2]')", "[1, 2]"), ("JSON_SET('[1, 2]', '$[last-2]', 0)", "[0, 1, 2]"),
])
def test_cells_from_the_end(sql, expected):
    """DEF-R1b: what MySQL 9.7 made of them."""
    assert values(sql) == [expected] * len(ROWS)


@pytest.mark.parametrize("sql", [
    "SOUNDEX(s, s)", "YEAR(t)", "UNIX_TIMESTAMP(d)", "UPPER('ɐ')", "nosuch + 1", "SLEEP(b)",
    "FORMAT(a, 2, 'de_DE')", "a +", "JSON_EXTRACT(s, '$[*]')", "UUID()", "RAND()", "NOW()",
    "HEX(_utf32 X'3078303078303078')", "CAST(NULLIF(X'41', 'b') AS SIGNED)",
    "ELT(COALESCE(m, m), 'a')", "YEAR(_sjis'2016-12-31 12:34:56.789012+01:00')"])
def test_what_is_not_known_is_not_guessed(sql):
    with pytest.raises(NotComputable):
        values(sql)


@pytest.mark.parametrize("first", ["0x6162", "b'1100001'", "IF(1, X'6162', 'x')", "LEFT(X'6162', 2)"])
def test_a_literal_that_mariadb_changes_row_by_row_is_not_guessed(first):
    """MariaDB 10.5 to 11.8 insert into the literal itself: 1ab, 21ab, 321ab for the rows 1, 2, 3."""
    with pytest.raises(NotComputable, match="itself changes"):
        evaluate(f"INSERT({first}, 1, 0, 'q')", no_columns, 1, Session("mariadb"))
    made = evaluate("INSERT(HEX(X'6162'), 1, 0, 'q')", no_columns, 1, Session("mariadb"))
    assert made.values.to_pylist() == ["q6162"]


@pytest.mark.parametrize("sql", ["JSON_REMOVE('[]', '$[0]', '$.a')", "JSON_SET('{}', '$[0]', 1)",
                                 "JSON_UNQUOTE('\"a\"')", "JSON_COMPACT('[1]')", "JSON_DETAILED('[1]')",
                                 "JSON_MERGE_PATCH('{}', '{}')"])
def test_documents_of_a_wide_table_in_mariadb_are_refused_where_it_misreads_them(sql):
    with pytest.raises(NotComputable, match=r"in a wide character set|of text in ucs2"):
        evaluate(sql, no_columns, 1, Session("mariadb", literals="ucs2"))


@pytest.mark.parametrize(("sql", "made"), [
    ("JSON_SET('{}', '$.a', 'é')", '{"a": "é"}'), ("JSON_MERGE_PATCH('{\"é\": 1}', '{\"a\": 2}')", '{"é": 1, "a": 2}'),
    ("JSON_REMOVE('{\"a\": 1, \"b\": 2}', '$.a')", '{"b": 2}')])
def test_objects_of_a_wide_table_are_text_since_mariadb_10_11(sql, made):
    """10.5 writes them byte by byte."""
    found = evaluate(sql, no_columns, 1, Session("mariadb", literals="ucs2", server_version="10.11.6-MariaDB"))
    assert found.values.to_pylist() == [made]
    with pytest.raises(NotComputable, match="in a wide character set"):
        evaluate(sql, no_columns, 1, Session("mariadb", literals="ucs2", server_version="10.5.23-MariaDB"))


@pytest.mark.parametrize(("sql", "literals", "reason"), [
    ("x + 1", "utf8mb4", "COMPRESSED column"), ("CAST(x AS DECIMAL)", "utf8mb4", "COMPRESSED column"),
    ("ADDTIME(1e0 + 1, 1)", "utf8mb4", "a double as a time"),
    ("JSON_SET(JSON_ARRAY(1), '$[0]', _utf8mb4'Ж')", "latin1", "may not have it"),
    ("JSON_SET('[1]', '$[0]', _utf8mb4'é')", "sjis", "may not have it"),
    ("JSON_SET(X'5B5D', '$[0]', 'Ж')", "utf8mb4", "characters beyond a byte")])
def test_what_mariadb_makes_of_the_bytes_of_text_is_not_guessed(sql, literals, reason):
    [table] = parse_statement("CREATE TABLE d.v (x VARCHAR(9) COMPRESSED)", flavour="mariadb")
    with pytest.raises(NotComputable, match=reason):
        evaluate(sql, lambda name: (pa.array(["7"]), table.definition.column(name).type), 1,
                 Session("mariadb", literals=literals))


def test_text_in_a_document_of_bytes_has_a_byte_for_each_character():
    """As MariaDB 10.5, 10.11 and 11.8 write it; they escape characters beyond U+00FF, which is refused."""
    def inserted(value):
        return evaluate(f"JSON_INSERT('{{}}', '$.q', {value})", no_columns, 1, Session("mariadb", literals="binary"))

    for value in ("_latin1 X'E9'", "_utf8mb4 X'C3A9'", "_ucs2 X'00E9'"):
        assert inserted(value).values.to_pylist() == [b'{"q": "\xe9"}']
    assert inserted("X'D0B6'").values.to_pylist() == [b'{"q": "\xd0\xb6"}']
    with pytest.raises(NotComputable, match="in a document of bytes"):
        inserted("CONVERT('\u0436' USING utf8mb3)")


@pytest.mark.parametrize("sql", ["LEFT(a, 2)", "RIGHT(n, 2)", "SUBSTRING(m, 2)", "REPEAT(a, 2)", "UPPER(d)", "LOWER(a)",
                                 "REPLACE(a, '1', '2')", "SUBSTRING_INDEX(d, '-', 1)", "UNHEX(HEX(a))"])
def test_text_that_mysql_misreads_in_a_table_of_a_wide_set_is_not_guessed(sql):
    """MySQL 9.7 takes its ASCII for characters of the table's set."""
    def made(session):
        return evaluate(sql, lambda name: (COLUMNS[name], TABLE.definition.column(name).type), len(ROWS), session)

    made(Session(made_in="utf8mb4"))
    with pytest.raises(NotComputable, match=r"(misreads|make) in a table in utf16"):
        made(Session(made_in="utf16"))


def test_the_text_of_a_bit_is_its_bytes():
    [table] = parse_statement("CREATE TABLE d.v (x BIT(9))")
    made = evaluate("CONCAT(x, '-')", lambda name: (pa.array([97]), table.definition.column(name).type), 1, Session())
    assert made.values.to_pylist() == [b"\0a-"]


_CHAINED = "1" + " BETWEEN 0 AND 1" * 60
_NESTED = "1"
for _ in range(40):
    _NESTED = f"CASE {_NESTED} WHEN 1 THEN 1 WHEN 2 THEN 2 END"


@pytest.mark.parametrize("sql", [_CHAINED, _NESTED])
def test_what_is_compared_twice_is_evaluated_once(sql):
    """Else each level takes twice the work of the one below it, which no machine has."""
    assert not varies(sql)
    assert [str(value) for value in evaluate(sql, no_columns, 1, Session()).values.to_pylist()] == ["1"]


_SUMS = "1"
for _ in range(40):
    _SUMS = f"({_SUMS}{' + 1' * 90})"


@pytest.mark.parametrize("sql", [
    "j" + "->'$.a'" * 3000, "'a'" + " COLLATE utf8mb4_bin" * 3000, _SUMS, "(" * 200 + "1" + ")" * 200, "-" * 3000 + "1",
    "0." + "0" * 100 + "1", "1" * 5000, f"{'9' * 38} / 0.{'0' * 36}1", "CAST(1 AS DECIMAL(400,300))", "NOW(9)",
    f"DATE'2024-01-01' + INTERVAL '{'9' * 5000}' DAY_HOUR", "REPEAT('a', 1e9)",
    f"JSON_EXTRACT('{'[' * 5000}{']' * 5000}', '$')"])
def test_an_expression_of_any_form_is_refused_at_the_worst(sql):
    """A log may have what no server would: no traceback."""
    varies(sql)
    with pytest.raises(NotComputable):
        evaluate(sql, no_columns, 1, Session("mysql", time_zone="+00:00", now_us=10**15))


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("~", "")])
def test_an_expression_of_the_most_levels_is_computed(opening, closing):
    whole = opening * 99 + "1" + closing * 99
    assert evaluate(whole, no_columns, 1, Session()).values.to_pylist() in ([1], [2**64 - 2])
    with pytest.raises(NotComputable, match="too many levels"):
        evaluate(opening + whole + closing, no_columns, 1, Session())


@pytest.mark.parametrize(("arguments", "expected"), [
    ("'abcb', 'b', 'x'", "axcx"), ("'abcb', 'b', NULL", "ac"), ("'abcb', NULL, 'x'", "abcb")])
def test_replace_in_mode_oracle_takes_null_for_an_empty_text(arguments, expected):
    assert evaluate(f"REPLACE_ORACLE({arguments})", no_columns, 1, Session("mariadb")).values.to_pylist() == [expected]


@pytest.mark.parametrize(("mode", "sql", "expected"), [
    ("PIPES_AS_CONCAT", "s || 'x' || -a * 2", "CONCAT(s , 'x' , -a) * 2"),
    ("ANSI", "IF(s || '||' = 'q', (s || 1) || 2, 3)", "IF(CONCAT(s , '||') = 'q', CONCAT((CONCAT(s , 1)) , 2), 3)"),
    ("HIGH_NOT_PRECEDENCE", "NOT a BETWEEN 1 AND 2", "(NOT a) BETWEEN 1 AND 2"),
    ("HIGH_NOT_PRECEDENCE", "a IS NOT NULL", "a IS NOT NULL"),
    ("HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT", "NOT NOT a || s", "CONCAT((NOT (NOT a)) , s)"),
    ("", "s || 'x'", "s || 'x'"),
])
def test_expressions_are_kept_as_they_mean_the_same_in_the_default_mode(mode, sql, expected):
    """EV-CTX: in which a snapshot's CREATE TABLE is loaded, too."""
    [change] = parse_statement(f"CREATE TABLE d.t (a INT, s TEXT, v TEXT AS ({sql}), w TEXT DEFAULT ({sql}))",
                               sql_mode=mode)
    assert [change.definition.columns[2].expression, change.definition.columns[3].default.text] == [expected] * 2


def test_a_log_says_in_which_mode_it_was():
    """EV-CTX: bits 2 and 1 << 29 of sql_mode, on both servers."""
    for flavour in ("mysql", "mariadb"):
        assert session_of({"sql_mode": 2 | 1 << 29}, flavour)["sql_mode"] == "PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE"


def test_text_joined_in_mode_oracle_is_joined_by_its_own_function():
    """There, NULL is not a text."""
    [change] = parse_statement("CREATE TABLE d.t (s TEXT, v TEXT AS (s || 'x'))", sql_mode="PIPES_AS_CONCAT,ORACLE",
                               flavour="mariadb")
    assert change.definition.column("v").expression == "CONCAT_OPERATOR_ORACLE(s , 'x')"


@pytest.mark.parametrize(("sql", "result"), [
    ("SLEEP(1) OR 1", 1), ("0 AND SLEEP(1)", 0), ("NOT (SLEEP(1) AND 0)", 1),
    ("SLEEP(1)" + " OR (0" * 40 + " OR 1" + ")" * 40, 1), ("SLEEP(1)" + " OR 0" * 60 + " OR 1", 1)])
def test_an_operand_that_decides_needs_no_other_one(sql, result):
    """Each is computed once, however deep it is."""
    assert evaluate(sql, no_columns, 1, Session("mysql")).values.to_pylist() == [result]


@pytest.mark.parametrize("sql", ["SLEEP(1) OR 0", "SLEEP(1) AND 1", "NULL OR SLEEP(1)"])
def test_an_unknown_operand_that_decides_is_not_guessed(sql):
    with pytest.raises(NotComputable, match="SLEEP"):
        evaluate(sql, no_columns, 1, Session("mysql"))


def test_a_position_that_is_null_is_zero_to_an_old_mariadb():
    """LOCATE('c', 'abc', NULL) is 0 on 10.5, and NULL on 10.11 and 11.8."""
    with pytest.raises(NotComputable, match="a position that is NULL"):
        evaluate("LOCATE('c', 'abc', NULL)", no_columns, 1, Session("mariadb", server_version="10.5.23-MariaDB"))
    made = evaluate("LOCATE('c', 'abc', NULL)", no_columns, 1, Session("mariadb", server_version="10.11.6-MariaDB"))
    assert made.values.to_pylist() == [None]


def test_a_float_with_more_digits_than_it_shows_is_not_taken_for_a_time():
    """MySQL 9.7 makes SEC_TO_TIME of FLOAT(7,3) a TIME(3) with hidden microseconds: some columns cut them, others
    round."""
    for number, made in ((4.1, datetime.timedelta(seconds=4.1)), (1234.5678, None)):
        columns = {"c": (pa.array([number], pa.float32()), ColumnType("float", precision=7, scale=3))}
        if made is None:
            with pytest.raises(NotComputable, match="more digits than it shows"):
                evaluate("SEC_TO_TIME(c)", columns.__getitem__, 1, Session("mysql"))
        else:
            assert evaluate("SEC_TO_TIME(c)", columns.__getitem__, 1, Session("mysql")).values.to_pylist() == [made]


@pytest.mark.parametrize("sql", ["-{}", "GREATEST({}, 1.5)", "{} / 1"])
def test_mariadbs_digits_of_a_second_that_are_computed_with_are_not_known_in_text(sql):
    """A column of text has six digits of a fraction, or none: on 10.5, 10.11 and 11.8 also after arithmetic; sums
    are in test_digits."""
    time = pa.array([36_000_500_000], pa.int64()).cast(pa.duration("us"))
    made = evaluate(sql.format("TIME_TO_SEC(t)"), lambda name: (time, ColumnType("time", fsp=3)), 1, Session("mariadb"))
    with pytest.raises(NotComputable, match="digits are not known"):
        assigned(made, ColumnType("varchar", length=60, charset="utf8mb4"), Session("mariadb"))


@pytest.mark.parametrize(("sql", "flavour", "charset"), [
    ("IF(n, CONCAT(_latin1'é', n), 'no')", "mysql", "utf8mb4"), ("ADDTIME('2024022', '1')", "mysql", "utf8mb4"),
    ("CAST(CASE n WHEN 1 THEN TIME'10:11:12' ELSE '2011-11-11' END AS DATETIME)", "mysql", "utf8mb4"),
    ("TIMEDIFF('20161231', '23-03-26')", "mariadb", "utf8mb4"),
    ("TIMESTAMP(y, '10:00:00')", "mariadb", "utf8mb4"), ("QUOTE(s)", "mariadb", "utf16"),
    ("QUOTE(_binary'a')", "mariadb", "utf16"), ("STR_TO_DATE(_binary'2001-02-03', '%Y-%m-%d')", "mariadb", "ucs2"),
    ("CONCAT('', e)", "mariadb", "latin1")])
def test_what_servers_do_in_ways_that_are_not_known_is_refused(sql, flavour, charset):
    """The literal becomes utf8mb4; a time becomes one of the current day; 10.5 has a fraction of the longest time; a
    YEAR has the month 0; wide text is misread; labels are bytes."""
    columns = {"n": (pa.array([1, 2]), ColumnType("int")), "y": (pa.array([2024, 1999]), ColumnType("year")),
               "s": (pa.array(["a", None]), ColumnType("varchar", length=9, charset="utf16")),
               "e": (pa.array(["ж", "a"]), ColumnType("enum", members=("ж", "a"), charset="binary"))}
    with pytest.raises(NotComputable):
        made = evaluate(sql, columns.__getitem__, 2, Session(flavour, literals=charset, time_zone="+00:00"))
        assigned(made, ColumnType("blob"), Session(flavour))
