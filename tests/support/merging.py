"""Lakes that merge on read, with sizes at which a few rows are enough to merge, and what they hold."""

import os
from contextlib import contextmanager
from unittest import mock

from hypothesis import strategies as st

import applier
from applier.apply.output import merged_unit
from applier.snapshot import manifest
from applier.snapshot.files import file_settings
from applier.snapshot.lake import compaction

ROWS = [(n, n, "x" * 20) for n in range(20_000)]
SMALL = 4000
"""Bytes of a file: the table has several."""
TEXT = "x" * 20


@contextmanager
def merging(share=100.0, inline_bytes=1 << 15, group_bytes=300):
    """Let tasks write changes beside files up to this share of a unit's rows, and hand rows of `inline_bytes` to the
    driver; row groups have `group_bytes`."""
    with mock.patch.object(compaction, "MOST_MERGED", share), \
            mock.patch.multiple(merged_unit, _INLINE_BYTES=inline_bytes), \
            mock.patch.object(file_settings, "MERGED_GROUP_BYTES", group_bytes):
        yield


mergings = st.builds(merging, st.sampled_from([0.01, 0.2, 1.0, 100.0, 100.0]), st.sampled_from([1, 1 << 15]),
                     st.sampled_from([1, 300, 2 << 20]))


def merged_rows(place):
    """Rows by table of a snapshot, or of a lake's latest version, in key order; files are compared with the
    manifest, too."""
    snapshot = applier.Snapshot(place)
    assert not snapshot.verify().damaged
    found = {name: table.to_arrow().to_pylist() for name, table in snapshot.tables.items()}
    assert {name: len(rows) for name, rows in found.items()} == {
        name: table.rows for name, table in snapshot.tables.items()}
    return found


def below(lake):
    return {os.path.relpath(os.path.join(place, name), lake) for place, _, names in os.walk(lake) for name in names}


def entry_of(snapshot):
    [entry] = manifest.load(str(getattr(snapshot, "uri", snapshot))).tables
    return entry


def rows_of(snapshot):
    return snapshot.tables["shop.item"].to_arrow()
