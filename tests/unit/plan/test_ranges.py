"""Bounds of key ranges from the samples of an outline."""

import dataclasses
import itertools
from array import array

import numpy as np
import pyarrow as pa
import pytest

from applier.columns.table_key import table_key
from applier.plan import ranges
from applier.plan.ranges import sampled_keys
from applier.writer.row_encoder import RowChanges
from tests.support.planning import Log, plan, table
from tests.support.samples import samples_of

INT, UNSIGNED = table(), table("v", "id bigint unsigned PRIMARY KEY, a int")
TEXT = table("w", "id varchar(20) CHARACTER SET latin1 PRIMARY KEY, a int")


def written(tmp_path, definition, values, checksum=True, flavour="mysql"):
    """The one use of a table in a log of one insert a row."""
    with Log(tmp_path / "b.000001", checksum=checksum, flavour=flavour) as log:
        log.create(definition)
        log.transactions([RowChanges(definition, after={"id": values, "a": pa.array(range(len(values)), pa.int32())})])
    [used] = plan(tmp_path, [log.path])[2][0].uses
    return [used]


def with_samples(used, samples):
    """The only table of a file that has these samples."""
    return dataclasses.replace(used, files=array("I", [0]), numbers=array("I", [0]),
                               samples_of=[samples_of(samples)])


def bounds(uses, definition, key, n):
    return sampled_keys(uses, definition, key, n).bounds(n)


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("n", [2, 3, 8])
def test_ranges_are_about_even(tmp_path, n, checksum):
    uses = written(tmp_path, INT, pa.array(range(-1000, 1000), pa.int32()), checksum)
    cuts = bounds(uses, INT, table_key(INT), n)
    assert len(cuts) == n - 1 and cuts == sorted(set(cuts))
    edges = [-1000, *cuts, 1000]
    assert max(b - a for a, b in itertools.pairwise(edges)) < 3 * 2000 / n
    assert all(-1000 < cut < 1000 for cut in cuts)  # nothing that is no key of the table


def test_keys_of_the_log_are_those_of_the_index(tmp_path):
    """BIGINT UNSIGNED less 2**63, text as its bytes."""
    uses = written(tmp_path, UNSIGNED, pa.array(range(2**63 - 50, 2**63 + 50), pa.uint64()))
    assert -50 < bounds(uses, UNSIGNED, table_key(UNSIGNED), 2)[0] < 50


def test_byte_keys(tmp_path):
    uses = written(tmp_path, TEXT, pa.array([b"%04d" % n for n in range(500)]))
    cuts = bounds(uses, TEXT, table_key(TEXT), 4)
    assert len(cuts) == 3 and cuts == sorted(cuts) and all(b"0000" < cut < b"0500" for cut in cuts)


def test_one_range_needs_no_bounds_and_few_rows_have_few(tmp_path):
    """Of an archive that needs more ranges than it has samples, none is the whole table."""
    uses = written(tmp_path, INT, pa.array([1, 2], pa.int32()))
    assert bounds(uses, INT, table_key(INT), 1) == []
    assert bounds(uses, INT, table_key(INT), 3) == [2]
    assert bounds(uses, INT, table_key(INT), 2) == [2]
    assert bounds([with_samples(uses[0], [])], INT, table_key(INT), 2) == []


def test_a_larger_archive_is_no_more_work(tmp_path, monkeypatch):
    """As many samples are read, from all of its files."""
    [used] = written(tmp_path, INT, pa.array(range(-1000, 1000), pa.int32()))
    monkeypatch.setattr(ranges, "SAMPLES_A_RANGE", 16)
    read = []

    class Counted(ranges.ChangeReader):
        def __init__(self, file, *arguments, **options):
            read.append(file.size)
            super().__init__(file, *arguments, **options)

    monkeypatch.setattr(ranges, "ChangeReader", Counted)
    files = [with_samples(used, [sample]) for sample in used.samples(0)]
    assert len(files) > 200
    cuts = bounds(files, INT, table_key(INT), 4)
    size = len(used.samples(0)[0])
    assert 64 * size < sum(read) < 130 * size
    assert all(abs(cut - even) < 300 for cut, even in zip(cuts, (-500, 0, 500), strict=True))


