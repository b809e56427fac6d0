"""The servers and threads of event groups, read from the log's bytes without parsing events."""

from __future__ import annotations

import numpy as np

from applier.io.mapping import MappedFile

KINDS = 3
"""INSERT, UPDATE, DELETE: their numbers are the columns of arrays of counts."""
NO_THREAD = -1
_SERVER_ID_AT = 5
"""In an event's header."""
_THREADS = np.dtype([("server_id", np.int64), ("thread_id", np.int64), ("counts", np.int64, KINDS + 1)])


def server_ids_of(mapped: MappedFile, starts: np.ndarray) -> np.ndarray:
    """Return the servers that groups are of, by the header of the first event: int64[n]."""
    return _numbers(mapped, starts + _SERVER_ID_AT)


def no_threads() -> np.ndarray:
    """Return the result of `threads_of` for no transactions."""
    return np.empty(0, _THREADS)


def threads_of(server_ids: np.ndarray, thread_ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the threads of transactions with these rows, int64[n, KINDS]: each once, by `server_id` and `thread_id`,
    with `counts` of KINDS and of transactions."""
    threads = np.empty(len(rows), _THREADS)
    threads["server_id"], threads["thread_id"] = server_ids, thread_ids
    threads["counts"][:, :KINDS], threads["counts"][:, KINDS] = rows, 1
    return summed(threads)


def summed(threads: np.ndarray) -> np.ndarray:
    """Return the entries of threads, with those of one thread added up."""
    by_thread = threads[np.lexsort((threads["thread_id"], threads["server_id"]))]
    ids = np.stack([by_thread["server_id"], by_thread["thread_id"]])
    differs = np.concatenate([np.ones(min(1, len(threads)), bool), (np.diff(ids) != 0).any(axis=0)])
    found: np.ndarray = by_thread[differs]
    if len(found):
        found["counts"] = np.add.reduceat(by_thread["counts"], np.flatnonzero(differs))
    return found


def with_most_rows(threads: np.ndarray, most: int) -> np.ndarray:
    """Return at most `most` threads, those with the most rows, in descending order."""
    rows = threads["counts"][:, :KINDS].sum(axis=1)
    found: np.ndarray = threads[np.lexsort((threads["thread_id"], threads["server_id"], -rows))[:most]]
    return found


def _numbers(mapped: MappedFile, offsets: np.ndarray) -> np.ndarray:
    """Return the u32 numbers at these offsets: int64[n]."""
    found: np.ndarray = np.ascontiguousarray(mapped.array[offsets[:, None] + np.arange(4)]).view("<u4")
    return found.reshape(len(offsets)).astype(np.int64)
