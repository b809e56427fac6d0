"""Log segments, and the tasks that walk them."""

import dataclasses
import pickle

from applier.apply.spec import FromBase
from applier.apply.tasks import needed
from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.plan import tasks
from applier.plan.tasks import BASE_ROWS, TASK_BYTES, by_route, log_segments, split_tasks, walking_tasks
from applier.snapshot.file_entries import FileEntry
from tests.support.planning import Log, plan, table

T, U = table("t"), table("u")


def covered(segments, name):
    """The bytes of one file in which a table's rows count, by version."""
    return [(segment.start, segment.end, segment.tables[name]) for segment in segments if name in segment.tables]


def test_segments_are_cut_where_versions_begin_and_end(tmp_path):
    """Within a segment a name means one version."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        first = log.insert(T, 1)
        log.query("TRUNCATE d.t")
        again = log.insert(T, 1)
    span, _, versions = plan(tmp_path, [log.path])
    before, after = covered(log_segments(span, versions), ("d", "t"))
    assert before[0] <= first[0] and first[1] <= before[1] <= again[0]
    assert after[0] <= again[0] and after[1] >= again[1]
    assert before[2] != after[2]


def test_segments_leave_out_what_was_rolled_back(tmp_path):
    """GRP-1: a group applies whole or not at all. The row comes again, and is no duplicate."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.insert(T, 1)
        rolled_back = log.insert(T, 2, end="rollback")
        log.insert(T, 2)
    span, _, versions = plan(tmp_path, [log.path])
    segments = log_segments(span, versions)
    assert not any(segment.start < rolled_back[1] and segment.end > rolled_back[0] for segment in segments)
    result = replay_with(ThisProcess(), ReplayOptions((log.path,), str(tmp_path / "snapshot")))
    assert [entry.inserts for entry in result.tables] == [2]


def test_splits_without_a_tasks_tables_are_not_walked(tmp_path):
    """A task walks only what holds rows of its own tables."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.create(U)
        in_t = [log.insert(T, n) for n in range(20)]
        in_u = [log.insert(U, n) for n in range(20)]
    span, _, versions = plan(tmp_path, [log.path], split_bytes=1000)
    assert len(span.outlines[0].splits) > 4
    tasks = walking_tasks(log_segments(span, versions), versions, 2)
    assert len(tasks) == 2
    for task in tasks:
        [name] = {name for segment in task.segments for name in segment.tables}
        own, others = (in_t, in_u) if name == ("d", "t") else (in_u, in_t)
        walked = [(segment.start, segment.end) for segment in task.segments]
        assert all(any(a <= start and end <= b for a, b in walked) for start, end in own)
        assert sum(any(a <= start and end <= b for a, b in walked) for start, end in others) < 10


def plan_of_seven_tables(tmp_path):
    """The span and the versions of a log that makes seven tables alike, each of them a unit."""
    tables = [table(f"t{n}") for n in range(7)]
    with Log(tmp_path / "b.000001") as log:
        for definition in tables:
            log.create(definition)
        for definition in tables:
            log.insert(definition, 1, 2)
    span, _, versions = plan(tmp_path, [log.path])
    return span, versions


def test_every_unit_is_in_one_task(tmp_path):
    """Ties in weight go by number: the same plan every time."""
    span, versions = plan_of_seven_tables(tmp_path)
    for cores in (1, 2, 3, 16):
        tasks = walking_tasks(log_segments(span, versions), versions, cores)
        numbers = [unit.number for task in tasks for units in task.units.values() for unit in units]
        assert sorted(numbers) == list(range(7)) and len(tasks) == min(cores, 7)
        assert max(task.n_units for task in tasks) - min(task.n_units for task in tasks) <= 1
        assert tasks == walking_tasks(log_segments(span, versions), versions, cores)


def test_tasks_are_as_many_as_the_rows_of_a_base_need(tmp_path):
    """A task holds the rows of all its units at a time: a small log may change rows of a base larger than memory."""
    span, versions = plan_of_seven_tables(tmp_path)
    assert len(walking_tasks(log_segments(span, versions), versions, 2)) == 2
    for item in versions:
        files = FileEntry("f", 1, TASK_BYTES // BASE_ROWS // 2, 1, 1, ""),
        item.units[0] = dataclasses.replace(item.units[0], origin=FromBase(uri="", files=files))
    assert len(walking_tasks(log_segments(span, versions), versions, 2)) == 4


def test_a_log_without_rows_has_no_tasks(tmp_path):
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
    span, _, versions = plan(tmp_path, [log.path])
    assert versions == [] and log_segments(span, versions) == [] and not len(walking_tasks([], versions, 2))


def test_tasks_of_some_versions_read_what_their_units_need(tmp_path):
    """AP-FK: a child that is walked for beside a shuffle reads the changes of its parent, which the shuffle applies."""
    child = table("c", "id int PRIMARY KEY, a int, FOREIGN KEY (a) REFERENCES d.t (id) ON DELETE CASCADE")
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.create(child)
        log.insert(T, 1)
        log.insert(child, 1)
        deleted = log.delete(T, 1)
    span, _, versions = plan(tmp_path, [log.path], split_bytes=1)
    segments = log_segments(span, versions)
    shuffled, walked = by_route(versions)
    assert [[item.version.definition.name for item in part] for part in (shuffled, walked)] == [["t"], ["c"]]
    [task] = walking_tasks(segments, walked, 2)
    assert any(start <= deleted[0] and deleted[1] <= end for start, end, _ in covered(task.segments, ("d", "t")))
    assert {name for split in split_tasks(segments, shuffled) for segment in split.segments
            for name in segment.tables} == {("d", "t")}


def test_splits_of_a_long_log_are_decoded_together(tmp_path, monkeypatch):
    """Payloads are as many as tasks times units: tasks have a part of the bytes each, in log order, not more
    than they may, and at least a split."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        for number in range(100):
            log.insert(T, number)
    span, _, versions = plan(tmp_path, [log.path], split_bytes=1)
    segments = log_segments(span, versions)
    size, total = segments[0].end - segments[0].start, sum(segment.end - segment.start for segment in segments)
    for n_tasks, most, lengths in ((1, 1 << 30, [100]), (1, 30 * size, [30, 30, 30, 10]), (4, 1 << 30, [25] * 4),
                                   (1024, 1 << 30, [1] * 100)):
        monkeypatch.setattr(tasks, "SPLIT_TASKS", n_tasks)
        monkeypatch.setattr(tasks, "SPLIT_TASK_BYTES", most)
        parts = split_tasks(segments, versions).parts
        assert [len(part) for part in parts] == lengths and total == 100 * size
        assert [segment for part in parts for segment in part] == segments


