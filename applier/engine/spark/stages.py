"""Two kinds of Spark stage for Python tasks: one task per item, and one with a shuffle of payloads to units.

Spark sees only numbers and binary columns: pickled items in, pickled results out, payloads between. Every item, and
every unit, has its own partition, by a number that is chosen for that (partitions). An ApplierError that a task
raises travels as a value, so it reaches the caller unchanged and Spark does not retry the task; any other
exception is a fault, which Spark retries.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from applier.engine.spark import running, workers
from applier.engine.spark.frames import frame_of, sql_of
from applier.engine.spark.partitions import values_of_partitions
from applier.engine.spark.running import Progress
from applier.engine.spill_buffer import SPILL_BYTES, Arrivals, SharedArrivals, SharedFile, SpillBuffer
from applier.errors import ApplierError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Item = TypeVar("Item")
Result = TypeVar("Result")

FAILED, UNIT_EXISTS = -2, -1
"""In place of a payload's number: marks rows that carry none."""

_TASKS = pa.schema([("part", pa.int32()), ("task", pa.int32()), ("item", pa.binary())])
_RESULTS = pa.schema([("task", pa.int32()), ("result", pa.binary())])
_PAYLOADS = pa.schema([("part", pa.int32()), ("unit", pa.int32()), ("task", pa.int32()), ("number", pa.int32()),
                       ("payload", pa.binary())])


def map_tasks(
    spark: "SparkSession",
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    name: str = "",
    on_progress: Progress | None = None,
) -> list[Result]:
    """`function` of every item, each in a Spark task of its own; results in the order of the items.

    `name` is what Spark's UI calls the job; the plan of its query has the function's name. `on_progress(done, total)`
    is called on this thread as tasks end. Raises the ApplierError of the first item (in their order) whose task raised
    one, and TaskFailed for any other exception of a task.
    """
    items = list(items)
    if not items:
        return []
    frame = _one_a_partition(spark, items).mapInArrow(_result_of_each(function), sql_of(_RESULTS))
    return _collect(spark, frame, len(items), name, on_progress)


def shuffle_tasks(
    spark: "SparkSession",
    map_function: Callable[[Item], Iterable[tuple[np.ndarray, pa.BinaryArray]]],
    items: Iterable[Item],
    reduce_function: Callable[[int, Iterator[pa.Buffer]], Result],
    n_units: int,
    *,
    shared: str | None = None,
    name: str = "",
    on_progress: Progress | None = None,
) -> list[Result]:
    """One task per item yields payloads; one task per unit takes its own, in the order of the items.

    `map_function(item)` yields many payloads at a time: the unit of each (0..n_units), and the payloads, together some
    megabytes. Those of the same unit keep the order in which their item gave them. `reduce_function(unit, payloads)`
    runs for every unit, also for one that got nothing; a payload may lie in a mapped file, so that memory holds at most
    SPILL_BYTES of them. Results in the order of units; name, progress and errors as in `map_tasks`, an ApplierError of
    an item before one of a unit.

    `shared`: a directory that all tasks see, as on one machine. Payloads are left in files there, and Spark carries
    only where they lie: through Java, payloads cost some six times the CPU. The caller removes it.
    """
    items = list(items)
    if n_units == 0:
        return []
    frame = _one_a_partition(spark, items or [None]).mapInArrow(
        _payloads_of_each(map_function if items else _no_payloads, n_units, shared), sql_of(_PAYLOADS))
    frame = frame.repartition(n_units, "part").mapInArrow(
        _result_of_unit(reduce_function, shared is not None), sql_of(_RESULTS))
    return _collect(spark, frame, n_units, name, on_progress)


def _no_payloads(_: None) -> tuple[()]:
    return ()


