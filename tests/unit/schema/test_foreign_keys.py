"""Foreign keys in the schema history, as SHOW CREATE TABLE of MySQL 9.7 and MariaDB 10.11 has them (AP-FK)."""

import json

import pytest

from applier.mysql.client_sql import HEAD
from applier.schema.definition import TableDefinition
from applier.schema.foreign_keys import honours_inline_references
from applier.schema.history.history import SchemaHistory
from applier.schema.schema_file import schema_file

STATEMENTS = """
USE n;
CREATE TABLE p (id INT PRIMARY KEY, c VARCHAR(10), UNIQUE (c));
CREATE TABLE t1 (id INT PRIMARY KEY, p INT, up INT, FOREIGN KEY idxname (p) REFERENCES p (id) ON DELETE CASCADE,
                 CONSTRAINT FOREIGN KEY i2 (up) REFERENCES t1 (id));
CREATE TABLE t2 (id INT PRIMARY KEY, p INT REFERENCES p (id) ON DELETE CASCADE, q INT,
                 CONSTRAINT t2_ibfk_7 FOREIGN KEY (q) REFERENCES p (id));
ALTER TABLE t2 ADD FOREIGN KEY nm (p) REFERENCES p (id) ON DELETE SET NULL;
RENAME TABLE t2 TO t3;
RENAME TABLE p TO m.pp;
ALTER TABLE m.pp RENAME COLUMN id TO key_;
CREATE TABLE t4 LIKE t3;
CREATE TABLE m.t5 (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES pp (key_));
USE m;
CREATE TABLE n.t6 (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES t1 (id));
RENAME TABLE m.t5 TO n.t5;
ALTER TABLE n.t3 DROP CONSTRAINT t3_ibfk_7;
CREATE TABLE n.o (id INT PRIMARY KEY, a INT,
    CONSTRAINT UPPER FOREIGN KEY (a) REFERENCES n.nothere (id) ON DELETE SET DEFAULT);
ALTER TABLE n.o RENAME COLUMN a TO b, ADD CONSTRAINT x FOREIGN KEY (b) REFERENCES n.t1 (id)
    ON UPDATE NO ACTION ON DELETE CASCADE, DROP CONSTRAINT UPPER;
"""
BOTH = {
    "n.t4": [],
    "n.t5": ["CONSTRAINT `t5_ibfk_1` FOREIGN KEY (`a`) REFERENCES `m`.`pp` (`key_`)"],
    "n.t6": ["CONSTRAINT `t6_ibfk_1` FOREIGN KEY (`a`) REFERENCES `n`.`t1` (`id`)"],
    "n.o": ["CONSTRAINT `x` FOREIGN KEY (`b`) REFERENCES `n`.`t1` (`id`) ON DELETE CASCADE"],
}
SERVERS = {
    ("mysql", "9.7.4"): BOTH | {
        "n.t1": ["CONSTRAINT `t1_ibfk_1` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE CASCADE",
                 "CONSTRAINT `t1_ibfk_2` FOREIGN KEY (`up`) REFERENCES `n`.`t1` (`id`)"],
        "n.t3": ["CONSTRAINT `t3_ibfk_1` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE CASCADE",
                 "CONSTRAINT `t3_ibfk_8` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE SET NULL"]},
    ("mariadb", "10.11.19-MariaDB"): BOTH | {
        "n.o": ["CONSTRAINT `x` FOREIGN KEY (`b`) REFERENCES `n`.`t1` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION"],
        "n.t1": ["CONSTRAINT `idxname` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE CASCADE",
                 "CONSTRAINT `i2` FOREIGN KEY (`up`) REFERENCES `n`.`t1` (`id`)"],
        "n.t3": ["CONSTRAINT `t3_ibfk_1` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE CASCADE",
                 "CONSTRAINT `nm` FOREIGN KEY (`p`) REFERENCES `m`.`pp` (`key_`) ON DELETE SET NULL"]},
}


@pytest.fixture(params=SERVERS, ids=lambda server: server[0])
def history(request):
    history = SchemaHistory(request.param[0], server_version=request.param[1])
    history.load_schema_file(STATEMENTS)
    return history


def keys(history):
    return {table.full_name: sorted(key.sql() for key in table.foreign_keys) for table in history.definitions()}


def test_foreign_keys_follow_the_statements(history):
    """Names that the server makes, columns and tables renamed, references beside a column, dropped constraints."""
    expected = next(tables for (flavour, _), tables in SERVERS.items() if flavour == history.flavour)
    assert keys(history) == {name: sorted(sql) for name, sql in expected.items()} | {"m.pp": []}


def test_a_schema_file_and_a_manifest_keep_them(history):
    text = schema_file(history.definitions())
    assert text.startswith(HEAD + "SET foreign_key_checks = 0;\n")
    again = SchemaHistory(history.flavour)
    again.load_schema_file(text)
    assert keys(again) == keys(history)
    for table in history.definitions():
        assert TableDefinition.from_json(json.loads(json.dumps(table.to_json()))) == table


