"""The changes of a unit in a table that is merged on read: plain data sent between processes."""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from applier.snapshot.files.file_entries import FileEntry, KeyValue


@dataclasses.dataclass(frozen=True)
class RangeChange:
    """The changes in the range of a file: the number of added rows, their first and last key, and the numbers of rows
    that died in the file and in row files."""

    added: int = 0
    low: KeyValue | None = None
    high: KeyValue | None = None
    dead_in_file: int = 0
    dead_in_row_files: int = 0


@dataclasses.dataclass(frozen=True)
class MergedChanges:
    """`rows` are the added rows, in key order, if they are few; if they are many, they are in `files`. `dead` are the
    rows that died: `file`, a name, and `position`, sorted by both. `ranges` has the changes of the unit's files, in
    their order."""

    rows: pa.Table
    files: tuple[FileEntry, ...]
    dead: pa.Table
    ranges: tuple[RangeChange, ...]
