"""Lakes that merge on read: a round writes what changed, for all kinds of tables and changes."""

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import applier
from applier import cli
from applier.errors import UsageError
from applier.snapshot import manifest
from applier.snapshot.files import shards
from applier.writer.writer import BinlogWriter
from tests.support.merging import ROWS, SMALL, TEXT, below, entry_of, merging, rows_of
from tests.support.small_logs import commit, delete, insert, new_log, update


def test_a_round_writes_what_changed(versions):
    """AP-SNAP: all files of rows stay; each version has a row file and a file of positions more."""
    lake, made, plain = versions
    first, *later = map(entry_of, made)
    assert len(first.files) > 4 and not first.row_files and not first.positions
    for number, entry in enumerate(later, 1):
        assert [file.path for file in entry.files] == [file.path for file in first.files]
        assert len(entry.row_files) == len(entry.positions) == number
        assert sum(file.bytes for file in (entry.row_files[-1], entry.positions[-1])) < first.bytes / 10
    for version, snapshot in zip(made, plain, strict=True):
        wanted, verified = rows_of(snapshot), version.verify()
        assert rows_of(version).equals(wanted) and version.tables["shop.item"].rows == wanted.num_rows
        assert not verified.damaged and verified.rows == wanted.num_rows
    assert applier.fsck(lake).damaged == applier.fsck(lake).strays == ()


def test_no_pattern_finds_a_table(versions):
    """Files of rows have no name that a pattern for Parquet files, a table or a database finds."""
    lake, made, _ = versions
    assert {path.split("/")[0] for path in below(lake)} == {"_data", "_versions", "_lake.json", "LATEST"}
    assert not [path for path in below(lake) if path.endswith(".parquet") or "shop" in path or "item" in path]
    with pytest.raises(UsageError, match="files alone are not the table"):
        _ = made[0].tables["shop.item"].files


def test_other_programs_refuse_it(versions):
    """An older program reads neither the lake nor a version: both have a format version of their own."""
    lake, made, _ = versions
    assert json.loads(Path(lake, "_lake.json").read_text()).keys() == {"format_version", "id"}
    assert json.loads(Path(lake, "_lake.json").read_text())["format_version"] == 2
    assert {json.loads(Path(version.uri, "_snapshot.json").read_text())["format_version"] for version in made} == {4}


def test_a_whole_lake_is_as_it_was(log, tmp_path):
    applier.replay(log[0], lake=tmp_path / "lake", stop=log[1][1])
    assert json.loads((tmp_path / "lake/_lake.json").read_text())["format_version"] == 1
    document = json.loads((tmp_path / "lake/_versions/0000000001/_snapshot.json").read_text())
    assert document["format_version"] == 3 and not {"folder", "row_files"} & document["tables"][0].keys()
    assert "footer" not in document["tables"][0]["files"][0]


@pytest.mark.parametrize("share", [0.2, 0.0001])
def test_a_row_that_moves_into_a_unit(share, tmp_path):
    """AP-SNAP: the only change of a unit is a row that an update moves there from another one: all its rows stay."""
    log = new_log(tmp_path)
    ends = [commit(log, insert([row for row in ROWS if row[0] % 2]))[1],
            commit(log, update([(501, 501, TEXT)], [(18_000, 1, "moved")]))[1]]
    log.close()
    with merging(share=share):
        for end in ends:
            version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                     stop=("binlog.000001", end), target_file_size=SMALL).snapshot
    assert len(entry_of(version).files) > 2 and not version.verify().damaged
    assert rows_of(version).equals(rows_of(applier.replay(tmp_path / "binlog.000001", tmp_path / "plain").snapshot))


def test_a_row_that_comes_and_goes(tmp_path):
    """The range that it has widened is still that of its file, which is verified."""
    log, rows = new_log(tmp_path), ROWS[10:3000]
    ends = [commit(log, insert(rows))[1], commit(log, insert([(1, 1, "y"), (9000, 1, "y")]))[1],
            commit(log, delete([(1, 1, "y"), (9000, 1, "y")]))[1]]
    log.close()
    with merging():
        for end in ends:
            version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                     stop=("binlog.000001", end), target_file_size=SMALL).snapshot
            assert not version.verify().damaged
    assert not applier.fsck(tmp_path / "lake").damaged and rows_of(version).num_rows == len(rows)


