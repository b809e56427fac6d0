"""Which bytes a literal has: by the session's character sets, and by introducers (EV-CTX)."""

import pytest

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import ClientCharsets, CodedText, encoded
from applier.mysql.session import Session
from applier.schema.ddl.ddl import parse_statement
from applier.sql.evaluator import evaluate, no_columns

LATIN1 = ClientCharsets("cp1252", "latin1", "latin1")
NARROW = ClientCharsets("utf-8", "utf8mb4", "latin1")
BINARY = ClientCharsets("utf-8", "binary", "binary")
THREE = ClientCharsets("utf-8", "utf8mb3", "utf8mb3")


def column(text, charsets=None, flavour="mysql", table="utf8mb4"):
    [change] = parse_statement(f"CREATE TABLE d.t (id INT, v {text}) CHARACTER SET {table}", flavour=flavour,
                               charsets=charsets)
    return change.definition.columns[1]


@pytest.mark.parametrize(("charsets", "text", "expression"), [
    (None, "CONCAT('é', id)", "CONCAT('é', id)"), (None, "CONCAT(N'é', id)", "CONCAT(_utf8mb3'é', id)"),
    (None, "CONCAT(_latin1'é' 'b', id)", "CONCAT(_latin1 X'c3a962', id)"),
    (None, "CONCAT(_latin1'e', _N, 'n')", "CONCAT(_latin1'e', _N, 'n')"),
    (LATIN1, "CONCAT('é', 'x', id)", "CONCAT(_latin1 X'e9', _latin1'x', id)"),
    (LATIN1, "CONCAT('e', id)", "CONCAT(_latin1'e', id)"), (NARROW, "CONCAT('ł', id)", "CONCAT(_latin1'?', id)"),
    (LATIN1, "IF(id, 'é', DATE '2020-01-02')", "IF(id, _latin1 X'e9', DATE '2020-01-02')"),
    (BINARY, "CONCAT('é', 'x', id)", "CONCAT(_binary X'c3a9', _binary'x', id)"),
])
def test_mysql_keeps_a_literal_with_its_set(charsets, text, expression):
    assert column(f"VARBINARY(9) AS ({text})", charsets).expression == expression


@pytest.mark.parametrize(("charsets", "text"), [
    (None, "HEX(N'😀é')"), (None, "CONCAT(N'😀', N'é')"), (THREE, "HEX('😀é')"), (THREE, "CONCAT('😀', 'é')")])
def test_mysql_s_bytes_in_utf8mb3_are_not_guessed(charsets, text):
    """MySQL keeps the bytes, and writes ???? where it converts them (seen on 9.7)."""
    kept = column(f"VARCHAR(40) AS ({text})", charsets).expression
    with pytest.raises(NotComputable, match="a character of four bytes in utf8mb3"):
        evaluate(kept, no_columns, 1, Session("mysql"))


@pytest.mark.parametrize(("text", "expression"), [
    ("'é'", "'é'"), ("N'é'", "'é'"), ("_latin1'é'", "_latin1'xC3xA9'"), ("_latin1'a\\\\n'", "_latin1'a\\n'"),
    ("_ucs2'ab'", "_ucs2 X'6162'"),
])
def test_mariadb_reads_an_expression_again(text, expression):
    assert column(f"VARBINARY(9) AS (CONCAT({text}, id))", flavour="mariadb").expression == f"CONCAT({expression}, id)"


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize(("charsets", "text", "sql"), [
    (LATIN1, "VARBINARY(9) DEFAULT 'é'", "0xe9"), (LATIN1, "VARCHAR(9) DEFAULT 'é'", "'é'"),
    (NARROW, "VARCHAR(9) DEFAULT 'ł'", "'?'"), (BINARY, "VARCHAR(9) CHARACTER SET latin1 DEFAULT 'é'", "'Ã©'"),
    (None, "VARCHAR(9) DEFAULT _latin1'é'", "'Ã©'"), (LATIN1, "VARCHAR(9) DEFAULT _utf8mb4'Ã©'", "'é'"),
])
def test_defaults(charsets, text, sql, flavour):
    assert column(text, charsets, flavour).default.sql() == sql


def test_labels_go_through_the_connection():
    assert column("ENUM('ł', 'b')", NARROW).type.members == ("?", "b")
    assert column("ENUM('é', 'b') CHARACTER SET latin1", BINARY).type.members == ("Ã©", "b")


def test_bytes_that_the_client_s_set_does_not_have():
    """A statement that is not text in its client's set is read as UTF-8: its literals have their bytes."""
    text = ClientCharsets("utf-8", "latin1", "latin1").literal("\udce9\udc81")
    assert isinstance(text, CodedText)
    assert (text, text.data) == ("é\x81", b"\xe9\x81")


@pytest.mark.parametrize(("charset", "data"), [
    ("latin1", b"\xe9??"), ("utf8mb3", "éł?".encode()), ("utf8mb4", "éł😀".encode()),
    ("ucs2", "éł?".encode("utf-16-be")), ("utf16", "éł😀".encode("utf-16-be")), ("gb18030", "éł😀".encode("gb18030")),
])
def test_characters_that_a_set_does_not_have(charset, data):
    assert encoded("éł😀", charset) == data
