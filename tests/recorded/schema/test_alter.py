"""ALTER TABLE applied to definitions: real servers' SHOW CREATE TABLE after each of some thousand statements judges."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from applier.columns.defaults import default_scalar
from applier.errors import SchemaError
from applier.mysql.character_sets.collations import Charset
from applier.schema.ddl.ddl import parse_statement
from applier.schema.ddl.schema_changes import AlterTable, CreateTable
from applier.schema.history.alter import alter
from applier.sql.tokens import tokenize

RECORDED = Path(__file__).parent / "alters.jsonl.gz"
HISTORIES = [json.loads(line) for line in gzip.open(RECORDED, "rt")]
CHECKS = [json.loads(line) for line in gzip.open(RECORDED.with_name("checks.jsonl.gz"), "rt")]


def parse(sql, flavour="mysql", **session):
    session = {"databases": {"d": Charset("utf8mb4", "utf8mb4_0900_ai_ci" if flavour == "mysql" else
                                          "utf8mb4_general_ci")}} | session
    [change] = parse_statement(sql, default_database="d", flavour=flavour, **session)
    return change


def shown(definition):
    """What of a definition SHOW CREATE TABLE tells, however it tells it."""
    columns = [(column.name, _type(column.type), column.nullable, _default(column, definition),
                column.on_update is not None, column.auto_increment, column.generated, column.invisible, column.comment)
               for column in definition.columns]
    keys = [(key.name, key.kind, [_part(part, key.kind, definition) for part in key.parts], key.visible)
            for key in definition.keys]
    if definition.flavour == "mariadb":
        keys.sort(key=lambda key: key[0])  # which it hashes, or has hashed once, come later
    checks = sorted((check.name, _plain(check.expression), check.enforced) for check in definition.checks)
    own = [column.check and _plain(column.check) for column in definition.columns]
    return columns, keys, definition.charset, definition.collation, checks, own, _options(definition)


def _plain(expression):
    """The words of an expression: servers add parentheses, quotes and character sets, and name some in another way."""
    names = {"true": "1", "octet_length": "length"}
    texts = [token.text.lower() for token in tokenize(expression)]
    return [names.get(text, text) for text in texts if text not in ("", "(", ")") and not text.startswith("_")]


def _options(definition):
    """Options of the table and its keys, without those that a server shows in its own way."""
    of_keys = sorted((key.name, name, value) for key in definition.keys for name, value in key.options
                     if name != "KEY_BLOCK_SIZE" and value != "HASH")
    return sorted(definition.options), of_keys


def _type(column_type):
    """Without display widths, which MySQL 8 does not show and MariaDB always does."""
    is_number = column_type.base in ("tinyint", "smallint", "mediumint", "int", "bigint")
    return replace(column_type, length=None) if is_number else column_type


def _part(part, kind, definition):
    """Of MariaDB without what it makes up: prefixes of long texts in plain keys, no direction in hashed ones."""
    if definition.flavour == "mysql":
        return part
    is_long = kind == "key" and definition.column(part.column).type.base.endswith(("text", "blob"))
    return replace(part, descending=False, length=None if is_long else part.length)


def _default(column, definition):
    default = column.default
    if default is None or default.kind == "null" or column.auto_increment or column.generated:
        return None
    if default.kind in ("expression", "now"):
        return default.kind
    return default_scalar(column, definition).as_py()


def altered(sql, *then, flavour="mysql", **session):
    """A definition after a CREATE TABLE and ALTERs, with the sources of its columns in the last one."""
    definition, result = parse(sql, flavour, **session).definition, None
    for sql in then:
        change = parse(sql, flavour, **session)
        result = alter(definition, change.actions, change.context)
        definition = result.definition
    return result


def names(result):
    return [column.name for column in result.definition.columns]


def test_sources_of_columns():
    """Where each column's values come from; a column that is dropped and added again under its name has none."""
    result = altered("CREATE TABLE t (a INT, b INT, c INT, d INT)",
                     "ALTER TABLE t DROP b, ADD b TEXT FIRST, CHANGE d e BIGINT AFTER b, RENAME COLUMN a TO c, "
                     "RENAME COLUMN c TO a, ADD COLUMN (f INT, g INT)")
    assert names(result) == ["b", "e", "c", "a", "f", "g"]
    assert result.sources == (None, 3, 0, 2, None, None)


