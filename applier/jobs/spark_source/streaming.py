"""A stream of changes by position. An offset is where an event group ends: {"file": "binlog.000003", "pos": 1234}."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from applier.binlog.archive.archive import ArchiveFile, open_archive
from applier.binlog.locating.groups import GroupPass
from applier.errors import MissingFile, SchemaError, UsageError
from applier.jobs.changes.job import ChangeLog
from applier.jobs.spark_source.options import SourceOptions
from applier.jobs.spark_source.reading import Part, parts, schema_of
from applier.jobs.spark_source.since_4_0 import (
    HAS_READ_LIMITS,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from applier.snapshot.manifest import Snapshot

Offset = dict[str, Any]
_BEGINNING: Offset = {"file": "", "pos": 0}
"""Where the options say that the log begins."""


class BinlogStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows an archive that grows. A micro-batch reads the log from one offset to the next; definitions, and XA
    transactions that are prepared, go from batch to batch. After a restart they are read from the log before the
    offset, once."""

    def __init__(self, asked: SourceOptions, columns: Sequence[str]) -> None:
        changes = asked.changes
        if changes.complete:
            raise UsageError("complete changes are not streamed", hint="read them with spark.read")
        if (changes.stop_position, changes.stop_gtid, changes.stop_datetime) != (None, None, None):
            raise UsageError("a stream has no place to stop", hint="trigger(availableNow=True) stops at the log's end")
        if changes.start_datetime is not None:
            raise UsageError("a stream begins at a position", hint="give startPosition, which `applier locate` finds")
        if asked.trigger_bytes is not None and not HAS_READ_LIMITS:
            raise UsageError("maxBytesPerTrigger needs Spark 4.2 or newer",
                             hint="leave it out: each micro-batch then has all that is new")
        changes = replace(changes, gtids=None, maybe_gtids=changes.gtids)  # a batch may have none of them
        self._asked, self._columns = replace(asked, changes=changes), list(columns)
        self._target: Offset | None = None
        self._left: tuple[Offset, Snapshot] | None = None

    def initialOffset(self) -> Offset:
        """Return where the first batch begins."""
        start, base = self._asked.changes.start_position, self._asked.changes.base
        if start is not None:
            return {"file": start[0], "pos": start[1]}
        stands_at = None if base is None else manifest.load(base).position
        return _BEGINNING if stands_at is None or not stands_at.file else {"file": stands_at.file,
                                                                           "pos": stands_at.offset}

    def getDefaultReadLimit(self) -> ReadLimit:
        """As `maxBytesPerTrigger` says."""
        most = self._asked.trigger_bytes
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def prepareForTriggerAvailableNow(self) -> None:
        """Go no farther than the log goes now."""
        self._target = self._log_end(self.initialOffset())

    def latestOffset(self, start: Offset | None = None, limit: ReadLimit | None = None) -> Offset:
        """Return how far a batch from `start` goes: to the end of a group, one at least if there is one. Spark before
        4.2 passes neither argument: the batch goes to the end of the log."""
        start = start or self._known_offset()
        if isinstance(limit, ReadMaxBytes):
            return self._end_within(start, limit.max_bytes)
        return self._target or self._log_end(start)

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Return the parts that tasks read from one offset to another. Raises SchemaError if the table has other
        columns there."""
        if start == end:
            return []
        asked = replace(self._asked.changes, stop_position=(end["file"], end["pos"]))
        if start == _BEGINNING or start == self.initialOffset():
            return self._parts(ChangeLog(asked), end)
        return self._parts(ChangeLog(replace(asked, schema=None), base=self._left_at(start)), end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a part."""
        assert isinstance(partition, Part)
        return partition.batches()

    def _parts(self, log: ChangeLog, end: Offset) -> Sequence[Part]:
        table = self._asked.table
        self._left = end, log.checkpoint(self._filter)
        if table is None:
            return parts(log, self._asked)
        names = schema_of(log, self._asked).names
        if names != self._columns:
            raise SchemaError("the table's columns have changed since the stream began", table=".".join(table),
                              file=str(end["file"]), position=int(end["pos"]),
                              hint="restart the stream; its checkpoint remains valid if the sink accepts the new "
                                   "columns")
        return parts(log, self._asked)

    def _left_at(self, offset: Offset) -> Snapshot:
        """Return the checkpoint that continues at an offset: that of the batch before, or one made from the log before
        it."""
        if self._left is not None and self._left[0] == offset:
            return self._left[1]
        before = replace(self._asked.changes, stop_position=(offset["file"], offset["pos"]))
        return ChangeLog(before).checkpoint(self._filter)

    @property
    def _filter(self) -> TableFilter:
        table = self._asked.table
        return self._asked.filter if table is None else TableFilter((table,))

    def _known_offset(self) -> Offset:
        """Return where the stream began, if the archive still has that file, else the beginning of the log."""
        start = self.initialOffset()
        has_file = any(file.name == start["file"] for file in open_archive(list(self._asked.changes.binlogs)).files)
        return start if has_file else _BEGINNING

    def _log_end(self, start: Offset) -> Offset:
        """Return the end of the log's last whole group; `start` if there is none behind it."""
        for file in reversed(self._files_from(start)):
            ends = self._ends(file, start)
            if len(ends):
                return {"file": file.name, "pos": int(ends[-1])}
        return start

    def _end_within(self, start: Offset, most: int) -> Offset:
        """Return the end of the last group of those after `start` that take at most `most` bytes together, of the first
        one in any case; `start` if there is none."""
        found, left = start, most
        for file in self._files_from(start):
            ends = self._ends(file, start)
            if not len(ends):
                continue
            begin = start["pos"] if file.name == start["file"] else 0
            chosen = max(int(np.searchsorted(ends - begin, left, side="right")), int(found is start))
            if chosen:
                found = {"file": file.name, "pos": int(ends[chosen - 1])}
            if chosen < len(ends):
                break
            left = max(0, left - (int(ends[-1]) - begin))
        return found

    def _files_from(self, start: Offset) -> list[ArchiveFile]:
        """Return the archive's files from an offset on, up to the target if there is one."""
        files = list(open_archive(list(self._asked.changes.binlogs)).files)
        names = [file.name for file in files]
        if start["file"] not in ("", *names):
            raise MissingFile(f"the stream's position is in {start['file']}, which no longer exists",
                              file=str(start["file"]), hint="restore it, or restart the stream from a base")
        first = names.index(start["file"]) if start["file"] else 0
        return files[first:] if self._target is None else files[first:names.index(self._target["file"]) + 1]

    def _ends(self, file: ArchiveFile, start: Offset) -> np.ndarray:
        """Return where the whole groups of a file end, those after an offset, up to the target if there is one."""
        groups = GroupPass(file.uri)
        ends = groups.groups(start["pos"] if file.name == start["file"] else groups.head_end).ends
        if self._target is not None and self._target["file"] == file.name:
            ends = ends[ends <= self._target["pos"]]
        return ends
