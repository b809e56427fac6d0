"""Runs a job so that it can be watched and cancelled, in a session of this process or of a Spark Connect server."""

import atexit
import math
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from threading import Thread, current_thread
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pyarrow as pa

from applier.engine.spark import spark_private, workers
from applier.engine.spark.frames import table_of
from applier.engine.spark.settings import is_local
from applier.errors import ApplierError
from applier.io.disk import full_disk
from applier.io.transient import is_transient, unavailable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[int, int], None]

POLL_SECONDS = 0.1
DYNAMIC_CORES = 64
"""The planned number of cores if executors come on demand, without a bound: less work has fewer tasks."""
NO_EXECUTORS_SECONDS = 30.0
"""How long a job may wait for the first executor before that is noted: Spark warns in its own log only."""
_UNBOUNDED = (1 << 31) - 1
_NO_ANSWER = re.compile(r"An error occurred while calling \S+")
_LOST_EXECUTOR = re.compile(r"ExecutorLostFailure \(.*?\)(?: Reason:)? (.*)")
_LOST_SHUFFLE = re.compile(r"FetchFailed|Could not find valid locations|MetadataFetchFailed")
_MORE_MEMORY = ("most often memory ran out: give executors more (spark.executor.memoryOverhead on YARN, Kubernetes), "
                "or run fewer tasks at a time (fewer spark.executor.cores; on one machine --master 'local[1]')")
_OR_STABLE_NODES = ("; if nodes are taken away, use an external shuffle service or a larger "
                    "spark.stage.maxConsecutiveAttempts")
END_SECONDS = 5.0
"""Seconds that an ending program waits for the threads of jobs that it has cancelled."""

_unfinished: "dict[Thread, _Watched | None]" = {}
"""Threads that the end of the program waits for, with the jobs to cancel."""
_ends = False


class TaskFailed(RuntimeError):
    """A task raised an unexpected exception on every attempt (the message has its traceback), or its worker died."""


