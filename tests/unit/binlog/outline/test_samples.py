"""What an outline keeps of rows, whatever the size of its file and the number of files."""

import pickle

import pyarrow as pa

from applier.binlog.outline.outline import OutlineTask
from applier.binlog.outline.samples import chosen, sample_bytes
from applier.engine.executor import ThisProcess
from applier.writer.row_encoder import RowChanges
from tests.support.planning import Log, table
from tests.support.samples import samples_of


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
    kept, before = ([[sample[:9] + sample[13:] for sample in outline.samples.of(number)] for number in range(12)]
                    for outline in (thinned, whole))  # without what they stand for, which is more
    counts = [*map(len, kept)]
    assert len(thinned.samples.data) <= 8_000 < len(whole.samples.data)
    assert max(counts) - min(counts) <= 1 and min(counts) > 5
    assert counts == [thinned.samples.count(number) for number in range(12)]
    for of_table, all_of_it in zip(kept, before, strict=True):
        places = [all_of_it.index(sample) for sample in of_table]
        assert places == sorted(places) and places[0] < len(all_of_it) / 4 < places[-1] * 2
    assert len(pickle.dumps(thinned)) < len(pickle.dumps(whole)) / 2


def test_files_with_fewer_samples_than_tables_have_those_of_different_tables():
    """Else an archive of thousands of small tables had none of most of them."""
    sizes = [[100] * 3] * 1000
    some = [{table for table, kept in enumerate(chosen(sizes, 3000, f"binlog.{number:06d}")[0]) if kept}
            for number in range(200)]
    assert all(0 < len(tables) <= 30 for tables in some) and len(set().union(*some)) > 500


def test_few_samples_are_all_kept():
    assert chosen([[10, 20], [], [30]], 60, "b") == ([[0, 1], [], [0]], 1)
    assert chosen([[10]], None, "b") == ([[0]], 1) and chosen([], 0, "b") == ([], 1)


def test_samples_by_table():
    samples = pickle.loads(pickle.dumps(samples_of([b"a", b""], [], [b"bcd"])))
    assert [samples.of(number) for number in range(3)] == [[b"a", b""], [], [b"bcd"]]
    assert [samples.count(number) for number in range(3)] == [2, 0, 1]


def test_many_files_have_few_samples_each():
    """All outlines are in the driver's memory together."""
    gigabyte = 1 << 30
    assert [sample_bytes(gigabyte, n * gigabyte) for n in (1, 32, 64, 10_000)] == [8 << 20, 256 << 10, 128 << 10,
                                                                                 64 << 10]
    assert sample_bytes(100, 10_000 * gigabyte) == sample_bytes(0, 0) == 16 << 10
