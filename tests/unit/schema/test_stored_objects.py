"""Triggers, views, routines and events by the statements that make and drop them."""

import pytest

import applier.binlog
from applier.jobs.changes.job import ChangeLog
from applier.options import ChangesOptions
from applier.schema.table_filter import EVERYTHING

TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, at DATETIME)"
TRIGGER = ("CREATE DEFINER=`root`@`localhost` TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET NEW.v = OLD.v + 1, "
           "NEW.at = NOW()")
VIEW = ("CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`%` SQL SECURITY DEFINER VIEW `d`.`w` AS "
        "SELECT id AS `trigger` FROM d.t")
FUNCTION = "CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1"


def objects_of(tmp_path, *statements, flavour="mysql"):
    log = tmp_path / "binlog.000001"
    with applier.binlog.Writer(log, flavour=flavour) as writer:
        for statement in statements:
            writer.query(statement, database="d")
    return ChangeLog(ChangesOptions((str(log),))).history(EVERYTHING).objects


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_what_is_made_is_named(flavour, tmp_path):
    found = objects_of(tmp_path, "CREATE DATABASE d", TABLE, TRIGGER, VIEW, FUNCTION,
                       "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", flavour=flavour)
    assert [str(one.object) for one in found] == [
        "TRIGGER d.tr (BEFORE UPDATE ON d.t)", "VIEW d.w", "FUNCTION d.f", "EVENT d.e"]
    [trigger] = found.triggers(("d", "t"))
    assert trigger.statements == (TRIGGER,) and trigger.sets(flavour) == ("v", "at")


@pytest.mark.parametrize("drop, gone", [
    ("DROP TABLE d.t", {"tr"}), ("DROP DATABASE d", {"tr", "w", "f"}), ("DROP TRIGGER d.tr", {"tr"}),
    ("DROP VIEW IF EXISTS x, w", {"w"}), ("DROP FUNCTION IF EXISTS f", {"f"}), ("TRUNCATE TABLE d.t", set())])
def test_what_is_dropped_is_gone(drop, gone, tmp_path):
    found = objects_of(tmp_path, "CREATE DATABASE d", TABLE, TRIGGER, VIEW, FUNCTION, drop)
    assert {one.object.name for one in found if one.end is not None} == gone
    assert {one.object.name for one in found if not found.is_there(one.object)} == gone


@pytest.mark.parametrize("rename", ["RENAME TABLE d.t TO d.u", "ALTER TABLE d.t RENAME TO d.u"])
def test_triggers_stay_with_their_table(rename, tmp_path):
    found = objects_of(tmp_path, "CREATE DATABASE d", TABLE, TRIGGER, rename)
    assert [one.object.name for one in found.triggers(("d", "u"))] == ["tr"] and not found.triggers(("d", "t"))


def test_statements_that_change_an_object(tmp_path):
    """ALTER continues with it, CREATE OR REPLACE and a second CREATE are another one, IF NOT EXISTS does nothing."""
    found = [*objects_of(tmp_path, "CREATE DATABASE d", TABLE, VIEW, "ALTER VIEW d.w AS SELECT 2",
                         "CREATE OR REPLACE VIEW d.w AS SELECT 3", "CREATE VIEW IF NOT EXISTS d.w AS SELECT 4",
                         flavour="mariadb")]
    assert [(one.statements, one.end is None) for one in found] == [
        ((VIEW, "ALTER VIEW d.w AS SELECT 2"), False), (("CREATE OR REPLACE VIEW d.w AS SELECT 3",), True)]
