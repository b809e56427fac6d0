"""Which key finds a row (rules FIND, PKE, IDX-R1, IDX-R4)."""

import pytest

from keysearch.choose import ColumnInfo, KeyInfo, choose_key

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
    choice = choose_key(COLUMNS, keys, present)
    assert (choice.kind, choice.name, choice.columns) == (kind, name, columns)
    assert choice.is_exact == (kind in ("primary", "unique"))
    assert len(choice.prefixes) == len(columns)


def test_first_of_equal_rank():
    """Leftmost in the definition, but whole columns before prefixes, as the server keeps them."""
    second = KeyInfo("second", "unique", ((ID, None),))
    prefix = KeyInfo("prefix", "unique", ((ID, 4),))
    assert choose_key(COLUMNS, [UNIQUE, second], None).name == "by_code"
    assert choose_key(COLUMNS, [second, UNIQUE], None).name == "second"
    assert choose_key(COLUMNS, [prefix, UNIQUE], None).name == "by_code"
    assert choose_key(COLUMNS, [prefix], None).prefixes == (4,)


def test_unique_key_with_one_nullable_column_is_not_unique():
    mixed = KeyInfo("mixed", "unique", ((CODE, None), (NAME, None)))
    choice = choose_key(COLUMNS, [mixed], None)
    assert choice.kind == "key" and "not unique" in choice.reason


def test_keys_that_cannot_search():
    text = KeyInfo("words", "fulltext", ((NAME, None),))
    area = KeyInfo("area", "spatial", ((CODE, None),))
    expression = KeyInfo("lower_name", "unique", ((None, None),))
    choice = choose_key(COLUMNS, [text, area, expression], None)
    assert choice.kind == "scan"
    for part in ("fulltext key words cannot", "spatial key area cannot", "lower_name has an expression"):
        assert part in choice.reason


def test_invisible_keys_are_used():
    hidden = KeyInfo("hidden", "unique", ((CODE, None),), visible=False)
    assert choose_key(COLUMNS, [hidden], None).name == "hidden"


def test_reason_says_why_better_keys_were_passed_over():
    choice = choose_key(COLUMNS, ALL, {CODE})
    assert choice.reason == "unique key by_code (code); primary key needs id, which the before-image lacks"
    assert choose_key(COLUMNS, [], None).reason == "the table has no key"
