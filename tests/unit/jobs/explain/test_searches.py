"""What is explained of a table: the key of each layout, and warnings."""

import pytest

from applier.jobs.explain.layouts import BeforeImages
from applier.jobs.explain.searches import explain_table
from applier.schema.ddl.ddl import parse_statement


def explained(sql, *images, flavour="mysql"):
    [change] = parse_statement(f"CREATE TABLE d.t ({sql}) DEFAULT CHARSET=utf8mb4", server_charset="utf8mb4",
                               flavour=flavour)
    return explain_table(change.definition, "", 1, 1, [BeforeImages(frozenset(image), 1) for image in images])


def test_each_layout_has_its_key():
    """FIND: by what the before-image has."""
    table = explained("id int PRIMARY KEY, a int NOT NULL, b int, UNIQUE KEY ua (a), KEY kb (b)", {0}, {1}, {1, 2}, {2})
    assert [search.choice.name for search in table.searches] == ["PRIMARY", "ua", "ua", "kb"]
    assert [search.choice.cost for search in table.searches] == ["one row", "one row", "one row", "candidates"]
    assert table.duplicates == ("PRIMARY (id)", "ua (a)") and table.warnings == ()


def test_an_ambiguous_match_is_warned_of():
    """IDX-R1: rows that are equal in the before-image's columns; the first of them is taken."""
    table = explained("id int PRIMARY KEY, a int, b int, KEY ka (a)", {1}, {0, 1, 2}, {2})
    by_key, whole, scanned = (search.warnings for search in table.searches)
    assert by_key == ("ambiguous: rows that are equal in a may differ in id, b; the first in the table's order is "
                      "taken",)
    assert whole == () and "equal in b may differ in id, a" in scanned[0]


def test_equal_rows_are_one_as_good_as_the_other():
    table = explained("a int, b int", {0, 1})
    assert table.searches[0].warnings == () and table.searches[0].choice.cost == "all rows"
    assert table.warnings == ("no key tells one row from another: the whole table is one unit of work",)


def test_a_before_image_of_other_columns_finds_nothing():
    """IDX-R2: the source's key is over a column that the table lacks."""
    [search] = explained("id int PRIMARY KEY, a int", {5}).searches
    assert search.choice.cost == "none" and search.warnings == ("the replay stops at such an image (1032)",)


@pytest.mark.parametrize("sql, warning", [
    ("s varchar(9) PRIMARY KEY", None),
    ("s varchar(9) COLLATE latin1_klingon_ci PRIMARY KEY", "bytes only: s is of collation latin1_klingon_ci"),
    ("s varchar(9) COLLATE utf8mb4_bin PRIMARY KEY", None),
    ("s varchar(9) COLLATE latin1_german2_ci PRIMARY KEY", None),
    ("s varchar(9) COLLATE utf8mb4_zh_0900_as_cs PRIMARY KEY", None),
    ("s enum('a') COLLATE latin1_klingon_ci PRIMARY KEY", None),
    ("id int PRIMARY KEY, s varchar(9) COLLATE utf8mb4_klingon_ci, UNIQUE KEY us (s)",
     "duplicates in us are found by their bytes only"),
    ("id int PRIMARY KEY, s varchar(9) COLLATE utf8mb4_klingon_ci, KEY us (s)", None),
    ("id int PRIMARY KEY, a int, UNIQUE KEY ua ((a + 1))", "duplicates in ua are not found: it is over an expression"),
    ("id int PRIMARY KEY, a int, v int AS (a) VIRTUAL, UNIQUE KEY uv (v)", None),
    ("id int PRIMARY KEY, a int, v text AS (aes_encrypt(a, 'k')) VIRTUAL, UNIQUE KEY uv (v(9))",
     "uv are not found: v is"),
    ("id int PRIMARY KEY, a int, v int AS (a) VIRTUAL, UNIQUE KEY uv (v), "
     "FOREIGN KEY (a) REFERENCES p (id) ON DELETE SET NULL", "uv are not found: v is VIRTUAL")])
def test_keys_whose_duplicates_cannot_be_told(sql, warning):
    warnings = explained(sql).warnings
    assert warnings == () if warning is None else len(warnings) == 1 and warning in warnings[0]


def test_many_columns_are_not_all_named():
    columns = ", ".join(f"c{n} int" for n in range(20))
    [search] = explained(columns, set(range(10))).searches
    assert "equal in c0, c1, c2, c3, c4, c5 and 4 more may differ in c10, c11" in search.warnings[0]


def test_invisible_keys_by_flavour():
    for flavour, word, name in (("mysql", "INVISIBLE", ""), ("mariadb", "IGNORED", "ka")):
        [search] = explained(f"a int, b int, KEY ka (a) {word}", {0, 1}, flavour=flavour).searches
        assert search.choice.name == name