def test_what_tasks_have_in_common_is_there_once(tmp_path):
    """What a plan takes does not grow with tasks times segments, nor with splits times units."""
    tables = [table(f"t{n}") for n in range(7)]
    with Log(tmp_path / "b.000001") as log:
        for definition in tables:
            log.create(definition)
        for _ in range(20):
            for definition in tables:
                log.insert(definition, 1, 2)
    span, _, versions = plan(tmp_path, [log.path], split_bytes=1)
    segments = log_segments(span, versions)
    walks, splits = walking_tasks(segments, versions, 7), split_tasks(segments, versions)
    assert len(walks.segments) == len(splits.parts) == 140 and len(walks) == 7
    assert not any(b"b.000001" in pickle.dumps(share) for share in walks.shares)
    assert sum(len(task.segments) for task in walks) == sum(len(task.units) for task in splits) == 140


def test_segments_with_the_same_tables_share_them(tmp_path):
    """A large archive has hundreds of thousands of segments, and few different sets of tables."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        log.create(U)
        for n in range(20):
            log.insert(T, n)
            log.insert(U, n)
    span, _, versions = plan(tmp_path, [log.path], split_bytes=1)
    segments, [t, u] = log_segments(span, versions), [item.version.id for item in versions]
    assert [segment.tables for segment in segments] == [{("d", "t"): t}, {("d", "u"): u}] * 20
    assert len({id(segment.tables) for segment in segments}) == 2
    assert [*map(id, needed(segments, frozenset({u})))] == [*map(id, segments[1::2])]
    both = [dataclasses.replace(segment, tables={("d", "t"): t, ("d", "u"): u}) for segment in segments[:1]] * 3
    found = needed(both, frozenset({u}))
    assert [segment.tables for segment in found] == [{("d", "u"): u}] * 3
    assert len({id(segment.tables) for segment in found}) == 1 and needed(both, frozenset({u + 9})) == ()