@pytest.mark.by_turns("with_rows")
@pytest.mark.parametrize("ddl", ["RENAME TABLE item TO kept", "ALTER TABLE item ADD COLUMN more INT DEFAULT 7",
                                 "ALTER TABLE item ADD INDEX (n)", "ALTER TABLE item DROP PRIMARY KEY",
                                 "ALTER TABLE item MODIFY id BIGINT NOT NULL", "TRUNCATE TABLE item",
                                 "DROP TABLE item"])
@pytest.mark.parametrize("with_rows", [False, True])
def test_ddl_between_changes(ddl, with_rows, tmp_path):
    """A statement alone in its round, and with rows before it: a rename keeps the files, others may write them
    again."""
    log = new_log(tmp_path)
    ends = [commit(log, insert(ROWS[:3000]))[1], commit(log, update([ROWS[5]], [(5, 6, "y")]))[1]]
    if with_rows:
        commit(log, update([ROWS[1700]], [(1700, 6, "y")]), delete([ROWS[3]]))
    log.query(ddl, "shop")
    ends.append(log.position)
    log.close()
    for end in ends:
        version = applier.replay(str(tmp_path / "binlog.000001"), lake=tmp_path / "lake", merge_on_read=True,
                                 stop=("binlog.000001", end), target_file_size=2000).snapshot
        assert not version.verify().damaged
    plain = applier.replay(str(tmp_path / "binlog.000001"), tmp_path / "plain").snapshot
    assert applier.diff(plain, version).same and version.schema == plain.schema
    for name, table in plain.tables.items():
        ours, wanted = (sorted(map(str, one.to_arrow().to_pylist())) for one in (version.tables[name], table))
        assert ours == wanted
    if ddl.startswith("RENAME"):
        assert entry_of(version).folder == entry_of(f"{tmp_path}/lake/_versions/1").folder
        assert with_rows or entry_of(version).row_files


