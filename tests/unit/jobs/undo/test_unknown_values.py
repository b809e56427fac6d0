"""Undo of an archive that begins after its rows were made, whose images lack columns (binlog_row_image=MINIMAL): what
the log has is taken back, rows are found by what is known of them, and what is not known is named."""

from datetime import UTC, datetime

import pytest

import applier
import applier.binlog

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(9), b INT NOT NULL, d DECIMAL(9,2), u INT UNIQUE, j JSON)"


class Late:
    """A log without CREATE TABLE, of a transaction for each change: (verb, images …)."""

    def __init__(self, folder, *changes, flavour="mysql"):
        self.folder, self.places = folder, []
        (folder / "schema.sql").write_text(f"CREATE DATABASE d; {TABLE};")
        with applier.binlog.Writer(folder / "binlog.000001", flavour=flavour, time=NOON,
                                   schema=folder / "schema.sql") as log:
            for verb, *images in changes:
                self.places.append(log.position)
                with log.transaction():
                    getattr(log, verb)("d.t", *images)
            self.places.append(log.position)

    def undo(self, number, **options):
        """Take the transaction with a number back; what is done, and the statements."""
        path = self.folder / f"undo{number}"
        undone = applier.undo(self.folder / "binlog.000001", path, start=self.places[number],
                              stop=self.places[number + 1], schema=self.folder / "schema.sql", **options)
        return undone, path.read_text(errors="replace")


def update(key, **values):
    return "update", {"id": [key]}, {name: [value] for name, value in values.items()}


@pytest.fixture(params=["mysql", "mariadb"])
def late(tmp_path, request):
    return lambda *changes: Late(tmp_path, *changes, flavour=request.param)


def test_inserted_rows_go_whatever_others_are(late):
    log = late(update(1, a="x"), ("insert", {"id": [9], "a": ["n"], "b": [1], "d": [None], "u": [3], "j": ["{}"]}))
    undone, text = log.undo(1)
    assert [(one.deleted, one.inserted, one.updated) for one in undone.tables] == [(1, 0, 0)]
    assert "DELETE FROM `d`.`t` WHERE `id` = 9 AND `id` <=> 9 AND HEX(CONVERT(`a` USING utf8mb4)) <=> HEX('n')" in text
    assert not any("without comparing" in note for note in undone.notes)


def test_a_value_that_the_log_has_comes_back_to_a_row_that_it_has_not(late):
    log = late(update(1, a="first", b=5), update(1, a="second"))
    undone, text = log.undo(1)
    assert ("UPDATE `d`.`t` SET `a` = 'first' WHERE `id` = 1 AND `id` <=> 1 AND HEX(CONVERT(`a` USING utf8mb4)) <=> "
            "HEX('second') AND `b` <=> 5;\n") in text
    assert any("without comparing d, u, j where" in note for note in undone.notes)
    assert "in all columns that the log has" in undone.proof[0]


def test_events_have_whole_rows(late):
    log = late(update(1, a="first"), update(1, a="second"))
    with pytest.raises(applier.UsageError, match=r"events have whole rows.*--format sql"):
        log.undo(1, format="binlog")


@pytest.mark.parametrize("change, column", [
    (update(1, a="x"), "a"), (update(1, a=None), "a"), (update(1, b=1), "b"), (update(1, d=0), "d"),
    (update(1, u=1), "a"), (("delete", {"id": [1]}), "a")])
def test_what_the_log_does_not_have_is_named(late, change, column):
    """Also where the new value is one of those that stand for the unknown one; a row whose unique key changes is
    deleted and inserted, with all columns."""
    with pytest.raises(applier.UnsupportedEvent, match=f"column {column} of row id=1 was before|depends on") as error:
        late(change).undo(0)
    assert "--base" in error.value.hint


def test_a_row_that_is_gone_comes_back_if_the_log_made_it(late):
    log = late(("insert", {"id": [9], "a": ["n"], "b": [1], "d": [None], "u": [3], "j": ["{}"]}), update(9, a="m"),
               ("delete", {"id": [9]}), update(1, a="x"))
    undone, text = log.undo(2)
    assert [(one.deleted, one.inserted, one.updated) for one in undone.tables] == [(0, 1, 0)]
    assert "(9,'m',1,NULL,3,'{}')" in text.replace(" ", "")


def test_rows_of_which_other_columns_are_unknown_are_found_each_by_its_own(late):
    log = late(update(1, a="1"), update(2, a="1", d="2.50"),
               ("update", {"id": [1, 2]}, {"a": ["y", "y"]}))
    _, text = log.undo(2)
    lines = sorted(line for line in text.splitlines() if line.startswith("UPDATE"))
    known = "AND HEX(CONVERT(`a` USING utf8mb4)) <=> HEX('y')"
    assert lines == [f"UPDATE `d`.`t` SET `a` = '1' WHERE `id` = 1 AND `id` <=> 1 {known};",
                     f"UPDATE `d`.`t` SET `a` = '1' WHERE `id` = 2 AND `id` <=> 2 {known} AND `d` <=> 2.50;"]


def test_values_of_all_types_can_be_unknown(tmp_path, monkeypatch):
    monkeypatch.setitem(
        globals(), "TABLE", "CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(9), f FLOAT, g DOUBLE, b BIT(3), "
        "t TIME(3), s TIMESTAMP NULL, y YEAR, e ENUM('x'), v VECTOR(2), p POINT, c TINYINT UNSIGNED)")
    undone, text = Late(tmp_path, update(1, a="first"), update(1, a="second")).undo(1)
    assert undone.tables[0].updated == 1 and "`f` <=>" not in text
    assert any("without comparing f, g, b, t, s, y, e, v, p, c where" in note for note in undone.notes)
