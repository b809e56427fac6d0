"""What a row store keeps of each row, and by what it finds one."""

import pytest

from applier.apply.search.row_access import RowAccess
from applier.schema.ddl.ddl import parse_statement


def access(sql):
    [change] = parse_statement(f"CREATE TABLE d.t ({sql})", server_charset="utf8mb4")
    return RowAccess(change.definition, by_content=False)


@pytest.mark.parametrize("key", ["PRIMARY KEY (a(1))", "UNIQUE KEY u (a(1))", "PRIMARY KEY (b, a(3))"])
def test_the_row_found_by_a_unique_key_of_a_prefix_is_the_row(key):
    """FIND: a replica does not compare what is after the prefix, nor the other columns."""
    assert access(f"a TEXT NOT NULL, b INT NOT NULL, c INT, {key}").unique_for(frozenset([0, 1, 2])) == 0


def test_a_nullable_unique_key_is_as_good_as_a_plain_one():
    """PKE, FIND: rows with NULL in it are alike."""
    assert access("a INT, b INT, UNIQUE KEY u (a)").unique_for(frozenset([0, 1])) is None


def test_keys_over_virtual_columns_neither_order_rows_nor_find_them():
    """PKE, FIND: InnoDB clusters rows by a key of columns that they have, though another NOT NULL one is before it."""
    rows = access("v INT AS (a + 1) VIRTUAL NOT NULL, a INT NOT NULL, KEY x (a), UNIQUE KEY u (v), UNIQUE KEY w (a)")
    assert [key.name for key in rows.unique] == ["w", "u"]
    assert rows.clustered and rows.order == rows.unique[0].parts
    assert rows.unique_for(frozenset([1])) == 0
