"""Statements as words, as the servers' own scanners divide them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import SchemaError
from applier.mysql.types import quote_name, quote_text
from applier.sql.tokens import render, split_statements, tokenize
from tests.support.examples import examples


def pairs(sql, **options):
    return [(token.kind, token.text) for token in tokenize(sql, **options)[:-1]]


def test_kinds():
    assert pairs("a `b``c` 'it''s' 1.5e-3 x'0aF1' 0xF b'101' 0b1 1a _utf8mb4'x' N'y' -") == [
        ("word", "a"), ("name", "b`c"), ("string", "it's"), ("number", "1.5e-3"), ("bytes", "0af1"), ("bytes", "0f"),
        ("bytes", "05"), ("bytes", "01"), ("word", "1a"), ("word", "_utf8mb4"), ("string", "x"), ("string", "y"),
        ("sign", "-")]


def test_escapes_of_strings():
    assert pairs(r"'\n\t\0\\\'\%\_\q' 'a\\'") == [("string", "\n\t\0\\'\\%\\_q"), ("string", "a\\")]
    unescaped = pairs(r"'back\slash' 'x\'", sql_mode="NO_BACKSLASH_ESCAPES")
    assert unescaped == [("string", r"back\slash"), ("string", "x\\")]


def test_double_quotes_follow_the_sql_mode():
    assert pairs('"a""b"') == [("string", 'a"b')]
    assert pairs('"a""b"', sql_mode="ANSI_QUOTES") == [("name", 'a"b')]


def test_comments():
    assert pairs("a -- it's `\nb # \"\nc /* ' ; */ d --\ne 1--1") == [
        ("word", "a"), ("word", "b"), ("word", "c"), ("word", "d"), ("word", "e"), ("number", "1"), ("sign", "-"),
        ("sign", "-"), ("number", "1")]


@pytest.mark.parametrize(("comment", "mysql", "mariadb"), [
    ("/*! x */", True, True), ("/*!50100 x */", True, True), ("/*!80000 x */", True, False),
    ("/*!99999 x */", False, False), ("/*!100100 x */", False, True), ("/*M! x */", False, True),
    ("/*M!100301 x */", False, True), ("/*!99999 /* y */ x */", False, False),
])
def test_version_comments(comment, mysql, mariadb):
    """MariaDB skips those for MySQL 5.7 and newer, MySQL all for MariaDB."""
    for flavour, runs in (("mysql", mysql), ("mariadb", mariadb)):
        words = [text for _, text in pairs(f"a {comment} b", flavour=flavour)]
        assert words == (["a", "x", "b"] if runs else ["a", "b"])


@pytest.mark.parametrize("sql", ["'a", '"a', "`a", "a /* b", "/*!99999 a", "'a\\'"])
def test_what_is_not_closed(sql):
    with pytest.raises(SchemaError, match="not closed"):
        tokenize(sql)


def test_split_statements():
    text = "a; b ';' /* ; */ c -- ;\n;\nDELIMITER ;;\nCREATE TRIGGER t BEGIN x; y; END;;\ndelimiter ;\nd `;`"
    assert list(split_statements(text)) == ["a", "b ';' /* ; */ c -- ;", "CREATE TRIGGER t BEGIN x; y; END", "d `;`"]


@given(st.text())
def test_quoted_text_reads_back(text):
    assert pairs(quote_text(text)) == [("string", text)]


@given(st.text(min_size=1))
def test_quoted_names_read_back(name):
    assert pairs(quote_name(name)) == [("name", name)]


def test_rendered_words_stay_apart():
    for sql in ("'a'\"b\"", "\"a\"'b'", 'x"41"', 'n"a"', "''\"\""):
        assert pairs(render(tokenize(sql)[:-1])) == pairs(sql)


@settings(max_examples=examples(1000))
@given(st.text(alphabet="ab1'\"`\\ /*!-#;.(x0M", max_size=30))
def test_any_text_is_read_or_refused(text):
    """Whatever the text, the scanner ends, and what it renders it reads in the same way again."""
    try:
        first = tokenize(text)
    except SchemaError:
        return
    again = tokenize(render(first[:-1]))
    assert [(t.kind, t.text) for t in again] == [(t.kind, t.text) for t in first]
