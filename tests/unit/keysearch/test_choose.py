"""Which key finds a row (rules FIND, PKE, IDX-R1, IDX-R4)."""

import pytest

from keysearch.choose import ColumnInfo, KeyInfo, choose_access_path

ID, CODE, NAME, NOTE = range(4)
COLUMNS = [ColumnInfo("id", False), ColumnInfo("code", False), ColumnInfo("name", True), ColumnInfo("note", True)]
PRIMARY = KeyInfo("PRIMARY", "primary", ((ID, None),))
UNIQUE = KeyInfo("by_code", "unique", ((CODE, None),))
NULLABLE = KeyInfo("by_name", "unique", ((NAME, None),))
PLAIN = KeyInfo("by_note", "key", ((NOTE, None), (CODE, None)))
ALL = (PLAIN, NULLABLE, UNIQUE, PRIMARY)


@pytest.mark.parametrize("keys, present, kind, name, columns", [
    (ALL, None, "primary", "PRIMARY", (ID,)),
    (ALL, {ID}, "primary", "PRIMARY", (ID,)),
    (ALL, {CODE, NAME, NOTE}, "unique", "by_code", (CODE,)),        # the primary key's column is not in the image
    (ALL, {NAME, NOTE}, "key", "by_name", (NAME,)),                  # nullable: found by, but not unique
    (ALL, {NOTE}, "scan", "", (NOTE,)),                              # half of a key's columns are no key
    ((PLAIN,), None, "key", "by_note", (NOTE, CODE)),                # columns in the key's order
    ((PLAIN, NULLABLE), None, "key", "by_name", (NAME,)),            # unique keys stand before plain ones
    ((), None, "scan", "", (ID, CODE, NAME, NOTE)),
    ((), set(), "scan", "", ()),
])
def test_find_order(keys, present, kind, name, columns):
    """FIND: primary key, unique keys, other keys, scan; only keys that the before-image covers."""
    choice = choose_access_path(COLUMNS, keys, present)
    assert (choice.kind, choice.name, choice.columns) == (kind, name, columns)
    assert choice.is_exact == (kind in ("primary", "unique"))
    assert len(choice.prefixes) == len(columns)


def test_first_of_equal_rank():
    """Leftmost in the definition, but whole columns before prefixes, as the server keeps them."""
    second = KeyInfo("second", "unique", ((ID, None),))
    prefix = KeyInfo("prefix", "unique", ((ID, 4),))
    assert choose_access_path(COLUMNS, [UNIQUE, second], None).name == "by_code"
    assert choose_access_path(COLUMNS, [second, UNIQUE], None).name == "second"
    assert choose_access_path(COLUMNS, [prefix, UNIQUE], None).name == "by_code"
    assert choose_access_path(COLUMNS, [prefix], None).prefixes == (4,)


def test_unique_key_with_one_nullable_column_is_not_unique():
    mixed = KeyInfo("mixed", "unique", ((CODE, None), (NAME, None)))
    choice = choose_access_path(COLUMNS, [mixed], None)
    assert choice.kind == "key" and "not unique" in choice.reason


def test_keys_that_cannot_search():
    text = KeyInfo("words", "fulltext", ((NAME, None),))
    area = KeyInfo("area", "spatial", ((CODE, None),))
    expression = KeyInfo("lower_name", "unique", ((None, None),))
    choice = choose_access_path(COLUMNS, [text, area, expression], None)
    assert choice.kind == "scan"
    for part in ("fulltext key words cannot", "spatial key area cannot", "lower_name has an expression"):
        assert part in choice.reason


@pytest.mark.parametrize("kind, column, flavour, used", [
    ("unique", CODE, "mysql", True), ("unique", NAME, "mysql", False), ("key", CODE, "mysql", False),
    ("unique", CODE, "mariadb", True), ("unique", NAME, "mariadb", True), ("key", CODE, "mariadb", True)])
