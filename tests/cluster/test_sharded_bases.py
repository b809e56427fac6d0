"""Snapshots whose tables' entries are in shards: every verb does with them what it does without."""

import dataclasses
import os
from unittest import mock

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_at
from applier.jobs.verify.files import verify
from applier.options import ImportOptions, ReplayOptions
from applier.plan import units
from applier.snapshot import manifest, table_entry
from applier.snapshot.files import shards
from applier.snapshot.files.shards import ShardedFiles, read_shard
from tests.support.real_server import Case, differences, replayed
from tests.support.small_logs import commit, held, insert, new_log, update

ROWS = [(n, n, f"row {n}") for n in range(200)]
ENGINES = [pytest.param(["--engine", "local"], id="local"),
           pytest.param(["--engine", "spark", "--master", "local[2]"], id="spark")]
SHARD = "_files/shop/item.parquet"


@pytest.fixture(autouse=True)
def few_inline(monkeypatch):
    monkeypatch.setattr(shards, "MOST_INLINE", 3)


@pytest.fixture
def made(tmp_path):
    """A log, and a base of its first half with two tables, one of them in many files; the log continues with a change
    to one row of that."""
    log = new_log(tmp_path)
    log.query("CREATE TABLE other (a INT PRIMARY KEY)", "shop")
    for first in range(0, 200, 20):
        commit(log, insert(ROWS[first:first + 20]))
    middle = log.position
    commit(log, update([ROWS[100]], [(100, -1, "new")]))
    log.close()
    with in_small_ranges():
        assert replay(tmp_path, tmp_path / "base", "--stop-position", f"binlog.000001:{middle}") == 0
    [item, other] = manifest.load(str(tmp_path / "base")).tables
    assert isinstance(item.files, ShardedFiles) and len(item.files) > 4 and not isinstance(other.files, ShardedFiles)
    return tmp_path


def in_small_ranges():
    return mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1)


def replay(logs, output, *options):
    return cli.main(["replay", "--binlogs", str(logs), "--output", str(output), *options])


