"""AP-SKIP: what a replay leaves out is checked against what was asked for, counted and remembered."""

import json
from uuid import UUID

import pytest
from typer.testing import CliRunner

import applier
from applier.binlog.events.format import EventType
from applier.binlog.locating.gtid_choice import GtidChoice, choice_text
from applier.binlog.outline.left_out import LeavingOut, pack_ranges, unpack_ranges
from applier.binlog.outline.outline_pass import outline_file
from applier.cli import app
from applier.errors import ReplayStopped, UsageError
from applier.snapshot import manifest
from applier.writer.writer import SOURCE
from tests.support.small_logs import commit, delete, held, insert, new_log, update


def gtids(numbers):
    return f"{SOURCE}:{numbers}"


@pytest.fixture
def archive(tmp_path):
    """Five rows by servers 1, 2, 1, 2, 1 (transactions 2 to 6), in two files; then a change of row 2, by server 1."""
    log = new_log(tmp_path)
    for number in range(1, 6):
        log.server_id = 1 + (number + 1) % 2
        commit(log, insert([(number, number, "x")]))
        if number == 3:
            log = log.rotate(tmp_path / "binlog.000002")
    log.server_id = 1
    commit(log, update([(2, 2, "x")], [(2, 20, "later")]))
    log.close()
    return str(tmp_path / "binlog.0*")


def ids(folder):
    return [row[0] for row in held(folder)]


def run(*words):
    found = CliRunner().invoke(app, [*map(str, words)])
    return found.exit_code, found.output, found.exception


def test_line_report_manifest_and_status_say_what_is_left_out(archive, tmp_path):
    made = applier.replay(archive, tmp_path / "made", exclude_gtids=gtids("2:4-5"))
    assert ids(tmp_path / "made") == [2, 5]
    entry = {"groups": 3, "row_events": 3, "gtids": gtids("2:4-5"), "server_ids": [], "ignore_server_ids": []}
    document = json.loads((tmp_path / "made" / "_snapshot.json").read_text())
    assert document["left_out"] == [entry]
    assert document["source"]["options"]["exclude_gtids"] == gtids("2:4-5")
    assert json.loads((tmp_path / "made" / "_report.json").read_text())["left_out"] == [entry]
    line = f"3 transactions with 3 rows events (--exclude-gtids {gtids('2:4-5')})"
    assert f"left out: {line}" in made.report.notes
    assert made.snapshot.position.gtid_set == gtids("1-7")
    code, printed, _ = run("status", tmp_path / "made")
    assert code == 0 and "left out 3 transactions with 3 rows events" in " ".join(printed.split())
    code, printed, _ = run("replay", "--binlogs", archive, "--output", tmp_path / "again", "--exclude-gtids",
                           gtids("2:4-5"), "--engine", "local")
    assert code == 0 and "left out: 3 transactions" in printed and ids(tmp_path / "again") == [2, 5]


@pytest.mark.parametrize(("options", "left"), [
    ({"server_ids": [1]}, [1, 3, 5]), ({"ignore_server_ids": [2]}, [1, 3, 5]),
    ({"server_ids": [1, 2], "ignore_server_ids": [2, 9]}, [1, 3, 5]),
    ({"server_ids": [1], "exclude_gtids": gtids(2)}, [3, 5])])
def test_servers_are_those_that_events_name(archive, tmp_path, options, left):
    """GRP-6. The change of a row that another server made is a conflict."""
    with pytest.raises(ReplayStopped) as stopped:
        applier.replay(archive, tmp_path / "made", **options)
    assert stopped.value.mysql_errno == 1032 and "transactions are left out" in stopped.value.hint
    made = applier.replay(archive, tmp_path / "made", exec_mode="idempotent", **options)
    assert ids(tmp_path / "made") == left and made.report.conflicts == 1


def test_a_table_whose_definition_is_left_out_is_named(archive, tmp_path):
    with pytest.raises(applier.ApplierError) as stopped:
        applier.replay(archive, tmp_path / "made", exclude_gtids=gtids(1))
    assert stopped.value.mysql_errno == 1146 and "transactions are left out" in stopped.value.hint


