"""Where the ranges of a table with a base begin, from the keys of changes and the base's files."""

import dataclasses
from unittest import mock

import pyarrow as pa
import pytest

from applier.columns.weighed_keys import WeighedKeys
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import ranges
from applier.plan.ranges import BaseFiles, lows
from applier.plan.tasks import log_segments, walking_tasks
from applier.snapshot import manifest
from applier.snapshot.files.file_entries import FileEntry
from applier.snapshot.staging import Staging
from applier.writer.row_encoder import RowChanges
from tests.support.planning import Log, plan, table

FILES = [FileEntry(f"part-{low}", 100, 1000, low, low + 99) for low in (0, 100, 200)]


def begins(keys, n, n_bytes, unit_bytes=100, hot_bytes=1):
    weighed = [key if isinstance(key, tuple) else (key, 1.0) for key in keys]
    with mock.patch.object(ranges, "HOT_BYTES", hot_bytes):
        return lows(WeighedKeys(weighed), FILES, int, n, n_bytes, unit_bytes)


def test_only_files_that_take_more_than_a_unit_are_divided():
    """Nine units' changes, eight of them in the second file."""
    keys = [*range(0, 100, 20), *range(100, 180), *range(200, 300, 20)]
    cuts = begins(keys, 10, 900)
    inside = [cut for cut in cuts if 100 < cut < 200]
    assert [cut for cut in cuts if cut not in inside] == [100, 200]
    assert len(inside) == 8 and all(abs(cut - (100 + 80 * part / 9)) < 3 for part, cut in enumerate(inside, 1))


@pytest.mark.parametrize(("hot_bytes", "parts"), [(1, 9), (200, 4), (400, 2), (401, 1), (1 << 30, 1)])
def test_each_unit_of_a_divided_file_has_enough_changes(hot_bytes, parts):
    assert len(begins(range(100, 180), 9, 800, hot_bytes=hot_bytes)) == 2 + parts - 1


def test_bytes_count_not_rows():
    """A few large changes weigh what many small ones do."""
    large, small = [(100 + key, 80.0) for key in range(10)], [(150 + key, 20.0) for key in range(40)]
    assert begins([*large, *small], 2, 1600, unit_bytes=1600) == [100, 150, 200]


def test_between_files_and_after_them_the_log_divides():
    assert begins(range(1000, 1100), 4, 400, hot_bytes=1 << 30) == [100, 200, 1025, 1050, 1075]


def test_a_key_that_is_always_the_same_is_divided_once_at_most():
    """It is in one unit, with the rows above it."""
    assert begins([150] * 50, 10, 1000) == [100, 150, 200]
    assert begins([100] * 50, 10, 1000) == [100, 200]


def test_the_files_of_a_range():
    files = BaseFiles(FILES)
    assert files.within(None, None) == tuple(FILES)
    for low, high, numbers in ((None, 100, [0]), (None, 101, [0, 1]), (99, 100, [0]), (100, 200, [1]), (150, 160, [1]),
                               (199, 201, [1, 2]), (300, None, []), (299, None, [2]), (-5, 0, [])):
        assert files.within(low, high) == tuple(FILES[number] for number in numbers), (low, high)


def test_a_table_of_many_files_is_planned_as_one(tmp_path, monkeypatch):
    """One unit per file, each with its own; what is one for the table is asked for once, and not for each of them."""
    item = table("t")
    with Log(tmp_path / "b.000001") as log:
        log.create(item)
        log.insert(item, 5)
        following = log.rotate(tmp_path / "b.000002")
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path / "b.000001"),), str(tmp_path / "base")))
    with following, following.transaction():
        following.rows(RowChanges(item, after={name: pa.array([7], pa.int32()) for name in ("id", "a")}))
    made = manifest.load(str(tmp_path / "base"))
    files = tuple(FileEntry(f"d/t/{number}", 1, 1, number * 10, number * 10 + 5) for number in range(2_000))
    base = dataclasses.replace(made, tables=(dataclasses.replace(made.tables[0], files=files),))
    asked, target = [], Staging.target
    monkeypatch.setattr(Staging, "target", lambda *names, **how: asked.append(names[1:]) or target(*names, **how))
    span, _, [version] = plan(tmp_path, [following.path], base=base)
    assert [unit.base_files for unit in version.units] == [(file,) for file in files]
    assert [unit.number for unit in version.units] == list(range(2_000)) and asked == [("d", "t")]
    shares = walking_tasks(log_segments(span, [version]), [version], 2).shares
    assert sorted(unit.number for share in shares for unit in share.units[version.version.id]) == list(range(2_000))
