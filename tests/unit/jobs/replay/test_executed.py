"""GRP-5: what a base has executed after --start-position is not applied again, as a replica does not."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import applier
from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError, UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.group_id_logs import with_group_ids

CREATE = "CREATE TABLE event (n INT, s VARCHAR(20))"
TABLES = {flavour: parse_statement(CREATE, default_database="shop", flavour=flavour)[0].definition
          for flavour in ("mysql", "mariadb")}


def insert(log, number):
    """A transaction that inserts a row into the table, which has no key; where it begins."""
    begin = log.position
    with log.transaction():
        log.rows(RowChanges(TABLES[log.flavour], after={"n": pa.array([number], pa.int32()),
                                                        "s": pa.array([b"x"], pa.binary())}))
    return begin


def make_log(folder, **options):
    """Two files, in which rows 1 to 6 are inserted, a transaction each; where these begin, and where the last ends."""
    folder.mkdir()
    log, places = BinlogWriter(folder / "binlog.000001", **options), []
    log.query(CREATE, "shop")
    for number in range(1, 7):
        places.append((f"binlog.{(number + 2) // 3:06d}", insert(log, number)))
        if number == 3:
            log = log.rotate(folder / "binlog.000002")
    places.append(("binlog.000002", log.position))
    log.close()
    return places


def run(tmp_path, name, logs="logs", **options):
    result = replay_with(ThisProcess(), ReplayOptions((str(tmp_path / logs),), str(tmp_path / name), **options))
    table = manifest.load(result.snapshot).table("shop", "event")
    rows = [row["n"] for file in table.files
            for row in pq.read_table(f"{result.snapshot}/{file.path}").to_pylist()]
    return sorted(rows), result


KINDS = {"mysql": {}, "mysql-compressed": {"compress": True}, "mariadb": {"flavour": "mariadb"}}


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("pass_bytes", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_do_not_come_twice(kind, pass_bytes, route, tmp_path):
    places = make_log(tmp_path / "logs", **KINDS[kind])
    _, base = run(tmp_path, "base", stop_position=places[4])
    rows, result = run(tmp_path, "out", base=base.snapshot, start_position=places[1], route=route,
                       pass_bytes=pass_bytes)
    assert rows == [1, 2, 3, 4, 5, 6]
    assert "the base has 3 of the transactions after --start-position: they are skipped" in result.notes
    _, whole = run(tmp_path, "whole")
    assert (result.position, result.gtid_set) == (whole.position, whole.gtid_set)
    assert manifest.load(result.snapshot).left_out == ()


@pytest.mark.parametrize("kind", KINDS)
def test_who_means_it_says_so(kind, tmp_path):
    places = make_log(tmp_path / "logs", **KINDS[kind])
    _, base = run(tmp_path, "base", stop_position=places[4])
    rows, again = run(tmp_path, "again", base=base.snapshot, start_position=places[1], reapply=True)
    assert rows == [1, 2, 2, 3, 3, 4, 4, 5, 6]
    assert manifest.load(again.snapshot).source.options["reapply"] is True


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_whose_transactions_the_base_all_has(kind, tmp_path):
    places = make_log(tmp_path / "logs", **KINDS[kind])
    _, base = run(tmp_path, "base")
    with pytest.raises(UsageError, match="already has every transaction") as raised:
        run(tmp_path, "out", base=base.snapshot, start_position=places[1])
    assert "--reapply" in raised.value.hint
    with pytest.raises(UsageError, match="already has every transaction"):
        run(tmp_path, "out", base=base.snapshot, start_position=places[1], stop_position=places[3])


def test_transactions_in_another_order(tmp_path):
    """A replica that applied in parallel has logged them in another order; each is applied once."""
    places = make_log(tmp_path / "logs")
    _, base = run(tmp_path, "base", stop_position=places[3])  # 1 to 4: the table, and rows 1 to 3
    (tmp_path / "other").mkdir()
    log = BinlogWriter(tmp_path / "other" / "relay.000001")
    log.query(CREATE, "shop")
    for number in (1, 4, 2, 5, 3, 6):
        log.executed = number
        begin = insert(log, number)
        if number == 1:
            start = ("relay.000001", begin)
    log.close()
    rows, result = run(tmp_path, "out", "other", base=base.snapshot, start_position=start)
    assert rows == [1, 2, 3, 4, 5, 6]
    assert "the base has 3 of the transactions" in " ".join(result.notes)


def test_left_out_transactions_are_counted_apart(tmp_path):
    places = make_log(tmp_path / "logs")
    _, base = run(tmp_path, "base", stop_position=places[3])
    source = base.gtid_set.partition(":")[0]
    rows, result = run(tmp_path, "out", base=base.snapshot, start_position=places[0], exclude_gtids=f"{source}:6")
    assert rows == [1, 2, 3, 4, 6]
    [entry] = manifest.load(result.snapshot).left_out
    assert (entry.groups, entry.row_events, entry.gtids) == (1, 1, f"{source}:6")


def test_mariadb_domains_are_passed_over_in_the_order_of_the_log(tmp_path):
    """A number that is lower than the base's, but later in the log, is not executed (gtid_strict_mode=OFF)."""
    (tmp_path / "logs").mkdir()
    log = BinlogWriter(tmp_path / "logs" / "binlog.000001", flavour="mariadb")
    log.query(CREATE, "shop")
    begins = []
    for number in (10, 11, 12, 5, 6):
        log.executed = number
        begins.append(insert(log, number))
    log.close()
    _, base = run(tmp_path, "base", stop_position=("binlog.000001", begins[3]))
    rows, result = run(tmp_path, "out", base=base.snapshot, start_position=("binlog.000001", begins[1]))
    assert rows == [5, 6, 10, 11, 12] and result.gtid_set.endswith("-7")


