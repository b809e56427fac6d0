"""AP-FK: where the order of a foreign key's children matters, and where nobody pays for it."""

import pytest

from applier.errors import SchemaError
from applier.schema.ddl.ddl import parse_statement
from applier.schema.references import Reference, linked_columns
from applier.schema.sibling_order import sibling_orders

PARENT = "id INT PRIMARY KEY"
OF_P = "FOREIGN KEY (r) REFERENCES p (id) ON DELETE"


def orders(**tables):
    """The order of each foreign key's children, by its name."""
    made = {}
    for name, columns in tables.items():
        [change] = parse_statement(f"CREATE TABLE d.{name} ({columns})".replace("REFERENCES ", "REFERENCES d."))
        made[name] = change.definition
    references = [Reference(key, name, key.table, linked_columns(key, definition, made[key.table]))
                  for name, definition in made.items() for key in definition.foreign_keys]
    return {reference.key.name: order for reference, order
            in zip(references, sibling_orders(references, made), strict=True)}


NONE_MATTERS = {
    "one level": {"c": f"id INT PRIMARY KEY, r INT, {OF_P} SET NULL"},
    "two children": {"c": f"id INT PRIMARY KEY, r INT, {OF_P} SET NULL",
                     "e": f"id INT PRIMARY KEY, r INT, {OF_P} CASCADE"},
    "two levels": {"c": f"id INT PRIMARY KEY, r INT, {OF_P} CASCADE",
                   "g": "id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES c (id) ON DELETE SET NULL"},
    "two parents": {"q": "id INT PRIMARY KEY", "c": f"id INT PRIMARY KEY, r INT, s INT, {OF_P} SET NULL, "
                                                    "FOREIGN KEY (s) REFERENCES q (id) ON DELETE CASCADE"},
    "deletes alone, in a circle": {
        "c": f"id INT PRIMARY KEY, r INT, s INT, {OF_P} CASCADE, FOREIGN KEY (s) REFERENCES c (id) ON DELETE CASCADE"},
    "itself alone": {"c": "id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES c (id) ON DELETE SET NULL"},
}


@pytest.mark.parametrize("case", NONE_MATTERS)
def test_no_order_matters(case):
    assert set(orders(p=PARENT, **NONE_MATTERS[case]).values()) == {None}


def test_two_ways_to_a_row():
    """Above them the order matters, not below."""
    found = orders(p=PARENT, c=f"id INT PRIMARY KEY, r INT, b INT, KEY (r, b), CONSTRAINT a {OF_P} CASCADE",
                   g="id INT PRIMARY KEY, r INT, s INT, CONSTRAINT b FOREIGN KEY (r) REFERENCES c (id) ON DELETE SET "
                     "NULL, CONSTRAINT c FOREIGN KEY (s) REFERENCES c (id) ON DELETE CASCADE")
    assert found["b"] is found["c"] is None
    assert [part.column for part in found["a"].behind] == ["b"]
    assert not found["a"].moves


@pytest.mark.parametrize("key, moves", [("(r)", False), ("(r, s)", True), ("(r, b)", False), ("(r, b, s)", True)])
def test_a_circle(key, moves):
    """What refers to its own table may change that, and where it is in an index."""
    found = orders(p=PARENT, c=f"id INT PRIMARY KEY, r INT, s INT, b INT, KEY {key}, CONSTRAINT a {OF_P} CASCADE, "
                               "CONSTRAINT b FOREIGN KEY (s) REFERENCES c (id) ON DELETE SET NULL")
    assert found["a"].moves == moves
    assert found["b"] is None


def test_an_order_by_what_a_snapshot_does_not_have():
    with pytest.raises(SchemaError, match=r"foreign key a .* computed values: \(`g`\)") as refused:
        orders(p=PARENT, c=f"id INT PRIMARY KEY, r INT, s INT, g INT AS (s + 1), KEY k (r, g), CONSTRAINT a {OF_P} "
                           "CASCADE, CONSTRAINT b FOREIGN KEY (s) REFERENCES c (id) ON DELETE SET NULL")
    assert refused.value.table == "d.c" and "--ignore-tables" in refused.value.hint


MOVING = f"CONSTRAINT a {OF_P} CASCADE, CONSTRAINT b FOREIGN KEY (s) REFERENCES c (id) ON DELETE SET NULL"


@pytest.mark.parametrize("keys, behind", [
    ("KEY (s)", []), ("KEY (r, t)", ["t"]), ("KEY (r), KEY (r, t)", []), ("KEY (r), UNIQUE KEY (r, t)", ["t"]),
    ("KEY (r(2), t)", []), ("FOREIGN KEY (r, t) REFERENCES p (id, n)", ["t"]),
    ("UNIQUE KEY (r, s), FOREIGN KEY (r, t) REFERENCES p (id, n)", ["s"]),
    ("KEY (r, t), FOREIGN KEY (r, t) REFERENCES p (id, n)", ["t"]),
])
def test_the_index_by_which_children_are_found(keys, behind):
    """As SHOW CREATE TABLE has indexes that the server makes: none where a key or a foreign key has its columns."""
    found = orders(p=f"{PARENT}, n INT", c=f"id INT PRIMARY KEY, r VARCHAR(9), s INT, t INT, {keys}, {MOVING}")
    assert [part.column for part in found["a"].behind] == behind


def test_an_index_that_is_not_told():
    """A plain key, and one that the server makes for another foreign key: which one is first, nothing says."""
    with pytest.raises(SchemaError, match=r"depends on which index is used, \(`t`\) or \(`n`\) behind the key"):
        orders(p=f"{PARENT}, n INT", c="id INT PRIMARY KEY, r INT, s INT, t INT, n INT, KEY (r, t), FOREIGN KEY (r, n) "
                                       f"REFERENCES p (id, n), {MOVING}")
