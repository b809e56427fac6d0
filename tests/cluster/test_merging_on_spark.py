"""Lakes that merge on read, with rounds on Spark: the same versions as in one process, also after `compact`."""

import applier
from applier.snapshot import manifest
from tests.support.merging import ROWS, SMALL
from tests.support.small_logs import commit, delete, insert, new_log, update


def held(place):
    return applier.Snapshot(place).tables["shop.item"].to_arrow()


def test_rounds_and_compaction(tmp_path, spark):
    """Spark's tasks write changes beside files, `compact` rewrites the files, and the next round on Spark continues
    from there."""
    (tmp_path / "log").mkdir()
    log, rows, few = new_log(tmp_path / "log"), ROWS[:4000], ROWS[7:4000:500]
    ends = [commit(log, insert(rows))[1], commit(log, update(few, [(id, -n, "c") for id, n, _ in few]))[1],
            commit(log, delete(rows[9::900]), insert([(9000 + n, n, "new") for n in range(9)]))[1]]
    log.close()
    lake = str(tmp_path / "lake")
    for number, end in enumerate(ends):
        stop = "binlog.000001", end
        plain = held(applier.replay(tmp_path / "log", tmp_path / f"plain-{number}", stop=stop).snapshot.uri)
        applier.replay(tmp_path / "log", lake=lake, merge_on_read=True, stop=stop, target_file_size=SMALL,
                       engine="spark")
        assert held(lake).equals(plain)
        if number:
            assert manifest.load(lake).tables[0].row_files, "changes are beside files"
            assert applier.compact(lake, target_file_size=SMALL).left == 0
            assert not manifest.load(lake).tables[0].row_files and held(lake).equals(plain)
    assert not applier.fsck(lake).damaged
    assert [version.number for version in applier.versions(lake)] == [1, 2, 3, 4, 5]