def _payloads_of_each(
    function: Callable[[Any], Any], n_units: int, shared: str | None
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Rows of _PAYLOADS. The first item also sends each unit a row without a payload, so that every unit has a task."""

    needed = workers.versions()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = partial(_payload_rows, values_of_partitions(n_units))
        with SharedFile(shared) if shared else nullcontext() as file:
            for batch in batches:
                for task, item in zip(batch.column(1).to_pylist(), batch.column(2), strict=True):
                    if task == 0:
                        yield rows(np.arange(n_units), task, np.full(n_units, UNIT_EXISTS), [b""] * n_units)
                    number = 0
                    try:
                        workers.check(needed)
                        for units, payloads in function(pickle.loads(item.as_buffer())):
                            if outside := [unit for unit in units.tolist() if not 0 <= unit < n_units]:
                                raise ValueError(f"unit {outside[0]} of {n_units}")
                            sent = [file.put(payload.as_buffer()) for payload in payloads] if file else payloads
                            yield rows(units, task, np.arange(number, number + len(units)), sent)
                            number += len(units)
                    except ApplierError as error:
                        yield rows(np.zeros(1, np.int64), task, np.array([FAILED]), [pickle.dumps(error)])

    return _named(run, function)


def _payload_rows(partitions: np.ndarray, units: np.ndarray, task: int, numbers: np.ndarray,
                  payloads: pa.BinaryArray | list[bytes]) -> pa.RecordBatch:
    columns = partitions[units], units, np.full(len(units), task), numbers
    return pa.record_batch([*(pa.array(column.astype(np.int32)) for column in columns),
                            pa.array(payloads, pa.binary())], schema=_PAYLOADS)


def _result_of_unit(
    function: Callable[[int, Iterator[pa.Buffer]], Any], is_shared: bool
) -> Callable[..., Any]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        met, failures = set[int](), dict[int, pa.Buffer]()
        arrivals: Arrivals = SharedArrivals() if is_shared else SpillBuffer(SPILL_BYTES)
        with arrivals:
            for batch in batches:
                units, tasks, numbers = (column.to_pylist() for column in batch.columns[1:4])
                met.update(units)
                for task, number, payload in zip(tasks, numbers, batch.column(4), strict=True):
                    if number == FAILED:
                        failures[task] = payload.as_buffer()
                    elif number != UNIT_EXISTS:
                        arrivals.add((task, number), payload.as_buffer())

            def reduce() -> Any:
                if failures:
                    raise pickle.loads(failures[min(failures)])
                return function(unit, (payload for _, payload in arrivals.in_order()))

            [unit] = met  # Spark hashes as we do
            yield _outcome(unit, reduce)

    return _named(run, function)


def _one_a_partition(spark: "SparkSession", items: list[Any]) -> "DataFrame":
    pickled = pa.array([pickle.dumps(item, pickle.HIGHEST_PROTOCOL) for item in items], pa.binary())
    numbers = pa.array(range(len(items)), pa.int32())
    table = pa.table([pa.array(values_of_partitions(len(items))), numbers, pickled], schema=_TASKS)
    return frame_of(spark, table).repartition(len(items), "part")


def _result_of_each(function: Callable[[Any], Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    needed = workers.versions()

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task, item in zip(batch.column(1).to_pylist(), batch.column(2), strict=True):
                yield _outcome(task, partial(_call, needed, function, item))

    return _named(run, function)


def _named(run: Callable[..., Iterator[pa.RecordBatch]], function: Callable[..., Any]
           ) -> Callable[..., Iterator[pa.RecordBatch]]:
    """Return `run` under the name of the function that it calls: Spark's UI shows it in the plan of a query."""
    run.__name__ = getattr(function, "__name__", run.__name__)
    return run


def _call(needed: workers.Versions, function: Callable[[Any], Any], pickled: pa.BinaryScalar) -> Any:
    workers.check(needed)
    return function(pickle.loads(pickled.as_buffer()))


def _outcome(task: int, work: Callable[[], Any]) -> pa.RecordBatch:
    """One row: the task's number and its pickled outcome: (True, result) or (False, ApplierError)."""
    outcome: tuple[bool, Any]
    try:
        outcome = True, work()
    except ApplierError as error:
        outcome = False, error
    pickled = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
    return pa.record_batch([pa.array([task], pa.int32()), pa.array([pickled], pa.binary())], schema=_RESULTS)


def _collect(spark: "SparkSession", frame: "DataFrame", n_tasks: int, name: str,
             on_progress: Progress | None) -> list[Any]:
    """Run the job and unpickle each task's outcome, in the order of the tasks."""
    table = running.collect(spark, frame, _RESULTS, n_tasks, name, on_progress)
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