def test_ranges_are_as_fine_as_asked_for_and_even(tmp_path):
    """Events of one row, in any order, of many files: no range has twice the bytes that it should."""
    numbers = np.random.default_rng(5).permutation(20_000)
    uses = []
    for place, part in enumerate(np.split(numbers, 20)):
        (tmp_path / str(place)).mkdir()
        uses += written(tmp_path / str(place), INT, pa.array(part, pa.int32()))
    cuts = bounds(uses, INT, table_key(INT), 300)
    counts = np.diff(np.searchsorted(np.sort(numbers), [0, *cuts, 20_000]))
    assert len(counts) == 300 and max(counts) <= 2 * 20_000 / 300


@pytest.mark.parametrize("operation", ["insert", "delete"])
def test_rows_that_no_sample_holds_whole_have_keys(tmp_path, operation):
    """Else a table of large documents was one unit. What is not there counts as zeros, and a key comes before it."""
    definition = table("x", "id int PRIMARY KEY, a longtext, k int")
    with Log(tmp_path / "b.000001") as log:
        log.create(definition)
        for number in range(60):
            images = {"id": pa.array([number], pa.int32()), "a": pa.array(["x" * (5000 + number)]),
                      "k": pa.array([1], pa.int32())}
            with log.transaction():
                log.rows(RowChanges(definition, **{"after" if operation == "insert" else "before": images}))
    uses = plan(tmp_path, [log.path])[2][0].uses
    assert bounds(uses, definition, table_key(definition), 4) == [16, 31, 46]


def test_samples_are_taken_by_bytes(tmp_path):
    """Many events of one row, and few that have most of the bytes: ranges divide the bytes."""
    definition = table("x", "id int PRIMARY KEY, a varchar(3000)")
    with Log(tmp_path / "b.000001") as log:
        log.create(definition)
        for number in range(3000):
            large = number % 10 == 0
            with log.transaction():
                log.rows(RowChanges(definition, after={
                    "id": pa.array([number if large else 100_000 + number], pa.int32()),
                    "a": pa.array(["x" * (3000 if large else 3)])}))
    [used] = plan(tmp_path, [log.path])[2][0].uses
    assert 256 <= sum(used.sample_counts()) <= 512
    keys = sampled_keys([used], definition, table_key(definition), 16)
    n_bytes = [300 * 3040, 2700 * 43]
    assert keys.part_within(0, 99_999) == pytest.approx(n_bytes[0] / sum(n_bytes), abs=0.05)


def test_a_key_that_is_always_the_same_cannot_be_divided(tmp_path):
    definition = table()
    with Log(tmp_path / "b.000001") as log:
        log.create(definition)
        for _ in range(5):
            log.insert(definition, 7)
            with log.transaction():
                log.rows(RowChanges(definition, before={"id": pa.array([7], pa.int32())}))
    uses = plan(tmp_path, [log.path])[2][0].uses
    assert bounds(uses, definition, table_key(definition), 4) == []


def test_a_key_weighs_what_its_event_has_of_bytes(tmp_path):
    """An event of 1,000 rows has as many keys in the samples as a few of one row."""
    with Log(tmp_path / "b.000001") as log:
        log.create(INT)
        log.insert(INT, *range(1000))
        for number in range(1000, 1016):
            log.insert(INT, number)
    [used] = plan(tmp_path, [log.path])[2][0].uses
    keys = sampled_keys([used], INT, table_key(INT), 2)
    few = 16 * (19 + 8 + 2 + 1 + 1 + 9 + 4)  # header, table id and flags, extra data, bitmap, row, checksum
    assert keys.part_within(1000, 1015) == pytest.approx(few / (few + 1000 * 9), rel=0.2)
    assert keys.part_within(0, 1015) == 1 and keys.part_within(2000, 3000) == 0
