"""`applier.changes` of some transactions, or from a time on: which changes, and what of the log is read for them."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import applier
from applier.binlog.events.gtid import GtidSet
from applier.binlog.locating.gtid_choice import GtidChoice
from applier.cli import app
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE

SOURCE = "00000000-0000-4000-8000-000000000001"


def written(folder, *texts, flavour="mysql", **options):
    """A log with one table d.t of an id and a text, and a transaction for each row; its path and its GTIDs."""
    with BinlogWriter(folder / "binlog.000001", flavour=flavour, **options) as log:
        log.query("CREATE DATABASE d")
        sql = "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(300))"
        log.query(sql)
        table = parse_statement(sql, default_database="d", flavour=flavour)[0].definition
        for number, text in enumerate(texts, 1):
            log.transactions([RowChanges(table, after={"id": pa.array([number], pa.int32()),
                                                       "v": pa.array([text])})])
    gtids = [row["_gtid"] for row in applier.changes(log.path, "d.t", columns=["id"]).to_arrow().to_pylist()]
    return log.path, gtids


def ids(binlogs, **options):
    return applier.changes(binlogs, "d.t", **options).to_arrow()["id"].to_pylist()


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_only_these_transactions(tmp_path, flavour, complete):
    """GRP-4: MySQL's sets with intervals, MariaDB's one by one, also where one has no change of the table."""
    path, gtids = written(tmp_path, *"abcdef", flavour=flavour)
    assert ids(path, gtids=gtids[3], complete=complete) == [4]
    assert ids(path, gtids=",".join([gtids[4], gtids[1], gtids[1]]), complete=complete) == [2, 5]
    source, separator, first = gtids[0].rpartition("-" if flavour == "mariadb" else ":")
    assert ids(path, gtids=f"{source}{separator}{int(first) - 1}", complete=complete) == []
    if flavour == "mysql":
        assert ids(path, gtids=f"{source}:{int(first) + 1}-{int(first) + 2}", complete=complete) == [2, 3]
        assert ids(path, gtids=GtidSet.parse(gtids[5]), complete=complete) == [6]


@pytest.mark.parametrize("text", ["", ",", "5", "0-1-5,0-1", f"{SOURCE}", f"0-1-5,{SOURCE}:1", f"{SOURCE}:5-1"])
def test_what_names_no_transactions(text):
    with pytest.raises(applier.UsageError):
        applier.changes(ARCHIVE, "shop.orders", gtids=text)


def test_a_place_in_a_mariadb_log_is_no_choice():
    with pytest.raises(applier.UsageError, match="is a place in a MariaDB log") as caught:
        applier.changes(ARCHIVE, "shop.orders", gtids=GtidSet.parse("0-1-5"))
    assert "0-1-5,0-1-7" in caught.value.hint


@pytest.mark.parametrize(("text", "logged", "may_be"), [
    (f"{SOURCE}:5", f"{SOURCE}:1-4:6-9", False), (f"{SOURCE}:5", f"{SOURCE}:1-4:5-9", True),
    (f"{SOURCE}:5:30-40", f"{SOURCE}:1-4:20-30", True), (f"{SOURCE}:1-100", f"{SOURCE}:50", True),
    (f"{SOURCE}:5", f"{SOURCE}:tag:5", False), (f"{SOURCE}:tag:5", f"{SOURCE}:tag:5", True), (f"{SOURCE}:5", "", False),
    ("1-1-5", "1-2-3,2-1-5", True), ("3-1-5", "1-2-3,2-1-5", False), (f"{SOURCE}:5", "0-1-5", False),
    (f"fe{SOURCE[2:]}:5", "0-1-5", False),
    (f"{SOURCE}:5-99999999999999999999", f"{SOURCE}:9223372036854775807", True)])
def test_files_that_cannot_have_them_are_known(text, logged, may_be):
    """GRP-7; MariaDB's numbers may go down, so that only the domain says something."""
    assert GtidChoice(text).may_be_in(GtidSet.parse(logged)) == may_be


def test_from_a_time_on():
    """GRP-2: where one that stops at the time ends."""
    time = datetime(2026, 3, 14, 10, 30, tzinfo=UTC)
    everything = applier.changes(ARCHIVE, "shop.orders").to_arrow()
    before = applier.changes(ARCHIVE, "shop.orders", stop=time).to_arrow()
    after = applier.changes(ARCHIVE, "shop.orders", start=time).to_arrow()
    assert 0 < len(before) < len(everything)
    assert [*before.to_pylist(), *after.to_pylist()] == everything.to_pylist()
    assert len(applier.changes(ARCHIVE, "shop.orders", start=time + timedelta(days=999)).to_arrow()) == 0


def test_what_is_not_wanted_is_not_decoded(tmp_path):
    """A row that cannot be decoded stops only who wants it."""
    path, gtids = written(tmp_path, "first", "second", "third", checksum=False)
    data = bytearray(open(path, "rb").read())
    data[data.index(b"\x06\x00second")] = 250
    open(path, "wb").write(data)
    with pytest.raises(applier.ArchiveError):
        ids(path)
    assert ids(path, gtids=f"{gtids[0]},{gtids[2]}") == [1, 3]
    with pytest.raises(applier.ArchiveError):
        ids(path, gtids=gtids[1])


def test_what_is_passed_over_is_compared_with_what_was_outlined(tmp_path):
    """Which groups are wanted is read from the log, too: a GTID that changes meanwhile is no reason to leave it out."""
    path, gtids = written(tmp_path, "first", "second", checksum=False)
    feed = applier.changes(path, "d.t", gtids=gtids[1])
    data = bytearray(open(path, "rb").read())
    [group] = applier.locate(path, gtid=gtids[1])
    at = data.index(int(gtids[1].rpartition(":")[2]).to_bytes(8, "little"), group.start)
    data[at] += 1
    open(path, "wb").write(data)
    with pytest.raises(applier.ArchiveError, match="outlined"):
        feed.to_arrow()


def test_on_the_command_line():
    [first] = applier.changes(ARCHIVE, "shop.orders").to_arrow().slice(0, 1).to_pylist()
    asked = ["changes", "--binlogs", str(ARCHIVE), "--table", "shop.orders", "--columns", "id"]
    told = CliRunner().invoke(app, [*asked, "--gtids", first["_gtid"]])
    assert told.exit_code == 0 and told.stdout.count(first["_gtid"]) == told.stdout.count("\n") > 0
    told = CliRunner().invoke(app, [*asked, "--start-datetime", "2999-01-01"])
    assert (told.exit_code, told.stdout) == (0, "")
