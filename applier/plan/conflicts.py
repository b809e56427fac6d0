"""The list of conflicts that idempotent mode suppressed: `_conflicts.parquet`, a row for each, in log order.

A unit knows where its conflicts are in the log; the transactions are looked up here, in the files that have conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from applier.apply.tasks import UnitResult
from applier.binlog.outline.outline import Outline
from applier.binlog.rows.same_bytes import SameBytes
from applier.errors import CORRUPT_EVENT, ArchiveError
from applier.io.mapping import MappedFile, map_file
from applier.plan.stops.gtid_kernel import find_gtids
from applier.plan.stops.gtid_texts import gtid_texts

LISTING = pa.schema([
    ("table", pa.string()), ("operation", pa.string()), ("conflict", pa.string()), ("key", pa.string()),
    ("values", pa.string()), ("gtid", pa.string()), ("file", pa.string()), ("position", pa.int64()),
    ("row", pa.int32()),
])
"""db.table; insert, update or delete; "duplicate key" or "row not found"; the name of the key with the duplicate, or of
that by which the row was searched ("" for a search by content), and the change's values in it; its transaction (null
without GTIDs); the binlog's base name, the position of the rows event, and the number of the row in it, from 1."""


def conflict_listing(results: Sequence[UnitResult], outlines: Sequence[Outline]) -> pa.Table:
    """The conflicts of all units as LISTING says; `outlines` are in log order."""
    found = [result.conflicts for result in results if result.conflicts is not None]
    if not found:
        return LISTING.empty_table()
    return with_positions(pa.concat_tables(found), outlines).select(LISTING.names).cast(LISTING)


def with_positions(found: pa.Table, outlines: Sequence[Outline]) -> pa.Table:
    """Rows with a `file` (uri), `position` and `row` (from 0) in log order, with their transactions (`gtid`,
    null without GTIDs), base names instead of uris, and rows counted from 1."""
    files = {outline.uri: outline.name for outline in outlines}
    number = pc.index_in(found.column("file"), pa.array(list(files)))
    found = found.append_column("number", number).sort_by(
        [("number", "ascending"), ("position", "ascending"), ("row", "ascending")])
    by_file = _by_file(found)
    found = found.append_column("gtid", pa.concat_arrays([_gtids(part, outlines) for part in by_file]))
    for name, values in (("file", pc.take(pa.array(list(files.values())), found.column("number"))),
                         ("row", pc.add(found.column("row"), pa.scalar(1, pa.int32())))):
        found = found.set_column(found.schema.get_field_index(name), name, values)
    return found


def to_parquet(listing: pa.Table) -> pa.Buffer:
    """The listing as a file."""
    sink = pa.BufferOutputStream()
    pq.write_table(listing, sink, compression="zstd")
    return sink.getvalue()


def _by_file(conflicts: pa.Table) -> list[pa.Table]:
    numbers = conflicts.column("number").to_numpy()
    edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
    return [conflicts.slice(start, end - start) for start, end in pairwise(edges)]


def _gtids(conflicts: pa.Table, outlines: Sequence[Outline]) -> pa.Array:
    """The transactions of conflicts of one file: only GTIDs that are needed are read as such."""
    file = map_file(conflicts.column("file")[0].as_py(), whole=False)
    positions, inverse = np.unique(conflicts.column("position").to_numpy(), return_inverse=True)
    events, which = np.unique(_gtid_events(file, positions, outlines), return_inverse=True)
    return gtid_texts(file, events).take(pa.array(which[inverse]))


def _gtid_events(file: MappedFile, positions: np.ndarray, outlines: Sequence[Outline]) -> np.ndarray:
    """Where the GTID events of ascending positions of a file are, int64[n], -1 for none. Groups do not go over splits,
    so a look at a split with conflicts, from its start on, is enough."""
    splits = {split.start: split.outlined for outline in outlines if outline.uri == file.uri
              for split in outline.splits}
    starts = np.unique(list(splits))
    split_of = np.searchsorted(starts, positions, side="right") - 1
    gtids = np.empty(len(positions), np.int64)
    with SameBytes() as outlined:
        for split in np.unique(split_of).tolist():
            outlined.check(file, splits[int(starts[split])])
            wanted = np.flatnonzero(split_of == split)
            found = np.empty(len(wanted), np.int64)
            if not find_gtids(file.address, int(starts[split]), file.size, positions[wanted], found):
                raise ArchiveError("the events here are not contiguous", file=file.uri, position=int(starts[split]),
                                   errno=CORRUPT_EVENT, hint="the file changed during the replay")
            gtids[wanted] = found
    return gtids