@pytest.mark.parametrize(("sql", "what"), [
    ("ALTER TABLE t DROP PARTITION p0", "DROP PARTITION"), ("ALTER TABLE t TRUNCATE PARTITION p0, p1", "TRUNCATE"),
    ("ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE u WITHOUT VALIDATION", "EXCHANGE"),
    ("ALTER TABLE t DISCARD TABLESPACE", "file"), ("ALTER TABLE t IMPORT PARTITION p0 TABLESPACE", "IMPORT"),
    ("ALTER TABLE t CONVERT PARTITION p0 TO TABLE u", "CONVERT"), ("ALTER TABLE t DROP nothing", "column nothing"),
    ("ALTER TABLE t ADD c INT AFTER nothing", "after nothing"), ("ALTER TABLE t ADD KEY (nothing)", "column nothing"),
])
def test_what_cannot_be_followed(sql, what):
    with pytest.raises(SchemaError, match=what):
        altered("CREATE TABLE t (a INT)", sql)


RANGES = "PARTITION BY RANGE (`a`) (PARTITION `p0` VALUES LESS THAN (1), PARTITION `p1` VALUES LESS THAN MAXVALUE)"


@pytest.mark.parametrize(("before", "statement", "after", "gone"), [
    (RANGES, "DROP PARTITION P0", "RANGE (`a`) (PARTITION `p1` VALUES LESS THAN MAXVALUE)", (0,)),
    (RANGES, "TRUNCATE PARTITION p0, p1", RANGES[13:], (0, 1)),
    (RANGES, "DROP PARTITION IF EXISTS px", RANGES[13:], ()),
    (RANGES, "REORGANIZE PARTITION p0, p1 INTO (PARTITION x VALUES LESS THAN (5) ENGINE = InnoDB COMMENT 'c')",
     "RANGE (`a`) (PARTITION `x` VALUES LESS THAN (5) COMMENT = 'c')", None),
    (RANGES, "REMOVE PARTITIONING", "", None),
    ("", "PARTITION BY HASH (a) PARTITIONS 4", "HASH (a) PARTITIONS 4", None),
    ("", "PARTITION BY KEY ALGORITHM=2 (a) PARTITIONS 3, FORCE", "KEY (`a`) PARTITIONS 3", None),
    ("PARTITION BY LIST (a) (PARTITION p VALUES IN (1, 2))", "ADD PARTITION (PARTITION q VALUES IN (3,NULL))",
     "LIST (a) (PARTITION `p` VALUES IN (1,2), PARTITION `q` VALUES IN (3,NULL))", None),
    ("PARTITION BY LINEAR HASH (a) PARTITIONS 4", "COALESCE PARTITION 3", "LINEAR HASH (a) PARTITIONS 1", None),
    ("PARTITION BY HASH (a) PARTITIONS 4", "ADD PARTITION PARTITIONS 2", "HASH (a) PARTITIONS 6", None),
    ("PARTITION BY RANGE (a) SUBPARTITION BY HASH (a) SUBPARTITIONS 2 (PARTITION p VALUES LESS THAN (1) (SUBPARTITION "
     "s DATA DIRECTORY = '/d', SUBPARTITION t))", "ANALYZE PARTITION ALL", "RANGE (a) SUBPARTITION BY HASH (a) "
     "SUBPARTITIONS 2 (PARTITION `p` VALUES LESS THAN (1) (SUBPARTITION `s`, SUBPARTITION `t`))", None),
    ("PARTITION BY SYSTEM_TIME LIMIT 5 (PARTITION h HISTORY, PARTITION c CURRENT)", "ADD PARTITION PARTITIONS 1",
     "SYSTEM_TIME LIMIT 5 (PARTITION `h` HISTORY, PARTITION `p1` HISTORY, PARTITION `c` CURRENT)", None),
    ("PARTITION BY SYSTEM_TIME INTERVAL 1 HOUR STARTS '2020-01-01 00:00:00' PARTITIONS 4", "DROP PARTITION p0, p1",
     "SYSTEM_TIME INTERVAL 1 HOUR STARTS TIMESTAMP'2020-01-01 02:00:00' (PARTITION `p2` HISTORY, PARTITION `pn` "
     "CURRENT)", (0, 1)),
    ("PARTITION BY SYSTEM_TIME INTERVAL 1 DAY (PARTITION p1 HISTORY, PARTITION pn CURRENT)",
     "ADD PARTITION PARTITIONS 2", "SYSTEM_TIME INTERVAL 1 DAY (PARTITION `p1` HISTORY, PARTITION `p2` HISTORY, "
     "PARTITION `p3` HISTORY, PARTITION `pn` CURRENT)", None),
    ("PARTITION BY RANGE (a) SUBPARTITION BY KEY (a) SUBPARTITIONS 2 (PARTITION p VALUES LESS THAN (1), PARTITION q "
     "VALUES LESS THAN (9))", "TRUNCATE PARTITION qsp1, p", "RANGE (a) SUBPARTITION BY KEY (a) SUBPARTITIONS 2 "
     "(PARTITION `p` VALUES LESS THAN (1), PARTITION `q` VALUES LESS THAN (9))", (3, 0, 1)),
])
def test_partitions(before, statement, after, gone):
    """How a table is divided is kept, and DROP and TRUNCATE say whose rows go."""
    result = altered(f"CREATE TABLE t (a INT) {before}", f"ALTER TABLE t {statement}")
    partitioning = result.definition.partitioning
    assert (partitioning.sql() if partitioning else "PARTITION BY ") == "PARTITION BY " + after
    assert (result.removed and result.removed.numbers) == gone


