"""`compare`: which of two places is ahead, what only one of them has, and where the other continues."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import applier
import applier.binlog
from applier.cli import main
from applier.errors import ArchiveError, UsageError
from applier.jobs.compare import Distance
from tests.support.group_id_logs import with_group_ids
from tests.support.small_logs import CREATE

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
"""Of all events: logs that are written one after the other may have the same ones."""
SOURCE, OTHER = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def log(folder, ids, *, name="b.000001", source=SOURCE, rotate=(), **options):
    """An archive with a transaction for each id; its files rotate before some of them. Where groups end."""
    Path(folder).mkdir(exist_ok=True)
    ends = []
    with applier.binlog.Writer(f"{folder}/{name}", source=source, time=NOON, **options) as writer:
        writer.query("CREATE DATABASE shop")
        writer.query(CREATE, "shop")
        for id in ids:
            if id in rotate:
                writer.rotate(f"{folder}/b.{len(list(Path(folder).iterdir())) + 1:06}")
            with writer.transaction():
                writer.insert("shop.item", {"id": [id], "n": [0], "s": [""]})
            ends.append((Path(writer.position[0]).name, writer.position[1]))
    return ends


def test_a_snapshot_an_archive_and_a_lake():
    ends = log("logs", range(5), rotate=[2])
    first = applier.replay("logs", "first", stop=ends[0]).snapshot
    applier.replay("logs", lake="lake")
    found = applier.compare(first, "logs")
    assert (found.relation, found.by, str(found.only_a), str(found.only_b)) == (
        "behind", "GTIDs", "", f"{SOURCE}:4-7")
    assert found.attach == first.position and found.b.begins == "b.000001" and found.a.kind == "snapshot"
    assert applier.replay("logs", "more", base=first, start=found.attach).report.changes == 4
    size = Path("logs/b.000001").stat().st_size + Path("logs/b.000002").stat().st_size
    assert found.distance.files == 2 and found.distance.bytes == size - ends[0][1]
    assert (found.distance.transactions, found.distance.seconds) == (4, 0)
    found = applier.compare("lake", "first")
    assert (found.relation, found.attach, found.distance) == ("ahead", None, None)
    assert "only an archive" in found.obstacle
    found = applier.compare("lake", "logs")
    assert (found.relation, (found.attach.file, found.attach.offset)) == ("same", ends[-1])
    assert found.distance == Distance()
    assert applier.compare("logs", f"{SOURCE}:1-7").relation == "same"
    assert applier.compare(applier.GtidSet.parse(f"{SOURCE}:1-8"), "logs").relation == "ahead"


def test_an_archive_that_was_purged():
    ends = log("logs", range(5), rotate=[1, 3])
    applier.replay("logs", "first", stop=ends[0])
    Path("logs/b.000001").unlink()
    assert applier.compare("first", "logs").attach is not None
    Path("logs/b.000002").unlink()
    found = applier.compare("first", "logs")
    assert (found.relation, found.attach) == ("behind", None)
    assert found.obstacle == f"the archive begins with b.000003, after transactions {SOURCE}:4-5"


def test_archives_of_two_servers():
    """After a failover the log continues in files and at offsets of its own: GTIDs say where. Those that only one
    server executed are errant."""
    log("old", range(3))
    Path("new").mkdir()
    with applier.binlog.Writer("new/x.000007", source=OTHER, executed=0) as writer:
        writer.query("CREATE DATABASE other")
    found = applier.compare("old", "new")
    assert (found.relation, str(found.only_a), str(found.only_b)) == ("diverged", f"{SOURCE}:1-5", f"{OTHER}:1")
    assert found.attach is None
    log("copy", range(4), name="z.000003")
    found = applier.compare("old", "copy")
    assert (found.relation, str(found.only_b), found.attach.file) == ("behind", f"{SOURCE}:6", "z.000003")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_without_gtids_positions_decide(flavour):
    gtids = {"gtids": "anonymous"} if flavour == "mysql" else {"gtids": "none"}
    ends = log("logs", range(3), flavour=flavour, **gtids)
    first = applier.replay("logs", "first", stop=ends[0]).snapshot
    found = applier.compare("logs", "first")
    assert (found.relation, found.by, found.attach) == ("ahead", "positions", first.position)
    log("others", range(9, 14), flavour=flavour, **gtids)
    found = applier.compare("others", "first")
    assert (found.relation, found.obstacle) == ("diverged", "files of one name have other bytes")
    log("named", range(3), name="x.000001", flavour=flavour, **gtids)
    found = applier.compare("named", "first")
    assert (found.relation, found.attach) == ("unknown", None) and found.obstacle


def test_group_ids_decide_without_gtids(capsys):
    ends = log("plain", range(3), gtids="anonymous")
    Path("logs").mkdir()
    with_group_ids(Path("plain/b.000001"), Path("logs/b.000001"), 100)
    first = applier.replay("logs", "first", stop=applier.locate("logs", group_id=103)[0].file + ":" + str(
        applier.locate("logs", group_id=103)[0].start)).snapshot
    shutil.move("logs/b.000001", "logs/x.000004")
    found = applier.compare("first", "logs")
    assert (found.relation, found.by, found.attach.file) == ("behind", "group ids", "x.000004")
    assert first.position.group_id == 102 and len(ends) == 3
    assert main(["compare", "first", "logs"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "   group id 102"


def test_what_cannot_be_compared():
    log("mysql", range(2))
    log("mariadb", range(2), flavour="mariadb")
    with pytest.raises(UsageError, match="mysql is of MySQL and mariadb is of MariaDB"):
        applier.compare("mysql", "mariadb")
    with pytest.raises(UsageError, match="is of MySQL and 0-1-5 is of MariaDB"):
        applier.compare("mysql", "0-1-5")
    with pytest.raises(ArchiveError, match="no such file"):
        applier.compare("mysql", "nowhere")


def test_the_command_line(capsys):
    ends = log("logs", range(3))
    applier.replay("logs", "first", stop=ends[0])
    assert main(["compare", "first", "logs"]) == 0
    file, offset = ends[0]
    assert capsys.readouterr().out == f"""\
A: snapshot first, at {file}:{offset}
   GTIDs {SOURCE}:1-3
B: archive logs, from b.000001 to {ends[-1][0]}:{ends[-1][1]}
   GTIDs {SOURCE}:1-5
A is behind B (by GTIDs)
only B has 2 transactions: {SOURCE}:4-5
A continues in B at {file}:{offset}
"""
    assert main(["compare", f"{SOURCE}:1-4:9", "logs", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["relation"], document["only_a"], document["only_b"], document["attach"]) == (
        "diverged", f"{SOURCE}:9", f"{SOURCE}:5", None)
    assert main(["compare", f"{SOURCE}:1-4:9", "logs"]) == 1
    assert "only the replica has is errant" in capsys.readouterr().out