TABLES = {
    "unique keys": ("id INT PRIMARY KEY, n INT, s VARCHAR(20), UNIQUE (n)", True),
    "text key": ("id INT, n INT, s VARCHAR(20), PRIMARY KEY (s, id)", True),
    "text key, compared by a collation": ("id INT, n INT, s VARCHAR(20) COLLATE utf8mb4_general_ci, "
                                          "PRIMARY KEY (s(5), id)", True),
    "no key": ("id INT, n INT, s VARCHAR(20)", False),
    "a key that is not unique": ("id INT, n INT, s VARCHAR(20), KEY (id)", False),
    "a column that the log lacks": ("id INT PRIMARY KEY, n INT, s VARCHAR(20), g INT AS (n + 1) STORED", False),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_kinds_of_tables(kind, route, tmp_path):
    """FIND: tables whose rows are found by one key, by several, by none: those without a key, or with
    values that the log does not have, get whole files."""
    columns, merges = TABLES[kind]
    schema = tmp_path / "schema.sql"
    schema.write_text(f"CREATE DATABASE shop CHARSET utf8mb4; CREATE TABLE shop.item ({columns});")
    rows = [(n, n, f"text {n}") for n in range(2000)]
    log = BinlogWriter(tmp_path / "binlog.000001")
    ends = [commit(log, insert(rows))[1], commit(log, update([rows[5], rows[900]], [(5, -6, "y"), (900, -7, "z")]))[1],
            commit(log, delete([rows[7]]), insert([(3000, 3000, "zz")]), update([(5, -6, "y")], [(6000, -1, "a")]))[1]]
    log.close()
    with merging(group_bytes=5000):
        for number, end in enumerate(ends):
            version = applier.replay(str(tmp_path / "binlog.000001"), lake=tmp_path / "lake", merge_on_read=True,
                                     route=route, schema=None if number else schema, witness="stop",
                                     stop=("binlog.000001", end), target_file_size=5000).snapshot
    plain = applier.replay(str(tmp_path / "binlog.000001"), tmp_path / "plain", schema=schema).snapshot
    assert bool(entry_of(version).row_files) == merges
    ours, wanted = (one.tables["shop.item"].to_arrow() for one in (version, plain))
    assert ours.equals(wanted) if plain.tables["shop.item"].key else \
        sorted(map(str, ours.to_pylist())) == sorted(map(str, wanted.to_pylist()))
    assert applier.diff(plain, version).same and not version.verify().damaged


def test_invalid_dates_in_row_files(tmp_path):
    """A zero date is null to readers, in files and in row files, and comes back where an applier reads it."""
    dump = tmp_path / "d.sql"
    dump.write_text("CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, d DATE NOT NULL); INSERT INTO t "
                    + "VALUES (1,'0000-00-00'),(2,'2024-02-03')" + "".join(f",({n},'2024-01-01')" for n in range(3, 99))
                    + ";")
    lake = tmp_path / "lake"
    made = applier.import_dump(dump, lake=lake, merge_on_read=True)
    assert made.snapshot.tables["d.t"].to_arrow().to_pylist()[0] == {"id": 1, "d": None}
    assert cli.main(["export", str(lake), "--output", str(tmp_path / "out"), "--engine", "local"]) == 0
    assert "'0000-00-00'" in "".join(path.read_text() for path in (tmp_path / "out").rglob("*.sql"))


def test_shards(log, tmp_path, monkeypatch):
    """Entries of many files stand in a shard, with what changes have made of their ranges."""
    monkeypatch.setattr(shards, "MOST_INLINE", 2)
    for number, end in enumerate(log[1]):
        version = applier.replay(log[0], lake=tmp_path / "lake", merge_on_read=True, stop=end,
                                 target_file_size=SMALL).snapshot
        plain = applier.replay(log[0], tmp_path / str(number), stop=end).snapshot
        assert not version.verify().damaged and rows_of(version).equals(rows_of(plain))
        assert applier.diff(plain, version).same
    assert entry_of(version).sharded and entry_of(version).row_files
    assert applier.fsck(tmp_path / "lake").damaged == ()


def test_a_new_lake_begins_with_a_base(log, tmp_path):
    """Of whole files, or of another lake that merges: its files come over, with what is merged with them."""
    base = applier.replay(log[0], tmp_path / "base", stop=log[1][0], target_file_size=SMALL).snapshot
    one = applier.replay(log[0], lake=tmp_path / "one", base=base, merge_on_read=True, stop=log[1][2],
                         target_file_size=SMALL).snapshot
    assert entry_of(one).row_files and not one.verify().damaged
    two = applier.replay(log[0], lake=tmp_path / "two", base=one, merge_on_read=True, target_file_size=SMALL).snapshot
    assert entry_of(two).folder != entry_of(one).folder or entry_of(two).row_files
    plain = applier.replay(log[0], tmp_path / "plain").snapshot
    shutil.rmtree(tmp_path / "one")
    assert rows_of(two).equals(rows_of(plain)) and not two.verify().damaged


@pytest.mark.parametrize("target", ["output", "lake"])
def test_a_merging_base_becomes_whole_files(log, versions, target, tmp_path):
    """A snapshot, or a lake of whole files, has no row files: ranges that have some are written again."""
    _, made, plain = versions
    into = {target: tmp_path / "whole"}
    whole = applier.replay(log[0], base=made[2], **into).snapshot
    assert rows_of(whole).equals(rows_of(plain[3])) and not whole.verify().damaged
    assert not entry_of(whole).row_files and not manifest.load(whole.uri).merges
    assert sum(map(os.path.exists, whole.tables["shop.item"].files)) == len(whole.tables["shop.item"].files)
    table = pa.concat_tables(pa.parquet.read_table(file) for file in whole.tables["shop.item"].files)
    assert table.num_rows == rows_of(plain[3]).num_rows


def test_a_range_of_a_merging_base_becomes_several_files(log, versions, tmp_path):
    """Smaller ones, in the order of their keys, whatever ranges are beside it."""
    _, made, plain = versions
    whole = applier.replay(log[0], tmp_path / "whole", base=made[2], target_file_size=500).snapshot
    assert rows_of(whole).equals(rows_of(plain[3])) and not whole.verify().damaged
    assert len(entry_of(whole).files) > len(entry_of(made[2]).files)