class TaskOutOfResources(TaskFailed):
    """A task failed because a resource ran out; `hint` says what an operator can do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def is_remote(spark: "SparkSession") -> bool:
    """True for a session of a Spark Connect server, which has the DataFrame API and no SparkContext."""
    return spark_private.is_of_connect(spark)


def parallelism(spark: "SparkSession") -> int:
    """Return how many tasks the session's executors run at once, with those that are still to come: executors register
    while a job runs, and under dynamic allocation there are none before it has tasks."""
    return max(_parallelism_now(spark), _parallelism_to_come(spark.conf.get))


def _parallelism_to_come(setting: Callable[[str, str], str | None]) -> int:
    """Return how many tasks the executors run at once that the settings ask for; 0 where these do not say it."""
    cores = int(setting("spark.executor.cores", "1") or 1) // int(setting("spark.task.cpus", "1") or 1)
    if setting("spark.dynamicAllocation.enabled", "false") == "true":
        most = setting("spark.dynamicAllocation.maxExecutors", "") or ""
        return cores * int(most) if most.isdigit() and int(most) < _UNBOUNDED else DYNAMIC_CORES
    return max(cores * int(setting("spark.executor.instances", "0") or 0), int(setting("spark.cores.max", "0") or 0))


def _parallelism_now(spark: "SparkSession") -> int:
    if not is_remote(spark):
        return spark.sparkContext.defaultParallelism
    from pyspark.sql.functions import spark_partition_id

    # a range has this many partitions, unless the session is configured otherwise
    return spark.range(1 << 16).select(spark_partition_id()).distinct().count()


@contextmanager
def explain_spark_errors() -> Iterator[None]:
    """Turn a lost JVM or TaskOutOfResources into an ApplierError."""
    try:
        yield
    except TaskOutOfResources as reason:
        raise ApplierError(str(reason), hint=reason.hint) from None
    except ApplierError:
        raise
    except Exception as error:
        if is_silence(error):
            raise java_is_gone() from None
        raise


def is_silence(error: BaseException) -> bool:
    """True if an error means that the JVM no longer answers."""
    from py4j.protocol import Py4JError, Py4JNetworkError

    if isinstance(error, ConnectionError | EOFError | Py4JNetworkError):
        return True
    # py4j's error for a connection that breaks while it waits: an error of Java has a trace.
    return type(error) is Py4JError and _NO_ANSWER.fullmatch(str(error)) is not None


def java_is_gone(when: str = "") -> ApplierError:
    """Return the error for a JVM that has ended; `when` says what was being done at that point."""
    return ApplierError(f"the Spark JVM exited{when}; nothing was published",
                        hint="it was probably killed because the driver's machine ran out of memory: give the driver "
                             "more memory, or run fewer tasks at a time where they run on that machine, too, as with "
                             "--master 'local[1]'")


def noting_no_executors(spark: "SparkSession", on_progress: Progress, say: Callable[[str], None]) -> Progress:
    """Return `on_progress` for a job that starts now; it also calls `say` once if a cluster gives the job no executors.
    """
    may_wait = not is_remote(spark) and not is_local(spark.sparkContext.master)
    due = time.monotonic() + NO_EXECUTORS_SECONDS if may_wait else math.inf

    def progress(done: int, total: int) -> None:
        nonlocal due
        if done == 0 and time.monotonic() >= due:
            due = math.inf
            if not spark_private.has_executors(spark):
                of_run = f"; the UI of this run is {url}" if (url := spark.sparkContext.uiWebUrl) else ""
                say(f"no executor of Spark has started in {NO_EXECUTORS_SECONDS:.0f} s: the cluster has no free cores "
                    f"or memory for one (spark.executor.cores, spark.executor.memory), or executors fail when they "
                    f"start: see the cluster manager's logs{of_run}")
        on_progress(done, total)

    return progress


def collect(spark: "SparkSession", frame: "DataFrame", schema: pa.Schema, n_tasks: int, name: str,
            on_progress: Progress | None) -> pa.Table:
    """The rows of `frame`, which has the columns of a schema. Its job has a name in Spark's UI and ends with a stage of
    `n_tasks` tasks.

    It runs on a thread of its own, so that this one can report progress, as `on_progress(tasks done, n_tasks)`, and be
    interrupted, which cancels the job. Raises TaskFailed, without Spark's Java.
    """
    job: Future[pa.Table] = Future()
    watched: _Watched = _RemoteJob(spark) if is_remote(spark) else _JobGroup(spark, name)

    def run() -> None:
        try:
            watched.begin()
            job.set_result(table_of(frame, schema))
        except BaseException as error:
            job.set_exception(error)
        finally:
            del _unfinished[thread]

    # A daemon thread: an ending program does not wait for it, as it would for an executor's threads.
    if _ends:
        raise TaskFailed("the program ends")
    thread = Thread(target=run, name="spark-job", daemon=True)
    _unfinished[thread] = watched
    thread.start()
    try:
        while not wait([job], POLL_SECONDS).done:
            if on_progress is not None:
                on_progress(watched.tasks_done(n_tasks), n_tasks)
    except BaseException:
        watched.cancel()
        raise
    finally:
        watched.end()
    error = job.exception()
    if error is not None:
        raise explained(error) from None
    if on_progress is not None:
        on_progress(n_tasks, n_tasks)
    return job.result()


@atexit.register
def _end_jobs() -> None:
    """Cancel jobs that still run, for example the one that warms up workers, before the interpreter ends: a thread that
    returned to it from Arrow's C++ later would abort the process."""
    global _ends
    _ends, unfinished = True, dict(_unfinished)
    for watched in unfinished.values():
        if watched is not None:
            with suppress(Exception):  # Java may be gone, and its jobs with it
                watched.cancel()
    for thread in unfinished:
        thread.join(END_SECONDS)