@pytest.mark.parametrize("statement", [
    "DROP PARTITION p2", "TRUNCATE PARTITION sub",
    "REORGANIZE PARTITION p0, px INTO (PARTITION p9 VALUES LESS THAN (5))"])
def test_partitions_that_are_not_there(statement):
    with pytest.raises(SchemaError, match="not known"):
        altered(f"CREATE TABLE t (a INT) {RANGES}", f"ALTER TABLE t {statement}")


@pytest.mark.parametrize("sql", [
    "ALTER TABLE t ENGINE=InnoDB, COMMENT='a comment; with a semicolon'",
    "ALTER TABLE t FORCE, LOCK=NONE, ALGORITHM=COPY",
    "ALTER TABLE t DISABLE KEYS", "ALTER TABLE t ORDER BY a DESC, b", "ALTER TABLE t ADD PARTITION PARTITIONS 2",
    "ALTER TABLE t REORGANIZE PARTITION p INTO (PARTITION q VALUES LESS THAN (5), PARTITION r VALUES LESS THAN (9))",
    "ALTER TABLE t COALESCE PARTITION 1", "ALTER TABLE t REMOVE PARTITIONING", "ALTER TABLE t",
    "ALTER TABLE t ANALYZE PARTITION ALL", "ALTER TABLE t DROP FOREIGN KEY fk2",
    "ALTER TABLE t ADD CONSTRAINT CHECK (a > 0), DROP CHECK c, DROP CONSTRAINT d, ALTER CHECK e NOT ENFORCED",
    "ALTER TABLE t AVG_ROW_LENGTH = 5 ROW_FORMAT=DYNAMIC, KEY_BLOCK_SIZE=0 STATS_PERSISTENT 1",
    "ALTER TABLE t WAIT 5 FORCE",
    "ALTER TABLE t UNION=(u, v), INSERT_METHOD=LAST", "ALTER TABLE t NOWAIT", "ALTER TABLE t WITHOUT VALIDATION, FORCE",
])
def test_what_leaves_the_definition_as_it_is(sql):
    create = "CREATE TABLE t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB"
    result = altered(create, sql)
    assert replace(result.definition, checks=(), options=()) == parse(create).definition
    assert result.sources == (0, 1) and not result.emptied


