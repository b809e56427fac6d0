"""The keys of changes: what an image lacks is completed, and what cannot be completed stops the replay."""

import pytest

from applier.errors import ReplayStopped, SchemaError
from tests.support.replica_model import ABSENT, DELETE, INSERT, UPDATE, Event, Table, apply, model

INT = Table("id int, a int, PRIMARY KEY (id)", ["int", "int"], (0, None), (0,))
TWO = Table("k varchar(255) CHARACTER SET latin1, a int, PRIMARY KEY (k, a)", ["varchar(255)", "int"], (b"", 0), (0, 1))
DATE = Table("d date, a int, PRIMARY KEY (d)", ["date", "int"], (None, None), (0,))


@pytest.mark.parametrize("table, row", [(INT, (1, 5)), (TWO, (b"k", 5))], ids=["int", "bytes"])
@pytest.mark.parametrize("operation", [UPDATE, DELETE])
def test_a_before_image_without_the_key_stops_the_replay(tmp_path, table, row, operation):
    """FIND: a key counts only if the before-image has its columns; no other row may be taken for it."""
    first = Event(INSERT, None, (1, 1), [(None, row)])
    lost = Event(operation, (0, 1), (1, 1) if operation == UPDATE else None,
                 [((ABSENT, 5), row if operation == UPDATE else None)])
    with pytest.raises(ReplayStopped, match="before-image has no column") as error:
        apply(table, [first, lost], tmp_path)
    assert error.value.mysql_errno == 1032
    assert (error.value.table, error.value.file) == ("d.t", "binlog.000001")
    assert error.value.position > 4


@pytest.mark.parametrize("table, row, kept", [(INT, (None, 5), (0, 5)), (TWO, (b"k", None), ("k", 0))],
                         ids=["int", "bytes"])
def test_a_null_in_a_key_is_the_columns_zero(tmp_path, table, row, kept):
    """Memory of a row before must not be taken for the key."""
    whole = tuple(9 if kind.name == "int" else b"w" for kind in table.kinds)
    shown = tuple(9 if kind.name == "int" else "w" for kind in table.kinds)
    come = Event(INSERT, None, (1, 1), [(None, whole), (None, row)])
    moves = [Event(UPDATE, (1, 1), (1, 1), [(row, row)]), Event(DELETE, (1, 1), None, [(whole, None)])]
    assert sorted(apply(table, [come], tmp_path).rows) == sorted([shown, kept])
    assert apply(table, [come, *moves], tmp_path).rows == [kept]
    assert apply(table, [come, *moves, Event(DELETE, (1, 1), None, [(row, None)])], tmp_path).rows == []


def test_a_zero_date_in_a_key_is_one(tmp_path):
    """DEF-R1b: what a NOT NULL date has that the image lacks; so there is room for one."""
    [error] = apply(DATE, [Event(INSERT, None, (0, 1), [(None, (ABSENT, 1)), (None, (ABSENT, 2))])], tmp_path).stopped
    assert (error.mysql_errno, error.key) == (1062, "PRIMARY (d) = '0000-00-00'")


def test_an_after_image_without_part_of_the_key_keeps_it(tmp_path):
    """DEF-R2: of (k, a) only a is assigned; the row moves within its k."""
    events = [Event(INSERT, None, (1, 1), [(None, (b"k", 1)), (None, (b"l", 1))]),
              Event(UPDATE, (1, 1), (0, 1), [((b"k", 1), (ABSENT, 7)), ((b"l", 1), (ABSENT, 7))]),
              Event(UPDATE, (1, 1), (1, 0), [((b"l", 7), (b"m", ABSENT))])]
    found = apply(TWO, events, tmp_path)
    assert found.rows == [("k", 7), ("m", 7)]
    assert sorted(model(TWO, [], events)) == [(b"k", 7), (b"m", 7)]


def test_the_key_of_a_stop_is_whole_where_the_image_had_a_part(tmp_path):
    """DEF-R2, APP-R6: 1062 names the key that the row would have had."""
    events = [Event(INSERT, None, (1, 1), [(None, (b"k", 1)), (None, (b"k", 2))]),
              Event(UPDATE, (1, 1), (0, 1), [((b"k", 1), (ABSENT, 2))])]
    [error] = apply(TWO, events, tmp_path).stopped
    assert (error.mysql_errno, error.key) == (1062, "PRIMARY (k, a) = 'k', 2")


def test_a_default_that_nobody_knows_stops_the_replay(tmp_path):
    """AP-VAL: an AUTO_INCREMENT value comes from the event, never from a counter."""
    table = Table("id int AUTO_INCREMENT, a int, PRIMARY KEY (id)", ["int", "int"], (None, None), (0,))
    with pytest.raises(SchemaError, match="AUTO_INCREMENT"):
        apply(table, [Event(INSERT, None, (0, 1), [(None, (ABSENT, 1))])], tmp_path)
