"""A replay continues from a base snapshot: the same rows as one replay of everything, and files left as they were."""

import dataclasses
import shutil
import uuid
from unittest import mock

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import units
from applier.snapshot import manifest
from applier.writer.writer import SOURCE
from tests.support.real_server import Case, differences
from tests.support.small_logs import commit, delete, held, insert, new_log, update

CASES = [("key-moves-full", ("moves.n",)), ("key-moves-minimal", ("moves.n",)), ("checksum-changes", ()),
         ("large-statements-checksum-none", ("big.nokey",)), ("large-statements-mariadb", ("big.nokey",))]


ROWS = [(n, n, f"row {n}") for n in range(400)]


def replay(binlogs, output, *options):
    words = ["replay", "--binlogs", *map(str, binlogs), "--output", str(output), "--master", "local[2]"]
    return cli.main([*words, *options])


@pytest.mark.by_turns("route", one_in=2)
@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name, left_out", CASES)
def test_from_mark_to_mark(spark, name, left_out, route, tmp_path):
    """AP-SNAP, GRP-5: a snapshot at each mark, each made from the one before, and at last the end."""
    case, base = Case(name), []
    options = ["--route", route, *(["--ignore-tables", *left_out] if left_out else [])]
    for mark in [*case.marks, None]:
        output = tmp_path / (mark.name if mark else "end")
        stop = ["--stop-position", str(mark)] if mark else []
        assert replay(case.binlogs, output, *options, *base, *stop) == 0
        assert differences(output, case.expected(mark), left_out) == []
        base = ["--base", str(output)]
    assert replay(case.binlogs, tmp_path / "whole", *options) == 0
    once, thrice = manifest.load(str(tmp_path / "whole")), manifest.load(str(tmp_path / "end"))
    assert once.position == thrice.position and once.databases == thrice.databases
    assert [t.definition for t in once.tables] == [t.definition for t in thrice.tables]
    assert [(t.full_name, t.rows) for t in once.tables] == [(t.full_name, t.rows) for t in thrice.tables]


def test_only_the_files_that_go_on_are_needed(spark, tmp_path):
    """GRP-5: files before the base's position may be gone now."""
    case = Case("checksum-changes")
    [mark] = case.marks
    assert replay(case.binlogs, tmp_path / "base", "--stop-position", str(mark)) == 0
    rest = [file for file in case.binlogs if file.name >= mark.file]
    assert len(rest) < len(case.binlogs)
    assert replay(rest, tmp_path / "end", "--base", str(tmp_path / "base")) == 0
    assert differences(tmp_path / "end", case.expected()) == []


def test_a_base_at_the_end_of_the_log_stays_as_it_is(spark, tmp_path):
    """GRP-5: nothing is applied twice; every file is the base's own."""
    case = Case("checksum-changes")
    assert replay(case.binlogs, tmp_path / "base") == 0
    assert replay(case.binlogs, tmp_path / "again", "--base", str(tmp_path / "base")) == 0
    assert manifest.load(str(tmp_path / "again")).position == manifest.load(str(tmp_path / "base")).position
    assert inodes(tmp_path / "again") == inodes(tmp_path / "base") != {}


def inodes(snapshot):
    return {file.path: (snapshot / file.path).stat().st_ino
            for table in manifest.load(str(snapshot)).tables for file in table.files}


@pytest.fixture
def in_files(tmp_path):
    """A base of 400 rows in several files as it stands after the first binlog, and the second one to write."""
    log = new_log(tmp_path)
    for first in range(0, 400, 20):
        commit(log, insert(ROWS[first:first + 20]))
    middle = log.position
    following = log.rotate(tmp_path / "binlog.000002")
    with mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1):
        replay_with(ThisProcess(2), ReplayOptions((str(tmp_path / "binlog.000001"),), str(tmp_path / "base"),
                                                  stop_position=("binlog.000001", middle)))
    assert len(inodes(tmp_path / "base")) >= 5
    return following, tmp_path


def run(folder, output, **options):
    replay_with(ThisProcess(2), ReplayOptions((str(folder),), str(folder / output), **options))
    return folder / output


