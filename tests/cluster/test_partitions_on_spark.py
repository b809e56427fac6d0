"""Tables with partitions, with rounds on Spark: the same rows as in one process, in files of one value each."""

import pyarrow.parquet as pq
import pytest

import applier
from applier.snapshot import manifest
from tests.support.merging import ROWS, SMALL
from tests.support.small_logs import commit, delete, insert, new_log, update


@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_rounds(tmp_path, spark, route):
    (tmp_path / "log").mkdir()
    log, rows = new_log(tmp_path / "log"), [(id, id % 3, s) for id, _, s in ROWS[:4000]]
    ends = [commit(log, insert(rows))[1],
            commit(log, update(rows[7::900], [(id, 9, "moved") for id, _, _ in rows[7::900]]), delete(rows[9::900]))[1]]
    log.close()
    lake = str(tmp_path / "lake")
    for end in ends:
        applier.replay(tmp_path / "log", lake=lake, partition={"shop.item": "identity(n)"}, route=route,
                       stop=("binlog.000001", end), target_file_size=SMALL, engine="spark")
        table = applier.Snapshot(lake).tables["shop.item"]
        plain = applier.replay(tmp_path / "log", tmp_path / f"plain-{end}", stop=("binlog.000001", end)).snapshot
        assert table.to_arrow().equals(plain.tables["shop.item"].to_arrow())
        assert all(len(set(pq.read_table(path).column("n").to_pylist())) == 1 for path in table.files)
        assert len(table.files) > len(manifest.load(lake).tables[0].files) > 1
        assert not applier.Snapshot(lake).verify().damaged
    assert not applier.fsck(lake).damaged and not applier.fsck(lake).strays
