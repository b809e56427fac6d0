"""CHECK constraints and options of tables and keys in definitions; real servers judge ALTERs in recorded/schema."""

from types import SimpleNamespace

import pytest

from applier.errors import SchemaError
from applier.io.typed_json import Mismatch
from applier.schema.checks import keeps_checks
from applier.schema.ddl.ddl import parse_statement
from applier.schema.definition import TableDefinition
from applier.schema.history import in_place
from applier.schema.history.alter import alter
from applier.schema.history.conversion import RowConversion
from applier.schema.history.history import SchemaHistory

CREATE = "CREATE TABLE t (a INT CHECK (a > 0), j JSON, CONSTRAINT own CHECK (a < 9)) COMMENT 'c' ROW_FORMAT=DYNAMIC"


def definition_after(*statements, flavour="mysql", name="t", server_version=""):
    history = SchemaHistory(flavour, files=["binlog.000001"], server_version=server_version)
    context = {"charset_server": 255, "sql_mode": 0} if flavour == "mysql" else {"charset_server": 8}
    for number, sql in enumerate(statements):
        history.apply(SimpleNamespace(sql=sql, database="d", context=context, timestamp=0, gtid=None,
                                      sequences=()),
                      (0, number * 100), (0, number * 100 + 50))
    return next(one for one in history.definitions() if one.name == name)


def checks(definition):
    return {check.name: check.expression for check in definition.checks}


def test_names_that_mysql_makes_follow_the_table():
    """Also where the statement that renames the table adds constraints; names that people gave stay."""
    assert checks(definition_after(CREATE, "RENAME TABLE t TO u", name="u")) == {"u_chk_1": "a > 0", "own": "a < 9"}
    assert checks(definition_after(CREATE, "ALTER TABLE t RENAME u, ADD CHECK (a <> 5)", name="u")) == {
        "u_chk_1": "a > 0", "own": "a < 9", "u_chk_2": "a <> 5"}


def test_a_table_like_another():
    """MySQL names all constraints again, MariaDB keeps them; both keep the options."""
    like = definition_after(CREATE, "CREATE TABLE u LIKE t", name="u")
    assert checks(like) == {"u_chk_1": "a > 0", "u_chk_2": "a < 9"}
    assert dict(like.options) == {"COMMENT": "c", "ROW_FORMAT": "DYNAMIC"}
    like = definition_after(CREATE, "CREATE TABLE u LIKE t", name="u", flavour="mariadb")
    assert checks(like) == {"own": "a < 9"}
    assert [column.check for column in like.columns] == ["a > 0", "json_valid(`j`)"]


@pytest.mark.parametrize(("flavour", "version", "are_kept"), [
    ("mysql", "8.0.15", False), ("mysql", "8.0.16", True), ("mysql", "5.7.44-log", False), ("mysql", "9.7.0", True),
    ("mariadb", "10.1.48-MariaDB", False), ("mariadb", "5.5.5-10.2.44-MariaDB", True), ("mariadb", "11.8.2", True),
    ("mysql", "", True),
])
def test_servers_that_forget_constraints(flavour, version, are_kept):
    """An export with them would refuse rows that such a server holds."""
    assert keeps_checks(flavour, version) == are_kept
    definition = definition_after(CREATE, "ALTER TABLE t ADD CHECK (a <> 3)", flavour=flavour, server_version=version)
    assert any(check.name == "own" for check in definition.checks) == are_kept
    assert ("CHECK" in definition.to_sql()) == are_kept


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_what_a_definition_makes_is_the_same_definition(flavour):
    """Read back from CREATE TABLE, and from a manifest."""
    sql = ("CREATE TABLE t (a INT COMMENT 'x' CHECK (a > 0), b VARCHAR(20), j JSON, "
           "UNIQUE KEY u (b) USING BTREE COMMENT 'it''s', FULLTEXT KEY f (b) WITH PARSER ngram, "
           "CHECK (a < 5 OR b = '(')) COMMENT 'a;b\\'' MAX_ROWS=7")
    if flavour == "mariadb":
        sql += " WITH SYSTEM VERSIONING"
    definition = definition_after(sql.replace("TABLE t", "TABLE d.t"), flavour=flavour)
    assert definition_after(definition.to_sql(), flavour=flavour) == definition
    assert TableDefinition.from_json(definition.to_json()) == definition


[COLUMN] = definition_after("CREATE TABLE d.t (a INT)").to_json()["columns"]