@pytest.mark.parametrize("options", [
    {"exclude_gtids": gtids(8)}, {"exclude_gtids": "0-1-3"}, {"server_ids": [3]}, {"ignore_server_ids": [3]},
    {"exclude_gtids": gtids("4:20"), "stop": "binlog.000001:700"}])
def test_what_chooses_nothing_is_refused(archive, tmp_path, options):
    with pytest.raises(UsageError, match=r"no transaction of these binlogs is of|these binlogs contain none of"):
        applier.replay(archive, tmp_path / "made", **options)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("words", "match"), [
    (["--exclude-gtids", "first"], "GTID"), (["--server-id", "one"], "'one' is not a server id"),
    (["--ignore-server-ids", "4294967296"], "cannot be 4294967296")])
def test_bad_values_are_refused(archive, tmp_path, words, match):
    code, _, error = run("replay", "--binlogs", archive, "--output", tmp_path / "made", *words)
    assert code != 0 and isinstance(error, UsageError) and match in str(error)


def test_part_of_a_set_that_is_not_there_is_noted(archive, tmp_path):
    made = applier.replay(archive, tmp_path / "made", exclude_gtids=gtids("6:90-95"))
    assert f"--exclude-gtids: transactions {gtids('90-95')} are not in these binlogs" in made.report.notes


def test_later_replays_go_on_behind_it_and_remember(archive, tmp_path):
    """GRP-5: what was left out is not applied later, and the manifest keeps it; the same options may be given again."""
    first = applier.replay(archive, tmp_path / "first", exclude_gtids=gtids("2"), stop=gtids("1-4"))
    later = applier.replay(archive, tmp_path / "later", base=first.snapshot, exclude_gtids=gtids("2"))
    assert ids(tmp_path / "later") == [2, 3, 4, 5] and later.report.left_out == ()
    assert manifest.load(str(tmp_path / "later")).left_out == first.report.left_out
    assert any(note.startswith("the base leaves out 1 transaction ") for note in later.report.notes)
    with pytest.raises(UsageError, match="that the base already contains"):
        applier.replay(archive, tmp_path / "other", base=first.snapshot, exclude_gtids=gtids("3"))
    noted = applier.replay(archive, tmp_path / "noted", base=first.snapshot, ignore_server_ids=[8])
    assert "no transaction of these binlogs is of --ignore-server-ids 8" in noted.report.notes


def test_increments_are_added_up(archive, tmp_path):
    """With several places in one run, what is asked for may be in the log of any of them; and with passes, in any."""
    whole = applier.replay(archive, tmp_path / "whole", exclude_gtids=gtids("2:5"), ignore_server_ids=[2],
                           exec_mode="idempotent").report.left_out
    assert [(entry.groups, entry.row_events, entry.gtids) for entry in whole] == [(3, 3, gtids("2:5"))]
    made = applier.replay(archive, tmp_path / "days", exclude_gtids=gtids("2:5"), ignore_server_ids=[2],
                          exec_mode="idempotent", snapshot_at=[gtids("1"), gtids("1-3"), gtids("1-7")])
    assert manifest.load(made.snapshots[-1].uri).left_out == whole
    assert made.reports[0].left_out == () and sum(report.left_out[0].groups for report in made.reports[1:]) == sum(
        entry.groups for entry in whole)
    passes = applier.replay(archive, tmp_path / "passes", exclude_gtids=gtids("2:5"), ignore_server_ids=[2],
                            exec_mode="idempotent", pass_bytes=700)
    assert passes.report.left_out == whole == manifest.load(passes.snapshot.uri).left_out
    assert ids(tmp_path / "passes") == ids(tmp_path / "whole")


