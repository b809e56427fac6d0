"""Definitions compare by meaning: whatever servers do not merely show in another way is a difference."""

import pytest

from applier.columns.definition_differences import differences, same_columns
from applier.schema.ddl.ddl import parse_statement
from applier.sql.same_expressions import same_expressions

TABLE = "a INT NOT NULL, b VARCHAR(9) DEFAULT '1', c INT, d INT AS (a + c)"


def table(words, options="", flavour="mysql"):
    [change] = parse_statement(f"CREATE TABLE d.t ({words}) {options}", server_charset="utf8mb4", flavour=flavour)
    return change.definition


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("before, after, notes", [
    (TABLE, TABLE.replace("NOT NULL", "NULL"), ("a was altered (NOT NULL)",)),
    (TABLE, TABLE.replace("'1'", "'01'"), ("b was altered (default)",)),
    (TABLE, TABLE.replace("'1'", "1"), ()),
    (TABLE, TABLE.replace("'1'", "NULL"), ("b was altered (default)",)),
    (TABLE, TABLE.replace("c INT", "c INT DEFAULT 0"), ("c was altered (default)",)),
    (TABLE, TABLE.replace("c INT", "c INT(4)"), ()),
    (TABLE, TABLE.replace("c INT", "c INT(4) ZEROFILL"),
     ("c is int(4) unsigned zerofill, and was int",)),
    (TABLE, TABLE.replace("a + c", "c + a"), ("d was altered (expression)",)),
    (TABLE, TABLE.replace("a + c", "(`A`+(`c`))"), ()),
    (TABLE, TABLE.replace("(a + c)", "(a + c) STORED"), ("d was altered (generated)",)),
    (TABLE, TABLE.replace("c INT", "c INT COMMENT 'x'"), ("c was altered (comment)",)),
    (TABLE, TABLE + ", KEY (c)", ("key c was added",)),
    (TABLE + ", KEY (c)", TABLE + ", UNIQUE KEY (c)", ("key c was altered",)),
    (TABLE + ", KEY k (b(3))", TABLE + ", KEY k (b(4))", ("key k was altered",)),
    (TABLE + ", KEY k (a, c)", TABLE + ", KEY k (c, a)", ("key k was altered",)),
    (TABLE + ", KEY k (a), KEY l (c)", TABLE + ", KEY l (c), KEY k (a)", ()),
    (TABLE + ", FOREIGN KEY (c) REFERENCES p (x)", TABLE + ", KEY c (c), FOREIGN KEY (c) REFERENCES p (x)", ()),
    (TABLE + ", KEY k (c, a), FOREIGN KEY (c) REFERENCES p (x)",
     TABLE + ", KEY k (c, a), KEY c (c), FOREIGN KEY (c) REFERENCES p (x)", ("key c was added",)),
    (TABLE + ", FOREIGN KEY (c) REFERENCES p (x)",
     TABLE + ", FOREIGN KEY (c) REFERENCES p (x) ON DELETE CASCADE",
     ("foreign key t_ibfk_1 was added", "foreign key t_ibfk_1 was dropped")),
    (TABLE + ", CONSTRAINT one FOREIGN KEY (c) REFERENCES p (x)",
     TABLE + ", CONSTRAINT other FOREIGN KEY (c) REFERENCES p (x)",
     ("foreign key other was added", "foreign key one was dropped")),
    (TABLE, TABLE.replace("c INT, d", "d").replace("a + c", "a") + ", c INT",
     ("d was altered (expression)", "its columns are in another order")),
])
def test_columns_and_keys(flavour, before, after, notes):
    sides = table(before, flavour=flavour), table(after, flavour=flavour)
    assert differences(*sides) == notes
    assert bool(differences(*reversed(sides))) == bool(notes)
    assert same_columns(*sides) == (not any("zerofill" in note or "(generated)" in note for note in notes))


