"""ALTER TABLEs between two definitions make the second one, as the history of statements sees it (DIFF-ALTER)."""

import itertools

import pytest

from applier.columns.altering import alters
from applier.columns.definition_differences import differences
from applier.schema.history.history import SchemaHistory

COLUMNS = [
    "id INT NOT NULL, a INT, b VARCHAR(20) DEFAULT 'x', c INT",
    "id INT NOT NULL COMMENT 'the id', a INT NOT NULL DEFAULT 7, b VARCHAR(20), c INT",
    "id INT NOT NULL, c INT, b VARCHAR(20) DEFAULT 'y', a INT CHECK (a > 0)"]
KEYS = ["", ", UNIQUE KEY u (a)",
        ", UNIQUE KEY u (a, c), KEY k (b(5)), CONSTRAINT f FOREIGN KEY (c) REFERENCES d.p (id)",
        ", KEY k (b), CONSTRAINT n CHECK (a < 100), CONSTRAINT f FOREIGN KEY (c) REFERENCES d.p (id) ON DELETE CASCADE"]
OPTIONS = ["", " COMMENT='it''s' ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8", " DEFAULT CHARSET=utf8mb4 MAX_ROWS=9",
           " PARTITION BY HASH (id) PARTITIONS 3"]


def table(words, flavour):
    history = SchemaHistory(flavour)
    history.load_schema_file("CREATE DATABASE d CHARACTER SET utf8mb4; USE d; CREATE TABLE p (id INT PRIMARY KEY);"
                             + words)
    return history


def definition(history):
    return next(one for one in history.definitions() if one.name == "t")


def sides():
    words = [f"CREATE TABLE t ({columns}, PRIMARY KEY (id){keys}){options};" for columns, keys, options in
             itertools.product(COLUMNS, KEYS, OPTIONS)]
    return [(words[n], words[(7 * n + 5) % len(words)]) for n in range(len(words))]


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_the_statements_make_the_other_definition(flavour):
    for before, after in sides():
        old, wanted = table(before, flavour), definition(table(after, flavour))
        found = alters(definition(old), wanted)
        assert found is not None
        for statement in (*found.before_rows, *found.after_rows):
            old.load_statement(statement, database="d", sql_mode="", time_zone="+00:00")
        assert differences(definition(old), wanted) == (), (before, after, found)


@pytest.mark.parametrize("after", [
    "id BIGINT NOT NULL, a INT, PRIMARY KEY (id)", "id INT NOT NULL, PRIMARY KEY (id)", "id INT NOT NULL, a INT",
    "id INT NOT NULL, a INT, z INT, PRIMARY KEY (id)", "id INT NOT NULL, a INT, PRIMARY KEY (id, a)"])
def test_other_columns_or_another_primary_key_take_another_table(after):
    before = "CREATE TABLE t (id INT NOT NULL, a INT, PRIMARY KEY (id));"
    assert alters(*(definition(table(words, "mysql")) for words in (before, f"CREATE TABLE t ({after});"))) is None


def test_what_is_in_the_way_of_rows_goes_first():
    before, after = (definition(table(f"CREATE TABLE t (id INT PRIMARY KEY, {words});", "mysql")) for words in (
        "a INT NOT NULL, UNIQUE KEY u (a), CONSTRAINT x CHECK (a > 0)", "a INT, KEY k (a), CONSTRAINT y CHECK (a > 5)"))
    found = alters(before, after)
    assert found.before_rows == ("ALTER TABLE `d`.`t` DROP CHECK `x`, DROP KEY `u`, MODIFY COLUMN `a` int",)
    assert found.after_rows == ("ALTER TABLE `d`.`t` ADD KEY `k` (`a`), ADD CONSTRAINT `y` CHECK (a > 5)",)
    assert found.lost == ("key u", "CHECK x")
