"""The version of a lake as of a place in the log: the last one that stands at or before it; and nothing is guessed."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import applier
from applier import cli
from applier.binlog.events.gtid import GtidSet
from applier.errors import SnapshotError, UsageError
from applier.option_texts import parse_place
from applier.snapshot.as_of import in_order, last_of
from applier.snapshot.manifest import BinlogPosition
from applier.writer.writer import SOURCE
from tests.support.small_logs import commit, insert, new_log

AT = 1_700_000_000
A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def state(offset, gtids="", time=None, file="binlog.000001"):
    return BinlogPosition(file, offset, gtids, time, "mariadb" if "-1-" in gtids else "mysql")


def chosen(states, place):
    return last_of(states, parse_place(place), "there")


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """Versions after one, two and three transactions, which are ten seconds apart; and the ends of these."""
    folder = tmp_path_factory.mktemp("as_of")
    (folder / "log").mkdir()
    log, ends = new_log(folder / "log"), []
    for number in range(3):
        log.timestamp = AT + 10 * number
        ends.append(commit(log, insert([(number, number, "x")]))[1])
    log.close()
    applier.replay(folder / "log", lake=folder / "lake", snapshot_at=[f"binlog.000001:{end}" for end in ends])
    return folder / "lake", ends


def test_the_last_version_at_or_before(lake):
    """By position, GTID set and time, exactly at a version, between two, and after all of them."""
    place, ends = lake
    for number, places in ((1, (f"binlog.000001:{ends[0]}", f"binlog.000001:{ends[1] - 1}", f"{SOURCE}:1-2",
                                datetime.fromtimestamp(AT, UTC), datetime.fromtimestamp(AT + 9, UTC))),
                           (2, (("binlog.000001", ends[1]), GtidSet.parse(f"{SOURCE}:1-3"), f"{A}:1-9,{SOURCE}:1-3",
                                "2023-11-14 22:13:30Z")),
                           (3, (f"binlog.000001:{ends[2]}", "binlog.000002:4", f"{SOURCE}:1-99", "now",
                                datetime.fromtimestamp(AT + 20, UTC)))):
        for where in places:
            found = applier.Snapshot(place, as_of=where)
            assert found.uri.endswith(f"{number:010}") and found.tables["shop.item"].rows == number, where
    assert applier.Snapshot(place, as_of=applier.Snapshot(f"{place}/_versions/2").position).uri.endswith("2")


def test_before_the_oldest(lake):
    """An error that names where the oldest one stands."""
    place, ends = lake
    for where in ("binlog.000001:4", f"{SOURCE}:1", f"{A}:1-5", "2023-11-14 22:13:19Z"):
        with pytest.raises(SnapshotError, match=rf"precedes the oldest version, which is at binlog.000001:{ends[0]}, "
                                                rf"{SOURCE}:1-2, 2023-11-14 22:13:20 UTC"):
            applier.Snapshot(place, as_of=where)


def test_verbs(lake, tmp_path, capsys):
    """status, views and export take a lake's version as of a place, and refuse a snapshot, which has one place."""
    place, _ = lake
    assert cli.main(["status", str(place), "--as-of", f"{SOURCE}:1-3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["snapshot"].endswith("_versions/0000000002")
    assert cli.main(["views", str(place), "--as-of", f"{SOURCE}:1-3"]) == 0
    assert "_versions/0000000002" in capsys.readouterr().out
    assert cli.main(["export", str(place), "--as-of", f"{SOURCE}:1-3", "--output", str(tmp_path / "dump")]) == 0
    assert "2 rows" in capsys.readouterr().out
    assert cli.main(["status", f"{place}/_versions/2", "--as-of", "now"]) == 2
    assert "chooses a version of a lake, and this is not a lake" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["status", str(place), "--delta", "x"]) == 2
    assert "both a snapshot and published tables are given" in " ".join(capsys.readouterr().err.split())


def test_what_is_not_known_is_no_guess():
    """GTIDs and times that states lack, names of other logs, files that were numbered again."""
    for states, place, words in (
            ([state(1, time=5)], f"{A}:1", "no version is known by GTIDs"),
            ([state(1, A + ":1"), state(2, A + ":1-2")], "now", "no version has a time"),
            ([state(1)], "other.000001:7", "no version is in a log of the name 'other'"),
            ([state(9, file="binlog.000007"), state(4)], "binlog.000002:4", "renumbered"),
            ([state(1), state(2, A + ":1-2")], f"{A}:1", rf"precedes .* is at binlog.000001:2, {A}:1-2"),
            ([state(1), state(2, time=AT)], "2020-01-01 00:00:00", "precedes .* is at binlog.000001:2, 2023")):
        with pytest.raises(SnapshotError, match=words):
            chosen(states, place)


def test_a_clock_that_jumps_back():
    """As a replay that stops before the first group of a time: what comes after one that is too late does not count."""
    states = [state(1, time=AT), state(2, time=AT + 20), state(3, time=AT + 5), state(4, time=AT + 30)]
    assert [chosen(states, f"2023-11-14 22:13:{20 + seconds}Z") for seconds in (0, 19, 20, 29)] == [0, 0, 2, 2]


def test_numbers_of_files_are_numbers():
    states = [state(1, file="binlog.999999"), state(1, file="binlog.1000000")]
    assert (chosen(states, "binlog.999999:8"), chosen(states, "binlog.1000000:8")) == (0, 1)


def test_states_in_the_order_of_the_log():
    """Also where a publication went back to an earlier one, and where another server's files continue."""
    first, second, third = state(1, f"{A}:1"), state(2, f"{A}:1-2"), state(1, f"{A}:1-2,{B}:1")
    assert in_order([first, third, second, first, third]) == [first, second, third]
    plain = [replace(one, gtid_set="") for one in (first, second)]
    assert in_order([plain[1], plain[0]]) == plain


@pytest.mark.parametrize(("text", "kind"), [
    ("binlog.000003:1234", "position"), (f"{A}:1-5:7,{B}:1", "gtid_set"), ("0-1-5,1-1-7", "gtid_set"),
    ("02024-11-05", "gtid_set"), ("2024-11-05 10:29:59", "time"), ("2024-11-05T10:29:59.123456+02:00", "time"),
    ("-90s", "time"), ("now", "time")])
def test_places(text, kind):
    place = parse_place(text)
    assert [name for name in ("position", "gtid_set", "time") if getattr(place, name) is not None] == [kind]


def test_a_set_of_another_kind_of_server():
    with pytest.raises(UsageError, match="0-1-5 is a GTID set of MariaDB, but the log is of MySQL"):
        chosen([state(4, f"{A}:1")], "0-1-5")


@pytest.mark.parametrize(("text", "words"), [
    ("2024-11-05", "is ambiguous: a date, or a MariaDB GTID"), ("last tuesday", "is not a place in a log"),
    ("", "is not a place"), ("binlog.000003", "is a file, not a place in it"), (f"{A}:1,0-1-5", "is not a place")])
def test_what_is_no_place(text, words):
    with pytest.raises(UsageError, match=words):
        parse_place(text)


def test_a_damaged_version(lake, tmp_path):
    """Of which it is unknown where it stands: then no other one is treated as it."""
    applier.replay(lake[0].parent / "log", lake=tmp_path / "lake")
    manifest = tmp_path / "lake/_versions/0000000001/_snapshot.json"
    for text in ("{", "[]", '{"position": {"file": 1}}'):
        manifest.write_text(text)
        with pytest.raises(SnapshotError, match=r"_snapshot\.json is damaged"):
            applier.Snapshot(tmp_path / "lake", as_of="now")


@pytest.mark.parametrize("place, number", [("0-1-99", None), ("0-1-100", 0), ("0-2-50", 1),
                                           ("0-2-51", 1), ("0-2-52", 1), ("0-1-102", 2), ("0-3-1", None)])
def test_numbers_of_two_servers_that_go_down(place, number):
    """MariaDB with gtid_strict_mode=OFF: 0-2-50 came after 0-1-100. What no version tells is the one before."""
    states = [BinlogPosition("binlog.000001", offset, gtids, None, "mariadb")
              for offset, gtids in ((1, "0-1-100"), (2, "0-2-50"), (3, "0-1-102"))]
    if number is None:
        with pytest.raises(SnapshotError, match="precedes the oldest version"):
            chosen(states, place)
    else:
        assert chosen(states, place) == number
