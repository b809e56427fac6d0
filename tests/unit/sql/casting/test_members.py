"""Text that becomes ENUM or SET, and their defaults: labels are compared by the column's collation. As MySQL 9.7 and
MariaDB 10.11 did it outside of strict mode."""

import pyarrow as pa
import pytest

from applier.columns.defaults import default_scalar
from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values

TEXT = ColumnType("varchar", length=20, charset="utf8mb4", collation="utf8mb4_general_ci")
WORDS = ["a", "A", "é", "e", "ß", "ss", "b ", "ÿ"]
LISTS = ["a,E", "A,é", "b ,ss", "a,b "]


def members(kind, texts, flavour):
    [change] = parse_statement(f"CREATE TABLE d.t (v {kind})", flavour=flavour)
    new = change.definition.columns[0].type
    return convert_values(pa.array(texts), TEXT, new, Session(flavour)).to_pylist()


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("kind", "expected"), [
    ("ENUM('a','A','e','ß','b') COLLATE utf8mb4_bin", ["a", "A", "", "e", "ß", "", "b", ""]),
    ("ENUM('a','e','ss','b','y') COLLATE utf8mb4_general_ci", ["a", "a", "e", "e", "", "ss", "b", "y"]),
    ("ENUM('a','e','ss','b') COLLATE utf8mb4_unicode_ci", ["a", "a", "e", "e", "ss", "ss", "b", ""]),
])
def test_a_label_is_the_member_that_its_collation_takes_it_for(kind, expected, flavour):
    assert members(kind, WORDS, flavour) == expected


@pytest.mark.parametrize(("flavour", "kind", "expected"), [
    ("mysql", "ENUM('a','e','ss','b') COLLATE utf8mb4_0900_ai_ci", ["a", "a", "e", "e", "ss", "ss", "b", ""]),
    ("mysql", "ENUM('a','A','e','ss','b') COLLATE utf8mb4_0900_as_cs", ["a", "A", "", "e", "", "ss", "b", ""]),
    ("mariadb", "ENUM('a','e','ss','b') COLLATE utf8mb4_uca1400_ai_ci", ["a", "a", "e", "e", "ss", "ss", "b", ""]),
    ("mariadb", "ENUM('a','A','e','ss','b') COLLATE utf8mb4_nopad_bin", ["a", "A", "", "e", "", "ss", "b", ""]),
])
def test_a_label_by_a_collation_of_one_server(flavour, kind, expected):
    assert members(kind, WORDS, flavour) == expected


@pytest.mark.parametrize(("flavour", "collation", "expected"), [
    ("mysql", "utf8mb4_0900_ai_ci", ["a,e", "a,e", "ss", "a,b"]), ("mysql", "utf8mb4_bin", ["a", "", "ss", "a,b"]),
    ("mariadb", "utf8mb4_general_ci", ["a,e", "a,e", "ss", "a,b"]), ("mariadb", "utf8mb4_bin", ["a", "", "ss", "a,b"]),
])
def test_spaces_do_not_count_behind_the_last_label_only(flavour, collation, expected):
    assert members(f"SET('a','e','ss','b') COLLATE {collation}", LISTS, flavour) == expected


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("kind", "default", "expected"), [
    ("ENUM('e','b')", "É", "e"), ("ENUM('\u00df','ss')", "SS", "ss"), ("SET('e','b','x')", "X,É", "e,x"),
    ("ENUM('a','A') COLLATE utf8mb4_bin", "A", "A")])
def test_a_default_is_the_member_that_its_collation_takes_it_for(kind, default, expected, flavour):
    collated = kind if "COLLATE" in kind else f"{kind} COLLATE utf8mb4_general_ci"
    [change] = parse_statement(f"CREATE TABLE d.t (v {collated} DEFAULT '{default}')", flavour=flavour)
    assert default_scalar(change.definition.columns[0], change.definition).as_py() == expected


