"""Keeps the changes in a lake that merges on read small and in few files.

Each version may add a row file and a file of positions. The newest ones are merged as soon as there are a few, with
older ones that are not larger than their sum. So a row is rewritten once each time the number of versions doubles, and
a table of a thousand versions has about ten row files. Merging drops dead rows, and positions in files that the new
version no longer names.

A range with many changes is rewritten, up to a number of bytes per version, starting with the ranges whose last change
is oldest: nothing else is likely to rewrite them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import SnapshotError
from applier.snapshot.files import location
from applier.snapshot.files.checks import REPLACE, reading
from applier.snapshot.files.file_entries import FileColumns, FileEntry, Layer
from applier.snapshot.files.row_groups import GroupedFile
from applier.snapshot.lake.merged_rows import RowFiles

FEW = 4
MOST_BYTES = 256 << 20
"""Files that are larger in sum are not merged, since merging reads them into memory."""
MOST_MERGED = 0.2
"""The largest share of dead rows and rows of row files, relative to the rows of the files themselves."""


def due(tables: Iterable[FileColumns], n_bytes: int, share: float) -> set[str]:
    """Return the paths of files whose ranges are due for rewriting: more than this share of their rows is dead or in
    row files. Together they have at most `n_bytes`, unless the first is larger; the oldest last change comes first."""
    found = []
    for columns in tables:
        for path, rows, size, changed in zip(columns.paths, columns.rows, columns.bytes, columns.changed, strict=True):
            if changed is not None:
                dead = changed.stored_rows - (rows - changed.row_file_rows)
                if changed.row_file_rows + dead > share * changed.stored_rows:
                    found.append((changed.version, path, size))
    chosen, left = set[str](), n_bytes
    for _, path, size in sorted(found):
        if left < size and (chosen or not n_bytes):
            break
        chosen.add(path)
        left -= size
    return chosen


def newest(files: Sequence[FileEntry]) -> int:
    """Return how many of the newest files, which come last, are to be merged; 0 for none."""
    n = n_bytes = 0
    for file in reversed(files):
        if (n >= FEW and file.bytes > n_bytes) or n_bytes + file.bytes > MOST_BYTES:
            break
        n, n_bytes = n + 1, n_bytes + file.bytes
    return n if n >= FEW else 0


def live_rows(base: str, layer: Layer, schema: pa.Schema) -> pa.Table:
    """Return the live rows of all row files of a layer, in key order. Errors: SnapshotError as in RowFiles, and if two
    rows have the same key."""
    row_files = RowFiles(base, layer, schema)
    rows = row_files.within([(None, None)]).rows
    try:
        return rows.take(pa.array(row_files.key.order(rows)))
    except ValueError as error:
        raise SnapshotError(f"row files are damaged: {error}", file=base, hint=REPLACE) from error


def all_positions(base: str, files: Sequence[FileEntry], named: Collection[str]) -> pa.Table:
    """Return, in order, the positions in these files that refer to files with these names. Errors: SnapshotError."""
    filesystem, root = location.resolve(base)

    def read(file: FileEntry) -> pa.Table:
        path = f"{root}/{file.path}"
        with reading(path):
            grouped = GroupedFile(filesystem, path, file)
            return pa.concat_tables(grouped.read(number) for number in range(len(grouped.groups)))

    rows = pa.concat_tables(location.at_once(filesystem, [partial(read, file) for file in files]))
    return rows.filter(pc.is_in(rows.column("file"), pa.array(sorted(named), pa.string()))).sort_by(
        [("file", "ascending"), ("position", "ascending")])
