"""Which key a table is searched by, and its form in kernels."""

import pytest

from applier.columns.table_key import keeps_key, table_key
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.alter import alter
from applier.schema.history.conversion import RowConversion


def key_of(sql):
    [change] = parse_statement(f"CREATE TABLE d.t ({sql})", server_charset="utf8mb4")
    return table_key(change.definition)


@pytest.mark.parametrize("sql, text, columns, form", [
    ("a int, id int PRIMARY KEY", "PRIMARY (id)", (1,), "int"),
    ("id int, PRIMARY KEY (id), UNIQUE (id)", "PRIMARY (id)", (0,), "int"),
    ("a int NOT NULL, b int, UNIQUE KEY nullable (b), UNIQUE KEY whole (a)", "whole (a)", (0,), "int"),
    ("a int NOT NULL, b int NOT NULL, UNIQUE KEY k (b, a)", "k (b, a)", (1, 0), "bytes"),
    ("a varchar(9) PRIMARY KEY", "PRIMARY (a)", (0,), "bytes"),
    ("a text NOT NULL, UNIQUE KEY k (a(5))", "k (a)", (0,), "bytes"),
    ("a date PRIMARY KEY", "PRIMARY (a)", (0,), "bytes"),
    ("a decimal(9,0) PRIMARY KEY", "PRIMARY (a)", (0,), "bytes")])
def test_the_primary_key_or_the_first_not_null_unique_key(sql, text, columns, form):
    """PKE, FIND."""
    key = key_of(sql)
    assert (str(key), key.columns, key.form) == (text, columns, form)


@pytest.mark.parametrize("sql", [
    "a int", "a int, UNIQUE (a)", "a int NOT NULL, b int, UNIQUE (a, b)", "a int NOT NULL, KEY (a)",
    "a int NOT NULL, UNIQUE ((a + 1))",
    "a int, v int AS (a) VIRTUAL NOT NULL, UNIQUE (v)"])
def test_a_table_without_a_key_that_identifies_a_row(sql):
    """PKE: a nullable or functional unique key does not; a snapshot does not hold a VIRTUAL column."""
    assert key_of(sql) is None


@pytest.mark.parametrize("base", ["tinyint", "smallint", "mediumint", "int", "bigint"])
@pytest.mark.parametrize("unsigned", [False, True])
def test_keys_of_one_integer_column_are_integers(base, unsigned):
    key = key_of(f"id {base}{' unsigned' * unsigned} PRIMARY KEY")
    assert (key.form, key.unsigned) == ("int", unsigned)


@pytest.mark.parametrize("columns, change, is_kept", [
    ("a int PRIMARY KEY, b int NOT NULL", "MODIFY a int NOT NULL AFTER b", True),
    ("a int PRIMARY KEY, b int NOT NULL", "RENAME COLUMN a TO c", True),
    ("a int PRIMARY KEY, b int NOT NULL", "MODIFY a bigint NOT NULL", True),
    ("a int PRIMARY KEY, b int NOT NULL", "MODIFY a int unsigned NOT NULL", False),
    ("a int PRIMARY KEY, b int NOT NULL", "MODIFY a int NOT NULL AUTO_INCREMENT", False),
    ("a int PRIMARY KEY, b int NOT NULL", "DROP PRIMARY KEY, ADD PRIMARY KEY (b)", False),
    ("a int PRIMARY KEY, b int NOT NULL", "DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", False),
    ("a int PRIMARY KEY, b int NOT NULL", "DROP PRIMARY KEY", False),
    ("a int, b int", "ADD PRIMARY KEY (a)", False),
    ("a int, b int", "ADD c int", True),
    ("a int, b int, PRIMARY KEY (a, b)", "ADD c int FIRST", True),
    ("a int, b int, PRIMARY KEY (a, b)", "DROP PRIMARY KEY, ADD PRIMARY KEY (b, a)", False),
    ("a varchar(9) PRIMARY KEY", "MODIFY a varchar(9) COMMENT 'x'", True),
    ("a varchar(9) PRIMARY KEY", "MODIFY a varchar(9) COLLATE utf8mb4_bin", False)])
def test_rows_keep_their_keys_over_an_alter(columns, change, is_kept):
    [created] = parse_statement(f"CREATE TABLE d.t ({columns})", server_charset="utf8mb4")
    [asked] = parse_statement(f"ALTER TABLE d.t {change}", server_charset="utf8mb4")
    altered = alter(created.definition, asked.actions, asked.context)
    assert keeps_key(RowConversion(created.definition, altered.definition, altered.sources)) == is_kept
