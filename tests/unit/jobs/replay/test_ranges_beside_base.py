"""Tables that have a base: units are as small as without one, and files without changes stay as they are."""

import os
from unittest import mock

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import ranges, units
from applier.snapshot import manifest
from tests.support.small_logs import commit, delete, held, insert, new_log, update


def test_new_keys_around_a_base_are_divided(tmp_path):
    """One small base file in the midst, and many rows below and above it; the file is one unit's."""
    log = new_log(tmp_path)
    commit(log, insert([(1000, 1, "base"), (1001, 1, "base")]))
    middle = log.position
    for number in (*range(200), *range(2000, 2200)):
        commit(log, insert([(number, 1, "x")]))
    commit(log, update([(1000, 1, "base")], [(1000, 2, "changed")]), delete([(2100, 1, "x")]))
    log.close()

    def replayed(name, **options):
        return replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / name), **options)).tables

    with mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1):
        replayed("base", stop_position=("binlog.000001", middle))
        for route in ("walk", "shuffle"):
            [table] = replayed(route, base=str(tmp_path / "base"), route=route)
            assert table.files_written > 8
            assert (table.rows, table.inserts, table.updates, table.deletes) == (401, 400, 1, 1)
            keys = [*range(200), 1000, 1001, *(number for number in range(2000, 2200) if number != 2100)]
            assert [row[0] for row in held(tmp_path / route)] == keys


@pytest.fixture
def hot_file(tmp_path):
    """A folder with a base of several files, and a log after it that changes every row of the second file and one of
    the last; the keys of the second file, and the rows afterwards."""
    log = new_log(tmp_path)
    rows = {number: (number, 1, "base") for number in range(0, 1000, 2)}
    for number in rows:
        commit(log, insert([rows[number]]))
    following = log.rotate(tmp_path / "binlog.000002")
    with mock.patch.multiple(units, UNIT_BYTES=8000, LEAST_UNIT_BYTES=1):
        replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / "base")))
    second = files_of(tmp_path / "base")[1]
    for number in [*range(second.min_key, second.max_key, 2), 998]:
        commit(following, update([rows[number]], [(number, 2, "changed")]))
        rows[number] = number, 2, "changed"
    for number in range(second.min_key + 1, second.max_key, 10):
        commit(following, insert([(number, 3, "between")]), delete([rows.pop(number + 1)]))
        rows[number] = number, 3, "between"
    following.close()
    return following.path, tmp_path, range(second.min_key, second.max_key + 1), [rows[key] for key in sorted(rows)]


def files_of(snapshot):
    return manifest.load(str(snapshot)).table("shop", "item").files


def inodes(snapshot):
    return {os.stat(snapshot / file.path).st_ino for file in files_of(snapshot)}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("mode", ["strict", "idempotent"])
def test_a_base_file_that_many_changes_are_of_is_divided(hot_file, route, mode):
    """Each of its units writes its own files then; the other base files stay whole, and mostly what they are."""
    path, folder, keys, rows = hot_file
    found = []
    for hot_bytes, is_divided in ((1500, True), (1 << 30, False)):
        output = folder / str(hot_bytes)
        with mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1), \
                mock.patch.object(ranges, "HOT_BYTES", hot_bytes):
            result = replay_with(ThisProcess(2), ReplayOptions((path,), str(output), base=str(folder / "base"),
                                                               route=route, exec_mode=mode))
        assert held(output) == rows
        [table] = result.tables
        found.append((table.rows, table.inserts, table.updates, table.deletes, table.found, table.conflicts))
        assert len(inodes(folder / "base") - inodes(output)) == 2
        assert len([file for file in files_of(output) if file.min_key in keys]) > 3 * is_divided
    assert found[0] == found[1]


def test_a_base_file_is_not_divided_for_a_few_changes(hot_file):
    """By their bytes: what reading it for each unit costs is more than is won."""
    path, folder, keys, _ = hot_file
    with mock.patch.multiple(units, UNIT_BYTES=1500, LEAST_UNIT_BYTES=1):
        replay_with(ThisProcess(2), ReplayOptions((path,), str(folder / "after"), base=str(folder / "base")))
    assert len([file for file in files_of(folder / "after") if file.min_key in keys]) == 1