def test_a_cascade_that_comes_or_goes_makes_a_version():
    history = SchemaHistory("mysql")
    history.load_schema_file("CREATE TABLE d.t (id INT PRIMARY KEY, p INT)")
    for sql, versions in (("ALTER TABLE d.t ADD CONSTRAINT a FOREIGN KEY (p) REFERENCES q (id)", 1),
                          ("ALTER TABLE d.t ADD CONSTRAINT b FOREIGN KEY (p) REFERENCES q (id) ON DELETE CASCADE", 2),
                          ("ALTER TABLE d.t DROP FOREIGN KEY a", 2), ("ALTER TABLE d.t DROP FOREIGN KEY b", 3)):
        history.load_statement(sql, database=None, sql_mode="", time_zone="+00:00")
        assert len(history.versions()) == versions, sql


@pytest.mark.parametrize(("flavour", "version", "honours"), [
    ("mysql", "8.4.3", False), ("mysql", "9.0.1-log", True), ("mariadb", "10.4.30-MariaDB-log", False),
    ("mariadb", "5.5.5-10.11.2-MariaDB", True), ("mysql", "", False)])
def test_references_beside_a_column(flavour, version, honours):
    assert honours_inline_references(flavour, version) == honours


@pytest.mark.parametrize("engine", ["MyISAM", "memory", "ARIA"])
def test_an_engine_without_foreign_keys_keeps_their_indexes_alone(history, engine):
    """Also when the table becomes one of InnoDB, as both servers say; one that is added then is the first."""
    history.load_schema_file(f"""USE n;
        CREATE TABLE c1 (id INT PRIMARY KEY, a INT, b INT, FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE,
                         FOREIGN KEY (id) REFERENCES p (id)) ENGINE={engine};
        ALTER TABLE c1 ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES p (id), ADD FOREIGN KEY (A) REFERENCES p (id);
        ALTER TABLE c1 ENGINE=InnoDB;
        CREATE TABLE c2 (id INT PRIMARY KEY, a INT) ENGINE={engine};
        ALTER TABLE c2 ENGINE=InnoDB, ADD FOREIGN KEY (a) REFERENCES p (id);
        ALTER TABLE c1 ADD FOREIGN KEY (a) REFERENCES p (id);""")
    assert keys(history)["n.c1"] == ["CONSTRAINT `c1_ibfk_1` FOREIGN KEY (`a`) REFERENCES `n`.`p` (`id`)"]
    assert keys(history)["n.c2"] == ["CONSTRAINT `c2_ibfk_1` FOREIGN KEY (`a`) REFERENCES `n`.`p` (`id`)"]
    [made] = [table for table in history.definitions() if table.full_name == "n.c1"]
    assert [(key.name, [part.column for part in key.parts]) for key in made.keys] == [
        ("PRIMARY", ["id"]), ("a", ["a"]), ("f", ["b"])]


@pytest.mark.parametrize(("flavour", "words", "shown"), [
    ("mysql", "ON DELETE RESTRICT ON UPDATE RESTRICT", " ON DELETE RESTRICT ON UPDATE RESTRICT"),
    ("mysql", "ON DELETE NO ACTION ON UPDATE NO ACTION", ""), ("mysql", "", ""),
    ("mysql", "ON DELETE SET DEFAULT ON UPDATE SET NULL", " ON DELETE SET DEFAULT ON UPDATE SET NULL"),
    ("mariadb", "ON DELETE RESTRICT ON UPDATE RESTRICT", ""), ("mariadb", "", ""),
    ("mariadb", "ON DELETE NO ACTION ON UPDATE NO ACTION", " ON DELETE NO ACTION ON UPDATE NO ACTION"),
    ("mariadb", "ON DELETE SET DEFAULT ON UPDATE SET DEFAULT", "")])
def test_words_come_back_as_servers_show_them(flavour, words, shown):
    """AP-FK: MySQL takes a key without words for NO ACTION, MariaDB for RESTRICT. To rows it is the same."""
    history = SchemaHistory(flavour)
    history.load_schema_file("USE d; CREATE TABLE p (id INT PRIMARY KEY);"
                             f"CREATE TABLE c (id INT, CONSTRAINT x FOREIGN KEY (id) REFERENCES p (id) {words});")
    [key] = [key for table in history.definitions() for key in table.foreign_keys]
    assert key.sql() == f"CONSTRAINT `x` FOREIGN KEY (`id`) REFERENCES `d`.`p` (`id`){shown}"
    again = SchemaHistory(flavour)
    again.load_schema_file(schema_file(history.definitions()))
    assert [*again.definitions()] == [*history.definitions()]
