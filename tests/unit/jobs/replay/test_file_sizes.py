"""Files of the size that was asked for; an increment writes again those that have a changed row, and no others."""

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from applier.snapshot import manifest
from tests.support.small_logs import CREATE, commit, held, insert, new_log, update

ROWS = [(number, number, str(number)) for number in range(4000)]
SIZE = 4096


@pytest.fixture
def logs(tmp_path):
    """A log that fills the table, and one that changes two rows of it, far from each other."""
    with new_log(tmp_path) as log:
        commit(log, insert(ROWS))
        following = log.rotate(tmp_path / "binlog.000002")
        commit(following, update([ROWS[0], ROWS[2500]], [(0, -1, "0"), (2500, -1, "2500")]))
        following.close()
    return str(tmp_path / "binlog.000001"), str(tmp_path / "binlog.000002")


def files_of(snapshot):
    return manifest.load(str(snapshot)).table("shop", "item").files


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_an_increment_writes_the_files_that_change(tmp_path, logs, route):
    first, second = logs
    base, after = tmp_path / "base", tmp_path / "after"
    replay_with(ThisProcess(1), ReplayOptions((first,), str(base), route=route, file_bytes=SIZE))
    before = files_of(base)
    assert len(before) > 3 and all(SIZE <= file.bytes < 4 * SIZE for file in before[:-1])
    replay_with(ThisProcess(1), ReplayOptions((second,), str(after), base=str(base), route=route, file_bytes=SIZE))
    carried = {file.digest for file in before} & {file.digest for file in files_of(after)}
    assert len(carried) == len(before) - 2
    assert held(after) == [(0, -1, "0"), *ROWS[1:2500], (2500, -1, "2500"), *ROWS[2501:]]


@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_an_increment_reads_no_other_files(tmp_path, logs, monkeypatch, route, cores):
    """Whatever tasks their units are in."""
    from applier.apply.tables import rows_before

    first, second = logs
    base, after = tmp_path / "base", tmp_path / "after"
    replay_with(ThisProcess(1), ReplayOptions((first,), str(base), file_bytes=SIZE))
    read = []
    monkeypatch.setattr(rows_before, "read_unit", lambda uri, files, *rest, f=rows_before.read_unit:
                        read.extend(files) or f(uri, files, *rest))
    replay_with(ThisProcess(cores), ReplayOptions((second,), str(after), base=str(base), route=route, file_bytes=SIZE))
    assert [file.path for file in files_of(base) if file in read] == [
        file.path for file in files_of(base) if any(file.min_key <= key <= file.max_key for key in (0, 2500))]
    assert len(read) == 2


def test_an_import_makes_files_of_that_size(tmp_path):
    dump = tmp_path / "dump.sql"
    values = ",".join(f"({number},{number},'{text}')" for number, _, text in ROWS)
    dump.write_text(f"CREATE DATABASE shop; USE shop; {CREATE}; INSERT INTO item VALUES {values};")
    import_dump(ImportOptions(str(dump), str(tmp_path / "base"), flavour="mysql", file_bytes=SIZE))
    assert len(files_of(tmp_path / "base")) > 3 and held(tmp_path / "base") == ROWS
