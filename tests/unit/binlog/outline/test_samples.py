"""What an outline keeps of rows, whatever the size of its file and the number of files."""

import pickle

import pyarrow as pa

from applier.binlog.outline.outline import OutlineTask, sample_bytes
from applier.engine.executor import ThisProcess
from applier.writer.row_encoder import RowChanges
from tests.support.planning import Log, table


def test_samples_are_thinned_evenly(tmp_path):
    """A table with many samples has about as large a part of them as before, from its first rows to its last."""
    tables = [table(f"t{n}") for n in range(12)]
    with Log(tmp_path / "b.000001") as log:
        for definition in tables:
            log.create(definition)
        for definition in tables:
            log.transactions([RowChanges(definition, after={
                "id": pa.array(range(500), pa.int32()), "a": pa.array(range(500), pa.int32())})])
    whole, thinned = (ThisProcess().outline([OutlineTask(log.path, sample_bytes=n_bytes)], lambda *_: None)[0]
                      for n_bytes in (None, 8_000))
    kept = [len(use.samples) for use in thinned.tables]
    assert sum(len(sample) for use in thinned.tables for sample in use.samples) <= 8_000 < sum(
        len(sample) for use in whole.tables for sample in use.samples)
    assert max(kept) - min(kept) <= 1 and min(kept) > 5
    for use, before in zip(thinned.tables, whole.tables, strict=True):
        places = [before.samples.index(sample) for sample in use.samples]
        assert places == sorted(places) and places[0] < len(before.samples) / 4 < places[-1] * 2
    assert len(pickle.dumps(thinned)) < len(pickle.dumps(whole)) / 2


def test_many_files_have_few_samples_each():
    """All outlines are in the driver's memory together."""
    assert [sample_bytes(n) for n in (1, 64, 1024, 10_000)] == [64 << 20, 1 << 20, 64 << 10, 48 << 10]
