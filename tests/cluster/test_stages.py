"""Stages on a local session: one task an item or unit, order, errors as they were raised, faults, retries, progress.

Functions for tasks are defined inside tests: pickled by value, so workers need not find this file.
"""

import errno
import os
import threading
import time

import pytest

import applier
import applier.binlog
from applier.engine.spark.running import TaskFailed, explain_spark_errors
from applier.engine.spark.stages import map_tasks, shuffle_tasks
from applier.engine.spill_buffer import SPILL_BYTES
from applier.errors import ApplierError, ArchiveError, ReplayStopped, UsageError

pytestmark = [pytest.mark.every_spark, pytest.mark.by_turns("shared")]


def test_results_in_order_of_items(spark):
    def slower_first(item):
        time.sleep(0.05 * (5 - item))
        return {"item": item}

    assert map_tasks(spark, slower_first, range(5)) == [{"item": item} for item in range(5)]
    assert map_tasks(spark, slower_first, []) == []


def test_each_item_has_a_task_of_its_own(spark):
    def partition(_):
        from pyspark import TaskContext

        return TaskContext.get().partitionId()

    assert map_tasks(spark, partition, ["x"] * 23) == list(range(23))


def test_large_items_and_results(spark):
    items = [bytes([n]) * (8 << 20) for n in range(3)]
    assert map_tasks(spark, lambda item: item[::-1], items) == items


def test_error_of_the_first_item_arrives_as_it_was_raised_without_retry(spark, tmp_path):
    def check(item):
        with open(f"{tmp_path}/{item}", "a") as attempts:
            attempts.write("x")
        if item >= 2:
            raise ReplayStopped(f"item {item}", file="binlog.000002", position=item, key="(7)", errno=1032)

    with pytest.raises(ReplayStopped) as error:
        map_tasks(spark, check, range(5))
    assert error.value.where == {"file": "binlog.000002", "position": 2, "key": "(7)"}
    assert error.value.mysql_errno == 1032
    assert (tmp_path / "2").read_text() == "x"


def test_a_fault_shows_the_workers_traceback_and_no_java(spark):
    def broken(item):
        return {}["the missing key"]

    with pytest.raises(TaskFailed) as error:
        map_tasks(spark, broken, [1])
    assert "KeyError: 'the missing key'" in str(error.value)
    assert 'return {}["the missing key"]' in str(error.value)
    assert "org.apache" not in str(error.value) and error.value.__cause__ is None


