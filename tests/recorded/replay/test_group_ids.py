"""Replays of logs whose headers have group ids (GRP-3)."""

import dataclasses

import pytest

from applier.binlog.locating.groups import GroupPass
from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.group_id_logs import with_group_ids
from tests.support.real_server import Case, differences


def replay(folder, output, **options):
    replay_with(ThisProcess(2), ReplayOptions((str(folder),), str(output), **options))
    return manifest.load(str(output))


@pytest.fixture
def case(tmp_path):
    """Logs of a real server, with ids; how many groups they have."""
    case, following = Case("row-image-minimal"), 1
    (tmp_path / "logs").mkdir()
    for file in case.binlogs:
        following = with_group_ids(file, tmp_path / "logs" / file.name, following)
    return case, tmp_path, following - 1


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_rows_are_read(case, route):
    """GRP-3, GRP-5: headers of 27 bytes; the snapshot knows the last group."""
    case, folder, last = case
    snapshot = replay(folder / "logs", folder / "out", route=route)
    assert differences(folder / "out", case.expected()) == []
    assert snapshot.position.group_id == last > 10


def based(snapshot, folder, **position):
    """A snapshot that says that it stands elsewhere."""
    moved = dataclasses.replace(snapshot, position=dataclasses.replace(snapshot.position, **position))
    (folder / "_snapshot.json").write_bytes(moved.to_json())


def test_an_id_that_was_applied_before_stops_the_replay(case):
    """GRP-3, GRP-5: within a file, from one to the next, and after a base."""
    case, folder, _ = case
    logs = folder / "logs"
    first = GroupPass(str(logs / "binlog.000001")).groups()[0]
    base = replay(logs, folder / "base", stop_position=(first.file, first.end))
    assert base.position.group_id == 1
    based(base, folder / "base", group_id=2)
    with pytest.raises(ReplayStopped, match="the event group has id 2, but one with id 2 was applied before it"):
        replay(logs, folder / "out", base=str(folder / "base"))
    with_group_ids(case.binlogs[0], logs / "binlog.000001", 1, lambda number: number - 8 * (number > 9))
    with pytest.raises(ReplayStopped, match="the event group has id 2, but one with id 9") as caught:
        replay(logs, folder / "out")
    assert caught.value.file.endswith("binlog.000001") and caught.value.position > first.end
    stop = "binlog.000001", caught.value.position
    assert replay(logs, folder / "out", stop_position=stop).position.group_id == 9
