"""Tasks on threads of this process: kernels and Arrow hold no lock, so threads are as fast as processes."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_on_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int,
                   on_progress: Callable[[int, int], None]) -> list[Result]:
    """`function` of every item, at most `threads` at a time; results in the order of the items.

    `on_progress(done, total)` is called on this thread as items end. Where items fail, no other one begins, and what
    the first of them (in their order) raised is raised, once all that had begun have ended.
    """
    if min(threads, len(items)) < 2:
        results = []
        for item in items:
            results.append(function(item))
            on_progress(len(results), len(items))
        return results
    with ThreadPoolExecutor(threads, thread_name_prefix="task") as pool:
        jobs = [pool.submit(function, item) for item in items]
        try:
            for done, job in enumerate(as_completed(jobs), 1):
                if job.exception() is not None:
                    break
                on_progress(done, len(jobs))
        finally:  # an interrupt comes here, too
            pool.shutdown(cancel_futures=True)
    return [job.result() for job in jobs]
