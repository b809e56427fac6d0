"""MariaDB's functions of sql_mode ORACLE, and those named with a schema: what real servers made of them."""

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.evaluator import evaluate
from applier.sql.grammar import parse_expression
from applier.sql.sql_modes import in_default_mode

SESSION = Session("mariadb", server_version="10.11.19-MariaDB")
TEXTS = ["a\\b", "a", "b", None]


def values(sql, texts=TEXTS, charset="utf8mb4", collation=None):
    type_ = ColumnType("varchar", length=20, charset=charset, collation=collation)
    columns = {"c": (pa.array(texts, pa.string()), type_)}
    return evaluate(sql, columns.__getitem__, len(texts), SESSION).of_rows(len(texts)).to_pylist()


@pytest.mark.parametrize(("sql", "expected"), [
    ("REPLACE_ORACLE(c, '\\\\', '/')", ["a/b", "a", "b", None]),
    ("REPLACE_ORACLE(c, 'a', '')", ["\\b", None, "b", None]),
    ("REPLACE_ORACLE(c, 'a', NULL)", ["\\b", None, "b", None]),
    ("REPLACE_ORACLE(c, NULL, 'x')", TEXTS)])
def test_what_replace_empties_is_null(sql, expected):
    assert values(sql) == expected


@pytest.mark.parametrize(("charset", "collation", "expected"), [
    ("utf8mb4", "utf8mb4_general_ci", None), ("utf8mb3", "utf8mb3_general_ci", None), ("ucs2", "ucs2_general_ci", None),
    ("sjis", "sjis_japanese_ci", None), ("utf8mb4", "utf8mb4_unicode_nopad_ci", None), ("utf8mb4", "utf8mb4_bin", ""),
    ("utf8mb4", "utf8mb4_nopad_bin", ""), ("latin1", "latin1_swedish_ci", ""), ("ascii", "ascii_general_ci", "")])
def test_an_empty_text_is_null_if_it_is_replaced_by_characters(charset, collation, expected):
    """On 10.5, 10.11 and 11.8, where there is a text to look for."""
    texts = ["", "a", "b"]
    assert values("REPLACE_ORACLE(c, 'a', '')", texts, charset, collation) == [expected, None, "b"]
    assert values("REPLACE_ORACLE(c, '', 'a')", texts, charset, collation) == texts


@pytest.mark.parametrize("sql", ["REPLACE_ORACLE('', 'a', '')", "REPLACE_ORACLE(CONCAT(c), 'a', '')"])
def test_an_empty_text_of_a_collation_that_is_not_known_is_not_replaced(sql):
    """Literals and functions have one that the log does not tell."""
    with pytest.raises(NotComputable, match="whose collation is not known"):
        values(sql, [""], "utf8mb4", "utf8mb4_general_ci")


def test_whether_a_replaced_text_is_null_is_not_known():
    """10.5, 10.11 and 11.8 have IS NULL as false if the column is NOT NULL, though the text is NULL."""
    with pytest.raises(NotComputable, match="IS NULL"):
        values("CONCAT(REPLACE_ORACLE(c, 'a', ''), 'x') IS NULL")
    assert values("REPLACE_ORACLE(c, 'x', 'y') IS NULL", ["a"]) == [0]


def test_functions_of_a_schema_are_those_of_its_mode():
    """SHOW CREATE TABLE writes a function of another sql_mode with its schema."""
    for plain in ("REPLACE(c, 'a', '')", "CONCAT(c, 'x')", "SUBSTR(c, 0, 1)", "TRIM(BOTH 'a' FROM c)", "LENGTH(c)"):
        assert parse_expression(f"mariadb_schema.{plain}") == parse_expression(plain)
        assert in_default_mode(f"mariadb_schema.{plain}", "ORACLE") == f"mariadb_schema.{plain}"
        assert parse_expression(f"`oracle_schema`.{plain}") == parse_expression(in_default_mode(plain, "ORACLE"))
    assert parse_expression(in_default_mode("decode(c, 1, 2)", "ORACLE")) == parse_expression("decode_oracle(c, 1, 2)")
    with pytest.raises(NotComputable):
        parse_expression("other_schema.REPLACE(c, 'a', '')")
