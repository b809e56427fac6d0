"""Tasks of one process, one after the other: none adds to the memory of the next."""

import gc

import pyarrow as pa

from applier.apply.tasks import Applied, ApplyTasks, TaskShare
from applier.engine import executor


def test_rows_go_with_their_task(monkeypatch):
    """Also where they are in a circle, which only Python's collector takes apart."""
    held = []

    def apply(task):
        held.append(pa.total_allocated_bytes())
        circle = [pa.allocate_buffer(2 * executor.ROWS_LEFT_BYTES)]  # memory that nobody touches
        circle.append(circle)
        return Applied(results=())

    monkeypatch.setattr(executor, "apply_by_walking", apply)
    gc.collect()
    shares = (TaskShare({}, frozenset()),) * 5
    outcomes = executor.ThisProcess(1).walk(ApplyTasks(shares), lambda *_: None)
    assert outcomes == [Applied(results=())] * 5
    assert max(held) - held[0] < executor.ROWS_LEFT_BYTES
