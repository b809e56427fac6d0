"""AP-FK: the order in which a foreign key's children are taken, as MySQL 9.7 and MariaDB 10.11 take them.

Rows of c are deleted with their parent by f1. By f2 a row loses its q and its r where the row goes that it refers to,
so it stays if it comes after that one.
"""

import numpy as np
import pyarrow as pa
import pytest

from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.unit.jobs.replay.test_foreign_key_kinds import held

PARENT = "id INT PRIMARY KEY"
CHILD = ("id INT, r INT, q INT, v VARCHAR(9), {}, UNIQUE KEY u (id, r), KEY kq (q, r), CONSTRAINT f1 FOREIGN KEY (r) "
         "REFERENCES d.p (id) ON DELETE CASCADE, CONSTRAINT f2 FOREIGN KEY (q, r) REFERENCES d.c (id, r) "
         "ON DELETE SET NULL")
MOVING = ("id INT PRIMARY KEY, r INT, s INT, t INT, {}, KEY ks (s), CONSTRAINT f1 FOREIGN KEY (r) REFERENCES d.p (id) "
          "ON DELETE CASCADE, CONSTRAINT f2 FOREIGN KEY (s) REFERENCES d.c (id) ON DELETE SET NULL")
TWICE = "n INT PRIMARY KEY, id INT, KEY (id)"
FIRST, SECOND = (1, 1, None, "a"), (2, 1, 1, "b")
CASES = {  # c's keys, its rows as they are inserted, and what is left
    "by the primary key": ("PRIMARY KEY (id), KEY (r)", [FIRST, SECOND], [(2, None, None, "b")]),
    "however they came": ("PRIMARY KEY (id), KEY (r)", [SECOND, FIRST], [(2, None, None, "b")]),
    "the other one first": ("PRIMARY KEY (id), KEY (r)", [(1, 1, 2, "b"), (2, 1, None, "a")], []),
    "by what the index has behind the key": (
        "PRIMARY KEY (id), KEY (r, v)", [(2, 1, None, "a"), (1, 1, 2, "b")], [(1, None, None, "b")]),
    "that against the primary key": ("PRIMARY KEY (id), KEY (r, v)", [(1, 1, None, "b"), (2, 1, 1, "a")], []),
    "descending": ("PRIMARY KEY (id), KEY (r, v DESC)", [FIRST, SECOND], []),
    "descending, the other one first": (
        "PRIMARY KEY (id), KEY (r, v DESC)", [(1, 1, 2, "a"), (2, 1, None, "b")], [(1, None, None, "a")]),
    "by a prefix": ("PRIMARY KEY (id), KEY (r, v(1))", [(1, 1, None, "ab"), (2, 1, 1, "aa")], [(2, None, None, "aa")]),
    "by the first of two indexes": (
        "PRIMARY KEY (id), KEY a (r), KEY b (r, v)", [(1, 1, None, "b"), (2, 1, 1, "a")], [(2, None, None, "a")]),
    "by the first, which has more": (
        "PRIMARY KEY (id), KEY b (r, v), KEY a (r)", [(1, 1, None, "b"), (2, 1, 1, "a")], []),
    "as they came": ("KEY (v)", [(2, 1, None, "a"), (1, 1, 2, "b")], [(1, None, None, "b")]),
    "as they came, the other one first": ("KEY (v)", [(1, 1, 2, "b"), (2, 1, None, "a")], []),
}
MOVES = {  # where a parent's key is another's, too: those of c's rows that are left
    "to where the server has been": ("KEY (r, s)", [(1, 1, 0, 0), (9, 1, 1, 0), (2, 1, 7, 0)], [(9, 1, None, 0)]),
    "not in that index": ("KEY (r)", [(1, 1, 0, 0), (9, 1, 1, 0), (2, 1, 7, 0)], []),
    "to where it comes": ("KEY (r, s DESC)", [(1, 1, 9, 0), (9, 1, 1, 0), (2, 1, 7, 0)], []),
    "behind another": ("KEY (r, t, s)", [(1, 1, 0, 0), (9, 1, 1, 5), (2, 1, 7, 0), (3, 1, 2, 5)], []),
}


def image(definition, rows):
    kinds = [pa.binary() if column.type.base == "varchar" else pa.int32() for column in definition.columns]
    return {column.name: pa.array(values, kind)
            for column, kind, values in zip(definition.columns, kinds, zip(*rows, strict=True), strict=True)}


def left_of(folder, flavour, route, parent, parents, child, children, *then):
    """The rows of c after the first of these parents is deleted; and the second one after the statement `then`."""
    path = folder / f"{flavour}.000001"
    with BinlogWriter(path, flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        tables = []
        for name, columns in (("p", parent), ("c", child)):
            log.query(f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB")
            tables.append(parse_statement(f"CREATE TABLE d.{name} ({columns}) ENGINE=InnoDB", flavour=flavour)[0]
                          .definition)
        for table, rows in zip(tables, (parents, children), strict=True):
            with log.transaction():
                log.rows(RowChanges(table, after=image(table, rows)))
        for statement, gone in zip((None, *then), parents, strict=False):
            if statement is not None:
                log.query(statement)
            with log.transaction():
                log.rows(RowChanges(tables[0], before=image(tables[0], [gone])))
    return held(path, folder / f"{flavour} {route}", 2, route)["c"]


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("case", CASES)
def test_which_child_is_first(case, flavour, route, tmp_path):
    keys, rows, left = CASES[case]
    assert left_of(tmp_path, flavour, route, PARENT, [(1,), (2,)], CHILD.format(keys), rows) == left


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("case", MOVES)
def test_a_child_that_moves_in_the_index(case, flavour, route, tmp_path):
    keys, rows, left = MOVES[case]
    assert left_of(tmp_path, flavour, route, TWICE, [(1, 1), (2, 1)], MOVING.format(keys), rows) == left


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_an_index_that_comes_later(flavour, route, tmp_path):
    """The server's own, of the key alone, is there before it, and gone with it."""
    rows = [(1, 1, None, "b"), (2, 1, 1, "a"), (3, 2, None, "b"), (4, 2, 3, "a"), (5, 2, 6, "b"), (6, 2, None, "a")]
    assert left_of(tmp_path, flavour, route, PARENT, [(1,), (2,)], CHILD.format("PRIMARY KEY (id)"), rows,
                   "ALTER TABLE d.c ADD KEY (r, v)") == [(2, None, None, "a"), (5, None, None, "b")]


def test_an_index_that_another_foreign_key_makes(tmp_path):
    """Its columns are the only ones that have the first one's behind them: no other index is made."""
    child = MOVING.format("u INT") + ", CONSTRAINT f3 FOREIGN KEY (r, t) REFERENCES d.p (id, n)"
    left = left_of(tmp_path, "mysql", "walk", TWICE + ", KEY (id, n)", [(1, 1), (2, 1)], child,
                   [(1, 1, 0, 5, 0), (2, 1, 3, 4, 0), (3, 1, 0, 3, 0)])
    assert left == []


def test_many_children(tmp_path):
    """Each refers to the one before it, so every other one stays."""
    ids = np.random.default_rng(1).permutation(np.arange(1, 20_001)).tolist()
    rows = [(number, 1, number - 1 or None, "") for number in ids]
    left = left_of(tmp_path, "mysql", "walk", PARENT, [(1,), (2,)], CHILD.format("PRIMARY KEY (id), KEY (r)"), rows)
    assert {row[0] for row in left} == set(range(2, 20_001, 2))
