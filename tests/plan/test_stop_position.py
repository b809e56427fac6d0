"""A stop point is a place of the log, and where reading ends: what comes after its file does not matter."""

import pytest
from small_logs import commit, held, insert, new_log

from applier.apply.executor import ThisProcess
from applier.binlog.writer import SOURCE
from applier.errors import ArchiveError, UsageError
from applier.options import ReplayOptions
from applier.replay import replay_with


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
    with pytest.raises(UsageError, match=f"000001:{begin}, .* comes before binlog.000001:{end}, where it starts"):
        replay_with(ThisProcess(), ReplayOptions(binlogs, output, base=base, stop_position=("binlog.000001", begin)))
    with pytest.raises(UsageError, match=f"000001:{end}, .* comes before binlog.000002:4, where it starts"):
        replay_with(ThisProcess(), ReplayOptions(binlogs, output, start_position=("binlog.000002", 4),
                                                 stop_position=("binlog.000001", end)))


@pytest.mark.parametrize("numbers, missing", [("1-3", None), ("1-5", None), ("1-9", "6-9"), ("7", "7")])
def test_a_log_that_ends_before_the_transactions_to_stop_after(numbers, missing, archive, tmp_path):
    """GRP-2: everything is replayed then, which is told. The log has transactions 1 (the table) to 5."""
    options = ReplayOptions(archive[0], str(tmp_path / "out"), stop_gtid=f"{SOURCE}:{numbers}")
    notes = replay_with(ThisProcess(), options).notes
    assert [note[note.index("without"):] for note in notes] == (
        [f"without transactions {SOURCE}:{missing}"] if missing else [])
