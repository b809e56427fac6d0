"""XA transactions over groups, files and snapshots."""


import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from applier.binlog.events.format import EventType
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ArchiveError, MissingFile, ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.snapshot import manifest
from applier.writer import event_encoder
from applier.writer.row_encoder import RowChanges
from tests.support.folders import CASES
from tests.support.planning import Log, table
from tests.support.small_parts import rows_of

T = table()


class XaLog(Log):
    """A log with XA transactions that insert rows."""

    def prepare(self, xid, *ids):
        name, start = f"X'{xid.encode().hex()}',X'',1", self.position
        self.begin(f"XA START {name}")
        self.insert_rows(*ids)
        self.event(EventType.QUERY, event_encoder.query(f"XA END {name}", "", "mysql"))
        self.event(EventType.XA_PREPARE, b"\0" + (1).to_bytes(4, "little") + len(xid).to_bytes(4, "little") + bytes(4)
                   + xid.encode())
        return start, self.position

    def begin(self, sql):
        """A group's GTID and first statement, without its end."""
        self.emit_gtid(0, statement=False)
        self.event(EventType.QUERY, event_encoder.query(sql, "", "mysql"))

    def insert_rows(self, *ids):
        values, self._group = pa.array(ids, pa.int32()), []
        self.rows(RowChanges(T, after={"id": values, "a": values}))
        events, self._group = self._group, None
        for event in events:
            self.event(*event)

    def decide(self, verb, xid):
        self.query(f"XA {verb} X'{xid.encode().hex()}',X'',1")
        return self.position


def held(folder, name, paths, **options):
    """Which rows a replay holds, and which xids are pending."""
    output = folder / name
    replay_with(ThisProcess(), ReplayOptions(tuple(map(str, paths)), str(output), **options))
    snapshot = manifest.load(str(output))
    rows = [pq.read_table(output / file.path).column("id").to_pylist() for file in snapshot.tables[0].files]
    pending = [bytes.fromhex(entry.xid[2:4]).decode() for entry in snapshot.prepared]
    return sorted(number for part in rows for number in part), pending


def write_two_files(folder, xids="xyz"):
    """x is prepared in the first file and committed in the second; y is rolled back there, z is never ended."""
    with XaLog(folder / "b.000001") as log:
        log.create(T)
        log.insert(T, 1)
        for row, xid in enumerate(xids, 2):
            log.prepare(xid, row)
        middle = log.position
        with log.rotate(folder / "b.000002") as second:
            second.__class__ = XaLog
            second.insert(T, 5)
            committed = second.decide("COMMIT", "x")
            second.decide("ROLLBACK", "y")
            second.prepare("x", 6)
    return [folder / "b.000001", folder / "b.000002"], middle, committed


@pytest.fixture
def two_files(tmp_path):
    return write_two_files(tmp_path)


def test_rows_count_where_the_commit_is_in_the_span(two_files, tmp_path):
    """GRP-1, AP-SNAP: the same xid may come again after it was ended."""
    paths, middle, committed = two_files
    assert held(tmp_path, "prepared", paths, stop_position=("b.000001", middle)) == ([1], ["x", "y", "z"])
    assert held(tmp_path, "committed", paths, stop_position=("b.000002", committed)) == ([1, 2, 5], ["y", "z"])
    assert held(tmp_path, "end", paths) == ([1, 2, 5], ["z", "x"])


def test_a_snapshot_remembers_what_is_prepared(two_files, tmp_path):
    """GRP-5: a replay from it takes the rows from where they were prepared, in a file that it has passed."""
    paths, middle, committed = two_files
    held(tmp_path, "a", paths, stop_position=("b.000001", middle))
    base = str(tmp_path / "a")
    assert held(tmp_path, "b", paths, base=base, stop_position=("b.000002", committed)) == ([1, 2, 5], ["y", "z"])
    assert held(tmp_path, "c", paths, base=base, route="shuffle") == ([1, 2, 5], ["z", "x"])
    assert held(tmp_path, "d", paths, base=str(tmp_path / "b")) == ([1, 2, 5], ["z", "x"])


def test_the_file_of_a_prepared_transaction_is_needed(two_files, tmp_path):
    """GRP-5: 1236 where the archive begins after it, or has something else there."""
    paths, _, committed = two_files
    before = ("b.000002", committed - 1)
    assert held(tmp_path, "a", paths, stop_position=before) == ([1, 5], ["x", "y", "z"])
    with pytest.raises(MissingFile, match=r"b\.000001"):
        held(tmp_path, "b", paths[1:], base=str(tmp_path / "a"))
    (tmp_path / "other").mkdir()
    write_two_files(tmp_path / "other", "wyz")
    with pytest.raises(ArchiveError, match=r"X'78',X'',1.*not in these logs") as error:
        held(tmp_path, "c", [tmp_path / "other/b.000001", paths[1]], base=str(tmp_path / "a"))
    assert error.value.mysql_errno == 1236


def test_a_commit_of_what_was_never_prepared(tmp_path):
    """1397, as a replica says; a rollback of it is nothing."""
    with XaLog(tmp_path / "b.000001") as log:
        log.create(T)
        log.insert(T, 1)
        log.decide("ROLLBACK", "q")
        place = log.position
        log.decide("COMMIT", "q")
    with pytest.raises(ReplayStopped) as error:
        held(tmp_path, "a", [log.path])
    assert error.value.mysql_errno == 1397 and error.value.position > place and error.value.gtid
    assert held(tmp_path, "b", [log.path], stop_position=("b.000001", place)) == ([1], [])


def test_a_conflict_in_a_prepared_group_is_named_there(tmp_path):
    """AP-ORD: rows apply where they were prepared, as on a replica."""
    with XaLog(tmp_path / "b.000001") as log:
        log.create(T)
        log.insert(T, 1)
        start, end = log.prepare("x", 1)
        log.decide("COMMIT", "x")
    with pytest.raises(ApplierError) as error:
        held(tmp_path, "a", [log.path])
    assert error.value.mysql_errno == 1062 and start < error.value.position < end


FAILOVER = CASES / "xa-failover-mysql"


def test_prepared_before_a_failover_and_ended_after_it(tmp_path):
    """GRP-7: MySQL 9.7. Server `a` prepared three transactions; `b`, its replica, took over, committed one of them,
    rolled back another, and held then what is expected here. In its log they are elsewhere, under the same GTIDs."""
    base, output = tmp_path / "base", tmp_path / "out"
    replay_with(ThisProcess(), ReplayOptions((str(FAILOVER / "a"),), str(base)))
    assert [entry.xid[:5] for entry in manifest.load(str(base)).prepared] == ["X'61'", "X'62'", "X'63'"]
    for route in ("walk", "shuffle"):
        replay_with(ThisProcess(), ReplayOptions((str(FAILOVER / "b"),), str(output / route), str(base), route=route))
        assert rows_of(output / route) == {"x.t": [
            {"k": 1, "v": "changed"}, {"k": 2, "v": "prepared"}, {"k": 5, "v": "five"}, {"k": 6, "v": "on b"},
            {"k": 7, "v": "seven"}]}
        assert [entry.xid[:5] for entry in manifest.load(str(output / route)).prepared] == ["X'63'"]
