"""`applier.diff`: what is read, tables on one side, altered columns, keys that do not compare."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import applier
from applier.snapshot import reader
from applier.snapshot.files import digest
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.diffs import found, snapshot_of
from tests.support.folded_changes import rows_of


@pytest.fixture
def opened(monkeypatch):
    """The files that were read."""
    paths = []

    def read_whole(filesystem, path, file):
        paths.append(Path(path).name)
        return kept(filesystem, path, file)

    kept = reader.read_whole
    monkeypatch.setattr(reader, "read_whole", read_whole)
    return paths


NUMBERED = "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))"


def test_only_files_that_differ_are_read(tmp_path, opened):
    rows = [(number, f"a value {number}") for number in range(20_000)]
    before = snapshot_of(tmp_path / "before", NUMBERED, rows, file_bytes=4000)
    rows[-2:] = [(19_998, "another value")]
    after = snapshot_of(tmp_path / "after", NUMBERED, rows, file_bytes=4000)
    table = applier.diff(before, after).tables["d.t"]
    assert (table.removed, table.added, table.changed) == (1, 0, 1)
    files = [{Path(file).name for file in side.tables["d.t"].files} for side in (before, after)]
    assert len(files[0]) > 4 and len(opened) == 2 and all(len(side.intersection(opened)) == 1 for side in files)


@pytest.mark.parametrize("linked", [True, False])
def test_a_snapshot_and_what_was_carried_over_from_it(tmp_path, opened, monkeypatch, linked):
    """Copies are known by their digests, and links where older programs wrote none."""
    before = snapshot_of(tmp_path / "before", NUMBERED, [(1, "a")])
    shutil.copytree(before.uri, tmp_path / "after", copy_function=shutil.os.link if linked else shutil.copy)
    if linked:
        monkeypatch.setattr(digest, "HASH", "another hash")
    diff = applier.diff(before, tmp_path / "after")
    assert diff.same and not opened and diff.before == diff.after == before.position


def test_a_table_is_one_table_as_it_was_written_and_as_a_server_shows_it(tmp_path):
    """A dump names the engine and DEFAULT NULL, the log has what people wrote: the table is not made again."""
    shown = NUMBERED.replace("(20)", "(20) DEFAULT NULL")[:-1] + ") ENGINE=InnoDB AUTO_INCREMENT=7"
    before = snapshot_of(tmp_path / "before", shown, [(1, "a"), (2, None)])
    after = snapshot_of(tmp_path / "after", NUMBERED, [(1, "b"), (2, None)])
    for sides in ((before, after), (after, before)):
        diff = applier.diff(*sides)
        assert diff.tables["d.t"].notes == () and b"CREATE TABLE" not in b"".join(diff.sql(definitions=True))


def test_a_damaged_file_is_named(tmp_path):
    before, after = (snapshot_of(tmp_path / name, NUMBERED, [(1, name)]) for name in ("before", "after"))
    [file] = after.tables["d.t"].files
    Path(file).write_bytes(b"x" * Path(file).stat().st_size)
    with pytest.raises(applier.SnapshotError, match="was changed"):
        applier.diff(before, after)


def test_tables_that_one_side_has(tmp_path):
    before = snapshot_of(tmp_path / "before", NUMBERED, [(1, "a"), (2, "b")])
    after = snapshot_of(tmp_path / "after", "CREATE TABLE d.u (t TEXT)", [("x",)], "d.u")
    diff = applier.diff(before, after)
    assert list(diff.tables) == ["d.t", "d.u"] and not diff.same
    gone, new = diff.tables.values()
    assert found(gone)[0] == {("1", "'a'"): 1, ("2", "'b'"): 1} and (gone.added, gone.changed) == (0, 0)
    assert found(new)[1] == {("'x'",): 1} and new.notes == ("the table was added",) and new.key == ()
    assert [len(gone.to_pandas()), gone.rows_before, gone.rows_after] == [2, 2, 0]
    assert list(applier.diff(before, after, tables="d.t").tables) == ["d.t"]
    with pytest.raises(applier.UsageError, match="no table of the snapshots is selected"):
        applier.diff(before, after, tables="d.nothing")


def test_columns_that_were_altered(tmp_path):
    """Equal values of another type are the same; a column that a side lacks is NULL there."""
    before = snapshot_of(tmp_path / "before", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, gone INT, Name TEXT)",
                         [(1, 5, None, "a"), (2, 6, 7, "b"), (3, None, None, "c")])
    after = snapshot_of(tmp_path / "after",
                        "CREATE TABLE d.t (id BIGINT PRIMARY KEY, name TEXT, n DECIMAL(5, 0), new INT)",
                        [(1, "a", 5, None), (2, "b", 6, None), (3, "c", None, 1)])
    table = applier.diff(before, after).tables["d.t"]
    rows = table.to_arrow()
    assert rows.column_names[:-2] == ["id", "name", "n", "new", "gone"] and table.key == ("id",)
    assert rows_of(rows, ["id", "_change_type", "_changed"]) == [
        ("'2'", "'update_preimage'", "['gone']"), ("'2'", "'update_postimage'", "['gone']"),
        ("'3'", "'update_preimage'", "['new']"), ("'3'", "'update_postimage'", "['new']")]
    assert table.notes == ("id is bigint, and was int", "name was altered (name)", "n is decimal(5,0), and was int",
                           "new was added", "gone was dropped", "its columns are in another order")


@pytest.mark.parametrize("create", [
    "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))", "CREATE TABLE d.t (id INT, v VARCHAR(20))",
    "CREATE TABLE d.t (id INT NOT NULL, v VARCHAR(20) PRIMARY KEY)",
    "CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(20))"])
def test_another_key(tmp_path, create):
    """Where the keys of the two do not compare, their rows are a multiset."""
    before = snapshot_of(tmp_path / "before", NUMBERED, [(1, "a"), (2, "b")])
    after = snapshot_of(tmp_path / "after", create, [(1, "a"), (2, "c")])
    table = applier.diff(before, after).tables["d.t"]
    has_key = "KEY (v)" in create
    assert (table.removed, table.added, table.changed) == ((0, 0, 1) if has_key else (1, 1, 0))
    assert any("compared as a multiset" in note for note in table.notes) != has_key


def test_a_column_that_has_a_name_of_the_result(tmp_path):
    made = snapshot_of(tmp_path / "made", "CREATE TABLE d.t (id INT PRIMARY KEY, _changed INT)", [])
    with pytest.raises(applier.UsageError, match="column _changed has the name of one of the diff's own columns"):
        applier.diff(made, made)


def test_a_snapshot_and_a_place_after_it(tmp_path):
    before = applier.replay(ARCHIVE, tmp_path / "before", stop=("binlog.000002", 745606)).snapshot
    after = applier.replay(ARCHIVE, tmp_path / "after").snapshot
    two, one = applier.diff(before, after), applier.diff(before, binlogs=ARCHIVE)
    assert one.after == two.after == after.position
    for name, table in two.tables.items():
        assert table.to_arrow().equals(one.tables[name].to_arrow()), name
    for wrong in ({}, {"after": after, "binlogs": ARCHIVE}, {"after": after, "stop": "binlog.000002:745606"}):
        with pytest.raises(applier.UsageError, match="a diff compares a snapshot"):
            applier.diff(before, **wrong)
    pq.write_table(two.tables["shop.orders"].to_arrow(), tmp_path / "orders.parquet")
