"""Changes with single images, as in the log, decoded in place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import pyarrow as pa

from applier.apply.tables.table_maps import segment_reader
from applier.apply.tasks import LogSegment
from applier.binlog.rows.same_bytes import SameBytes
from applier.io.mapping import MappedFile, map_file
from applier.jobs.changes.event_groups.groups import FileGroups
from applier.jobs.changes.feed import FeedTable
from applier.jobs.changes.log import FeedLog, ReadLog
from applier.jobs.changes.statements import Statement

MOST_INFLATED = 64 << 20
"""The most bytes of compressed events that are kept for the changes of a batch, besides the last inflated part."""


class SingleImages:
    """Reads the changes of a table in segments of the log."""

    def __init__(self, log: FeedLog, segments: Sequence[LogSegment]) -> None:
        self._log, self._segments = log, segments

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes in commit order."""
        log = ReadLog(self._log)
        with SameBytes() as outlined:
            for segment in self._segments:
                yield from log.markers(log.statements_until((segment.file, segment.start)))
                yield from self._changes(segment, log.groups(segment.file), outlined)
            yield from log.markers(log.statements_until(None))

    def parts(self, size: int) -> list[SingleImages]:
        """Return the same in parts of about `size` bytes of log, one after the other; a split is in one of them."""
        divided: list[list[LogSegment]] = [[]]
        for _, of_split in groupby(self._segments, key=lambda segment: (segment.file, segment.split.start)):
            if sum(segment.end - segment.start for segment in divided[-1]) >= size:
                divided.append([])
            divided[-1] += of_split
        starts = [(segments[0].file, segments[0].start) for segments in divided[1:]]
        by_part: list[list[Statement]] = [[] for _ in divided]
        for statement in self._log.statements:
            by_part[bisect_left(starts, statement.end)].append(statement)
        return [self._part(segments, statements) for segments, statements in zip(divided, by_part, strict=True)]

    def _part(self, segments: list[LogSegment], statements: list[Statement]) -> SingleImages:
        read = {segment.file for segment in segments}
        whole = {statement.end[0] for statement in statements} | (read & self._log.commits.keys())
        whole |= {file for number in read for file, _ in self._log.commits.get(number, {}).values()}
        files = {number: file for number, file in self._log.files.items() if number in read | whole}
        for number in read - whole:
            splits = [segment.split for segment in segments if segment.file == number]
            file = files[number]
            files[number] = replace(file, start=max(file.start, splits[0].start), end=min(file.end, splits[-1].end))
        return SingleImages(replace(self._log, files=files, statements=statements), segments)

    def _changes(self, segment: LogSegment, groups: FileGroups, outlined: SameBytes) -> Iterator[pa.RecordBatch]:
        made: list[pa.RecordBatch] = []
        log = self._log
        inflated = list[MappedFile]()
        tables = {version: FeedTable(log.versions[version].definition, log.schema, log.names[version], made.append,
                                     groups, log.chosen_of(version), inflated)
                  for version in segment.tables.values() if log.has_rows_of(version)}
        file = map_file(segment.uri, whole=False)
        if not log.wanted.all:  # the split's bytes also decide what is skipped
            outlined.check(file, segment.split)
        reader = segment_reader(segment, file, tables, None if log.chosen is None else inflated.append)
        for start, end in groups.wanted_parts(segment.start, segment.end):
            for _ in outlined.steps(reader, segment.split, start, end):
                if sum(memory.size for memory in inflated) > MOST_INFLATED:
                    reader.flush()
                yield from made
                made.clear()
        reader.flush()
        yield from made
