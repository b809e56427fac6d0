"""CREATE TABLE … SELECT of MariaDB, logged without character sets (AP-POS): a replica's table has its database's, and
takes the bytes in the log for text in these."""

import pytest

import applier
from applier.errors import ReplayStopped
from tests.support.folders import ARCHIVES

LOG = ARCHIVES / "charsets_left_out" / "mariadb.000001"
"""Of a MariaDB 10.11 with binlog_row_metadata=FULL. Its table d.s has columns in cp1251 and utf8mb4, the database is in
latin1, and in one sql_mode after another d.t1 to d.t6 are made of it; d.t4 and d.t7, which is LIKE it, change later."""
CYRILLIC, LATIN = (1, "Ж", "éЖ", "y"), (1, "Æ", "éЖ", "y")
OTHER = (2, "b", None, "x")
ALL_LATIN = (1, "Æ", "Ã©Ð–", "y")
"""What a replica of the same version has of the row in each case: a column's character set was named, or not."""
EXPECTED = {
    "s": [CYRILLIC, OTHER], "t1": [ALL_LATIN], "t2": [ALL_LATIN, OTHER], "t3": [LATIN, OTHER],
    "t4": [(1, "Þ", "éЖ", "y", 3), (*OTHER, None)], "t5": [CYRILLIC, OTHER], "t6": [LATIN, OTHER],
    "t7": [LATIN, OTHER]}


def rows(replayed):
    """The rows of all tables, by name."""
    return {name.removeprefix("d."): sorted(tuple(row.values()) for row in table.to_arrow().to_pylist())
            for name, table in replayed.snapshot.tables.items()}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_text_is_read_as_a_replica_reads_it(route, tmp_path):
    assert rows(applier.replay(LOG, tmp_path / "out", route=route)) == EXPECTED


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_the_next_run_reads_it_the_same(route, tmp_path):
    """The snapshot's definition says that the source's table may have other character sets."""
    applier.replay(LOG, tmp_path / "made", route=route, stop="mariadb.000001:4213")
    assert rows(applier.replay(LOG, tmp_path / "out", route=route, base=tmp_path / "made")) == EXPECTED


def test_a_definition_of_the_user_has_to_agree(tmp_path):
    """It may be one of another time, or of another table."""
    (tmp_path / "schema.sql").write_text(
        "CREATE TABLE d.t4 (id INT PRIMARY KEY, a VARCHAR(10), b TEXT CHARACTER SET utf8mb4, c ENUM('x','y'), e INT)"
        " CHARACTER SET latin1;")
    with pytest.raises(ReplayStopped, match="the character set cp1251 in the log and latin1 in the table"):
        applier.replay(LOG, tmp_path / "out", schema=tmp_path / "schema.sql", tables="d.t4",
                       start="mariadb.000001:4762")
