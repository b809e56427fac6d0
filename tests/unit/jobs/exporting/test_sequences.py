"""An export makes the sequences that columns take their defaults from, so that its tables can be made."""

from applier.jobs.exporting.job import export_snapshot
from applier.jobs.exporting.statements import sequences_sql
from applier.jobs.importing.job import import_dump
from applier.options import ExportOptions, ImportOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot.manifest import load

SCHEMA = """\
CREATE DATABASE d; USE d;
CREATE TABLE t (id BIGINT PRIMARY KEY DEFAULT NEXTVAL(s), a INT DEFAULT (NEXT VALUE FOR x.`q q`),
                b INT DEFAULT (1 + 1));
INSERT INTO t VALUES (7, 1, 1), (40, 1, 1);
"""


def definition(columns, flavour="mariadb"):
    return parse_statement(f"CREATE TABLE t ({columns})", flavour=flavour, default_database="d")[0].definition


def test_they_are_made_before_the_tables_that_name_them(tmp_path):
    """One whose numbers are the key begins behind the highest; an unqualified name is of the table's database."""
    (tmp_path / "dump.sql").write_text("-- Server version 11.8.9-MariaDB\n" + SCHEMA)
    import_dump(ImportOptions(str(tmp_path / "dump.sql"), str(tmp_path / "base"), flavour="mariadb"))
    export_snapshot(ExportOptions(str(tmp_path / "base"), str(tmp_path / "out")))
    lines = (tmp_path / "out" / "_schema.sql").read_text().splitlines()
    made = ["CREATE SEQUENCE IF NOT EXISTS `d`.`s` START WITH 41;",
            "CREATE SEQUENCE IF NOT EXISTS `x`.`q q` START WITH 1;"]
    assert [line for line in lines if "SEQUENCE" in line] == made
    assert lines.index(made[1]) < lines.index("USE `d`;") == lines.index("CREATE TABLE `d`.`t` (") - 1
    import_dump(ImportOptions(str(tmp_path / "out"), str(tmp_path / "again")))
    assert load(str(tmp_path / "again")).table("d", "t").definition == load(
        str(tmp_path / "base")).table("d", "t").definition


def test_other_words_are_no_sequences():
    assert sequences_sql([(definition("a INT DEFAULT (NEXTVAL + 1), nextval INT"), ())]) == []
    assert sequences_sql([(definition("a VARCHAR(20) DEFAULT ('NEXTVAL(s)')"), ())]) == []