AFTER = [(n, -1 if n == 100 else n, "new" if n == 100 else f"row {n}") for n in range(200)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_replay_goes_on_from_shards(spark, made, engine, route):
    """Files without a change are carried over, and the shard names them where they are now; it is read once."""
    with mock.patch.object(table_entry, "read_shard", side_effect=read_shard) as reading:
        assert replay(made, made / "out", "--base", str(made / "base"), "--route", route, *engine) == 0
    assert reading.call_count == 1
    before, after = (manifest.load(str(made / name)) for name in ("base", "out"))
    assert held(made / "out") == AFTER and verify(str(made / "out")).damaged == ()
    [old, new] = ({file.path: (made / name / file.path).stat().st_ino for file in snapshot.tables[0].files}
                  for name, snapshot in (("base", before), ("out", after)))
    assert isinstance(after.tables[0].files, ShardedFiles)
    assert len(new) == len(old) and len(set(old.values()) - set(new.values())) == 1


def test_a_table_that_nothing_changes_is_read_once(made):
    """A base at the end of the log: its shard goes along."""
    assert replay(made, made / "all", "--base", str(made / "base")) == 0
    with mock.patch.object(table_entry, "read_shard", side_effect=read_shard) as reading:
        assert replay(made, made / "again", "--base", str(made / "all")) == 0
    assert reading.call_count == 1
    first, again = (manifest.load(str(made / name)) for name in ("all", "again"))
    assert tuple(first.tables[0].files) == tuple(again.tables[0].files)


def test_only_the_shards_of_chosen_tables_are_read(made):
    """AP-FILT: what is not asked for may be gone."""
    (made / "base" / SHARD).unlink()
    assert replay(made, made / "out", "--base", str(made / "base"), "--tables", "shop.other") == 0
    assert [table.name for table in manifest.load(str(made / "out")).tables] == ["other"]


def test_in_passes_and_several_at_once(made):
    """What a pass hands on, and each of several snapshots in a folder, has its own."""
    size = (made / "binlog.000001").stat().st_size
    with in_small_ranges():
        replay_with(ThisProcess(2), ReplayOptions((str(made),), str(made / "passes"), pass_bytes=size // 4))
        replay_at(ThisProcess(2), ReplayOptions((str(made),), str(made / "both"), snapshot_at=(
            ("binlog.000001", size // 2), ("binlog.000001", size))))
    assert held(made / "passes") == AFTER
    [first, last] = sorted(path for path in (made / "both").iterdir() if path.is_dir())
    assert verify(str(first)).damaged == verify(str(last)).damaged == verify(str(made / "passes")).damaged == ()
    assert (last / SHARD).exists() and len(held(last)) == 200


@pytest.mark.parametrize("harm, says", [
    (lambda path: path.unlink(), "missing"),
    (lambda path: path.write_bytes(path.read_bytes()[:-1]), "its manifest says"),
    (lambda path: path.write_bytes(path.read_bytes().replace(b"part-000001", b"part-000009")), "was changed after"),
])
def test_a_damaged_shard(made, harm, says, capsys):
    """Exit 2 and the name of the shard, and nothing is published; verify says nothing of the files that it may name."""
    path = made / "base" / SHARD
    harm(path)
    for argv in (["replay", "--binlogs", str(made), "--base", str(made / "base"), "--output", str(made / "out")],
                 ["export", str(made / "base"), "--output", str(made / "out")],
                 ["status", str(made / "base")]):
        assert cli.main(argv) == 2
        error = capsys.readouterr().err.replace("\n", " ")
        assert says in error and "item.parquet" in error and "shop.item" in error and "backup" in error
    assert sorted(os.listdir(made)) == ["base", "binlog.000001"]
    [line] = verify(str(made / "base")).damaged
    assert line.startswith(f"{SHARD}: ") and says in line
    assert cli.main(["verify", str(made / "base")]) == 2


def test_damaged_files_that_a_shard_names(made, capsys):
    """As those that the manifest names: found before anything is published on top of them."""
    file = manifest.load(str(made / "base")).tables[0].files[2]
    path = made / "base" / file.path
    whole = path.read_bytes()
    for content, says in ((whole[:-1], "its manifest says"), (None, "missing")):
        path.write_bytes(content) if content is not None else path.unlink()
        assert replay(made, made / "out", "--base", str(made / "base")) == 2
        error = capsys.readouterr().err.replace("\n", "")
        assert says in error and path.name in error and not (made / "out").exists()
        [line] = verify(str(made / "base")).damaged
        assert line.startswith(f"{file.path}: ") and says in line


def test_files_that_no_shard_names(made):
    """Neither those of tables nor shards of others."""
    (made / "base/shop/item/part-9.parquet").write_bytes(b"x")
    (made / "base/_files/shop/gone.parquet").write_bytes(b"x")
    assert [line.split(":")[0] for line in verify(str(made / "base")).damaged] == [
        "_files/shop/gone.parquet", "shop/item/part-9.parquet"]


def is_sharded(snapshot):
    """Return whether its only table's files are in a shard."""
    return any(table.sharded for table in manifest.load(str(snapshot)).tables)


def test_status_export_and_import(made, capsys):
    """A dump whose table has many files becomes a snapshot with a shard, and the other way round."""
    assert cli.main(["status", str(made / "base")]) == 0
    n_files = len(manifest.load(str(made / "base")).tables[0].files)
    [line] = [line.split() for line in capsys.readouterr().out.splitlines() if " shop.item " in line]
    assert line[1] == "200" and line[3] == str(n_files)
    assert cli.main(["export", str(made / "base"), "--output", str(made / "dump")]) == 0
    import_dump(ImportOptions(str(made / "dump"), str(made / "again"), file_bytes=100))
    assert held(made / "again") == ROWS and is_sharded(made / "again")
    assert verify(str(made / "again")).damaged == ()


def test_the_history_of_a_versioned_table(tmp_path, monkeypatch):
    """Its files are in a shard of their own."""
    monkeypatch.setattr(shards, "MOST_INLINE", 0)
    case = Case("mariadb-versioning-ddl")
    replayed(case, tmp_path / "base", mark=case.mark("altered"))
    replayed(case, tmp_path / "out", base=str(tmp_path / "base"), mark=case.mark("history_gone"))
    assert differences(tmp_path / "out", case.expected(case.mark("history_gone"))) == []
    table = manifest.load(str(tmp_path / "out")).table("sv", "c")
    assert {files.shard.path for files in table.sharded} == {"_files/sv/c.parquet", "_files/_history/sv/c.parquet"}
    assert verify(str(tmp_path / "out")).damaged == ()


def test_an_empty_table_and_one_that_is_dropped(tmp_path, monkeypatch):
    """A shard of one file without rows; and none of a table that is gone."""
    monkeypatch.setattr(shards, "MOST_INLINE", 0)
    with new_log(tmp_path) as log:
        log.query("CREATE TABLE other (a INT)", "shop")
        middle = log.position
        log.query("DROP TABLE other", "shop")
    assert replay(tmp_path, tmp_path / "base", "--stop-position", f"binlog.000001:{middle}") == 0
    assert replay(tmp_path, tmp_path / "out", "--base", str(tmp_path / "base")) == 0
    assert sorted(os.listdir(tmp_path / "base/_files/shop")) == ["item.parquet", "other.parquet"]
    assert os.listdir(tmp_path / "out/_files/shop") == ["item.parquet"]
    [table] = manifest.load(str(tmp_path / "out")).tables
    assert (len(table.files), table.rows) == (1, 0)


def test_a_manifest_of_the_older_version_goes_on(made):
    """Entries that are inline become a shard, and, where they get few, a shard becomes inline again."""
    base = manifest.load(str(made / "base"))
    inline = dataclasses.replace(base, tables=tuple(dataclasses.replace(table, files=tuple(table.files))
                                                    for table in base.tables))
    (made / "base/_snapshot.json").write_bytes(inline.to_json())
    assert not is_sharded(made / "base") and manifest.load(str(made / "base")) == base
    assert replay(made, made / "out", "--base", str(made / "base")) == 0
    assert is_sharded(made / "out") and held(made / "out") == AFTER
    with mock.patch.object(shards, "MOST_INLINE", 100):
        assert replay(made, made / "few", "--base", str(made / "out")) == 0
    assert not is_sharded(made / "few") and not (made / "few/_files").exists()
