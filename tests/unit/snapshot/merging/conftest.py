"""Lakes that merge on read, and what they are compared with."""


import pytest

import applier
from tests.support.merging import ROWS, SMALL, TEXT
from tests.support.small_logs import commit, delete, insert, new_log, update


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An archive, and the ends of its transactions: rows; some changed; some removed, and new ones before, between and
    behind the others; one changed again, and one moved to another key."""
    folder = tmp_path_factory.mktemp("merging")
    written = new_log(folder)
    few = [7, 4000, 9999, 15_000]
    ends = [commit(written, insert([row for row in ROWS if row[0] % 2 or row[0] in few]))[1],
            commit(written, update([(n, n, TEXT) for n in few], [(n, -n, "changed") for n in few]))[1],
            commit(written, delete([(n, n, TEXT) for n in (11, 12_001)]),
                   insert([(n, n, "new") for n in (-5, 500, 4002, 20_001, 20_002)]))[1],
            commit(written, update([(4000, -4000, "changed")], [(4000, 1, "again")]),
                   update([(500, 500, "new")], [(18_000, 500, "moved")]))[1]]
    written.close()
    return str(folder), [("binlog.000001", end) for end in ends]


@pytest.fixture
def versions(log, tmp_path):
    """A lake with a version for each of the ends, and snapshots at the same places."""
    lake = str(tmp_path / "lake")
    made = [applier.replay(log[0], lake=lake, merge_on_read=True, stop=end, target_file_size=SMALL).snapshot
            for end in log[1]]
    plain = [applier.replay(log[0], tmp_path / str(number), stop=end).snapshot for number, end in enumerate(log[1])]
    return lake, made, plain