@pytest.mark.parametrize("before, after, notes", [
    ("", "ENGINE=InnoDB ROW_FORMAT=DYNAMIC AUTO_INCREMENT=7", ()),
    ("ENGINE=InnoDB", "ENGINE=MyISAM", ("the engine is MyISAM, and was InnoDB",)),
    ("CHARSET=latin1", "CHARSET=latin1 COLLATE=latin1_bin",
     ("the default collation is latin1_bin, and was latin1_swedish_ci",)),
    ("", "PARTITION BY HASH (a) PARTITIONS 2", ("its partitions were added",)),
    ("PARTITION BY HASH (a) PARTITIONS 2", "PARTITION BY HASH (`a`) (PARTITION p0, PARTITION p1)", ()),
    ("PARTITION BY HASH (a) PARTITIONS 2", "PARTITION BY HASH (a) PARTITIONS 3", ("its partitions were altered",)),
    ("PARTITION BY HASH (a) PARTITIONS 2", "PARTITION BY HASH (a + 1) PARTITIONS 2", ("its partitions were altered",)),
    ("PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (5))",
     "PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (2 + 3))", ()),
    ("PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (5))",
     "PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (6))", ("its partitions were altered",)),
    ("PARTITION BY LIST (a) (PARTITION p VALUES IN (5, NULL))",
     "PARTITION BY LIST (a) (PARTITION p VALUES IN (NULL,5))", ()),
])
def test_options_and_partitions(before, after, notes):
    assert differences(table("a INT", before), table("a INT", after)) == notes


@pytest.mark.parametrize("one, other, same", [
    ("not (a and b > 1)", "((0 = `a`) or (`b` <= 1))", True), ("not a", "`a` = 0", True),
    ("a or b", "(0 <> `a`) or (`b` <> 0)", True), ("a > b", "`b` < `a`", True), ("a - b", "b - a", False),
    ("a and b and c", "a and (b and c)", True), ("(a + b) * c", "a + b * c", False),
    ("if(a, 1, 2)", "if(a <> 0,1,2)", True), ("if(a, 1, b)", "if(a, 1, b <> 0)", False),
    ("case when a then 1 else b end", "case when a <> 0 then 1 else b end", True),
    ("case when a then 1 else b end", "case when a then 1 else b <> 0 end", False),
    ("concat(a, 'x')", "concat(`a`,_utf8mb4'x')", True), ("concat(a, 'x')", "concat(`a`,_utf8mb4'X')", False),
    ("cast(a as char)", "cast(`a` as char charset utf8mb4)", True),
    ("cast(a as char)", "cast(`a` as char charset latin1)", False), ("a in (1, 2)", "a in (2, 1)", False),
    ("a regexp 'x'", "regexp_like(`a`,_utf8mb4'x')", True), ("unknown(a b)", "UNKNOWN(`a` `b`)", True),
    ("unknown(a b)", "unknown(a c)", False), ("a = b", "a <> b", False), ("1.0", "1", False), ("true", "1", True)])
def test_expressions(one, other, same):
    assert same_expressions(one, other) == same_expressions(other, one) == same


@pytest.mark.parametrize(("before", "after", "notes"), [
    ("a INT CHECK (a > 0)", "a INT, CONSTRAINT `t_chk_1` CHECK ((`a` > 0))", ()),
    ("a INT CHECK (a > 0)", "a INT", ("CHECK t_chk_1 was dropped",)),
    ("a INT", "a INT, CONSTRAINT c CHECK (a > 0) NOT ENFORCED", ("CHECK c was added",)),
    ("a INT, CONSTRAINT c CHECK (a > 0)", "a INT, CONSTRAINT c CHECK (a > 1)",
     ("CHECK c was added", "CHECK c was dropped")),
    ("a VARCHAR(9) CHECK (a <> 'x')", "a VARCHAR(9), CONSTRAINT `t_chk_1` CHECK ((`a` <> _utf8mb4'x'))", ())])
def test_constraints(before, after, notes):
    assert differences(table(before), table(after)) == notes


@pytest.mark.parametrize(("before", "after", "notes"), [
    ("COMMENT='it''s'", "COMMENT='it''s'", ()), ("COMMENT='a'", "", ("COMMENT is not set, and was a",)),
    ("ROW_FORMAT=compressed KEY_BLOCK_SIZE=8", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8", ()),
    ("MAX_ROWS=0 CHECKSUM=0", "", ()), ("STATS_PERSISTENT=0", "", ("STATS_PERSISTENT is not set, and was 0",)),
    ("STATS_AUTO_RECALC=DEFAULT", "", ()), ("", "ROW_FORMAT=DYNAMIC", ())])
def test_options(before, after, notes):
    assert differences(table("a INT", before), table("a INT", after)) == notes
