"""When changes are shuffled and not walked to, and how much work a plan is."""

import dataclasses

import pytest

from applier.apply.spec import FromBase
from applier.io.encryption.keys import KeyedLocation, Keys
from applier.plan import tasks, units
from applier.plan.tasks import core_seconds, log_segments, prefers_shuffle, walking_tasks
from applier.snapshot.files.file_entries import FileEntry
from tests.support.planning import Log, plan, table

T, U = table("t"), table("u")


def test_a_compressed_log_is_decoded_once_where_tasks_would_keep_too_much_of_it(tmp_path, monkeypatch):
    """What comes out of compressed events is in memory, not in a mapped file."""
    with Log(tmp_path / "b.000001") as log:
        for definition in (T, U):
            log.create(definition)
            log.insert(definition, *range(1000))
    span, _, versions = plan(tmp_path, [log.path])
    walks = walking_tasks(log_segments(span, versions), versions, 2)
    monkeypatch.setattr(tasks, "TASK_BYTES", 5_000)
    assert len(walks) == 2 and not prefers_shuffle(span, walks, versions, True)
    rows = span.outlines[0].row_bytes
    for inflated, shuffles in ((rows, True), (rows // 10, False)):
        outline = dataclasses.replace(span.outlines[0], inflated_bytes=inflated)
        compressed = dataclasses.replace(span, outlines=(outline,))
        assert prefers_shuffle(compressed, walks, versions, True) == shuffles
    assert not prefers_shuffle(compressed, dataclasses.replace(walks, shares=walks.shares[:1]), versions, True)


def test_files_that_are_copied_are_decoded_once_where_no_process_keeps_all_copies(tmp_path, monkeypatch):
    """Packed and encrypted ones: each task that walks would unpack them again."""
    with Log(tmp_path / "b.000001") as log:
        for definition in (T, U):
            log.create(definition)
            log.insert(definition, *range(1000))
    span, _, versions = plan(tmp_path, [log.path])
    walks, [outline] = walking_tasks(log_segments(span, versions), versions, 2), span.outlines
    for uri, size, kept, shuffles in ((outline.uri, 10, 9, False), ("b.000001.gz", 10, 9, True),
                                      ("b.000001.gz", 9, 9, False),
                                      (KeyedLocation("b.000001", Keys(("keys",))), 10, 9, True)):
        monkeypatch.setattr(tasks, "KEPT_BYTES", kept)
        other = dataclasses.replace(span, outlines=(dataclasses.replace(outline, uri=uri, size=size),))
        assert prefers_shuffle(other, walks, versions, True) == shuffles, uri


def test_work_is_what_is_applied_what_is_passed_over_and_what_a_base_has(tmp_path):
    """Each byte counts once for the task that applies it, and a little for each other task that walks over it."""
    with Log(tmp_path / "b.000001") as log:
        for definition in (T, U):
            log.create(definition)
            log.insert(definition, *range(1000))
    span, _, versions = plan(tmp_path, [log.path])
    segments = log_segments(span, versions)
    own, applied = sum(item.bytes for item in versions), {}
    for cores in (1, 2):
        walks = walking_tasks(segments, versions, cores)
        read = sum(segment.end - segment.start for task in walks for segment in task.segments)
        applied[cores] = core_seconds(walks, versions, "walk", True) - (read - own) * tasks.SKIP_NANOSECONDS / 1e9
    assert applied == pytest.approx(dict.fromkeys((1, 2), own * tasks.APPLY_NANOSECONDS / 1e9))
    for on_one_disk, moved in ((False, tasks.SHUFFLE_NANOSECONDS), (True, tasks.SHUFFLE_ON_ONE_DISK_NANOSECONDS)):
        shuffled = core_seconds(walks, versions, "shuffle", on_one_disk) - applied[2]
        assert shuffled == pytest.approx(own * moved / 1e9)
    with_base = dataclasses.replace(versions[0].units[0], origin=FromBase(
        uri="", files=(FileEntry("f", 1, 1000, None, None, ""),)))
    versions[0].units[0] = with_base
    assert core_seconds(walks, versions, "shuffle", True) - applied[2] - shuffled == pytest.approx(
        1000 * tasks.BASE_NANOSECONDS / 1e9)


def test_a_table_that_many_tasks_would_read_is_shuffled(tmp_path, monkeypatch):
    """Each task walks over all changes of the table; that is dearer than a shuffle, sooner where nothing is sent."""
    with Log(tmp_path / "b.000001") as log:
        log.create(T)
        for start in range(0, 20_000, 1000):
            log.insert(T, *range(start, start + 1000))
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1000)
    span, _, versions = plan(tmp_path, [log.path], cores=40)
    segments = log_segments(span, versions)
    preferred = {cores: tuple(prefers_shuffle(span, walking_tasks(segments, versions, cores), versions, on_one_disk)
                              for on_one_disk in (True, False)) for cores in (4, 15, 80)}
    assert preferred == {4: (False, False), 15: (True, False), 80: (True, True)}
