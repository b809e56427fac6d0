"""The statements behind changes, if the log has them: MySQL's ROWS_QUERY and MariaDB's ANNOTATE_ROWS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.log import LogFile
from applier.jobs.changes.log_files import LogFiles

STATEMENT = pa.field("_statement", pa.dictionary(pa.int32(), pa.string()))
"""The column with a change's statement, behind the feed's others."""
MOST_BYTES = 256 << 20
"""Of the statements of a batch, and of those of files that are in memory; those of one event, or file, may be more."""


class RowStatements:
    """Finds the statements behind changes by their positions; some of these `files` may have none. A log has one
    finder, since it caches what it read last."""

    def __init__(self, files: Iterable[LogFile]) -> None:
        self._files = LogFiles(file for file in files if file.has_statements)
        self._kept = dict[LogFile, _FileStatements]()  # in the order in which they were used

    def at(self, file: str, offset: int) -> str | None:
        """Return the statement behind a rows event; None without one."""
        files = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([file]))
        found = self._behind(files, np.array([offset]), None)
        return None if found is None else found[0].as_py()

    def added(self, batch: pa.RecordBatch, schema: pa.Schema, file: str = "_file",
              offset: str = "_pos") -> Iterator[pa.RecordBatch]:
        """Yield a batch with this schema's columns, the last of which is STATEMENT. It is divided between events if the
        statements are more than MOST_BYTES. `file` and `offset` name the columns with the changes' positions; without a
        position there is no statement."""
        offsets = np.asarray(batch.column(offset).fill_null(-1))
        ends = 1 + np.flatnonzero(np.diff(offsets))
        found = self._behind(batch.column(file), offsets, MOST_BYTES if len(ends) else None)
        if found is None:
            middle = int(ends[np.argmin(np.abs(ends - batch.num_rows // 2))])
            for part in (batch.slice(0, middle), batch.slice(middle)):
                yield from self.added(part, schema, file, offset)
        else:
            yield pa.RecordBatch.from_arrays([*map(batch.column, schema.names[:-1]), found], schema=schema)

    def _behind(self, files: pa.DictionaryArray, offsets: np.ndarray, most: int | None) -> pa.DictionaryArray | None:
        """Return the statements behind changes, by the names of their files and the offsets of their events; None if
        they are more than `most` bytes."""
        numbers = np.asarray(files.indices.fill_null(-1))
        indices, texts, n, size = np.full(len(files), -1, np.int32), [pa.array([], pa.large_string())], 0, 0
        for number, name in enumerate(files.dictionary.to_pylist()):
            here = np.flatnonzero(numbers == number)
            for file, inside in self._files.having(name, offsets[here]):
                found, values = self._of(file).at(offsets[here[inside]])
                indices[here[inside]] = np.where(found >= 0, found + n, -1)
                texts.append(values)
                n, size = n + len(values), size + values.nbytes
                if most is not None and size > most:
                    return None
        return pa.DictionaryArray.from_arrays(pa.array(indices, mask=indices < 0),
                                              pa.concat_arrays(texts).cast(pa.string()))

    def _of(self, file: LogFile) -> _FileStatements:
        found = self._kept.pop(file, None)
        if found is None:
            found = _FileStatements.read(file)
            while self._kept and found.nbytes + sum(kept.nbytes for kept in self._kept.values()) > MOST_BYTES:
                del self._kept[next(iter(self._kept))]
        self._kept[file] = found
        return found


@dataclass(frozen=True)
class _FileStatements:
    """Those of a part of a file, in its order: text texts[numbers[i]] is behind rows events in [starts[i], ends[i])."""

    starts: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    texts: pa.LargeBinaryArray

    @classmethod
    def read(cls, file: LogFile) -> _FileStatements:
        """Read the statements of a file. In a compressed transaction, all statements and changes have one position:
        with several statements it is unknown which one is behind a change, so they are omitted."""
        found = GroupPass(file.uri).row_statements(file.start, file.end)
        starts, first, counts = np.unique(found.starts, return_index=True, return_counts=True)
        known = counts == 1
        buffers = [None, pa.py_buffer(found.offsets), pa.py_buffer(found.data)]
        texts = pa.Array.from_buffers(pa.large_binary(), len(found.starts), buffers)
        return cls(starts[known], found.ends[first[known]], first[known], texts)

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return int(self.texts.nbytes + self.starts.nbytes + self.ends.nbytes + self.numbers.nbytes)

    def at(self, offsets: np.ndarray) -> tuple[np.ndarray, pa.LargeStringArray]:
        """Return the numbers of the statements behind rows events at these offsets, in those that are given; -1 without
        one."""
        numbers = np.searchsorted(self.starts, offsets, side="right") - 1
        known = numbers >= 0
        known[known] = offsets[known] < self.ends[numbers[known]]
        distinct, inverse = np.unique(numbers[known], return_inverse=True)
        numbers = np.full(len(offsets), -1, np.int64)
        numbers[known] = inverse
        return numbers, _as_text(self.texts.take(pa.array(self.numbers[distinct], pa.int64())))


def _as_text(values: pa.LargeBinaryArray) -> pa.LargeStringArray:
    """Return statements as text; undecodable bytes are replaced."""
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([value.decode("utf-8", "replace") for value in values.to_pylist()], pa.large_string())
