"""Where a pass over an archive ends."""

import pytest

from applier.binlog.archive.archive import ArchiveFile
from applier.plan.passes import end_of_pass

FILES = [ArchiveFile(f"/logs/b.{number:06d}", f"b.{number:06d}", 1000) for number in (1, 2, 3)]


@pytest.mark.parametrize("start, stop, n_bytes, end", [
    (None, None, 3000, None),
    (None, None, 2999, ("b.000002", 1000)),
    (None, None, 1000, ("b.000001", 1000)),
    (None, None, 999, ("b.000001", 999)),
    (400, None, 300, ("b.000001", 700)),
    (400, None, 1200, ("b.000001", 1000)),
    (400, None, 1201, ("b.000002", 601)),
    (None, None, 1500, ("b.000001", 1000)),
    (None, None, 2500, ("b.000002", 1000)),
    (400, None, 2600, None),
    (1000, None, 5, ("b.000002", 5)),
    (None, ("b.000003", 500), 2500, None),
    (None, ("b.000003", 501), 2500, ("b.000002", 1000)),
    (900, ("b.000002", 500), 500, ("b.000002", 400)),
    (400, ("b.000001", 600), 200, None),
    (400, ("b.000001", 600), 199, ("b.000001", 599)),
])
def test_a_pass_ends_with_a_file_or_in_the_first_one(start, stop, n_bytes, end):
    files = FILES if stop is None else FILES[:int(stop[0][-1])]
    assert end_of_pass(files, start, stop, n_bytes) == end
