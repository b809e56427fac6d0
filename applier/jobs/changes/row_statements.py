"""The statements behind changes, where the log has them: MySQL's ROWS_QUERY and MariaDB's ANNOTATE_ROWS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.binlog.locating.groups import GroupPass
from applier.jobs.changes.log import LogFile

STATEMENT = pa.field("_statement", pa.dictionary(pa.int32(), pa.string()))
"""What a feed has of them, behind its other columns."""
_NEXT = ";\n"


class RowStatements:
    """Finds the statements behind changes by their places; these `files`, by their names, have some."""

    def __init__(self, files: Mapping[str, LogFile]) -> None:
        self._files = {name: _FileStatements(file) for name, file in files.items()}

    def added(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """A batch of a feed, of this schema, with STATEMENT."""
        found = self.behind(batch.column("_file"), batch.column("_pos"))
        return pa.RecordBatch.from_arrays([*batch.columns, found], schema=schema)

    def behind(self, files: pa.DictionaryArray, places: pa.Int64Array) -> pa.DictionaryArray:
        """The statements behind changes, by the names of their files and the offsets of their events; null where there
        is none."""
        numbers, offsets = (np.asarray(array.fill_null(-1)) for array in (files.indices, places))
        found = pa.nulls(len(files), STATEMENT.type)
        for number, name in enumerate(files.dictionary.to_pylist()):
            if name in self._files:
                here = np.flatnonzero(numbers == number)
                values = self._files[name].at(offsets[here])
                found = values if len(here) == len(files) else pc.replace_with_mask(
                    found.cast(pa.string()), pa.array(numbers == number), values.cast(pa.string())).dictionary_encode()
        return found


class _FileStatements:
    """Those of a file, which is read when one of it is wanted."""

    def __init__(self, file: LogFile) -> None:
        self._file = file

    def at(self, places: np.ndarray) -> pa.Array:
        """The statements behind rows events at these offsets; null where there is none."""
        starts, ends, first, texts = self._found
        numbers = np.searchsorted(starts, places, side="right") - 1
        known = numbers >= 0
        known[known] = places[known] < ends[numbers[known]]
        is_next = np.diff(numbers[known], prepend=-1) != 0
        distinct, indices = numbers[known][is_next], np.zeros(len(places), np.int32)
        indices[known] = np.cumsum(is_next) - 1
        counts = first[distinct + 1] - first[distinct]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        taken = texts.take(pa.array(np.repeat(first[distinct] - offsets[:-1], counts) + np.arange(offsets[-1])))
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), taken.cast(pa.string())), _NEXT)
        return pa.DictionaryArray.from_arrays(pa.array(indices, mask=~known), joined)

    @cached_property
    def _found(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, pa.Array]:
        """Where statements begin and end, the number of the first text of each and how many there are, and the texts.
        Those of a compressed transaction have one place."""
        file = self._file
        found = GroupPass(file.uri).row_statements(file.start, file.end)
        starts, first = np.unique(found.starts, return_index=True)
        first = np.append(first, len(found.starts))
        return starts, found.ends[first[1:] - 1], first, _texts(found.offsets, found.data)


def _texts(offsets: np.ndarray, data: np.ndarray) -> pa.Array:
    """Statements as text; of bytes that are none in UTF-8, what can be read."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    values = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([value.decode("utf-8", "replace") for value in values.to_pylist()], pa.large_string())