@contextmanager
def awaited_at_exit() -> Iterator[None]:
    """Run on a daemon thread: the end of the program waits for it and cancels its job."""
    _unfinished[current_thread()] = None
    try:
        yield
    finally:
        del _unfinished[current_thread()]


class _Watched(Protocol):
    def begin(self) -> None:
        """Called on the thread that runs the job, before the job."""

    def tasks_done(self, n_tasks: int) -> int:
        """Return how many tasks of the job's last stage have ended (earlier stages only distribute the items)."""

    def cancel(self) -> None: ...

    def end(self) -> None: ...


class _JobGroup:
    """A job in this process's SparkContext."""

    def __init__(self, spark: "SparkSession", name: str):
        self._context, self._group, self._name = spark.sparkContext, f"applier-{uuid4().hex}", name or "applier"

    def begin(self) -> None:
        self._context.setJobGroup(self._group, self._name, interruptOnCancel=True)

    def tasks_done(self, n_tasks: int) -> int:
        tracker = self._context.statusTracker()
        stages = [stage for job in tracker.getJobIdsForGroup(self._group) if (info := tracker.getJobInfo(job))
                  for stage in info.stageIds]
        last = tracker.getStageInfo(max(stages)) if stages else None
        return min(last.numCompletedTasks, n_tasks) if last is not None and last.numTasks == n_tasks else 0

    def cancel(self) -> None:
        self._context.cancelJobGroup(self._group)

    def end(self) -> None:
        pass


class _RemoteJob:
    """A job on a Spark Connect server, which reports its stages while it runs."""

    def __init__(self, spark: "SparkSession"):
        self._spark, self._tag = spark, f"applier-{uuid4().hex}"
        self._stages: list[Any] = []
        spark.registerProgressHandler(self._on_stages)  # type: ignore[arg-type]  # any callable will do

    def _on_stages(self, stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        self._stages = list(stages or ())

    def begin(self) -> None:
        self._spark.addTag(self._tag)

    def tasks_done(self, n_tasks: int) -> int:
        last = max(self._stages, key=lambda stage: stage.stage_id, default=None)
        return min(last.num_completed_tasks, n_tasks) if last is not None and last.num_tasks == n_tasks else 0

    def cancel(self) -> None:
        self._spark.interruptTag(self._tag)

    def end(self) -> None:
        self._spark.removeProgressHandler(self._on_stages)  # type: ignore[arg-type]  # any callable will do


def explained(error: BaseException) -> BaseException:
    """Spark's failure without its Java parts: the worker's traceback, or Spark's report about a lost worker."""
    from pyspark.errors import PythonException

    if is_silence(error):
        return error  # see `explain_spark_errors`
    text = str(error)
    if full := full_disk.explanation(text):
        return TaskOutOfResources(*full)
    if said := re.search(r"^OSError: (.*)", text, re.MULTILINE):
        if is_transient(of_store := OSError(said[1])):
            return unavailable(of_store, None)
    if of_workers := workers.explanation(text):
        return of_workers
    if isinstance(error, PythonException):
        return TaskFailed(text)
    if "Python worker exited unexpectedly" in text:
        return TaskOutOfResources("a Python worker of Spark died, on every attempt of its task", _MORE_MEMORY)
    if lost := _LOST_EXECUTOR.search(text):
        return TaskOutOfResources(f"an executor of Spark was lost on every attempt of a task: {lost[1]}", _MORE_MEMORY)
    reason = re.search(r"Job aborted due to stage failure: (.*)", text)
    if reason and _LOST_SHUFFLE.search(text):
        return TaskOutOfResources(f"executors of Spark were lost repeatedly, with what other tasks needed: {reason[1]}",
                                  _MORE_MEMORY + _OR_STABLE_NODES)
    return TaskFailed(f"the Spark job failed: {reason[1] if reason else text}")