@pytest.mark.parametrize("change", [
    {"checks": [{"name": "c", "expression": "a > 0) ENGINE=x --", "enforced": True}]},
    {"checks": [{"name": name, "expression": "a", "enforced": True} for name in "cC"]},
    {"options": [["ROW_FORMAT", "x; DROP"]]}, {"options": [["DATA DIRECTORY", "x"]]},
    {"options": [["MAX_ROWS", "1 x"]]},
    {"options": [["MAX_ROWS", "1"], ["MAX_ROWS", "2"]]},
    {"columns": [COLUMN | {"default": {"kind": "expression", "text": "1) ENGINE=x --"}}]},
    {"columns": [COLUMN | {"default": {"kind": "number", "text": "1) ENGINE=x --"}}]},
])
def test_a_manifest_that_a_server_could_not_have_made(change):
    """What is printed unquoted is a word, a number or one expression."""
    document = definition_after("CREATE TABLE d.t (a INT)").to_json() | change
    with pytest.raises((SchemaError, Mismatch)):
        TableDefinition.from_json(document)


@pytest.mark.parametrize(("before", "after", "is_in_place"), [
    ("JSON", "MODIFY x LONGTEXT", False), ("JSON", "MODIFY x LONGTEXT COLLATE utf8mb4_bin", False),
    ("JSON", "MODIFY x JSON COMMENT 'a'", True), ("JSON", "CHANGE x y JSON", True),
    ("LONGTEXT COLLATE utf8mb4_bin CHECK (json_valid(x))", "MODIFY x JSON", True),
    ("LONGTEXT COLLATE utf8mb4_bin CHECK (JSON_VALID(`x`))", "MODIFY x JSON", True),
    ("LONGTEXT COLLATE utf8mb4_bin", "MODIFY x JSON", False), ("JSON CHECK (x <> 'b')", "MODIFY x JSON", False),
    ("LONGTEXT CHECK (json_valid(x))", "ADD y INT", True), ("LONGTEXT", "MODIFY x LONGTEXT CHECK (x <> 'x')", True),
])
def test_json_is_a_type_of_its_own_to_mariadb(before, after, is_in_place):
    """ALGORITHM=INPLACE was asked of MariaDB 10.5, 10.11 and 11.8."""
    create = f"CREATE TABLE d.t (n INT PRIMARY KEY, x {before}) ENGINE=InnoDB CHARSET=utf8mb4"
    definition = parse_statement(create, flavour="mariadb")[0].definition
    [change] = parse_statement(f"ALTER TABLE d.t {after}", flavour="mariadb")
    altered = alter(definition, change.actions, change.context)
    conversion = RowConversion(definition, altered.definition, altered.sources, sql=f"ALTER TABLE d.t {after}")
    assert in_place.is_in_place(conversion) == is_in_place


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_what_follows_a_columns_constraint(flavour):
    """NOT may begin NOT NULL as well as NOT ENFORCED."""
    definition = definition_after("CREATE TABLE t (a INT CHECK (a > 0) NOT NULL DEFAULT 1)", flavour=flavour)
    [column] = definition.columns
    assert (column.nullable, column.default.text, "CHECK (a > 0)" in definition.to_sql()) == (False, "1", True)


@pytest.mark.parametrize(("option", "kept"), [
    ("STATS_SAMPLE_PAGES=0x10", "16"), ("MAX_ROWS=99999999999999999999999", None), ("PAGE_COMPRESSED=ON", None),
    ("PACK_KEYS=1.0", None), ("MIN_ROWS=1e3", None), ("ROW_FORMAT='compact'", "COMPACT"),
    ("`PAGE_COMPRESSED`='1'", "1"),
    ("PACK_KEYS=default", None), ("COMPRESSION=zlib", "zlib")])
def test_options_that_are_written_in_other_ways(option, kept):
    """They stop no replay: what a server would not show so is left out."""
    definition = definition_after(f"CREATE TABLE t (a INT) {option}", flavour="mariadb")
    assert next(iter(dict(definition.options).values()), None) == kept


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_constraints_with_undecodable_bytes_stop_no_replay(flavour):
    sql = "CREATE TABLE t (a CHAR(9) CHECK (a <> '\udce9'), CHECK (a <> 'x\udce9'), CHECK (a <> 'é'))"
    definition = definition_after(sql, flavour=flavour)
    assert list(checks(definition).values()) == ["a <> 'é'"] and definition.columns[0].check is None
