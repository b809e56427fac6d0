"""A stop point is a place of the log, and where reading ends: what comes after its file does not matter."""

import os
import shutil
from dataclasses import replace

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError, UsageError
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_to_places
from applier.options import ReplayOptions
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import SOURCE
from tests.support.folders import CASES
from tests.support.small_logs import ITEM, commit, held, images, insert, new_log
from tests.support.small_parts import rows_of, same


def test_files_after_the_stop_position_are_not_read(tmp_path):
    """GRP-2: the way around a damaged file, which the error's own hint names, works."""
    log = new_log(tmp_path)
    commit(log, insert([(1, 1, "kept")]))
    name, position = "binlog.000001", log.position
    log = log.rotate(tmp_path / "binlog.000002")
    commit(log, insert([(2, 2, "lost")]))
    log.close()
    damaged = tmp_path / "binlog.000002"
    damaged.write_bytes(b"\xfebin" + bytes(100))
    binlogs = tuple(str(tmp_path / f"binlog.00000{n}") for n in (1, 2))
    with pytest.raises(ArchiveError):
        replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "all")))
    result = replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "part"), stop_position=(name, position)))
    assert result.position == f"{name}:{position}"
    assert held(tmp_path / "part") == [(1, 1, "kept")]


@pytest.fixture
def archive(tmp_path):
    """Two files with two transactions each, the paths of both; where the second transaction begins and ends."""
    log = new_log(tmp_path)
    commit(log, insert([(1, 1, "a")]))
    begin, end = commit(log, insert([(2, 2, "b")]))
    log = log.rotate(tmp_path / "binlog.000002")
    for number in (3, 4):
        commit(log, insert([(number, number, "c")]))
    log.close()
    return (str(tmp_path / "binlog.0*"),), begin, end


def test_a_place_that_is_not_there_is_told_from_one_that_comes_too_early(archive, tmp_path):
    """GRP-2, GRP-5."""
    binlogs, begin, end = archive
    base, output = str(tmp_path / "base"), str(tmp_path / "out")
    with pytest.raises(UsageError, match=r"binlog.000009, which is not in the archive: it goes from binlog.000001 to "
                                         r"binlog.000002"):
        replay_with(ThisProcess(), ReplayOptions(binlogs, output, stop_position=("binlog.000009", 4)))
    replay_with(ThisProcess(), ReplayOptions(binlogs, base, stop_position=("binlog.000001", end)))
    with pytest.raises(UsageError, match=f"000001:{begin}, .* precedes binlog.000001:{end}, where it starts"):
        replay_with(ThisProcess(), ReplayOptions(binlogs, output, base=base, stop_position=("binlog.000001", begin)))
    with pytest.raises(UsageError, match=f"000001:{end}, .* precedes binlog.000002:4, where it starts"):
        replay_with(ThisProcess(), ReplayOptions(binlogs, output, start_position=("binlog.000002", 4),
                                                 stop_position=("binlog.000001", end)))


