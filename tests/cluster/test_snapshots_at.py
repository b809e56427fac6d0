"""--snapshot-at: several snapshots out of one pass, which are published together."""

import json

import pytest

from applier import cli
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, UsageError
from applier.jobs.replay.snapshots_at import replay_with
from applier.option_texts import parse_places
from applier.options import ReplayOptions
from applier.snapshot import manifest
from tests.support.real_server import Case, differences
from tests.support.small_logs import commit, insert, new_log, update


class Counting(ThisProcess):
    """Counts the files that are outlined."""

    outlined = 0

    def outline(self, tasks, on_progress):
        self.outlined += len(tasks)
        return super().outline(tasks, on_progress)


def run(binlogs, output, places, executor=None, **options):
    return replay_with(executor or ThisProcess(2), ReplayOptions((str(binlogs),), str(output), snapshot_at=places,
                                                                 **options))


CASES = ["transactions-mysql", "transactions-mysql-nogtid", "transactions-mariadb", "compressed-mysql",
         "key-moves-full"]


@pytest.mark.parametrize("name", CASES)
def test_every_mark_of_a_real_log(name, tmp_path):
    """GRP-2, AP-SNAP: each holds what the server held there, and says where it stands and what it came from; by
    positions in any order, and by GTIDs."""
    case = Case(name)
    places = {"position": [(mark.file, mark.offset) for mark in reversed(case.marks)],
              "gtid": [mark.gtid_set for mark in case.marks]}
    for kind, wanted in places.items():
        if "" in wanted:
            continue
        results = run(case.binlogs[0].parent, tmp_path / kind, tuple(wanted))
        listing = json.loads((tmp_path / kind / "_snapshots.json").read_text())
        base = None
        for mark, entry, result in zip(case.marks, listing, results, strict=True):
            folder = tmp_path / kind / f"{mark.file}-{mark.offset}"
            assert differences(folder, case.expected(mark)) == []
            snapshot = manifest.load(str(folder))
            assert (str(snapshot.position), snapshot.position.gtid_set) == (str(mark), mark.gtid_set)
            assert snapshot.source.base == base and result.snapshot == str(folder)
            assert (entry["path"], entry["gtid_set"]) == (folder.name, mark.gtid_set)
            base = str(folder)
        assert {path.name for path in tmp_path.iterdir()} <= {*places}, "nothing is left beside them"


@pytest.fixture
def archive(tmp_path):
    """Ten files of a transaction each, after one that makes 100 rows of a table; where each transaction ends."""
    folder, ends = tmp_path / "logs", []
    folder.mkdir()
    log = new_log(folder)
    commit(log, insert([(n, 0, "x") for n in range(100)]))
    for number in range(2, 12):
        log = log.rotate(folder / f"binlog.{number:06d}")
        ends.append((f"binlog.{number:06d}", commit(log, update([(5, number - 2, "x")], [(5, number - 1, "x")]))[1]))
    log.close()
    return folder, ends


def test_the_log_is_read_once(archive, tmp_path):
    """A file with a place within is outlined once more for each."""
    folder, ends = archive
    executor = Counting(2)
    results = run(folder, tmp_path / "out", (ends[2], ends[5], ends[9]), executor)
    assert executor.outlined == 11 + 2
    assert [result.changes for result in results] == [103, 3, 4]


def test_nothing_is_published_where_one_of_them_cannot_be_made(archive, tmp_path):
    folder, ends = archive
    last = folder / "binlog.000011"
    data = bytearray(last.read_bytes())
    data[ends[9][1] - 40] ^= 1
    last.write_bytes(data)
    with pytest.raises(ApplierError, match="checksum"):
        run(folder, tmp_path / "out", (ends[2], ends[9]))
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))
    run(folder, tmp_path / "out", (ends[2], ends[7]))
    with pytest.raises(ApplierError, match="output exists"):
        run(folder, tmp_path / "out", (ends[2],))


@pytest.mark.parametrize("place, says", [
    (("binlog.000044", 4), "binlog.000044, which is not in the archive"), (("binlog.000003", 1 << 20), "past the end"),
    ("00000000-0000-4000-8000-000000000001:1-99", "not all in the archive"),
])
def test_places_that_are_not_there(archive, place, says, tmp_path):
    with pytest.raises(ApplierError, match=says):
        run(archive[0], tmp_path / "out", (place,))
    assert not (tmp_path / "out").exists()


def test_a_place_before_the_base(archive, tmp_path):
    folder, ends = archive
    run(folder, tmp_path / "base", (ends[5],))
    base = str(tmp_path / "base" / f"{ends[5][0]}-{ends[5][1]}")
    for place in (ends[2], (ends[5][0], ends[5][1] - 1)):
        with pytest.raises(ApplierError, match=r"not in the archive|precedes"):
            run(folder, tmp_path / "out", (place,), base=base)
    assert not (tmp_path / "out").exists()


def test_lists_of_places():
    assert parse_places(["/logs/b.000001:4, b.000002:70", "0-1-5,1-1-7"]) == (
        ("b.000001", 4), ("b.000002", 70), "0-1-5,1-1-7")
    with pytest.raises(ApplierError):
        parse_places(["b.000001:4,0-1-5"])
    with pytest.raises(UsageError, match=r"'binlog.000001' is a file, not a place in it.*FILE:POS"):
        parse_places([" binlog.000001"])
    with pytest.raises(ApplierError, match="more than one place to stop"):
        ReplayOptions(("x",), "y", snapshot_at=("0-1-5",), stop_gtid="0-1-5")


def test_the_command(spark, archive, tmp_path, capsys):
    folder, ends = archive
    places = ",".join(f"{name}:{offset}" for name, offset in ends[3:5])
    assert cli.main(["replay", "--binlogs", str(folder), "--output", str(tmp_path / "out"), "--snapshot-at", places,
                     "--master", "local[2]"]) == 0
    said = capsys.readouterr().out
    assert [f"stands at {name}:{offset}" in said for name, offset in ends[2:6]] == [False, True, True, False]
