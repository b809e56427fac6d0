"""Lakes that merge on read: row files stay few, and ranges with many changes are rewritten."""

import re
from dataclasses import replace

import pytest

import applier
from applier import cli
from applier.errors import UsageError
from applier.snapshot import manifest
from applier.snapshot.lake import compaction
from tests.support.merging import ROWS, SMALL, TEXT, entry_of, merged_rows, merging, rows_of
from tests.support.small_logs import commit, insert, new_log, update


def test_row_files_stay_few(tmp_path):
    """With many rounds: row files and positions are put together, and dead rows go from row files."""
    log, places, state = new_log(tmp_path), [], {row[0]: row for row in ROWS[:5000]}
    places.append(commit(log, insert(list(state.values())))[1])
    for number in range(40):
        keys = [number * 97 % 5000, 1234]
        changed = [(key, number, f"round {number}") for key in keys]
        places.append(commit(log, update([state[key] for key in keys], changed))[1])
        state |= {row[0]: row for row in changed}
    log.close()
    counts = []
    for place in places:
        version = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                                 stop=("binlog.000001", place)).snapshot
        counts.append(max(len(entry_of(version).row_files), len(entry_of(version).positions)))
    assert max(counts) <= compaction.FEW + 3 and counts[-1] > 0
    assert [tuple(row.values()) for row in merged_rows(tmp_path / "lake")["shop.item"]] == sorted(state.values())
    assert sum(file.rows for file in entry_of(version).row_files) < 50
    assert applier.fsck(tmp_path / "lake").strays == ()


def test_many_changes_write_files_anew(log, tmp_path):
    """Where changes are a large share of a file's rows, nothing is left to merge in its range."""
    with merging(share=0.0001, group_bytes=2 << 20):
        for end in log[1]:
            version = applier.replay(log[0], lake=tmp_path / "lake", merge_on_read=True, stop=end,
                                     target_file_size=SMALL).snapshot
    assert not entry_of(version).row_files and not entry_of(version).positions
    assert rows_of(version).equals(rows_of(applier.replay(log[0], tmp_path / "plain").snapshot))


def test_a_range_written_anew_has_no_old_rows(log, tmp_path):
    """What row files have of a range dies with the files of it: it does not come back when the range changes again."""
    lake = tmp_path / "lake"
    for number, end in enumerate(log[1]):
        with merging(share=(100.0, 100.0, 0.0001, 100.0)[number]):
            version = applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL).snapshot
        assert not version.verify().damaged
    assert entry_of(version).row_files
    assert rows_of(version).equals(rows_of(applier.replay(log[0], tmp_path / "plain").snapshot))


@pytest.fixture
def changed_ranges(tmp_path):
    """A lake of five versions: each of the last four has changed some rows of another file. Then the archive, whose
    last change is in a file that none has changed."""
    log = new_log(tmp_path)
    commit(log, insert(ROWS))
    log.flush()
    with merging():
        made = applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake", merge_on_read=True,
                              target_file_size=SMALL).snapshot
        for number, file in enumerate(entry_of(made).files[:5]):
            keys = range(file.min_key, file.min_key + file.rows // 10)
            commit(log, update([(n, n, TEXT) for n in keys], [(n, -n, "changed") for n in keys]))
            log.flush()
            if number < 4:
                applier.replay(tmp_path / "binlog.000001", lake=tmp_path / "lake")
    log.close()
    return tmp_path / "lake", tmp_path / "binlog.000001"


def changed_in(snapshot):
    """The version that changed each range last, of those in which something is merged."""
    return [file.changed.version for file in entry_of(snapshot).files if file.changed]


def test_the_oldest_ranges_are_written_anew(changed_ranges):
    """Those in which more than the share is merged: as many bytes as the budget allows, the oldest first."""
    lake, log = changed_ranges
    largest = max(file.bytes for file in entry_of(lake).files)
    assert changed_in(lake) == [2, 3, 4, 5] and len(entry_of(lake).files) > 5
    with merging(share=0.05):
        version = applier.replay(log, lake=lake, compact_budget=2 * largest).snapshot
    assert changed_in(version) == [4, 5]
    assert rows_of(version).equals(rows_of(applier.replay(log, lake.parent / "plain").snapshot))
    assert not version.verify().damaged and applier.fsck(lake).strays == ()


def test_a_range_that_is_larger_than_the_budget_is_written_anew(changed_ranges):
    """One file a version, whatever the budget: no range waits for ever."""
    lake, log = changed_ranges
    with merging(share=0.05):
        version = applier.replay(log, lake=lake, compact_budget=1).snapshot
    assert changed_in(version) == [3, 4, 5]


def test_compact(changed_ranges, capsys):
    """`compact`: at the same position nothing is merged any more, or less by the budget; then there is nothing to do.
    Readers and later rounds find the same rows."""
    lake, log = changed_ranges
    before, rows = manifest.load(entry_uri(lake)), rows_of(applier.Snapshot(lake))
    largest = max(file.bytes for file in entry_of(lake).files)
    made = applier.compact(lake, compact_budget=largest)
    assert (made.version, made.files, made.left) == (6, 1, 3) and changed_in(lake) == [3, 4, 5]
    assert cli.main(["compact", str(lake)]) == 0
    assert re.fullmatch(r"version 7: 3 files with 0\.0 MB rewritten, 0 left\n", capsys.readouterr().out)
    entry, now = entry_of(lake), manifest.load(entry_uri(lake))
    assert not entry.row_files and not entry.positions and now.position == before.position
    assert (now.lineage, now.last_column_id, now.databases) == (before.lineage, before.last_column_id, before.databases)
    assert rows_of(applier.Snapshot(lake)).equals(rows)
    assert applier.compact(lake) == replace(made, version=7, files=0, bytes=0, left=0)
    with merging():
        applier.replay(log, lake=lake)
    assert rows_of(applier.Snapshot(lake)).equals(rows_of(applier.replay(log, lake.parent / "plain").snapshot))
    assert applier.fsck(lake).damaged == () == applier.fsck(lake).strays


def entry_uri(lake):
    return applier.Snapshot(lake).uri


def test_compact_is_for_lakes_that_merge(log, tmp_path):
    applier.replay(log[0], lake=tmp_path / "whole")
    with pytest.raises(UsageError, match="whole files"):
        applier.compact(tmp_path / "whole")
    with pytest.raises(UsageError, match="has no version"):
        applier.compact(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
