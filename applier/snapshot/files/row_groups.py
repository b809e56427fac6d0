"""Row groups of files in lakes that merge on read: they are read one by one, and each is compared with its own digest.

A file's own metadata, under the key `applier.row_groups`, is JSON: for each row group its rows, where its bytes begin
and end, the keys of its first and last row (bytes in hexadecimal; null without keys), and the digest of its bytes. They
are contiguous from the file's first byte on, followed by the footer, whose size and digest are in the manifest. So all
bytes that are read are verified, and reading a row group on an object store takes one request.

A file that came from another snapshot has no such metadata. It is read as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem

from applier.errors import SnapshotError
from applier.io.parquet_reading import open_parquet
from applier.io.resolver import is_local
from applier.io.typed_json import Count, Mismatch, build, loads
from applier.snapshot.files.checks import REPLACE, check_size
from applier.snapshot.files.digest import can_check, check_digest
from applier.snapshot.files.file_entries import Digest, FileEntry, KeyValue

KEY = b"applier.row_groups"
_WHOLE_BYTES = 256 << 10
"""A file on a store that is not larger is read by one request, not first its footer and then its row groups."""
GroupKey = int | Annotated[str, lambda key: "" if re.fullmatch("(?:[0-9a-f]{2})*", key) else "is no key"] | None


@dataclass(frozen=True)
class RowGroup:
    """A row group: its number of rows, where its bytes begin and end, its first and last key, and its digest."""

    rows: Count
    start: Count
    end: Count
    min_key: GroupKey
    max_key: GroupKey
    digest: Digest

    def keys(self) -> tuple[Any, Any]:
        """The first and the last key."""
        low, high = self.min_key, self.max_key
        return (bytes.fromhex(low) if isinstance(low, str) else low,
                bytes.fromhex(high) if isinstance(high, str) else high)


def described(groups: Sequence[tuple[int, int, int, KeyValue | None, KeyValue | None, str]]) -> dict[bytes, bytes]:
    """Return the metadata of a file with these row groups, given by their fields in the order of RowGroup."""
    def text(key: KeyValue | None) -> int | str | None:
        return key.hex() if isinstance(key, bytes) else key

    listed = [RowGroup(rows, start, end, text(low), text(high), digest)
              for rows, start, end, low, high, digest in groups]
    return {KEY: orjson.dumps(listed)}


class GroupedFile:
    """A file that is read by row groups. `path` is its path in the file system. The constructor reads and verifies the
    footer.

    Raises the errors of checks.reading for a file that cannot be read, and SnapshotError.
    """

    def __init__(self, filesystem: FileSystem, path: str, entry: FileEntry) -> None:
        self._filesystem, self._path, self._entry = filesystem, path, entry
        self._far: tuple[int, pa.NativeFile] | None = None
        self._fetched: dict[int, pa.Buffer] = {}
        start = 0 if entry.footer is None else entry.bytes - entry.footer.bytes
        first = 0 if entry.bytes <= _WHOLE_BYTES and not is_local(filesystem) else start
        with self._opened() as source:
            check_size(source.size(), entry.bytes, path)
            if start < 0:
                raise self._damaged("its manifest says of its footer that it is longer than the file")
            whole = pa.py_buffer(source.read_at(entry.bytes - first, first))
        check_size(whole.size, entry.bytes - first, path)
        data = whole.slice(start - first)
        check_digest(data, entry.digest if entry.footer is None else entry.footer.digest, path)
        self.metadata: pq.FileMetaData = pq.read_metadata(pa.BufferReader(self._within(start, data)))
        if self.metadata.num_rows != entry.stored_rows:
            raise SnapshotError(f"a file of the snapshot has {self.metadata.num_rows} rows, but its manifest says "
                                f"{entry.stored_rows}", file=path)
        self.groups = [RowGroup(entry.stored_rows, 0, entry.bytes, None, None, entry.digest or "")] \
            if entry.footer is None else self._described(start)
        if first < start:
            self._fetched = {number: whole.slice(group.start, group.end - group.start)
                             for number, group in enumerate(self.groups)}

    @property
    def kept_bytes(self) -> int:
        """About how much memory it takes: its metadata, and row groups that are here for the next `read`."""
        kept: int = self.metadata.serialized_size + sum(data.size for data in self._fetched.values())
        return kept

    @property
    def firsts(self) -> np.ndarray:
        """The number of each row group's first row, and that of all rows: int64[n + 1]."""
        return np.cumsum([0, *(group.rows for group in self.groups)])

    @property
    def schema(self) -> pa.Schema:
        """The columns of the file."""
        return self.metadata.schema.to_arrow_schema()

    def fetch(self, number: int) -> None:
        """Fetch the bytes of a row group for the next `read` of it."""
        if number not in self._fetched:
            self._fetched[number] = self._bytes_of(self.groups[number])

    def read(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of a row group, with all columns or some; all rows of a file that does not describe its
        groups."""
        group, names = self.groups[number], None if columns is None else list(columns)
        data = self._fetched.pop(number, None)
        if data is None:
            data = self._bytes_of(group)
        check_size(data.size, group.end - group.start, self._path)
        check_digest(data, group.digest or None, self._path)
        parquet = open_parquet(pa.BufferReader(self._within(group.start, data)), is_checked=can_check(group.digest),
                               metadata=self.metadata)
        rows = parquet.read(columns=names, use_threads=False) if self._entry.footer is None else \
            parquet.read_row_group(number, columns=names, use_threads=False)
        if rows.num_rows != group.rows:
            raise self._damaged(f"row group {number} has another number of rows than its footer says")
        return rows

    def _bytes_of(self, group: RowGroup) -> pa.Buffer:
        with self._opened() as source:
            return pa.py_buffer(source.read_at(group.end - group.start, group.start))

    @contextmanager
    def _opened(self) -> Iterator[pa.NativeFile]:
        """Open the file. A file on a store stays open, once per process, since opening it takes a request."""
        if is_local(self._filesystem):
            with self._filesystem.open_input_file(self._path) as source:
                yield source
            return
        if self._far is None or self._far[0] != os.getpid():
            self._far = os.getpid(), self._filesystem.open_input_file(self._path)
        yield self._far[1]

    def _within(self, start: int, data: pa.Buffer) -> pa.Buffer:
        """Return a buffer of the file's size with these bytes from `start` on, and 0 elsewhere: untouched memory takes
        no space."""
        if data.size == self._entry.bytes:
            return data
        whole = np.zeros(self._entry.bytes, np.uint8)
        whole[start:start + data.size] = np.frombuffer(data, np.uint8)
        return pa.py_buffer(whole)

    def _described(self, end: int) -> list[RowGroup]:
        """Return the row groups, checked against the rest of the footer."""
        try:
            groups = list(build(tuple[RowGroup, ...], loads((self.metadata.metadata or {}).get(KEY, b""))))
        except Mismatch as error:
            raise self._damaged(f"what its footer says of its row groups is damaged: {error}") from error
        edges = [0, *(group.end for group in groups)]
        if [group.start for group in groups] != edges[:-1] or edges[-1] != end or \
                len(groups) != self.metadata.num_row_groups:
            raise self._damaged("its row groups are not where its footer says")
        for number, group in enumerate(groups):
            found = self.metadata.row_group(number)
            columns = [found.column(at) for at in range(found.num_columns)]
            if found.num_rows != group.rows or not all(
                    group.start <= column.data_page_offset
                    and column.data_page_offset + column.total_compressed_size <= group.end for column in columns):
                raise self._damaged("its row groups are not where its footer says")
        return groups

    def _damaged(self, what: str) -> SnapshotError:
        return SnapshotError(f"a file of the snapshot is damaged: {what}", file=self._path, hint=REPLACE)
