"""CREATE TABLE as real servers understood it: information_schema of recorded cases judges names and types."""

import json
import re

import pytest

from applier.errors import SchemaError
from applier.mysql.character_sets.collations import Charset
from applier.mysql.types import ColumnType
from applier.schema.checks import Check
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.history import SchemaHistory
from applier.schema.table_parts import Column, Default, Key, KeyPart
from tests.support.folders import CASES

# Cases whose tables no ALTER or CREATE … SELECT touches, with the file that has the tables of `expected`.
WHOLE = {
    "mysql-types-number-time": "source.sql", "mysql-types-text": "source.sql", "mysql-types-json": "source.sql",
    "mysql-charsets": "source.sql", "mariadb-types": "source.sql", "mariadb-types-text": "source.sql",
    "mariadb-old-temporal": "source.sql", "wide-tables-mysql": "source.sql", "key-moves-full": "source.sql",
    "target-columns-full": "target.sql", "mariadb-target-columns-full": "target.sql",
    "target-notnull-extra": "target.sql", "target-notnull-extra-json": "target.sql",
    "target-notnull-extra-dates": "target.sql",
}


def shown(column_type):
    """A type without integers' display widths, which MySQL 8 no longer shows, and MariaDB always does."""
    plain = re.sub(r" /\*.*?\*/", "", column_type)
    return plain if plain == "tinyint(1)" else re.sub(r"^((?:tiny|small|medium|big)?int|year)\(\d+\)", r"\1", plain)


@pytest.mark.parametrize(("case", "file"), WHOLE.items())
def test_columns_of_recorded_tables(case, file):
    folder = CASES / case
    flavour = json.loads((folder / "case.json").read_text())["server"]
    history = SchemaHistory(flavour)
    statements = re.sub(r"(?m)^-- @.*$", "", (folder / file).read_text())
    history.load_schema_file(statements)
    found = {definition.full_name: definition for definition in history.definitions()}
    expected = {path.name.removesuffix(".jsonl"): path for path in (folder / "expected").glob("*.jsonl")}
    assert found.keys() == expected.keys()
    for name, path in expected.items():
        with path.open() as lines:
            columns = json.loads(lines.readline())
        assert [(column.name, shown(column.type.column_type)) for column in found[name].stored_columns] == [
            (column, shown(kind)) for column, kind in columns]


def test_synonyms_and_comments():
    """The table `syn` of ddl-mysql-names has every spelling of a type; `c1` has comments of all sorts."""
    text = (CASES / "ddl-mysql-names/source.sql").read_text()
    for name in ("syn", "c1"):
        statement = re.search(r"CREATE [^;(]*TABLE [^(]*\b" + name + r" \(.*?\n\)[^\n]*;" if name == "syn" else
                              r"CREATE /\* a comment.*?\n\)[^\n]*;", text, re.DOTALL)[0]
        [change] = parse_statement(statement, default_database="odd db-1")
        with (CASES / f"ddl-mysql-names/expected/odd db-1.{name}.jsonl").open() as lines:
            columns = [(column, shown(kind)) for column, kind in json.loads(lines.readline())
                       if column != "w" or name == "syn"]  # an ALTER adds it to c1
        assert [(column.name, shown(column.type.column_type)) for column in change.definition.columns] == columns


def table(body, after="", **session):
    session = {"default_database": "d", **session}
    [change] = parse_statement(f"CREATE TABLE t ({body}){after}", **session)
    return change.definition


def column(text, **session):
    return table(text, **session).columns[0]


UTF8MB4 = {"charset": "utf8mb4", "collation": "utf8mb4_0900_ai_ci"}


