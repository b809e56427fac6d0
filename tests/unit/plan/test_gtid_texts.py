"""The names of transactions read at once are those that reading the events one by one gives (GRP-4, GRP-6)."""


import numpy as np
import pytest

from applier.binlog.events.events import parse_gtid, read_events
from applier.io.mapping import map_file
from applier.plan.stops.gtid_texts import gtid_texts
from tests.support.folders import CASES
from tests.support.group_id_logs import GTIDS, with_group_ids
from tests.support.small_logs import commit, insert, new_log


def names_in(path):
    """The names of all GTID events of a file, one by one; asserts that all at once have the same."""
    file = map_file(str(path))
    names = {event.position: parse_gtid(event.type, event.body, event.server_id).text
             for event in read_events(file) if event.type in GTIDS}
    asked = [-1, *reversed(names), -1]
    assert gtid_texts(file, np.array(asked, np.int64)).to_pylist() == [names.get(position) for position in asked]
    return list(names.values())


@pytest.mark.parametrize("case, kind", [("gtid-tags", ":"), ("idempotent-full", ":"), ("mariadb-idempotent", "-")])
def test_logs_of_servers(tmp_path, case, kind):
    found = []
    for path in sorted((CASES / case).glob("binlog.0*")):
        names = names_in(path)
        with_group_ids(path, tmp_path / path.name, 7)
        assert names_in(tmp_path / path.name) == names
        found += names
    assert len({*found}) == len(found) > 1 and all(kind in name for name in found)


@pytest.mark.parametrize("gtids, named", [("on", 3), ("anonymous", 0), ("none", 0)])
def test_with_and_without(tmp_path, gtids, named):
    with new_log(tmp_path, gtids=gtids) as log:
        commit(log, insert([(1, 0, "x")]))
        commit(log, insert([(2, 0, "x")]))
    assert len([name for name in names_in(log.path) if name is not None]) == named
