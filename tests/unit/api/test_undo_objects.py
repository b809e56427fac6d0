"""`applier.undo` and what is no table: triggers, and what the transactions dropped beside tables."""

import pytest

import applier
from applier import cli
from tests.unit.api.test_undo import Log

pytestmark = pytest.mark.slow

TABLE = "CREATE TABLE t (id INT PRIMARY KEY, n INT, at DATETIME)"
BEFORE = "CREATE TRIGGER stamp BEFORE UPDATE ON t FOR EACH ROW SET NEW.at = NOW()"
AFTER = ("CREATE DEFINER=`root`@`localhost` TRIGGER noted AFTER DELETE ON t FOR EACH ROW\n"
         "INSERT INTO log VALUES (OLD.id)")
VIEW = "CREATE VIEW w AS SELECT id FROM t"


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_what_was_dropped_beside_tables_is_named(flavour, tmp_path, capsys):
    """UNDO-OBJECT: with the statements that made it, as comments; and not what is there again."""
    log = Log(tmp_path, TABLE, AFTER, BEFORE, VIEW, "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
              flavour=flavour)
    log.transaction(("insert", "t", {"id": [1], "n": [1]}))
    log.n += 1
    log.writer.query("DROP TABLE t", "d")
    log.n += 1
    log.writer.query("DROP FUNCTION f", "d")
    undone = log.undo(2, 3, format="sql")
    assert [str(one.object) for one in undone.lost_objects] == [
        "TRIGGER d.noted (AFTER DELETE ON d.t)", "TRIGGER d.stamp (BEFORE UPDATE ON d.t)", "FUNCTION d.f"]
    lines = (tmp_path / "undo.000001").read_text().splitlines()
    place = lines.index("--   INSERT INTO log VALUES (OLD.id);")
    assert lines[place - 1] == f"--   {AFTER.splitlines()[0]}" and lines[-1].endswith("RETURN 1;")
    assert lines[place - 2].startswith("-- Not restored: TRIGGER d.noted (AFTER DELETE ON d.t), made at binlog.000001:")
    assert "with the default database d" in lines[place - 2]
    assert cli.main(["undo", "--binlogs", log.path, "--gtids", log.gtid(2), "--output", f"{tmp_path}/undo.log",
                     "--format", "binlog"]) == 0
    said = capsys.readouterr().out
    assert "not restored: TRIGGER d.stamp (BEFORE UPDATE ON d.t)" in said and f"{BEFORE};" in said


def test_triggers_that_stop_the_sql_are_named_at_once(tmp_path):
    """UNDO-GUARD: those alone which its statements fire; events fire none."""
    log = Log(tmp_path, TABLE, BEFORE, AFTER)
    log.transaction(("insert", "t", {"id": [1, 2], "n": [1, 2]}))
    log.transaction(("delete", "t", {"id": [1]}))
    log.transaction(("update", "t", {"id": [2]}, {"n": [3]}))
    stop = "TRIGGER d.stamp (BEFORE UPDATE ON d.t) (binlog.000001:{}) is there, so this SQL will stop"
    notes = {number: log.undo(number, name=f"{number}.sql", format="sql").notes for number in (2, 3)}
    assert not any("will stop" in note for note in notes[2])
    [found] = [note for note in notes[3] if "will stop" in note]
    assert found.startswith("TRIGGER d.stamp (BEFORE UPDATE ON d.t) (binlog.000001:") and stop[:20] in found
    assert not any("will stop" in note for note in log.undo(3).notes)
    guard = "((EVENT_OBJECT_SCHEMA = 'd' AND EVENT_OBJECT_TABLE = 't')) AND EVENT_MANIPULATION IN ('{}')"
    for number, event in ((2, "INSERT"), (3, "UPDATE")):
        assert guard.format(event)[1:] in (tmp_path / f"{number}.sql").read_text()


def test_values_that_triggers_made_are_named(tmp_path):
    """UNDO-OBJECT: they count as changed by others, whose statements may not name them."""
    log = Log(tmp_path, TABLE, BEFORE, AFTER)
    log.transaction(("insert", "t", {"id": [1], "n": [1], "at": [None]}))
    log.transaction(("update", "t", {"id": [1]}, {"n": [2], "at": ["2026-03-14 12:02:00"]}))
    log.transaction(("update", "t", {"id": [1]}, {"n": [2], "at": ["2026-03-14 12:03:00"]}))
    words = r"TRIGGER d.stamp \(BEFORE UPDATE ON d.t\) \(binlog.000001:\d+\) sets at: where others have changed"
    with pytest.raises(applier.UndoRefused, match=words):
        log.undo(2)
    notes = log.undo(2, on_conflict="columns").notes
    assert any("sets at:" in note for note in notes)
    assert any("TRIGGER d.noted (AFTER DELETE ON d.t)" in note and "in other tables" in note for note in notes)