def test_where_numbers_begin():
    create = "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT) AUTO_INCREMENT=9"
    assert altered(create, "ALTER TABLE t ADD b INT").definition.first_number == 9
    assert altered(create, "ALTER TABLE t AUTO_INCREMENT = 5, COMMENT 'x'").definition.first_number == 5


def test_rows_go_with_all_partitions():
    assert altered("CREATE TABLE t (a INT)", "ALTER TABLE t TRUNCATE PARTITION ALL").emptied


def test_actions_and_partitions_without_a_comma():
    result = altered("CREATE TABLE t (a INT)", "ALTER TABLE t ADD b INT, ADD KEY (b) PARTITION BY HASH (a)")
    assert names(result) == ["a", "b"]
    assert names(altered("CREATE TABLE t (a INT)", "ALTER TABLE t ADD b INT REMOVE PARTITIONING")) == ["a", "b"]


def test_expressions_follow_renames():
    result = altered("CREATE TABLE t (a INT, b INT AS (a + abs(`a`) + 'a') STORED, KEY ((a * 2)))",
                     "ALTER TABLE t RENAME COLUMN a TO `x y`", flavour="mysql")
    assert result.definition.column("b").expression == "`x y` + abs(`x y`) + 'a'"
    assert result.definition.keys[0].parts[0].expression == "`x y` * 2"


def test_a_timestamps_default_is_a_time():
    """EV-CTX: in the time zone of the session that alters the table."""
    result = altered("CREATE TABLE t (ts TIMESTAMP NULL)", "ALTER TABLE t ALTER ts SET DEFAULT '2021-01-01 00:00:00'",
                     time_zone="-03:00")
    assert result.definition.column("ts").default.text == "2021-01-01 03:00:00"


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("history", [pytest.param(history, id=f"{kind}-{number}") for kind, found in (
    ("alters", HISTORIES), ("checks", CHECKS)) for number, history in enumerate(found)])
def test_what_servers_make_of_alters(history):
    """Issued one after the other to one table: every column, key and constraint, in its place, with all that is shown
    of it."""
    flavour, definition = history["flavour"], None
    for sql, show in history["steps"]:
        change = parse(sql, flavour)
        if isinstance(change, CreateTable):
            definition = change.definition
        else:
            assert isinstance(change, AlterTable), (sql, getattr(change, "reason", None))
            definition = alter(definition, change.actions, change.context).definition
        expected = parse(show, flavour)
        assert isinstance(expected, CreateTable), (show, expected.reason)
        assert shown(definition) == shown(expected.definition), sql


@pytest.mark.parametrize("actions", [
    "MODIFY v VARCHAR(12) NOT NULL FIRST, ALTER v SET DEFAULT 'x,y'",
    "ALTER v SET DEFAULT 'x,y', MODIFY v VARCHAR(12) NOT NULL FIRST"])
def test_mariadb_sets_the_default_of_a_column_that_it_moves(actions):
    """As MariaDB 10.5, 10.11 and 11.8 do; without FIRST or AFTER, and on MySQL 9.7, the statement fails."""
    made = altered("CREATE TABLE d.m (n INT PRIMARY KEY, v VARCHAR(9) DEFAULT 'o')", f"ALTER TABLE d.m {actions}",
                   flavour="mariadb").definition
    assert [(column.name, column.default and column.default.text) for column in made.columns] == [("v", "x,y"),
                                                                                                  ("n", None)]
