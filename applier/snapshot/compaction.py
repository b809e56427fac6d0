"""Keeps row files and files of positions few: each version of a lake that merges on read may add one of both.

The newest ones are merged as soon as there are a few, with older ones that are not larger than their sum. So a row is
rewritten once each time the number of versions doubles, and a table of a thousand versions
has about ten row files. Merging drops dead rows, and positions in files that no version names any more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import SnapshotError
from applier.snapshot import location
from applier.snapshot.checks import REPLACE, reading
from applier.snapshot.file_entries import FileEntry, Layer
from applier.snapshot.merged_rows import RowFiles
from applier.snapshot.row_groups import GroupedFile

FEW = 4
MOST_BYTES = 256 << 20
"""Files that are as large together stay as they are: they are read in memory."""


def newest(files: Sequence[FileEntry]) -> int:
    """Return how many files, the newest of these, which come last, are to be put together; 0 if they are to stay."""
    n = n_bytes = 0
    for file in reversed(files):
        if (n >= FEW and file.bytes > n_bytes) or n_bytes + file.bytes > MOST_BYTES:
            break
        n, n_bytes = n + 1, n_bytes + file.bytes
    return n if n >= FEW else 0


def live_rows(base: str, layer: Layer, schema: pa.Schema) -> pa.Table:
    """The live rows of all row files of a layer, in key order. Errors: SnapshotError as RowFiles has them,
    and where two rows have one key."""
    row_files = RowFiles(base, layer, schema)
    rows = row_files.within([(None, None)]).rows
    try:
        return rows.take(pa.array(row_files.key.order(rows)))
    except ValueError as error:
        raise SnapshotError(f"row files are damaged: {error}", file=base, hint=REPLACE) from error


def all_positions(base: str, files: Sequence[FileEntry], named: Collection[str]) -> pa.Table:
    """The positions of these files in order, as far as they are in files with these names. Errors: SnapshotError."""
    filesystem, root = location.resolve(base)
    found = []
    for file in files:
        path = f"{root}/{file.path}"
        with reading(path):
            grouped = GroupedFile(filesystem, path, file)
            found += [grouped.read(number) for number in range(len(grouped.groups))]
    rows = pa.concat_tables(found)
    return rows.filter(pc.is_in(rows.column("file"), pa.array(sorted(named), pa.string()))).sort_by(
        [("file", "ascending"), ("position", "ascending")])