def test_invisible_keys(kind, column, flavour, used):
    """MySQL 9.7 scans the table where its only key is invisible and not unique; MariaDB 10.11 uses an IGNORED one."""
    hidden = KeyInfo("hidden", kind, ((column, None),), visible=False)
    choice = choose_access_path(COLUMNS, [hidden], None, flavour)
    assert (choice.name == "hidden") == used
    assert used or "hidden is invisible" in choice.reason


def test_the_first_plain_key_is_taken_and_mariadb_may_take_another():
    """AP-CARD: MySQL takes the first, whatever its cardinality; MariaDB's is in no log."""
    first, second = KeyInfo("k1", "key", ((NOTE, None),)), KeyInfo("k2", "key", ((NAME, None),))
    assert choose_access_path(COLUMNS, [first, second], None).name == "k1"
    assert "cardinality" not in choose_access_path(COLUMNS, [first, second], None).reason
    choice = choose_access_path(COLUMNS, [first, second], None, "mariadb")
    assert choice.name == "k1" and "may prefer key k2, by cardinality" in choice.reason
    assert "cardinality" not in choose_access_path(COLUMNS, [first, PRIMARY], {NOTE}, "mariadb").reason


def test_a_virtual_column_is_in_no_snapshot():
    columns = [*COLUMNS, ColumnInfo("doubled", False, stored=False)]
    key = KeyInfo("by_doubled", "unique", ((4, None),))
    choice = choose_access_path(columns, [key], None)
    assert (choice.kind, choice.columns, choice.uncompared) == ("scan", (ID, CODE, NAME, NOTE), ())
    assert "by_doubled is over doubled, which is VIRTUAL" in choice.reason
    assert choose_access_path(columns, [key, UNIQUE], None).name == "by_code"


@pytest.mark.parametrize("keys, present, cost, uncompared, ambiguous", [
    (ALL, {ID}, "one row", (), False),
    (ALL, {CODE, NAME, NOTE}, "one row", (), False),
    ((PLAIN,), None, "candidates", (), False),                      # rows that match are alike in all columns
    ((PLAIN,), {CODE, NOTE}, "candidates", (ID, NAME), True),
    ((), None, "all rows", (), False),
    ((), {NAME}, "all rows", (ID, CODE, NOTE), True),
    (ALL, set(), "none", (ID, CODE, NAME, NOTE), False)])           # IDX-R2: nothing to search by
def test_what_a_search_costs_and_whether_it_finds_the_row_that_was_meant(keys, present, cost, uncompared, ambiguous):
    choice = choose_access_path(COLUMNS, keys, present)
    assert (choice.cost, choice.uncompared, choice.is_ambiguous) == (cost, uncompared, ambiguous)


def test_columns_of_the_image_that_the_table_lacks_do_not_count():
    """IDX-R2: the source has more columns; its key is over one of them."""
    assert choose_access_path(COLUMNS, ALL, {7}).cost == "none"
    assert choose_access_path(COLUMNS, ALL, {7, NAME}).name == "by_name"


def test_reason_says_why_better_keys_were_passed_over():
    choice = choose_access_path(COLUMNS, ALL, {CODE})
    assert choice.reason == "unique key by_code (code); primary key needs id, which the before-image lacks"
    assert choice.passed_over == ("primary key needs id, which the before-image lacks",)
    assert choose_access_path(COLUMNS, [], None).reason == "the table has no key"


def test_mariadb_takes_what_a_nullable_unique_key_finds():
    """Seen on MariaDB 10.11: it compares the rest only where the before-image has a NULL in the key; MySQL always."""
    columns = [ColumnInfo("a", True), ColumnInfo("b", True)]
    keys = [KeyInfo("k", "key", ((1, None),)), KeyInfo("u", "unique", ((0, None),))]
    found = choose_access_path(columns, keys, {0, 1}, "mariadb")
    assert (found.kind, found.name, found.unless_null) == ("key", "u", True)
    assert not choose_access_path(columns, keys, {0, 1}, "mysql").unless_null
    assert not choose_access_path(columns, keys, {1}, "mariadb").unless_null