def n_new_files(folder):
    """Return how many of the base's files are not in the snapshot after it, which has as many."""
    before, after = set(inodes(folder / "base").values()), set(inodes(folder / "after").values())
    assert len(before) == len(after)
    return len(before - after)


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_files_without_a_change_are_carried_over_by_hard_link(in_files, route):
    log, folder = in_files
    commit(log, update([(200, 200, "row 200")], [(200, -1, "new")]))
    log.close()
    after = run(folder, "after", base=str(folder / "base"), route=route)
    assert held(after) == [*ROWS[:200], (200, -1, "new"), *ROWS[201:]]
    assert n_new_files(folder) == 1


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_row_that_moves_changes_both_files(in_files, route):
    """Also the file that only gains a row, and the one that only loses one."""
    log, folder = in_files
    commit(log, delete([(399, 399, "row 399")]), update([(0, 0, "row 0")], [(399, 0, "moved")]))
    log.close()
    after = run(folder, "after", base=str(folder / "base"), route=route)
    assert held(after) == ROWS[1:399] + [(399, 0, "moved")]
    assert n_new_files(folder) == 2


def test_a_row_that_comes_and_goes_leaves_the_rows_as_they_were(in_files):
    log, folder = in_files
    commit(log, insert([(1000, 1, "x")]), delete([(1000, 1, "x")]))
    log.close()
    after = run(folder, "after", base=str(folder / "base"))
    assert held(after) == ROWS
    assert str(manifest.load(str(after)).position) == f"binlog.000002:{log.position}"


def based(folder, **position):
    """A base that says that it stands elsewhere."""
    snapshot = manifest.load(str(folder / "base"))
    moved = dataclasses.replace(snapshot, position=dataclasses.replace(snapshot.position, **position))
    (folder / "base" / "_snapshot.json").write_bytes(moved.to_json())


@pytest.mark.parametrize("position, says", [
    ({"file": "binlog.000003", "offset": 4, "gtid_set": ""}, "binlog.000003"),
    ({"file": "binlog.000003", "offset": 4, "gtid_set": f"{SOURCE}:1-30"}, f"do not contain {SOURCE}:22-30"),
    ({"offset": 10_000_000, "gtid_set": ""}, "newer than these logs"),
    ({"offset": 200, "gtid_set": ""}, "no event group starts at this position"),
])
def test_a_base_newer_than_the_logs_or_not_of_them(in_files, position, says, capsys):
    """GRP-2, GRP-5: exit 2, naming what is missing; nothing is published."""
    log, folder = in_files
    log.close()
    based(folder, **position)
    assert replay([folder], folder / "out", "--base", str(folder / "base")) == 2
    assert says in capsys.readouterr().err
    assert not (folder / "out").exists()


def test_a_base_older_than_the_logs(spark, tmp_path, capsys):
    """GRP-5: what lies between the base and the first file is missing, and the error names the base's file. By GTIDs it
    is known that nothing does."""
    case = Case("checksum-changes")
    [mark] = case.marks
    assert replay(case.binlogs, tmp_path / "base", "--stop-position", str(mark)) == 0
    assert replay(case.binlogs[-1:], tmp_path / "by_gtid", "--base", str(tmp_path / "base")) == 0
    assert differences(tmp_path / "by_gtid", case.expected()) == []
    based(tmp_path, gtid_set="")
    assert replay(case.binlogs[-1:], tmp_path / "out", "--base", str(tmp_path / "base")) == 2
    error = capsys.readouterr().err
    assert mark.file in error and "1236" in error
    assert not (tmp_path / "out").exists()


def test_logs_of_another_server(in_files, tmp_path_factory):
    """GRP-5: a file of the same name in which the same position is the end of a group, with other transactions."""
    _, folder = in_files
    other = tmp_path_factory.mktemp("other")
    with new_log(other, source=uuid.UUID(int=7)) as log:
        for first in range(0, 400, 20):
            commit(log, insert(ROWS[first:first + 20]))
        assert str(manifest.load(str(folder / "base")).position) == f"binlog.000001:{log.position}"
        commit(log, insert([(1000, 1, "another server's")]))
    with pytest.raises(ArchiveError, match="another server"):
        run(other, "out", base=str(folder / "base"))
    assert not (other / "out").exists()


def test_a_base_that_lacks_what_came_before_its_file(in_files):
    log, folder = in_files
    commit(log, insert([(1000, 1, "x")]))
    log.close()
    based(folder, gtid_set=f"{SOURCE}:1-5", file="binlog.000002", offset=4)
    with pytest.raises(ArchiveError, match=f"{SOURCE}:6-21 precede binlog.000002"):
        run(folder / "binlog.000002", "../out", base=str(folder / "base"))


def test_a_damaged_base_is_named(in_files, capsys):
    log, folder = in_files
    shutil.copytree(folder / "base", folder / "broken")
    victim = next((folder / "broken" / "shop" / "item").iterdir())
    victim.unlink()
    commit(log, update([(0, 0, "row 0")], [(0, 1, "new")]))
    log.close()
    assert replay([folder], folder / "out", "--base", str(folder / "broken")) == 2
    assert victim.name in capsys.readouterr().err
    assert not (folder / "out").exists()
