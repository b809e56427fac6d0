"""GRP-3, GRP-7: where there are no GTIDs, a base continues in another server's log behind the group with its id."""

import json
import re

import pytest

import applier
from applier.cli import main
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError, ReplayStopped, UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.group_id_logs import with_group_ids
from tests.support.small_logs import CREATE, commit, held, insert, new_log

N = 9
ROWS = [(n, 0, "x" * n) for n in range(N)]


def write(folder, ends_of_files=(), gtids="anonymous", padding=0, renumbered=int):
    """N transactions, with group ids from 2 on; `ends_of_files` ends a file behind each of these."""
    plain = folder.parent / f"{folder.name}-plain"
    plain.mkdir()
    folder.mkdir()
    log, file = new_log(plain, gtids=gtids, checksum=True), 1
    for n in range(N):
        commit(log, insert([ROWS[n]]))
        if n in ends_of_files:
            file += 1
            log = log.rotate(plain / f"binlog.{file:06d}")
    log.close()
    following = 1
    for path in sorted(plain.iterdir()):
        following = with_group_ids(path, folder / path.name, following, renumbered)
    return folder


def run(logs, output, **options):
    result = replay_with(ThisProcess(), ReplayOptions((str(logs),), str(output), **options))
    return result, manifest.load(str(output))


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_a_failover_at_every_group(route, tmp_path):
    """The new source has the same groups in files of the same names, at other places."""
    old, new = write(tmp_path / "old", [2, 6]), write(tmp_path / "new", [1, 4, 5])
    for number in range(1, N + 2):
        [group] = applier.locate(old, group_id=number)
        base, output = tmp_path / f"base{number}", tmp_path / f"out{number}"
        run(old, base, stop_position=(group.file, group.end))
        result, snapshot = run(new, output, base=str(base), route=route)
        assert held(output) == ROWS and snapshot.position.group_id == N + 1
        if number > 4:
            assert any("by its group id they continue from" in note for note in result.notes)


def test_a_new_source_that_begins_later(tmp_path):
    """With the next id nothing is missing; with a later one something is [1236]."""
    old, new = write(tmp_path / "old", [2, 6]), write(tmp_path / "new", [1, 4, 5])
    (new / "binlog.000001").unlink()
    for number, fits in ((2, False), (3, True)):
        [group] = applier.locate(old, group_id=number)
        base = tmp_path / f"base{number}"
        run(old, base, stop_position=(group.file, group.end))
        if fits:
            run(new, tmp_path / "out", base=str(base))
            assert held(tmp_path / "out") == ROWS
        else:
            with pytest.raises(ArchiveError, match="the group with id 2, the last one of the base snapshot") as caught:
                run(new, tmp_path / "none", base=str(base))
            assert caught.value.mysql_errno == 1236 and not (tmp_path / "none").exists()


def test_a_base_ahead_of_the_new_source(tmp_path):
    """1236: the new source never got the last groups."""
    old, new = write(tmp_path / "old", [2, 6]), write(tmp_path / "new", [1, 4, 5])
    run(old, tmp_path / "base")
    (new / "binlog.000004").unlink()
    with pytest.raises(ArchiveError, match="the group with id 10") as caught:
        run(new, tmp_path / "out", base=str(tmp_path / "base"))
    assert caught.value.mysql_errno == 1236


def test_a_dump_with_a_group_id(tmp_path, capsys):
    """import --group-id, and status with the id."""
    new = write(tmp_path / "new", [1, 4, 5])
    (tmp_path / "dump.sql").write_text(f"CREATE DATABASE shop; USE shop; {CREATE};")
    assert main(["import", str(tmp_path / "dump.sql"), "--output", str(tmp_path / "base"), "--group-id", "4",
                 "--flavour", "mysql"]) == 0
    assert "does not say at which binlog position" not in "".join(capsys.readouterr())
    assert main(["status", str(tmp_path / "base")]) == 0
    assert re.search(r"group id +4\n", capsys.readouterr().out)
    assert main(["status", str(tmp_path / "base"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["group_id"] == 4
    run(new, tmp_path / "out", base=str(tmp_path / "base"))
    assert held(tmp_path / "out") == ROWS[3:]
    with pytest.raises(UsageError, match="--group-id cannot be 0"):
        applier.import_dump(tmp_path / "dump.sql", tmp_path / "other", group_id=0)


def test_summaries_have_ids(tmp_path):
    logs = write(tmp_path / "logs", [3])
    summary = applier.summary(logs)
    assert (summary.first_group_id, summary.last_group_id) == (1, N + 1)
    assert sorted(one.group_id for one in summary.largest) == list(range(2, N + 2))
    assert summary.to_json()["last_group_id"] == N + 1


def test_groups_without_an_id(tmp_path):
    """A replica writes 0 where its source has no ids: that is none."""
    logs = write(tmp_path / "logs", [3], renumbered=lambda number: number if number < 5 else 0)
    assert run(logs, tmp_path / "out")[1].position.group_id == 4
    summary = applier.summary(logs)
    assert [one.group_id for one in summary.largest] == [2, 3, 4] + [None] * (N - 3)


def test_a_filtered_archive_with_ids(tmp_path):
    """RW-FILT: groups keep their ids, and the index has the last one of each file, as servers write it."""
    logs = write(tmp_path / "logs", [3])
    done = applier.rewrite(logs, tmp_path / "out", ignore_tables="shop.none", compress=True)
    assert (tmp_path / "out" / "binlog.index").read_text() == "./binlog.000001|5|\n./binlog.000002|10|\n"
    assert run(tmp_path / "out" / "binlog.index", tmp_path / "same")[1].position.group_id == N + 1
    assert done.proof.rows == N
    gone = applier.rewrite(logs, tmp_path / "gone", rewrite_db={"shop": "other"}, tables="other")
    assert gone.proof.rows == N
    [group] = applier.locate(tmp_path / "gone", group_id=4)
    assert group.group_id == 4


def test_an_index_with_ids(tmp_path):
    """path|id|, as servers with group ids write their index."""
    logs = write(tmp_path / "logs", [3])
    index = logs / "binlog.index"
    index.write_text("./binlog.000001|5|\n/somewhere/binlog.000002|10|\n")
    run(index, tmp_path / "out")
    assert held(tmp_path / "out") == ROWS


def test_a_start_position_keeps_the_check(tmp_path):
    """A group behind the start with an id that came before it, or that the base has, stops the replay."""
    back = write(tmp_path / "logs", renumbered=lambda number: number - 5 * (number > 7))
    [start] = applier.locate(back, group_id=7)
    with pytest.raises(ReplayStopped, match="the event group has id 3, but one with id 7 was applied before it"):
        run(back, tmp_path / "out", start_position=(start.file, start.end), define_from_log=True)
