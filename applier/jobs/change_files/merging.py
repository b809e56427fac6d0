"""Lines of several tables in the order of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from applier.jobs.change_files.lines import Lines


class _Source:
    """The lines of a table that are next."""

    def __init__(self, lines: Iterator[Lines]) -> None:
        self._lines = lines
        self._at = 0
        self._next: Lines | None = None

    def last(self) -> int | None:
        """The place in the log of the last line that is there; None where none is left."""
        while self._next is None or self._at == len(self._next.ends):
            self._next, self._at = next(self._lines, None), 0
            if self._next is None:
                return None
        return int(self._next.order[-1])

    def up_to(self, place: int) -> tuple[np.ndarray, pa.Array] | None:
        """The places and texts of the lines up to a place; None without one. `last` was called before."""
        if self._next is None:
            return None
        stop = int(np.searchsorted(self._next.order, place, side="right"))
        if stop <= self._at:
            return None
        ends = self._next.ends
        offsets = np.concatenate([[0 if self._at == 0 else ends[self._at - 1]], ends[self._at:stop]])
        texts = pa.Array.from_buffers(pa.large_binary(), stop - self._at,
                                      [None, pa.py_buffer(offsets), pa.py_buffer(self._next.text)])
        found = self._next.order[self._at:stop], texts
        self._at = stop
        return found


def in_order(tables: Sequence[Iterable[Lines]]) -> Iterator[memoryview]:
    """The texts of the lines of all tables, in the order of the log; those at one place in the order of the tables."""
    sources = [_Source(iter(lines)) for lines in tables]
    while lasts := [last for last in [source.last() for source in sources] if last is not None]:
        parts = [part for part in [source.up_to(min(lasts)) for source in sources] if part is not None]
        texts = pa.concat_arrays([part[1] for part in parts])
        if len(parts) > 1:
            texts = texts.take(pa.array(np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")))
        _, offsets, data = texts.buffers()
        first, last = np.frombuffer(offsets, np.int64)[[texts.offset, texts.offset + len(texts)]]
        yield memoryview(data)[int(first):int(last)]