@pytest.mark.parametrize("numbers, missing", [("1-3", None), ("1-5", None), ("1-9", "6-9"), ("7", "7")])
def test_a_log_that_ends_before_the_transactions_to_stop_after(numbers, missing, archive, tmp_path):
    """GRP-2: nothing is published then. The log has transactions 1 (the table) to 5."""
    options = ReplayOptions(archive[0], str(tmp_path / "out"), stop_gtid=f"{SOURCE}:{numbers}")
    if missing is None:
        assert replay_with(ThisProcess(), options).notes == ()
        return
    with pytest.raises(UsageError, match=f"the log ends at .* without transactions {SOURCE}:{missing}, at which"):
        replay_with(ThisProcess(), options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("case", ["many-files-mysql", "many-files-mariadb"])
def test_damage_behind_a_stop_point_of_any_kind(case, tmp_path):
    """GRP-2: a GTID set and a time are found in the files before the damage; what lies behind it is not there."""
    files = sorted((CASES / case).glob("binlog.0*"))
    shutil.copytree(CASES / case, tmp_path / "logs")
    logs, damaged = (str(tmp_path / "logs"),), tmp_path / "logs" / files[2].name
    two = replay_with(ThisProcess(), ReplayOptions(tuple(map(str, files[:2])), str(tmp_path / "two")))
    damaged.write_bytes(damaged.read_bytes()[:300] + bytes(100) + damaged.read_bytes()[400:])
    result = replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / "stop"), stop_gtid=two.gtid_set))
    assert result.gtid_set == two.gtid_set and same(rows_of(tmp_path / "stop"), rows_of(tmp_path / "two"))
    with pytest.raises(UsageError, match="these binlogs contain nothing before"):  # all of them are of one second
        replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / "none"), stop_datetime=two.timestamp))
    [at] = replay_to_places(ThisProcess(), ReplayOptions(logs, str(tmp_path / "at"), snapshot_at=(two.gtid_set,)))
    assert at.gtid_set == two.gtid_set
    last = replay_with(ThisProcess(), ReplayOptions(tuple(map(str, files)), str(tmp_path / "last")))
    with pytest.raises(ArchiveError, match=damaged.name):
        replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / "all"), stop_gtid=last.gtid_set))
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("missing", [2, 3])
@pytest.mark.parametrize("case", ["many-files-mysql", "many-files-mariadb"])
def test_a_file_that_is_missing_behind_a_stop_point_of_any_kind(case, missing, with_index, tmp_path):
    """GRP-2: nobody needs it. One that is missing before the stop point, or where none is named, is an error (1236)."""
    files = sorted((CASES / case).glob("binlog.0*"))
    shutil.copytree(CASES / case, tmp_path / "logs")
    (tmp_path / "logs" / "binlog.index").write_text("".join(f"./{file.name}\n" for file in files))
    (tmp_path / "logs" / files[missing].name).unlink()
    logs = (str(tmp_path / "logs" / "binlog.index") if with_index else str(tmp_path / "logs"),)
    two = replay_with(ThisProcess(), ReplayOptions(tuple(map(str, files[:2])), str(tmp_path / "two")))
    name, offset = two.position.split(":")
    for number, stop in enumerate([{"stop_gtid": two.gtid_set}, {"stop_position": (name, int(offset))}]):
        result = replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / f"stop{number}"), **stop))
        assert result.position == two.position
        assert same(rows_of(tmp_path / f"stop{number}"), rows_of(tmp_path / "two"))
    with pytest.raises(UsageError, match="these binlogs contain nothing before"):  # all of them are of one second
        replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / "none"), stop_datetime=two.timestamp))
    for number, place in enumerate([two.gtid_set, (name, int(offset))]):
        [at] = replay_to_places(ThisProcess(), ReplayOptions(logs, str(tmp_path / f"at{number}"), snapshot_at=(place,)))
        assert at.gtid_set == two.gtid_set
    last = replay_with(ThisProcess(), ReplayOptions(tuple(map(str, files)), str(tmp_path / "last")))
    if missing == 3 and not with_index:  # the numbers do not tell of it
        return
    for stop in ({}, {"stop_gtid": last.gtid_set}, {"stop_datetime": last.timestamp + 60},
                 {"stop_position": (files[3].name, 4)}):
        with pytest.raises(ArchiveError, match=files[missing].name) as error:
            replay_with(ThisProcess(), ReplayOptions(logs, str(tmp_path / "all"), **stop))
        assert error.value.mysql_errno == 1236
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(("flavour", "rotated"), [("mysql", False), ("mysql", True), ("mariadb", False)])
def test_a_base_ends_with_its_last_group_whatever_its_number(flavour, rotated, tmp_path):
    """GRP-2: with numbers out of order the last group is not the one with the highest number."""
    log = new_log(tmp_path, flavour=flavour)
    item = replace(ITEM, flavour=flavour)
    for number in (2, 4, 3, 5):
        if number == 5:
            log.executed = 4
            log = log.rotate(tmp_path / "binlog.000002") if rotated else log
            end = os.path.basename(log.path), log.position
        log.executed, log.server_id = number - 1, 2 if number == 3 else 1
        commit(log, RowChanges(item, after=images([(number, number, "a")])))
    log.close()
    binlogs, base = (str(tmp_path / "binlog.0*"),), str(tmp_path / "base")
    replay_with(ThisProcess(), ReplayOptions(binlogs, base, stop_position=end))
    last, earlier = (f"{SOURCE}:3", f"{SOURCE}:4") if flavour == "mysql" else ("0-2-3", "0-1-4")
    replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "again"), base=base, stop_gtid=last))
    assert held(tmp_path / "again") == held(tmp_path / "base")
    with pytest.raises(UsageError, match=f"transactions {earlier}, at which the replay is to stop, precede "):
        replay_with(ThisProcess(), ReplayOptions(binlogs, str(tmp_path / "out"), base=base, stop_gtid=earlier))