def test_a_killed_worker_costs_an_attempt_not_the_run(spark, tmp_path):
    def killed_once(item):
        import signal

        if item == 1 and not os.path.exists(f"{tmp_path}/died"):
            open(f"{tmp_path}/died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert map_tasks(spark, killed_once, range(3)) == [0, 1, 2]
    assert (tmp_path / "died").exists()


def test_a_worker_killed_every_time_is_explained(spark):
    def killed(item):
        os._exit(9)

    with pytest.raises(TaskFailed, match=r"worker .* died") as error:
        map_tasks(spark, killed, [1])
    assert "org.apache" not in str(error.value) and "memory" in error.value.hint


def test_a_full_disk_is_explained(spark):
    """As every other error of a file system it may pass, so the task is tried again."""
    def full(item):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/file")

    with pytest.raises(ApplierError, match="No space left on device") as error, explain_spark_errors():
        map_tasks(spark, full, [1])
    assert "SPARK_LOCAL_DIRS" in error.value.hint


def test_progress_counts_up_to_the_total_on_the_calling_thread(spark, tmp_path):
    calls = []

    def await_progress(item):
        while not os.path.exists(f"{tmp_path}/{item}"):  # so many tasks are known to have ended
            time.sleep(0.05)

    def note(done, total):
        calls.append((done, total, threading.get_ident()))
        (tmp_path / str(done)).touch()

    map_tasks(spark, await_progress, range(8), on_progress=note)
    done = [call[0] for call in calls]
    assert done == sorted(done) and sorted(set(done)) == list(range(9))
    assert {call[1:] for call in calls} == {(8, threading.get_ident())}


def test_an_interrupt_ends_the_job(spark, tmp_path):
    def endless(item):
        while True:
            open(f"{tmp_path}/{os.getpid()}", "w").close()
            time.sleep(0.05)

    def interrupt(done, total):
        if any(tmp_path.iterdir()):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_tasks(spark, endless, range(2), on_progress=interrupt)
    while any(_alive(int(path.name)) for path in tmp_path.iterdir()):
        time.sleep(0.1)
    assert map_tasks(spark, lambda item: item, range(4)) == [0, 1, 2, 3], "all cores are free again"
    assert not any(_alive(int(path.name)) for path in tmp_path.iterdir())


def _alive(process_id):
    try:
        with open(f"/proc/{process_id}/stat") as status:
            return status.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(params=["through Spark", "on one disk"])
def shared(request, tmp_path):
    """What `shuffle_tasks` takes payloads by: Spark's own shuffle, as on a cluster, or files that all tasks see."""
    return str(tmp_path) if request.param == "on one disk" else None


def test_units_get_their_payloads_in_the_order_of_the_items(spark, shared):
    def give(item):
        import numpy as np
        import pyarrow as pa

        yield np.array([0, 2]), pa.array([b"%d a" % item] * 2)
        yield np.array([0, 2, 2]), pa.array([b"%d b" % item, b"%d b" % item, b"%d c" % item])

    def take(unit, payloads):
        return unit, [bytes(payload) for payload in payloads]

    in_zero, in_two = ([b"%d %s" % (item, letter) for item in (7, 1, 3) for letter in letters]
                       for letters in ((b"a", b"b"), (b"a", b"b", b"c")))
    expected = [(0, in_zero), (1, []), (2, in_two), (3, [])]
    assert shuffle_tasks(spark, give, [7, 1, 3], take, 4, shared=shared) == expected
    assert shuffle_tasks(spark, give, [], take, 2, shared=shared) == [(0, []), (1, [])]
    assert shuffle_tasks(spark, give, [1], take, 0, shared=shared) == []


def test_each_unit_has_a_task_of_its_own(spark, shared):
    def give(item):
        import numpy as np
        import pyarrow as pa

        yield np.arange(17), pa.array([b"x"] * 17)

    def take(unit, payloads):
        from pyspark import TaskContext

        return TaskContext.get().partitionId(), len(list(payloads))

    assert shuffle_tasks(spark, give, range(3), take, 17, shared=shared) == [(unit, 3) for unit in range(17)]


def test_more_payload_than_memory_goes_through_a_file(spark, shared):
    size = SPILL_BYTES // 3

    def give(item):
        import numpy as np
        import pyarrow as pa

        yield np.zeros(1, np.int64), pa.array([bytes([item]) * size])

    def take(unit, payloads):
        return [(payload.size, bytes(payload.slice(size - 1))) for payload in payloads]

    expected = [(size, bytes([item])) for item in range(5)]
    assert shuffle_tasks(spark, give, range(5), take, 1, shared=shared) == [expected]


def test_errors_of_both_sides_of_a_shuffle(spark, shared):
    def give(item):
        import numpy as np
        import pyarrow as pa

        yield np.ones(1, np.int64), pa.array([b"x"])
        if item >= 3:
            raise ArchiveError(f"split {item} is corrupt", errno=1610)

    def take(unit, payloads):
        if unit == 1:
            raise ReplayStopped("no such row", errno=1032)

    with pytest.raises(ArchiveError, match="split 3 is corrupt"):
        shuffle_tasks(spark, give, [2, 3, 4], take, 2, shared=shared)
    with pytest.raises(ReplayStopped, match="no such row"):
        shuffle_tasks(spark, give, [1, 2], take, 2, shared=shared)


def test_a_directory_that_workers_do_not_share_is_refused_without_retry(spark, tmp_path):
    """One that a sender does not see, or whose files a receiver does not see."""
    def give(item):
        import shutil

        import numpy as np
        import pyarrow as pa

        open(f"{tmp_path}/sent {len(os.listdir(tmp_path))}", "w").close()
        yield np.zeros(1, np.int64), pa.array([b"x"])
        shutil.rmtree(f"{tmp_path}/shared", ignore_errors=True)

    for name in ("missing", "shared"):
        (tmp_path / "shared").mkdir()
        with pytest.raises(UsageError, match="do not share the directory"):
            shuffle_tasks(spark, give, [0], lambda unit, payloads: [*payloads], 1, shared=f"{tmp_path}/{name}")
        (tmp_path / "shared").exists() and (tmp_path / "shared").rmdir()
    assert sorted(os.listdir(tmp_path)) == ["sent 1", "sent 2"]


def test_a_unit_out_of_range_is_a_fault(spark, shared):
    def give(item):
        import numpy as np
        import pyarrow as pa

        return [(np.array([0, 2]), pa.array([b"", b""]))]

    with pytest.raises(TaskFailed, match="unit 2 of 2"):
        shuffle_tasks(spark, give, [0], lambda unit, payloads: None, 2, shared=shared)


def test_a_sender_killed_halfway_sends_again(spark, shared, tmp_path):
    """What its first attempt left in a file, nobody reads."""
    def give(item):
        import signal

        import numpy as np
        import pyarrow as pa

        yield np.zeros(1, np.int64), pa.array([b"first %d" % item])
        if item == 1 and not os.path.exists(f"{tmp_path}/died"):
            open(f"{tmp_path}/died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        yield np.zeros(1, np.int64), pa.array([b""])

    def take(unit, payloads):
        return [bytes(payload) for payload in payloads]

    given = [payload for item in range(3) for payload in (b"first %d" % item, b"")]
    assert shuffle_tasks(spark, give, range(3), take, 1, shared=shared) == [given]
    assert (tmp_path / "died").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("route", ["shuffle", "walk"])
def test_hundreds_of_versions_of_a_table(spark, route, tmp_path):
    """A unit travels with those of the versions before it, each of which is within the next one."""
    with applier.binlog.Writer(str(tmp_path / "log.000001")) as log:
        log.query("CREATE DATABASE d")
        log.query("CREATE TABLE d.p (id INT PRIMARY KEY, v INT)")
        for number in range(300):
            log.query(f"ALTER TABLE d.p ADD COLUMN z INT DEFAULT {number}")
            log.query("ALTER TABLE d.p DROP COLUMN z")
        with log.transaction():
            log.insert("d.p", {"id": [1], "v": [1]})
    made = applier.replay(str(tmp_path / "log.000001"), str(tmp_path / "out"), route=route, engine="spark",
                          master="local[2]")
    assert made.snapshot.tables["d.p"].rows == 1
