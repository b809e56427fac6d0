"""`show --start, --stop, --gtid, --table`: the events that each leaves, out of real files."""

import json
import shutil
import time

import pytest

from applier.binlog.locating.gtid_choice import GtidChoice
from applier.cli import main
from applier.errors import UsageError
from applier.jobs.show.selection import parse_bound
from tests.recorded.show.tool_output import binlogs


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def shown(capfdbinary):
    """Runs the command over the files of a case; its objects, one a line."""
    def run(case: str, *options: str) -> list[dict]:
        assert main(["show", *binlogs(case), "--format", "json", *options]) == 0
        return [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    return run


def places(events: list[dict]) -> list[tuple]:
    return [(event["pos"], event["type"]) for event in events]


def test_between_positions_are_the_events_between_them(shown):
    """In the middle of a group, too: its table maps are known, and its GTID comes first (EV-START)."""
    whole = shown("many-files-mysql")
    files = binlogs("many-files-mysql")
    name = files[1].rpartition("/")[2]
    second = [i for i, event in enumerate(whole) if event["pos"] == 4][1]
    third = [i for i, event in enumerate(whole) if event["pos"] == 4][2]
    rows = next(i for i in range(second, third) if "op" in whole[i])
    assert whole[rows - 1]["type"] == "TABLE_MAP"
    gtid = max(i for i in range(rows) if whole[i]["type"] == "GTID")
    after = shown("many-files-mysql", "--start", f"{name}:{whole[rows]['pos']}")
    assert after == [whole[second], whole[gtid], *whole[rows:]]
    before = shown("many-files-mysql", "--stop", f"{files[1]}:{whole[rows]['pos']}")
    assert before == whole[:rows]
    one = "--start", f"{name}:{whole[rows]['pos']}", "--stop", f"{name}:{whole[rows]['end']}"
    both = shown("many-files-mysql", *one)
    of_event = [event for event in whole[second:third] if event["pos"] == whole[rows]["pos"]]
    assert both == [whole[second], whole[gtid], *of_event]


def test_a_position_without_a_file_is_one_in_every_file(shown):
    events = shown("many-files-mysql", "--start", "200", "--stop", "600")
    assert all(event["pos"] == 4 or event["type"] == "GTID" or 200 <= event["pos"] < 600 for event in events)
    assert sum(event["pos"] == 4 for event in events) == len(binlogs("many-files-mysql"))


def test_by_time_are_whole_groups(shown):
    whole = shown("ddl-mysql")
    times = sorted({event["timestamp"] for event in whole if event["type"] == "GTID"})
    middle = times[len(times) // 2]
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(middle))
    early, late = shown("ddl-mysql", "--stop", text), shown("ddl-mysql", "--start", text)
    gtids = [event["fields"]["text"] for event in whole if event["type"] == "GTID"]
    found = [[event["fields"]["text"] for event in part if event["type"] == "GTID"] for part in (early, late)]
    assert found[0] and found[1] and found[0] + found[1] == gtids
    assert all(event["timestamp"] >= middle for event in late if event["type"] == "GTID")


@pytest.mark.parametrize("case, set_, found", [
    ("gtid-tags", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7:blue:5", ["blue:5", "aaaaaaaaaaaa:7"]),
    ("gtid-tags", "762ab119-e549-11f1-83f8-02fc00000001:44722-44723", ["1:44722", "1:44723"]),
    ("groups-mariadb", "0-99-5000,0-33970-7", ["0-33970-7", "0-99-5000"]),
])
def test_by_gtid_are_whole_groups(shown, case, set_, found):
    events = shown(case, "--gtid", set_)
    names = [event["fields"]["text"] for event in events if "GTID" in event["type"] and event["type"] != "GTID_LIST"]
    assert len(names) == len(found) and all(any(name.endswith(end) for end in found) for name in names)
    whole = places(shown(case))
    for place in places(events):
        assert place in whole
    groups = [i for i, event in enumerate(events) if "GTID" in event["type"]]
    assert all(len(places(events[i:])) > 1 for i in groups)


def test_options_have_the_names_of_mysqlbinlog(shown):
    """A position is one in the first file, and in the last one."""
    files, whole = binlogs("many-files-mysql"), shown("many-files-mysql")
    first, last = (file.rpartition("/")[2] for file in (files[0], files[-1]))
    assert shown("many-files-mysql", "--start-position", "200", "--stop-position", "600") == shown(
        "many-files-mysql", "--start", f"{first}:200", "--stop", f"{last}:600")
    gtids = [event["fields"]["text"] for event in whole if event["type"] == "GTID"]
    of_one = shown("many-files-mysql", "--include-gtids", gtids[2])
    others, all_ = (shown("many-files-mysql", "--exclude-gtids", gtid) for gtid in (gtids[2], gtids[2] + "99999"))
    assert of_one == shown("many-files-mysql", "--gtid", gtids[2]) and len(of_one) > 1
    assert others == [event for event in all_ if event["pos"] == 4 or event not in of_one]
    assert len(others) < len(all_)
    time = "2100-01-01 00:00:00"
    assert shown("many-files-mysql", "--stop-datetime", time) == shown("many-files-mysql", "--stop", time)
    time = "1999-01-01 00:00:00"
    assert shown("many-files-mysql", "--start-datetime", time) == shown("many-files-mysql", "--start", time) == all_
    assert shown("many-files-mysql", "--database", "nothing") == shown("many-files-mysql", "--table", "nothing")


def test_directories_globs_and_index_files_stand_for_their_files(tmp_path, capfdbinary):
    """In their order, whichever is missing."""
    files = binlogs("many-files-mysql")
    for file in files:
        shutil.copy(file, tmp_path)
    names = [file.rpartition("/")[2] for file in files]
    (tmp_path / "binlog.index").write_text("".join(f"./{name}\n" for name in names))
    (tmp_path / "other.txt").write_text("no log")
    assert main(["show", *files]) == 0
    whole = capfdbinary.readouterr().out
    for path in (tmp_path, tmp_path / "binlog.*[0-9]", tmp_path / "binlog.index"):
        assert main(["show", str(path)]) == 0 and capfdbinary.readouterr().out == whole
    (tmp_path / names[1]).unlink()
    assert main(["show", str(tmp_path)]) == 0 and 0 < len(capfdbinary.readouterr().out) < len(whole)
    assert main(["show", str(tmp_path / "binlog.index")]) == 2
    assert names[1].encode() in capfdbinary.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["show", str(tmp_path / "empty")]) == 2 and b"no binlog files" in capfdbinary.readouterr().err


def test_of_a_table_are_its_rows_its_ddl_and_their_frame(shown):
    """EV-ANN: with the statement behind the rows; and nothing of transactions that do not touch it."""
    whole = shown("mariadb-row-image-full")
    tables = sorted({event["table"] for event in whole if "op" in event})
    assert len(tables) > 2
    for table in tables[:3]:
        events = shown("mariadb-row-image-full", "--table", table)
        rows = [event for event in events if "op" in event]
        assert rows == [event for event in whole if event.get("table") == table]
        assert {event["fields"]["table"] for event in events if event["type"] == "TABLE_MAP"} == {table}
        kinds = [event["type"] for event in events]
        for i, kind in enumerate(kinds):
            if kind == "TABLE_MAP" and i and kinds[i - 1] != "TABLE_MAP":
                assert kinds[i - 1] in ("ANNOTATE_ROWS", "MARIADB_GTID") or "ROWS" in kinds[i - 1]
        assert kinds.count("MARIADB_GTID") <= sum(kind in ("QUERY", "XID") for kind in kinds)
        name = table.rpartition(".")[2]
        queries = [event["fields"]["sql"] for event in events if event["type"] == "QUERY"]
        assert any(f"CREATE TABLE {name} " in sql for sql in queries)
        assert all(name in sql or sql in ("BEGIN", "COMMIT") for sql in queries)


def test_a_table_in_compressed_transactions(shown):
    """The transaction's compressed event, its own rows, and no other's."""
    whole = shown("compressed-mysql")
    table = sorted({event["table"] for event in whole if "op" in event})[0]
    events = shown("compressed-mysql", "--table", table)
    assert [event for event in events if "op" in event] == [event for event in whole if event.get("table") == table]
    assert "TRANSACTION_PAYLOAD" in {event["type"] for event in events}
    assert shown("compressed-mysql", "--table", "no.such")[0]["type"] == "FORMAT_DESCRIPTION"
    assert {event["type"] for event in shown("compressed-mysql", "--table", "no.such")} == {"FORMAT_DESCRIPTION"}


def test_what_makes_no_sense_is_bad_usage(capfdbinary):
    for options in (["--start", "yesterday"], ["--gtid", "x"], ["--gtid", ","], ["--stop", "other.000009:4"],
                    ["--start", "4", "--start-position", "4"], ["--stop-position", "now"]):
        assert main(["show", binlogs("ddl-mysql")[0], *options]) == 2, options
    with pytest.raises(UsageError):
        GtidChoice("")
    assert parse_bound("/a/binlog.000002:77") == parse_bound("binlog.000002:77")


@pytest.mark.parametrize("start", range(500, 4000, 431))
def test_text_begins_where_json_does(shown, capfdbinary, start):
    """With the first event that is not before the position, which may lie within one."""
    places = ["--start", f"binlog.000001:{start}", "--stop", "binlog.000001:5000"]
    events = shown("ddl-mysql", *places)
    assert main(["show", *binlogs("ddl-mysql"), *places]) == 0
    text = capfdbinary.readouterr().out.decode()
    positions = [int(line[5:]) for line in text.splitlines() if line.startswith("# at ")]
    assert positions == list(dict.fromkeys(event["pos"] for event in events))
    assert all(event["pos"] >= start for event in events[1:] if event["type"] != "GTID") and positions[2] >= start


@pytest.mark.parametrize("format", ["text", "json"])
def test_a_selection_of_nothing_is_told(capfdbinary, format):
    """On stderr, with exit code 0: as `replay` does of --tables that name no table."""
    def notes(*options: str) -> list[str]:
        assert main(["show", binlogs("ddl-mysql")[0], "--format", format, *options]) == 0
        out, err = capfdbinary.readouterr()
        assert (out == b"") == (b"there is no such event" in err)
        return err.decode().splitlines()

    none = "applier: note: {}: there is no such event in these files"
    assert notes("--start", "99999999") == [none.format("--start-position")]
    assert notes("--start", "2000", "--stop", "1000") == [none.format("--start-position and --stop-position")]
    assert notes("--stop", "2001-01-01 00:00") == [none.format("--stop-datetime")]
    assert notes("--gtid", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7") == [none.format("--gtids")]
    assert notes("--table", "no.such,other*.?one") == [
        f"applier: note: --tables {entry}: none of the events read is about such a table"
        for entry in ("no.such", "other*.?one")]
    assert notes("--table", "*") == notes("--start", "200") == notes() == []
