"""Triggers, views, routines and events: a snapshot does not keep them, and names them with the statements that made
them (SNAP-OBJECT)."""

import pytest

import applier
import applier.binlog

TRIGGER = "CREATE DEFINER=`root`@`%` TRIGGER tr BEFORE INSERT ON t FOR EACH ROW\nSET NEW.v = 'ü'"
VIEW = "CREATE VIEW w AS SELECT id FROM t"
NOT_MADE = "-- Not made here: "


def named(folder, file="_schema.sql"):
    """What the comments of a file name."""
    return [line.removeprefix(NOT_MADE).partition(",")[0] for line in (folder / file).read_text().splitlines()
            if line.startswith(NOT_MADE)]


@pytest.fixture(params=["mysql", "mariadb"])
def log(request, tmp_path):
    with applier.binlog.Writer(tmp_path / "binlog.000001", flavour=request.param) as writer:
        writer.query("CREATE DATABASE d")
        for number in range(80):  # a file of many statements has only those that are relevant
            writer.query(f"CREATE USER u{number}")
        writer.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))", database="d")
        writer.query(TRIGGER, database="d")
        writer.query(VIEW, database="d")
        writer.query("CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1")
        writer.query("DROP VIEW d.w")
    return tmp_path


def test_they_are_comments_of_definitions(log):
    """Of a snapshot, of those that continue with it, and of an export."""
    [drop] = [one for one in applier.summary(log / "binlog.000001").statements if one.sql == "DROP VIEW d.w"]
    applier.replay(log / "binlog.000001", log / "first", stop=(drop.file, drop.start))
    assert named(log / "first") == ["TRIGGER d.tr (BEFORE INSERT ON d.t)", "VIEW d.w", "FUNCTION d.f"]
    lines = (log / "first" / "_schema.sql").read_text().splitlines()
    assert [line for line in lines if TRIGGER.splitlines()[1] in line] == ["--   SET NEW.v = 'ü';"]
    applier.replay(log / "binlog.000001", log / "second", base=log / "first")
    assert named(log / "second") == ["TRIGGER d.tr (BEFORE INSERT ON d.t)", "FUNCTION d.f"]
    applier.export(log / "second", log / "out")
    assert named(log / "out") == named(log / "second")


def test_those_of_other_tables_are_left_out(log):
    applier.replay(log / "binlog.000001", log / "made", ignore_tables="d.t")
    assert named(log / "made") == ["FUNCTION d.f"]


def test_those_of_a_dump(tmp_path):
    (tmp_path / "dump.sql").write_text(
        "-- MySQL dump 10.13\n-- Current Database: `d`\nCREATE DATABASE `d`;\nUSE `d`;\n"
        "CREATE TABLE t (id INT PRIMARY KEY);\nDELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ "
        "/*!50003 TRIGGER `tr` BEFORE INSERT ON `t` FOR EACH ROW BEGIN\nSET NEW.id = 1;\nEND */;;\nDELIMITER ;\n")
    applier.import_dump(tmp_path / "dump.sql", tmp_path / "made")
    assert named(tmp_path / "made") == ["TRIGGER d.tr (BEFORE INSERT ON d.t); its statements"]
