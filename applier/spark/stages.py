"""Two kinds of Spark stage for Python tasks: one task an item, and one with a shuffle of payloads to units between.

Spark sees binary columns only: pickled items in, pickled results out, payloads between. `repartitionById` puts every
item, and every unit, in a partition of its own. An ApplierError that a task raises travels as a value, so it reaches the
caller as it was raised and Spark does not try the task again; any other exception is a fault, which Spark retries.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from applier.errors import ApplierError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]

POLL_SECONDS = 0.1

_TASKS = pa.schema([("task", pa.int32()), ("item", pa.binary())])
_RESULTS = pa.schema([("task", pa.int32()), ("result", pa.binary())])


class TaskFailed(RuntimeError):
    """A task raised what it should not, on every attempt; the message holds the worker's traceback."""


def map_tasks(
    spark: "SparkSession",
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    on_progress: Progress | None = None,
) -> list[Result]:
    """`function` of every item, each in a Spark task of its own; results in the order of the items.

    `on_progress(done, total)` is called on this thread as tasks end. Raises the ApplierError of the first item (in their
    order) whose task raised one, and TaskFailed for any other exception of a task.
    """
    items = list(items)
    if not items:
        return []
    frame = _one_a_partition(spark, items).mapInArrow(_result_of_each(function), "task int, result binary")
    return _collect(spark, frame, len(items), on_progress)


def _one_a_partition(spark: "SparkSession", items: list[Any]) -> "DataFrame":
    pickled = pa.array([pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items], pa.binary())
    numbers = pa.array(range(len(items)), pa.int32())
    return spark.createDataFrame(pa.table([numbers, pickled], schema=_TASKS)).repartitionById(len(items), "task")


def _result_of_each(function: Callable[[Any], Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task, item in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
                yield _outcome(task, lambda item=item: function(pickle.loads(item.as_buffer())))

    return run


def _outcome(task: int, work: Callable[[], Any]) -> pa.RecordBatch:
    """One row: the task's number, and what it came to, pickled: (True, result) or (False, ApplierError)."""
    try:
        outcome = True, work()
    except ApplierError as error:
        outcome = False, error
    pickled = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
    return pa.record_batch([pa.array([task], pa.int32()), pa.array([pickled], pa.binary())], schema=_RESULTS)


def _collect(spark: "SparkSession", frame: "DataFrame", n_tasks: int, on_progress: Progress | None) -> list[Any]:
    """Run the job and unpickle each task's outcome, in the order of the tasks."""
    table = _run(spark, frame, n_tasks, on_progress)
    results: list[Any] = [None] * n_tasks
    errors: dict[int, ApplierError] = {}
    for task, pickled in zip(table.column(0).to_pylist(), table.column(1), strict=True):
        good, value = pickle.loads(pickled.as_buffer())
        if good:
            results[task] = value
        else:
            errors[task] = value
    if errors:
        raise errors[min(errors)]
    return results


def _run(spark: "SparkSession", frame: "DataFrame", n_tasks: int, on_progress: Progress | None) -> pa.Table:
    """Collect `frame` on a thread of its own, so that this one can report progress and be interrupted."""
    context, group = spark.sparkContext, f"applier-{uuid4().hex}"

    def collect() -> pa.Table:
        context.setJobGroup(group, "applier", interruptOnCancel=True)
        return frame.toArrow()

    with ThreadPoolExecutor(1, thread_name_prefix="spark-job") as pool:
        job = pool.submit(collect)
        try:
            while not wait([job], POLL_SECONDS).done:
                if on_progress is not None:
                    on_progress(_tasks_done(context.statusTracker(), group, n_tasks), n_tasks)
        except BaseException:
            context.cancelJobGroup(group)
            raise
        error = job.exception()
    if error is not None:
        raise _explained(error) from None
    if on_progress is not None:
        on_progress(n_tasks, n_tasks)
    return job.result()


def _tasks_done(tracker: Any, group: str, n_tasks: int) -> int:
    """How many tasks of the job's last stage have ended (its stages before that only deal out the items)."""
    stages = [stage for job in tracker.getJobIdsForGroup(group) if (info := tracker.getJobInfo(job))
              for stage in info.stageIds]
    last = tracker.getStageInfo(max(stages)) if stages else None
    return min(last.numCompletedTasks, n_tasks) if last is not None and last.numTasks == n_tasks else 0


def _explained(error: BaseException) -> BaseException:
    """Spark's failure without its Java: the worker's traceback, or what it says of a worker that is gone."""
    from pyspark.errors import PythonException

    if isinstance(error, PythonException):
        return TaskFailed(str(error))
    text = str(error)
    if "Python worker exited unexpectedly" in text:
        return ApplierError("a Python worker of Spark died, on every attempt of its task",
                            hint="most often the machine was out of memory: give fewer cores, as in --master local[2]")
    reason = re.search(r"Job aborted due to stage failure: (.*)", text)
    return ApplierError(f"the Spark job failed: {reason[1] if reason else text}")
