"""Generated columns that the images of inserts lack: they are computed from the row, its defaults among it."""

import pytest

from applier.errors import SchemaError
from tests.support.replica_model import ABSENT, INSERT, UPDATE, Event, Table, apply

MADE = Table("id int, c int DEFAULT 7, s int AS (c * 2) STORED, t int AS (s + v) STORED, v int AS (id) VIRTUAL, "
             "PRIMARY KEY (id)", ["int", "int", "int", "int", "int"], (0, 7, None, None, None), (0,), (4,))


def test_a_generated_column_that_an_insert_lacks_is_computed(tmp_path):
    """IMG-W, DEF-R1b: of what the image has and of defaults, and again where an update changes what it is made of."""
    rows = [(None, (key, ABSENT, ABSENT, ABSENT, ABSENT)) for key in (1, 2)]
    events = [Event(INSERT, None, (1, 0, 0, 0, 0), rows),
              Event(INSERT, None, (1, 1, 0, 1, 0), [(None, (3, 4, ABSENT, 11, ABSENT)), (None, (4, None, ABSENT, None,
                                                                                            ABSENT))]),
              Event(UPDATE, (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), [((2, *(ABSENT,) * 4), (ABSENT, 9, *(ABSENT,) * 3))])]
    assert apply(MADE, events, tmp_path).rows == [(1, 7, 14, 15), (2, 9, 18, 20), (3, 4, 8, 11), (4, None, None, None)]


def test_one_that_cannot_be_computed_stops_the_replay(tmp_path):
    table = Table("id int, s varchar(255) CHARACTER SET latin1 AS (aes_encrypt(id, 'k')) STORED, PRIMARY KEY (id)",
                  ["int", "varchar(255)"], (0, None), (0,))
    with pytest.raises(SchemaError, match=r"generated from .*aes_encrypt.*, which cannot be computed"):
        apply(table, [Event(INSERT, None, (1, 0), [(None, (1, ABSENT))])], tmp_path)
