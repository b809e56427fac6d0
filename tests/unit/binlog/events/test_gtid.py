"""GTID sets: notation, set algebra against Python's sets, and the events that carry them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.binlog.events.events import parse_gtid, read_events
from applier.binlog.events.format import EventType
from applier.binlog.events.gtid import GtidSet
from applier.errors import ArchiveError, UsageError
from applier.io.mapping import map_file
from tests.support.folders import CASES

A, B = "1e59e2af-e516-11f1-af80-02fc00000001", "0e59e2af-e516-11f1-af80-02fc00000001"

sources = st.sampled_from([A, B, f"{A}:tag_1", f"{B}:blue"])
members = st.sets(st.tuples(sources, st.integers(1, 12)))


def of(pairs) -> GtidSet:
    return GtidSet.from_intervals({source: [(n, n) for s, n in pairs if s == source] for source, _ in pairs})


def pairs_of(gtids: GtidSet) -> set:
    return {(source, n) for source, numbers in gtids.intervals.items() for a, b in numbers for n in range(a, b + 1)}


@given(members, members)
def test_algebra_is_that_of_sets(left, right):
    assert pairs_of(of(left).union(of(right))) == left | right
    assert pairs_of(of(left).subtract(of(right))) == left - right
    assert of(left).contains(of(right)) == (left >= right)
    assert bool(of(left)) == bool(left)


@given(members)
def test_text_reads_back(pairs):
    assert GtidSet.parse(str(of(pairs))) == of(pairs)
    assert pickle.loads(pickle.dumps(of(pairs))) == of(pairs)


def test_notation():
    text = f"{A.upper()}:1-5:7:tag_1:1-3:5,\n {B}:3"
    assert str(GtidSet.parse(text)) == f"{B}:3,{A}:1-5:7:tag_1:1-3:5"
    assert str(GtidSet.parse("2-1-7,0-1-5")) == "0-1-5,2-1-7"
    assert str(GtidSet.parse(f"{A}:1-3").add(f"{A}:4")) == f"{A}:1-4"
    assert not GtidSet.parse("")


def test_a_mariadb_set_is_a_position_in_each_domain():
    at_5 = GtidSet.parse("0-1-5")
    assert at_5.contains(GtidSet.parse("0-2-4")) and not at_5.contains(GtidSet.parse("0-1-6"))
    assert not at_5.contains(GtidSet.parse("1-1-1"))
    assert str(at_5.union(GtidSet.parse("0-2-9,3-1-1"))) == "0-2-9,3-1-1"
    assert str(GtidSet.parse("0-2-9,3-1-1").subtract(GtidSet.parse("0-2-9"))) == "3-1-1"


def test_mariadb_groups_of_two_servers_are_two_groups():
    """The same number of another server is another group: a failover to a server that never had the first one."""
    assert str(GtidSet.parse("0-2-4").subtract(GtidSet.parse("0-1-4"))) == "0-2-4"
    assert not GtidSet.parse("0-1-4").contains(GtidSet.parse("0-2-4"))


@pytest.mark.parametrize("groups, position, has", [
    ("0-1-4 0-2-5 0-1-6", "0-2-5", True),  # back at the first server
    ("0-1-4 0-2-5 0-1-6", "0-2-6", False),
    ("0-1-3 0-2-4 0-2-5", "0-1-4", False),  # diverged
    ("0-2-4 0-2-5", "0-1-3", False),  # a server that the log has nothing of
    ("0-1-100 0-2-50", "0-1-100", True),  # gtid_strict_mode=OFF: numbers go down
    ("0-1-100 0-2-50", "0-2-51", False),
    ("0-1-4 1-2-9", "0-1-4,1-2-9", True),
    ("0-1-4 1-2-9", "0-1-4,1-1-9", False),
])
def test_a_log_knows_what_came_before_its_end(groups, position, has):
    """As a MariaDB source decides whether its log has a replica's position: by domain and server."""
    log = GtidSet.from_groups(tuple(map(int, group.split("-"))) for group in groups.split())
    assert log.contains(GtidSet.parse(position)) is has


@pytest.mark.parametrize("groups, position, missing", [
    ("0-1-4 0-2-5", "0-1-4", "0-2-5"),
    ("0-1-100 0-2-50", "0-1-100", "0-2-50"),
    ("0-1-100 0-2-50", "0-2-50", ""),
    ("0-1-100 0-2-50", "0-1-101", ""),  # later, or of another history: it must be found
    ("0-1-4", "1-1-4", "0-1-4"),
])
def test_a_position_against_the_state_of_a_log(groups, position, missing):
    log = GtidSet.from_groups(tuple(map(int, group.split("-"))) for group in groups.split())
    assert str(log.subtract(GtidSet.parse(position))) == missing


def test_states_go_on_with_the_log():
    """The state is known as long as every group is; from a bare position on it is not."""
    first, then = GtidSet.from_groups([(0, 1, 100)]), GtidSet.from_groups([(0, 2, 50)])
    log = first.followed_by(then)
    assert str(log) == "0-2-50" and log.states == {0: {1: 100, 2: 50}}
    assert GtidSet.parse("0-1-100").followed_by(then).states == {}
    assert str(GtidSet.parse("0-2-50").union(first)) == "0-2-50"
    assert GtidSet.parse("0-1-100,0-2-50") == GtidSet.parse("0-2-50")
    assert GtidSet.parse("0-1-100,0-2-50").contains(GtidSet.parse("0-1-99"))
    assert pickle.loads(pickle.dumps(log)).states == log.states


@pytest.mark.parametrize(
    "text", ["x", A, f"{A}:", f"{A}:5-1", f"{A}:0", f"{A}:1-2:!", f"{A}:1,0-1-5", "0-1", f"{A}:-1"]
)
def test_what_is_no_set_is_refused(text):
    with pytest.raises(UsageError):
        GtidSet.parse(text)


def test_previous_gtids_with_and_without_tags():
    """The head of a real file names what came before, tags too; a server recorded both forms."""
    seen = []
    for name in ("binlog.000002", "binlog.000003"):
        for event in read_events(map_file(str(CASES / "gtid-tags" / name))):
            if event.type == EventType.PREVIOUS_GTIDS:
                seen.append(GtidSet.from_previous_gtids_event(bytes(event.body)))
            elif event.type in (EventType.GTID, EventType.GTID_TAGGED):
                seen[-1] = seen[-1].add(parse_gtid(event.type, event.body, event.server_id).text)
                last = seen[-1]
    assert str(seen[0]).startswith("762ab119-e549-11f1-83f8-02fc00000001:1-44723:green:1-2")
    assert str(last) == (
        "762ab119-e549-11f1-83f8-02fc00000001:1-44724:green:1-2,aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7:blue:5"
    )
    # The second file's head is the first file's end.
    assert seen[1] == seen[0].add("762ab119-e549-11f1-83f8-02fc00000001:44724")


@given(st.binary(max_size=80))
def test_hostile_sets_give_an_error_or_a_set(body):
    for read in (GtidSet.from_previous_gtids_event, GtidSet.from_gtid_list_event):
        try:
            assert isinstance(read(body), GtidSet)
        except ArchiveError as reason:
            assert reason.mysql_errno == 1610