def test_mariadb_base_that_is_newer_than_the_log(tmp_path):
    places = make_log(tmp_path / "logs", flavour="mariadb")
    _, base = run(tmp_path, "base")
    (tmp_path / "logs" / "binlog.000002").unlink()
    with pytest.raises(ArchiveError, match=r"the base is at transaction .*, which is not after") as raised:
        run(tmp_path, "out", base=base.snapshot, start_position=places[1])
    assert raised.value.mysql_errno == 1236


def test_group_ids(tmp_path):
    """GRP-3: group ids grow; what has the base's or a lower one is executed."""
    make_log(tmp_path / "plain", gtids="anonymous")
    (tmp_path / "logs").mkdir()
    following = 1
    for name in ("binlog.000001", "binlog.000002"):
        following = with_group_ids(tmp_path / "plain" / name, tmp_path / "logs" / name, following)
    from applier.binlog.locating.groups import GroupPass

    groups = GroupPass(str(tmp_path / "logs" / "binlog.000001")).groups()
    starts = groups.starts.tolist()
    _, base = run(tmp_path, "base", stop_position=("binlog.000001", int(groups.ends[-1])))
    rows, _ = run(tmp_path, "out", base=base.snapshot, start_position=("binlog.000001", starts[1]))
    assert rows == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("gtids", ["none", "anonymous"])
def test_without_gtids_the_position_decides(gtids, tmp_path):
    places = make_log(tmp_path / "logs", gtids=gtids)
    _, base = run(tmp_path, "base", stop_position=places[4])
    with pytest.raises(UsageError, match=r"the base is at binlog.000002:\d+, and already contains") as raised:
        run(tmp_path, "out", base=base.snapshot, start_position=places[1])
    assert f"start at binlog.000002:{places[4][1]}" in raised.value.hint and "--reapply" in raised.value.hint
    rows, _ = run(tmp_path, "on", base=base.snapshot, start_position=places[4])
    assert rows == [1, 2, 3, 4, 5, 6]
    rows, _ = run(tmp_path, "again", base=base.snapshot, start_position=places[3], reapply=True)
    assert rows == [1, 2, 3, 4, 4, 5, 6]


@pytest.mark.parametrize("options", [{}, {"base": "x"}, {"start_position": ("binlog.000001", 4)}])
def test_reapply_needs_a_base_and_a_start(options):
    with pytest.raises(UsageError, match="--reapply applies again transactions"):
        ReplayOptions(("logs",), "out", reapply=True, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_complete_changes(kind, tmp_path):
    """Rows that a base has do not come twice in complete changes either; others list what the log has."""
    places = make_log(tmp_path / "logs", **KINDS[kind])
    _, base = run(tmp_path, "base", stop_position=places[4])

    def inserted(**options):
        return applier.changes(tmp_path / "logs", "shop.event", base=base.snapshot, start=places[1],
                               **options).to_arrow()["n"].to_pylist()

    assert inserted(complete=True) == [5, 6]
    assert inserted() == [2, 3, 4, 5, 6]


def test_lakes_and_several_places(tmp_path):
    """The latest version of a lake is a base; only the first place has a start."""
    places = make_log(tmp_path / "logs")
    applier.replay(tmp_path / "logs", lake=tmp_path / "lake", stop=places[2])
    made = applier.replay(tmp_path / "logs", lake=tmp_path / "lake", start=places[1],
                          snapshot_at=[places[4], places[5]])
    assert [sorted(snapshot.tables["shop.event"].to_arrow()["n"].to_pylist()) for snapshot in made.snapshots] == [
        [1, 2, 3, 4], [1, 2, 3, 4, 5]]