def test_a_collation_that_is_not_known_is_not_guessed():
    new = ColumnType("enum", charset="utf8mb4", collation="utf8mb4_of_tomorrow_ci", members=("a", "b"))
    assert convert_values(pa.array(["b", "a"]), TEXT, new, Session()).to_pylist() == ["b", "a"]
    with pytest.raises(NotComputable, match="utf8mb4_of_tomorrow_ci"):
        convert_values(pa.array(["B"]), TEXT, new, Session())


@pytest.mark.parametrize(("text", "of_two", "of_three", "of_mysql"), [
    ("-1", "y,x", "x,y,z", ""), ("-3", "y", "x,z", ""), ("-4", "", "z", ""), ("3", "y,x", "x,y", "x,y"),
    ("100", "", "z", ""), ("7", "y,x", "x,y,z", "x,y,z"), ("+2", "x", "y", "y"), (" 2", "x", "y", "y"),
    ("2 ", "", "", ""),
    ("1.5", "", "", ""), ("18446744073709551615", "y,x", "x,y,z", ""), ("18446744073709551616", "", "", ""),
    ("-18446744073709551615", "y", "x", "x"), ("9223372036854775809", "y", "x", ""),
    ("-9223372036854775809", "y,x", "x,y,z", ""), ("-9223372036854775805", "y,x", "x,y", ""),
    ("000000000000000000002", "x", "y", "y"), ("0000000000000000000002", "", "", ""), ("--1", "", "", ""),
])
def test_a_number_in_text_is_a_set_by_its_bits(text, of_two, of_three, of_mysql):
    """64 of them, of which MariaDB takes those that the SET has; a number that is too large is none to MySQL."""
    assert members("SET('y','x')", [text], "mariadb") == [of_two]
    assert members("SET('x','y','z')", [text], "mariadb") == [of_three]
    assert members("SET('x','y','z')", [text], "mysql") == [of_mysql]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("charset", ["ucs2", "utf16", "utf32"])
@pytest.mark.parametrize("kind", ["ENUM", "SET"])
def test_text_that_comes_into_a_wide_character_set_is_no_number(kind, charset, flavour):
    """Between the same wide sets it is one, unless other characters follow (seen on both servers)."""
    wide = f"{kind}('x','y') CHARACTER SET {charset}"
    assert members(wide, ["x", "Y", "other", "2"], flavour) == ["x", "y", "", ""]
    [change] = parse_statement(f"CREATE TABLE d.t (v {wide})", flavour=flavour)
    new = change.definition.columns[0].type
    old = ColumnType("varchar", length=9, charset=charset)
    assert convert_values(pa.array(["2", "0000000000002"]), old, new, Session(flavour)).to_pylist() == ["y", ""]
    if kind == "SET":
        with pytest.raises(NotComputable, match="a member's number in a wide character set"):
            convert_values(pa.array(["2x"]), old, new, Session(flavour))


@pytest.mark.parametrize("charset", ["ascii", "latin1", "gbk"])
def test_labels_of_bytes_are_not_read_as_text_of_another_set(charset):
    """A server takes their bytes, which "??" in `ascii` is not."""
    old = ColumnType("enum", members=("b", "日本"), charset="binary")
    new = ColumnType("enum", members=("??", "b"), charset=charset)
    assert convert_values(pa.array(["b"]), old, new, Session("mariadb")).to_pylist() == ["b"]
    with pytest.raises(NotComputable, match=f"not ASCII as members in {charset}"):
        convert_values(pa.array(["b", "日本"]), old, new, Session("mariadb"))


@pytest.mark.parametrize(("charset", "data"), [("ascii", b"\xc3\xa9"), ("latin1", b"\xc3\xa9"), ("greek", b"\xff")])
def test_bytes_are_not_the_question_marks_that_a_select_shows_for_them(charset, data):
    new = ColumnType("enum", members=("??", "?", "c"), charset=charset)
    made = convert_values(pa.array([data, b"c", b"?"]), ColumnType("varbinary", length=8), new, Session("mariadb"))
    assert made.to_pylist() == ["", "c", "?"]