@pytest.mark.parametrize(("text", "expected"), [
    ("FLOAT(24)", ColumnType("float")),
    ("FLOAT(25) UNSIGNED", ColumnType("double", unsigned=True)),
    ("DOUBLE(12,4)", ColumnType("double", precision=12, scale=4)),
    ("INT(10) ZEROFILL", ColumnType("int", length=10, unsigned=True, zerofill=True)),
    ("NUMERIC", ColumnType("decimal", precision=10, scale=0)),
    ("CHAR(4) CHARSET binary", ColumnType("binary", length=4)),
    ("TEXT CHARACTER SET binary", ColumnType("blob")),
    ("TEXT(63)", ColumnType("tinytext", **UTF8MB4)),
    ("TEXT(64)", ColumnType("text", **UTF8MB4)),
    ("BLOB(65536)", ColumnType("mediumblob")),
    ("VARCHAR(20000)", ColumnType("mediumtext", **UTF8MB4)),
    ("VARCHAR(5) BINARY", ColumnType("varchar", length=5, charset="utf8mb4", collation="utf8mb4_bin")),
    ("VARCHAR(5) COLLATE utf8_bin", ColumnType("varchar", length=5, charset="utf8mb3", collation="utf8mb3_bin")),
    ("CHAR(5) ASCII", ColumnType("char", length=5, charset="latin1", collation="latin1_swedish_ci")),
    ("ENUM('a  ','it''s', 'c') CHARACTER SET latin1",
     ColumnType("enum", members=("a", "it's", "c"), charset="latin1", collation="latin1_swedish_ci")),
    ("GEOMETRYCOLLECTION SRID 4326", ColumnType("geomcollection", srid=4326)),
    ("VECTOR", ColumnType("vector", length=2048)),
    ("TIME(3)", ColumnType("time", fsp=3)),
    ("YEAR(4)", ColumnType("year")),
    ("BIT", ColumnType("bit", length=1)),
])
def test_types(text, expected):
    assert column(f"v {text}").type == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("JSON", ColumnType("longtext", charset="utf8mb4", collation="utf8mb4_bin")),
    ("VARCHAR(9) CHARACTER SET latin1 COMPRESSED",
     ColumnType("varchar", length=9, charset="latin1", collation="latin1_swedish_ci", compressed=True)),
    ("BLOB COMPRESSED=zlib", ColumnType("blob", compressed=True)),
    ("POINT REF_SYSTEM_ID=4326", ColumnType("point", srid=4326)),
    ("INET6", ColumnType("inet6")),
    ("UUID", ColumnType("uuid")),
    ("VARCHAR(3)", ColumnType("varchar", length=3, charset="utf8mb4", collation="utf8mb4_general_ci")),
])
def test_types_of_mariadb(text, expected):
    assert column(f"v {text}", flavour="mariadb").type == expected


def test_character_sets_are_inherited():
    """Column from table, table from database, database from server (manual: "Character Set Defaults")."""
    databases = {"d": Charset("latin1", "latin1_bin")}
    assert column("v CHAR(1)", databases=databases).type.collation == "latin1_bin"
    assert column("v CHAR(1)", databases={}, server_charset="cp1251").type.charset == "cp1251"
    definition = table("v CHAR(1), w CHAR(1) CHARACTER SET latin1, x CHAR(1) COLLATE utf8mb4_bin", " CHARSET=utf8mb4",
                       databases=databases)
    assert [c.type.collation for c in definition.columns] == ["utf8mb4_0900_ai_ci", "latin1_swedish_ci", "utf8mb4_bin"]
    assert (definition.charset, definition.collation) == ("utf8mb4", "utf8mb4_0900_ai_ci")
    assert table("v CHAR(1)", " COLLATE utf8mb4_bin", databases=databases).charset == "utf8mb4"


@pytest.mark.parametrize(("text", "expected"), [
    ("INT DEFAULT - 5", Default("number", "-5")),
    ("INT DEFAULT TRUE", Default("number", "1")),
    ("CHAR(9) DEFAULT 'a' 'b'", Default("string", "ab")),
    ("BIT(9) DEFAULT b'101'", Default("bytes", "05")),
    ("BINARY(2) DEFAULT 0xA", Default("bytes", "0a")),
    ("CHAR(2) DEFAULT _latin1'x'", Default("string", "x")),
    ("DATE DEFAULT DATE'2020-01-02'", Default("string", "2020-01-02")),
    ("DATETIME(3) DEFAULT NOW(3)", Default("now", "CURRENT_TIMESTAMP(3)")),
    ("DATETIME DEFAULT LOCALTIME()", Default("now", "CURRENT_TIMESTAMP")),
    ("INT DEFAULT (1 + (2) /* three */)", Default("expression", "1 + (2)")),
    ("CHAR(36) DEFAULT uuid()", Default("expression", "uuid()")),
    ("INT DEFAULT NULL", Default("null")),
    ("INT", None),
])
def test_defaults(text, expected):
    assert column(f"v {text}").default == expected


@pytest.mark.parametrize(("zone", "expected"), [
    ("+00:00", Default("string", "2020-06-01 12:00:00")),
    ("-05:30", Default("string", "2020-06-01 17:30:00")),
    ("Europe/Rome", Default("string", "2020-06-01 10:00:00")),
    ("SYSTEM", Default("local", "2020-06-01 12:00:00")),
])
def test_timestamp_defaults_are_in_the_sessions_zone(zone, expected):
    assert column("ts TIMESTAMP NULL DEFAULT '2020-06-01 12:00:00'", time_zone=zone).default == expected
    zero = column("ts TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00'", time_zone=zone).default
    assert zero.text == "0000-00-00 00:00:00"


def test_timestamps_without_explicit_defaults():
    definition = table("a TIMESTAMP, b TIMESTAMP(3), c TIMESTAMP NULL, d TIMESTAMP DEFAULT '2020-01-01 00:00:00'",
                       explicit_timestamps=False)
    a, b, c, d = definition.columns
    assert (a.nullable, a.default, a.on_update) == (False, Default("now", "CURRENT_TIMESTAMP"), "CURRENT_TIMESTAMP")
    assert (b.nullable, b.default.text, b.on_update) == (False, "0000-00-00 00:00:00", None)
    assert (c.nullable, c.default) == (True, None)
    assert (d.nullable, d.default.text) == (False, "2020-01-01 00:00:00")