def test_a_stop_at_a_transaction_that_is_left_out_is_behind_it(archive, tmp_path):
    """GRP-2."""
    made = applier.replay(archive, tmp_path / "made", exclude_gtids=gtids("3"), stop=gtids("1-3"))
    assert ids(tmp_path / "made") == [1] and made.snapshot.position.gtid_set == gtids("1-3")


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
@pytest.mark.parametrize("route", ["walk", "shuffle"])
def test_compressed_transactions_are_left_out(tmp_path, flavour, route):
    log = tmp_path / "binlog.000001"
    with applier.binlog.Writer(log, flavour=flavour, source=SOURCE, compress=True) as writer:
        writer.query("CREATE TABLE shop.item (id INT PRIMARY KEY, s VARCHAR(200))")
        for number in range(12):
            with writer.transaction():
                writer.insert("shop.item", {"id": range(20 * number, 20 * number + 20), "s": ["same " * 30] * 20})
    chosen = gtids("3-4:7:9") if flavour == "mysql" else "0-1-3,0-1-4,0-1-7,0-1-9"
    made = applier.replay(log, tmp_path / "made", exclude_gtids=chosen, route=route)
    assert sorted({row // 20 for row in ids(tmp_path / "made")}) == [0, 3, 4, 6, 8, 9, 10, 11]
    assert made.report.left_out[0].groups == 4 and made.report.left_out[0].gtids == chosen


def test_what_would_stop_a_replay_stops_none_where_it_is_left_out(tmp_path):
    """EV-INC, AP-STMT: as on a replica that has executed an empty transaction with the GTID."""
    log = new_log(tmp_path)
    commit(log, insert([(1, 1, "a")]))
    log.emit_gtid(0, statement=False)
    log.event(EventType.INCIDENT, (1).to_bytes(2, "little") + b"\4lost")
    log.query("INSERT INTO item VALUES (2, 2, 'as text')", "shop")
    commit(log, delete([(7, 7, "never was")]))
    log.close()
    applier.replay(log.path, tmp_path / "made", exclude_gtids=gtids("3-5"))
    assert held(tmp_path / "made") == [(1, 1, "a")]
    for kept in (3, 4, 5):
        with pytest.raises(applier.ApplierError):
            applier.replay(log.path, tmp_path / "not", exclude_gtids=gtids(",".join(
                str(number) for number in (3, 4, 5) if number != kept).replace(",", ":")))


def test_a_rule_of_many_intervals_and_sources(tmp_path):
    """Each group is looked up by halving, in any order of sources."""
    log, sources = new_log(tmp_path), [UUID(int=number) for number in (5, 1 << 127, 9)]
    for number in range(2, 200):
        log.source = sources[number % 3]
        commit(log, insert([(number, 1, "x")]))
    log.close()
    given = ",".join(f"{source}:" + ":".join(str(number) for number in range(place, 200, 5))
                     for place, source in enumerate([*sources, *(UUID(int=n << 90) for n in range(1, 40))], 1))
    outline = outline_file(log.path, leaving_out=LeavingOut(GtidChoice(given).transactions))
    wanted = {str(sources[number % 3]): [] for number in range(3)}
    for number in range(2, 200):
        if number % 5 == (number % 3 + 1) % 5:
            wanted[str(sources[number % 3])].append(number)
    assert {source: [number for first, last in numbers for number in range(first, last + 1)]
            for source, numbers in outline.left_out.transactions.items()} == wanted
    assert outline.left_out.groups == sum(map(len, wanted.values()))
    assert outline.n_row_events + outline.left_out.row_events == 198


def test_ranges_of_groups_side_by_side_are_one(tmp_path):
    log = new_log(tmp_path)
    places = [commit(log, insert([(number, 1, "x")])) for number in range(6)]
    log.close()
    left_out = outline_file(log.path, leaving_out=LeavingOut(GtidChoice(gtids("3-5:7")).transactions)).left_out
    ranges = unpack_ranges(left_out.ranges)
    assert ranges.tolist() == [[places[1][0], places[3][1]], [places[5][0], places[5][1]]]
    assert pack_ranges(ranges) == left_out.ranges
    assert unpack_ranges(b"").shape == (0, 2)


@pytest.mark.parametrize("text", [gtids("1-5:7"), f"{SOURCE}:1:tag:5-6", "0-1-5,0-1-6,2-7-9"])
def test_a_choice_as_text_is_the_choice(text):
    assert choice_text(GtidChoice(text).transactions) == text
