"""Labels of ENUM and SET in odd literals and character sets: what a MySQL 9.7 showed of each, and a MariaDB 10.11."""

import pickle

import pytest

from applier.mysql.character_sets.client_charsets import CodedText, label_bytes, label_of_bytes
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.alter import alter

LABELS = [  # the column's set, the literal, and what a SELECT shows
    ("utf8mb4", "x'c3a9'", "é"), ("latin1", "x'e9'", "é"), ("latin1", "x'c3a9'", "Ã©"), ("latin1", "x'81'", "\x81"),
    ("latin1", "b'01100010'", "b"), ("latin1", "'bé'", "bé"), ("ascii", "'bé'", "b?"), ("ascii", "x'c3a9'", "??"),
    ("gbk", "x'c3a9'", "茅"), ("gbk", "x'8140'", "丂"), ("gbk", "'bé'", "bé"), ("ucs2", "x'e9'", "é"),
    ("ucs2", "x'c3a9'", "쎩"), ("ucs2", "0x62", "b"), ("ucs2", "'bé'", "bé"), ("latin1", "x'6220'", "b"),
    ("ucs2", "'b\U00010000'", "b?"), ("utf8mb3", "'b\U00010000'", "b?"), ("utf8mb3", "'b\uffff'", "b\uffff"),
]
OF_MYSQL = [("gbk", "'ÿ'", "?"), ("gbk", "'bÃ©'", "b??"), ("latin1", "'b閏'", "b?"),
            ("latin1", "'b\udce9c'", "b"), ("gbk", "'b\udce9'", "b"), ("ascii", "'\udcff'", ""),
            ("ucs2", "'b\udce9c'", "b"), ("utf8mb3", "x'62c3'", "b"), ("utf8mb3", "x'e441'", ""),
            ("utf8mb3", "x'e4b841'", "??A"), ("utf8mb3", "x'c341'", "?A"), ("utf8mb3", "'b\udce4'", "b")]
OF_MARIADB = [("utf8mb3", "x'62c3'", "b?"), ("utf8mb3", "x'e441'", "?A"), ("utf8mb3", "x'e4b8'", "??")]


def labels(flavour, charset, literal):
    [made] = parse_statement(f"CREATE TABLE d.t (e ENUM({literal}, 'a') CHARACTER SET {charset}, "
                             f"s SET({literal}, 'a') CHARACTER SET {charset})", flavour=flavour)
    first, second = made.definition.columns
    assert first.type.members == second.type.members
    return first.type.members


@pytest.mark.parametrize("charset, literal, shown", LABELS + OF_MYSQL)
def test_mysql(charset, literal, shown):
    assert labels("mysql", charset, literal) == (shown, "a")


@pytest.mark.parametrize("charset, literal, shown", LABELS + OF_MARIADB)
def test_mariadb(charset, literal, shown):
    assert labels("mariadb", charset, literal) == (shown, "a")


@pytest.mark.parametrize(("literal", "shown"), [("x'e9'", "?"), ("'b\udce9'", "b?"), ("x'62e920'", "b?")])
def test_bytes_that_are_no_text(literal, shown):
    """A MySQL sends the byte of a utf8mb4 column as it is; MariaDB, and a client of another set, show a question mark.
    """
    for flavour in ("mysql", "mariadb"):
        assert labels(flavour, "utf8mb4", literal) == (shown, "a")
    kept = labels("mysql", "utf8mb4", literal)[0]
    assert label_bytes(kept, "utf8mb4").endswith(b"\xe9") and label_of_bytes(kept.data, "latin1").endswith("é")


@pytest.mark.parametrize("charset", ["euckr", "gbk", "big5", "ujis"])
@pytest.mark.parametrize("flavour, shown", [("mysql", ("", "a")), ("mariadb", ("?", "a?"))])
def test_bytes_that_are_no_character_of_the_set_that_a_table_is_converted_to(flavour, shown, charset):
    """On 9.7, and on 10.5 and 11.8."""
    [made] = parse_statement("CREATE TABLE d.t (e ENUM('ß', 'aß') CHARACTER SET latin1)", flavour=flavour)
    [change] = parse_statement(f"ALTER TABLE d.t CONVERT TO CHARACTER SET {charset}", flavour=flavour)
    [column] = alter(made.definition, change.actions, change.context).definition.columns
    assert column.type.members == shown
    assert [label_bytes(label, charset) for label in column.type.members] == [b"\xdf", b"a\xdf"]


def test_a_label_that_is_no_text_keeps_its_bytes_on_the_way_to_a_worker():
    label = label_of_bytes("Ж?".encode(), "ascii")
    assert label == "???" and label_bytes(label, "ascii") == "Ж?".encode()
    assert label_bytes(pickle.loads(pickle.dumps(label)), "ascii") == "Ж?".encode()
    assert label_bytes("???", "ascii") == b"???"


def test_text_that_was_given_beside_its_bytes_is_kept_by_a_copy():
    text = CodedText(b"\xe9", "latin1", "?")
    assert (copy := pickle.loads(pickle.dumps(text))) == "?" and (copy.data, copy.charset) == (b"\xe9", "latin1")
