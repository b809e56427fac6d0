"""Tasks on threads: results in order, progress on the calling thread, and the error that Spark's tasks would give."""

import errno
import threading

import pytest

from applier.engine.threads import map_on_threads
from applier.errors import ApplierError, ReplayStopped
from applier.io.disk.full_disk import explained


def nothing(done, total):
    pass


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads):
    calls = []
    assert map_on_threads(lambda item: item * item, range(20), threads,
                          lambda *counts: calls.append((*counts, threading.get_ident()))) == [n * n for n in range(20)]
    assert calls == [(done, 20, threading.get_ident()) for done in range(1, 21)]


def test_as_many_run_at_a_time_as_there_are_threads():
    """Each waits for the other: one by one they would never end."""
    meeting = threading.Barrier(2, timeout=60)
    assert sorted(map_on_threads(lambda item: meeting.wait(), range(2), 2, nothing)) == [0, 1]


def test_the_first_item_that_fails_is_named_whichever_fails_first():
    failed = threading.Event()

    def fail(item):
        if item == 0:
            assert failed.wait(60)
        elif item == 1:
            failed.set()
        raise ReplayStopped(f"item {item}")

    with pytest.raises(ReplayStopped, match="item 0"):
        map_on_threads(fail, range(2), 2, nothing)


def test_no_task_runs_any_more_when_an_error_is_raised():
    """What the caller removes then, nobody writes to."""
    begun, ended, failed = [], [], threading.Event()

    def run(item):
        begun.append(item)
        if item == 1:
            failed.set()
            raise ReplayStopped("stop")
        assert failed.wait(60)
        ended.append(item)

    with pytest.raises(ReplayStopped):
        map_on_threads(run, range(100), 2, nothing)
    assert sorted([*ended, 1]) == sorted(begun)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("task")]


def test_an_interrupt_waits_for_what_runs():
    begun, ended, interrupted = [], [], threading.Event()

    def run(item):
        begun.append(item)
        assert item == 0 or interrupted.wait(60)
        ended.append(item)

    def interrupt(done, total):
        interrupted.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_on_threads(run, range(100), 2, interrupt)
    assert sorted(ended) == sorted(begun)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("task")]


def test_a_full_disk_is_explained():
    """As on Spark."""
    with pytest.raises(ApplierError, match="cannot write: No space left on device") as error, explained():
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/file")
    assert "TMPDIR" in error.value.hint
    with pytest.raises(PermissionError), explained():
        raise PermissionError(errno.EACCES, "Permission denied", "/tmp/file")
