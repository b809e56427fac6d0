"""MariaDB's functions of sql_mode ORACLE, and those named with a schema: what real servers made of them."""

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.evaluator import evaluate
from applier.sql.grammar import parse_expression
from applier.sql.sql_modes import in_default_mode

OLD, OPEN, NEW = (Session("mariadb", server_version=version)
                  for version in ("10.11.19-MariaDB", "11.4.2-MariaDB", "11.8.9-MariaDB"))
TEXTS = ["a\\b", "a", "b", None]


def values(sql, session, texts=TEXTS):
    columns = {"c": (pa.array(texts, pa.string()), ColumnType("varchar", length=20, charset="utf8mb4"))}
    return evaluate(sql, columns.__getitem__, len(texts), session).of_rows(len(texts)).to_pylist()


@pytest.mark.parametrize("session", [OLD, OPEN, NEW])
@pytest.mark.parametrize(("sql", "expected"), [
    ("REPLACE_ORACLE(c, '\\\\', '/')", ["a/b", "a", "b", None]),
    ("REPLACE_ORACLE(c, 'a', '')", ["\\b", None, "b", None]),
    ("REPLACE_ORACLE(c, 'a', NULL)", ["\\b", None, "b", None]),
    ("REPLACE_ORACLE(c, NULL, 'x')", TEXTS)])
def test_what_replace_empties_is_null(sql, expected, session):
    assert values(sql, session) == expected


def test_an_empty_text_is_replaced_by_null_since_a_version():
    """It is empty on 10.5 and 10.11, and NULL on 11.8, where there is a text to look for."""
    texts = ["", "a", "b"]
    assert values("REPLACE_ORACLE(c, 'a', '')", OLD, texts) == ["", None, "b"]
    assert values("REPLACE_ORACLE(c, 'a', '')", NEW, texts) == [None, None, "b"]
    assert values("REPLACE_ORACLE(c, '', 'a')", NEW, texts) == texts
    for session in (OPEN, Session("mariadb")):
        with pytest.raises(NotComputable, match="depends on the version"):
            values("REPLACE_ORACLE(c, 'a', '')", session, texts)


def test_whether_a_replaced_text_is_null_is_not_known():
    """10.5, 10.11 and 11.8 have IS NULL as false if the column is NOT NULL, though the text is NULL."""
    with pytest.raises(NotComputable, match="IS NULL"):
        values("CONCAT(REPLACE_ORACLE(c, 'a', ''), 'x') IS NULL", NEW)
    assert values("REPLACE_ORACLE(c, 'x', 'y') IS NULL", NEW, ["a"]) == [0]


def test_functions_of_a_schema_are_those_of_its_mode():
    """SHOW CREATE TABLE writes a function of another sql_mode with its schema."""
    for plain in ("REPLACE(c, 'a', '')", "CONCAT(c, 'x')", "SUBSTR(c, 0, 1)", "TRIM(BOTH 'a' FROM c)", "LENGTH(c)"):
        assert parse_expression(f"mariadb_schema.{plain}") == parse_expression(plain)
        assert in_default_mode(f"mariadb_schema.{plain}", "ORACLE") == f"mariadb_schema.{plain}"
        assert parse_expression(f"`oracle_schema`.{plain}") == parse_expression(in_default_mode(plain, "ORACLE"))
    assert parse_expression(in_default_mode("decode(c, 1, 2)", "ORACLE")) == parse_expression("decode_oracle(c, 1, 2)")
    with pytest.raises(NotComputable):
        parse_expression("other_schema.REPLACE(c, 'a', '')")
