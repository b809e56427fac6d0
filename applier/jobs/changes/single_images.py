"""Changes as the log has them: single images, decoded where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from applier.apply.tables.table_maps import segment_reader
from applier.apply.tasks import LogSegment
from applier.binlog.rows.same_bytes import SameBytes
from applier.io.mapping import map_file
from applier.jobs.changes.feed import FeedTable
from applier.jobs.changes.groups import FileGroups
from applier.jobs.changes.log import FeedLog, ReadLog


class SingleImages:
    """Reads the changes of a table in segments of the log."""

    def __init__(self, log: FeedLog, segments: Sequence[LogSegment]) -> None:
        self._log, self._segments = log, segments

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes in commit order."""
        log = ReadLog(self._log)
        with SameBytes() as outlined:
            for segment in self._segments:
                yield from map(log.marker, log.statements_until((segment.file, segment.start)))
                yield from self._changes(segment, log.groups(segment.file), outlined)
            yield from map(log.marker, log.statements_until(None))

    def _changes(self, segment: LogSegment, groups: FileGroups, outlined: SameBytes) -> Iterator[pa.RecordBatch]:
        made: list[pa.RecordBatch] = []
        log = self._log
        tables = {version: FeedTable(log.versions[version].definition, log.schema, log.names[version], made.append,
                                     groups) for version in segment.tables.values()}
        reader = segment_reader(segment, map_file(segment.uri), tables)
        for _ in outlined.steps(reader, segment.split, segment.start, segment.end):
            yield from made
            made.clear()
        reader.flush()
        yield from made
