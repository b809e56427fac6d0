"""An archive that begins after its tables were made: undo and history know rows from the before-images of their first
changes."""

from collections import Counter

import pyarrow.compute as pc
import pytest

import applier
from applier.errors import ReplayStopped, SchemaError
from applier.jobs.changes.whole import first_images
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import CREATE, commit, delete, insert, update

ROWS = [(number, number, "x") for number in range(40)]


@pytest.fixture
def late(tmp_path):
    """A folder for a log without CREATE TABLE, and the definitions."""
    folder = tmp_path / "late"
    folder.mkdir()
    (tmp_path / "schema.sql").write_text(f"CREATE DATABASE shop; USE shop; {CREATE};")
    return folder, str(tmp_path / "schema.sql")


def _log(late, *changes):
    """Write a transaction for each of the changes, or a statement; returns the archive and where each begins."""
    folder, _ = late
    places = []
    with BinlogWriter(folder / "binlog.000001") as log:
        for change in changes:
            places.append(("binlog.000001", log.position))
            if isinstance(change, str):
                log.query(change, "shop")
            else:
                commit(log, change)
    return str(folder), places


def test_rows_are_what_their_first_changes_say(late, tmp_path):
    archive, places = _log(late, update(ROWS[:5], [(number, number + 100, "y") for number in range(5)]),
                           insert([(77, 1, "new")]), delete([ROWS[9]]), update([(2, 102, "y")], [(2, 0, "z")]),
                           delete([(77, 1, "new")]))
    undone = applier.undo(archive, tmp_path / "undo.sql", start=places[0], schema=late[1])
    [table] = undone.tables
    assert (table.inserted, table.deleted, table.updated, table.rows_after) == (1, 0, 5, None)
    assert not any("COUNT(*)" in statement for statement, _ in undone.checks)
    text = (tmp_path / "undo.sql").read_text()
    assert "(9,9,'x')" in text and "77" not in text
    assert "begins after shop.item was made" in undone.notes[0]


def test_a_history_begins_with_the_first_before_image(late):
    archive, _ = _log(late, update([ROWS[3]], [(3, 50, "y")]), delete([(3, 50, "y")]), insert([ROWS[3]]))
    rows = applier.history(archive, "shop.item", schema=late[1]).to_arrow().to_pylist()
    assert [(row["n"], row["_change_type"], row["_ended_by"]) for row in rows] == [
        (3, "base", "update"), (50, "update", "delete"), (3, "insert", None)]


def test_a_key_that_changes_is_first_seen_under_the_old_one(late, tmp_path):
    archive, places = _log(late, update([ROWS[1]], [(91, 1, "x")]), update([(91, 1, "x")], [(92, 2, "x")]),
                           insert([ROWS[1]]))
    undone = applier.undo(archive, tmp_path / "undo.sql", start=places[0], stop=places[2], schema=late[1],
                          on_conflict="skip")
    assert [(one.inserted, one.deleted, one.updated, one.in_conflict) for one in undone.tables] == [(0, 0, 0, 1)]


def test_keys_are_dropped_that_came_again(late, tmp_path, monkeypatch):
    """Of many changes, few keys are kept at a time."""
    monkeypatch.setattr(first_images, "MOST_KEPT", 3)
    changes = [update([(number % 7, number, "x")], [(number % 7, number + 7, "x")]) for number in range(30)]
    archive, _ = _log(late, *changes)
    rows = applier.history(archive, "shop.item", schema=late[1]).to_arrow()
    assert Counter(rows["_change_type"].to_pylist()) == {"base": 7, "update": 30}
    assert rows.filter(pc.equal(rows["_change_type"], "base"))["n"].to_pylist() == list(range(7))


def test_a_replay_still_stops_where_a_row_is_not_there(late, tmp_path):
    archive, _ = _log(late, delete([ROWS[1]]))
    with pytest.raises(ReplayStopped, match="can't find record: the row to update or delete does not exist"):
        applier.replay(archive, tmp_path / "out", schema=late[1])


def test_what_the_log_cannot_tell_is_refused(late, tmp_path):
    archive, places = _log(late, delete([ROWS[1]]), "TRUNCATE TABLE item")
    with pytest.raises(SchemaError, match="does not contain the rows that this statement removed"):
        applier.undo(archive, tmp_path / "undo.sql", start=places[1], schema=late[1])
    no_key = tmp_path / "no_key.sql"
    no_key.write_text("CREATE DATABASE shop; USE shop; CREATE TABLE item (id INT NOT NULL, n INT, s VARCHAR(20));")
    with pytest.raises(ReplayStopped, match="can't find record: the row to update or delete does not exist"):
        applier.history(archive, "shop.item", schema=no_key).to_arrow()