def test_attributes_in_any_order():
    made = column("g INT COMMENT 'x' GENERATED ALWAYS AS (`a` + 1) STORED INVISIBLE NOT NULL CHECK (g > 0) UNSIGNED,"
                  " a INT")
    assert made == Column("g", ColumnType("int", unsigned=True), False, generated="stored", expression="`a` + 1",
                          invisible=True, comment="x")
    assert column("v INT AS (1) PERSISTENT", flavour="mariadb").generated == "stored"
    assert column("v INT AS (1)").generated == "virtual"
    stamp = column("v DATETIME(2) DEFAULT NOW(2) ON UPDATE CURRENT_TIMESTAMP(2) COLUMN_FORMAT DYNAMIC")
    assert stamp.on_update == "CURRENT_TIMESTAMP(2)"


def test_keys():
    definition = table(
        "a INT NULL, B INT REFERENCES p (id) ON DELETE SET NULL, c TEXT, s SERIAL, PRIMARY KEY USING BTREE (b DESC),"
        " KEY (A), INDEX (a, c(10)) COMMENT 'x', UNIQUE KEY u ((a + 1)), CONSTRAINT uq UNIQUE (a) INVISIBLE,"
        " FULLTEXT KEY ft (c) WITH PARSER ngram, CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)"
        " ON UPDATE CASCADE ON DELETE NO ACTION,"
        " CONSTRAINT CHECK (a > 0) NOT ENFORCED", " ENGINE=MyISAM ROW_FORMAT=DYNAMIC COMMENT='PRIMARY KEY (v)'")
    assert definition.keys == (
        Key("PRIMARY", "primary", (KeyPart("B", None, True),), options=(("USING", "BTREE"),)),
        Key("s", "unique", (KeyPart("s"),)),
        Key("u", "unique", (KeyPart(None, None, False, "a + 1"),)),
        Key("uq", "unique", (KeyPart("a"),), visible=False),
        Key("a", "key", (KeyPart("a"),)),
        Key("a_2", "key", (KeyPart("a"), KeyPart("c", 10)), options=(("COMMENT", "x"),)),
        Key("ft", "fulltext", (KeyPart("c"),), options=(("PARSER", "ngram"),)),
    )
    assert definition.checks == (Check("t_chk_1", "a > 0", enforced=False),)
    assert dict(definition.options) == {"ROW_FORMAT": "DYNAMIC", "COMMENT": "PRIMARY KEY (v)"}
    assert [c.nullable for c in definition.columns] == [True, False, True, False]
    assert definition.engine == "MyISAM"


@pytest.mark.parametrize("partitions", [
    "PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (2000), PARTITION pm VALUES LESS THAN MAXVALUE)",
    "PARTITION BY HASH (a) PARTITIONS 4", "/*!50100 PARTITION BY KEY (a) SUBPARTITION BY HASH (a) */",
    "UNION=(x, y) DATA DIRECTORY='/x' AUTO_INCREMENT 5, AVG_ROW_LENGTH=3 START TRANSACTION",
])
def test_options_and_partitions_change_no_columns(partitions):
    assert [c.name for c in table("a INT", f" {partitions}").columns] == ["a"]


def test_types_in_mariadbs_oracle_mode():
    """As SHOW CREATE TABLE of MariaDB 10.11 had it."""
    columns = ("a DATE, b BLOB, c CLOB, d RAW(9), e VARCHAR2(7), f NUMBER, g NUMBER(5), h NUMBER(7,2), i BLOB(10), "
               "j mariadb_schema.date, k CHAR(3), l TEXT")
    [change] = parse_statement(f"CREATE TABLE d.t ({columns})", flavour="mariadb", sql_mode="ANSI_QUOTES,ORACLE")
    assert [column.type.sql("mariadb").partition(" ")[0] for column in change.definition.columns] == [
        "datetime", "longblob", "longtext", "varbinary(9)", "varchar(7)", "double", "decimal(5,0)", "decimal(7,2)",
        "tinyblob", "date", "char(3)", "text"]


def test_sql_mode():
    definition = table("\"a b\" REAL DEFAULT '1\\'", sql_mode="ANSI_QUOTES,REAL_AS_FLOAT,NO_BACKSLASH_ESCAPES")
    assert definition.columns[0] == Column("a b", ColumnType("float"), default=Default("string", "1\\"))


def test_an_old_servers_utf8mb4():
    old = column("v CHAR(1) CHARACTER SET utf8mb4", default_collations={"utf8mb4": "utf8mb4_general_ci"})
    assert old.type.collation == "utf8mb4_general_ci"


def test_errors_show_the_place():
    [change] = parse_statement("CREATE TABLE d.t (a INT WHATEVER 3)")
    assert "WHATEVER 3" in change.reason
    with pytest.raises(SchemaError, match="name was expected"):
        parse_statement("CREATE TABLE 3.5 (a INT)")
